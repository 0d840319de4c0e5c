//! tool_call

use serde_json::Value;

use super::content::ContentBlock;
use super::diff::Diff;
use super::session::SessionId;
use super::terminal::Terminal;
use crate::Other;
use crate::macros::{object, string_type, strings, tagged};

object! {
    /// Tool call.
    pub struct ToolCall {
        /// Tool call id.
        req tool_call_id: ToolCallId,
        /// Title.
        req title: String,
        /// Name.
        soft name: String,
        /// Kind.
        dflt kind: ToolKind,
        /// Status.
        dflt status: ToolCallStatus,
        /// Content.
        list content: ToolCallContent,
        /// Locations.
        list locations: ToolCallLocation,
        /// Raw input.
        soft raw_input: Value,
        /// Raw output.
        soft raw_output: Value,
        meta
    }
}

object! {
    /// Tool call update.
    pub struct ToolCallUpdate {
        /// Tool call id.
        req tool_call_id: ToolCallId,
        /// Kind.
        soft kind: ToolKind,
        /// Status.
        soft status: ToolCallStatus,
        /// Title.
        soft title: String,
        /// Name.
        soft name: String,
        /// Content.
        soft_list content: ToolCallContent,
        /// Locations.
        soft_list locations: ToolCallLocation,
        /// Raw input.
        soft raw_input: Value,
        /// Raw output.
        soft raw_output: Value,
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
        ; fallback Other
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
        /// Completed.
        Completed = "completed",
        /// Failed.
        Failed = "failed",
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
        req path: String,
        /// Line.
        soft line: u32,
        meta
    }
}
