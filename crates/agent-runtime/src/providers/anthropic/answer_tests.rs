//! Every shape of an answer, fed whole, in pieces and byte by byte.

use std::sync::Arc;

use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::answer::MessagesAnswer;
use crate::providers::testing::{self, assert_spellings_mean_the_same};

fn answer() -> MessagesAnswer {
    MessagesAnswer::new("a", Arc::default())
}

fn meaning(stream: &str) -> String {
    testing::meaning(answer, stream)
}

fn events(events: &[Value]) -> String {
    let event = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
    events.iter().map(event).collect()
}

fn begin() -> Value {
    let usage = json!({"input_tokens": 10, "cache_creation_input_tokens": 5, "cache_read_input_tokens": 7, "output_tokens": 1});
    json!({"type": "message_start", "message": {"id": "m", "role": "assistant", "content": [], "usage": usage}})
}

fn start(at: u64, block: &Value) -> Value {
    json!({"type": "content_block_start", "index": at, "content_block": block})
}

fn delta(at: u64, delta: &Value) -> Value {
    json!({"type": "content_block_delta", "index": at, "delta": delta})
}

fn text(at: u64, text: &str) -> Value {
    delta(at, &json!({"type": "text_delta", "text": text}))
}

fn arguments(at: u64, piece: &str) -> Value {
    delta(at, &json!({"type": "input_json_delta", "partial_json": piece}))
}

fn call(at: u64, name: &str) -> Value {
    start(at, &json!({"type": "tool_use", "id": "toolu_1", "name": name, "input": {}}))
}

fn stop(at: u64) -> Value {
    json!({"type": "content_block_stop", "index": at})
}

fn finish(reason: &str) -> [Value; 2] {
    let usage = json!({"output_tokens": 20});
    let delta = json!({"stop_reason": reason, "stop_sequence": null});
    [json!({"type": "message_delta", "delta": delta, "usage": usage}), json!({"type": "message_stop"})]
}

/// An answer of these events between its beginning and its end.
fn whole(middle: &[Value], reason: &str) -> String {
    let mut all = vec![begin(), json!({"type": "ping"})];
    all.extend_from_slice(middle);
    all.extend(finish(reason));
    events(&all)
}

fn rich() -> String {
    whole(
        &[
            start(0, &json!({"type": "thinking", "thinking": "", "signature": ""})),
            delta(0, &json!({"type": "thinking_delta", "thinking": "hm"})),
            delta(0, &json!({"type": "thinking_delta", "thinking": "m"})),
            delta(0, &json!({"type": "signature_delta", "signature": "c2ln"})),
            stop(0),
            start(1, &json!({"type": "redacted_thinking", "data": "xyz"})),
            stop(1),
            start(2, &json!({"type": "text", "text": ""})),
            text(2, "Hel"),
            text(2, "lo 那个🦀é"),
            stop(2),
            call(3, "read"),
            arguments(3, ""),
            arguments(3, "{\"pa"),
            arguments(3, "th\": \"那🦀\"}"),
            stop(3),
            call(4, "now"),
            stop(4),
        ],
        "tool_use",
    )
}

