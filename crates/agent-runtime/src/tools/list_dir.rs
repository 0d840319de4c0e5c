//! `list_dir`: what a folder holds, one level deep.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt::Write as _;

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use session_model::ToolKind;

use super::anchored::{EntryKind, Folder};
use super::support::{blocking, explain, output, path_of, spec, title};
use super::{Args, CallPlan, Place, Tool, ToolCx, ToolOutput, ToolSpec, Workspace, text};

/// Entries shown; a folder with more is better searched than listed.
const MAX_ENTRIES: usize = 1000;

/// The tool.
#[derive(Debug)]
pub(crate) struct ListDir(ToolSpec);

impl ListDir {
    pub(crate) fn new() -> Self {
        Self(spec(
            "list_dir",
            ToolKind::Read,
            true,
            "Lists one folder, not those below it: kind (dir, file, link, other), size in bytes and name of each \
             entry. Hidden entries are included.",
            json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "The folder; the working directory when absent."}
                },
                "required": []
            }),
        ))
    }
}

#[async_trait]
impl Tool for ListDir {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn plan(&self, args: &Map<String, Value>, workspace: &Workspace) -> Result<CallPlan, String> {
        let path = path_of(Args::new(args), Some("."))?;
        let workspace = workspace.clone();
        blocking(move || {
            let place = Place::resolve(&workspace, &path)?;
            Ok(CallPlan {
                title: title("list_dir", &place.label(&workspace)),
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
                let path = path_of(Args::new(&args), Some("."))?;
                let place = Place::resolve_planned(&cx, &path)?;
                list(&place, &cx).map(ToolOutput::ok)
            })
            .await,
        )
    }
}

fn list(place: &Place, cx: &ToolCx) -> Result<String, String> {
    let label = place.label(&cx.workspace);
    let failed = |error: std::io::Error| {
        if error.kind() == std::io::ErrorKind::NotADirectory && place.real.is_file() {
            return format!("{label} is a file; read_file reads it");
        }
        explain(&label, &error)
    };
    let folder = Folder::open(place).map_err(failed)?;
    let (mut names, mut total) = (BTreeSet::<OsString>::new(), 0_usize);
    for name in folder.names().map_err(failed)? {
        if cx.cancel.is_cancelled() {
            return Err("cancelled".to_owned());
        }
        names.insert(name.map_err(failed)?);
        total += 1;
        if names.len() > MAX_ENTRIES {
            names.pop_last();
        }
    }
    let mut listed = String::new();
    for name in &names {
        let shown = text::one_line(&name.to_string_lossy(), usize::MAX);
        // An entry that vanished meanwhile is not there.
        let Ok(entry) = folder.entry(name) else { continue };
        // Writing to a string cannot fail.
        let _ = match (entry.kind, entry.target) {
            (EntryKind::Dir, _) => writeln!(listed, "dir\t-\t{shown}/"),
            (EntryKind::File, _) => writeln!(listed, "file\t{}\t{shown}", entry.size),
            (EntryKind::Other, _) => writeln!(listed, "other\t-\t{shown}"),
            (EntryKind::Link, None) => writeln!(listed, "link\t-\t{shown}"),
            (EntryKind::Link, Some(target)) => {
                writeln!(listed, "link\t-\t{shown} -> {}", text::one_line(&target, usize::MAX))
            }
        };
    }
    if total == 0 {
        listed.push_str("[the folder is empty]");
    } else if total > names.len() {
        let _ = write!(
            listed,
            "[the first {} of {total} entries by name; grep with `glob` finds others]",
            names.len()
        );
    }
    listed.truncate(listed.trim_end_matches('\n').len());
    Ok(listed)
}
