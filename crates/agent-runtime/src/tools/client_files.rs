//! Text files as the client's editor has them, for the tools that work on them where the client offers its own. The
//! path was judged by our rules before; what the client fails stays failed, and the disk is not looked at instead.

use std::io::ErrorKind;

use super::support::blocking;
use super::{Place, ToolCx, Workspace};
use crate::host::HostError;

/// How clients that answer with the code of an internal error say that there is no such file.
const MISSING: &[&str] = &["enoent", "no such file", "not found", "does not exist", "cannot find the file"];

/// All of the client's text at `place`.
pub(super) async fn read(workspace: &Workspace, place: &Place, label: &str) -> Result<String, String> {
    let read = workspace.host.read_file(&place.shown).await;
    read.map_err(|error| explain(label, "read", &error))
}

/// The same in a running call, which may be cancelled.
pub(super) async fn read_in(cx: &ToolCx, place: &Place, label: &str) -> Result<String, String> {
    tokio::select! {
        biased;
        () = cx.cancel.cancelled() => Err("cancelled".to_owned()),
        text = read(&cx.workspace, place, label) => text,
    }
}

/// Has the client write all of `text`. Tells of a cancel what it may have left behind.
pub(super) async fn write(cx: &ToolCx, place: &Place, label: &str, text: String) -> Result<(), String> {
    if cx.cancel.is_cancelled() {
        return Err("cancelled before anything was written".to_owned());
    }
    tokio::select! {
        biased;
        written = cx.workspace.host.write_file(&place.shown, text) => {
            written.map_err(|error| explain(label, "written", &error))
        }
        () = cx.cancel.cancelled() => {
            Err(format!("cancelled while the client was writing {label}; it may have been written"))
        }
    }
}

/// Whether the client's refusal to read `place` means that there is no such file. The protocol has a code for that; a
/// client that answers with another is believed when it says so in words and the disk has no such file either.
pub(crate) async fn is_missing(error: &HostError, place: &Place) -> bool {
    let said = match error {
        HostError::NotFound(_) => return true,
        HostError::Failed(said) => said.to_lowercase(),
        HostError::Refused(_) | HostError::Unanswered(_) | HostError::Interrupted => return false,
    };
    if !MISSING.iter().any(|words| said.contains(words)) {
        return false;
    }
    let real = place.real.clone();
    let is_gone = blocking(move || match real.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Ok(_) | Err(_) => Err(String::new()),
    });
    is_gone.await.is_ok()
}

fn explain(label: &str, what: &str, error: &HostError) -> String {
    match error {
        HostError::NotFound(said) => {
            format!("{label} does not exist (the editor says: {said}); list_dir and grep show what does")
        }
        HostError::Refused(said) | HostError::Failed(said) => {
            format!("{label} was not {what}: the editor says: {said}")
        }
        HostError::Unanswered(why) => {
            format!("it is not known whether {label} was {what} by the editor: {why}; read it to find out")
        }
        HostError::Interrupted => format!("{label} was not {what}: interrupted"),
    }
}
