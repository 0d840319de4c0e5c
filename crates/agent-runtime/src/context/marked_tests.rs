//! Who said what, to each of two agents.

use serde_json::json;
use session_model::{AgentId, Content, ToolCallId, ToolCallUpdate};
use time::OffsetDateTime;

use super::*;

fn entry(turn: &str, item: Item) -> Entry {
    Entry { turn: TurnId::from(turn), at: OffsetDateTime::UNIX_EPOCH, item }
}

fn user(turn: &str, text: &str) -> Entry {
    entry(turn, Item::User { id: MessageId::from("u"), content: vec![Content::text(text)], key: None })
}

fn says(turn: &str, text: &str) -> Entry {
    entry(turn, Item::Agent { id: MessageId::from("a"), step: 0, text: text.to_owned() })
}

fn call(turn: &str, name: &str) -> Entry {
    let mut call = ToolCallUpdate::new(ToolCallId::from("c"));
    call.name = Some(name.to_owned());
    call.raw_output = Some(json!({ "output": "done" }));
    entry(turn, Item::Tool { step: 0, call })
}

fn end(turn: &str, agent: &str, target: &str) -> Entry {
    let route = Route {
        agent: AgentId::from(agent),
        target: target.to_owned(),
        reason: String::new(),
        conclusive: None,
    };
    entry(turn, Item::TurnEnd { stop: StopReason::EndTurn, error: None, route: Some(route) })
}

/// What is left, one line an item.
fn read(history: &[Entry], me: &str) -> Vec<String> {
    let told = marked(history.to_vec().into(), me);
    told.iter()
        .map(|entry| match &entry.item {
            Item::User { content, .. } => format!("user {}", session_model::text_of(content)),
            Item::Agent { text, .. } => format!("says {text}"),
            Item::Tool { call, .. } => format!("calls {}", call.name.as_deref().unwrap_or_default()),
            Item::TurnEnd { .. } => "end".to_owned(),
            Item::Thought { .. } | Item::Remark { .. } | Item::Compaction { .. } => "other".to_owned(),
        })
        .collect()
}

#[test]
fn the_others_turns_are_told_and_ones_own_are_left_as_they_are() {
    let history = [
        [user("1", "a"), call("1", "grep"), says("1", "one"), end("1", "small", "primary")],
        [user("2", "b"), call("2", "grep"), says("2", "two"), end("2", "big", "escalation")],
    ]
    .concat();
    let own = ["user a", "calls grep", "says one", "end"];
    let other = ["user b", "says [Tool: grep] \n[Tool result] done\n[big as escalation]: two", "end"];
    assert_eq!(read(&history, "primary"), [&own[..], &other].concat());
    let other = ["user a", "says [Tool: grep] \n[Tool result] done\n[small as primary]: one", "end"];
    assert_eq!(
        read(&history, "escalation"),
        [&other[..], &["user b", "calls grep", "says two", "end"]].concat()
    );
}

#[test]
fn a_history_of_one_agent_is_the_same_list() {
    let history: Arc<[Entry]> = [user("1", "a"), says("1", "one"), end("1", "small", "primary")].into();
    assert!(Arc::ptr_eq(&history, &marked(Arc::clone(&history), "primary")));
}

#[test]
fn a_turn_that_was_handed_over_has_two_parts() {
    let history = [
        user("1", "a"),
        says("1", "hm"),
        call("1", ESCALATE),
        call("1", "bash"),
        says("1", "so"),
        end("1", "big", "escalation"),
    ];
    assert_eq!(
        read(&history, "primary"),
        [
            "user a",
            "says hm",
            "calls escalate",
            "says [Tool: bash] \n[Tool result] done\n[big as escalation]: so",
            "end"
        ]
    );
    assert_eq!(
        read(&history, "escalation"),
        [
            "user a",
            "says [the primary agent]: hm\n[Tool: escalate] \n[Tool result] done",
            "calls bash",
            "says so",
            "end"
        ]
    );
}

#[test]
fn a_turn_that_ends_in_a_question_asks() {
    for (text, asks) in [
        ("Which one?", true),
        ("Done.", false),
        ("Really? Yes.", false),
        ("First.\n\n**Shall I go on?**\n", true),
        ("どちらですか？", true),
        ("", false),
    ] {
        let history = [user("1", "a"), says("1", text), end("1", "big", "escalation")];
        assert_eq!(last_route(&history).map(|last| last.asks), Some(asks), "{text:?}");
    }
    assert_eq!(last_route(&[user("1", "a")]), None);
}
