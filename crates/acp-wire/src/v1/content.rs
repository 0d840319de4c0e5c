//! Content blocks: text, pictures, sound and resources.

use serde::{Deserialize, Serialize};

use crate::macros::{from_variants, object, strings, tagged};

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
        /// How to show or weigh it.
        soft annotations: Annotations,
        /// The text.
        req text: String,
        meta
    }
}

object! {
    /// A picture. Protocol: Content.
    pub struct ImageContent {
        /// How to show or weigh it.
        soft annotations: Annotations,
        /// The data in Base64.
        req data: String,
        /// The media type.
        req mime_type: String,
        /// The address.
        soft uri: String,
        meta
    }
}

object! {
    /// Sound. Protocol: Content.
    pub struct AudioContent {
        /// How to show or weigh it.
        soft annotations: Annotations,
        /// The data in Base64.
        req data: String,
        /// The media type.
        req mime_type: String,
        meta
    }
}

object! {
    /// A resource with its contents. Protocol: Content.
    pub struct EmbeddedResource {
        /// How to show or weigh it.
        soft annotations: Annotations,
        /// The resource.
        req resource: EmbeddedResourceResource,
        meta
    }
}

object! {
    /// A resource's text. Protocol: Content.
    pub struct TextResourceContents {
        /// The media type.
        soft mime_type: String,
        /// The text.
        req text: String,
        /// The address.
        req uri: String,
        meta
    }
}

object! {
    /// A resource's bytes. Protocol: Content.
    pub struct BlobResourceContents {
        /// The data in Base64.
        req blob: String,
        /// The media type.
        soft mime_type: String,
        /// The address.
        req uri: String,
        meta
    }
}

object! {
    /// A resource to be read by whoever wants it. Protocol: Content.
    pub struct ResourceLink {
        /// How to show or weigh it.
        soft annotations: Annotations,
        /// More words on it.
        soft description: String,
        /// The media type.
        soft mime_type: String,
        /// The resource's name.
        req name: String,
        /// The size in bytes.
        soft size: i64,
        /// A name for people.
        soft title: String,
        /// The address.
        req uri: String,
        meta
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
