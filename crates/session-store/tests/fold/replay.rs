//! What a stored history looks like when it is shown again.

use serde_json::json;
use session_model::{
    Compaction, CompactionState, Content, Entry, Event, Item, Role, StopReason, Summary, ToolStatus,
    TurnFailure,
};
use session_store::fold::{GAP_ID, Window, replay};

use crate::support::{agent, entries, shown, thought, update, user, whole};

fn end(stop: StopReason) -> Item {
    Item::TurnEnd { stop, error: None, route: None }
}

fn turn(n: usize) -> Vec<Entry> {
    let said = [user(&format!("u{n}"), "hi"), agent(&format!("a{n}"), 0, "hello"), end(StopReason::EndTurn)];
    entries(&format!("t{n}"), said)
}

#[test]
fn messages_keep_their_ids_and_tools_appear_once() {
    let mut call = update("c", ToolStatus::Completed);
    call.title = Some("grep: x".to_owned());
    call.raw_output = Some(json!({"output": "found"}));
    let remark = Item::Remark { id: "r".into(), text: "a remark".to_owned() };
    let summary = Summary { turns: 4, last: "t0".into(), text: "so far".to_owned() };
    let tool = Item::Tool { step: 0, call: call.clone() };
    let said = [
        user("u", "q"),
        thought("th", 0, "hm"),
        tool,
        agent("a", 1, "yes"),
        remark,
        Item::Compaction { id: "comp".into(), summary: summary.clone() },
        end(StopReason::EndTurn),
    ];
    let history = entries("t", said);
    let mut expected = vec![
        whole("u", Role::User, "q"),
        whole("th", Role::Thought, "hm"),
        Event::ToolCall(call),
        whole("a", Role::Agent, "yes"),
        whole("r", Role::Agent, "a remark"),
        Event::Compaction(Compaction {
            id: "comp".into(),
            requested: false,
            state: CompactionState::Done(summary),
        }),
    ];
    assert_eq!(replay(&history, &Window::FULL), expected);
    expected.remove(1);
    assert_eq!(replay(&history, &Window::BOUNDED), expected);
}

#[test]
fn turns_outside_the_window_become_one_marker() {
    let history: Vec<_> = (0..213).flat_map(turn).collect();
    let events = replay(&history, &Window::BOUNDED);
    assert_eq!(events.len(), 2 * 210 + 1);
    assert_eq!(events[19], whole("a9", Role::Agent, "hello"));
    let text = "[… 3 earlier turns omitted from replay — /export prints the full transcript …]";
    assert_eq!(events[20], whole(GAP_ID, Role::Agent, text));
    assert_eq!(events[21], whole("u13", Role::User, "hi"));
    assert_eq!(replay(&history, &Window::FULL).len(), 2 * 213);
    let all: Vec<_> = (0..210).flat_map(turn).collect();
    assert_eq!(replay(&all, &Window::BOUNDED), replay(&all, &Window::FULL));
    assert_eq!(replay(&[], &Window::BOUNDED), []);
}

#[test]
fn long_messages_and_outputs_are_cut_with_a_note() {
    let mut call = update("c", ToolStatus::Completed);
    call.content = Some(vec![shown(&"o".repeat(10_000))]);
    call.raw_output = Some(json!({"output": "o".repeat(10_000)}));
    let history = entries("t", [user("u", &"é".repeat(5_000)), Item::Tool { step: 0, call }]);
    let events = replay(&history, &Window::BOUNDED);
    let half = "é".repeat(2_048);
    let cut = format!("{half}\n[… 1808 bytes omitted from replay …]\n{half}");
    assert_eq!(events[0], whole("u", Role::User, &cut));
    let half = "o".repeat(4_096);
    let cut = format!("{half}\n[… 1808 bytes omitted from replay …]\n{half}");
    let mut shortened = update("c", ToolStatus::Completed);
    shortened.content = Some(vec![shown(&cut)]);
    shortened.raw_output = Some(json!({"output": cut}));
    assert_eq!(events[1], Event::ToolCall(shortened));
}

#[test]
fn a_turn_cut_off_by_a_crash_is_shown_as_far_as_it_is_known() {
    let open = Item::Tool { step: 0, call: update("c", ToolStatus::InProgress) };
    let mut history = entries("t1", [user("u1", "go"), agent("a1", 0, "on it"), open]);
    history.extend(entries("t2", [user("u2", "again")]));
    let expected = [
        whole("u1", Role::User, "go"),
        whole("a1", Role::Agent, "on it"),
        Event::ToolCall(update("c", ToolStatus::Cancelled)),
        whole("u2", Role::User, "again"),
    ];
    assert_eq!(replay(&history, &Window::FULL), expected);
}

#[test]
fn a_failed_turn_says_why() {
    let error = TurnFailure { code: "provider_unreachable".to_owned(), message: "no answer".to_owned() };
    let end = Item::TurnEnd { stop: StopReason::Error, error: Some(error), route: None };
    let history = entries("t1", [user("u", "hi"), end]);
    let expected = [whole("u", Role::User, "hi"), whole("hist-error-t1", Role::Agent, "Error: no answer")];
    assert_eq!(replay(&history, &Window::BOUNDED), expected);
}

#[test]
fn attachments_come_back_with_the_users_message() {
    let image = Content::Image { data: "AAAA".to_owned(), mime_type: "image/png".to_owned(), uri: None };
    let content = vec![Content::text("look"), image];
    let history = entries("t", [Item::User { id: "u".into(), content: content.clone(), key: None }]);
    let expected = [Event::Message { id: "u".into(), role: Role::User, content }];
    assert_eq!(replay(&history, &Window::BOUNDED), expected);
}
