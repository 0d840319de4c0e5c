//! `edit_file`: replaces a piece of a text file and nothing else of it.

use std::io::Read as _;

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use session_model::{FileChange, FileOp, ToolKind};

use super::replace::replace;
use super::support::{blocking, explain, output, path_of, show_change, spec, title};
use super::{
    Approval, Args, CallPlan, Place, Tool, ToolCx, ToolOutput, ToolSpec, Workspace, anchored, client_files,
};
use crate::host::FileUse;

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
        let request = Request::of(Args::new(args))?;
        let place = resolve(workspace, &request.path).await?;
        let label = place.label(workspace);
        // What is outside may not be told before the user allowed it; the run will say what is wrong.
        let edit = match before(workspace, &place, &label).await {
            Err(reason) if place.inside => return Err(reason),
            Err(_) => None,
            Ok(before) => match Edit::prepare(&place, &label, &request, before) {
                Err(reason) if place.inside => return Err(reason),
                edit => edit.ok(),
            },
        };
        Ok(CallPlan {
            title: title("edit_file", &label),
            locations: vec![place.location(edit.as_ref().map(|edit| edit.line))],
            approval: place.write_approval("Change"),
            preview: edit.map(|edit| show_change(edit.change)).into_iter().collect(),
        })
    }

    fn files(&self) -> FileUse {
        FileUse::Edits
    }

    async fn run(&self, args: Map<String, Value>, cx: ToolCx) -> ToolOutput {
        output(edit(&args, &cx).await)
    }
}

async fn resolve(workspace: &Workspace, path: &str) -> Result<Place, String> {
    let (workspace, path) = (workspace.clone(), path.to_owned());
    blocking(move || Place::resolve(&workspace, &path)).await
}

/// The text to show a change of. A client's file outside the session's folders is not asked for before the user allowed
/// it.
async fn before(workspace: &Workspace, place: &Place, label: &str) -> Result<String, String> {
    if !workspace.host.has_file(&place.shown) {
        let (place, label) = (place.clone(), label.to_owned());
        return blocking(move || read(&place, &label)).await;
    }
    if !matches!(place.read_approval(), Approval::Free) {
        return Err("not yet allowed to be read".to_owned());
    }
    client_files::read(workspace, place, label).await
}

/// The file may have changed since the plan was shown, so the edit is made anew.
async fn edit(args: &Map<String, Value>, cx: &ToolCx) -> Result<ToolOutput, String> {
    let request = Request::of(Args::new(args))?;
    let place = Place::found_again(cx, &request.path).await?;
    let label = place.label(&cx.workspace);
    let edit = if cx.workspace.host.has_file(&place.shown) {
        let before = client_files::read_in(cx, &place, &label).await?;
        let edit = Edit::prepare(&place, &label, &request, before)?;
        // The path may have been led elsewhere while the client read.
        if Place::found_again(cx, &request.path).await? != place {
            return Err(format!("{label} leads elsewhere than when it was read; nothing was changed"));
        }
        client_files::write(cx, &place, &label, edit.bytes.clone()).await?;
        edit
    } else {
        let (place, label, cancel) = (place.clone(), label.clone(), cx.cancel.clone());
        blocking(move || {
            let edit = Edit::prepare(&place, &label, &request, read(&place, &label)?)?;
            if cancel.is_cancelled() {
                return Err("cancelled before anything was changed".to_owned());
            }
            anchored::replace(&place, edit.bytes.as_bytes())
                .map_err(|error| format!("nothing was changed: {}", explain(&label, &error)))?;
            Ok(edit)
        })
        .await?
    };
    let times = if edit.count == 1 { "once".to_owned() } else { format!("{} times", edit.count) };
    Ok(ToolOutput {
        content: vec![show_change(edit.change)],
        locations: vec![place.location(Some(edit.line))],
        ..ToolOutput::ok(format!("edited {label}: replaced {times}, first at line {}", edit.line))
    })
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
    fn prepare(place: &Place, label: &str, request: &Request, before: String) -> Result<Self, String> {
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
