//! A user's content in the form chat APIs take: text and images. What they do not take is said in words, never
//! dropped. Knows nothing of messages and their order.

use std::borrow::Cow;

use crate::attach::path_of;
use session_model::{Content, EmbeddedResource, ResourceBody, ResourceLink};

/// One part of a user's message.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Part<'a> {
    /// Text.
    Text(Cow<'a, str>),
    /// An image in base64.
    Image { mime_type: &'a str, data: &'a str },
}

impl<'a> Part<'a> {
    pub(crate) fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Text(text.into())
    }

    pub(crate) fn is_image(&self) -> bool {
        match self {
            Self::Image { .. } => true,
            Self::Text(_) => false,
        }
    }

    pub(crate) fn is_blank(&self) -> bool {
        match self {
            Self::Image { .. } => false,
            Self::Text(text) => text.trim().is_empty(),
        }
    }
}

/// The text of `parts`, when there is nothing else.
pub(crate) fn plain<'p>(parts: &'p [Part<'_>]) -> Option<Cow<'p, str>> {
    if let [Part::Text(text)] = parts {
        return Some(Cow::Borrowed(text));
    }
    let texts = parts.iter().map(|part| match part {
        Part::Text(text) => Some(text.as_ref()),
        Part::Image { .. } => None,
    });
    texts.collect::<Option<String>>().map(Cow::Owned)
}

/// The parts of `content`; images in words unless `with_images`.
pub(crate) fn parts_of(content: &[Content], with_images: bool) -> Vec<Part<'_>> {
    let image = |mime_type, data, what: &str| {
        if with_images {
            Part::Image { mime_type, data }
        } else {
            Part::text(format!("\n[{what} of type {mime_type}, which this model cannot see]\n"))
        }
    };
    let parts = content.iter().map(|piece| match piece {
        Content::Text { text } => Part::text(text.as_str()),
        Content::Image { data, mime_type, .. } => image(mime_type, data, "an image"),
        Content::Audio { mime_type, .. } => {
            Part::text(format!("\n[a sound of type {mime_type}, which this model cannot hear]\n"))
        }
        Content::Link(link) => Part::text(link_text(link)),
        Content::Resource(resource) => match (&resource.body, resource.mime_type.as_deref()) {
            (ResourceBody::Blob(data), Some(mime_type)) if mime_type.starts_with("image/") => {
                image(mime_type, data, "an image")
            }
            _ => Part::text(resource_text(resource)),
        },
    });
    parts.collect()
}

fn link_text(link: &ResourceLink) -> String {
    let name = link.title.as_deref().unwrap_or(&link.name);
    let about = link.description.as_deref().map(|text| format!(": {text}")).unwrap_or_default();
    // A path is what tools take.
    let place =
        path_of(&link.uri).map_or(Cow::Borrowed(link.uri.as_str()), |path| path.display().to_string().into());
    format!("\n[resource {name} at {place}{about}]\n")
}

fn resource_text(resource: &EmbeddedResource) -> String {
    let uri = &resource.uri;
    match &resource.body {
        ResourceBody::Text(text) => format!("\n<resource uri=\"{uri}\">\n{text}\n</resource>\n"),
        ResourceBody::Blob(data) => {
            let mime_type = resource.mime_type.as_deref().unwrap_or("unknown type");
            format!(
                "\n[binary resource {uri} ({mime_type}, {} bytes), not readable as text]\n",
                data.len() / 4 * 3
            )
        }
    }
}
