//! Finds what comes inside the text however it is cut into pieces: reasoning (`<think>…</think>` and its kin)
//! and, by way of `text_calls`, tool calls. Holds back nothing but what may yet turn out to be one of them.
//! Knows nothing of JSON or HTTP.
//!
//! Marks of reasoning count only at the start of a line, and none counts in code, so that an answer *about*
//! such marks stays text.

use std::sync::Arc;

use super::text_calls::{self, TextCall, Verdict};
use crate::provider::ToolSchema;

/// A stretch of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Segment {
    /// For the user.
    Text(String),
    /// Reasoning.
    Thought(String),
    /// A tool call.
    Call(TextCall),
}

/// What begins a stretch of reasoning and the marks that can end it.
const THOUGHTS: &[(&str, &[&str])] = &[
    ("<think>", &["</think>"]),
    ("<thinking>", &["</thinking>"]),
    ("[THINK]", &["[/THINK]"]),
    ("<|channel|>analysis<|message|>", &["<|end|>", "<|return|>", "<|channel|>final<|message|>"]),
];

/// Marks of the "harmony" format that say nothing to a user.
const SILENT: &[&str] = &[
    "<|start|>assistant",
    "<|channel|>final<|message|>",
    "<|channel|>commentary<|message|>",
    "<|end|>",
    "<|return|>",
];

const FENCE: &str = "```";

/// Tells text from reasoning.
#[derive(Debug, Default)]
pub(super) struct Inline {
    /// The tools whose calls are looked for.
    tools: Arc<[ToolSchema]>,
    /// What may be the start of a marker or of a call.
    held: String,
    /// How much of it was looked at in vain.
    seen: usize,
    /// The marks that end the reasoning we are in.
    closers: Option<&'static [&'static str]>,
    /// Blanks before the first word; shown only if a word follows.
    blanks: String,
    line: Line,
    in_fence: bool,
    said: Said,
}

/// What the current line holds so far.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Line {
    #[default]
    Blank,
    Written,
    /// Words, the last of them between backticks.
    Code,
}

/// What the answer holds so far.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Said {
    #[default]
    Nothing,
    Thought,
    Text,
}

/// What a marker position turned out to be.
enum Found {
    Thought(usize, &'static [&'static str]),
    Silent(usize),
    Fence,
    Undecided,
    Nothing,
}

impl Inline {
    /// Looks for calls of `tools`; for none when there are none.
    pub(super) fn new(tools: Arc<[ToolSchema]>) -> Self {
        Self { tools, ..Self::default() }
    }

    /// Takes more of the answer and appends what is certain.
    pub(super) fn push(&mut self, piece: &str, out: &mut Vec<Segment>) {
        if self.held.is_empty() {
            let left = self.advance(piece, out);
            piece[piece.len() - left..].clone_into(&mut self.held);
            return;
        }
        let mut input = std::mem::take(&mut self.held);
        self.seen = input.len();
        input.push_str(piece);
        let left = self.advance(&input, out);
        input.drain(..input.len() - left);
        self.held = input;
    }

    /// Ends the answer: what was held back is what it looks like. With `cut`, a call that was not closed is
    /// left out.
    pub(super) fn end(&mut self, cut: bool, out: &mut Vec<Segment>) {
        let held = std::mem::take(&mut self.held);
        let calls =
            if cut { None } else { text_calls::conclude(&held, self.said != Said::Text, &self.tools) };
        match calls {
            _ if self.closers.is_some() => think(&held, out),
            Some(calls) => out.extend(calls.into_iter().map(Segment::Call)),
            None if cut && text_calls::is_opened(&held) => {}
            None => self.show(&held, out),
        }
        self.blanks.clear();
    }

    /// Consumes `input` but for the returned number of bytes at its end.
    fn advance(&mut self, input: &str, out: &mut Vec<Segment>) -> usize {
        let mut rest = input;
        while !rest.is_empty() {
            let step = match self.closers {
                Some(closers) => self.think_on(closers, rest, out),
                None => self.write_on(rest, out),
            };
            match step {
                Some(used) => {
                    rest = &rest[used..];
                    self.seen = 0;
                }
                None => return self.undecided(rest, out),
            }
        }
        0
    }

    /// Passes on what precedes an undecided marker; returns the marker's length.
    fn undecided(&mut self, rest: &str, out: &mut Vec<Segment>) -> usize {
        let at = match self.closers {
            Some(closers) => rest.len() - partial_suffix(rest, closers),
            None => 0,
        };
        think(&rest[..at], out);
        rest.len() - at
    }

