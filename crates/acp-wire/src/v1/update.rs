//! update

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
use crate::macros::{object, tagged};

object! {
    /// Session notification.
    pub struct SessionNotification {
        /// Session id.
        req session_id: SessionId,
        /// Update.
        req update: SessionUpdate,
        meta
    }
}

tagged! {
    /// Session update.
    pub enum SessionUpdate: "sessionUpdate" {
        /// User message chunk.
        UserMessageChunk(ContentChunk) = "user_message_chunk",
        /// Agent message chunk.
        AgentMessageChunk(ContentChunk) = "agent_message_chunk",
        /// Agent thought chunk.
        AgentThoughtChunk(ContentChunk) = "agent_thought_chunk",
        /// Tool call.
        ToolCall(ToolCall) = "tool_call",
        /// Tool call update.
        ToolCallUpdate(ToolCallUpdate) = "tool_call_update",
        /// Plan.
        Plan(Plan) = "plan",
        /// Plan update.
        PlanUpdate(PlanUpdate) = "plan_update",
        /// Plan removed.
        PlanRemoved(PlanRemoved) = "plan_removed",
        /// Available commands update.
        AvailableCommandsUpdate(AvailableCommandsUpdate) = "available_commands_update",
        /// Current mode update.
        CurrentModeUpdate(CurrentModeUpdate) = "current_mode_update",
        /// Config option update.
        ConfigOptionUpdate(ConfigOptionUpdate) = "config_option_update",
        /// Session info update.
        SessionInfoUpdate(SessionInfoUpdate) = "session_info_update",
        /// Usage update.
        UsageUpdate(UsageUpdate) = "usage_update",
        /// Notice.
        Notice(Notice) = "notice",
        /// Compaction update.
        CompactionUpdate(CompactionUpdate) = "compaction_update",
        /// Compaction summary chunk.
        CompactionSummaryChunk(CompactionSummaryChunk) = "compaction_summary_chunk",
        /// Subagent update.
        SubagentUpdate(SubagentUpdate) = "subagent_update",
        /// Session message.
        SessionMessage(SessionMessage) = "session_message",
        /// Session message chunk.
        SessionMessageChunk(SessionMessageChunk) = "session_message_chunk",
    }
}

object! {
    /// Current mode update.
    pub struct CurrentModeUpdate {
        /// Current mode id.
        req current_mode_id: SessionModeId,
        meta
    }
}

object! {
    /// Session info update.
    pub struct SessionInfoUpdate: Default {
        /// Title.
        patch title: String,
        /// Updated at.
        patch updated_at: String,
        meta
    }
}

object! {
    /// Usage update.
    pub struct UsageUpdate {
        /// Used.
        num used: u64,
        /// Size.
        num size: u64,
        /// Cost.
        soft cost: Cost,
        meta
    }
}

object! {
    /// Cost.
    pub struct Cost {
        /// Amount.
        num amount: f64,
        /// Currency.
        req currency: String,
        meta
    }
}

object! {
    /// Content chunk.
    pub struct ContentChunk {
        /// Content.
        req content: ContentBlock,
        /// Message id.
        soft message_id: MessageId,
        meta
    }
}
