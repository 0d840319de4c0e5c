//! `read_multiple_files`: several text files in one answer, each as `read_file` shows it, in a share of the room. A
//! file that cannot be read costs only its own part.

use std::collections::HashSet;

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use session_model::ToolKind;

use super::read_file::{MAX_SHOWN_BYTES, Window, show_place};
use super::support::{blocking, output, spec, title};
use super::{Approval, ApprovalAsk, Args, CallPlan, Place, Tool, ToolCx, ToolOutput, ToolSpec, Workspace};
use crate::host::FileUse;

/// More files than this are asked for in several calls.
const MAX_FILES: usize = 20;

/// The tool.
#[derive(Debug)]
pub(crate) struct ReadMany(ToolSpec);

impl ReadMany {
    pub(crate) fn new() -> Self {
        Self(spec(
            "read_multiple_files",
            ToolKind::Read,
            true,
            "Reads up to 20 text files at once, each as read_file shows it. The files share the room of one \
             answer: use read_file for more of one.",
            json!({
                "type": "object",
                "properties": {
                    "paths": {
                        "type": "array",
                        "items": {"type": "string"},
                        "description": "The files, absolute or relative to the working directory."
                    },
                    "limit": {"type": "integer", "minimum": 1, "description": "How many lines to show of each."}
                },
                "required": ["paths"]
            }),
        ))
    }
}

/// The files in the order in which they are named. A client is asked for each of them; on the disk twice is once.
fn paths_of(args: Args<'_>, workspace: &Workspace) -> Result<Vec<String>, String> {
    let mut paths = args.strings("paths")?;
    if !workspace.host.features().has_files() {
        let mut seen = HashSet::new();
        paths.retain(|path| seen.insert(path.clone()));
    }
    match paths.len() {
        0 => Err("`paths` is empty: name at least one file".to_owned()),
        1..=MAX_FILES => Ok(paths),
        count => Err(format!("{count} files are too many at once: {MAX_FILES} is the most")),
    }
}

#[async_trait]
impl Tool for ReadMany {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn plan(&self, args: &Map<String, Value>, workspace: &Workspace) -> Result<CallPlan, String> {
        let args = Args::new(args);
        let paths = paths_of(args, workspace)?;
        Window::of(args)?;
        let workspace = workspace.clone();
        blocking(move || {
            // A path that leads nowhere is told of by the run.
            let places: Vec<_> =
                paths.iter().filter_map(|path| Place::resolve(&workspace, path).ok()).collect();
            let labels: Vec<_> = places.iter().map(|place| place.label(&workspace)).collect();
            Ok(CallPlan {
                title: title("read_multiple_files", &labels.join(", ")),
                locations: places.iter().map(|place| place.location(None)).collect(),
                approval: approval(&places),
                preview: Vec::new(),
            })
        })
        .await
    }

    async fn run(&self, args: Map<String, Value>, cx: ToolCx) -> ToolOutput {
        output(read(&args, &cx).await)
    }

    fn files(&self) -> FileUse {
        FileUse::Reads
    }
}

/// One file after the other, in the order in which they are named.
async fn read(args: &Map<String, Value>, cx: &ToolCx) -> Result<ToolOutput, String> {
    let args = Args::new(args);
    let (paths, window) = (paths_of(args, &cx.workspace)?, Window::of(args)?);
    let share = MAX_SHOWN_BYTES / paths.len();
    let (mut told, mut failed) = (Vec::new(), true);
    for path in paths {
        if cx.cancel.is_cancelled() {
            return Err("cancelled".to_owned());
        }
        let (label, shown) = part(cx, path, window, share).await;
        failed &= shown.is_err();
        told.push(match shown {
            Ok(text) => format!("=== {label} ===\n{text}"),
            Err(reason) => format!("=== {label} ===\n[not read: {reason}]"),
        });
    }
    let told = told.join("\n\n");
    if failed { Err(told) } else { Ok(ToolOutput::ok(told)) }
}

/// One file's label and text.
async fn part(cx: &ToolCx, path: String, window: Window, share: usize) -> (String, Result<String, String>) {
    match Place::found_again(cx, &path).await {
        Ok(place) => (place.label(&cx.workspace), show_place(cx, place, window, share).await),
        Err(reason) => (path, Err(reason)),
    }
}

/// The leave for all of them together.
fn approval(places: &[Place]) -> Approval {
    let mut all = ApprovalAsk { description: String::new(), scopes: Vec::new() };
    for place in places {
        if let Approval::Ask(ask) = place.read_approval() {
            if !all.description.is_empty() {
                all.description.push('\n');
            }
            all.description.push_str(&ask.description);
            all.scopes.extend(
                ask.scopes.into_iter().filter(|scope| !all.scopes.contains(scope)).collect::<Vec<_>>(),
            );
        }
    }
    if all.description.is_empty() { Approval::Free } else { Approval::Ask(all) }
}
