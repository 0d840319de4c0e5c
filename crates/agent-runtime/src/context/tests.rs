//! Entries as cancels, failures and crashes leave them, and what a strict server is sent.

use std::path::PathBuf;

use proptest::prelude::*;
use serde_json::{Value, json};
use session_model::{
    Content, Entry, Item, Location, MessageId, StopReason, ToolCallId, ToolCallUpdate, ToolKind, ToolStatus,
    TurnFailure, TurnId,
};
use time::OffsetDateTime;

use super::*;
use crate::provider::ModelCall;

const PLENTY: usize = 1_000_000;

fn entry(turn: &str, item: Item) -> Entry {
    Entry { turn: TurnId::from(turn), at: OffsetDateTime::UNIX_EPOCH, item }
}

fn user(turn: &str, text: &str) -> Entry {
    entry(turn, Item::User { id: MessageId::from("u"), content: vec![Content::text(text)], key: None })
}

fn agent(turn: &str, step: u32, text: &str) -> Entry {
    entry(turn, Item::Agent { id: MessageId::from(format!("a-{text}")), step, text: text.to_owned() })
}

fn tool(turn: &str, step: u32, id: &str, output: Option<&str>) -> Entry {
    let mut call = ToolCallUpdate::new(ToolCallId::from(id));
    call.name = Some("read_file".to_owned());
    call.kind = Some(ToolKind::Read);
    call.status = Some(if output.is_some() { ToolStatus::Completed } else { ToolStatus::Cancelled });
    call.raw_input = Some(json!({ "path": "a.rs" }));
    call.raw_output = output.map(|text| json!({ "output": text }));
    call.locations = Some(vec![Location { path: PathBuf::from("/w/a.rs"), line: None }]);
    entry(turn, Item::Tool { step, call })
}

fn end(turn: &str, stop: StopReason) -> Entry {
    let error = (stop == StopReason::Error)
        .then(|| TurnFailure { code: "x".to_owned(), message: "secret detail".to_owned() });
    entry(turn, Item::TurnEnd { stop, error, route: None })
}

