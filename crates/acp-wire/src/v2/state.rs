//! What the foreground of a session does, and why it stopped.

use super::error::Error;
use super::prompt::Usage;
use super::session::SessionId;
use super::terminal::TerminalId;
use super::tool_call::ToolCallId;
use crate::macros::{from_variants, object, tagged};

tagged! {
    /// Why foreground work ended, told apart by `stopReason`. Protocol: Prompt Lifecycle.
    pub enum StopReason: "stopReason" {
        /// The work is done.
        EndTurn = "end_turn",
        /// The model may write no more.
        MaxTokens = "max_tokens",
        /// The model may be asked no more.
        MaxTurnRequests = "max_turn_requests",
        /// The model or agent refuses; the prompt is not part of later ones.
        Refusal = "refusal",
        /// The client ended it.
        Cancelled = "cancelled",
        /// Something failed.
        Error(ErrorStopReason) = "error",
        ; else Other
    }
}

from_variants! {
    StopReason:
    Error(ErrorStopReason),
}

object! {
    /// Work ended because something failed. Protocol: Prompt Lifecycle.
    pub struct ErrorStopReason: Default {
        /// What failed.
        soft error: Error,
    }
}

tagged! {
    /// What the foreground of a session does, told apart by `state`.
    #[expect(
        clippy::large_enum_variant,
        reason = "values are built, written and dropped; a box would cost each message an allocation"
    )]
    pub enum StateUpdate: "state" {
        /// It works.
        Running(RunningStateUpdate) = "running",
        /// Nothing; it waits for a prompt.
        Idle(IdleStateUpdate) = "idle",
        /// It waits for the user to answer something.
        RequiresAction(RequiresActionStateUpdate) = "requires_action",
        /// The agent can't say at present.
        Unknown(UnknownStateUpdate) = "unknown",
        ; else Other
    }
}

from_variants! {
    StateUpdate:
    Running(RunningStateUpdate), Idle(IdleStateUpdate), RequiresAction(RequiresActionStateUpdate),
    Unknown(UnknownStateUpdate),
}

object! {
    /// Foreground work is going on. Protocol: Prompt Lifecycle.
    pub struct RunningStateUpdate: Default {
        /// Work outside the foreground, all of it; absent when the agent doesn't follow it.
        soft background: Vec<BackgroundWork>,
        meta
    }
}

object! {
    /// No foreground work is going on. Protocol: Prompt Lifecycle.
    pub struct IdleStateUpdate: Default {
        /// Why it ended.
        flat_soft stop_reason: StopReason,
        /// The tokens spent. Not in the stable protocol.
        soft usage: Usage,
        /// Work outside the foreground, all of it; absent when the agent doesn't follow it.
        soft background: Vec<BackgroundWork>,
        meta
    }
}

object! {
    /// Foreground work waits for the user. Protocol: Prompt Lifecycle.
    pub struct RequiresActionStateUpdate: Default {
        /// Work outside the foreground, all of it; absent when the agent doesn't follow it.
        soft background: Vec<BackgroundWork>,
        meta
    }
}

object! {
    /// The agent can't say at present. Protocol: Prompt Lifecycle.
    pub struct UnknownStateUpdate: Default {
        /// Work outside the foreground, all of it; absent when the agent doesn't follow it.
        soft background: Vec<BackgroundWork>,
        meta
    }
}

tagged! {
    /// Work that goes on outside the foreground. Protocol: Prompt Lifecycle.
    pub enum BackgroundWork: "type" {
        /// A terminal.
        Terminal(BackgroundTerminal) = "terminal",
        /// A tool call.
        ToolCall(BackgroundToolCall) = "tool_call",
        /// A subagent's session.
        Subagent(BackgroundSubagent) = "subagent",
        ; else Other
    }
}

from_variants! {
    BackgroundWork:
    Terminal(BackgroundTerminal), ToolCall(BackgroundToolCall), Subagent(BackgroundSubagent),
}

object! {
    /// A terminal whose process runs on.
    pub struct BackgroundTerminal {
        /// The terminal.
        req terminal_id: TerminalId,
        meta
    }
}

object! {
    /// A tool call that runs on.
    pub struct BackgroundToolCall {
        /// The tool call.
        req tool_call_id: ToolCallId,
        meta
    }
}

object! {
    /// A session of a subagent that works on.
    pub struct BackgroundSubagent {
        /// The session.
        req session_id: SessionId,
        meta
    }
}
