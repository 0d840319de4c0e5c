//! Every shape of an answer, fed whole, in pieces and byte by byte.

use std::sync::Arc;

use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::answer::ResponseAnswer;
use crate::providers::testing::{self, assert_spellings_mean_the_same};

fn answer() -> ResponseAnswer {
    ResponseAnswer::new("a", Arc::default())
}

fn meaning(stream: &str) -> String {
    testing::meaning(answer, stream)
}

fn events(events: &[Value]) -> String {
    let event = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
    events.iter().map(event).collect()
}

fn added(at: u64, item: &Value) -> Value {
    json!({"type": "response.output_item.added", "output_index": at, "item": item})
}

fn done(at: u64, item: &Value) -> Value {
    json!({"type": "response.output_item.done", "output_index": at, "item": item})
}

fn text(at: u64, piece: &str) -> Value {
    json!({"type": "response.output_text.delta", "output_index": at, "item_id": "msg", "content_index": 0, "delta": piece})
}

fn summary(at: u64, piece: &str) -> Value {
    json!({"type": "response.reasoning_summary_text.delta", "output_index": at, "item_id": "rs", "summary_index": 0, "delta": piece})
}

fn arguments(at: u64, piece: &str) -> Value {
    json!({"type": "response.function_call_arguments.delta", "output_index": at, "item_id": format!("fc{at}"), "delta": piece})
}

fn call(at: u64, name: &str, arguments: &str, status: &str) -> Value {
    json!({"type": "function_call", "id": format!("fc{at}"), "call_id": "c", "name": name, "arguments": arguments, "status": status})
}

fn message(text: &str) -> Value {
    let content = json!([{"type": "output_text", "text": text, "annotations": []}]);
    json!({"type": "message", "id": "msg", "role": "assistant", "status": "completed", "content": content})
}

fn usage() -> Value {
    json!({
        "input_tokens": 10, "input_tokens_details": {"cached_tokens": 4},
        "output_tokens": 9, "output_tokens_details": {"reasoning_tokens": 5}, "total_tokens": 19,
    })
}

fn completed(output: &[Value]) -> Value {
    json!({"type": "response.completed", "response": {"object": "response", "status": "completed", "output": output, "usage": usage()}})
}

fn incomplete(reason: &str) -> Value {
    let details = json!({"reason": reason});
    json!({"type": "response.incomplete", "response": {"status": "incomplete", "incomplete_details": details, "usage": usage()}})
}

fn begin() -> Value {
    json!({"type": "response.created", "response": {"object": "response", "status": "in_progress", "error": null, "output": []}})
}

fn reasoning() -> Value {
    let summary = json!([{"type": "summary_text", "text": "hm"}, {"type": "summary_text", "text": "so"}]);
    json!({"type": "reasoning", "id": "rs", "summary": summary, "encrypted_content": "gAAA"})
}

fn rich() -> String {
    let part = json!({"type": "response.reasoning_summary_part.added", "output_index": 0, "item_id": "rs"});
    let output = [reasoning(), message("Hello 那个🦀é"), call(2, "read", "{\"path\":\"那🦀\"}", "completed")];
    events(&[
        begin(),
        added(0, &json!({"type": "reasoning", "id": "rs", "summary": []})),
        part.clone(),
        summary(0, "h"),
        summary(0, "m"),
        part,
        summary(0, "so"),
        done(0, &reasoning()),
        added(1, &json!({"type": "message", "id": "msg", "content": []})),
        text(1, "Hel"),
        text(1, "lo 那个🦀é"),
        json!({"type": "response.output_text.done", "output_index": 1, "text": "Hello 那个🦀é"}),
        done(1, &output[1]),
        added(2, &call(2, "read", "", "in_progress")),
        arguments(2, "{\"path\""),
        arguments(2, ":\"那🦀\"}"),
        json!({"type": "response.function_call_arguments.done", "output_index": 2, "arguments": "{\"path\":\"那🦀\"}"}),
        done(2, &output[2]),
        completed(&output),
    ])
}

#[test]
fn reasoning_text_calls_and_usage_come_in_order_and_what_is_encrypted_is_kept() {
    assert_snapshot!(meaning(&rich()), @r#"
    thought "hm\n\nso"
    text "Hello 那个🦀é"
    kept {"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":"hm"},{"type":"summary_text","text":"so"}],"encrypted_content":"gAAA"}
    call_1 read {"path":"那🦀"}
    usage 6+4 9 5
    finish Stop
    "#);
}

#[test]
fn spellings_of_an_event_stream_mean_the_same() {
    assert_spellings_mean_the_same(answer, &rich());
}

