//! `write_file`: a whole file, new or replaced.

use std::io::Read as _;

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use session_model::{FileChange, FileOp, ToolContent, ToolKind};

use super::anchored::{self, Written};
use super::support::{blocking, explain, output, path_of, show_change, spec, title};
use super::{Approval, Args, CallPlan, Place, Tool, ToolCx, ToolOutput, ToolSpec, Workspace, client_files};
use crate::host::FileUse;

/// Bytes of the old text that are read for the sake of showing the change.
const MAX_BEFORE_BYTES: u64 = 512 * 1024;

/// The tool.
#[derive(Debug)]
pub(crate) struct WriteFile(ToolSpec);

impl WriteFile {
    pub(crate) fn new() -> Self {
        Self(spec(
            "write_file",
            ToolKind::Edit,
            false,
            "Writes a whole file, replacing what it held; missing folders are created. Use edit_file to change \
             a part of a file.",
            json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "The file, absolute or relative to the working directory."},
                    "content": {"type": "string", "description": "All of the new text."}
                },
                "required": ["path", "content"]
            }),
        ))
    }
}

#[async_trait]
impl Tool for WriteFile {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn plan(&self, args: &Map<String, Value>, workspace: &Workspace) -> Result<CallPlan, String> {
        let args = Args::new(args);
        let (path, content) = (path_of(args, None)?, args.string("content")?);
        let judged = workspace.clone();
        let place = blocking(move || Place::resolve(&judged, &path)).await?;
        let label = place.label(workspace);
        let (preview, what) = if workspace.host.has_file(&place.shown) {
            (client_change(workspace, &place, content).await, "Write")
        } else {
            let (place, label) = (place.clone(), label.clone());
            let change = blocking(move || change(&place, &label, content)).await?;
            let what = match change.op {
                FileOp::Add => "Create",
                FileOp::Modify | FileOp::Delete | FileOp::Move { .. } => "Replace",
            };
            (Some(show_change(change)), what)
        };
        Ok(CallPlan {
            title: title("write_file", &label),
            locations: vec![place.location(None)],
            approval: place.write_approval(what),
            preview: preview.into_iter().collect(),
        })
    }

    fn files(&self) -> FileUse {
        FileUse::Writes
    }

    async fn run(&self, args: Map<String, Value>, cx: ToolCx) -> ToolOutput {
        output(write(&args, cx).await)
    }
}

async fn write(args: &Map<String, Value>, cx: ToolCx) -> Result<ToolOutput, String> {
    let args = Args::new(args);
    let (path, content) = (path_of(args, None)?, args.string("content")?);
    let place = Place::found_again(&cx, &path).await?;
    let label = place.label(&cx.workspace);
    let bytes = content.len();
    if cx.workspace.host.has_file(&place.shown) {
        let change = client_change(&cx.workspace, &place, content.clone()).await;
        // The path may have been led elsewhere while the client read.
        if Place::found_again(&cx, &path).await? != place {
            return Err(format!("{label} leads elsewhere than before; nothing was written"));
        }
        client_files::write(&cx, &place, &label, content).await?;
        let done = ToolOutput::ok(format!("written {label} ({bytes} bytes)"));
        return Ok(ToolOutput { content: change.into_iter().collect(), ..done });
    }
    blocking(move || {
        let mut change = change(&place, &label, content.clone())?;
        if cx.cancel.is_cancelled() {
            return Err("cancelled before anything was written".to_owned());
        }
        let written = anchored::replace(&place, content.as_bytes())
            .map_err(|error| format!("nothing was written: {}", explain(&label, &error)))?;
        let (done, op) = match written {
            Written::Created => ("created", FileOp::Add),
            Written::Replaced => ("replaced", FileOp::Modify),
        };
        change.op = op;
        let done = ToolOutput::ok(format!("{done} {label} ({bytes} bytes)"));
        Ok(ToolOutput { content: vec![show_change(change)], ..done })
    })
    .await
}

/// What writing `content` changes of the client's file, as far as the client says what it holds. Without that a changed
/// file would look like a new one, and nothing is shown.
async fn client_change(workspace: &Workspace, place: &Place, content: String) -> Option<ToolContent> {
    let may_read = workspace.host.features().read_file && matches!(place.read_approval(), Approval::Free);
    if !may_read {
        return None;
    }
    let (op, before) = match workspace.host.read_file(&place.shown).await {
        Ok(before) => (FileOp::Modify, Some(before)),
        Err(error) if client_files::is_missing(&error, place).await => (FileOp::Add, None),
        Err(_) => return None,
    };
    Some(show_change(FileChange { path: place.shown.clone(), op, before, after: Some(content) }))
}

/// What writing `content` changes.
fn change(place: &Place, label: &str, content: String) -> Result<FileChange, String> {
    if place.as_folder || place.real.is_dir() {
        return Err(format!("{label} is a folder; name a file in it"));
    }
    let before = before(place);
    let op = if place.real.symlink_metadata().is_ok() { FileOp::Modify } else { FileOp::Add };
    Ok(FileChange { path: place.shown.clone(), op, before, after: Some(content) })
}

/// The old text where it is text and not too long to show.
fn before(place: &Place) -> Option<String> {
    let mut text = String::new();
    let file = anchored::open_file(place).ok()?;
    let read = file.take(MAX_BEFORE_BYTES + 1).read_to_string(&mut text).ok()?;
    (read as u64 <= MAX_BEFORE_BYTES).then_some(text)
}
