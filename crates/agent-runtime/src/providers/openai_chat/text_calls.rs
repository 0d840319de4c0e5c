//! Tool calls that a model wrote into its text, because its server did not take them out: Hermes and Qwen tags,
//! Gemma's and Mistral's markers, messages of channels, fenced or bare JSON. Pure functions over the text from a possible start on;
//! the answer is text unless it names a tool on offer.
//!
//! Tags count anywhere in prose. Fenced and bare JSON count only as the whole of an answer: within one they are
//! examples far more often than calls.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::marks::{self, Header};
use super::text_formats;
use crate::provider::ToolSchema;

/// The longest call in text.
const MAX_CALL: usize = 1024 * 1024;

/// A call's name and its arguments as a JSON object.
pub(super) type TextCall = (String, String);

/// What the text at a possible start is.
#[derive(Debug, PartialEq)]
pub(super) enum Verdict {
    /// More is needed to tell.
    Undecided,
    /// No call; so many bytes are text for certain.
    Text(usize),
    /// Calls, in so many bytes.
    Calls(usize, Vec<TextCall>),
}

/// Markers that enclose calls, with what may follow the opening one.
const TAGS: &[(&str, &str, &[&str])] = &[
    ("<|tool_call>", "<tool_call|>", &["call:"]),
    ("<tool_call>", "</tool_call>", &["{", "[", "<function="]),
    ("<tools>", "</tools>", &["{", "["]),
    ("<tool_calls>", "</tool_calls>", &["{", "["]),
    ("<|tool_call|>", "<|/tool_call|>", &["{", "["]),
    ("<|python_tag|>", "<|eom_id|>", &["{", "["]),
    ("<|START_ACTION|>", "<|END_ACTION|>", &["{", "["]),
    ("<seed:tool_call>", "</seed:tool_call>", &["<function="]),
    ("<minimax:tool_call>", "</minimax:tool_call>", &[text_formats::INVOKE]),
    ("<function_calls>", "</function_calls>", &[text_formats::INVOKE]),
    ("<｜DSML｜function_calls>", "</｜DSML｜function_calls>", &[text_formats::DSML_INVOKE]),
    ("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>", &[text_formats::KIMI]),
    ("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", &[text_formats::DEEPSEEK]),
    ("<function=", "</function>", &[]),
];

/// The marker after which the rest of an answer is calls.
const MISTRAL: &str = "[TOOL_CALLS]";

/// What opens a fence that may hold a call, as JSON.
const FENCES: &[&str] = &["```json\n", "```xml\n"];

/// Looks at `text`, which starts with a character that may start a call. `opens` tells that nothing but blanks
/// came before, `seen` how many bytes were looked at before without a verdict.
pub(super) fn examine(text: &str, opens: bool, seen: usize, tools: &[ToolSchema]) -> Verdict {
    if let Some((open, close, starts)) = TAGS.iter().find(|(open, ..)| text.starts_with(open)) {
        return examine_tag(text, (open, close, starts), seen, tools);
    }
    if text.starts_with(MISTRAL) {
        return bounded(text, MISTRAL.len());
    }
    match marks::header(text) {
        Some(Header::Whole { length, recipient: Some(name), .. }) => {
            return examine_message(text, length, name, tools);
        }
        Some(Header::Undecided) => return Verdict::Undecided,
        Some(Header::Whole { recipient: None, .. }) | None => {}
    }
    if opens {
        let fence = FENCES.iter().find(|fence| text.starts_with(**fence));
        if fence.is_some() || text.starts_with('{') {
            let skipped = fence.map_or(0, |fence| fence.len());
            return match lead(&text[skipped..], tools) {
                Some(true) => bounded(text, 1),
                Some(false) => Verdict::Undecided,
                None => Verdict::Text(fence.map_or(1, |_| 3)),
            };
        }
    }
    let mut marks = TAGS.iter().map(|(open, ..)| *open).chain([MISTRAL]);
    let is_partial =
        marks.any(|mark| mark.starts_with(text)) || (opens && FENCES.iter().any(|f| f.starts_with(text)));
    if is_partial { Verdict::Undecided } else { Verdict::Text(text.chars().next().map_or(0, char::len_utf8)) }
}

/// The calls in `text` at the end of an answer, if that is what it is.
pub(super) fn conclude(text: &str, opens: bool, tools: &[ToolSchema]) -> Option<Vec<TextCall>> {
    if let Some((open, ..)) = TAGS.iter().find(|(open, ..)| text.starts_with(open)) {
        return parse(if *open == "<function=" { text } else { &text[open.len()..] }, tools);
    }
    if let Some(rest) = text.strip_prefix(MISTRAL) {
        return mistral(rest, tools);
    }
    if let Some(Header::Whole { length, recipient: Some(name), .. }) = marks::header(text) {
        return message_call(&text[length..], name, tools).map(|call| vec![call]);
    }
    if !opens {
        return None;
    }
    let body = match FENCES.iter().find_map(|fence| text.strip_prefix(fence)) {
        Some(body) => body.trim_end().strip_suffix("```").unwrap_or(body),
        None => text,
    };
    // Tags in a fence are there to be read.
    if body.trim_start().starts_with('{') { parse(body, tools) } else { None }
}

