//! Questions in both versions, and that an answer is read against the question it belongs to.

use acp_rpc::{RequestError, RpcError};
use serde_json::json;
use serde_json::value::RawValue;
use session_model::{
    Answer, Ask, AskOption, AskOptionKind, ElicitAsk, FileChange, FileOp, Location, PermissionAsk,
    ToolCallUpdate, ToolContent, ToolKind, ToolStatus,
};

use super::{Dialect, line, v1, v1_full, v2};

fn permission() -> PermissionAsk {
    let option = |id: &str, name: &str, kind| AskOption { id: id.into(), name: name.to_owned(), kind };
    let change = FileChange {
        path: "/w/a".into(),
        op: FileOp::Modify,
        before: Some("a\n".to_owned()),
        after: Some("b\n".to_owned()),
    };
    PermissionAsk {
        tool_call: ToolCallUpdate {
            name: Some("edit_file".to_owned()),
            title: Some("edit_file: /w/a".to_owned()),
            kind: Some(ToolKind::Edit),
            status: Some(ToolStatus::Pending),
            content: Some(vec![ToolContent::Change(change)]),
            locations: Some(vec![Location { path: "/w/a".into(), line: None }]),
            raw_input: Some(json!({"path": "a"})),
            ..ToolCallUpdate::new("c1".into())
        },
        title: "edit_file: /w/a".to_owned(),
        description: Some("Changes one line".to_owned()),
        options: vec![
            option("allow", "Allow", AskOptionKind::AllowOnce),
            option("allow_always", "Always allow edit_file", AskOptionKind::AllowAlways),
            option("reject", "Reject", AskOptionKind::RejectOnce),
            option("reject_always", "Never", AskOptionKind::RejectAlways),
        ],
    }
}

fn asked(dialect: &Dialect, ask: &Ask) -> String {
    line(dialect, &dialect.view("s1".into()).ask(ask).unwrap())
}

#[test]
fn a_permission_shows_the_call_with_its_diff_in_each_versions_form() {
    let ask = Ask::Permission(Box::new(permission()));
    insta::assert_snapshot!(asked(&v1(), &ask), @r#"session/request_permission {"sessionId":"s1","toolCall":{"toolCallId":"c1","kind":"edit","status":"pending","title":"edit_file: /w/a","name":"edit_file","content":[{"type":"diff","path":"/w/a","oldText":"a\n","newText":"b\n"},{"type":"content","content":{"type":"text","text":"Changes one line"}}],"locations":[{"path":"/w/a"}],"rawInput":{"path":"a"}},"options":[{"optionId":"allow","name":"Allow","kind":"allow_once"},{"optionId":"allow_always","name":"Always allow edit_file","kind":"allow_always"},{"optionId":"reject","name":"Reject","kind":"reject_once"},{"optionId":"reject_always","name":"Never","kind":"reject_always"}]}"#);
    insta::assert_snapshot!(asked(&v2(), &ask), @r#"session/request_permission {"sessionId":"s1","title":"edit_file: /w/a","description":"Changes one line","subject":{"type":"tool_call","toolCall":{"toolCallId":"c1","name":"edit_file","title":"edit_file: /w/a","kind":"edit","status":"pending","content":[{"type":"diff","changes":[{"operation":"modify","path":"/w/a","fileType":"text"}],"patch":{"format":"git_patch","text":"diff --git /w/a /w/a\n--- /w/a\n+++ /w/a\n@@ -1 +1 @@\n-a\n+b\n"}}],"locations":[{"path":"/w/a"}],"rawInput":{"path":"a"}}},"options":[{"optionId":"allow","name":"Allow","kind":"allow_once"},{"optionId":"allow_always","name":"Always allow edit_file","kind":"allow_always"},{"optionId":"reject","name":"Reject","kind":"reject_once"},{"optionId":"reject_always","name":"Never","kind":"reject_always"}]}"#);
}

#[test]
fn a_call_that_says_little_is_filled_up_from_the_question_in_version_1() {
    let mut ask = permission();
    ask.tool_call = ToolCallUpdate::new("c1".into());
    ask.options.truncate(1);
    let ask = Ask::Permission(Box::new(ask));
    insta::assert_snapshot!(asked(&v1(), &ask), @r#"session/request_permission {"sessionId":"s1","toolCall":{"toolCallId":"c1","title":"edit_file: /w/a","content":[{"type":"content","content":{"type":"text","text":"Changes one line"}}]},"options":[{"optionId":"allow","name":"Allow","kind":"allow_once"}]}"#);
}

fn form() -> ElicitAsk {
    ElicitAsk {
        message: "Which?".to_owned(),
        tool_call: Some("c1".into()),
        schema: json!({
            "type": "object",
            "properties": {"choice": {"type": "string", "oneOf": [{"const": "a", "title": "A"}]}},
            "required": ["choice"],
        }),
    }
}

#[test]
fn a_form_goes_only_to_clients_that_show_forms() {
    let ask = Ask::Elicit(form());
    insta::assert_snapshot!(asked(&v2(), &ask), @r#"elicitation/create {"mode":"form","sessionId":"s1","toolCallId":"c1","requestedSchema":{"type":"object","properties":{"choice":{"type":"string","oneOf":[{"const":"a","title":"A"}]}},"required":["choice"]},"message":"Which?"}"#);
    assert_eq!(asked(&v1_full(), &ask), asked(&v2(), &ask));
    assert!(v1().view("s1".into()).ask(&ask).is_none());
    let plain = super::dialect(r#"{"protocolVersion":2}"#);
    assert!(plain.view("s1".into()).ask(&ask).is_none());
    let mut odd = form();
    odd.schema = json!({"type": "array"});
    assert!(v2().view("s1".into()).ask(&Ask::Elicit(odd)).is_none());
}

#[test]
fn an_answer_is_read_against_its_question() {
    let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
    let permission = Ask::Permission(Box::new(permission()));
    let form = Ask::Elicit(form());
    let chosen = raw(r#"{"outcome":{"outcome":"selected","optionId":"allow"}}"#);
    let filled = raw(r#"{"action":"accept","content":{"choice":"a"}}"#);
    let error = RequestError::Rpc(RpcError::method_not_found("x"));
    for dialect in [v1_full(), v2()] {
        let view = dialect.view("s1".into());
        assert_eq!(view.answer(&permission, Ok(&chosen)), Answer::Selected("allow".into()));
        assert_eq!(view.answer(&form, Ok(&filled)), Answer::Form(json!({"choice": "a"})));
        for (ask, outcome) in [
            (&permission, Ok(&*filled)),
            (&form, Ok(&*chosen)),
            (&permission, Err(&error)),
            (&form, Err(&error)),
        ] {
            assert!(matches!(view.answer(ask, outcome), Answer::Unanswerable(_)));
        }
    }
}
