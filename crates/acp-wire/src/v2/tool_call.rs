//! tool_call

use serde_json::Value;

use super::capabilities::ToolCallCapabilities;
use super::content::ContentBlock;
use super::diff::Diff;
use super::session::{AbsolutePath, SessionId};
use super::terminal::Terminal;
use crate::macros::{object, string_type, strings, tagged};

object! {
    /// Cancel tool call request.
    pub struct CancelToolCallRequest {
        /// Session id.
        req session_id: SessionId,
        /// Tool call id.
        req tool_call_id: ToolCallId,
        meta
    }
}

object! {
    /// Tool call permission subject.
    pub struct ToolCallPermissionSubject {
        /// Tool call.
        req tool_call: ToolCallUpdate,
        meta
    }
}

object! {
    /// Tool call update.
    pub struct ToolCallUpdate {
        /// Tool call id.
        req tool_call_id: ToolCallId,
        /// Name.
        patch name: String,
        /// Title.
        patch title: String,
        /// Kind.
        patch kind: ToolKind,
        /// Status.
        patch status: ToolCallStatus,
        /// Content.
        patch_list content: ToolCallContent,
        /// Locations.
        patch_list locations: ToolCallLocation,
        /// Raw input.
        patch raw_input: Value,
        /// Raw output.
        patch raw_output: Value,
        /// Capabilities.
        patch capabilities: ToolCallCapabilities,
        patch_meta
    }
}

object! {
    /// Tool call content chunk.
    pub struct ToolCallContentChunk {
        /// Tool call id.
        req tool_call_id: ToolCallId,
        /// Content.
        req content: ToolCallContent,
        meta
    }
}

string_type! {
    /// Tool call id.
    pub struct ToolCallId;
}

strings! {
    /// Tool kind.
    pub enum ToolKind {
        /// Read.
        Read = "read",
        /// Edit.
        Edit = "edit",
        /// Delete.
        Delete = "delete",
        /// Move.
        Move = "move",
        /// Search.
        Search = "search",
        /// Execute.
        Execute = "execute",
        /// Think.
        Think = "think",
        /// Fetch.
        Fetch = "fetch",
        /// Switch mode.
        SwitchMode = "switch_mode",
        /// Other.
        Other = "other",
        ; else Unknown
    }
}

impl Default for ToolKind {
    fn default() -> Self {
        Self::Other
    }
}

strings! {
    /// Tool call status.
    pub enum ToolCallStatus {
        /// Pending.
        Pending = "pending",
        /// In progress.
        InProgress = "in_progress",
        /// Paused.
        Paused = "paused",
        /// Completed.
        Completed = "completed",
        /// Failed.
        Failed = "failed",
        /// Cancelled.
        Cancelled = "cancelled",
        ; else Other
    }
}

impl Default for ToolCallStatus {
    fn default() -> Self {
        Self::Pending
    }
}

tagged! {
    /// Tool call content.
    pub enum ToolCallContent: "type" {
        /// Content.
        Content(Content) = "content",
        /// Diff.
        Diff(Diff) = "diff",
        /// Terminal.
        Terminal(Terminal) = "terminal",
        /// Session.
        Session(SessionReference) = "session",
        ; else Other
    }
}

object! {
    /// Session reference.
    pub struct SessionReference {
        /// Session id.
        req session_id: SessionId,
        meta
    }
}

object! {
    /// Content.
    pub struct Content {
        /// Content.
        req content: ContentBlock,
        meta
    }
}

object! {
    /// Tool call location.
    pub struct ToolCallLocation {
        /// Path.
        req path: AbsolutePath,
        /// Line.
        soft line: std::num::NonZeroU32,
        meta
    }
}

object! {
    /// Cancel tool call response.
    pub struct CancelToolCallResponse: Nullable {
        meta
    }
}
