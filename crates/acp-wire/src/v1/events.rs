//! events

use super::capabilities::SubagentSessionCapabilities;
use super::content::ContentBlock;
use super::prompt::MessageId;
use super::session::SessionId;
use super::state::StateUpdate;
use crate::macros::{object, string_type, strings};

object! {
    /// Session message chunk.
    pub struct SessionMessageChunk {
        /// Message id.
        req message_id: MessageId,
        /// Content.
        req content: ContentBlock,
        meta
    }
}

object! {
    /// Session message.
    pub struct SessionMessage {
        /// Message id.
        req message_id: MessageId,
        /// Sender session id.
        patch sender_session_id: SessionId,
        /// Recipient session id.
        patch recipient_session_id: SessionId,
        /// Sender message id.
        patch sender_message_id: MessageId,
        /// Recipient message id.
        patch recipient_message_id: MessageId,
        /// Content.
        patch_list content: ContentBlock,
        patch_meta
    }
}

strings! {
    /// Notice severity.
    pub enum NoticeSeverity {
        /// Info.
        Info = "info",
        /// Warning.
        Warning = "warning",
        /// Error.
        Error = "error",
        ; else Other
    }
}

object! {
    /// Notice.
    pub struct Notice {
        /// Severity.
        req severity: NoticeSeverity,
        /// Title.
        req title: String,
        /// Description.
        soft description: String,
        meta
    }
}

string_type! {
    /// Compaction id.
    pub struct CompactionId;
}

strings! {
    /// Compaction status.
    pub enum CompactionStatus {
        /// In progress.
        InProgress = "in_progress",
        /// Completed.
        Completed = "completed",
        /// Failed.
        Failed = "failed",
        /// Cancelled.
        Cancelled = "cancelled",
        ; else Other
    }
}

impl Default for CompactionStatus {
    fn default() -> Self {
        Self::InProgress
    }
}

object! {
    /// Compaction update.
    pub struct CompactionUpdate {
        /// Compaction id.
        req compaction_id: CompactionId,
        /// Status.
        req status: CompactionStatus,
        /// Summary.
        patch_list summary: ContentBlock,
        /// Error.
        patch error: String,
        patch_meta
    }
}

object! {
    /// Compaction summary chunk.
    pub struct CompactionSummaryChunk {
        /// Compaction id.
        req compaction_id: CompactionId,
        /// Content.
        req content: ContentBlock,
        meta
    }
}

object! {
    /// Subagent update.
    pub struct SubagentUpdate {
        /// Session id.
        req session_id: SessionId,
        /// Title.
        patch title: String,
        /// Description.
        patch description: String,
        /// Capabilities.
        patch capabilities: SubagentSessionCapabilities,
        /// State.
        patch state: StateUpdate,
        /// Cwd.
        patch_strict cwd: String,
        /// Additional directories.
        patch_strict additional_directories: Vec<String>,
        patch_meta
    }
}
