//! `edit_file`: replaces a piece of a text file and nothing else of it.

use std::io::Read as _;

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use session_model::{FileChange, FileOp, ToolKind};

use super::replace::replace;
use super::support::{blocking, explain, output, path_of, show_change, spec, title};
use super::{Args, CallPlan, Place, Tool, ToolCx, ToolOutput, ToolSpec, Workspace, anchored};

/// Larger files are not edited in memory.
const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

pub(super) const BOM: &str = "\u{feff}";

/// The tool.
#[derive(Debug)]
pub(crate) struct EditFile(ToolSpec);

impl EditFile {
    pub(crate) fn new() -> Self {
        Self(spec(
            "edit_file",
            ToolKind::Edit,
            false,
            "Replaces text in a file. `old_string` must occur exactly once, white space included, unless \
             `replace_all` is set; give enough lines around the change. Line ends are kept as the file has them.",
            json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "The file, absolute or relative to the working directory."},
                    "old_string": {"type": "string", "description": "The text to replace, as it stands in the file."},
                    "new_string": {"type": "string", "description": "The text that takes its place."},
                    "replace_all": {"type": "boolean", "description": "Whether to replace every occurrence."}
                },
                "required": ["path", "old_string", "new_string"]
            }),
        ))
    }
}

#[async_trait]
impl Tool for EditFile {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn plan(&self, args: &Map<String, Value>, workspace: &Workspace) -> Result<CallPlan, String> {
        let (request, workspace) = (Request::of(Args::new(args))?, workspace.clone());
        blocking(move || {
            let place = Place::resolve(&workspace, &request.path)?;
            let label = place.label(&workspace);
            let edit = match Edit::prepare(&place, &label, &request) {
                Ok(edit) => Some(edit),
                Err(reason) if place.inside => return Err(reason),
                // What is outside may not be told before the user allowed it; the run will say what is wrong.
                Err(_) => None,
            };
            Ok(CallPlan {
                title: title("edit_file", &label),
                locations: vec![place.location(edit.as_ref().map(|edit| edit.line))],
                approval: place.write_approval("Change"),
                preview: edit.map(|edit| show_change(edit.change)).into_iter().collect(),
            })
        })
        .await
    }

    async fn run(&self, args: Map<String, Value>, cx: ToolCx) -> ToolOutput {
        output(
            blocking(move || {
                let request = Request::of(Args::new(&args))?;
                let place = Place::resolve_planned(&cx, &request.path)?;
                let label = place.label(&cx.workspace);
                // The file may have changed since the plan was shown, so the edit is made anew.
                let edit = Edit::prepare(&place, &label, &request)?;
                if cx.cancel.is_cancelled() {
                    return Err("cancelled before anything was changed".to_owned());
                }
                anchored::replace(&place, edit.bytes.as_bytes())
                    .map_err(|error| format!("nothing was changed: {}", explain(&label, &error)))?;
                let times = if edit.count == 1 { "once".to_owned() } else { format!("{} times", edit.count) };
                Ok(ToolOutput {
                    content: vec![show_change(edit.change)],
                    locations: vec![place.location(Some(edit.line))],
                    ..ToolOutput::ok(format!("edited {label}: replaced {times}, first at line {}", edit.line))
                })
            })
            .await,
        )
    }
}

struct Request {
    path: String,
    old: String,
    new: String,
    all: bool,
}

impl Request {
    fn of(args: Args<'_>) -> Result<Self, String> {
        Ok(Self {
            path: path_of(args, None)?,
            old: args.string("old_string")?,
            new: args.string("new_string")?,
            all: args.flag("replace_all", false)?,
        })
    }
}

/// An edit that can be made.
struct Edit {
    change: FileChange,
    bytes: String,
    count: usize,
    line: u32,
}

impl Edit {
    fn prepare(place: &Place, label: &str, request: &Request) -> Result<Self, String> {
        let before = read(place, label)?;
        let (bom, text) = match before.strip_prefix(BOM) {
            Some(text) => (BOM, text),
            None => ("", before.as_str()),
        };
        let sides = [&request.old, &request.new].map(|side| side.strip_prefix(BOM).unwrap_or(side));
        let replaced = replace(text, sides[0], sides[1], request.all)
            .map_err(|reason| format!("{label} is unchanged: {reason}"))?;
        let bytes = format!("{bom}{}", replaced.text);
        let change = FileChange {
            path: place.shown.clone(),
            op: FileOp::Modify,
            before: Some(before),
            after: Some(bytes.clone()),
        };
        Ok(Self { change, bytes, count: replaced.count, line: replaced.line })
    }
}

/// All of a text file.
pub(super) fn read(place: &Place, label: &str) -> Result<String, String> {
    let failed = |error: std::io::Error| explain(label, &error);
    let file = anchored::open_file(place).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(format!(
            "{label} is larger than {MAX_FILE_BYTES} bytes; change it with a command in bash"
        ));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        format!(
            "{label} is unchanged: it is not UTF-8 text (byte {at}), and an edit would damage it; use a command \
             in bash"
        )
    })
}