/// Whether `text` is the start of a call that the answer's end cut off.
pub(super) fn is_opened(text: &str) -> bool {
    let is_message = matches!(marks::header(text), Some(Header::Whole { recipient: Some(_), .. }));
    is_message || text.starts_with(MISTRAL) || TAGS.iter().any(|(open, ..)| text.starts_with(open))
}

/// A message of a channel that is for the tool `name`; its header is so long.
fn examine_message(text: &str, header: usize, name: &str, tools: &[ToolSchema]) -> Verdict {
    if !tools.iter().any(|tool| tool.name == name) {
        return Verdict::Text(header);
    }
    let body = &text[header..];
    let Some((end, next)) = marks::message_end(body) else { return bounded(text, header) };
    let call = message_call(&body[..end], name, tools);
    call.map_or(Verdict::Text(header), |call| Verdict::Calls(header + next, vec![call]))
}

fn message_call(body: &str, name: &str, tools: &[ToolSchema]) -> Option<TextCall> {
    finished(name, &serde_json::from_str(body.trim()).ok()?, tools)
}

fn bounded(text: &str, least: usize) -> Verdict {
    if text.len() > MAX_CALL { Verdict::Text(least) } else { Verdict::Undecided }
}

fn examine_tag(text: &str, tag: (&str, &str, &[&str]), seen: usize, tools: &[ToolSchema]) -> Verdict {
    let (open, close, starts) = tag;
    let body = &text[open.len()..];
    let lead = body.trim_start();
    let may_start = |start: &str| lead.starts_with(start) || start.starts_with(lead);
    let named = || open == "<tool_call>" && tools.iter().any(|tool| may_start(&tool.name));
    if !starts.is_empty() && !starts.iter().any(|start| may_start(start)) && !named() {
        return Verdict::Text(open.len());
    }
    let mut from = seen.saturating_sub(open.len() + close.len());
    while !body.is_char_boundary(from.min(body.len())) {
        from -= 1;
    }
    let from = from.min(body.len());
    for (at, _) in body[from..].match_indices(close) {
        let end = open.len() + from + at + close.len();
        let inner = if open == "<function=" { &text[..end] } else { &body[..from + at] };
        if let Some(calls) = parse(inner, tools) {
            return Verdict::Calls(end, calls);
        }
        // What closes here may be part of an argument.
        if !ends_in_string(inner) {
            return Verdict::Text(open.len());
        }
    }
    bounded(text, open.len())
}

/// Whether `text` is JSON that stops within a string.
fn ends_in_string(text: &str) -> bool {
    let mut in_string = false;
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => in_string = !in_string,
            b'\\' if in_string => drop(bytes.next()),
            _ => {}
        }
    }
    in_string && text.trim_start().starts_with(['{', '['])
}

/// Whether `text` begins with the JSON of a call to a tool on offer: yes, not yet to be told, no.
fn lead(text: &str, tools: &[ToolSchema]) -> Option<bool> {
    let mut rest = text;
    for expected in ["{", "\"name\"", ":", "\""] {
        rest = rest.trim_start();
        match rest.strip_prefix(expected) {
            Some(after) => rest = after,
            None if expected.starts_with(rest) => return Some(false),
            None => return None,
        }
    }
    match rest.split_once('"') {
        Some((name, _)) => tools.iter().any(|tool| tool.name == name).then_some(true),
        None => tools.iter().any(|tool| tool.name.starts_with(rest)).then_some(false),
    }
}

/// The calls in `text`, which holds nothing else.
fn parse(text: &str, tools: &[ToolSchema]) -> Option<Vec<TextCall>> {
    let text = text.trim();
    if let Some(rest) = text.strip_prefix("call:") {
        return gemma(rest, tools).map(|call| vec![call]);
    }
    if let Some(calls) = text_formats::calls(text, tools) {
        return Some(calls);
    }
    if text.starts_with('<') {
        let inner =
            TAGS[..3].iter().find_map(|(open, close, _)| text.strip_prefix(open)?.strip_suffix(close));
        return match inner {
            Some(inner) => parse(inner, tools),
            None => functions(text, tools),
        };
    }
    let values = serde_json::Deserializer::from_str(text).into_iter::<Value>().collect::<Result<Vec<_>, _>>();
    let mut calls = Vec::new();
    for value in values.ok()? {
        let items = value.as_array().map_or(std::slice::from_ref(&value), Vec::as_slice);
        calls.extend(items.iter().map(|item| json_call(item, tools)).collect::<Option<Vec<_>>>()?);
    }
    Some(calls).filter(|calls| !calls.is_empty())
}

