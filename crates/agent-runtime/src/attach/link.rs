//! Files that a prompt links to, where the client reads files: its text is what the user sees. Everything else stays a
//! link, whose path a model may read with its tools under their rules.

use std::path::{Path, PathBuf};

use reqwest::Url;
use session_model::{EmbeddedResource, ResourceBody, ResourceLink};

use crate::io::{Interrupted, TurnIo};
use crate::tools::paths::Place;
use crate::tools::support::blocking;
use crate::tools::{Approval, Workspace};

/// What the client's file holds; why it could not be read; or nothing where the link is none to a file of the session.
pub(super) async fn read(
    link: &ResourceLink,
    workspace: &Workspace,
    io: &TurnIo,
) -> Result<Option<Result<EmbeddedResource, String>>, Interrupted> {
    let Some(path) = path_of(&link.uri) else { return Ok(None) };
    let judged = workspace.clone();
    let place = blocking(move || Place::resolve(&judged, &path.to_string_lossy()));
    let Ok(place) = io.or_cancelled(place).await? else { return Ok(None) };
    let may_read = place.inside && matches!(place.read_approval(), Approval::Free);
    // A folder is named, not read.
    if !may_read || place.as_folder || place.real.is_dir() {
        return Ok(None);
    }
    let read = io.or_cancelled(workspace.host.read_file(&place.shown)).await?;
    Ok(Some(match read {
        Ok(text) => Ok(EmbeddedResource {
            uri: link.uri.clone(),
            mime_type: link.mime_type.clone(),
            body: ResourceBody::Text(text),
        }),
        Err(error) => Err(format!("the editor says: {error}")),
    }))
}

/// The path that a link names: a `file:` URI of this machine, or a path as it is.
pub(crate) fn path_of(uri: &str) -> Option<PathBuf> {
    if uri.is_empty() || uri.contains('\0') || uri.starts_with(r"\\") || uri.starts_with("//") {
        return None;
    }
    if Path::new(uri).is_absolute() {
        return Some(PathBuf::from(uri));
    }
    match Url::parse(uri) {
        Ok(url) if url.scheme() == "file" && matches!(url.host_str(), None | Some("" | "localhost")) => {
            url.to_file_path().ok()
        }
        Ok(_) => None,
        Err(_) => Some(PathBuf::from(uri)),
    }
}
