//! Reasoning and calls within text, whole and in single characters.

use std::sync::Arc;

use serde_json::json;

use super::inline::{Inline, Segment};
use crate::provider::ToolSchema;

fn read(pieces: &[&str]) -> Vec<(char, String)> {
    let mut inline = Inline::new(tools());
    let mut all: Vec<Segment> = Vec::new();
    for piece in pieces {
        inline.push(piece, &mut all);
    }
    inline.end(false, &mut all);
    all.into_iter()
        .map(|segment| match segment {
            Segment::Text(text) => ('a', text),
            Segment::Thought(text) => ('t', text),
            Segment::Call((name, arguments)) => ('c', format!("{name} {arguments}")),
        })
        .collect()
}

fn tools() -> Arc<[ToolSchema]> {
    let parameters = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let tool = |name: &str| ToolSchema {
        name: name.to_owned(),
        description: String::new(),
        parameters: parameters.clone(),
    };
    [tool("read"), tool("write")].into()
}

fn check(stream: &str, expected: &[(char, &str)]) {
    let expected: Vec<_> = expected.iter().map(|(kind, text)| (*kind, (*text).to_owned())).collect();
    assert_eq!(read(&[stream]), expected, "whole {stream:?}");
    let single: Vec<String> = stream.chars().map(String::from).collect();
    let single: Vec<&str> = single.iter().map(String::as_str).collect();
    assert_eq!(read(&single), expected, "characters of {stream:?}");
}

#[test]
fn reasoning_is_told_from_text() {
    check("<think>hm é</think>\n\nHi", &[('t', "hm é"), ('a', "Hi")]);
    check("\n <think>\nhm\n</think>Hi", &[('t', "\nhm\n"), ('a', "Hi")]);
    check("<thinking>a</thinking>b", &[('t', "a"), ('a', "b")]);
    check("[THINK]a[/THINK]b", &[('t', "a"), ('a', "b")]);
    check("<think></think>Hi", &[('a', "Hi")]);
    check("<think>a < b </thin </think>c", &[('t', "a < b </thin "), ('a', "c")]);
    check("<think>never closed </th", &[('t', "never closed </th")]);
    check("Hi\n<think>a</think>b", &[('a', "Hi\n"), ('t', "a"), ('a', "b")]);
    check(
        "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b",
        &[('t', "a"), ('a', "b")],
    );
}

#[test]
fn text_about_markers_stays_text() {
    for text in [
        "Use `<think>` here",
        "a <think>b</think>",
        "```\n<think>x</think>\n```\n",
        "<thinker>",
        "<thi",
        "[TH",
        "x\n``",
        "1 < 2 [3]",
        "  indented",
    ] {
        check(text, &[('a', text)]);
    }
}

