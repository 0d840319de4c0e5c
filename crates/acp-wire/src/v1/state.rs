//! state

use super::error::Error;
use super::prompt::Usage;
use crate::macros::{object, strings, tagged};

strings! {
    /// Stop reason.
    pub enum StopReason {
        /// End turn.
        EndTurn = "end_turn",
        /// Max tokens.
        MaxTokens = "max_tokens",
        /// Max turn requests.
        MaxTurnRequests = "max_turn_requests",
        /// Refusal.
        Refusal = "refusal",
        /// Cancelled.
        Cancelled = "cancelled",
    }
}

tagged! {
    /// State update.
    pub enum StateUpdate: "state" {
        /// Running.
        Running(RunningStateUpdate) = "running",
        /// Idle.
        Idle(IdleStateUpdate) = "idle",
        /// Requires action.
        RequiresAction(RequiresActionStateUpdate) = "requires_action",
        /// Unknown.
        Unknown(UnknownStateUpdate) = "unknown",
        ; else Other
    }
}

object! {
    /// Running state update.
    pub struct RunningStateUpdate: Default {
        meta
    }
}

object! {
    /// Idle state update.
    pub struct IdleStateUpdate: Default {
        /// Stop reason.
        flat_soft stop_reason: IdleStopReason,
        /// Usage.
        soft usage: Usage,
        meta
    }
}

tagged! {
    /// Idle stop reason.
    pub enum IdleStopReason: "stopReason" {
        /// End turn.
        EndTurn = "end_turn",
        /// Max tokens.
        MaxTokens = "max_tokens",
        /// Max turn requests.
        MaxTurnRequests = "max_turn_requests",
        /// Refusal.
        Refusal = "refusal",
        /// Cancelled.
        Cancelled = "cancelled",
        /// Error.
        Error(ErrorStopReason) = "error",
        ; else Other
    }
}

object! {
    /// Error stop reason.
    pub struct ErrorStopReason: Default {
        /// Error.
        soft error: Error,
    }
}

object! {
    /// Requires action state update.
    pub struct RequiresActionStateUpdate: Default {
        meta
    }
}

object! {
    /// Unknown state update.
    pub struct UnknownStateUpdate: Default {
        meta
    }
}
