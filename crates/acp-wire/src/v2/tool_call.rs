//! Tool calls and their output.

use serde_json::Value;

use super::capabilities::ToolCallCapabilities;
use super::content::ContentBlock;
use super::diff::Diff;
use super::session::{AbsolutePath, SessionId};
use super::terminal::Terminal;
use crate::macros::{from_variants, object, string_type, strings, tagged};

object! {
    /// Asks to end one tool call. Protocol: Tool Calls.
    pub struct CancelToolCallRequest {
        /// The session.
        req session_id: SessionId,
        /// The tool call.
        req tool_call_id: ToolCallId,
        meta
    }
}

object! {
    /// A tool call that the agent wants to make. Protocol: Tool Calls.
    pub struct ToolCallPermissionSubject {
        /// The tool call.
        req tool_call: ToolCallUpdate,
        meta
    }
}

object! {
    /// A tool call: creates or changes it. Protocol: Tool Calls.
    pub struct ToolCallUpdate {
        /// The tool call.
        req tool_call_id: ToolCallId,
        /// The tool's name for programs.
        patch name: String,
        /// What the call does, in one line.
        patch title: String,
        /// What the tool does.
        patch kind: ToolKind,
        /// How far it is.
        patch status: ToolCallStatus,
        /// What it has put out so far, all of it.
        patch_list content: ToolCallContent,
        /// The places in files the tool works at.
        patch_list locations: ToolCallLocation,
        /// What the tool was given, as JSON.
        patch raw_input: Value,
        /// What the tool returned, as JSON.
        patch raw_output: Value,
        /// What the client may do with the call.
        patch capabilities: ToolCallCapabilities,
        patch_meta
    }
}

object! {
    /// One more piece of a tool's output. Protocol: Tool Calls.
    pub struct ToolCallContentChunk {
        /// The tool call.
        req tool_call_id: ToolCallId,
        /// The content.
        req content: ToolCallContent,
        meta
    }
}

string_type! {
    /// Names a tool call within its session.
    pub struct ToolCallId;
}

strings! {
    /// What a tool does, so that the client can choose an icon. Protocol: Tool Calls.
    pub enum ToolKind: Default {
        /// Reads files or data.
        Read = "read",
        /// Changes files or data.
        Edit = "edit",
        /// Deletes files or data.
        Delete = "delete",
        /// Moves or renames files.
        Move = "move",
        /// Searches.
        Search = "search",
        /// Runs commands or code.
        Execute = "execute",
        /// Reasons.
        Think = "think",
        /// Gets something from elsewhere.
        Fetch = "fetch",
        /// Switches the session's mode.
        SwitchMode = "switch_mode",
        /// Anything else.
        #[default]
        Other = "other",
        ; else Unknown
    }
}

strings! {
    /// How far a tool call is; unknown values count as in progress. Protocol: Tool Calls.
    pub enum ToolCallStatus: Default {
        /// It hasn't begun: its input is still coming, or it waits for a permission.
        #[default]
        Pending = "pending",
        /// It runs.
        InProgress = "in_progress",
        /// It stands still for the time being.
        Paused = "paused",
        /// It is done.
        Completed = "completed",
        /// It failed.
        Failed = "failed",
        /// It was ended early.
        Cancelled = "cancelled",
        ; else Other
    }
}

tagged! {
    /// A piece of a tool's output. Protocol: Tool Calls.
    #[expect(
        clippy::large_enum_variant,
        reason = "values are built, written and dropped; a box would cost each message an allocation"
    )]
    pub enum ToolCallContent: "type" {
        /// A content block.
        Content(Content) = "content",
        /// Changed files.
        Diff(Diff) = "diff",
        /// A terminal, shown live.
        Terminal(Terminal) = "terminal",
        /// A subagent's session.
        Session(SessionReference) = "session",
        ; else Other
    }
}

from_variants! {
    ToolCallContent:
    Content(Content), Diff(Diff), Terminal(Terminal), Session(SessionReference),
}

object! {
    /// A subagent's session as the output of a tool. Protocol: Tool Calls.
    pub struct SessionReference {
        /// The session.
        req session_id: SessionId,
        meta
    }
}

object! {
    /// A content block as the output of a tool. Protocol: Tool Calls.
    pub struct Content {
        /// The content.
        req content: ContentBlock,
        meta
    }
}

object! {
    /// A place in a file that a tool works at. Protocol: Tool Calls.
    pub struct ToolCallLocation {
        /// The file, absolute.
        req path: AbsolutePath,
        /// The line, from 1.
        soft line: std::num::NonZeroU32,
        meta
    }
}

object! {
    /// Says that the call is being ended; its last status follows as an update. Protocol: Tool Calls.
    pub struct CancelToolCallResponse: Nullable {
        meta
    }
}
