//! What the foreground of a subagent's session does, and why it stopped.

use super::error::Error;
use super::prompt::Usage;
use crate::macros::{from_variants, object, strings, tagged};

strings! {
    /// Why a turn ended. Protocol: Prompt Turn.
    pub enum StopReason {
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
        meta
    }
}

object! {
    /// No foreground work is going on. Protocol: Prompt Lifecycle.
    pub struct IdleStateUpdate: Default {
        /// Why it ended.
        flat_soft stop_reason: IdleStopReason,
        /// The tokens spent. Not in the stable protocol.
        soft usage: Usage,
        meta
    }
}

tagged! {
    /// Why foreground work ended. Protocol: Prompt Turn.
    pub enum IdleStopReason: "stopReason" {
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
    IdleStopReason:
    Error(ErrorStopReason),
}

object! {
    /// Work ended because something failed. Protocol: Prompt Lifecycle.
    pub struct ErrorStopReason: Default {
        /// What failed.
        soft error: Error,
    }
}

object! {
    /// Foreground work waits for the user. Protocol: Prompt Lifecycle.
    pub struct RequiresActionStateUpdate: Default {
        meta
    }
}

object! {
    /// The agent can't say at present. Protocol: Prompt Lifecycle.
    pub struct UnknownStateUpdate: Default {
        meta
    }
}
