//! permission

use super::session::SessionId;
use super::tool_call::ToolCallUpdate;
use crate::macros::{object, string_type, strings, tagged};

object! {
    /// Request permission request.
    pub struct RequestPermissionRequest {
        /// Session id.
        req session_id: SessionId,
        /// Tool call.
        req tool_call: ToolCallUpdate,
        /// Options.
        req options: Vec<PermissionOption>,
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
        Cancelled = "cancelled",
        /// Selected.
        Selected(SelectedPermissionOutcome) = "selected",
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