#[test]
fn the_end_of_a_response_says_why() {
    let ends = |end: Value| meaning(&events(&[begin(), text(0, "x"), end]));
    let usage = "usage 6+4 9 5\n";
    assert_eq!(ends(completed(&[])), format!("text \"x\"\n{usage}finish Stop\n"));
    assert_eq!(ends(incomplete("max_output_tokens")), format!("text \"x\"\n{usage}finish Length\n"));
    assert_eq!(ends(incomplete("content_filter")), format!("text \"x\"\n{usage}finish Refusal\n"));
    assert_eq!(ends(json!({"type": "response.completed"})), "text \"x\"\nfinish Stop\n");
    assert_eq!(ends(json!({"type": "response.incomplete"})), "text \"x\"\nfinish Length\n");
    let refusal = json!({"type": "response.refusal.delta", "output_index": 0, "delta": "no"});
    assert_eq!(meaning(&events(&[refusal, completed(&[])])), format!("text \"no\"\n{usage}finish Refusal\n"));
}

#[test]
fn the_call_that_the_output_limit_struck_counts_as_cut_off() {
    let cut = |second: &[Value]| {
        let first = [
            added(0, &call(0, "f", "", "in_progress")),
            arguments(0, "{\"a\":1}"),
            done(0, &call(0, "f", "{\"a\":1}", "completed")),
        ];
        let mut all = first.to_vec();
        all.extend_from_slice(second);
        all.push(incomplete("max_output_tokens"));
        meaning(&events(&all))
    };
    let only_first =
        |rest: &str| format!("call_1 f {{\"a\":1}}\ncut g {rest}\nusage 6+4 9 5\nfinish Length\n");
    let begun = added(1, &call(1, "g", "", "in_progress"));
    assert_eq!(cut(&[begun.clone(), arguments(1, "{\"b\":")]), only_first("{\"b\":"));
    assert_eq!(cut(&[begun.clone(), arguments(1, "{}")]), only_first("{}"));
    assert_eq!(
        cut(&[begun.clone(), arguments(1, "{}"), done(1, &call(1, "g", "{}", "incomplete"))]),
        only_first("{}")
    );
    let mut untold = call(1, "g", "{}", "");
    untold.as_object_mut().unwrap().remove("status");
    assert_eq!(cut(&[begun.clone(), done(1, &untold)]), only_first("{}"));
    assert!(cut(&[begun, done(1, &call(1, "g", "{}", "completed"))]).contains("call_2 g {}"));
}

#[test]
fn items_are_found_by_place_id_or_kind() {
    let stream = |events: &[Value]| {
        let mut all = events.to_vec();
        all.push(completed(&[]));
        meaning(&self::events(&all))
            .lines()
            .filter(|line| line.starts_with("call"))
            .collect::<Vec<_>>()
            .join("; ")
    };
    // Interleaved, by place.
    let both = [
        added(0, &call(0, "f", "", "")),
        added(1, &call(1, "g", "", "")),
        arguments(0, "{\"a\":"),
        arguments(1, "{\"b\":"),
        arguments(0, "1}"),
        arguments(1, "2}"),
    ];
    assert_eq!(stream(&both), "call_1 f {\"a\":1}; call_2 g {\"b\":2}");
    // By id alone.
    let no_place = |event: &Value| {
        let mut event = event.clone();
        event.as_object_mut().unwrap().remove("output_index");
        event
    };
    assert_eq!(
        stream(&both.iter().map(no_place).collect::<Vec<_>>()),
        "call_1 f {\"a\":1}; call_2 g {\"b\":2}"
    );
    // With another id in every event.
    let odd_ids = both.iter().enumerate().map(|(at, event)| {
        let mut event = event.clone();
        event["item_id"] = json!(format!("x{at}"));
        if event["item"].is_object() {
            event["item"]["id"] = json!(format!("y{at}"));
        }
        event
    });
    assert_eq!(stream(&odd_ids.collect::<Vec<_>>()), "call_1 f {\"a\":1}; call_2 g {\"b\":2}");
    // With neither.
    let bare = [
        json!({"type": "response.output_item.added", "item": {"type": "function_call", "name": "f"}}),
        json!({"type": "response.function_call_arguments.delta", "delta": "{\"a\":1}"}),
        json!({"type": "response.output_item.done", "item": {"type": "function_call", "name": "f", "arguments": "{\"a\":1}"}}),
        json!({"type": "response.output_item.added", "item": {"type": "function_call", "name": "g"}}),
        json!({"type": "response.function_call_arguments.delta", "delta": "{}"}),
    ];
    assert_eq!(stream(&bare), "call_1 f {\"a\":1}; call_2 g {}");
}

