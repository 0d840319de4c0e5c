//! What the built-in tools share: building a spec, working on the blocking pool, wording failures of the file
//! system.

use std::io;

use serde_json::Value;
use session_model::{Content, FileChange, FileOp, ToolContent, ToolKind};

use super::{Args, ToolOutput, ToolSpec, text};
use crate::provider::ToolSchema;

/// Characters of a title after the tool's name.
const TITLE_CHARS: usize = 200;

/// Bytes of both sides of a change together; larger ones are described instead of shown.
const MAX_CHANGE_BYTES: usize = 512 * 1024;

/// A spec; `parameters` is a JSON Schema object.
pub(crate) fn spec(name: &str, kind: ToolKind, parallel: bool, about: &str, parameters: Value) -> ToolSpec {
    let schema = ToolSchema { name: name.to_owned(), description: about.to_owned(), parameters };
    ToolSpec { schema, kind, parallel }
}

/// `name: what`, on one line and bounded.
pub(crate) fn title(name: &str, what: &str) -> String {
    format!("{name}: {}", text::one_line(what, TITLE_CHARS))
}

/// Runs `work`, which may block, beside the asynchronous tasks.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(failed) => Err(format!("the tool broke off: {failed}")),
    }
}

/// The outcome as a tool's output.
pub(crate) fn output(done: Result<ToolOutput, String>) -> ToolOutput {
    done.unwrap_or_else(ToolOutput::failed)
}

/// The path argument, required or with a default.
pub(crate) fn path_of(args: Args<'_>, default: Option<&str>) -> Result<String, String> {
    match default {
        None => args.string("path"),
        Some(default) => {
            let path = args.optional_string("path")?.filter(|path| !path.trim().is_empty());
            Ok(path.unwrap_or_else(|| default.to_owned()))
        }
    }
}

/// A failure of the file system in a sentence that helps a model on.
pub(crate) fn explain(label: &str, error: &io::Error) -> String {
    let kind = error.kind();
    if kind == io::ErrorKind::NotFound {
        format!("{label} does not exist; list_dir and grep show what does")
    } else if kind == io::ErrorKind::IsADirectory {
        format!("{label} is a folder; list_dir lists it")
    } else if kind == io::ErrorKind::NotADirectory {
        format!("{label}: a part of the path, or what should be a folder, is a file or a link")
    } else {
        format!("{label}: {error}")
    }
}

/// The change for a row, or a sentence when it is too large to show.
pub(crate) fn show_change(change: FileChange) -> ToolContent {
    let size = |side: &Option<String>| side.as_ref().map_or(0, String::len);
    let (before, after) = (size(&change.before), size(&change.after));
    // Without its old text a changed file would look like a new one.
    let unknown = change.before.is_none() && change.op == FileOp::Modify;
    if before + after <= MAX_CHANGE_BYTES && !unknown {
        return ToolContent::Change(change);
    }
    let path = change.path.display();
    ToolContent::Content(Content::text(if unknown {
        format!("{path}: replaced by {after} bytes (what it held cannot be shown)")
    } else {
        format!("{path}: {before} bytes become {after} bytes (too large to show the difference)")
    }))
}
