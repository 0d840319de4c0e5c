//! elicitation

use std::collections::BTreeMap;

use serde::de::Error;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::elicitation_schema::ElicitationSchema;
use super::request_id::RequestId;
use super::session::SessionId;
use super::tool_call::ToolCallId;
use crate::Other;
use crate::macros::{object, string_type, tagged};

string_type! {
    /// Elicitation id.
    pub struct ElicitationId;
}

object! {
    /// Elicitation capabilities.
    pub struct ElicitationCapabilities: Default {
        /// Form.
        soft form: ElicitationFormCapabilities,
        /// Url.
        soft url: ElicitationUrlCapabilities,
        meta
    }
}

object! {
    /// Elicitation form capabilities.
    pub struct ElicitationFormCapabilities: Default {
        meta
    }
}

object! {
    /// Elicitation url capabilities.
    pub struct ElicitationUrlCapabilities: Default {
        meta
    }
}

object! {
    /// Elicitation session scope.
    pub struct ElicitationSessionScope {
        /// Session id.
        req session_id: SessionId,
        /// Tool call id.
        soft tool_call_id: ToolCallId,
    }
}

object! {
    /// Elicitation request scope.
    pub struct ElicitationRequestScope {
        /// Request id.
        req request_id: RequestId,
    }
}

object! {
    /// Create elicitation request.
    pub struct CreateElicitationRequest {
        /// Mode.
        flat mode: ElicitationMode,
        /// Message.
        req message: String,
        meta
    }
}

tagged! {
    /// Elicitation mode.
    pub enum ElicitationMode: "mode" {
        /// Form.
        Form(ElicitationFormMode) = "form",
        /// Url.
        Url(ElicitationUrlMode) = "url",
        ; else Other where has_scope
    }
}

object! {
    /// Elicitation form mode.
    pub struct ElicitationFormMode {
        /// Scope.
        flat scope: ElicitationScope,
        /// Requested schema.
        req requested_schema: ElicitationSchema,
    }
}

object! {
    /// Elicitation url mode.
    pub struct ElicitationUrlMode {
        /// Scope.
        flat scope: ElicitationScope,
        /// Elicitation id.
        req elicitation_id: ElicitationId,
        /// Url.
        req url: String,
    }
}

object! {
    /// Create elicitation response.
    pub struct CreateElicitationResponse {
        /// Action.
        flat action: ElicitationAction,
        meta
    }
}

tagged! {
    /// Elicitation action.
    pub enum ElicitationAction: "action" {
        /// Accept.
        Accept(ElicitationAcceptAction) = "accept",
        /// Decline.
        Decline = "decline",
        /// Cancel.
        Cancel = "cancel",
        ; else Other
    }
}

object! {
    /// Elicitation accept action.
    pub struct ElicitationAcceptAction: Default {
        /// Content.
        opt content: BTreeMap<String, ElicitationContentValue>,
    }
}

object! {
    /// Complete elicitation notification.
    pub struct CompleteElicitationNotification {
        /// Elicitation id.
        req elicitation_id: ElicitationId,
        meta
    }
}

/// What an elicitation belongs to: a session or a pending request. Protocol: Elicitation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ElicitationScope {
    /// A session, and maybe one of its tool calls.
    Session(ElicitationSessionScope),
    /// A request that is still to be answered.
    Request(ElicitationRequestScope),
}

impl From<ElicitationSessionScope> for ElicitationScope {
    fn from(scope: ElicitationSessionScope) -> Self {
        Self::Session(scope)
    }
}

impl From<ElicitationRequestScope> for ElicitationScope {
    fn from(scope: ElicitationRequestScope) -> Self {
        Self::Request(scope)
    }
}

/// The value of one form field. Protocol: Elicitation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ElicitationContentValue {
    /// Text, or the value of a single choice.
    String(String),
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Number(f64),
    /// Yes or no.
    Boolean(bool),
    /// The values of a multiple choice.
    StringArray(Vec<String>),
}

/// A mode this version of the protocol doesn't define must say what it belongs to, like the others.
fn has_scope<E: Error>(other: &Other) -> Result<(), E> {
    let members = Value::Object(other.fields().clone());
    ElicitationScope::deserialize(members).map(|_| ()).map_err(E::custom)
}
