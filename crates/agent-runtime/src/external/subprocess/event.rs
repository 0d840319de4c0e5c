//! What a program says, one JSON object a line. Lenient about the names of members, since anyone may have written it.

use serde_json::{Map, Value};
use session_model::TokenUsage;

/// One event.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Told {
    /// It has begun.
    System,
    /// More of its answer.
    Text(String),
    /// It does something: why, and the code it runs.
    Step { number: Option<u64>, thought: String, code: String },
    /// What that gave.
    Observation { text: String, failed: bool },
    /// Its answer, whole.
    Final(String),
    /// It has changed a file.
    Edit(Edit),
    /// It has ended.
    End(End),
    /// Something else; its type.
    Unknown(String),
}

/// A changed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) path: String,
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
    /// The change in words, where the texts are not told.
    pub(super) diff: String,
}

/// How it ended.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct End {
    pub(super) failed: bool,
    pub(super) text: String,
    pub(super) stop: String,
    pub(super) usage: Option<TokenUsage>,
    pub(super) dollars: Option<f64>,
}

/// Reads a line; `None` where it is no event but noise.
pub(super) fn read(line: &str) -> Option<Told> {
    let Ok(Value::Object(event)) = serde_json::from_str(line.trim()) else { return None };
    let kind = event.get("type")?.as_str()?;
    Some(match kind {
        "system" => Told::System,
        "text_delta" => Told::Text(text(&event, &["text", "delta", "content"])),
        "step" => Told::Step {
            number: event.get("number").or_else(|| event.get("step")).and_then(Value::as_u64),
            thought: text(&event, &["thought"]),
            code: text(&event, &["code"]),
        },
        "observation" => {
            let error = text(&event, &["error"]);
            let failed = !error.is_empty() || is_set(&event, "is_error");
            let text = text(&event, &["text", "content", "output", "observation"]);
            Told::Observation { text: if text.is_empty() { error } else { text }, failed }
        }
        "final_answer" => Told::Final(text(&event, &["text", "answer", "content", "output"])),
        "edit" => Told::Edit(Edit {
            path: text(&event, &["path", "file"]),
            before: optional(&event, &["before", "old_text", "old"]),
            after: optional(&event, &["after", "new_text", "new"]),
            diff: text(&event, &["diff"]),
        }),
        "result" => Told::End(end(&event)),
        other => Told::Unknown(other.chars().take(60).collect()),
    })
}

fn end(event: &Map<String, Value>) -> End {
    let error = text(event, &["error"]);
    let failed = is_set(event, "is_error") || !error.is_empty();
    End {
        failed,
        text: if failed && !error.is_empty() { error } else { text(event, &["text", "result", "message"]) },
        stop: text(event, &["stop", "stop_reason"]),
        usage: event.get("usage").and_then(usage),
        dollars: event.get("total_cost_usd").and_then(Value::as_f64).filter(|cost| *cost > 0.0),
    }
}

fn usage(usage: &Value) -> Option<TokenUsage> {
    let count = |names: [&str; 2]| names.iter().find_map(|name| usage.get(*name)?.as_u64()).unwrap_or(0);
    let tokens = TokenUsage {
        input: count(["input_tokens", "prompt_tokens"]),
        output: count(["output_tokens", "completion_tokens"]),
        cached: count(["cache_read_input_tokens", "cached_tokens"]),
        thought: 0,
        written: count(["cache_creation_input_tokens", "cache_write_tokens"]),
    };
    (tokens.total() > 0).then_some(tokens)
}

fn is_set(event: &Map<String, Value>, name: &str) -> bool {
    event.get(name).and_then(Value::as_bool).unwrap_or(false)
}

/// The first of these members that says something; what is no text is shown as it is.
fn text(event: &Map<String, Value>, names: &[&str]) -> String {
    optional(event, names).unwrap_or_default()
}

fn optional(event: &Map<String, Value>, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| match event.get(*name)? {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            Some(other.to_string())
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_by_any_of_their_members_names() {
        let text = |text: &str| text.to_owned();
        let step = |number, thought: &str, code: &str| Told::Step {
            number,
            thought: text(thought),
            code: text(code),
        };
        let tokens = TokenUsage { input: 3, output: 2, ..TokenUsage::default() };
        let rows = [
            (r#"{"type":"system","session_id":"x"}"#, Told::System),
            (r#"{"type":"text_delta","text":"a"}"#, Told::Text(text("a"))),
            (r#" {"type":"text_delta","delta":"a"} "#, Told::Text(text("a"))),
            (r#"{"type":"step","number":1,"thought":"t","code":"c"}"#, step(Some(1), "t", "c")),
            (r#"{"type":"step","code":null}"#, step(None, "", "")),
            (r#"{"type":"observation","text":"o"}"#, Told::Observation { text: text("o"), failed: false }),
            (r#"{"type":"observation","error":"e"}"#, Told::Observation { text: text("e"), failed: true }),
            (r#"{"type":"final_answer","answer":{"a":1}}"#, Told::Final(text(r#"{"a":1}"#))),
            (
                r#"{"type":"result","usage":{"prompt_tokens":3,"completion_tokens":2}}"#,
                Told::End(End { usage: Some(tokens), ..End::default() }),
            ),
            (
                r#"{"type":"result","error":"no key"}"#,
                Told::End(End { failed: true, text: text("no key"), ..End::default() }),
            ),
            (r#"{"type":"from_the_future"}"#, Told::Unknown(text("from_the_future"))),
        ];
        for (line, told) in rows {
            assert_eq!(read(line), Some(told), "{line}");
        }
        for noise in ["", "words", "[]", "3", "{}", r#"{"type":1}"#, "{\"type\":\"text_delta\""] {
            assert_eq!(read(noise), None, "{noise}");
        }
    }
}
