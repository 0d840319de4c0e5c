//! Asking the user for a permission.

use super::session::{AbsolutePath, SessionId};
use super::terminal::TerminalId;
use super::tool_call::{ToolCallId, ToolCallPermissionSubject};
use crate::macros::{from_variants, object, string_type, strings, tagged};

object! {
    /// Asks the user whether the agent may do something. Protocol: Tool Calls.
    pub struct RequestPermissionRequest {
        /// The session.
        req session_id: SessionId,
        /// What will happen, in one line.
        req title: String,
        /// More words on it.
        soft description: String,
        /// What the permission is for.
        opt subject: RequestPermissionSubject,
        /// The answers to choose from.
        req options: Vec<PermissionOption>,
        meta
    }
}

tagged! {
    /// What the permission is for. Protocol: Tool Calls.
    #[expect(
        clippy::large_enum_variant,
        reason = "values are built, written and dropped; a box would cost each message an allocation"
    )]
    pub enum RequestPermissionSubject: "type" {
        /// A tool call.
        ToolCall(ToolCallPermissionSubject) = "tool_call",
        /// A command.
        Command(CommandPermissionSubject) = "command",
        ; else Other
    }
}

from_variants! {
    RequestPermissionSubject:
    ToolCall(ToolCallPermissionSubject), Command(CommandPermissionSubject),
}

object! {
    /// A command that the agent wants to run. Protocol: Tool Calls.
    pub struct CommandPermissionSubject {
        /// The command as it would be typed.
        req command: String,
        /// The directory it works in, absolute.
        req cwd: AbsolutePath,
        /// The tool call.
        soft tool_call_id: ToolCallId,
        /// The terminal.
        soft terminal_id: TerminalId,
        meta
    }
}

object! {
    /// One answer the user may give. Protocol: Tool Calls.
    pub struct PermissionOption {
        /// The answer.
        req option_id: PermissionOptionId,
        /// The answer's label.
        req name: String,
        /// What the answer means.
        req kind: PermissionOptionKind,
        meta
    }
}

string_type! {
    /// Names an answer within its question.
    pub struct PermissionOptionId;
}

strings! {
    /// What an answer means; unknown kinds are no approval. Protocol: Tool Calls.
    pub enum PermissionOptionKind {
        /// Yes, this time.
        AllowOnce = "allow_once",
        /// Yes, and don't ask again.
        AllowAlways = "allow_always",
        /// No, this time.
        RejectOnce = "reject_once",
        /// No, and don't ask again.
        RejectAlways = "reject_always",
        ; else Other
    }
}

object! {
    /// The user's answer. Protocol: Tool Calls.
    pub struct RequestPermissionResponse {
        /// What became of the question.
        req outcome: RequestPermissionOutcome,
        meta
    }
}

tagged! {
    /// What became of a question. Protocol: Tool Calls.
    pub enum RequestPermissionOutcome: "outcome" {
        /// It was withdrawn before the user answered.
        Cancelled(CancelledPermissionOutcome) = "cancelled",
        /// The user chose an answer.
        Selected(SelectedPermissionOutcome) = "selected",
        ; else Other
    }
}

from_variants! {
    RequestPermissionOutcome:
    Cancelled(CancelledPermissionOutcome), Selected(SelectedPermissionOutcome),
}

object! {
    /// The question was withdrawn before the user answered. Protocol: Tool Calls.
    pub struct CancelledPermissionOutcome: Default {
        meta
    }
}

object! {
    /// The user chose an answer. Protocol: Tool Calls.
    pub struct SelectedPermissionOutcome {
        /// The answer.
        req option_id: PermissionOptionId,
        meta
    }
}
