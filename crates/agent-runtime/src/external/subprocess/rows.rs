//! The rows of a run: a step that runs code, and a change to a file.

use std::path::{Path, PathBuf};

use serde_json::json;
use session_model::source::{IdKind, Ids};
use session_model::{
    Content, Event, FileChange, FileOp, Location, ToolCallId, ToolCallUpdate, ToolContent, ToolKind,
    ToolStatus,
};

use super::event::Edit;
use crate::tools::text::{one_line, strip_escapes};

/// Characters of a title.
const TITLE_CHARS: usize = 200;
/// What a step is called.
const STEP: &str = "python";

/// The step that runs, if one does.
#[derive(Debug, Default)]
pub(super) struct Steps {
    count: u32,
    open: Option<(ToolCallId, String)>,
}

impl Steps {
    /// Code is run.
    pub(super) fn begin(&mut self, number: Option<u64>, code: &str, ids: &dyn Ids) -> Event {
        let code = strip_escapes(code);
        let first = code.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let number = number.unwrap_or_else(|| u64::from(self.count) + 1);
        let mut row = ToolCallUpdate::new(ToolCallId::from(ids.fresh(IdKind::ToolCall)));
        row.name = Some(STEP.to_owned());
        row.title = Some(format!("step {number}: {}", one_line(first, TITLE_CHARS)));
        row.kind = Some(ToolKind::Execute);
        row.status = Some(ToolStatus::InProgress);
        row.step = Some(self.count);
        row.raw_input = Some(json!({ "code": code }));
        row.content = Some(vec![fenced(&code)]);
        self.count += 1;
        self.open = Some((row.id.clone(), code));
        Event::ToolCall(row)
    }

    /// What the code gave, or that the next thing begins.
    pub(super) fn end(&mut self, text: &str, failed: bool) -> Option<Event> {
        let (id, code) = self.open.take()?;
        let text = strip_escapes(text);
        let mut row = ToolCallUpdate::new(id);
        row.status = Some(if failed { ToolStatus::Failed } else { ToolStatus::Completed });
        let member = if failed { "error" } else { "output" };
        row.raw_output = Some(json!({ member: text }));
        let mut shown = vec![fenced(&code)];
        if !text.trim().is_empty() {
            shown.push(ToolContent::Content(Content::text(text)));
        }
        row.content = Some(shown);
        Some(Event::ToolCall(row))
    }

    /// Which answer of the model the next row belongs to.
    fn step(&self) -> u32 {
        self.count.saturating_sub(1)
    }

    /// A file was changed.
    pub(super) fn edit(&self, edit: Edit, cwd: &Path, ids: &dyn Ids) -> Event {
        let Edit { path, before, after, diff } = edit;
        let place: PathBuf = cwd.join(&path);
        let shown = place.strip_prefix(cwd).unwrap_or(&place).display().to_string();
        let mut row = ToolCallUpdate::new(ToolCallId::from(ids.fresh(IdKind::ToolCall)));
        row.name = Some("edit".to_owned());
        row.title = Some(format!("edit: {}", one_line(&shown, TITLE_CHARS)));
        row.kind = Some(ToolKind::Edit);
        row.status = Some(ToolStatus::Completed);
        row.step = Some(self.step());
        row.locations = Some(vec![Location { path: place.clone(), line: None }]);
        row.raw_input = Some(json!({ "path": path }));
        row.raw_output = Some(json!({ "output": "changed" }));
        row.content = Some(match (&before, &after) {
            (None, None) if diff.is_empty() => Vec::new(),
            (None, None) => vec![ToolContent::Content(Content::text(strip_escapes(&diff)))],
            _ => {
                let op = match (&before, &after) {
                    (None, _) => FileOp::Add,
                    (Some(_), None) => FileOp::Delete,
                    (Some(_), Some(_)) => FileOp::Modify,
                };
                vec![ToolContent::Change(FileChange { path: place, op, before, after })]
            }
        });
        Event::ToolCall(row)
    }
}

fn fenced(code: &str) -> ToolContent {
    let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    ToolContent::Content(Content::text(format!("{fence}python\n{}\n{fence}", code.trim_end())))
}