fn json_call(value: &Value, tools: &[ToolSchema]) -> Option<TextCall> {
    let call = value.get("function").filter(|function| function.is_object()).unwrap_or(value);
    let name = call.get("name").or_else(|| call.get("tool_name"))?.as_str()?;
    let arguments = ["arguments", "parameters", "args"].into_iter().find_map(|member| call.get(member));
    let arguments = match arguments {
        Some(Value::String(text)) => serde_json::from_str(text).ok()?,
        Some(value) => value.clone(),
        None => Value::Object(Map::new()),
    };
    finished(name, &arguments, tools)
}

pub(super) fn finished(name: &str, arguments: &Value, tools: &[ToolSchema]) -> Option<TextCall> {
    let is_offered = tools.iter().any(|tool| tool.name == name);
    (is_offered && arguments.is_object()).then(|| (name.to_owned(), arguments.to_string()))
}

/// `<function=name><parameter=key>value</parameter>…</function>`, or with a JSON object for the parameters, once or
/// several times.
fn functions(text: &str, tools: &[ToolSchema]) -> Option<Vec<TextCall>> {
    let mut calls = Vec::new();
    let mut rest = text;
    while !rest.trim().is_empty() {
        let (name, after) = rest.trim_start().strip_prefix("<function=")?.split_once('>')?;
        let (body, after) = after.split_once("</function>")?;
        let tool = tools.iter().find(|tool| tool.name == name.trim())?;
        if body.trim_start().starts_with('{') {
            calls.push(finished(&tool.name, &serde_json::from_str(body.trim()).ok()?, tools)?);
            rest = after;
            continue;
        }
        let mut arguments = Map::new();
        let mut fields = body;
        while !fields.trim().is_empty() {
            let (key, value) = fields.trim_start().strip_prefix("<parameter=")?.split_once('>')?;
            let (value, next) = value.split_once("</parameter>")?;
            let value = value.strip_prefix('\n').unwrap_or(value);
            let value = value.strip_suffix('\n').unwrap_or(value);
            arguments.insert(key.trim().to_owned(), typed(value, key.trim(), tool));
            fields = next;
        }
        calls.push(finished(&tool.name, &Value::Object(arguments), tools)?);
        rest = after;
    }
    Some(calls)
}

/// A value written without quotes, as the tool's schema has it.
pub(super) fn typed(value: &str, key: &str, tool: &ToolSchema) -> Value {
    let kind = tool.parameters.pointer(&format!("/properties/{key}/type")).and_then(Value::as_str);
    let text = || Value::String(value.to_owned());
    if kind.is_none_or(|kind| kind == "string") {
        text()
    } else {
        serde_json::from_str(value.trim()).unwrap_or_else(|_| text())
    }
}

/// `[{"name":…}]`, or `name[ARGS]{…}` (with an id between them or not) once or several times.
fn mistral(text: &str, tools: &[ToolSchema]) -> Option<Vec<TextCall>> {
    let text = text.trim();
    if text.starts_with(['[', '{']) {
        return parse(text, tools);
    }
    let calls = text.split(MISTRAL).map(|call| {
        let at = call.find('{')?;
        let name = call[..at].split('[').next().unwrap_or_default();
        finished(name.trim(), &serde_json::from_str(&call[at..]).ok()?, tools)
    });
    calls.collect()
}

/// `name{key:<|"|>text<|"|>,n:1}`: keys without quotes, texts between marks of their own.
fn gemma(text: &str, tools: &[ToolSchema]) -> Option<TextCall> {
    let (name, body) = text.split_at(text.find('{')?);
    let mut json = String::new();
    for (place, piece) in body.split("<|\"|>").enumerate() {
        if place % 2 == 1 {
            json.push_str(&Value::from(piece).to_string());
        } else {
            json.push_str(&quoted_words(piece));
        }
    }
    finished(name.trim(), &serde_json::from_str(&json).ok()?, tools)
}

/// `text` with words that are no JSON of their own in quotes.
fn quoted_words(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_alphabetic() || matches!(c, '_' | '"')) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(string) = rest.strip_prefix('"') {
            let end = string.find('"').map_or(rest.len(), |end| end + 2);
            out.push_str(&rest[..end]);
            rest = &rest[end..];
            continue;
        }
        let end = rest.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-')).unwrap_or(rest.len());
        let word = &rest[..end];
        let is_part_of_number = out.ends_with(|c: char| c.is_ascii_digit());
        if matches!(word, "true" | "false" | "null") || is_part_of_number {
            out.push_str(word);
        } else {
            out.push_str(&Value::from(word).to_string());
        }
        rest = &rest[end..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}
