//! The text and the JSON form.

use serde_json::{Value, json};
use session_model::{Item, StopReason};
use session_store::export;

use crate::support::session;

#[test]
fn the_text_form_shows_every_turn_under_a_rule() {
    let rule = "━".repeat(48);
    let when = "2026-03-04 05:06:07";
    let cut = format!("{}...", "x".repeat(297));
    let expected = format!(
        "session: 5f0c\nname: parser\ncwd: /work\ncreated: {when}\nstate: ROUTING\nturns: 9\n\
         {rule}\n{when}  ·  user\nfind the bug\n\n\
         {rule}\n{when}  ·  escalation\nlet me look\n  ⚙ bash: {{\"command\":\"ls\"}}\n  ⚙ read_file: {{broken\n\n\
         {rule}\n{when}  ·  tool result\n  → {cut}\n\n\
         {rule}\n{when}  ·  tool result\n  → fn main\n\n\
         {rule}\n{when}  ·  escalation\nfound it\n\n\
         {rule}\n{when}  ·  milk\na remark\n\n\
         {rule}\n{when}  ·  milk\nSummary of the 3 oldest turns:\nIt began.\n\n\
         {rule}\n{when}  ·  user\nfix it\n\n\
         {rule}\n{when}  ·  milk\nError: no answer\n"
    );
    assert_eq!(export::text(&session()), expected);
}

#[test]
fn a_turn_that_did_not_simply_end_says_so_in_the_text_and_not_in_the_history() {
    for (stop, told) in [
        (StopReason::EndTurn, None),
        (StopReason::Cancelled, Some("[cancelled]")),
        (StopReason::MaxTokens, Some("[cut off by the model's output limit]")),
        (StopReason::MaxTurnRequests, Some("[ended by the limit of tool rounds]")),
        (StopReason::Refusal, Some("[refused]")),
        (StopReason::Error, Some("[failed]")),
    ] {
        let mut whole = session();
        whole.entries.last_mut().unwrap().item = Item::TurnEnd { stop, error: None, route: None };
        let text = export::text(&whole);
        let last = text.lines().last().unwrap();
        assert_eq!(last, told.unwrap_or("fix it"), "{stop:?}");
        let file: Value = serde_json::from_str(&export::json(&whole).unwrap()).unwrap();
        assert_eq!(file["history"].as_array().unwrap().len(), 6);
    }
}

#[test]
fn the_json_form_has_the_keys_of_the_go_milk() {
    let file: Value = serde_json::from_str(&export::json(&session()).unwrap()).unwrap();
    let at = "2026-03-04T05:06:07Z";
    assert_eq!(file["id"], "5f0c");
    assert_eq!(
        (&file["name"], &file["cwd"], &file["state"]),
        (&json!("parser"), &json!("/work"), &json!("ROUTING"))
    );
    assert_eq!((&file["created_at"], &file["last_used"]), (&json!(at), &json!("2026-03-04T05:06:16Z")));
    let turn = |role: &str, content: &str| json!({"role": role, "agent": "escalation", "agent_name": "claude", "content": content, "timestamp": at});
    let history = file["history"].as_array().unwrap();
    assert_eq!(history.len(), 6);
    assert_eq!(history[0], turn("user", "find the bug"));
    let mut answer = turn("assistant", "let me look");
    answer["thinking"] = json!("hm");
    answer["tool_calls"] = json!([
        {"id": "c1", "name": "bash", "arguments": "{\"command\":\"ls\"}"},
        {"id": "c2", "name": "read_file", "arguments": "{broken"},
    ]);
    assert_eq!(history[1], answer);
    let mut result = turn("tool_result", "fn main");
    result["tool_call_id"] = json!("c2");
    assert_eq!(history[3], result);
    assert_eq!(history[4], turn("assistant", "found it"));
    assert_eq!((&history[5]["role"], &history[5]["agent_name"]), (&json!("user"), &json!("local")));
}