#[test]
fn what_comes_only_at_the_end_is_taken_and_what_came_in_pieces_is_not_repeated() {
    let output = [reasoning(), message("hello"), call(2, "f", "{}", "completed")];
    assert_snapshot!(meaning(&events(&[begin(), completed(&output)])), @r#"
    thought "hm\n\nso"
    text "hello"
    kept {"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":"hm"},{"type":"summary_text","text":"so"}],"encrypted_content":"gAAA"}
    call_1 f {}
    usage 6+4 9 5
    finish Stop
    "#);
    // The server counts hidden items in its events and not in its list.
    let shifted = [begin(), text(4, "hello"), completed(&output[1..])];
    assert_snapshot!(meaning(&events(&shifted)), @r#"
    text "hello"
    call_1 f {}
    usage 6+4 9 5
    finish Stop
    "#);
    let rest = [begin(), text(1, "hel"), done(1, &message("hello")), completed(&[])];
    assert_snapshot!(meaning(&events(&rest)), @r#"
    text "hello"
    usage 6+4 9 5
    finish Stop
    "#);
}

#[test]
fn halves_of_a_character_meet_across_pieces() {
    let stream = events(&[text(0, "aHIGH"), text(0, "LOWb"), done(0, &message("aHIGHLOWb")), completed(&[])]);
    let cut = stream.replace("HIGH", r"\ud83e").replace("LOW", r"\udd80");
    assert!(meaning(&cut).starts_with("text \"a🦀b\"\n"), "{}", meaning(&cut));
}

#[test]
fn arguments_that_are_none_reach_whoever_runs_calls() {
    let stream = events(&[
        done(0, &call(0, "f", "{\"a\":", "completed")),
        done(1, &call(1, "g", "", "completed")),
        completed(&[]),
    ]);
    assert_snapshot!(meaning(&stream), @r#"
    call_1 f {"a":
    call_2 g {}
    usage 6+4 9 5
    finish Stop
    "#);
}

#[test]
fn errors_inside_a_successful_answer_are_errors() {
    let failed = |code: &str| {
        let error = json!({"code": code, "message": "it broke"});
        json!({"type": "response.failed", "response": {"status": "failed", "error": error, "output": []}})
    };
    assert_snapshot!(meaning(&events(&[begin(), failed("server_error")])), @"error a: the server reported: it broke (transient)");
    assert_snapshot!(meaning(&events(&[text(0, "half"), failed("invalid_prompt")])), @r#"
    text "half"
    error a: the server reported: it broke
    "#);
    let flat = json!({"type": "error", "code": "rate_limit_exceeded", "message": "slow down", "param": null});
    assert_snapshot!(meaning(&events(&[flat])), @"error a: the server reported: slow down (transient)");
    assert_snapshot!(meaning("data: {\"error\":{\"message\":\"no\",\"code\":400}}\n\n"), @"error a: the server reported: no");
    assert_snapshot!(meaning("event: error\ndata: gone\n\n"), @"error a: the server reported: gone");
}

#[test]
fn an_answer_that_breaks_off_is_no_success() {
    let stream = rich();
    let upto = |mark: &str| &stream[..stream.find(mark).unwrap()];
    assert_snapshot!(meaning(upto("event: response.output_text.done")), @r#"
    thought "hm\n\nso"
    text "Hello 那个🦀é"
    error a: the answer broke off: the connection ended before the response did (transient)
    "#);
    assert_snapshot!(meaning(upto("event: response.completed")), @r#"
    thought "hm\n\nso"
    text "Hello 那个🦀é"
    error a: the answer broke off: the connection ended within a tool call (transient)
    "#);
    assert_snapshot!(meaning(&upto("event: response.completed")[..200]), @"error a: the answer broke off: the connection ended within an event (transient)");
    assert_snapshot!(meaning(""), @"error a: the answer broke off: the connection ended before the response did (transient)");
    let done = format!("{}data: [DONE]\n\n", upto("event: response.completed"));
    assert!(meaning(&done).ends_with("finish Stop\n"));
}

#[test]
fn an_answer_that_is_no_stream_is_read_whole() {
    let output = [reasoning(), message("hello"), call(2, "f", "{\"a\":1}", "completed")];
    let body = completed(&output)["response"].to_string();
    assert_snapshot!(meaning(&body), @r#"
    thought "hm\n\nso"
    text "hello"
    kept {"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":"hm"},{"type":"summary_text","text":"so"}],"encrypted_content":"gAAA"}
    call_1 f {"a":1}
    usage 6+4 9 5
    finish Stop
    "#);
    assert_snapshot!(meaning(&body[..60]), @"error a: the answer broke off: half a JSON object (transient)");
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
