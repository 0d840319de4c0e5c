//! What a message is made of.

use serde::{Deserialize, Serialize};

/// One piece of a message or of a tool's display output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Content {
    /// Plain or Markdown text.
    Text {
        /// The text.
        text: String,
    },
    /// An image.
    Image {
        /// The bytes, base64.
        data: String,
        /// Its media type.
        mime_type: String,
        /// Where it came from.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        uri: Option<String>,
    },
    /// A sound.
    Audio {
        /// The bytes, base64.
        data: String,
        /// Its media type.
        mime_type: String,
    },
    /// A resource named, but not carried.
    Link(ResourceLink),
    /// A resource carried along.
    Resource(EmbeddedResource),
}

impl Content {
    /// Text content.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// The text, when this is text.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { text } => Some(text),
            Self::Image { .. } | Self::Audio { .. } | Self::Link(_) | Self::Resource(_) => None,
        }
    }
}

/// A resource named by its URI.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ResourceLink {
    /// Where it is; usually `file:`.
    pub uri: String,
    /// Its short name.
    pub name: String,
    /// Its name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its media type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Its size in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<i64>,
}

/// A resource with its contents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EmbeddedResource {
    /// Where it came from.
    pub uri: String,
    /// Its media type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// What it holds.
    pub body: ResourceBody,
}

/// The contents of a resource.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResourceBody {
    /// Text.
    Text(String),
    /// Bytes, base64.
    Blob(String),
}

/// All text pieces of `content`, joined without a separator.
#[must_use]
pub fn text_of(content: &[Content]) -> String {
    content.iter().filter_map(Content::as_text).collect()
}
