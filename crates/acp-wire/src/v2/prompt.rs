//! The user's message, and how it is answered and cancelled.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use super::content::ContentBlock;
use super::session::SessionId;
use crate::macros::{object, string_type};

object! {
    /// The user's message. Protocol: Prompt Lifecycle.
    pub struct PromptRequest {
        /// The session.
        req session_id: SessionId,
        /// The message, in order.
        req prompt: Vec<ContentBlock>,
        /// The client's name for this submission, so that a retry inserts it only once.
        opt idempotency_key: IdempotencyKey,
        meta
    }
}

object! {
    /// The message is part of the conversation. Protocol: Prompt Lifecycle.
    pub struct PromptResponse {
        /// The message's id, which stays with it.
        req message_id: MessageId,
        meta
    }
}

object! {
    /// The tokens spent, in all and by kind.
    pub struct Usage {
        /// All tokens together.
        num total_tokens: u64,
        /// Tokens sent to the model.
        num input_tokens: u64,
        /// Tokens received from the model.
        num output_tokens: u64,
        /// Tokens of reasoning.
        soft thought_tokens: u64,
        /// Tokens sent that the model had cached.
        soft cached_read_tokens: u64,
        /// Tokens sent that the model will cache.
        soft cached_write_tokens: u64,
        meta
    }
}

object! {
    /// Ends a session's foreground work and withdraws its held prompts. Protocol: Prompt Lifecycle.
    pub struct CancelSessionNotification {
        /// The session.
        req session_id: SessionId,
        meta
    }
}

string_type! {
    /// Names a message within its session and kind.
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
