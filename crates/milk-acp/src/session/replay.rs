//! What a client is shown of a session's history, and the line that says so.
//!
//! Knows nothing of protocol versions or of sending.

use session_model::{Content, Entry, Event, Item, MessageId, Role, SessionId};
use session_store::fold::{Window, replay};

use crate::command::Replay;

/// The history as events, oldest first.
pub(crate) fn events(entries: &[Entry], how: Replay, thoughts: bool) -> Vec<Event> {
    let mut window = match how {
        Replay::Nothing => return Vec::new(),
        Replay::Window => Window::BOUNDED,
        Replay::Everything => Window::FULL,
    };
    window.thoughts = thoughts;
    replay(entries, &window)
}

/// How many turns there are.
pub(crate) fn turns(entries: &[Entry]) -> usize {
    entries.iter().filter(|entry| matches!(entry.item, Item::User { .. })).count()
}

/// The line that says that an earlier conversation goes on.
pub(crate) fn resumed_notice(id: MessageId, session: &SessionId, turns: usize) -> Event {
    let short: String = session.as_str().chars().take(8).collect();
    let plural = if turns == 1 { "" } else { "s" };
    let text =
        format!("resumed session {short} — {turns} earlier turn{plural}; /export prints the full transcript");
    Event::Message { id, role: Role::Agent, content: vec![Content::text(text)] }
}
