//! update

use super::commands::AvailableCommandsUpdate;
use super::content::ContentBlock;
use super::events::{
    CompactionSummaryChunk, CompactionUpdate, Notice, SessionMessage, SessionMessageChunk, SubagentUpdate,
};
use super::options::ConfigOptionUpdate;
use super::plan::{PlanRemoved, PlanUpdate};
use super::prompt::MessageId;
use super::session::SessionId;
use super::state::StateUpdate;
use super::terminal::{TerminalOutputChunk, TerminalUpdate};
use super::tool_call::{ToolCallContentChunk, ToolCallUpdate};
use crate::macros::{object, tagged};

object! {
    /// Update session notification.
    pub struct UpdateSessionNotification {
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
        /// User message.
        UserMessage(UserMessage) = "user_message",
        /// Agent message chunk.
        AgentMessageChunk(ContentChunk) = "agent_message_chunk",
        /// Agent message.
        AgentMessage(AgentMessage) = "agent_message",
        /// Agent thought chunk.
        AgentThoughtChunk(ContentChunk) = "agent_thought_chunk",
        /// Agent thought.
        AgentThought(AgentThought) = "agent_thought",
        /// State update.
        StateUpdate(StateUpdate) = "state_update",
        /// Tool call content chunk.
        ToolCallContentChunk(ToolCallContentChunk) = "tool_call_content_chunk",
        /// Tool call update.
        ToolCallUpdate(ToolCallUpdate) = "tool_call_update",
        /// Terminal update.
        TerminalUpdate(TerminalUpdate) = "terminal_update",
        /// Terminal output chunk.
        TerminalOutputChunk(TerminalOutputChunk) = "terminal_output_chunk",
        /// Plan update.
        PlanUpdate(PlanUpdate) = "plan_update",
        /// Plan removed.
        PlanRemoved(PlanRemoved) = "plan_removed",
        /// Available commands update.
        AvailableCommandsUpdate(AvailableCommandsUpdate) = "available_commands_update",
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
        /// Replay complete.
        ReplayComplete(ReplayComplete) = "replay_complete",
        /// Subagent update.
        SubagentUpdate(SubagentUpdate) = "subagent_update",
        /// Session message.
        SessionMessage(SessionMessage) = "session_message",
        /// Session message chunk.
        SessionMessageChunk(SessionMessageChunk) = "session_message_chunk",
        ; else Other
    }
}

object! {
    /// Replay complete.
    pub struct ReplayComplete: Default {
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
        patch_meta
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
        patch cost: Cost,
        patch_meta
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
        /// Message id.
        req message_id: MessageId,
        /// Content.
        req content: ContentBlock,
        meta
    }
}

object! {
    /// User message.
    pub struct UserMessage {
        /// Message id.
        req message_id: MessageId,
        /// Content.
        patch_list content: ContentBlock,
        patch_meta
    }
}

object! {
    /// Agent message.
    pub struct AgentMessage {
        /// Message id.
        req message_id: MessageId,
        /// Content.
        patch_list content: ContentBlock,
        patch_meta
    }
}

object! {
    /// Agent thought.
    pub struct AgentThought {
        /// Message id.
        req message_id: MessageId,
        /// Content.
        patch_list content: ContentBlock,
        patch_meta
    }
}
