//! Files of ours and of the Go milk, read again.

use serde_json::{Value, json};
use session_model::{Event, Item, Role, ToolStatus, text_of};
use session_store::fold::{Window, replay};
use session_store::{StoreError, export};

use crate::support::session;

#[test]
fn our_own_form_loses_nothing_on_a_round_trip() {
    let whole = session();
    let json = export::json(&whole).unwrap();
    assert_eq!(export::import(&json), Ok(whole));
}

#[test]
fn a_damaged_entry_costs_itself() {
    let whole = session();
    let mut file: Value = serde_json::from_str(&export::json(&whole).unwrap()).unwrap();
    file["milk_acp"]["entries"][1] = json!({"kind": "hologram"});
    let read = export::import(&file.to_string()).unwrap();
    assert_eq!((read.entries.len(), read.damaged), (whole.entries.len() - 1, 1));
}

#[test]
fn what_is_no_session_file_is_refused() {
    let mut newer: Value = serde_json::from_str(&export::json(&session()).unwrap()).unwrap();
    newer["milk_acp"]["format"] = json!(9);
    for file in ["", "[]", "{}", "{\"id\": 5}", &newer.to_string()] {
        assert!(matches!(export::import(file), Err(StoreError::Failed(_))), "{file:.40}");
    }
}

fn go(history: &Value) -> String {
    let file = json!({
        "id": "0b7e", "name": "old", "cwd": "/old", "created_at": "2025-01-02T03:04:05.678+01:00",
        "last_used": "2025-01-03T00:00:00Z", "state": "ESCALATION_WAITING", "claude_session_id": "x",
        "tokens": {}, "history": history,
    });
    file.to_string()
}

/// Messages as `role id: text`, tool rows as `tool id: status output`.
fn shown(history: &Value) -> Vec<String> {
    let session = export::import(&go(history)).unwrap();
    let word = |event: Event| {
        if let Event::Message { id, role, content } = event {
            let role = match role {
                Role::User => "user",
                Role::Agent => "agent",
                Role::Thought => "thought",
            };
            format!("{role} {id}: {}", text_of(&content))
        } else if let Event::ToolCall(call) = event {
            let output = call.raw_output.map_or(Value::Null, |output| output["output"].clone());
            format!("tool {}: {:?} {output}", call.id, call.status.unwrap())
        } else {
            format!("{event:?}")
        }
    };
    replay(&session.entries, &Window::FULL).into_iter().map(word).collect()
}

#[test]
fn a_session_of_the_go_milk_is_read_with_ids_from_its_places() {
    let history = json!([
        {"role": "user", "agent": "primary", "content": "fix   it", "timestamp": "2025-01-02T03:04:06Z"},
        {"role": "assistant", "agent": "primary", "agent_name": "local", "content": "done", "thinking": "hm"},
        {"role": "user", "content": "and now?"},
    ]);
    assert_eq!(
        shown(&history),
        [
            "user hist-u0: fix   it",
            "thought hist-think1: hm",
            "agent hist-a1: done",
            "user hist-u2: and now?"
        ]
    );
    let session = export::import(&go(&history)).unwrap();
    let meta = &session.meta;
    assert_eq!(
        (meta.id.as_str(), meta.name.as_deref(), meta.title.as_deref()),
        ("0b7e", Some("old"), Some("fix it"))
    );
    let Item::TurnEnd { route: Some(route), .. } = &session.entries[3].item else {
        panic!("{:?}", session.entries)
    };
    assert_eq!((route.agent.as_str(), route.target.as_str()), ("local", "primary"));
    assert_eq!(export::import(&export::json(&session).unwrap()), Ok(session));
}

#[test]
fn results_pair_by_id_then_by_place_and_calls_without_one_are_cancelled() {
    let call = |id: &str| json!({"id": id, "name": "bash", "arguments": "{\"command\":\"ls\"}"});
    let history = json!([
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "look", "tool_calls": [call("a"), call("b"), call("")]},
        {"role": "tool_result", "content": "of b", "tool_call_id": "b"},
        {"role": "tool_result", "content": "of a"},
        {"role": "assistant", "content": "so"},
        {"role": "tool_result", "content": "of nothing"},
    ]);
    assert_eq!(
        shown(&history),
        [
            "user hist-u0: go",
            "agent hist-a1: look",
            "tool hist-t1-1: Completed \"of b\"",
            "tool hist-t1-0: Completed \"of a\"",
            "tool hist-t1-2: Cancelled null",
            "agent hist-a4: so",
        ]
    );
}

#[test]
fn a_turn_handed_over_is_one_turn() {
    let history = json!([
        {"role": "user", "agent": "primary", "content": "hard one"},
        {"role": "user", "agent": "escalation", "content": "hard one"},
        {"role": "assistant", "agent": "escalation", "content": "solved"},
        {"role": "user", "content": "hard one"},
    ]);
    assert_eq!(
        shown(&history),
        ["user hist-u0: hard one", "agent hist-a2: solved", "user hist-u3: hard one"]
    );
}

#[test]
fn a_tool_trail_becomes_rows() {
    let history = json!([
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "done", "steps": [
            {"text": "first", "calls": [{"id": "x", "name": "grep", "args": "{}", "result": "found", "cleared": false}]},
            {"text": "", "calls": [{"name": "bash", "args": "not json", "result": ""}]},
        ]},
    ]);
    assert_eq!(
        shown(&history),
        [
            "user hist-u0: go",
            "agent hist-a1-0: first",
            "tool hist-t1-0: Completed \"found\"",
            "tool hist-t1-1: Completed \"\"",
            "agent hist-a1: done",
        ]
    );
    let session = export::import(&go(&history)).unwrap();
    let steps: Vec<_> = session.entries.iter().filter_map(|entry| step(&entry.item)).collect();
    assert_eq!(steps, [0, 0, 1, 2]);
}

fn step(item: &Item) -> Option<u32> {
    match item {
        Item::Agent { step, .. } | Item::Thought { step, .. } => Some(*step),
        Item::Tool { step, call } => {
            assert_eq!(call.status, Some(ToolStatus::Completed));
            Some(*step)
        }
        Item::User { .. } | Item::Remark { .. } | Item::Compaction { .. } | Item::TurnEnd { .. } => None,
    }
}
