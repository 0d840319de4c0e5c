//! Whatever happens live, what is stored of it shows the same.

use std::collections::{BTreeMap, HashSet};

use proptest::prelude::*;
use session_model::{
    Content, Event, Foreground, Item, MessageId, Role, ToolCallId, ToolCallUpdate, ToolContent, ToolStatus,
};
use session_store::fold::{Folder, Window, replay};

use crate::support::{entries, output, update, whole};

/// What a client shows: messages in the order of their appearance, and each tool's row.
#[derive(Debug, Default, PartialEq)]
struct View {
    messages: Vec<((Role, MessageId), String)>,
    tools: BTreeMap<ToolCallId, ToolCallUpdate>,
}

impl View {
    fn of(events: &[Event]) -> Self {
        let mut view = Self::default();
        for event in events {
            view.show(event);
        }
        view.messages.retain(|(_, text)| !text.is_empty());
        view.tools.values_mut().for_each(join_texts);
        view
    }

    fn show(&mut self, event: &Event) {
        if let Event::Message { id, role, content } = event {
            *self.message(*role, id) = session_model::text_of(content);
        } else if let Event::MessageDelta { id, role, content } = event {
            self.message(*role, id).push_str(content.as_text().unwrap());
        } else if let Event::ToolCall(update) = event {
            let row =
                self.tools.entry(update.id.clone()).or_insert_with(|| ToolCallUpdate::new(update.id.clone()));
            if !row.status.is_some_and(ToolStatus::is_final) {
                row.merge(update);
            }
        } else if let Event::ToolOutput { id, chunk } = event
            && let Some(row) =
                self.tools.get_mut(id).filter(|row| !row.status.is_some_and(ToolStatus::is_final))
        {
            row.content.get_or_insert_default().push(chunk.clone());
        }
    }

    fn message(&mut self, role: Role, id: &MessageId) -> &mut String {
        let key = (role, id.clone());
        // A message appears with its first text.
        self.messages.retain(|(known, text)| *known == key || !text.is_empty());
        if let Some(index) = self.messages.iter().position(|(known, text)| *known == key && text.is_empty()) {
            let empty = self.messages.remove(index);
            self.messages.push(empty);
        }
        let index = self.messages.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
            self.messages.push((key, String::new()));
            self.messages.len() - 1
        });
        &mut self.messages[index].1
    }
}

/// Pieces of output that follow one another read as one.
fn join_texts(row: &mut ToolCallUpdate) {
    let Some(content) = &mut row.content else { return };
    let mut joined: Vec<ToolContent> = Vec::new();
    for piece in content.drain(..) {
        match (joined.last_mut(), piece) {
            (
                Some(ToolContent::Content(Content::Text { text })),
                ToolContent::Content(Content::Text { text: more }),
            ) => text.push_str(&more),
            (_, piece) => joined.push(piece),
        }
    }
    *content = joined;
}

fn role() -> impl Strategy<Value = Role> {
    prop_oneof![Just(Role::Agent), Just(Role::Thought)]
}

fn status() -> impl Strategy<Value = Option<ToolStatus>> {
    prop_oneof![
        Just(None),
        Just(Some(ToolStatus::Pending)),
        Just(Some(ToolStatus::InProgress)),
        Just(Some(ToolStatus::Completed)),
        Just(Some(ToolStatus::Failed)),
    ]
}

fn tool_update() -> impl Strategy<Value = ToolCallUpdate> {
    let content = proptest::option::of(Just(vec![ToolContent::Content(Content::text("shown"))]));
    let title = proptest::option::of("[a-c]{1,3}");
    (0..4_u8, status(), title, content, proptest::option::of(0..4_u32)).prop_map(
        |(id, status, title, content, step)| {
            let mut update = ToolCallUpdate::new(format!("c{id}").into());
            update.status = status;
            update.title = title;
            update.content = content;
            update.step = step;
            update
        },
    )
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        4 => (0..4_u8, role(), "[xyzé]{0,3}").prop_map(|(id, role, text)| Event::MessageDelta {
            id: format!("m{id}").into(),
            role,
            content: Content::text(text),
        }),
        3 => tool_update().prop_map(Event::ToolCall),
        2 => (0..5_u8, "[o]{0,2}").prop_map(|(id, text)| output(&format!("c{id}"), &text)),
        1 => Just(Event::Title(None)),
        1 => Just(Event::Foreground(Foreground::Running)),
        1 => Just(Event::Foreground(Foreground::Idle { stop: None, error: None, route: None })),
    ]
}

/// Adds whole messages, each with an id of its own or repeating what its id has said, grown or not: what a driver
/// may send at the end of a stream.
fn with_whole_messages(events: Vec<Event>, grow: &[Option<bool>]) -> Vec<Event> {
    let mut live: Vec<Event> = Vec::new();
    for (n, (event, grow)) in events.into_iter().zip(grow.iter().cycle()).enumerate() {
        let known = View::of(&live).messages.pop();
        live.push(event);
        match (grow, known) {
            (None, _) => {}
            (Some(false), _) | (Some(true), None) => live.push(whole(&format!("w{n}"), Role::Agent, "whole")),
            (Some(true), Some(((role, id), text))) => {
                let so_far = View::of(&live).messages.into_iter().find(|(key, _)| *key == (role, id.clone()));
                let text = so_far.map_or(text, |(_, text)| text);
                live.push(whole(id.as_str(), role, &format!("{text}{}", "+".repeat(n % 2))));
            }
        }
    }
    live
}

fn fold(live: &mut Vec<Event>) -> Vec<Item> {
    let mut folder = Folder::new();
    let mut items: Vec<_> = live.iter().flat_map(|event| folder.event(event)).collect();
    for open in folder.open_tools() {
        let cancelled = Event::ToolCall(update(open.id.as_str(), ToolStatus::Cancelled));
        items.extend(folder.event(&cancelled));
        live.push(cancelled);
    }
    items.extend(folder.finish());
    items
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn folded_and_replayed_events_show_the_same(
        events in proptest::collection::vec(event(), 0..40),
        grow in proptest::collection::vec(proptest::option::weighted(0.3, any::<bool>()), 1..5),
    ) {
        let mut live = with_whole_messages(events, &grow);
        let items = fold(&mut live);
        let replayed = replay(&entries("t", items), &Window::FULL);
        prop_assert_eq!(View::of(&replayed), View::of(&live));
    }

    #[test]
    fn steps_of_messages_never_go_back_and_no_tool_is_stored_twice(
        events in proptest::collection::vec(event(), 0..40),
    ) {
        let items = fold(&mut events.clone());
        let (mut last, mut tools) = (0, HashSet::new());
        for item in items {
            match item {
                Item::Agent { step, .. } | Item::Thought { step, .. } => {
                    prop_assert!(step >= last);
                    last = step;
                }
                Item::Tool { call, .. } => prop_assert!(tools.insert(call.id)),
                Item::User { .. } | Item::Remark { .. } | Item::Compaction { .. } | Item::TurnEnd { .. } => {
                    prop_assert!(false);
                }
            }
        }
    }
}
