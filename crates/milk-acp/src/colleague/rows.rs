//! The rows of another agent's calls: our ids for its own, and what it has told of each call so far.

use std::collections::BTreeMap;

use agent_runtime::external::leave::Wish;
use session_model::source::{IdKind, Ids};
use session_model::{FileChange, ToolCallId, ToolCallUpdate, ToolContent};

/// The rows of one turn, by the agent's ids.
#[derive(Debug, Default)]
pub(super) struct Rows(BTreeMap<String, Row>);

#[derive(Debug)]
struct Row {
    /// With our id, and without texts.
    told: ToolCallUpdate,
    /// What leave was given for, until the call has ended.
    leave: Vec<Wish>,
}

impl Rows {
    pub(super) fn knows(&self, theirs: &ToolCallId) -> bool {
        self.0.contains_key(theirs.as_str())
    }

    /// Our id for a call that was told of.
    pub(super) fn id(&self, theirs: &ToolCallId) -> Option<ToolCallId> {
        self.0.get(theirs.as_str()).map(|row| row.told.id.clone())
    }

    /// Minds what an update tells, and gives all that was told of the call, with our id.
    pub(super) fn note(&mut self, update: &ToolCallUpdate, ids: &dyn Ids) -> ToolCallUpdate {
        let fresh = || {
            let id = ToolCallId::from(ids.fresh(IdKind::ToolCall));
            Row { told: ToolCallUpdate::new(id), leave: Vec::new() }
        };
        let row = self.0.entry(update.id.as_str().to_owned()).or_insert_with(fresh);
        row.told.merge(&without_texts(update));
        if row.told.status.is_some_and(session_model::ToolStatus::is_final) {
            row.leave.clear();
        }
        row.told.clone()
    }

    /// What leave was given for, of all calls that have not ended.
    pub(super) fn leaves(&self) -> Vec<Wish> {
        self.0.values().flat_map(|row| row.leave.iter().cloned()).collect()
    }

    /// Leave was given for a call.
    pub(super) fn give_leave(&mut self, theirs: &str, wish: Wish) {
        if let Some(row) = self.0.get_mut(theirs) {
            row.leave.push(wish);
        }
    }
}

/// An update as it is kept: of a change, which files it is about.
fn without_texts(update: &ToolCallUpdate) -> ToolCallUpdate {
    let bare = |shown: &ToolContent| match shown {
        ToolContent::Change(change) => {
            Some(ToolContent::Change(FileChange { before: None, after: None, ..change.clone() }))
        }
        ToolContent::Content(_) | ToolContent::Terminal(_) => None,
    };
    let content = update.content.as_ref().map(|shown| shown.iter().filter_map(bare).collect());
    ToolCallUpdate { content, raw_output: None, ..update.clone() }
}
