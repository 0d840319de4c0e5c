//! Notices, compactions, subagents and messages between sessions.

use super::capabilities::SubagentSessionCapabilities;
use super::content::ContentBlock;
use super::prompt::MessageId;
use super::session::SessionId;
use super::state::StateUpdate;
use crate::macros::{object, string_type, strings};

object! {
    /// One more piece of a message between sessions.
    pub struct SessionMessageChunk {
        /// The message.
        req message_id: MessageId,
        /// The content.
        req content: ContentBlock,
        meta
    }
}

object! {
    /// A message between sessions: creates it or changes it.
    pub struct SessionMessage {
        /// The message.
        req message_id: MessageId,
        /// The session it is from.
        patch sender_session_id: SessionId,
        /// The session it is for.
        patch recipient_session_id: SessionId,
        /// The message in the sender's session.
        patch sender_message_id: MessageId,
        /// The message in the recipient's session.
        patch recipient_message_id: MessageId,
        /// The content.
        patch_list content: ContentBlock,
        patch_meta
    }
}

strings! {
    /// How grave a notice is.
    pub enum NoticeSeverity {
        /// Good to know.
        Info = "info",
        /// Something may go wrong.
        Warning = "warning",
        /// Something failed.
        Error = "error",
        ; else Other
    }
}

object! {
    /// Something the user should see that is no part of the conversation.
    pub struct Notice {
        /// How grave it is.
        req severity: NoticeSeverity,
        /// What the user should know, in one line.
        req title: String,
        /// More words on it.
        soft description: String,
        meta
    }
}

string_type! {
    /// Names one compaction of a session's history.
    pub struct CompactionId;
}

strings! {
    /// How far a compaction is. Protocol: Compaction.
    pub enum CompactionStatus: Default {
        /// It is going on.
        #[default]
        InProgress = "in_progress",
        /// It is done.
        Completed = "completed",
        /// It failed.
        Failed = "failed",
        /// It was ended early.
        Cancelled = "cancelled",
        ; else Other
    }
}

object! {
    /// A compaction of the history: creates or changes it. Protocol: Compaction.
    pub struct CompactionUpdate {
        /// The compaction.
        req compaction_id: CompactionId,
        /// How far it is.
        req status: CompactionStatus,
        /// The summary so far.
        patch_list summary: ContentBlock,
        /// What failed, for people.
        patch error: String,
        patch_meta
    }
}

object! {
    /// One more piece of a compaction's summary. Protocol: Compaction.
    pub struct CompactionSummaryChunk {
        /// The compaction.
        req compaction_id: CompactionId,
        /// The content.
        req content: ContentBlock,
        meta
    }
}

object! {
    /// A subagent's session: announces or changes it.
    pub struct SubagentUpdate {
        /// The session.
        req session_id: SessionId,
        /// A name for people.
        patch title: String,
        /// More words on it.
        patch description: String,
        /// What the client may do with the session.
        patch capabilities: SubagentSessionCapabilities,
        /// What it does.
        patch state: StateUpdate,
        /// The directory the session works in, absolute.
        patch_strict cwd: String,
        /// Further directories of the session, absolute.
        patch_strict additional_directories: Vec<String>,
        patch_meta
    }
}
