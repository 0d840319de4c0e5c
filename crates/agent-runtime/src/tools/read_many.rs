//! `read_multiple_files`: several text files in one answer, each as `read_file` shows it, in a share of the room. A
//! file that cannot be read costs only its own part.

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use session_model::ToolKind;

use super::read_file::{MAX_SHOWN_BYTES, Window, show};
use super::support::{blocking, explain, output, spec, title};
use super::{
    Approval, ApprovalAsk, Args, CallPlan, Place, Tool, ToolCx, ToolOutput, ToolSpec, Workspace, anchored,
};

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

fn paths_of(args: Args<'_>) -> Result<Vec<String>, String> {
    let mut paths = Vec::new();
    for path in args.strings("paths")? {
        if !paths.contains(&path) {
            paths.push(path);
        }
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
        let paths = paths_of(args)?;
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
        output(
            blocking(move || {
                let args = Args::new(&args);
                let (paths, window) = (paths_of(args)?, Window::of(args)?);
                let share = MAX_SHOWN_BYTES / paths.len();
                let parts: Vec<(String, Result<String, String>)> =
                    paths.into_iter().map(|path| part(&cx, path, window, share)).collect();
                if cx.cancel.is_cancelled() {
                    return Err("cancelled".to_owned());
                }
                let failed = parts.iter().all(|(_, shown)| shown.is_err());
                let told: Vec<String> = parts
                    .into_iter()
                    .map(|(label, shown)| match shown {
                        Ok(text) => format!("=== {label} ===\n{text}"),
                        Err(reason) => format!("=== {label} ===\n[not read: {reason}]"),
                    })
                    .collect();
                let told = told.join("\n\n");
                if failed { Err(told) } else { Ok(ToolOutput::ok(told)) }
            })
            .await,
        )
    }
}

/// One file's label and text.
fn part(cx: &ToolCx, path: String, window: Window, share: usize) -> (String, Result<String, String>) {
    let place = match Place::resolve_planned(cx, &path) {
        Ok(place) => place,
        Err(reason) => return (path, Err(reason)),
    };
    let label = place.label(&cx.workspace);
    let file = anchored::open_file(&place).map_err(|error| explain(&label, &error));
    let shown = file.and_then(|file| show(file, &window, &label, share, &cx.cancel));
    (label, shown)
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
