//! Tool calls: their rows, their output while they run, and their diffs.

use std::time::Duration;

use serde_json::json;
use session_model::{
    Content, Event, FileChange, FileOp, Foreground, Location, ToolCallUpdate, ToolContent, ToolKind,
    ToolStatus,
};

use super::{lines, said, update, v1, v2};

fn announced(id: &str, status: ToolStatus) -> ToolCallUpdate {
    ToolCallUpdate {
        name: Some("bash".to_owned()),
        title: Some("bash: cargo test".to_owned()),
        kind: Some(ToolKind::Execute),
        status: Some(status),
        ..ToolCallUpdate::new(id.into())
    }
}

fn now(id: &str, status: ToolStatus) -> Event {
    Event::ToolCall(ToolCallUpdate { status: Some(status), ..ToolCallUpdate::new(id.into()) })
}

fn text(text: &str) -> ToolContent {
    ToolContent::Content(Content::text(text))
}

fn output(id: &str, chunk: &str) -> Event {
    Event::ToolOutput { id: id.into(), chunk: text(chunk) }
}

#[test]
fn the_first_report_of_a_call_is_told_apart_in_version_1() {
    let mut first = announced("c1", ToolStatus::Pending);
    first.raw_input = Some(json!({"command": "cargo test"}));
    first.locations = Some(vec![Location { path: "/w/a".into(), line: Some(3) }]);
    first.step = Some(0);
    let mut last = ToolCallUpdate { status: Some(ToolStatus::Completed), ..ToolCallUpdate::new("c1".into()) };
    last.content = Some(vec![text("ok")]);
    last.raw_output = Some(json!({"output": "ok", "exit_code": 0}));
    let events = [Event::ToolCall(first), now("c1", ToolStatus::InProgress), Event::ToolCall(last)];
    insta::assert_snapshot!(said(&v1(), &events), @r#"
    {"sessionUpdate":"tool_call","toolCallId":"c1","title":"bash: cargo test","name":"bash","kind":"execute","locations":[{"path":"/w/a","line":3}],"rawInput":{"command":"cargo test"}}
    {"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"in_progress"}
    {"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed","content":[{"type":"content","content":{"type":"text","text":"ok"}}],"rawOutput":{"output":"ok","exit_code":0}}
    "#);
    insta::assert_snapshot!(said(&v2(), &events), @r#"
    {"sessionUpdate":"tool_call_update","toolCallId":"c1","name":"bash","title":"bash: cargo test","kind":"execute","status":"pending","locations":[{"path":"/w/a","line":3}],"rawInput":{"command":"cargo test"}}
    {"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"in_progress"}
    {"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed","content":[{"type":"content","content":{"type":"text","text":"ok"}}],"rawOutput":{"output":"ok","exit_code":0}}
    "#);
}

#[test]
fn every_kind_has_its_word_in_both_versions() {
    let kinds = [
        ToolKind::Read,
        ToolKind::Edit,
        ToolKind::Delete,
        ToolKind::Move,
        ToolKind::Search,
        ToolKind::Execute,
        ToolKind::Think,
        ToolKind::Fetch,
        ToolKind::SwitchMode,
        ToolKind::Other,
    ];
    for kind in kinds {
        let mut call = announced("c1", ToolStatus::InProgress);
        call.kind = Some(kind);
        let word = serde_json::to_value(kind).unwrap();
        for dialect in [v1(), v2()] {
            let said = dialect.view("s1".into()).update(&Event::ToolCall(call.clone()));
            // The first report of version 1 leaves out the kind that is its default.
            assert_eq!(update(&said[0]).get("kind").unwrap_or(&json!("other")), &word);
        }
    }
}

#[test]
fn a_cancelled_call_has_failed_in_version_1() {
    let call = Event::ToolCall(announced("c1", ToolStatus::InProgress));
    let events = [call, now("c1", ToolStatus::Cancelled)];
    assert!(
        said(&v1(), &events)
            .ends_with(r#"{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"failed"}"#)
    );
    assert!(
        said(&v2(), &events)
            .ends_with(r#"{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"cancelled"}"#)
    );
}

#[test]
fn a_call_that_never_ran_appears_at_once_in_its_final_state() {
    let events = [Event::ToolCall(announced("c1", ToolStatus::Failed))];
    assert!(said(&v1(), &events).starts_with(r#"{"sessionUpdate":"tool_call","#));
    assert!(said(&v2(), &events).starts_with(r#"{"sessionUpdate":"tool_call_update","#));
}

#[test]
fn version_2_appends_output() {
    let events =
        [Event::ToolCall(announced("c1", ToolStatus::InProgress)), output("c1", "a\n"), output("c1", "b\n")];
    insta::assert_snapshot!(said(&v2(), &events[1..]), @r#"
    {"sessionUpdate":"tool_call_content_chunk","toolCallId":"c1","content":{"type":"content","content":{"type":"text","text":"a\n"}}}
    {"sessionUpdate":"tool_call_content_chunk","toolCallId":"c1","content":{"type":"content","content":{"type":"text","text":"b\n"}}}
    "#);
}

#[tokio::test(start_paused = true)]
async fn version_1_repeats_the_whole_output_at_most_every_400_ms() {
    let dialect = v1();
    let mut view = dialect.view("s1".into());
    lines(&dialect, &mut view, &[Event::ToolCall(announced("c1", ToolStatus::InProgress))]);
    let shown = |text: &str| {
        json!({
            "sessionUpdate": "tool_call_update",
            "toolCallId": "c1",
            "content": [{"type": "content", "content": {"type": "text", "text": text}}],
        })
        .to_string()
    };
    assert_eq!(view.flush_due(), None);
    assert_eq!(lines(&dialect, &mut view, &[output("c1", "a")]), shown("a"));
    tokio::time::advance(Duration::from_millis(399)).await;
    assert_eq!(lines(&dialect, &mut view, &[output("c1", "b")]), "");
    let due = view.flush_due().unwrap();
    assert_eq!(due - tokio::time::Instant::now(), Duration::from_millis(1));
    tokio::time::advance(Duration::from_millis(1)).await;
    assert_eq!(lines(&dialect, &mut view, &[output("c1", "c")]), shown("abc"));
    assert_eq!(view.flush_due(), None);
}

#[tokio::test(start_paused = true)]
async fn version_1_says_held_output_before_the_final_state_and_when_asked() {
    let dialect = v1();
    let mut view = dialect.view("s1".into());
    let begin =
        [Event::ToolCall(announced("c1", ToolStatus::InProgress)), output("c1", "a"), output("c1", "b")];
    lines(&dialect, &mut view, &begin);
    let flushed: Vec<String> = view.flush().iter().map(|outgoing| super::line(&dialect, outgoing)).collect();
    assert_eq!(flushed.len(), 1);
    assert!(flushed[0].contains(r#""text":"ab""#));
    assert!(view.flush().is_empty());
    assert_eq!(lines(&dialect, &mut view, &[output("c1", "c")]), "");
    insta::assert_snapshot!(lines(&dialect, &mut view, &[now("c1", ToolStatus::Completed)]), @r#"
    {"sessionUpdate":"tool_call_update","toolCallId":"c1","content":[{"type":"content","content":{"type":"text","text":"abc"}}]}
    {"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed"}
    "#);
}

#[tokio::test(start_paused = true)]
async fn version_1_holds_nothing_back_past_the_end_of_a_turn() {
    let dialect = v1();
    let mut view = dialect.view("s1".into());
    let begin = [
        Event::ToolCall(announced("job:1", ToolStatus::InProgress)),
        output("job:1", "a"),
        output("job:1", "b"),
    ];
    lines(&dialect, &mut view, &begin);
    let idle = Event::Foreground(Foreground::Idle { stop: None, error: None, route: None });
    assert!(lines(&dialect, &mut view, &[idle]).contains(r#""text":"ab""#));
}

#[test]
fn content_told_whole_replaces_the_output_in_version_1() {
    let mut whole = ToolCallUpdate::new("c1".into());
    whole.content = Some(vec![text("new")]);
    let dialect = v1();
    let mut view = dialect.view("s1".into());
    let begin = [Event::ToolCall(announced("c1", ToolStatus::InProgress)), Event::ToolCall(whole)];
    lines(&dialect, &mut view, &begin);
    assert!(lines(&dialect, &mut view, &[output("c1", "er")]).contains(r#""text":"newer""#));
}

fn change(op: FileOp, before: Option<&str>, after: Option<&str>) -> Event {
    let change = FileChange {
        path: "/w/a".into(),
        op,
        before: before.map(str::to_owned),
        after: after.map(str::to_owned),
    };
    let mut call = announced("c1", ToolStatus::Completed);
    call.content = Some(vec![ToolContent::Change(change)]);
    Event::ToolCall(call)
}

#[test]
fn changes_are_both_texts_in_version_1_and_a_patch_in_version_2() {
    let events = [
        change(FileOp::Modify, Some("a\n"), Some("b\n")),
        change(FileOp::Add, None, Some("b\n")),
        change(FileOp::Delete, Some("a\n"), None),
        change(FileOp::Move { from: "/w/old".into() }, Some("a\n"), Some("b\n")),
        change(FileOp::Move { from: "/w/old".into() }, None, None),
        change(FileOp::Modify, None, None),
    ];
    let contents = |dialect: &super::Dialect| -> String {
        let mut view = dialect.view("s1".into());
        let said = events.iter().flat_map(|event| view.update(event));
        said.map(|outgoing| {
            super::line(dialect, &outgoing);
            update(&outgoing)["content"].to_string() + "\n"
        })
        .collect()
    };
    insta::assert_snapshot!(contents(&v1()), @r#"
    [{"type":"diff","path":"/w/a","oldText":"a\n","newText":"b\n"}]
    [{"type":"diff","path":"/w/a","newText":"b\n"}]
    [{"type":"diff","path":"/w/a","oldText":"a\n","newText":""}]
    [{"type":"content","content":{"type":"text","text":"Moved /w/old to /w/a"}},{"type":"diff","path":"/w/a","oldText":"a\n","newText":"b\n"}]
    [{"type":"content","content":{"type":"text","text":"Moved /w/old to /w/a"}}]
    [{"type":"content","content":{"type":"text","text":"[change of /w/a not shown: not text]"}}]
    "#);
    insta::assert_snapshot!(contents(&v2()), @r#"
    [{"type":"diff","changes":[{"operation":"modify","path":"/w/a","fileType":"text"}],"patch":{"format":"git_patch","text":"diff --git /w/a /w/a\n--- /w/a\n+++ /w/a\n@@ -1 +1 @@\n-a\n+b\n"}}]
    [{"type":"diff","changes":[{"operation":"add","path":"/w/a","fileType":"text"}],"patch":{"format":"git_patch","text":"diff --git /w/a /w/a\nnew file mode 100644\n--- /dev/null\n+++ /w/a\n@@ -0,0 +1 @@\n+b\n"}}]
    [{"type":"diff","changes":[{"operation":"delete","path":"/w/a","fileType":"text"}],"patch":{"format":"git_patch","text":"diff --git /w/a /w/a\ndeleted file mode 100644\n--- /w/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"}}]
    [{"type":"diff","changes":[{"operation":"move","oldPath":"/w/old","path":"/w/a","fileType":"text"}],"patch":{"format":"git_patch","text":"diff --git /w/old /w/a\nrename from /w/old\nrename to /w/a\n--- /w/old\n+++ /w/a\n@@ -1 +1 @@\n-a\n+b\n"}}]
    [{"type":"diff","changes":[{"operation":"move","oldPath":"/w/old","path":"/w/a"}],"patch":{"format":"git_patch","text":"diff --git /w/old /w/a\nrename from /w/old\nrename to /w/a\n"}}]
    [{"type":"diff","changes":[{"operation":"modify","path":"/w/a","fileType":"binary"}]}]
    "#);
}
