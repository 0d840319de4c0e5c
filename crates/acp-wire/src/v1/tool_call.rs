//! Tool calls and their output.

use serde_json::Value;

use super::content::ContentBlock;
use super::diff::Diff;
use super::session::SessionId;
use super::terminal::Terminal;
use crate::macros::{from_variants, object, string_type, strings, tagged};

object! {
    /// A tool call that has just begun. Protocol: Tool Calls.
    pub struct ToolCall {
        /// The tool call.
        req tool_call_id: ToolCallId,
        /// What the call does, in one line.
        req title: String,
        /// The tool's name for programs.
        soft name: String,
        /// What the tool does.
        dflt kind: ToolKind,
        /// How far it is.
        dflt status: ToolCallStatus,
        /// What it has put out so far.
        list content: ToolCallContent,
        /// The places in files the tool works at.
        list locations: ToolCallLocation,
        /// What the tool was given, as JSON.
        soft raw_input: Value,
        /// What the tool returned, as JSON.
        soft raw_output: Value,
        meta
    }
}

object! {
    /// Changes of a tool call; absent members stay as they are, lists are replaced. Protocol: Tool Calls.
    pub struct ToolCallUpdate {
        /// The tool call.
        req tool_call_id: ToolCallId,
        /// What the tool does.
        soft kind: ToolKind,
        /// How far it is.
        soft status: ToolCallStatus,
        /// What the call does, in one line.
        soft title: String,
        /// The tool's name for programs.
        soft name: String,
        /// What it has put out so far, all of it.
        soft_list content: ToolCallContent,
        /// The places in files the tool works at.
        soft_list locations: ToolCallLocation,
        /// What the tool was given, as JSON.
        soft raw_input: Value,
        /// What the tool returned, as JSON.
        soft raw_output: Value,
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
        ; fallback Other
    }
}

strings! {
    /// How far a tool call is. Protocol: Tool Calls.
    pub enum ToolCallStatus: Default {
        /// It hasn't begun: its input is still coming, or it waits for a permission.
        #[default]
        Pending = "pending",
        /// It runs.
        InProgress = "in_progress",
        /// It is done.
        Completed = "completed",
        /// It failed.
        Failed = "failed",
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
        req path: String,
        /// The line, from 1.
        soft line: u32,
        meta
    }
}