#[test]
fn calls_in_text_are_found_in_every_format() {
    let one = ('c', r#"read {"path":"x"}"#);
    for call in [
        r#"<tool_call>{"name":"read","arguments":{"path":"x"}}</tool_call>"#,
        r#"<tool_call> {"name":"read","arguments":"{\"path\":\"x\"}"} </tool_call>"#,
        r#"<tool_call>{"type":"function","function":{"name":"read","parameters":{"path":"x"}}}"#,
        "<tool_call>\n<function=read>\n<parameter=path>\nx\n</parameter>\n</function>\n</tool_call>",
        "<function=read><parameter=path>x</parameter></function>",
        r#"<tools>{"name":"read","arguments":{"path":"x"}}</tools>"#,
        "<|tool_call>call:read{path:<|\"|>x<|\"|>}<tool_call|>",
        r#"[TOOL_CALLS][{"name":"read","arguments":{"path":"x"}}]"#,
        r#"[TOOL_CALLS]read[ARGS]{"path":"x"}"#,
        "```json\n{\"name\": \"read\", \"arguments\": {\"path\": \"x\"}}\n```\n",
        "```xml\n{\"name\":\"read\",\"arguments\":{\"path\":\"x\"}}\n```",
        r#"{"name": "read", "arguments": {"path": "x"}}"#,
    ] {
        check(call, &[one]);
        check(&format!("<think>a</think>\n{call}"), &[('t', "a"), one]);
        if !call.starts_with(['`', '{']) {
            check(&format!("I look: {call}"), &[('a', "I look: "), one]);
        }
    }
    check(
        "<function=write><parameter=n>7</parameter><parameter=text>7</parameter></function>",
        &[('c', r#"write {"n":7,"text":"7"}"#)],
    );
    check(
        "<|tool_call>call:write{n:7,ok:true,list:[1,2],of:{a:<|\"|>b: {c}<|\"|>}}<tool_call|>",
        &[('c', r#"write {"n":7,"ok":true,"list":[1,2],"of":{"a":"b: {c}"}}"#)],
    );
    check(
        r#"<tool_call>{"name":"read","arguments":{"a":[1]}}</tool_call><tool_call>{"name":"write"}</tool_call>"#,
        &[('c', r#"read {"a":[1]}"#), ('c', "write {}")],
    );
    check(r#"[TOOL_CALLS][{"name":"read"},{"name":"write"}]"#, &[('c', "read {}"), ('c', "write {}")]);
}

#[test]
fn what_only_looks_like_a_call_stays_text() {
    for text in [
        "```\n<tool_call>{\"name\":\"read\",\"arguments\":{}}</tool_call>\n```\n",
        "Like this:\n```json\n{\"name\": \"read\", \"arguments\": {}}\n```\n",
        "```json\n{\"name\": \"read\", \"arguments\": {}}\n```\nThat is how.",
        "```json\n{\"name\": \"Ann\"}\n```",
        "{\"name\": \"read\"} is JSON",
        "{\"name\": \"Ann\"}",
        "Write `<tool_call>{\"name\":\"read\"}</tool_call>` then",
        "<tool_call>{\"name\":\"unknown\",\"arguments\":{}}</tool_call>",
        "<tool_call>{\"name\":\"read\",\"arguments\":[]}</tool_call>",
        "<tool_call>{not json}</tool_call> and on",
        "the <tool_call> tag",
        "<tool_call>{\"name\":\"read\"",
        "[TOOL_CALLS] is a marker",
        "a[0] < b[1]",
        "{}",
        "{ \"na",
    ] {
        check(text, &[('a', text)]);
    }
}

#[test]
fn text_is_not_held_for_calls_that_cannot_come() {
    for (text, shown) in [
        ("{\"name\": \"Ann", "{\"name\": \"Ann"),
        ("```json\n{\"a", "```json\n{\"a"),
        ("a <tool_call>x", "a <tool_call>x"),
        ("a <table", "a <table"),
        ("a <tool_ca", "a "),
    ] {
        let mut inline = Inline::new(tools());
        let mut out = Vec::new();
        inline.push(text, &mut out);
        assert_eq!(out, [Segment::Text(shown.to_owned())], "{text}");
    }
}

#[test]
fn a_call_cut_by_the_limit_is_left_out() {
    let mut inline = Inline::new(tools());
    let mut out = Vec::new();
    inline.push("ok <tool_call>{\"name\":\"read\"}", &mut out);
    inline.end(true, &mut out);
    assert_eq!(out, [Segment::Text("ok ".to_owned())]);
}

#[test]
fn without_tools_no_calls_are_looked_for() {
    let text = "<tool_call>{\"name\":\"read\"}</tool_call>";
    let mut inline = Inline::default();
    let mut out = Vec::new();
    inline.push(text, &mut out);
    assert_eq!(out, [Segment::Text(text.to_owned())]);
}

#[test]
fn blanks_alone_are_no_text() {
    check("\n\n  ", &[]);
    check("<think>a</think>\n\n", &[('t', "a")]);
}

#[test]
fn only_a_possible_marker_is_held_back() {
    let mut inline = Inline::default();
    let mut out = Vec::new();
    inline.push("Hello\n<th", &mut out);
    assert_eq!(out, [Segment::Text("Hello\n".to_owned())]);
    inline.push("e end", &mut out);
    assert_eq!(out, [Segment::Text("Hello\n<the end".to_owned())]);
}
