//! prompt

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use super::content::ContentBlock;
use super::session::SessionId;
use crate::macros::{object, string_type};

object! {
    /// Prompt request.
    pub struct PromptRequest {
        /// Session id.
        req session_id: SessionId,
        /// Prompt.
        req prompt: Vec<ContentBlock>,
        /// Idempotency key.
        opt idempotency_key: IdempotencyKey,
        meta
    }
}

object! {
    /// Prompt response.
    pub struct PromptResponse {
        /// Message id.
        req message_id: MessageId,
        meta
    }
}

object! {
    /// Usage.
    pub struct Usage {
        /// Total tokens.
        num total_tokens: u64,
        /// Input tokens.
        num input_tokens: u64,
        /// Output tokens.
        num output_tokens: u64,
        /// Thought tokens.
        soft thought_tokens: u64,
        /// Cached read tokens.
        soft cached_read_tokens: u64,
        /// Cached write tokens.
        soft cached_write_tokens: u64,
        meta
    }
}

object! {
    /// Cancel session notification.
    pub struct CancelSessionNotification {
        /// Session id.
        req session_id: SessionId,
        meta
    }
}

string_type! {
    /// Message id.
    pub struct MessageId;
}

/// A client's name for one submission of a prompt, so that a retry inserts it only once: 1 to 255 characters.
/// Protocol: Prompt Lifecycle.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// The longest key, in characters.
    pub const MAX_CHARS: usize = 255;

    /// Takes a key; none if it is empty or too long.
    pub fn new(key: impl Into<String>) -> Option<Self> {
        let key = key.into();
        (!key.is_empty() && key.chars().nth(Self::MAX_CHARS).is_none()).then_some(Self(key))
    }

    /// The key.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for IdempotencyKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let key = String::deserialize(deserializer)?;
        Self::new(key).ok_or_else(|| D::Error::custom("an idempotency key has 1 to 255 characters"))
    }
}