#[test]
fn reasoning_text_calls_and_usage_come_in_order_and_what_is_signed_is_kept() {
    assert_snapshot!(meaning(&rich()), @r#"
    thought "hmm"
    text "Hello 那个🦀é"
    kept {"type":"thinking","thinking":"hmm","signature":"c2ln"}
    kept {"type":"redacted_thinking","data":"xyz"}
    call_1 read {"path": "那🦀"}
    call_2 now {}
    usage 15+7 20 0
    finish Stop
    "#);
}

#[test]
fn spellings_of_an_event_stream_mean_the_same() {
    assert_spellings_mean_the_same(answer, &rich());
}

#[test]
fn stop_reasons_have_their_meaning() {
    let said = |reason| meaning(&whole(&[start(0, &json!({"type": "text", "text": "x"})), stop(0)], reason));
    for (reason, meaning) in [
        ("end_turn", "Stop"),
        ("stop_sequence", "Stop"),
        ("tool_use", "Stop"),
        ("pause_turn", "Stop"),
        ("max_tokens", "Length"),
        ("model_context_window_exceeded", "Length"),
        ("refusal", "Refusal"),
    ] {
        assert_eq!(said(reason), format!("text \"x\"\nusage 15+7 20 0\nfinish {meaning}\n"));
    }
}

#[test]
fn the_call_that_the_output_limit_struck_counts_as_cut_off() {
    let calls = [call(0, "f"), arguments(0, "{\"a\":1}"), stop(0), call(1, "g"), arguments(1, "{}"), stop(1)];
    assert_snapshot!(meaning(&whole(&calls, "max_tokens")), @r#"
    call_1 f {"a":1}
    cut g {}
    usage 15+7 20 0
    finish Length
    "#);
    let one = [start(0, &json!({"type": "text", "text": "x"})), stop(0), call(1, "g"), arguments(1, "{\"a")];
    assert_snapshot!(meaning(&whole(&one, "max_tokens")), @r#"
    text "x"
    cut g {"a
    usage 15+7 20 0
    finish Length
    "#);
}

#[test]
fn arguments_come_in_many_forms() {
    let called = |events: &[Value]| {
        let told = meaning(&whole(events, "tool_use"));
        told.lines().next().unwrap_or_default().to_owned()
    };
    let given = start(0, &json!({"type": "tool_use", "name": "f", "input": {"a": 1}}));
    assert_eq!(called(&[given, stop(0)]), "call_1 f {\"a\":1}");
    assert_eq!(called(&[call(0, "f"), arguments(0, "{}"), stop(0)]), "call_1 f {}");
    // An end of the block that never came, and arguments that are none: the model is told by whoever runs calls.
    assert_eq!(called(&[call(0, "f"), arguments(0, "{\"a\":2}")]), "call_1 f {\"a\":2}");
    assert_eq!(called(&[call(0, "f"), arguments(0, "{\"a\":"), stop(0)]), "call_1 f {\"a\":");
    let halves = [call(0, "f"), arguments(0, r#"{"a":""#), arguments(0, "\u{1f980}\"}"), stop(0)];
    let spelled = whole(&halves, "tool_use").replace('🦀', r"\ud83e\udd80");
    assert_eq!(meaning(&spelled).lines().next(), Some("call_1 f {\"a\":\"🦀\"}"));
}

#[test]
fn halves_of_a_character_meet_across_pieces() {
    let stream = whole(
        &[start(0, &json!({"type": "text", "text": ""})), text(0, "aHIGH"), text(0, "LOWb"), stop(0)],
        "end_turn",
    );
    let cut = stream.replace("HIGH", r"\ud83e").replace("LOW", r"\udd80");
    assert!(meaning(&cut).starts_with("text \"a🦀b\"\n"), "{}", meaning(&cut));
    let alone = stream.replace("HIGH", r"\ud83e").replace("LOW", "");
    assert!(meaning(&alone).starts_with("text \"a\u{fffd}b\"\n"), "{}", meaning(&alone));
}

#[test]
fn servers_that_forget_beginnings_and_indexes_are_understood() {
    let bare = [
        json!({"type": "content_block_start", "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "one "}}),
        json!({"type": "content_block_stop"}),
        json!({"type": "content_block_start", "content_block": {"type": "tool_use", "name": "f", "input": {}}}),
        json!({"type": "content_block_delta", "delta": {"type": "input_json_delta", "partial_json": "{\"a\":1}"}}),
        json!({"type": "content_block_stop"}),
    ];
    assert_snapshot!(meaning(&whole(&bare, "tool_use")), @r#"
    text "one "
    call_1 f {"a":1}
    usage 15+7 20 0
    finish Stop
    "#);
    assert!(meaning(&whole(&[text(0, "no start")], "end_turn")).starts_with("text \"no start\"\n"));
    let names_only =
        events(&[begin(), text(0, "x"), finish("end_turn")[0].clone(), finish("end_turn")[1].clone()]);
    let names_only = names_only.replace(r#""type":"content_block_delta","#, "");
    assert!(meaning(&names_only).starts_with("text \"x\"\n"));
}

#[test]
fn what_is_unknown_is_passed_over() {
    let odd = [
        start(0, &json!({"type": "server_tool_use", "name": "web_search"})),
        delta(0, &json!({"type": "input_json_delta", "partial_json": "{}"})),
        stop(0),
        json!({"type": "news", "index": 9}),
        start(1, &json!({"type": "text", "text": "x"})),
        delta(1, &json!({"type": "citations_delta", "citation": {}})),
        stop(1),
    ];
    assert_eq!(meaning(&whole(&odd, "end_turn")), "text \"x\"\nusage 15+7 20 0\nfinish Stop\n");
}

#[test]
fn errors_inside_a_successful_answer_are_errors() {
    let error = |kind: &str| json!({"type": "error", "error": {"type": kind, "message": "Overloaded"}});
    assert_snapshot!(meaning(&events(&[error("overloaded_error")])), @"error a: the server reported: Overloaded (transient)");
    let late = [begin(), start(0, &json!({"type": "text", "text": "half"})), error("api_error")];
    assert_snapshot!(meaning(&events(&late)), @r#"
    text "half"
    error a: the server reported: Overloaded (transient)
    "#);
    assert_snapshot!(meaning(&events(&[error("invalid_request_error")])), @"error a: the server reported: Overloaded");
    assert_snapshot!(meaning("data: {\"error\":{\"message\":\"no\"}}\n\n"), @"error a: the server reported: no");
    assert_snapshot!(meaning("event: error\ndata: gone\n\n"), @"error a: the server reported: gone");
    assert_snapshot!(meaning(&error("rate_limit_error").to_string()), @"error a: the server reported: Overloaded (transient)");
}

#[test]
fn an_answer_that_breaks_off_is_no_success() {
    let stream = rich();
    let upto = |mark: &str| &stream[..stream.find(mark).unwrap()];
    assert_snapshot!(meaning(upto("event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":2}")), @r#"
    thought "hmm"
    text "Hello 那个🦀é"
    error a: the answer broke off: the connection ended before a stop reason (transient)
    "#);
    assert_snapshot!(meaning(upto("event: message_delta")), @r#"
    thought "hmm"
    text "Hello 那个🦀é"
    error a: the answer broke off: the connection ended within a tool call (transient)
    "#);
    assert_snapshot!(meaning(""), @"error a: the answer broke off: the connection ended before a stop reason (transient)");
    // With a stop reason it is whole, though the end of the message is missing.
    assert_eq!(meaning(upto("event: message_stop")), meaning(&stream));
}

#[test]
fn an_answer_that_is_no_stream_is_read_whole() {
    let usage = json!({"input_tokens": 3, "output_tokens": 4});
    let content = json!([
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "text", "text": "hello"},
        {"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}},
    ]);
    let body = json!({"type": "message", "content": content, "stop_reason": "tool_use", "usage": usage});
    assert_snapshot!(meaning(&body.to_string()), @r#"
    thought "hm"
    text "hello"
    kept {"type":"thinking","thinking":"hm","signature":"s"}
    call_1 f {"a":1}
    usage 3+0 4 0
    finish Stop
    "#);
    assert_snapshot!(meaning(&body.to_string()[..60]), @"error a: the answer broke off: half a JSON object (transient)");
    assert_snapshot!(meaning("<html>hello</html>"), @"error a: the server's answer makes no sense: `<html>hello</html>`; does the API at `url` fit the agent's `provider`?");
    assert_snapshot!(meaning("data: hello\n\n"), @"error a: the server's answer makes no sense: `hello`; does the API at `url` fit the agent's `provider`?");
    assert_snapshot!(meaning("{\"choices\":[]}"), @r#"error a: the server's answer makes no sense: `{"choices":[]}`; does the API at `url` fit the agent's `provider`?"#);
}

proptest! {
    #[test]
    fn cuts_change_nothing(cuts in proptest::collection::vec(1..40usize, 0..200)) {
        let stream = rich();
        let bytes = stream.as_bytes();
        let mut pieces = Vec::new();
        let mut rest = bytes;
        for cut in cuts {
            let (piece, after) = rest.split_at(cut.min(rest.len()));
            pieces.push(piece);
            rest = after;
        }
        pieces.push(rest);
        prop_assert_eq!(testing::read(answer(), pieces), testing::read(answer(), [bytes]));
    }

    #[test]
    fn no_bytes_break_the_reader(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let (deltas, result) = testing::read(answer(), [bytes.as_slice()]);
        prop_assert!(result.is_err() || !deltas.is_empty());
    }
}
