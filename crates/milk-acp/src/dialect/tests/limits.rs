//! Lines stay short enough for clients, and messages whole.

use serde_json::{Value, json};
use session_model::{
    Content, Event, FileChange, FileOp, Role, ToolCallUpdate, ToolContent, ToolKind, ToolStatus,
};

use super::super::limit::{MAX_LINE, MAX_TEXT};
use super::{Dialect, line, rich, update, v1, v2};

fn updates(dialect: &Dialect, event: &Event) -> Vec<Value> {
    let said = dialect.view("s1".into()).replay(event);
    for outgoing in &said {
        line(dialect, outgoing);
        assert!(outgoing.params.get().len() <= MAX_LINE);
    }
    said.iter().map(update).collect()
}

fn text_in(update: &Value) -> String {
    let blocks = update["content"].as_array().cloned().unwrap_or_else(|| vec![update["content"].clone()]);
    blocks.iter().filter_map(|block| block["text"].as_str()).collect()
}

#[test]
fn a_long_text_is_split_and_nothing_of_it_lost() {
    let text = "é🦀\u{1}x\n".repeat(20_000);
    let content = vec![Content::text(text.as_str())];
    for dialect in [v1(), v2()] {
        for role in [Role::User, Role::Agent, Role::Thought] {
            let whole = Event::Message { id: "m1".into(), role, content: content.clone() };
            let delta = Event::MessageDelta { id: "m1".into(), role, content: content[0].clone() };
            for event in [whole, delta] {
                let said = updates(&dialect, &event);
                assert!(said.len() > 1);
                assert!(said.iter().all(|update| text_in(update).len() <= MAX_TEXT));
                assert_eq!(said.iter().map(text_in).collect::<String>(), text);
            }
        }
    }
}

#[test]
fn many_blocks_of_one_message_are_spread_over_updates() {
    let content: Vec<Content> = (0..100).map(|n| Content::text(format!("{n}-").repeat(5_000))).collect();
    let whole: String = content.iter().filter_map(Content::as_text).collect();
    let said = updates(&v2(), &Event::Message { id: "m1".into(), role: Role::User, content });
    assert_eq!(said[0]["sessionUpdate"], "user_message");
    assert!(said[1..].iter().all(|update| update["sessionUpdate"] == "user_message_chunk"));
    assert_eq!(said.iter().map(text_in).collect::<String>(), whole);
}

#[test]
fn an_image_that_fits_no_line_is_named_instead() {
    let content =
        Content::Image { data: "A".repeat(2 * MAX_LINE), mime_type: "image/png".to_owned(), uri: None };
    for dialect in [rich(1), rich(2)] {
        let event = Event::MessageDelta { id: "m1".into(), role: Role::Agent, content: content.clone() };
        let said = updates(&dialect, &event);
        assert_eq!(said[0]["content"], json!({"type": "text", "text": "[image of 2097161 bytes not shown]"}));
    }
}

fn call(content: Vec<ToolContent>, input: Value) -> Event {
    Event::ToolCall(ToolCallUpdate {
        title: Some("t".to_owned()),
        kind: Some(ToolKind::Edit),
        status: Some(ToolStatus::Completed),
        content: Some(content),
        raw_input: Some(input),
        ..ToolCallUpdate::new("c1".into())
    })
}

#[test]
fn long_tool_texts_are_cut_with_a_notice() {
    let long = "é".repeat(100_000);
    let event = call(
        vec![ToolContent::Content(Content::text(long.as_str()))],
        json!({"content": long, "path": "/w/a"}),
    );
    for dialect in [v1(), v2()] {
        let said = updates(&dialect, &event);
        let shown = said[0]["content"][0]["content"]["text"].as_str().unwrap();
        assert!(shown.ends_with("\n[… 167232 bytes omitted]"), "{}", &shown[shown.len() - 60..]);
        assert_eq!(said[0]["rawInput"]["path"], "/w/a");
        assert!(said[0]["rawInput"]["content"].as_str().unwrap().ends_with("bytes omitted]"));
    }
}

#[test]
fn a_change_that_fits_no_line_is_named_instead() {
    let change = FileChange {
        path: "/w/a".into(),
        op: FileOp::Add,
        before: None,
        after: Some("x".repeat(2 * MAX_LINE)),
    };
    let event = call(vec![ToolContent::Change(change)], json!({}));
    let said = updates(&v1(), &event);
    assert_eq!(said[0]["content"][0]["content"]["text"], "[change of /w/a not shown: 2097152 bytes]");
    let said = updates(&v2(), &event);
    assert_eq!(
        said[0]["content"][0]["changes"],
        json!([{"fileType": "text", "operation": "add", "path": "/w/a"}])
    );
    assert_eq!(said[0]["content"][0].get("patch"), None);
}

#[test]
fn what_escaping_makes_too_long_is_said_bare() {
    let change = FileChange {
        path: "/w/a".into(),
        op: FileOp::Add,
        before: None,
        after: Some("\u{1}".repeat(MAX_LINE / 2)),
    };
    let event = call(vec![ToolContent::Change(change)], json!({}));
    for dialect in [v1(), v2()] {
        let said = updates(&dialect, &event);
        assert_eq!(said[0]["content"][0]["content"]["text"], "[not shown: too long]");
        assert_eq!(said[0]["status"], "completed");
    }
}

#[tokio::test(start_paused = true)]
async fn version_1_shows_the_end_of_a_long_output() {
    let dialect = v1();
    let mut view = dialect.view("s1".into());
    for n in 0..20_000 {
        let chunk = ToolContent::Content(Content::text(format!("line {n}\n")));
        for outgoing in view.update(&Event::ToolOutput { id: "c1".into(), chunk }) {
            assert!(outgoing.params.get().len() < 2 * MAX_TEXT);
        }
    }
    let said = view.flush();
    let shown = update(&said[0])["content"][0]["content"]["text"].as_str().unwrap().to_owned();
    assert!(shown.len() <= MAX_TEXT, "{}", shown.len());
    assert!(shown.starts_with("[… ") && shown.ends_with("line 19999\n"), "{}", &shown[..60]);
}
