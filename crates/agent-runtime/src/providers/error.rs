//! What went wrong with an answer, in words for the user: bounded, without keys, with the remedy where there is
//! one. Knows the shapes of error bodies, nothing of retries but whether one makes sense.

use std::time::Duration;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::numbers::whole;
use crate::provider::ProviderError;

/// The most characters of a server's message that are passed on.
const MAX_MESSAGE: usize = 600;

/// The most characters shown of bytes that could not be read.
const MAX_EXCERPT: usize = 120;

/// An error, and whether asking again may help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What is told.
    pub error: ProviderError,
    /// Whether the same request may succeed a little later.
    pub is_transient: bool,
    /// How long the server wants to be left alone.
    pub retry_after: Option<Duration>,
}

impl Failure {
    pub(super) fn lasting(error: ProviderError) -> Self {
        Self { error, is_transient: false, retry_after: None }
    }
}

/// Whether a status means "later". A used-up quota and a model that does not load stay what they are.
pub(super) fn is_transient(status: u16, message: &str) -> bool {
    let message = message.to_lowercase();
    let stays = ["failed to load", "context size", "context length"];
    let is_lasting = is_used_up(&message) || stays.iter().any(|words| message.contains(words));
    // A call that the model garbled; another try may come out well.
    let is_garbled = status == 400 && message.contains("failed to call a function");
    (is_garbled || matches!(status, 408 | 425 | 429 | 500 | 502..=504 | 520..=524 | 529)) && !is_lasting
}

/// What helps beside the server's own words, to be put behind them.
pub(super) fn remedy(status: u16, message: &str) -> &'static str {
    let message = message.to_lowercase();
    if status == 402 || (status == 429 && is_used_up(&message)) {
        return "; the account has no credit or quota left for this: check its plan, or use another agent";
    }
    ""
}

fn is_used_up(message: &str) -> bool {
    ["quota", "billing", "credit", "insufficient balance", "insufficient funds"]
        .iter()
        .any(|words| message.contains(words))
}

/// Whether an `error` member says anything; some servers send it as null in every chunk.
pub(super) fn is_said(raw: &RawValue) -> bool {
    !matches!(raw.get(), "null" | "false" | "\"\"" | "{}" | "[]")
}

/// An error object inside a successful answer.
pub(super) fn reported(agent: &str, raw: &RawValue) -> Failure {
    reported_value(agent, &serde_json::from_str(raw.get()).unwrap_or_default())
}

/// The same, read already.
pub(super) fn reported_value(agent: &str, value: &Value) -> Failure {
    let code = ["code", "status", "status_code"].into_iter().find_map(|member| whole(value.get(member)?));
    let word =
        ["type", "code"].into_iter().filter_map(|member| value.get(member)?.as_str()).find_map(status_of);
    let message = message_in(value).unwrap_or_else(|| bounded(&value.to_string(), MAX_MESSAGE));
    let status = code.and_then(|code| u16::try_from(code).ok()).or(word);
    let is_transient = status.is_some_and(|status| is_transient(status, &message));
    Failure {
        error: ProviderError::Reported { agent: agent.to_owned(), message },
        is_transient,
        retry_after: None,
    }
}

/// The status that an error's word stands for, as far as it means "later".
fn status_of(word: &str) -> Option<u16> {
    match word {
        "rate_limit_error" | "rate_limit_exceeded" => Some(429),
        "api_error" | "server_error" | "internal_server_error" | "tool_use_failed" => Some(500),
        "overloaded_error" => Some(529),
        "timeout_error" => Some(504),
        _ => None,
    }
}

/// An error that came as text.
pub(super) fn reported_text(agent: &str, text: &[u8]) -> Failure {
    let message = message_of(text);
    Failure::lasting(ProviderError::Reported { agent: agent.to_owned(), message })
}

/// An answer that broke off; before the first token it can be asked for again.
pub(super) fn truncated(agent: &str, reason: &str) -> Failure {
    let error = ProviderError::Truncated { agent: agent.to_owned(), reason: reason.to_owned() };
    Failure { error, is_transient: true, retry_after: None }
}

/// An answer that is not what the API promises.
pub(super) fn malformed(agent: &str, reason: &str) -> Failure {
    Failure::lasting(ProviderError::Malformed { agent: agent.to_owned(), reason: reason.to_owned() })
}

/// An event that could not be read: half of it, where the connection ended, or no JSON.
pub(super) fn unreadable(agent: &str, cause: &serde_json::Error, data: &[u8]) -> Failure {
    if cause.is_eof() {
        return truncated(agent, "the connection ended within an event");
    }
    malformed(agent, &format!("{cause} in {}", excerpt(data)))
}

/// The message in the body of an error: `OpenAI`'s object, `FastAPI`'s `detail`, a bare string, text or HTML.
pub(super) fn message_of(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let said = serde_json::from_str(&text).ok().and_then(|value: Value| message_in(&value));
    let said = said.unwrap_or_else(|| bounded(&without_tags(&text), MAX_MESSAGE));
    if said.is_empty() { "no further description".to_owned() } else { said }
}

