//! Which pieces of content an agent can be sent at all. Pure: the same content fares the same in every turn.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use imagesize::ImageType;
use session_model::{Content, EmbeddedResource, ResourceBody};

use super::shown;

/// The longest text of one resource, in bytes (Docker Agent).
const MAX_TEXT: usize = 5 * 1024 * 1024;

/// The most bytes of one image or document, decoded (Docker Agent).
const MAX_BINARY: usize = 20 * 1024 * 1024;

/// The most pixels of one image (Docker Agent).
const MAX_PIXELS: usize = 16_000_000;

/// The longest media type of a sound, in bytes (Docker Agent).
const MAX_SOUND_TYPE: usize = 256;

/// Puts a few words in the place of whatever is broken or too large, and text in the place of text that came as bytes.
/// Returns what was replaced and why, one sentence part each.
pub fn check(content: &mut [Content]) -> Vec<String> {
    let mut lost = Vec::new();
    for piece in content {
        if let Err((what, why)) = check_one(piece) {
            *piece = Content::text(format!("\n[{what} was attached, but it {why}]\n"));
            lost.push(format!("{what}, which {why}"));
        }
    }
    lost
}

fn check_one(piece: &mut Content) -> Result<(), (String, String)> {
    match piece {
        Content::Text { .. } | Content::Link(_) => Ok(()),
        Content::Image { data, mime_type, uri } if is_text(mime_type) => {
            let what = named("an image", mime_type);
            let text = text_of(data).map_err(|why| (what, why))?;
            let uri = uri.clone().unwrap_or_else(|| "an image".to_owned());
            let body = ResourceBody::Text(text);
            *piece = Content::Resource(EmbeddedResource { uri, mime_type: Some(mime_type.clone()), body });
            Ok(())
        }
        Content::Image { data, mime_type, .. } => match image(data) {
            Ok(found) => {
                found.clone_into(mime_type);
                Ok(())
            }
            Err(why) => Err((named("an image", mime_type), why)),
        },
        Content::Audio { data, mime_type } => match sound(data, mime_type) {
            Ok(found) => {
                *mime_type = found;
                Ok(())
            }
            Err(why) => Err((named("a sound", mime_type), why)),
        },
        Content::Resource(resource) => {
            let what = named(&shown(&resource.uri), resource.mime_type.as_deref().unwrap_or("unknown type"));
            check_resource(resource).map_err(|why| (what, why))
        }
    }
}

fn check_resource(resource: &mut EmbeddedResource) -> Result<(), String> {
    let data = match &resource.body {
        ResourceBody::Text(text) if text.len() > MAX_TEXT => return Err(too_large(text.len(), MAX_TEXT)),
        ResourceBody::Text(_) => return Ok(()),
        ResourceBody::Blob(data) => data,
    };
    let mime_type = resource.mime_type.as_deref().unwrap_or_default();
    if is_text(mime_type) {
        resource.body = ResourceBody::Text(text_of(data)?);
    } else if mime_type.starts_with("image/") {
        resource.mime_type = Some(image(data)?.to_owned());
    } else {
        decoded(data)?;
    }
    Ok(())
}

/// The media type of an image, found out from its bytes.
fn image(data: &str) -> Result<&'static str, String> {
    const UNKNOWN: &str = "is no whole PNG, JPEG, GIF, WebP or BMP";
    let bytes = decoded(data)?;
    let mime_type = match imagesize::image_type(&bytes) {
        Ok(ImageType::Png) => "image/png",
        Ok(ImageType::Jpeg) => "image/jpeg",
        Ok(ImageType::Gif) => "image/gif",
        Ok(ImageType::Webp) => "image/webp",
        Ok(ImageType::Bmp) => "image/bmp",
        Ok(_) | Err(_) => return Err(UNKNOWN.to_owned()),
    };
    let size = imagesize::blob_size(&bytes).map_err(|_| UNKNOWN.to_owned())?;
    if size.width.saturating_mul(size.height) > MAX_PIXELS {
        return Err(format!("has {}x{} pixels, more than {MAX_PIXELS} in all", size.width, size.height));
    }
    Ok(mime_type)
}

/// The media type of a sound, in lower case but for its parameters.
fn sound(data: &str, mime_type: &str) -> Result<String, String> {
    let (essence, parameters) = mime_type.split_at(mime_type.find(';').unwrap_or(mime_type.len()));
    let essence = essence.trim().to_ascii_lowercase();
    let is_sound = essence.strip_prefix("audio/").is_some_and(|kind| !kind.is_empty() && kind != "*");
    if !is_sound || mime_type.len() > MAX_SOUND_TYPE {
        return Err("has no type of a sound".to_owned());
    }
    decoded(data)?;
    Ok(format!("{essence}{parameters}"))
}

fn text_of(data: &str) -> Result<String, String> {
    let bytes = decoded(data)?;
    if bytes.len() > MAX_TEXT {
        return Err(too_large(bytes.len(), MAX_TEXT));
    }
    String::from_utf8(bytes).map_err(|_| "is no text in UTF-8".to_owned())
}

fn decoded(data: &str) -> Result<Vec<u8>, String> {
    // Told before anything is decoded: four letters carry three bytes.
    let about = data.len() / 4 * 3;
    if about > MAX_BINARY + 2 {
        return Err(too_large(about, MAX_BINARY));
    }
    let bytes = STANDARD.decode(data).map_err(|_| "is no base64".to_owned())?;
    if bytes.is_empty() {
        return Err("is empty".to_owned());
    }
    Ok(bytes)
}

fn too_large(bytes: usize, most: usize) -> String {
    format!("has {bytes} bytes, more than {most}")
}

fn named(what: &str, mime_type: &str) -> String {
    format!("{what} ({})", shown(mime_type))
}

/// Whether bytes of this type are text.
fn is_text(mime_type: &str) -> bool {
    let essence = mime_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence.starts_with("text/")
        || matches!(essence.as_str(), "application/json" | "application/xml" | "application/yaml")
        || essence.ends_with("+json")
        || essence.ends_with("+xml")
}
