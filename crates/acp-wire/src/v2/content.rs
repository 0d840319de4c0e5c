//! Content blocks: text, pictures, sound and resources.

use serde::{Deserialize, Serialize};

use crate::macros::{from_variants, object, string_type, strings, tagged};

string_type! {
    /// A media type such as `image/png`.
    pub struct MediaType;
}

tagged! {
    /// One piece of content: of a prompt, a message or a tool's output. Protocol: Content.
    pub enum ContentBlock: "type" {
        /// Text.
        Text(TextContent) = "text",
        /// A picture.
        Image(ImageContent) = "image",
        /// Sound.
        Audio(AudioContent) = "audio",
        /// A resource to be read by whoever wants it.
        ResourceLink(ResourceLink) = "resource_link",
        /// A resource with its contents.
        Resource(EmbeddedResource) = "resource",
        ; else Other
    }
}

from_variants! {
    ContentBlock:
    Text(TextContent), Image(ImageContent), Audio(AudioContent), ResourceLink(ResourceLink),
    Resource(EmbeddedResource),
}

object! {
    /// Text, in Markdown where it is shown. Protocol: Content.
    pub struct TextContent {
        /// The text.
        req text: String,
        /// How to show or weigh it.
        soft annotations: Annotations,
        meta
    }
}

object! {
    /// A picture. Protocol: Content.
    pub struct ImageContent {
        /// The data in Base64.
        req data: String,
        /// The media type.
        req mime_type: MediaType,
        /// The address.
        soft uri: String,
        /// How to show or weigh it.
        soft annotations: Annotations,
        meta
    }
}

object! {
    /// Sound. Protocol: Content.
    pub struct AudioContent {
        /// The data in Base64.
        req data: String,
        /// The media type.
        req mime_type: MediaType,
        /// How to show or weigh it.
        soft annotations: Annotations,
        meta
    }
}

object! {
    /// A resource with its contents. Protocol: Content.
    pub struct EmbeddedResource {
        /// The resource.
        req resource: EmbeddedResourceResource,
        /// How to show or weigh it.
        soft annotations: Annotations,
        meta
    }
}

object! {
    /// A resource's text. Protocol: Content.
    pub struct TextResourceContents {
        /// The text.
        req text: String,
        /// The address.
        req uri: String,
        /// The media type.
        soft mime_type: MediaType,
        meta
    }
}

object! {
    /// A resource's bytes. Protocol: Content.
    pub struct BlobResourceContents {
        /// The data in Base64.
        req blob: String,
        /// The address.
        req uri: String,
        /// The media type.
        soft mime_type: MediaType,
        meta
    }
}

object! {
    /// A resource to be read by whoever wants it. Protocol: Content.
    pub struct ResourceLink {
        /// The resource's name.
        req name: String,
        /// The address.
        req uri: String,
        /// A name for people.
        soft title: String,
        /// More words on it.
        soft description: String,
        /// Pictures that stand for it.
        soft_list icons: Icon,
        /// The media type.
        soft mime_type: MediaType,
        /// The size in bytes.
        soft size: u64,
        /// How to show or weigh it.
        soft annotations: Annotations,
        meta
    }
}

object! {
    /// A picture that stands for something. Protocol: Content.
    pub struct Icon {
        /// The address.
        req src: String,
        /// The media type, if the address doesn't tell.
        soft mime_type: MediaType,
        /// The sizes it has, as `48x48` or `any`.
        soft_list sizes: String,
        /// The background it is made for.
        soft theme: IconTheme,
        meta
    }
}

strings! {
    /// The background an icon is made for.
    pub enum IconTheme {
        /// A light background.
        Light = "light",
        /// A dark background.
        Dark = "dark",
        ; else Other
    }
}

object! {
    /// Hints on how to show or weigh a piece of content. Protocol: Content.
    pub struct Annotations: Default {
        /// Whom it is for.
        soft_list audience: Role,
        /// When it was last changed (RFC 3339).
        soft last_modified: String,
        /// How important it is, from 0 to 1.
        soft priority: f64,
        meta
    }
}

strings! {
    /// Whom something is from or for.
    pub enum Role {
        /// The model.
        Assistant = "assistant",
        /// The user.
        User = "user",
        ; else Other
    }
}

/// What an embedded resource holds: told apart by `text` or `blob`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum EmbeddedResourceResource {
    /// Text.
    TextResourceContents(TextResourceContents),
    /// Bytes.
    BlobResourceContents(BlobResourceContents),
}

impl From<TextResourceContents> for EmbeddedResourceResource {
    fn from(contents: TextResourceContents) -> Self {
        Self::TextResourceContents(contents)
    }
}

impl From<BlobResourceContents> for EmbeddedResourceResource {
    fn from(contents: BlobResourceContents) -> Self {
        Self::BlobResourceContents(contents)
    }
}

impl From<&str> for ContentBlock {
    fn from(text: &str) -> Self {
        Self::Text(TextContent::new(text))
    }
}

impl From<String> for ContentBlock {
    fn from(text: String) -> Self {
        Self::Text(TextContent::new(text))
    }
}
