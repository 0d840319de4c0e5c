//! permission

use super::session::{AbsolutePath, SessionId};
use super::terminal::TerminalId;
use super::tool_call::{ToolCallId, ToolCallPermissionSubject};
use crate::macros::{object, string_type, strings, tagged};

object! {
    /// Request permission request.
    pub struct RequestPermissionRequest {
        /// Session id.
        req session_id: SessionId,
        /// Title.
        req title: String,
        /// Description.
        soft description: String,
        /// Subject.
        opt subject: RequestPermissionSubject,
        /// Options.
        req options: Vec<PermissionOption>,
        meta
    }
}

tagged! {
    /// Request permission subject.
    pub enum RequestPermissionSubject: "type" {
        /// Tool call.
        ToolCall(ToolCallPermissionSubject) = "tool_call",
        /// Command.
        Command(CommandPermissionSubject) = "command",
        ; else Other
    }
}

object! {
    /// Command permission subject.
    pub struct CommandPermissionSubject {
        /// Command.
        req command: String,
        /// Cwd.
        req cwd: AbsolutePath,
        /// Tool call id.
        soft tool_call_id: ToolCallId,
        /// Terminal id.
        soft terminal_id: TerminalId,
        meta
    }
}

object! {
    /// Permission option.
    pub struct PermissionOption {
        /// Option id.
        req option_id: PermissionOptionId,
        /// Name.
        req name: String,
        /// Kind.
        req kind: PermissionOptionKind,
        meta
    }
}

string_type! {
    /// Permission option id.
    pub struct PermissionOptionId;
}

strings! {
    /// Permission option kind.
    pub enum PermissionOptionKind {
        /// Allow once.
        AllowOnce = "allow_once",
        /// Allow always.
        AllowAlways = "allow_always",
        /// Reject once.
        RejectOnce = "reject_once",
        /// Reject always.
        RejectAlways = "reject_always",
        ; else Other
    }
}

object! {
    /// Request permission response.
    pub struct RequestPermissionResponse {
        /// Outcome.
        req outcome: RequestPermissionOutcome,
        meta
    }
}

tagged! {
    /// Request permission outcome.
    pub enum RequestPermissionOutcome: "outcome" {
        /// Cancelled.
        Cancelled(CancelledPermissionOutcome) = "cancelled",
        /// Selected.
        Selected(SelectedPermissionOutcome) = "selected",
        ; else Other
    }
}

object! {
    /// Cancelled permission outcome.
    pub struct CancelledPermissionOutcome: Default {
        meta
    }
}

object! {
    /// Selected permission outcome.
    pub struct SelectedPermissionOutcome {
        /// Option id.
        req option_id: PermissionOptionId,
        meta
    }
}