    /// One step within reasoning; `None` when only a possible end mark is left.
    fn think_on(
        &mut self,
        closers: &'static [&'static str],
        rest: &str,
        out: &mut Vec<Segment>,
    ) -> Option<usize> {
        let end = closers.iter().filter_map(|mark| rest.find(mark).map(|at| (at, mark.len()))).min();
        if let Some((at, length)) = end {
            think(&rest[..at], out);
            self.closers = None;
            self.line = Line::Blank;
            return Some(at + length);
        }
        if partial_suffix(rest, closers) > 0 {
            return None;
        }
        think(rest, out);
        Some(rest.len())
    }

    /// One step within text; `None` when what is left may be a marker.
    fn write_on(&mut self, rest: &str, out: &mut Vec<Segment>) -> Option<usize> {
        if self.line == Line::Blank {
            let indent = rest.len() - rest.trim_start().len();
            if indent > 0 {
                self.show(&rest[..indent], out);
                return Some(indent);
            }
            let may_open = self.said != Said::Text && !self.in_fence && rest.starts_with(['`', '{']);
            if may_open && !self.tools.is_empty() {
                match text_calls::examine(rest, true, self.seen, &self.tools) {
                    Verdict::Undecided => return None,
                    Verdict::Calls(length, calls) => {
                        out.extend(calls.into_iter().map(Segment::Call));
                        return Some(length);
                    }
                    Verdict::Text(_) => {}
                }
            }
            match self.look(rest) {
                Found::Thought(length, closers) => {
                    self.closers = Some(closers);
                    if self.said == Said::Nothing {
                        self.said = Said::Thought;
                    }
                    self.blanks.clear();
                    return Some(length);
                }
                Found::Silent(length) => {
                    self.blanks.clear();
                    return Some(length);
                }
                Found::Fence => {
                    self.in_fence = !self.in_fence;
                    self.show(FENCE, out);
                    return Some(FENCE.len());
                }
                Found::Undecided => return None,
                Found::Nothing => {}
            }
        }
        self.write_line(rest, out)
    }

    /// The rest of a line, up to where a call may start.
    fn write_line(&mut self, rest: &str, out: &mut Vec<Segment>) -> Option<usize> {
        let line = rest.find('\n').map_or(rest.len(), |at| at + 1);
        let length = match self.next_mark(&rest[..line]) {
            None => line,
            Some(0) => match text_calls::examine(rest, false, self.seen, &self.tools) {
                Verdict::Undecided => return None,
                Verdict::Text(length) => length,
                Verdict::Calls(length, calls) => {
                    out.extend(calls.into_iter().map(Segment::Call));
                    return Some(length);
                }
            },
            Some(at) => at,
        };
        self.show(&rest[..length], out);
        Some(length)
    }

    /// Where in `line` a call may start.
    fn next_mark(&self, line: &str) -> Option<usize> {
        if self.in_fence || self.tools.is_empty() {
            return None;
        }
        let mut in_code = self.line == Line::Code;
        line.bytes().position(|byte| {
            in_code ^= byte == b'`';
            !in_code && matches!(byte, b'<' | b'[')
        })
    }

    fn look(&self, rest: &str) -> Found {
        if rest.starts_with(FENCE) {
            return Found::Fence;
        }
        if FENCE.starts_with(rest) {
            return Found::Undecided;
        }
        if self.in_fence || !rest.starts_with(['<', '[']) {
            return Found::Nothing;
        }
        for (mark, closers) in THOUGHTS {
            if rest.starts_with(mark) {
                return Found::Thought(mark.len(), closers);
            }
        }
        if let Some(mark) = SILENT.iter().find(|mark| rest.starts_with(**mark)) {
            return Found::Silent(mark.len());
        }
        let mut marks = THOUGHTS.iter().map(|(mark, _)| mark).chain(SILENT);
        if marks.any(|mark| mark.starts_with(rest)) { Found::Undecided } else { Found::Nothing }
    }

    fn show(&mut self, text: &str, out: &mut Vec<Segment>) {
        let Some(last) = text.rsplit('\n').next().filter(|_| !text.is_empty()) else { return };
        if !last.trim().is_empty() {
            let was_code = last.len() == text.len() && self.line == Line::Code;
            let is_odd = last.bytes().filter(|byte| *byte == b'`').count() % 2 == 1;
            self.line = if was_code ^ is_odd { Line::Code } else { Line::Written };
        } else if last.len() < text.len() {
            self.line = Line::Blank;
        }
        if self.said != Said::Text && text.trim().is_empty() {
            self.blanks.push_str(text);
            return;
        }
        let blanks = std::mem::take(&mut self.blanks);
        // The empty lines after reasoning belong to neither.
        let kept =
            if self.said == Said::Thought { blanks.rsplit('\n').next().unwrap_or_default() } else { &blanks };
        self.said = Said::Text;
        for part in [kept, text] {
            match out.last_mut() {
                Some(Segment::Text(shown)) => shown.push_str(part),
                _ if part.is_empty() => {}
                _ => out.push(Segment::Text(part.to_owned())),
            }
        }
    }
}

fn think(text: &str, out: &mut Vec<Segment>) {
    match out.last_mut() {
        Some(Segment::Thought(thought)) => thought.push_str(text),
        _ if text.is_empty() => {}
        _ => out.push(Segment::Thought(text.to_owned())),
    }
}

/// The length of the longest end of `text` that begins one of `marks`.
fn partial_suffix(text: &str, marks: &[&str]) -> usize {
    let longest = marks.iter().map(|mark| mark.len() - 1).max().unwrap_or(0).min(text.len());
    (1..=longest)
        .rev()
        .find(|length| {
            let at = text.len() - length;
            text.is_char_boundary(at) && marks.iter().any(|mark| mark.starts_with(&text[at..]))
        })
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
            "```xml\n<tool_call>{\"name\":\"read\",\"arguments\":{\"path\":\"x\"}}</tool_call>\n```",
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
}