fn message_in(value: &Value) -> Option<String> {
    let said = match value {
        Value::String(text) => Some(bounded(text, MAX_MESSAGE)),
        Value::Object(members) => {
            let inner = [
                "error",
                "errors",
                "message",
                "detail",
                "msg",
                "status_msg",
                "error_msg",
                "errorMessage",
                "Message",
                "title",
                "type",
                "code",
            ];
            let said = inner.into_iter().filter_map(|member| members.get(member)).find_map(message_in);
            said.map(|said| said + &about_length(members))
        }
        Value::Array(items) => {
            let said: Vec<String> = items.iter().take(3).filter_map(message_in).collect();
            Some(bounded(&said.join("; "), MAX_MESSAGE))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    };
    said.filter(|text| !text.is_empty())
}

/// What an error's other members say about a request that was too long, where its words may not.
fn about_length(members: &Map<String, Value>) -> String {
    const WORDS: &[&str] = &["context_length_exceeded", "exceed_context_size", "context_window_exceeded"];
    let word = |member: &&str| members.get(*member)?.as_str();
    let said = ["code", "type"].iter().filter_map(word);
    let word = said.into_iter().find(|said| WORDS.iter().any(|word| said.contains(word)));
    let count = |member| members.get(member).and_then(whole).map(|count| format!("{member}: {count}"));
    let told: Vec<String> =
        word.map(str::to_owned).into_iter().chain(count("n_prompt_tokens")).chain(count("n_ctx")).collect();
    if told.is_empty() { String::new() } else { format!(" ({})", told.join(", ")) }
}

/// The text of a page: without tags, scripts and runs of blanks.
fn without_tags(text: &str) -> String {
    if !text.trim_start().starts_with('<') {
        return text.to_owned();
    }
    let mut shown = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('<') {
        shown.push_str(&rest[..open]);
        shown.push(' ');
        let tag = &rest[open..];
        let closer = ["script", "style"].into_iter().find_map(|name| {
            tag[1..].get(..name.len())?.eq_ignore_ascii_case(name).then(|| format!("</{name}"))
        });
        let from = closer.and_then(|closer| tag.find(&closer)).unwrap_or(0);
        rest = tag[from..].find('>').map_or("", |end| &tag[from + end + 1..]);
    }
    shown.push_str(rest);
    shown
}

/// `bytes` for people: one line, short.
pub(super) fn excerpt(bytes: &[u8]) -> String {
    let shown = &bytes[..bytes.len().min(4 * MAX_EXCERPT)];
    format!("`{}`", bounded(&String::from_utf8_lossy(shown), MAX_EXCERPT))
}

/// `text` on one line, at most `most` characters.
pub(super) fn bounded(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn messages_are_found_in_every_shape_of_an_error() {
        let table = [
            (json!({"error": {"message": "no", "code": "x", "type": "y"}}), "no"),
            (json!({"error": "no"}), "no"),
            (json!({"detail": "no"}), "no"),
            (json!({"detail": [{"msg": "no"}, {"msg": "neither"}]}), "no; neither"),
            (json!({"errors": [{"message": "no", "code": 7}]}), "no"),
            (json!([{"error": {"code": 400, "message": "no", "status": "INVALID_ARGUMENT"}}]), "no"),
            (json!({"object": "error", "message": {"detail": "no"}}), "no"),
            (json!({"Message": "no"}), "no"),
            (json!({"error_msg": "no", "error_code": 17}), "no"),
            (json!("no"), "no"),
            (json!({"error": {"code": "no"}}), "no"),
            (json!({}), "{}"),
            (
                json!({"error": {"message": "too many", "code": "context_length_exceeded"}}),
                "too many (context_length_exceeded)",
            ),
            (
                json!({"error": {"code": 400, "message": "it is too long", "type": "exceed_context_size_error",
                    "n_prompt_tokens": 9012, "n_ctx": 8192}}),
                "it is too long (exceed_context_size_error, n_prompt_tokens: 9012, n_ctx: 8192)",
            ),
        ];
        for (body, expected) in table {
            assert_eq!(message_of(body.to_string().as_bytes()), expected, "{body}");
        }
    }

    #[test]
    fn what_passes_is_told_from_what_stays() {
        let table = [
            (429, "slow down", true),
            (429, "You exceeded your current quota", false),
            (400, "Failed to call a function. Please adjust your prompt.", true),
            (400, "no such model", false),
            (402, "Insufficient Balance", false),
            (500, "model failed to load", false),
            (500, "Context size has been exceeded.", false),
            (503, "busy", true),
            (522, "", true),
            (529, "Overloaded", true),
            (404, "busy", false),
        ];
        for (status, message, expected) in table {
            assert_eq!(is_transient(status, message), expected, "{status} {message}");
        }
    }
}
