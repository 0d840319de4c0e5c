//! Asking the user for a permission.

use super::session::SessionId;
use super::tool_call::ToolCallUpdate;
use crate::macros::{from_variants, object, string_type, strings, tagged};

object! {
    /// Asks the user whether the agent may do something. Protocol: Tool Calls.
    pub struct RequestPermissionRequest {
        /// The session.
        req session_id: SessionId,
        /// The tool call.
        req tool_call: ToolCallUpdate,
        /// The answers to choose from.
        req options: Vec<PermissionOption>,
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
        Cancelled = "cancelled",
        /// The user chose an answer.
        Selected(SelectedPermissionOutcome) = "selected",
    }
}

from_variants! {
    RequestPermissionOutcome:
    Selected(SelectedPermissionOutcome),
}

object! {
    /// The user chose an answer. Protocol: Tool Calls.
    pub struct SelectedPermissionOutcome {
        /// The answer.
        req option_id: PermissionOptionId,
        meta
    }
}
