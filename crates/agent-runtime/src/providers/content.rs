//! A user's content in the form chat APIs take: text, images and sounds. What they do not take is said in words, never
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
    /// A sound in base64.
    Sound { format: SoundFormat, data: &'a str },
}

/// The sounds that an API takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SoundFormat {
    Wav,
    Mp3,
}

impl SoundFormat {
    /// Of a media type; none of another one's.
    pub(crate) fn of(mime_type: &str) -> Option<Self> {
        let essence = mime_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match essence.as_str() {
            "audio/wav" | "audio/x-wav" | "audio/wave" | "audio/vnd.wave" => Some(Self::Wav),
            "audio/mpeg" | "audio/mp3" => Some(Self::Mp3),
            _ => None,
        }
    }

    /// Its name in APIs.
    pub(crate) fn id(self) -> &'static str {
        match self {
            Self::Wav => "wav",
            Self::Mp3 => "mp3",
        }
    }
}

/// What is sent as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Media {
    pub(crate) images: bool,
    pub(crate) sounds: bool,
}

impl<'a> Part<'a> {
    pub(crate) fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Text(text.into())
    }

    pub(crate) fn is_image(&self) -> bool {
        match self {
            Self::Image { .. } => true,
            Self::Text(_) | Self::Sound { .. } => false,
        }
    }

    pub(crate) fn is_sound(&self) -> bool {
        match self {
            Self::Sound { .. } => true,
            Self::Text(_) | Self::Image { .. } => false,
        }
    }

    pub(crate) fn is_blank(&self) -> bool {
        match self {
            Self::Image { .. } | Self::Sound { .. } => false,
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
        Part::Image { .. } | Part::Sound { .. } => None,
    });
    texts.collect::<Option<String>>().map(Cow::Owned)
}

/// What stands for a sound that an API does not take.
pub(crate) const UNHEARD: &str = "\n[a sound, which this model cannot hear]\n";

/// The parts of `content`; in words what is not sent as it is.
pub(crate) fn parts_of(content: &[Content], sent: Media) -> Vec<Part<'_>> {
    let parts = content.iter().flat_map(|piece| match piece {
        Content::Audio { data, mime_type } => {
            let said = |what: &str| Part::text(format!("\n[a sound of type {mime_type}{what}]\n"));
            match SoundFormat::of(mime_type).filter(|_| sent.sounds) {
                // What it says stands nowhere in words.
                Some(format) => vec![said(", no transcript, follows"), Part::Sound { format, data }],
                None => vec![said(", which this model cannot hear")],
            }
        }
        Content::Text { .. } | Content::Image { .. } | Content::Link(_) | Content::Resource(_) => {
            vec![seen(piece, sent)]
        }
    });
    parts.collect()
}

/// A piece that is no sound.
fn seen(piece: &Content, sent: Media) -> Part<'_> {
    let image = |mime_type, data, what: &str| {
        if sent.images {
            Part::Image { mime_type, data }
        } else {
            Part::text(format!("\n[{what} of type {mime_type}, which this model cannot see]\n"))
        }
    };
    match piece {
        Content::Text { text } => Part::text(text.as_str()),
        Content::Image { data, mime_type, .. } => image(mime_type, data, "an image"),
        Content::Audio { .. } => Part::text(UNHEARD),
        Content::Link(link) => Part::text(link_text(link)),
        Content::Resource(resource) => match (&resource.body, resource.mime_type.as_deref()) {
            (ResourceBody::Blob(data), Some(mime_type)) if mime_type.starts_with("image/") => {
                image(mime_type, data, "an image")
            }
            _ => Part::text(resource_text(resource)),
        },
    }
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
