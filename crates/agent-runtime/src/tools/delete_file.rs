//! `delete_file`: removes one file, link or empty folder.

use std::io::{self, Read as _};

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use session_model::{FileChange, FileOp, ToolContent, ToolKind};

use super::support::{blocking, explain, output, path_of, show_change, spec, title};
use super::{Args, CallPlan, Place, Tool, ToolCx, ToolOutput, ToolSpec, Workspace, anchored};

/// Bytes of the text that are read for the sake of showing what goes.
const MAX_SHOWN_BYTES: u64 = 512 * 1024;

/// The tool.
#[derive(Debug)]
pub(crate) struct DeleteFile(ToolSpec);

impl DeleteFile {
    pub(crate) fn new() -> Self {
        Self(spec(
            "delete_file",
            ToolKind::Delete,
            false,
            "Deletes one file, link (not what it leads to) or empty folder.",
            json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "The file, absolute or relative to the working directory."}
                },
                "required": ["path"]
            }),
        ))
    }
}

#[async_trait]
impl Tool for DeleteFile {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn plan(&self, args: &Map<String, Value>, workspace: &Workspace) -> Result<CallPlan, String> {
        let (path, workspace) = (path_of(Args::new(args), None)?, workspace.clone());
        blocking(move || {
            let place = Place::resolve_entry(&workspace, &path)?;
            if place.inside {
                place.real.symlink_metadata().map_err(|error| explain(&place.label(&workspace), &error))?;
            }
            Ok(CallPlan {
                title: title("delete_file", &place.label(&workspace)),
                locations: vec![place.location(None)],
                approval: place.write_approval("Delete"),
                preview: shown(&place).into_iter().collect(),
            })
        })
        .await
    }

    async fn run(&self, args: Map<String, Value>, cx: ToolCx) -> ToolOutput {
        output(
            blocking(move || {
                let place = Place::resolve_planned_entry(&cx, &path_of(Args::new(&args), None)?)?;
                let label = place.label(&cx.workspace);
                if cx.cancel.is_cancelled() {
                    return Err("cancelled before anything was deleted".to_owned());
                }
                let gone = shown(&place);
                anchored::remove_entry(&place).map_err(|error| {
                    if error.kind() == io::ErrorKind::DirectoryNotEmpty {
                        return format!("{label} is a folder with something in it; nothing was deleted");
                    }
                    format!("nothing was deleted: {}", explain(&label, &error))
                })?;
                let content = gone.into_iter().collect();
                Ok(ToolOutput { content, ..ToolOutput::ok(format!("deleted {label}")) })
            })
            .await,
        )
    }
}

/// What goes, where it is text and not too long to show. What is outside is not told before the user allowed it.
fn shown(place: &Place) -> Option<ToolContent> {
    let mut before = String::new();
    let file = anchored::open_file(place).ok().filter(|_| place.inside)?;
    let read = file.take(MAX_SHOWN_BYTES + 1).read_to_string(&mut before).ok()?;
    let change =
        FileChange { path: place.shown.clone(), op: FileOp::Delete, before: Some(before), after: None };
    (read as u64 <= MAX_SHOWN_BYTES).then(|| show_change(change))
}
