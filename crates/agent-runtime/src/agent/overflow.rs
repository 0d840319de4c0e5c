//! Tells from a server's words that a request was too long for its model. There is no common code for it.

use crate::driver::TurnError;
use crate::provider::ProviderError;

/// How servers say it: llama.cpp, OpenAI and what imitates it, vLLM, LM Studio, Ollama, Anthropic, Bedrock. Whole
/// phrases, because the word "context" alone is in other errors too.
const PHRASES: &[&str] = &[
    "exceed_context_size",
    "exceeds the available context size",
    "context_length_exceeded",
    "maximum context length",
    "context length exceeded",
    "exceeds the context length",
    "exceeds context length",
    "exceeds the context window",
    "exceeded the context window",
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

/// The status for a body that is too large.
const PAYLOAD_TOO_LARGE: u16 = 413;

/// Whether a shorter request might work.
pub(super) fn is_overflow(error: &TurnError) -> bool {
    let TurnError::Provider(error) = error else { return false };
    match error {
        ProviderError::Status { status: PAYLOAD_TOO_LARGE, .. } => true,
        ProviderError::Status { message, .. } | ProviderError::Reported { message, .. } => says_so(message),
        ProviderError::Unreachable { .. }
        | ProviderError::Unauthorized { .. }
        | ProviderError::Truncated { .. }
        | ProviderError::Malformed { .. }
        | ProviderError::TimedOut { .. }
        | ProviderError::Misconfigured { .. } => false,
    }
}

fn says_so(message: &str) -> bool {
    let message = message.to_lowercase();
    PHRASES.iter().any(|phrase| message.contains(phrase))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(status: u16, message: &str) -> TurnError {
        ProviderError::Status { agent: "a".to_owned(), status, message: message.to_owned() }.into()
    }

    #[test]
    fn servers_words_for_a_long_request_are_known() {
        for message in [
            r#"{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error"}}"#,
            "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens",
            "The number of tokens to keep from the initial prompt is greater than the context length",
            "Trying to keep the first 4123 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens",
            r#"{"code":"context_length_exceeded"}"#,
            "prompt is too long: 210000 tokens > 200000 maximum",
            "Input is too long for requested model.",
        ] {
            assert!(is_overflow(&status(400, message)), "{message}");
        }
        assert!(is_overflow(&status(413, "")));
        let reported =
            ProviderError::Reported { agent: "a".into(), message: "Context length exceeded".into() };
        assert!(is_overflow(&reported.into()));
    }

    #[test]
    fn other_errors_are_not_taken_for_it() {
        for message in
            ["invalid model for this context", "unknown field max_tokens", "context deadline exceeded", ""]
        {
            assert!(!is_overflow(&status(400, message)), "{message}");
        }
        assert!(!is_overflow(&TurnError::TimedOut { seconds: 1 }));
    }
}
