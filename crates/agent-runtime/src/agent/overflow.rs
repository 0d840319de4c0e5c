//! Tells from a server's words that a request was too long for its model, and by how much. There is no common code for
//! it.

use crate::driver::TurnError;
use crate::provider::ProviderError;

/// How servers say it: llama.cpp, OpenAI and what imitates it, vLLM, LM Studio, Ollama, Anthropic, Bedrock, Gemini,
/// Mistral. Whole phrases, because the word "context" alone is in other errors too.
const PHRASES: &[&str] = &[
    "exceed_context_size",
    "exceeds the available context size",
    "context_length_exceeded",
    "maximum context length",
    "maximum model length",
    "context length exceeded",
    "context size has been exceeded",
    "exceeds the context length",
    "exceeds context length",
    "exceeds the context window",
    "exceeded the context window",
    "exceed context limit",
    "context window exceeded",
    "context overflow",
    "tokens to keep from the initial prompt",
    "loaded with context length of only",
    "prompt is too long",
    "input is too long",
    "prompt too long",
    "too many input tokens",
    "maximum number of tokens allowed",
    "reduce the length of the messages",
];

/// What stands right before the number of tokens that the model can hold.
const BEFORE_LIMIT: &[&str] = &[
    "available context size",
    "n_ctx",
    "maximum context length is",
    "maximum context length of",
    "maximum model length of",
    "context length of only",
    "maximum number of tokens allowed",
];
/// What stands right behind it.
const BEHIND_LIMIT: &[&str] = &["maximum context length", "maximum"];

/// What stands right before the number of tokens that the request had.
const BEFORE_SENT: &[&str] = &[
    "request (",
    "n_prompt_tokens",
    "you requested",
    "messages resulted in",
    "prompt is too long:",
    "prompt contains",
    "input token count",
];

/// Numbers outside of this are no size of a window.
const SENSIBLE: std::ops::RangeInclusive<u64> = 256..=100_000_000;

/// The status for a body that is too large.
const PAYLOAD_TOO_LARGE: u16 = 413;

/// A request that was too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Overflow {
    /// Tokens that the model can hold, where the server said so.
    pub(super) limit: Option<u64>,
    /// Tokens that the request had, where the server said so.
    pub(super) sent: Option<u64>,
}

/// What the server said of the request's length, when a shorter one might work.
pub(super) fn overflow(error: &TurnError) -> Option<Overflow> {
    let TurnError::Provider(error) = error else { return None };
    match error {
        ProviderError::Status { status: PAYLOAD_TOO_LARGE, message, .. } => {
            Some(counts(&message.to_lowercase()))
        }
        ProviderError::Status { message, .. } | ProviderError::Reported { message, .. } => {
            let message = message.to_lowercase();
            PHRASES.iter().any(|phrase| message.contains(phrase)).then(|| counts(&message))
        }
        ProviderError::Unreachable { .. }
        | ProviderError::Untrusted { .. }
        | ProviderError::Unauthorized { .. }
        | ProviderError::Truncated { .. }
        | ProviderError::Malformed { .. }
        | ProviderError::TimedOut { .. }
        | ProviderError::Misconfigured { .. } => None,
    }
}

fn counts(message: &str) -> Overflow {
    let sensible = |count: &u64| SENSIBLE.contains(count);
    let before =
        |phrases: &[&str]| phrases.iter().find_map(|phrase| number_after(message, phrase).filter(sensible));
    let limit = before(BEFORE_LIMIT)
        .or_else(|| BEHIND_LIMIT.iter().find_map(|phrase| number_before(message, phrase).filter(sensible)))
        .or_else(|| sum_limit(message).filter(sensible));
    let sent = before(BEFORE_SENT);
    // An error that contradicts itself was read wrongly.
    Overflow { limit, sent: sent.filter(|sent| limit.is_none_or(|limit| *sent >= limit / 2)) }
}

/// The number that follows `phrase`, with nothing but marks and the word "is" or "of" between them.
fn number_after(message: &str, phrase: &str) -> Option<u64> {
    message.match_indices(phrase).find_map(|(at, _)| {
        let rest = message[at + phrase.len()..].trim_start_matches(between);
        let rest = rest.strip_prefix("is").or_else(|| rest.strip_prefix("of")).unwrap_or(rest);
        number(rest.trim_start_matches(between))
    })
}

/// The number that ends right before `phrase`.
fn number_before(message: &str, phrase: &str) -> Option<u64> {
    message.match_indices(phrase).find_map(|(at, _)| {
        let text = message[..at].trim_end();
        let digits =
            text.len() - text.trim_end_matches(|c: char| c.is_ascii_digit() || c == ',' || c == '_').len();
        number(&text[text.len() - digits..])
    })
}

/// Anthropic: "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000".
fn sum_limit(message: &str) -> Option<u64> {
    let (_, sum) = message.split_once("exceed context limit")?;
    number(sum.split_once('>')?.1.trim_start())
}

fn between(c: char) -> bool {
    c.is_whitespace() || matches!(c, '(' | ':' | '"' | '\'' | '=' | '\\')
}

fn number(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == ',' || c == '_')).unwrap_or(text.len());
    let digits: String = text[..end].chars().filter(char::is_ascii_digit).collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(status: u16, message: &str) -> TurnError {
        ProviderError::Status { agent: "a".to_owned(), status, message: message.to_owned() }.into()
    }

    #[test]
    fn servers_words_for_a_long_request_are_known_and_their_numbers_read() {
        let rows = [
            (
                r#"{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9012,"n_ctx":8192}}"#,
                (Some(8_192), Some(9_012)),
            ),
            (
                "request (9012 tokens) exceeds the available context size (8192 tokens), try increasing it",
                (Some(8_192), Some(9_012)),
            ),
            (
                "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion).",
                (Some(4_096), Some(5_000)),
            ),
            (
                "This model's maximum context length is 128,000 tokens. However, your messages resulted in 130,001 tokens. Please reduce the length of the messages.",
                (Some(128_000), Some(130_001)),
            ),
            (
                "The decoder prompt (length 9000) is longer than the maximum model length of 8192.",
                (Some(8_192), None),
            ),
            (
                "The number of tokens to keep from the initial prompt is greater than the context length",
                (None, None),
            ),
            (
                "Trying to keep the first 4123 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens",
                (Some(4_096), None),
            ),
            (r#"{"code":"context_length_exceeded"}"#, (None, None)),
            ("prompt is too long: 210000 tokens > 200000 maximum", (Some(200_000), Some(210_000))),
            (
                "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length",
                (Some(200_000), None),
            ),
            (
                "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
                (Some(1_048_576), Some(1_200_000)),
            ),
            (
                "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
                (Some(32_768), Some(40_000)),
            ),
            ("Input is too long for requested model.", (None, None)),
            ("maximum context length is 3 tokens", (None, None)),
        ];
        for (message, (limit, sent)) in rows {
            assert_eq!(overflow(&status(400, message)), Some(Overflow { limit, sent }), "{message}");
        }
        assert_eq!(overflow(&status(413, "")), Some(Overflow::default()));
        let reported =
            ProviderError::Reported { agent: "a".into(), message: "Context length exceeded".into() };
        assert_eq!(overflow(&reported.into()), Some(Overflow::default()));
    }

    #[test]
    fn other_errors_are_not_taken_for_it() {
        for message in
            ["invalid model for this context", "unknown field max_tokens", "context deadline exceeded", ""]
        {
            assert_eq!(overflow(&status(400, message)), None, "{message}");
        }
        assert_eq!(overflow(&TurnError::TimedOut { seconds: 1 }), None);
    }
}
