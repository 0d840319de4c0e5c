//! `write_file`: a whole file, new or replaced.

use std::io::Read as _;

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use session_model::{FileChange, FileOp, ToolKind};

use super::anchored::{self, Written};
use super::support::{blocking, explain, output, path_of, show_change, spec, title};
use super::{Args, CallPlan, Place, Tool, ToolCx, ToolOutput, ToolSpec, Workspace};

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
        let workspace = workspace.clone();
        blocking(move || {
            let place = Place::resolve(&workspace, &path)?;
            let label = place.label(&workspace);
            let change = change(&place, &label, content)?;
            let what = match change.op {
                FileOp::Add => "Create",
                FileOp::Modify | FileOp::Delete | FileOp::Move { .. } => "Replace",
            };
            Ok(CallPlan {
                title: title("write_file", &label),
                locations: vec![place.location(None)],
                approval: place.write_approval(what),
                preview: vec![show_change(change)],
            })
        })
        .await
    }

    async fn run(&self, args: Map<String, Value>, cx: ToolCx) -> ToolOutput {
        output(
            blocking(move || {
                let args = Args::new(&args);
                let (path, content) = (path_of(args, None)?, args.string("content")?);
                let place = Place::resolve_planned(&cx, &path)?;
                let label = place.label(&cx.workspace);
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
                Ok(ToolOutput {
                    content: vec![show_change(change)],
                    ..ToolOutput::ok(format!("{done} {label} ({} bytes)", content.len()))
                })
            })
            .await,
        )
    }
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
