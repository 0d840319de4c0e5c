//! The tool rows of a run, by the ids of the program's calls. Ids of rows are ours.

use serde_json::{Value, json};
use session_model::source::{IdKind, Ids};
use session_model::{Content, Event, ToolCallId, ToolCallUpdate, ToolContent, ToolStatus, text_of};

use super::line::{Asked, ToolResult, ToolUse};
use super::rows::{self, Sketch};
use crate::driver::TurnInput;
use crate::rules::Subject;
use crate::tools::support::blocking;
use crate::tools::{ToolRegistry, Workspace};

pub(super) struct Table {
    tools: ToolRegistry,
    workspace: Workspace,
    /// Which answer of the model it is, from 0; none yet.
    step: Option<u32>,
    rows: Vec<Row>,
}

struct Row {
    call: String,
    name: String,
    update: ToolCallUpdate,
    sketch: Option<Sketch>,
}

/// A call whose arguments are known.
pub(super) struct Known {
    pub(super) row: ToolCallUpdate,
    pub(super) sketch: Sketch,
    /// What the rules judge it by.
    pub(super) subject: Subject,
}

impl Table {
    pub(super) fn new(tools: ToolRegistry, input: &TurnInput) -> Self {
        let workspace = Workspace::local(input.cwd.clone(), input.additional_roots.clone());
        Self { tools, workspace, step: None, rows: Vec::new() }
    }

    /// The next answer of the model begins.
    pub(super) fn step(&mut self) {
        self.step = Some(self.step.map_or(0, |step| step + 1));
    }

    /// The name of the tool that was called.
    pub(super) fn name(&self, call: &str) -> String {
        self.rows
            .iter()
            .find(|row| row.call == call)
            .map_or_else(|| "a tool".to_owned(), |row| row.name.clone())
    }

    /// The same, by the row.
    pub(super) fn name_of_row(&self, id: &ToolCallId) -> String {
        let row = self.rows.iter().find(|row| row.update.id == *id);
        row.map_or_else(|| "a tool".to_owned(), |row| row.name.clone())
    }

    /// A call begins; its row, unless there is one.
    pub(super) fn announce(&mut self, call: &str, name: &str, ids: &dyn Ids) -> Option<Event> {
        if self.rows.iter().any(|row| row.call == call) {
            return None;
        }
        let mut update = ToolCallUpdate::new(ToolCallId::from(ids.fresh(IdKind::ToolCall)));
        update.name = Some(name.to_owned());
        update.title = Some(rows::bare_title(name));
        update.kind = Some(rows::kind(name));
        update.status = Some(ToolStatus::Pending);
        update.step = Some(self.step.unwrap_or(0));
        let event = Event::ToolCall(update.clone());
        self.rows.push(Row { call: call.to_owned(), name: name.to_owned(), update, sketch: None });
        Some(event)
    }

    /// The arguments of a call are known.
    pub(super) async fn describe(&mut self, call: ToolUse, ids: &dyn Ids) -> Vec<Event> {
        let mut events: Vec<Event> = self.announce(&call.id, &call.name, ids).into_iter().collect();
        let sketch = rows::sketch(&self.tools, &call, &self.workspace).await;
        let Some(row) = self.rows.iter_mut().find(|row| row.call == call.id) else { return events };
        if row.sketch.is_some() || row.is_over() {
            return events;
        }
        let mut update = ToolCallUpdate::new(row.update.id.clone());
        update.title = Some(sketch.title.clone());
        update.status = Some(ToolStatus::InProgress);
        update.raw_input = Some(Value::Object(call.input.clone()));
        update.locations = Some(sketch.locations.clone()).filter(|places| !places.is_empty());
        update.content = Some(sketch.preview.clone()).filter(|shown| !shown.is_empty());
        row.update.merge(&update);
        row.sketch = Some(sketch);
        events.push(Event::ToolCall(update));
        events.extend(rows::plan(&call).map(Event::Plan));
        events
    }

    /// The call that a request is about, described if it was not.
    pub(super) async fn know(&mut self, asked: &Asked, ids: &dyn Ids) -> (Known, Vec<Event>) {
        let events = self.describe(asked.call.clone(), ids).await;
        // What is permitted is what is asked about, whatever was said of the call before.
        let mut sketch = rows::sketch(&self.tools, &asked.call, &self.workspace).await;
        if sketch.ask.description.is_empty() {
            let place = asked.blocked_path.as_ref().map(|path| format!("It concerns {path}."));
            sketch.ask.description = place.unwrap_or_else(|| asked.description.clone());
        }
        let row = self.rows.iter().find(|row| row.call == asked.call.id);
        let mut row = row.map_or_else(|| ToolCallUpdate::new(ToolCallId::from("")), |row| row.update.clone());
        row.title = Some(sketch.title.clone());
        row.raw_input = Some(Value::Object(asked.call.input.clone()));
        if !sketch.preview.is_empty() {
            row.content = Some(sketch.preview.clone());
        }
        let subject = self.subject(&sketch).await;
        (Known { row, sketch, subject }, events)
    }

    /// Looks at a call for the gate, which may follow links on a slow disk.
    async fn subject(&self, sketch: &Sketch) -> Subject {
        let (of, workspace) = (sketch.clone(), self.workspace.clone());
        let look = move || Subject::named(&of.tool, of.kind, &of.args, &of.locations, &workspace);
        let looked = blocking(move || Ok(look())).await;
        // Only a pool that is gone keeps it from being looked at there.
        looked.unwrap_or_else(|_| {
            Subject::named(&sketch.tool, sketch.kind, &sketch.args, &sketch.locations, &self.workspace)
        })
    }

    /// The call may run.
    pub(super) fn started(&mut self, id: &ToolCallId) -> Option<Event> {
        let row = self.rows.iter_mut().find(|row| row.update.id == *id)?;
        if row.update.status != Some(ToolStatus::Pending) {
            return None;
        }
        let mut update = ToolCallUpdate::new(id.clone());
        update.status = Some(ToolStatus::InProgress);
        row.update.merge(&update);
        Some(Event::ToolCall(update))
    }

    /// A call has ended.
    pub(super) fn finish(&mut self, result: ToolResult) -> Option<Event> {
        let row = self.rows.iter_mut().find(|row| row.call == result.id)?;
        if row.is_over() {
            return None;
        }
        let text = text_of(&result.content);
        let member = if result.failed { "error" } else { "output" };
        let mut update = ToolCallUpdate::new(row.update.id.clone());
        update.status = Some(if result.failed { ToolStatus::Failed } else { ToolStatus::Completed });
        update.raw_output = Some(json!({ member: text }));
        update.content = Some(shown(row, result.content, result.failed)).filter(|shown| !shown.is_empty());
        row.update.merge(&update);
        Some(Event::ToolCall(update))
    }
}

impl Row {
    fn is_over(&self) -> bool {
        self.update.status.is_some_and(ToolStatus::is_final)
    }
}

/// What the row shows at the end: the change that was made, or what was given.
fn shown(row: &Row, content: Vec<Content>, failed: bool) -> Vec<ToolContent> {
    let preview = row.sketch.as_ref().map(|sketch| sketch.preview.as_slice()).unwrap_or_default();
    if !failed && !preview.is_empty() {
        return preview.to_vec();
    }
    content.into_iter().map(ToolContent::Content).collect()
}
