//! The user's message, and how it is answered and cancelled.

use super::content::ContentBlock;
use super::session::SessionId;
use super::state::StopReason;
use crate::macros::{object, string_type};

object! {
    /// The user's message, with which a turn begins. Protocol: Prompt Turn.
    pub struct PromptRequest {
        /// The session.
        req session_id: SessionId,
        /// The message, in order.
        req prompt: Vec<ContentBlock>,
        meta
    }
}

object! {
    /// The end of a turn. Protocol: Prompt Turn.
    pub struct PromptResponse {
        /// Why the turn ended.
        req stop_reason: StopReason,
        /// The tokens spent. Not in the stable protocol.
        soft usage: Usage,
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
    /// Ends a session's running turn. Protocol: Prompt Turn.
    pub struct CancelNotification {
        /// The session.
        req session_id: SessionId,
        meta
    }
}

string_type! {
    /// Names a message within its session and kind.
    pub struct MessageId;
}
