//! Text files as the client's editor has them, for the tools that work on them where the client offers its own. The
//! path was judged by our rules before; what the client fails stays failed, and the disk is not looked at instead.

use super::{Place, ToolCx, Workspace};
use crate::host::HostError;

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
