//! content

use serde::{Deserialize, Serialize};

use crate::macros::{object, strings, tagged};

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
    }
}

object! {
    /// Text content.
    pub struct TextContent {
        /// Annotations.
        soft annotations: Annotations,
        /// Text.
        req text: String,
        meta
    }
}

object! {
    /// Image content.
    pub struct ImageContent {
        /// Annotations.
        soft annotations: Annotations,
        /// Data.
        req data: String,
        /// Mime type.
        req mime_type: String,
        /// Uri.
        soft uri: String,
        meta
    }
}

object! {
    /// Audio content.
    pub struct AudioContent {
        /// Annotations.
        soft annotations: Annotations,
        /// Data.
        req data: String,
        /// Mime type.
        req mime_type: String,
        meta
    }
}

object! {
    /// Embedded resource.
    pub struct EmbeddedResource {
        /// Annotations.
        soft annotations: Annotations,
        /// Resource.
        req resource: EmbeddedResourceResource,
        meta
    }
}

object! {
    /// Text resource contents.
    pub struct TextResourceContents {
        /// Mime type.
        soft mime_type: String,
        /// Text.
        req text: String,
        /// Uri.
        req uri: String,
        meta
    }
}

object! {
    /// Blob resource contents.
    pub struct BlobResourceContents {
        /// Blob.
        req blob: String,
        /// Mime type.
        soft mime_type: String,
        /// Uri.
        req uri: String,
        meta
    }
}

object! {
    /// Resource link.
    pub struct ResourceLink {
        /// Annotations.
        soft annotations: Annotations,
        /// Description.
        soft description: String,
        /// Mime type.
        soft mime_type: String,
        /// Name.
        req name: String,
        /// Size.
        soft size: i64,
        /// Title.
        soft title: String,
        /// Uri.
        req uri: String,
        meta
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
