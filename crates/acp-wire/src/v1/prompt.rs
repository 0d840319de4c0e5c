//! prompt

use super::content::ContentBlock;
use super::session::SessionId;
use super::state::StopReason;
use crate::macros::{object, string_type};

object! {
    /// Prompt request.
    pub struct PromptRequest {
        /// Session id.
        req session_id: SessionId,
        /// Prompt.
        req prompt: Vec<ContentBlock>,
        meta
    }
}

object! {
    /// Prompt response.
    pub struct PromptResponse {
        /// Stop reason.
        req stop_reason: StopReason,
        /// Usage.
        soft usage: Usage,
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
    /// Cancel notification.
    pub struct CancelNotification {
        /// Session id.
        req session_id: SessionId,
        meta
    }
}

string_type! {
    /// Message id.
    pub struct MessageId;
}
