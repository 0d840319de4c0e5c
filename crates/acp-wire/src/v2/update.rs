//! The notification by which everything is reported that happens in a session.

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
use crate::macros::{from_variants, object, tagged};

object! {
    /// Something happened in a session. Protocol: Prompt Lifecycle.
    pub struct UpdateSessionNotification {
        /// The session.
        req session_id: SessionId,
        /// What happened.
        req update: SessionUpdate,
        meta
    }
}

tagged! {
    /// What happened, told apart by `sessionUpdate`.
    pub enum SessionUpdate: "sessionUpdate" {
        /// More of a message of the user.
        UserMessageChunk(ContentChunk) = "user_message_chunk",
        /// A message of the user.
        UserMessage(UserMessage) = "user_message",
        /// More of a message of the agent.
        AgentMessageChunk(ContentChunk) = "agent_message_chunk",
        /// A message of the agent.
        AgentMessage(AgentMessage) = "agent_message",
        /// More of the agent's reasoning.
        AgentThoughtChunk(ContentChunk) = "agent_thought_chunk",
        /// The agent's reasoning.
        AgentThought(AgentThought) = "agent_thought",
        /// What the foreground does.
        StateUpdate(StateUpdate) = "state_update",
        /// More output of a tool.
        ToolCallContentChunk(ToolCallContentChunk) = "tool_call_content_chunk",
        /// A tool call.
        ToolCallUpdate(ToolCallUpdate) = "tool_call_update",
        /// A terminal.
        TerminalUpdate(TerminalUpdate) = "terminal_update",
        /// More output of a terminal.
        TerminalOutputChunk(TerminalOutputChunk) = "terminal_output_chunk",
        /// One plan.
        PlanUpdate(PlanUpdate) = "plan_update",
        /// A plan is gone.
        PlanRemoved(PlanRemoved) = "plan_removed",
        /// The commands.
        AvailableCommandsUpdate(AvailableCommandsUpdate) = "available_commands_update",
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
        /// The history has been sent.
        ReplayComplete(ReplayComplete) = "replay_complete",
        /// A subagent's session.
        SubagentUpdate(SubagentUpdate) = "subagent_update",
        /// A message between sessions.
        SessionMessage(SessionMessage) = "session_message",
        /// More of a message between sessions.
        SessionMessageChunk(SessionMessageChunk) = "session_message_chunk",
        ; else Other
    }
}

from_variants! {
    SessionUpdate:
    UserMessage(UserMessage), AgentMessage(AgentMessage), AgentThought(AgentThought),
    StateUpdate(StateUpdate), ToolCallContentChunk(ToolCallContentChunk),
    ToolCallUpdate(ToolCallUpdate), TerminalUpdate(TerminalUpdate),
    TerminalOutputChunk(TerminalOutputChunk), PlanUpdate(PlanUpdate), PlanRemoved(PlanRemoved),
    AvailableCommandsUpdate(AvailableCommandsUpdate), ConfigOptionUpdate(ConfigOptionUpdate),
    SessionInfoUpdate(SessionInfoUpdate), UsageUpdate(UsageUpdate), Notice(Notice),
    CompactionUpdate(CompactionUpdate), CompactionSummaryChunk(CompactionSummaryChunk),
    ReplayComplete(ReplayComplete), SubagentUpdate(SubagentUpdate), SessionMessage(SessionMessage),
    SessionMessageChunk(SessionMessageChunk),
}

object! {
    /// The history asked for has been sent. Protocol: Session Setup.
    pub struct ReplayComplete: Default {
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
        patch_meta
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
        patch cost: Cost,
        patch_meta
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
        /// The message it belongs to; a new id begins a new one.
        req message_id: MessageId,
        /// The content.
        req content: ContentBlock,
        meta
    }
}

object! {
    /// A message of the user as a whole: creates it or replaces its content. Protocol: Prompt Lifecycle.
    pub struct UserMessage {
        /// The message.
        req message_id: MessageId,
        /// The content.
        patch_list content: ContentBlock,
        patch_meta
    }
}

object! {
    /// A message of the agent as a whole: creates it or replaces its content. Protocol: Prompt Lifecycle.
    pub struct AgentMessage {
        /// The message.
        req message_id: MessageId,
        /// The content.
        patch_list content: ContentBlock,
        patch_meta
    }
}

object! {
    /// A piece of the agent's reasoning as a whole: creates it or replaces its content. Protocol: Prompt
    /// Lifecycle.
    pub struct AgentThought {
        /// The message.
        req message_id: MessageId,
        /// The content.
        patch_list content: ContentBlock,
        patch_meta
    }
}
