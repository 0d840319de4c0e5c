//! The notification by which everything is reported that happens in a session.

use super::commands::AvailableCommandsUpdate;
use super::content::ContentBlock;
use super::events::{
    CompactionSummaryChunk, CompactionUpdate, Notice, SessionMessage, SessionMessageChunk, SubagentUpdate,
};
use super::modes::SessionModeId;
use super::options::ConfigOptionUpdate;
use super::plan::{Plan, PlanRemoved, PlanUpdate};
use super::prompt::MessageId;
use super::session::SessionId;
use super::tool_call::{ToolCall, ToolCallUpdate};
use crate::macros::{from_variants, object, tagged};

object! {
    /// Something happened in a session. Protocol: Prompt Turn.
    pub struct SessionNotification {
        /// The session.
        req session_id: SessionId,
        /// What happened.
        req update: SessionUpdate,
        meta
    }
}

tagged! {
    /// What happened, told apart by `sessionUpdate`.
    #[expect(
        clippy::large_enum_variant,
        reason = "values are built, written and dropped; a box would cost each message an allocation"
    )]
    pub enum SessionUpdate: "sessionUpdate" {
        /// More of a message of the user.
        UserMessageChunk(ContentChunk) = "user_message_chunk",
        /// More of a message of the agent.
        AgentMessageChunk(ContentChunk) = "agent_message_chunk",
        /// More of the agent's reasoning.
        AgentThoughtChunk(ContentChunk) = "agent_thought_chunk",
        /// A new tool call.
        ToolCall(ToolCall) = "tool_call",
        /// Changes of a tool call.
        ToolCallUpdate(ToolCallUpdate) = "tool_call_update",
        /// The plan.
        Plan(Plan) = "plan",
        /// One plan.
        PlanUpdate(PlanUpdate) = "plan_update",
        /// A plan is gone.
        PlanRemoved(PlanRemoved) = "plan_removed",
        /// The commands.
        AvailableCommandsUpdate(AvailableCommandsUpdate) = "available_commands_update",
        /// The present mode.
        CurrentModeUpdate(CurrentModeUpdate) = "current_mode_update",
        /// The options.
        ConfigOptionUpdate(ConfigOptionUpdate) = "config_option_update",
        /// The title or date.
        SessionInfoUpdate(SessionInfoUpdate) = "session_info_update",
        /// How full the context is.
        UsageUpdate(UsageUpdate) = "usage_update",
        /// Something the user should see, once.
        Notice(Notice) = "notice",
        /// A compaction of the history.
        CompactionUpdate(CompactionUpdate) = "compaction_update",
        /// More of a compaction's summary.
        CompactionSummaryChunk(CompactionSummaryChunk) = "compaction_summary_chunk",
        /// A subagent's session.
        SubagentUpdate(SubagentUpdate) = "subagent_update",
        /// A message between sessions.
        SessionMessage(SessionMessage) = "session_message",
        /// More of a message between sessions.
        SessionMessageChunk(SessionMessageChunk) = "session_message_chunk",
    }
}

from_variants! {
    SessionUpdate:
    ToolCall(ToolCall), ToolCallUpdate(ToolCallUpdate), Plan(Plan), PlanUpdate(PlanUpdate),
    PlanRemoved(PlanRemoved), AvailableCommandsUpdate(AvailableCommandsUpdate),
    CurrentModeUpdate(CurrentModeUpdate), ConfigOptionUpdate(ConfigOptionUpdate),
    SessionInfoUpdate(SessionInfoUpdate), UsageUpdate(UsageUpdate), Notice(Notice),
    CompactionUpdate(CompactionUpdate), CompactionSummaryChunk(CompactionSummaryChunk),
    SubagentUpdate(SubagentUpdate), SessionMessage(SessionMessage),
    SessionMessageChunk(SessionMessageChunk),
}

object! {
    /// The session has another mode now. Protocol: Session Modes.
    pub struct CurrentModeUpdate {
        /// The present mode.
        req current_mode_id: SessionModeId,
        meta
    }
}

object! {
    /// A session has another title or date. Protocol: Session List.
    pub struct SessionInfoUpdate: Default {
        /// A name for people.
        patch title: String,
        /// When it was last used (RFC 3339).
        patch updated_at: String,
        meta
    }
}

object! {
    /// How full the model's context is.
    pub struct UsageUpdate {
        /// The tokens in the context.
        num used: u64,
        /// The size of the context, in tokens.
        num size: u64,
        /// What the session has cost so far.
        soft cost: Cost,
        meta
    }
}

object! {
    /// What a session has cost so far.
    pub struct Cost {
        /// The amount, in whole units of the currency.
        num amount: f64,
        /// The currency (ISO 4217).
        req currency: String,
        meta
    }
}

object! {
    /// One more piece of a message. Protocol: Content.
    pub struct ContentChunk {
        /// The content.
        req content: ContentBlock,
        /// The message it belongs to; a new id begins a new one.
        soft message_id: MessageId,
        meta
    }
}