fn sent(history: &[Entry], budget: usize) -> String {
    let messages = messages(history, &[Content::text("next")], Budget::bytes(budget), None);
    check(&messages).unwrap_or_else(|rule| panic!("{rule}: {messages:#?}"));
    messages.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn line(message: &ModelMessage) -> String {
    match message {
        ModelMessage::User(content) => format!("user: {}", session_model::text_of(content)),
        ModelMessage::Assistant { text, calls, kept: _, reasoning: _ } => {
            let calls: Vec<_> =
                calls.iter().map(|call| format!(" {}={}({})", call.id, call.name, call.arguments)).collect();
            format!("model: {text}{}", calls.concat())
        }
        ModelMessage::ToolResult { call_id, output, .. } => format!("{call_id}: {output}"),
    }
    .replace("\n\n", " / ")
}

#[test]
fn a_finished_turn_is_sent_as_it_was() {
    let history = [
        user("t", "do"),
        entry("t", Item::Thought { id: MessageId::from("th"), step: 0, text: "hm".to_owned() }),
        agent("t", 0, "looking"),
        tool("t", 0, "c1", Some("one")),
        tool("t", 0, "c2", Some("two")),
        tool("t", 1, "c3", Some("three")),
        entry("t", Item::Remark { id: MessageId::from("r"), text: "by the way".to_owned() }),
        agent("t", 2, "done"),
        end("t", StopReason::EndTurn),
    ];
    insta::assert_snapshot!(sent(&history, PLENTY), @r#"
    user: do
    model: looking c1=read_file({"path":"a.rs"}) c2=read_file({"path":"a.rs"})
    c1: {"output":"one"}
    c2: {"output":"two"}
    model:  c3=read_file({"path":"a.rs"})
    c3: {"output":"three"}
    model: done
    user: next
    "#);
}

#[test]
fn turns_that_did_not_end_by_themselves_say_so_and_keep_the_sides_apart() {
    let history = [
        user("a", "cancelled at once"),
        end("a", StopReason::Cancelled),
        user("b", "cancelled in a tool"),
        tool("b", 0, "c1", Some("one")),
        tool("b", 0, "c2", None),
        end("b", StopReason::Cancelled),
        user("c", "failed half way"),
        agent("c", 0, "half"),
        end("c", StopReason::Error),
        user("d", "crashed"),
        user("e", "silent"),
        end("e", StopReason::EndTurn),
    ];
    insta::assert_snapshot!(sent(&history, PLENTY), @r#"
    user: cancelled at once
    model: [the user cancelled this turn here]
    user: cancelled in a tool
    model:  c1=read_file({"path":"a.rs"}) c2=read_file({"path":"a.rs"})
    c1: {"output":"one"}
    c2: {"error":"cancelled by the user before it was done; it may have had effects already"}
    model: [the user cancelled this turn here]
    user: failed half way
    model: half / [this turn failed here]
    user: crashed
    model: [this turn was cut off here]
    user: silent
    model: [this turn ended without an answer]
    user: next
    "#);
}

#[test]
fn items_of_one_message_continue_each_other_and_different_messages_are_set_apart() {
    let part = |id: &str, text: &str| {
        entry("t", Item::Agent { id: MessageId::from(id), step: 0, text: text.to_owned() })
    };
    let thought = entry("t", Item::Thought { id: MessageId::from("th"), step: 0, text: "hm".to_owned() });
    let history = [
        user("t", "do"),
        part("a", "one"),
        thought,
        part("a", " word"),
        part("b", "other"),
        end("t", StopReason::EndTurn),
    ];
    insta::assert_snapshot!(sent(&history, PLENTY), @r"
    user: do
    model: one word / other
    user: next
    ");
}

#[test]
fn commands_and_remarks_are_no_business_of_the_models() {
    let remark = |turn| entry(turn, Item::Remark { id: MessageId::from("r"), text: "12 tokens".to_owned() });
    let history = [
        user("a", "/usage"),
        remark("a"),
        end("a", StopReason::EndTurn),
        remark("between"),
        user("b", "what"),
        remark("b"),
        end("b", StopReason::EndTurn),
    ];
    insta::assert_snapshot!(sent(&history, PLENTY), @r"
    user: what
    model: [this turn ended without an answer]
    user: next
    ");
}

#[test]
fn arguments_are_always_an_object() {
    let mut history = vec![user("t", "do")];
    let inputs = [
        json!({ "b": 1, "a": 2 }),
        json!("{\"command\": \"cd /x"),
        json!("{\"ok\":true}"),
        json!([1]),
        Value::Null,
    ];
    for (n, input) in inputs.into_iter().enumerate() {
        let Entry { item: Item::Tool { step, mut call }, .. } = tool("t", 0, &format!("c{n}"), Some("x"))
        else {
            unreachable!()
        };
        call.raw_input = Some(input);
        history.push(entry("t", Item::Tool { step, call }));
    }
    let text = sent(&history, PLENTY);
    let calls = text.lines().nth(1).unwrap();
    assert_eq!(
        calls,
        r#"model:  c0=read_file({"b":1,"a":2}) c1=read_file({}) c2=read_file({"ok":true}) c3=read_file({}) c4=read_file({})"#
    );
}

#[test]
fn ids_that_come_twice_are_told_apart() {
    let history =
        [user("a", "x"), tool("a", 0, "c", Some("1")), user("b", "y"), tool("b", 0, "c", Some("2"))];
    let text = sent(&history, PLENTY);
    assert!(text.contains("c: {\"output\":\"1\"}") && text.contains("c+: {\"output\":\"2\"}"), "{text}");
}

#[test]
fn an_empty_message_still_says_something() {
    let messages = messages(&[], &[Content::text("  ")], Budget::bytes(PLENTY), None);
    assert_eq!(messages, [ModelMessage::User(vec![Content::text("(empty message)")])]);
}

#[test]
fn a_longer_history_begins_as_the_shorter_one_did() {
    let mut history: Vec<Entry> = Vec::new();
    let mut before: Vec<ModelMessage> = Vec::new();
    for n in 0..6 {
        let turn = format!("t{n}");
        history.extend([
            user(&turn, "do"),
            tool(&turn, 0, &format!("c{n}"), Some("x")),
            agent(&turn, 1, "ok"),
        ]);
        history.push(end(&turn, StopReason::EndTurn));
        let mut now = messages(&history, &[Content::text("next")], Budget::bytes(PLENTY), None);
        now.pop();
        assert_eq!(now[..before.len()], before[..]);
        before = now;
    }
}

/// Turns with a tool call whose output is `size` bytes long each.
fn tool_turns(count: usize, size: usize) -> Vec<Entry> {
    let output = "x".repeat(size);
    (0..count)
        .flat_map(|n| {
            let turn = format!("t{n}");
            [
                user(&turn, &format!("do {n}")),
                tool(&turn, 0, &format!("c{n}"), Some(&output)),
                agent(&turn, 1, "ok"),
                end(&turn, StopReason::EndTurn),
            ]
        })
        .collect()
}

#[test]
fn without_room_older_tool_use_becomes_one_line_and_the_newest_two_stay_whole() {
    let text = sent(&tool_turns(4, 1_000), 4_100);
    let lines: Vec<_> = text.lines().map(|line| line.chars().take(60).collect::<String>()).collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    user: do 0
    model: [tools used: read_file ×1; files: read /w/a.rs] / ok
    user: do 1
    model: [tools used: read_file ×1; files: read /w/a.rs] / ok
    user: do 2
    model:  c2=read_file({"path":"a.rs"})
    c2: {"output":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
    model: ok
    user: do 3
    model:  c3=read_file({"path":"a.rs"})
    c3: {"output":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
    model: ok
    user: next
    "#);
}

#[test]
fn with_less_room_the_older_outputs_are_cleared() {
    let text = sent(&tool_turns(2, 1_000), 1_600);
    let outputs: Vec<_> =
        text.lines().filter(|line| line.starts_with('c')).map(|line| line.len() > 500).collect();
    assert_eq!(outputs, [false, false], "half the room holds neither");
    let text = sent(&tool_turns(2, 1_000), 2_080);
    let outputs: Vec<_> =
        text.lines().filter(|line| line.starts_with('c')).map(|line| line.len() > 500).collect();
    assert_eq!(outputs, [false, true], "half the room holds the newer one");
}

#[test]
fn with_no_room_the_oldest_turns_go_in_blocks_and_the_prompt_stays() {
    let history: Vec<Entry> = (0..10)
        .flat_map(|n| {
            let turn = format!("t{n}");
            [user(&turn, &"q".repeat(100)), agent(&turn, 0, "a"), end(&turn, StopReason::EndTurn)]
        })
        .collect();
    let turns = |budget| sent(&history, budget).matches("q\nmodel").count();
    assert_eq!(turns(PLENTY), 10);
    assert_eq!(turns(4 + 101 * 9), 6, "one too many: a block of four goes");
    assert_eq!(turns(4 + 101 * 5), 2, "five too many: two blocks go");
    assert_eq!(turns(4 + 101), 1);
    assert_eq!(turns(0), 0);
    assert!(
        sent(&history, 4 + 101 * 9)
            .starts_with("user: [Turns before this one are left out to make room: 4.]")
    );
}

#[test]
fn the_running_turn_sheds_old_outputs_but_never_unseen_ones() {
    let call =
        |id: &str| ModelCall { id: id.to_owned(), name: "read_file".to_owned(), arguments: "{}".to_owned() };
    let result = |id: &str| ModelMessage::ToolResult {
        call_id: id.to_owned(),
        name: "read_file".to_owned(),
        output: "x".repeat(1_000),
    };
    let asks = |id: &str| ModelMessage::assistant("", vec![call(id)]);
    let mut messages = vec![ModelMessage::User(vec![Content::text("do")])];
    for id in ["a", "b", "c"] {
        messages.extend([asks(id), result(id)]);
    }
    let whole = messages.clone();
    shrink(&mut messages, Budget::bytes(5_000));
    assert_eq!(messages, whole, "there is room");
    shrink(&mut messages, Budget::bytes(3_000));
    check(&messages).unwrap();
    let kept: Vec<_> = messages.iter().filter(|message| size(message) > 500).collect();
    assert_eq!(kept, [&whole[4], &whole[6]], "down to three quarters, oldest first");
    shrink(&mut messages, Budget::bytes(10));
    assert_eq!(size(&messages[6]), 1_000, "never less than the least");
}

fn with_result(arguments: &str, output: &str) -> Vec<ModelMessage> {
    let call = ModelCall { id: "a".to_owned(), name: "f".to_owned(), arguments: arguments.to_owned() };
    vec![
        ModelMessage::User(vec![Content::text("do")]),
        ModelMessage::assistant("", vec![call]),
        ModelMessage::ToolResult { call_id: "a".to_owned(), name: "f".to_owned(), output: output.to_owned() },
    ]
}

#[test]
fn an_unseen_output_that_fills_the_window_is_cut_in_its_middle() {
    let lines = (0..2_000).map(|n| format!("{n}\t\"é\"\n")).collect::<Vec<_>>().concat();
    let output = json!({ "output": lines, "exit_code": 0 }).to_string();
    let mut messages = with_result("{}", &output);
    shrink(&mut messages, Budget::bytes(6_000));
    check(&messages).unwrap();
    let total = total_size(&messages);
    assert!((5_000..6_300).contains(&total), "{total}");
    let ModelMessage::ToolResult { output, .. } = &messages[2] else { panic!("{messages:?}") };
    let value: Value = serde_json::from_str(output).unwrap();
    let text = value["output"].as_str().unwrap();
    assert!(text.starts_with("0\t\"é\"\n1\t") && text.ends_with("1999\t\"é\"\n"), "{text}");
    assert!(text.contains("bytes left out to fit the model's window"));
    assert_eq!(value["exit_code"], 0);
}

#[test]
fn long_arguments_of_old_calls_are_shortened_and_stay_an_object() {
    let arguments = json!({ "path": "a.rs", "content": "é".repeat(3_000), "n": 1 }).to_string();
    let mut messages = with_result(&arguments, "{}");
    messages.push(ModelMessage::assistant("next", Vec::new()));
    shrink(&mut messages, Budget::bytes(2_000));
    let ModelMessage::Assistant { calls, .. } = &messages[1] else { panic!("{messages:?}") };
    let value: Value = serde_json::from_str(&calls[0].arguments).unwrap();
    assert_eq!((&value["path"], &value["n"]), (&json!("a.rs"), &json!(1)));
    assert_eq!(value["content"], format!("{}… [2800 more characters]", "é".repeat(200)));
}

#[test]
fn windows_leave_a_quarter_for_the_answer_and_never_nothing() {
    let usual = Density::of(0, 0);
    assert_eq!(Budget::for_window(Some(8_000), 2_000, usual), Budget::bytes(12_000));
    assert_eq!(Budget::for_window(Some(100), 50_000, usual), Budget::bytes(4_000));
    assert_eq!(Budget::for_window(None, 15_000, usual), Budget::bytes(180_000));
    assert!(Budget::for_window(Some(u64::MAX), 0, usual) > Budget::bytes(PLENTY));
}

#[test]
fn a_window_holds_as_much_text_as_its_tokens_stand_for() {
    for (bytes, tokens, room) in [
        (1_999, 1, 12_000),
        (8_000, 2_000, 16_000),
        (8_000, 2_600, 12_000),
        (8_000, 8_000, 4_000),
        (8_000, 80_000, 4_000),
        (80_000, 2, 16_000),
    ] {
        let density = Density::of(bytes, tokens);
        assert_eq!(Budget::for_window(Some(8_000), 2_000, density), Budget::bytes(room), "{bytes} {tokens}");
    }
}

#[test]
fn the_check_refuses_what_strict_servers_refuse() {
    let user = || ModelMessage::User(vec![Content::text("x")]);
    let says = |text: &str| ModelMessage::assistant(text, Vec::new());
    let calls = |id: &str, name: &str, arguments: &str| {
        let call = ModelCall { id: id.into(), name: name.into(), arguments: arguments.into() };
        ModelMessage::assistant("", vec![call])
    };
    let result =
        |id: &str| ModelMessage::ToolResult { call_id: id.into(), name: "f".into(), output: String::new() };
    let bad = [
        vec![],
        vec![says("x"), user()],
        vec![user(), user()],
        vec![user(), says("x")],
        vec![user(), says(" "), user()],
        vec![user(), calls("1", "f", "{}")],
        vec![user(), calls("1", "f", "{}"), user()],
        vec![user(), calls("1", "f", "{}"), result("2")],
        vec![user(), calls("1", "g", "{}"), result("1")],
        vec![user(), calls("1", "f", "[]"), result("1")],
        vec![user(), calls("1", "f g", "{}"), result("1")],
        vec![user(), calls("1", "f", "{}"), result("1"), result("1")],
        vec![user(), calls("1", "f", "{}"), result("1"), calls("1", "f", "{}"), result("1")],
        vec![ModelMessage::User(vec![])],
    ];
    for messages in bad {
        assert!(check(&messages).is_err(), "{messages:?}");
    }
    check(&[user(), calls("1", "f", "{}"), result("1"), says("x"), user()]).unwrap();
}

#[test]
fn raw_arguments_are_read_generously_but_only_as_objects() {
    for none in ["", "  ", "null", "{}", "\"{}\""] {
        assert_eq!(arguments(none), Ok(Map::new()), "{none}");
    }
    assert_eq!(arguments(r#""{\"a\":1}""#).unwrap()["a"], 1);
    for bad in ["[1]", "1", "true", "\"x\"", "{\"a\":", "{}{}"] {
        assert!(arguments(bad).unwrap_err().starts_with("invalid arguments"), "{bad}");
    }
}

fn any_item() -> impl Strategy<Value = Item> {
    let text = prop_oneof![Just(String::new()), Just(" \n".to_owned()), "[a-z/]{1,30}"];
    let stop = prop_oneof![
        Just(StopReason::EndTurn),
        Just(StopReason::MaxTokens),
        Just(StopReason::MaxTurnRequests),
        Just(StopReason::Refusal),
        Just(StopReason::Cancelled),
        Just(StopReason::Error)
    ];
    prop_oneof![
        3 => proptest::collection::vec(text.clone().prop_map(Content::text), 0..3)
            .prop_map(|content| Item::User { id: MessageId::from("u"), content, key: None }),
        3 => (0..3u32, text.clone())
            .prop_map(|(step, text)| Item::Agent { id: MessageId::from("a"), step, text }),
        1 => text.clone().prop_map(|text| Item::Thought { id: MessageId::from("t"), step: 0, text }),
        6 => (0..3u32, any_call()).prop_map(|(step, call)| Item::Tool { step, call }),
        1 => text.prop_map(|text| Item::Remark { id: MessageId::from("r"), text }),
        2 => stop.prop_map(|stop| Item::TurnEnd { stop, error: None, route: None }),
    ]
}

fn any_call() -> impl Strategy<Value = ToolCallUpdate> {
    let name = prop_oneof![
        Just(None),
        Just(Some(String::new())),
        Just(Some("read_file".to_owned())),
        "\\PC{1,80}".prop_map(Some)
    ];
    let status = prop_oneof![
        Just(None),
        Just(Some(ToolStatus::Pending)),
        Just(Some(ToolStatus::InProgress)),
        Just(Some(ToolStatus::Completed)),
        Just(Some(ToolStatus::Failed)),
        Just(Some(ToolStatus::Cancelled))
    ];
    let input = prop_oneof![
        Just(None),
        Just(Some(json!({ "path": "a" }))),
        Just(Some(json!("{\"broken"))),
        Just(Some(json!(["list"]))),
        Just(Some(Value::Null))
    ];
    let output = proptest::option::of("[a-z]{0,400}".prop_map(|text| json!({ "output": text })));
    ("c[0-9]", name, status, input, output).prop_map(|(id, name, status, input, output)| {
        let mut call = ToolCallUpdate::new(ToolCallId::from(id));
        (call.name, call.status, call.raw_input, call.raw_output) = (name, status, input, output);
        call
    })
}

proptest! {
    #[test]
    fn whatever_was_kept_a_strict_server_accepts_it(
        items in proptest::collection::vec((0..6u8, any_item()), 0..60),
        sorted in any::<bool>(),
        budget in prop_oneof![Just(PLENTY), 0..3_000usize],
    ) {
        let mut items = items;
        if sorted {
            items.sort_by_key(|(turn, _)| *turn);
        }
        let history: Vec<Entry> =
            items.into_iter().map(|(turn, item)| entry(&format!("t{turn}"), item)).collect();
        let summary = Summary { turns: 2, last: TurnId::from("t1"), text: "so far".to_owned() };
        for summary in [None, Some(&summary)] {
            let messages = messages(&history, &[Content::text("next")], Budget::bytes(budget), summary);
            prop_assert_eq!(check(&messages), Ok(()));
            let Some(ModelMessage::User(last)) = messages.last() else { panic!("{messages:?}") };
            prop_assert_eq!(last.last(), Some(&Content::text("next")));
        }
    }
}

fn worked(turn: &str, asked: &str, kind: ToolKind, path: &str, answer: &str) -> Vec<Entry> {
    let mut call = ToolCallUpdate::new(ToolCallId::from(turn));
    call.name = Some("edit_file".to_owned());
    call.kind = Some(kind);
    call.raw_output = Some(json!({ "output": "o".repeat(2_000) }));
    call.locations = Some(vec![Location { path: PathBuf::from(path), line: None }]);
    vec![
        user(turn, asked),
        entry(turn, Item::Tool { step: 0, call }),
        agent(turn, 1, answer),
        end(turn, StopReason::EndTurn),
    ]
}

fn long_work() -> Vec<Entry> {
    let mut history =
        worked("t0", "Port the parser to Rust.\nKeep its tests.", ToolKind::Read, "/w/parser.c", "I will.");
    for n in 1..12 {
        let path = format!("/w/src/{n}.rs");
        let long = "explained at length ".repeat(100);
        history.extend(worked(&format!("t{n}"), &format!("step {n}"), ToolKind::Edit, &path, &long));
    }
    history
}

#[test]
fn of_turns_left_out_the_task_the_questions_and_the_files_are_told() {
    let told = sent(&long_work(), 16_000);
    let recap = told.split(']').next().unwrap();
    assert!(recap.starts_with("user: [Turns before this one are left out to make room: 8.\n"), "{recap}");
    assert!(recap.contains("The task: Port the parser to Rust.\nKeep its tests.\n"), "{recap}");
    assert!(recap.contains("- (5 earlier ones)\n- step 6 → explained at length"), "{recap}");
    assert!(recap.contains("changed: /w/src/7.rs, /w/src/6.rs") && recap.contains("/w/src/1.rs"), "{recap}");
    assert!(recap.ends_with("- looked at: /w/parser.c"), "{recap}");
    assert!(recap.len() < 2_000 + 300, "{}", recap.len());
}

#[test]
fn a_recap_stays_the_same_while_the_same_turns_are_left_out() {
    let history = long_work();
    let first = |prompt: &str| {
        let messages = messages(&history, &[Content::text(prompt)], Budget::bytes(16_000), None);
        line(&messages[0])
    };
    assert_eq!(first("next"), first("a somewhat longer question about the same"));
}

#[test]
fn what_a_summary_covers_is_left_out_and_the_summary_told() {
    let history = long_work();
    let summary = Summary { turns: 3, last: TurnId::from("t2"), text: "decided on nom\n".to_owned() };
    let sent = |summary: &Summary| {
        let messages = messages(&history, &[Content::text("next")], Budget::bytes(PLENTY), Some(summary));
        check(&messages).unwrap();
        messages.iter().map(line).collect::<Vec<_>>().join("\n")
    };
    let told = sent(&summary);
    assert!(told.starts_with("user: [Turns before this one are left out to make room: 3.\n"), "{told}");
    assert!(told.contains("Summary: decided on nom] / step 3\n"), "{told}");
    assert!(!told.contains("\nuser: step 2\n") && told.contains("\nuser: step 4\n"));
    // Of a very long history only the end is at hand: what the summary covers may all be before it.
    let earlier = Summary { turns: 40, last: TurnId::from("earlier"), ..summary };
    let told = sent(&earlier);
    assert!(
        told.starts_with("user: [Turns before this one are left out to make room: 40.\nSummary: decided"),
        "{told}"
    );
    assert!(told.contains("Port the parser") && told.contains("\nuser: step 1\n"));
}

#[test]
fn turns_are_outgrown_when_they_do_not_fit_and_are_not_covered() {
    let history = long_work();
    let outgrown = |budget, summary: Option<&Summary>, keep| {
        outgrown(&history, &[Content::text("next")], Budget::bytes(budget), summary, keep)
    };
    assert_eq!(outgrown(PLENTY, None, None), None);
    // Eight would do, but then the next few turns would need another summary.
    let eleven = outgrown(16_000, None, None).unwrap();
    assert_eq!((eleven.turns, eleven.last.as_str()), (11, "t10"));
    assert!(eleven.transcript.starts_with("USER: Port the parser") && eleven.transcript.len() < 8_200);
    let summary = Summary { turns: 8, last: TurnId::from("t7"), text: "so far so good".to_owned() };
    assert_eq!(outgrown(16_000, Some(&summary), None), None);
    let all_but_one = outgrown(PLENTY, Some(&summary), Some(1)).unwrap();
    assert_eq!(all_but_one.turns, 11);
    let told = all_but_one.transcript;
    assert!(told.starts_with("Summary of what was before:\nso far so good\n\nUSER: step 8"), "{told}");
    assert_eq!(self::outgrown(&history[..4], &[], Budget::bytes(PLENTY), None, Some(1)), None);
}
