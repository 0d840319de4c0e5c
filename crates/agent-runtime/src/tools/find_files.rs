//! `find_files`: the files below a folder whose names match a pattern.

use std::fmt::Write as _;

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use session_model::ToolKind;

use super::grep::Glob;
use super::search::walk;
use super::support::{blocking, explain, output, path_of, spec, title};
use super::{Args, CallPlan, Place, Tool, ToolCx, ToolOutput, ToolSpec, Workspace, text};

/// Files named at most.
const MAX_FILES: usize = 500;

/// The tool.
#[derive(Debug)]
pub(crate) struct FindFiles(ToolSpec);

impl FindFiles {
    pub(crate) fn new() -> Self {
        Self(spec(
            "find_files",
            ToolKind::Search,
            true,
            "Finds files by name, below a folder. A pattern without a slash is compared with the name (`*.rs`), one \
             with a slash with the path below the folder (`src/**/*.rs`). What .gitignore names is left out.",
            json!({
                "type": "object",
                "properties": {
                    "pattern": {"type": "string", "description": "`*` is any text but a slash, `**` any folders; `!` in front means all others."},
                    "path": {"type": "string", "description": "The folder; the working directory when absent."},
                    "include_ignored": {"type": "boolean", "description": "Also what .gitignore names."}
                },
                "required": ["pattern"]
            }),
        ))
    }
}

fn pattern_of(args: Args<'_>) -> Result<String, String> {
    let pattern = args.string("pattern")?;
    if pattern.trim().is_empty() {
        return Err("`pattern` is empty".to_owned());
    }
    Ok(pattern)
}

#[async_trait]
impl Tool for FindFiles {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn plan(&self, args: &Map<String, Value>, workspace: &Workspace) -> Result<CallPlan, String> {
        let args = Args::new(args);
        let (path, pattern) = (path_of(args, Some("."))?, pattern_of(args)?);
        Glob::of(&pattern)?;
        let workspace = workspace.clone();
        blocking(move || {
            let place = Place::resolve(&workspace, &path)?;
            Ok(CallPlan {
                title: title("find_files", &format!("{pattern} in {}", place.label(&workspace))),
                locations: vec![place.location(None)],
                approval: place.read_approval(),
                preview: Vec::new(),
            })
        })
        .await
    }

    async fn run(&self, args: Map<String, Value>, cx: ToolCx) -> ToolOutput {
        output(
            blocking(move || {
                let args = Args::new(&args);
                let place = Place::resolve_planned(&cx, &path_of(args, Some("."))?)?;
                let glob = Glob::of(&pattern_of(args)?)?;
                find(&place, &glob, args.flag("include_ignored", false)?, &cx).map(ToolOutput::ok)
            })
            .await,
        )
    }
}

fn find(place: &Place, glob: &Glob, include_ignored: bool, cx: &ToolCx) -> Result<String, String> {
    let label = place.label(&cx.workspace);
    let found = std::fs::symlink_metadata(&place.real).map_err(|error| explain(&label, &error))?;
    if !found.is_dir() {
        return Err(format!("{label} is a file; read_file reads it"));
    }
    let (mut listed, mut count) = (String::new(), 0_usize);
    for entry in walk(&place.real, true, include_ignored) {
        if cx.cancel.is_cancelled() {
            return Err("cancelled".to_owned());
        }
        // What cannot be entered is not there for this user.
        let Ok(entry) = entry else { continue };
        let is_folder = entry.file_type().is_none_or(|kind| kind.is_dir());
        let below = entry.path().strip_prefix(&place.real).unwrap_or(entry.path());
        if is_folder || !glob.admits(below) {
            continue;
        }
        count += 1;
        if count <= MAX_FILES {
            let path = place.below(entry.path()).label(&cx.workspace);
            // Writing to a string cannot fail.
            let _ = writeln!(listed, "{}", text::one_line(&path, usize::MAX));
        }
    }
    if count == 0 {
        let ignored = if include_ignored { "" } else { "; what .gitignore names was left out" };
        return Ok(format!("[no file in {label} matches{ignored}]"));
    }
    if count > MAX_FILES {
        let _ = write!(listed, "[the first {MAX_FILES} of {count}; narrow the pattern or path]");
    }
    listed.truncate(listed.trim_end_matches('\n').len());
    Ok(listed)
}
