//! What a client is shown of a session's history, and the line that says so.
//!
//! Knows nothing of protocol versions or of sending.

use session_model::{Content, Event, MessageId, Role, SessionId, ToolCallId};
use session_store::fold::{Window, replay_window};

use crate::command::Replay;
use crate::session::open::Past;

/// How the ids of imported items begin: they tell a place in a history, and not whose.
const PLACE: &str = "hist-";
/// How many characters of a session's id tell it from others at a glance.
const SHORT: usize = 8;

/// How much is shown.
pub(crate) fn window(how: Replay) -> Option<Window> {
    match how {
        Replay::Nothing => None,
        Replay::Window => Some(Window::BOUNDED),
        Replay::Everything => Some(Window::FULL),
    }
}

/// The history as events, oldest first. `session` is given when the client's pane showed another one before: ids
/// that only tell a place are then told apart by it.
pub(crate) fn events(past: &Past, how: Replay, thoughts: bool, session: Option<&SessionId>) -> Vec<Event> {
    let Some(mut window) = window(how) else { return Vec::new() };
    window.thoughts = thoughts;
    let mut events = replay_window(&past.head, &past.tail, past.left_out, &window);
    if let Some(session) = session {
        let short = short(session);
        for event in &mut events {
            qualify(event, &short);
        }
    }
    events
}

fn qualify(event: &mut Event, short: &str) {
    let qualified = |id: &str| id.strip_prefix(PLACE).map(|place| format!("{PLACE}{short}-{place}"));
    match event {
        Event::Message { id, .. } | Event::MessageDelta { id, .. } => {
            if let Some(other) = qualified(id.as_str()) {
                *id = MessageId::from(other);
            }
        }
        Event::ToolCall(update) => {
            if let Some(other) = qualified(update.id.as_str()) {
                update.id = ToolCallId::from(other);
            }
        }
        Event::ToolOutput { id, .. } => {
            if let Some(other) = qualified(id.as_str()) {
                *id = ToolCallId::from(other);
            }
        }
        // Terminals are of the moment and never replayed.
        Event::Terminal(_)
        | Event::TerminalOutput { .. }
        | Event::Plan(_)
        | Event::PlanRemoved(_)
        | Event::Compaction(_)
        | Event::Spent(_)
        | Event::Usage(_)
        | Event::Commands(_)
        | Event::Options(_)
        | Event::Title(_)
        | Event::Foreground(_)
        | Event::Routed(_)
        | Event::Warning(_)
        | Event::Notice(_)
        | Event::Remark { .. }
        | Event::ReplayComplete => {}
    }
}

/// A session's id, shortened for people.
pub(crate) fn short(session: &SessionId) -> String {
    session.as_str().chars().take(SHORT).collect()
}

/// `n` turns, in words.
pub(crate) fn count(turns: usize) -> String {
    format!("{turns} turn{}", if turns == 1 { "" } else { "s" })
}

/// The line that says that an earlier conversation goes on.
pub(crate) fn resumed_notice(id: MessageId, session: &SessionId, turns: usize) -> Event {
    let plural = if turns == 1 { "" } else { "s" };
    let text = format!(
        "resumed session {} — {turns} earlier turn{plural}; /export prints the full transcript",
        short(session)
    );
    line(id, text)
}

/// A line of milk's own in the conversation.
pub(crate) fn line(id: MessageId, text: String) -> Event {
    Event::Message { id, role: Role::Agent, content: vec![Content::text(text)] }
}
