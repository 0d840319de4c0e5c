//! Events and items for the tests.

use session_model::{Content, Entry, Event, Item, Role, ToolCallUpdate, ToolContent, ToolStatus, TurnId};
use time::OffsetDateTime;

pub(crate) fn delta(id: &str, text: &str) -> Event {
    Event::MessageDelta { id: id.into(), role: Role::Agent, content: Content::text(text) }
}

pub(crate) fn thinking(id: &str, text: &str) -> Event {
    Event::MessageDelta { id: id.into(), role: Role::Thought, content: Content::text(text) }
}

pub(crate) fn whole(id: &str, role: Role, text: &str) -> Event {
    Event::Message { id: id.into(), role, content: vec![Content::text(text)] }
}

pub(crate) fn update(id: &str, status: ToolStatus) -> ToolCallUpdate {
    let mut update = ToolCallUpdate::new(id.into());
    update.status = Some(status);
    update
}

pub(crate) fn tool(id: &str, status: ToolStatus) -> Event {
    Event::ToolCall(update(id, status))
}

pub(crate) fn output(id: &str, text: &str) -> Event {
    Event::ToolOutput { id: id.into(), chunk: shown(text) }
}

pub(crate) fn shown(text: &str) -> ToolContent {
    ToolContent::Content(Content::text(text))
}

pub(crate) fn agent(id: &str, step: u32, text: &str) -> Item {
    Item::Agent { id: id.into(), step, text: text.to_owned() }
}

pub(crate) fn thought(id: &str, step: u32, text: &str) -> Item {
    Item::Thought { id: id.into(), step, text: text.to_owned() }
}

pub(crate) fn user(id: &str, text: &str) -> Item {
    Item::User { id: id.into(), content: vec![Content::text(text)], key: None }
}

pub(crate) fn entries(turn: &str, items: impl IntoIterator<Item = Item>) -> Vec<Entry> {
    let at = OffsetDateTime::UNIX_EPOCH;
    items.into_iter().map(|item| Entry { turn: TurnId::from(turn), at, item }).collect()
}
