//! state

use super::error::Error;
use super::prompt::Usage;
use super::session::SessionId;
use super::terminal::TerminalId;
use super::tool_call::ToolCallId;
use crate::macros::{object, tagged};

tagged! {
    /// Stop reason.
    pub enum StopReason: "stopReason" {
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
        /// Background.
        soft background: Vec<BackgroundWork>,
        meta
    }
}

object! {
    /// Idle state update.
    pub struct IdleStateUpdate: Default {
        /// Stop reason.
        flat_soft stop_reason: StopReason,
        /// Usage.
        soft usage: Usage,
        /// Background.
        soft background: Vec<BackgroundWork>,
        meta
    }
}

object! {
    /// Requires action state update.
    pub struct RequiresActionStateUpdate: Default {
        /// Background.
        soft background: Vec<BackgroundWork>,
        meta
    }
}

object! {
    /// Unknown state update.
    pub struct UnknownStateUpdate: Default {
        /// Background.
        soft background: Vec<BackgroundWork>,
        meta
    }
}

tagged! {
    /// Background work.
    pub enum BackgroundWork: "type" {
        /// Terminal.
        Terminal(BackgroundTerminal) = "terminal",
        /// Tool call.
        ToolCall(BackgroundToolCall) = "tool_call",
        /// Subagent.
        Subagent(BackgroundSubagent) = "subagent",
        ; else Other
    }
}

object! {
    /// Background terminal.
    pub struct BackgroundTerminal {
        /// Terminal id.
        req terminal_id: TerminalId,
        meta
    }
}

object! {
    /// Background tool call.
    pub struct BackgroundToolCall {
        /// Tool call id.
        req tool_call_id: ToolCallId,
        meta
    }
}

object! {
    /// Background subagent.
    pub struct BackgroundSubagent {
        /// Session id.
        req session_id: SessionId,
        meta
    }
}
