//! What a prompt brings along beside its text, before any agent is asked: broken or oversized pieces are replaced by
//! words, files that the client offers are read, files that the text mentions are named. What does not get through is
//! returned for the user.
//!
//! Knows neither the protocol nor which agent answers, and reads no file of the disk: a model has tools for that.

mod check;
mod link;
mod mention;
#[cfg(test)]
mod tests;

pub use check::check;
pub(crate) use link::path_of;

use session_model::{Content, ResourceBody};

use crate::driver::TurnInput;
use crate::host::Host;
use crate::io::{Interrupted, TurnIo};
use crate::tools::Workspace;

/// The most of a name or a type that is shown, in characters.
const MAX_NAME: usize = 200;

/// Makes `input.prompt` what an agent can be asked. Returns what did not get through, one sentence part each.
///
/// # Errors
/// [`Interrupted`] once the turn is cancelled.
pub async fn attach(input: &mut TurnInput, io: &TurnIo) -> Result<Vec<String>, Interrupted> {
    let workspace = Workspace {
        cwd: input.cwd.clone(),
        additional_roots: input.additional_roots.clone(),
        host: Host::client(input.host, io.clone()),
    };
    let mut lost = Vec::new();
    if input.host.read_file {
        for piece in &mut input.prompt {
            if let Content::Link(wanted) = piece
                && let Some(read) = link::read(wanted, &workspace, io).await?
            {
                match read {
                    Ok(resource) => *piece = Content::Resource(resource),
                    Err(why) => {
                        lost.push(format!("{} ({why})", shown(&wanted.name)));
                        wanted.description = Some(format!("could not be read: {why}"));
                    }
                }
            }
        }
    }
    lost.extend(check(&mut input.prompt));
    let mentioned = mention::links(&input.prompt, &workspace);
    input.prompt.extend(io.or_cancelled(mentioned).await?.into_iter().map(Content::Link));
    Ok(lost)
}

/// What of `prompt` an agent that takes text and images is told of in words only, for the user; it `hears` sounds of some
/// types at most.
#[must_use]
pub fn untold(agent: &str, prompt: &[Content], hears: impl Fn(&str) -> bool) -> Option<String> {
    let untold = withheld(prompt, true, &hears)?;
    let sounds = if hears("audio/wav") { ", images, WAV and MP3" } else { " and images" };
    Some(format!("{agent} takes text{sounds} only; it was told of, but not given: {untold}"))
}

/// The same for an agent that takes text alone.
#[must_use]
pub fn unseen(agent: &str, prompt: &[Content]) -> Option<String> {
    let unseen = withheld(prompt, false, &|_| false)?;
    Some(format!("{agent} takes text only; it was told of, but not given: {unseen}"))
}

fn withheld(prompt: &[Content], takes_images: bool, hears: &dyn Fn(&str) -> bool) -> Option<String> {
    let withheld = prompt.iter().filter_map(|piece| match piece {
        Content::Audio { mime_type, .. } => {
            (!hears(mime_type)).then(|| format!("a sound ({})", shown(mime_type)))
        }
        Content::Image { mime_type, .. } => {
            (!takes_images).then(|| format!("an image ({})", shown(mime_type)))
        }
        Content::Resource(resource) => {
            let mime_type = resource.mime_type.as_deref().unwrap_or("unknown type");
            let is_blob = matches!(resource.body, ResourceBody::Blob(_));
            let is_taken = takes_images && mime_type.starts_with("image/");
            (is_blob && !is_taken).then(|| format!("{} ({})", shown(&resource.uri), shown(mime_type)))
        }
        Content::Text { .. } | Content::Link(_) => None,
    });
    let withheld: Vec<String> = withheld.collect();
    (!withheld.is_empty()).then(|| withheld.join(", "))
}

/// A client's word in a line of ours: short, and without control characters.
fn shown(word: &str) -> String {
    word.chars().filter(|c| !c.is_control()).take(MAX_NAME).collect()
}
