//! From stored items back to events.

use std::collections::HashMap;

use session_model::{
    Compaction, CompactionState, Content, Entry, Event, Item, MessageId, Role, ToolCallUpdate, ToolStatus,
    TurnFailure, TurnId,
};

use super::cut;
use crate::meta::Span;

/// The id of the message that stands for turns left out; the same in every replay.
pub const GAP_ID: &str = "hist-gap";

/// How much of a history is replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// How many turns from the beginning.
    pub first_turns: usize,
    /// How many turns from the end.
    pub last_turns: usize,
    /// How many bytes of text of a message.
    pub message_bytes: usize,
    /// How many bytes of a tool call's output, and of its arguments.
    pub tool_output_bytes: usize,
    /// Whether reasoning is shown.
    pub thoughts: bool,
}

impl Window {
    /// For resuming: the first 10 and last 200 turns, 8 KiB of each message and tool call.
    pub const BOUNDED: Self = Self {
        first_turns: 10,
        last_turns: 200,
        message_bytes: 8 * 1024,
        tool_output_bytes: 8 * 1024,
        thoughts: false,
    };
    /// For loading: every turn, 64 KiB of a tool call's output, 1 MiB of a message.
    pub const FULL: Self = Self {
        first_turns: usize::MAX,
        last_turns: usize::MAX,
        message_bytes: 1024 * 1024,
        tool_output_bytes: 64 * 1024,
        thoughts: true,
    };

    /// The part of a history it shows.
    #[must_use]
    pub fn span(&self) -> Span {
        Span { first_turns: self.first_turns, last_turns: self.last_turns }
    }
}

/// The events that show a stored history: messages whole and under their own ids, each tool call once in its
/// final state (one that never reached it as cancelled), each summary where it was made, and a message in place of the turns outside the window.
/// A turn that failed ends with a message saying why. A turn cut off by a crash is shown as far as it is known.
#[must_use]
pub fn replay(entries: &[Entry], window: &Window) -> Vec<Event> {
    let (head, left_out, tail) = split(entries, window.span());
    replay_window(head, tail, left_out, window)
}

/// As [`replay`], for a history of which only the beginning and the end are at hand (a
/// [`StoredWindow`](crate::StoredWindow)): both are shown whole, with the marker between them when turns were left
/// out.
#[must_use]
pub fn replay_window(head: &[Entry], tail: &[Entry], left_out: usize, window: &Window) -> Vec<Event> {
    let mut shown = Shown { window, events: Vec::new(), messages: HashMap::new() };
    shown.items(head);
    if left_out > 0 {
        shown.gap(left_out);
    }
    shown.items(tail);
    shown.events.into_iter().map(|event| shorten(event, window)).collect()
}

/// The beginning of a history, the number of turns left out after it, and the end.
pub(crate) fn split(entries: &[Entry], span: Span) -> (&[Entry], usize, &[Entry]) {
    let turns: Vec<_> = entries.chunk_by(|a, b| a.turn == b.turn).collect();
    let (head, tail) = span.bounds(turns.len());
    let length = |turns: &[&[Entry]]| turns.iter().map(|turn| turn.len()).sum::<usize>();
    let rest = entries.len() - length(&turns[tail..]);
    (&entries[..length(&turns[..head])], tail - head, &entries[rest..])
}

struct Shown<'a> {
    window: &'a Window,
    events: Vec<Event>,
    /// Where each message is among the events.
    messages: HashMap<(Role, MessageId), usize>,
}

impl Shown<'_> {
    fn items(&mut self, entries: &[Entry]) {
        for entry in entries {
            self.item(&entry.turn, &entry.item);
        }
    }

    fn item(&mut self, turn: &TurnId, item: &Item) {
        match item {
            Item::User { id, content, .. } => self.message(id, Role::User, content.clone()),
            Item::Agent { id, text, .. } | Item::Remark { id, text } => {
                self.message(id, Role::Agent, vec![Content::text(text)]);
            }
            Item::Thought { id, text, .. } => {
                if self.window.thoughts {
                    self.message(id, Role::Thought, vec![Content::text(text)]);
                }
            }
            Item::Tool { call, .. } => self.events.push(Event::ToolCall(settled(call))),
            Item::Compaction { id, summary } => self.events.push(Event::Compaction(Compaction {
                id: id.clone(),
                requested: false,
                state: CompactionState::Done(summary.clone()),
            })),
            Item::TurnEnd { error, .. } => {
                if let Some(TurnFailure { message, .. }) = error {
                    let id = MessageId::from(format!("hist-error-{turn}"));
                    self.message(&id, Role::Agent, vec![Content::text(format!("Error: {message}"))]);
                }
            }
        }
    }

    /// Adds a message, or continues the one that has its id.
    fn message(&mut self, id: &MessageId, role: Role, more: Vec<Content>) {
        let key = (role, id.clone());
        let earlier = self.messages.get(&key).and_then(|index| self.events.get_mut(*index));
        if let Some(Event::Message { content, .. }) = earlier {
            append(content, more);
        } else {
            self.messages.insert(key, self.events.len());
            self.events.push(Event::Message { id: id.clone(), role, content: more });
        }
    }

    fn gap(&mut self, turns: usize) {
        let text =
            format!("[… {turns} earlier turns omitted from replay — /export prints the full transcript …]");
        self.message(&MessageId::from(GAP_ID), Role::Agent, vec![Content::text(text)]);
    }
}

fn append(content: &mut Vec<Content>, more: Vec<Content>) {
    for piece in more {
        match (content.last_mut(), piece) {
            (Some(Content::Text { text }), Content::Text { text: more }) => text.push_str(&more),
            (_, piece) => content.push(piece),
        }
    }
}

fn settled(call: &ToolCallUpdate) -> ToolCallUpdate {
    let mut call = call.clone();
    let last = call.status.filter(|status| status.is_final());
    call.status = Some(last.unwrap_or(ToolStatus::Cancelled));
    call
}

fn shorten(event: Event, window: &Window) -> Event {
    if let Event::Message { id, role, content } = event {
        return Event::Message { id, role, content: cut::message(content, window.message_bytes) };
    }
    if let Event::ToolCall(mut call) = event {
        let limit = window.tool_output_bytes;
        call.content = call.content.map(|content| cut::tool(content, limit));
        call.raw_input = call.raw_input.map(|value| cut::value(value, limit));
        call.raw_output = call.raw_output.map(|value| cut::value(value, limit));
        return Event::ToolCall(call);
    }
    event
}
