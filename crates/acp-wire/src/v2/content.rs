//! content

use serde::{Deserialize, Serialize};

use crate::macros::{object, string_type, strings, tagged};

string_type! {
    /// Media type.
    pub struct MediaType;
}

tagged! {
    /// Content block.
    pub enum ContentBlock: "type" {
        /// Text.
        Text(TextContent) = "text",
        /// Image.
        Image(ImageContent) = "image",
        /// Audio.
        Audio(AudioContent) = "audio",
        /// Resource link.
        ResourceLink(ResourceLink) = "resource_link",
        /// Resource.
        Resource(EmbeddedResource) = "resource",
        ; else Other
    }
}

object! {
    /// Text content.
    pub struct TextContent {
        /// Text.
        req text: String,
        /// Annotations.
        soft annotations: Annotations,
        meta
    }
}

object! {
    /// Image content.
    pub struct ImageContent {
        /// Data.
        req data: String,
        /// Mime type.
        req mime_type: MediaType,
        /// Uri.
        soft uri: String,
        /// Annotations.
        soft annotations: Annotations,
        meta
    }
}

object! {
    /// Audio content.
    pub struct AudioContent {
        /// Data.
        req data: String,
        /// Mime type.
        req mime_type: MediaType,
        /// Annotations.
        soft annotations: Annotations,
        meta
    }
}

object! {
    /// Embedded resource.
    pub struct EmbeddedResource {
        /// Resource.
        req resource: EmbeddedResourceResource,
        /// Annotations.
        soft annotations: Annotations,
        meta
    }
}

object! {
    /// Text resource contents.
    pub struct TextResourceContents {
        /// Text.
        req text: String,
        /// Uri.
        req uri: String,
        /// Mime type.
        soft mime_type: MediaType,
        meta
    }
}

object! {
    /// Blob resource contents.
    pub struct BlobResourceContents {
        /// Blob.
        req blob: String,
        /// Uri.
        req uri: String,
        /// Mime type.
        soft mime_type: MediaType,
        meta
    }
}

object! {
    /// Resource link.
    pub struct ResourceLink {
        /// Name.
        req name: String,
        /// Uri.
        req uri: String,
        /// Title.
        soft title: String,
        /// Description.
        soft description: String,
        /// Icons.
        soft_list icons: Icon,
        /// Mime type.
        soft mime_type: MediaType,
        /// Size.
        soft size: u64,
        /// Annotations.
        soft annotations: Annotations,
        meta
    }
}

object! {
    /// Icon.
    pub struct Icon {
        /// Src.
        req src: String,
        /// Mime type.
        soft mime_type: MediaType,
        /// Sizes.
        soft_list sizes: String,
        /// Theme.
        soft theme: IconTheme,
        meta
    }
}

strings! {
    /// Icon theme.
    pub enum IconTheme {
        /// Light.
        Light = "light",
        /// Dark.
        Dark = "dark",
        ; else Other
    }
}

object! {
    /// Annotations.
    pub struct Annotations: Default {
        /// Audience.
        soft_list audience: Role,
        /// Last modified.
        soft last_modified: String,
        /// Priority.
        soft priority: f64,
        meta
    }
}

strings! {
    /// Role.
    pub enum Role {
        /// Assistant.
        Assistant = "assistant",
        /// User.
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
