//! How an answer ends: the finish reasons in the spellings of all servers, and how long more may follow one. Knows
//! nothing of what was said.

use std::time::Duration;

use crate::provider::FinishReason;
use crate::providers::reader::LINGER;

/// How long more may come after a finish reason that came with words: some servers give one with each piece.
const LINGER_AFTER_WORDS: Duration = Duration::from_secs(20);

/// What a server's word for the end means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    Reason(FinishReason),
    /// Something went wrong.
    Error,
    /// The server gave up.
    Aborted,
    /// The model wrote a call that the server could not read.
    Garbled,
}

/// Reads a finish reason. What is unknown is a good end.
pub(super) fn read(word: &str) -> Word {
    match word.to_ascii_lowercase().as_str() {
        "length"
        | "max_tokens"
        | "max_output_tokens"
        | "model_length"
        | "model_context_window_exceeded"
        | "context_length_exceeded" => Word::Reason(FinishReason::Length),
        "content_filter"
        | "refusal"
        | "safety"
        | "sensitive"
        | "recitation"
        | "blocklist"
        | "prohibited_content"
        | "spii"
        | "guardrail_intervened" => Word::Reason(FinishReason::Refusal),
        "error" => Word::Error,
        "abort" | "cancelled" | "insufficient_system_resource" | "network_error" | "timeout" => Word::Aborted,
        // Alone, or behind the name of a filter.
        word if word.contains("malformed_function_call") => Word::Garbled,
        _ => Word::Reason(FinishReason::Stop),
    }
}

/// What is known of the end.
#[derive(Debug, Default)]
pub(super) struct Ending {
    pub(super) reason: Option<FinishReason>,
    came_with_words: bool,
    /// Words came after a finish reason: this server gives one with each piece.
    is_empty_talk: bool,
}

impl Ending {
    /// More of the answer came.
    pub(super) fn words_come(&mut self) {
        self.is_empty_talk |= self.reason.is_some();
    }

    /// The server said why it ends, in one piece with words or not.
    pub(super) fn come(&mut self, reason: FinishReason, with_words: bool) {
        self.reason = Some(reason);
        self.came_with_words = with_words;
    }

    /// How long more may take to come; as long as ever when nothing is known.
    pub(super) fn lingers(&self) -> Option<Duration> {
        let lingers = if self.came_with_words { LINGER_AFTER_WORDS } else { LINGER };
        self.reason.filter(|_| !self.is_empty_talk).map(|_| lingers)
    }
}
