//! Reads session files: our own exports, and those of the Go milk.

use std::collections::VecDeque;

use session_model::{
    Content, Entry, Item, MessageId, Route, SessionUsage, StopReason, ToolCallUpdate, ToolContent, ToolKind,
    ToolStatus, TurnId,
};
use time::OffsetDateTime;

use super::json::{FORMAT, GoSession, Whole};
use super::turns::{ASSISTANT, GoStep, GoTurn, TOOL_RESULT, USER};
use crate::error::StoreError;
use crate::meta::{SessionMeta, StoredSession};
use crate::title::title_from;

/// The session in a file that [`super::json`] or the Go milk has written. Messages of the Go milk's get ids from
/// their place in its history (`hist-u0`, `hist-a1`, `hist-think1`, tool rows `hist-t1-0`).
///
/// # Errors
/// [`StoreError::Failed`] when it is no such file, or of a later milk.
pub fn import(json: &str) -> Result<StoredSession, StoreError> {
    let file: GoSession = serde_json::from_str(json)
        .map_err(|error| StoreError::Failed(format!("this is not a session file: {error}")))?;
    match file.milk_acp {
        Some(whole) => own(whole),
        None => Ok(of_go(file)),
    }
}

fn own(whole: Whole) -> Result<StoredSession, StoreError> {
    if whole.format > FORMAT {
        let found = whole.format;
        return Err(StoreError::Failed(format!("a newer milk wrote this session file (format {found})")));
    }
    let count = whole.entries.len();
    let entries: Vec<Entry> =
        whole.entries.into_iter().filter_map(|entry| serde_json::from_value(entry).ok()).collect();
    Ok(StoredSession { meta: whole.meta, damaged: count - entries.len(), entries })
}

fn of_go(file: GoSession) -> StoredSession {
    let mut reader = Reader::new(file.created_at);
    for (index, turn) in file.history.into_iter().enumerate() {
        reader.turn(index, turn);
    }
    let entries = reader.end();
    let meta = SessionMeta {
        id: file.id,
        cwd: file.cwd.into(),
        additional_roots: Vec::new(),
        name: file.name,
        title: title_from(&entries),
        created_at: file.created_at,
        updated_at: file.last_used,
        grants: Vec::new(),
        options: serde_json::Map::new(),
        usage: SessionUsage::default(),
    };
    StoredSession { meta, entries, damaged: 0 }
}

struct Reader {
    entries: Vec<Entry>,
    turn: Option<TurnId>,
    /// The user's text that began the turn, while nothing has answered it.
    unanswered: Option<String>,
    route: Option<Route>,
    at: OffsetDateTime,
    step: u32,
    /// Calls that have no result yet, with the ids the Go milk gave them.
    calls: VecDeque<(String, u32, ToolCallUpdate)>,
}

impl Reader {
    fn new(at: OffsetDateTime) -> Self {
        let calls = VecDeque::new();
        Self { entries: Vec::new(), turn: None, unanswered: None, route: None, at, step: 0, calls }
    }

    fn turn(&mut self, index: usize, turn: GoTurn) {
        self.at = turn.timestamp.unwrap_or(self.at);
        match turn.role.as_str() {
            USER => self.user(index, turn.content),
            ASSISTANT => self.assistant(index, turn),
            TOOL_RESULT => self.result(turn),
            // Roles of a later version are left out rather than misread.
            _ => {}
        }
    }

    fn user(&mut self, index: usize, text: String) {
        // A turn that the primary handed over is recorded twice.
        if self.unanswered.as_ref() == Some(&text) {
            return;
        }
        self.end_turn();
        self.turn = Some(TurnId::from(format!("hist-turn{index}")));
        self.unanswered = Some(text.clone());
        let id = MessageId::from(format!("hist-u{index}"));
        self.push(index, Item::User { id, content: vec![Content::text(text)], key: None });
    }

    fn assistant(&mut self, index: usize, turn: GoTurn) {
        self.unanswered = None;
        self.settle_calls();
        let target = if turn.agent == "escalation" { "escalation" } else { "primary" };
        let agent = if turn.agent_name.is_empty() { target } else { &turn.agent_name };
        let reason = "imported".to_owned();
        self.route = Some(Route { agent: agent.into(), target: target.to_owned(), reason, conclusive: None });
        if !turn.thinking.is_empty() {
            let id = MessageId::from(format!("hist-think{index}"));
            self.push(index, Item::Thought { id, step: self.step, text: turn.thinking });
        }
        self.trail(index, turn.steps);
        if !turn.content.is_empty() {
            let id = MessageId::from(format!("hist-a{index}"));
            self.push(index, Item::Agent { id, step: self.step, text: turn.content });
        }
        for (call, n) in turn.tool_calls.into_iter().zip(0_usize..) {
            let update = tool(format!("hist-t{index}-{n}"), call.name, &call.arguments);
            self.calls.push_back((call.id, self.step, update));
        }
        self.step += 1;
    }

    fn trail(&mut self, index: usize, steps: Vec<GoStep>) {
        let mut n = 0;
        for step in steps {
            if !step.text.is_empty() {
                let id = MessageId::from(format!("hist-a{index}-{}", self.step));
                self.push(index, Item::Agent { id, step: self.step, text: step.text });
            }
            for call in step.calls {
                let update = tool(format!("hist-t{index}-{n}"), call.name, &call.args);
                n += 1;
                self.push(index, Item::Tool { step: self.step, call: finished(update, call.result) });
            }
            self.step += 1;
        }
    }

    /// Pairs by the call's id, else with the first call that still has no result.
    fn result(&mut self, turn: GoTurn) {
        let named = turn.tool_call_id.filter(|id| !id.is_empty());
        let place = named.and_then(|id| self.calls.iter().position(|(call, _, _)| *call == id));
        if let Some((_, step, call)) = self.calls.remove(place.unwrap_or(0)) {
            self.push(0, Item::Tool { step, call: finished(call, turn.content) });
        }
    }

    fn settle_calls(&mut self) {
        while let Some((_, step, mut call)) = self.calls.pop_front() {
            call.status = Some(ToolStatus::Cancelled);
            self.push(0, Item::Tool { step, call });
        }
    }

    fn end_turn(&mut self) {
        self.settle_calls();
        if self.turn.is_some() {
            let route = self.route.take();
            self.push(0, Item::TurnEnd { stop: StopReason::EndTurn, error: None, route });
        }
        self.turn = None;
        self.step = 0;
    }

    fn end(mut self) -> Vec<Entry> {
        self.end_turn();
        self.entries
    }

    /// Adds an item to the turn; one that begins without a user's message is named after its first item's place.
    fn push(&mut self, index: usize, item: Item) {
        let turn = self.turn.get_or_insert_with(|| TurnId::from(format!("hist-turn{index}"))).clone();
        self.entries.push(Entry { turn, at: self.at, item });
    }
}

fn tool(id: String, name: String, arguments: &str) -> ToolCallUpdate {
    let mut call = ToolCallUpdate::new(id.into());
    call.title = Some(name.clone());
    call.name = Some(name);
    call.kind = Some(ToolKind::Other);
    call.raw_input = Some(serde_json::from_str(arguments).unwrap_or_else(|_| arguments.into()));
    call
}

fn finished(mut call: ToolCallUpdate, result: String) -> ToolCallUpdate {
    call.status = Some(ToolStatus::Completed);
    call.raw_output = Some(serde_json::json!({ "output": result }));
    call.content = Some(vec![ToolContent::Content(Content::text(result))]);
    call
}
