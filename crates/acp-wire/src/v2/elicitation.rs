//! Asking the user for input.

use std::collections::BTreeMap;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::elicitation_schema::ElicitationSchema;
use super::request_id::RequestId;
use super::session::SessionId;
use super::tool_call::ToolCallId;
use crate::macros::{from_variants, object, string_type, tagged};
use crate::{Meta, Other};

string_type! {
    /// Names an interaction behind a URL.
    pub struct ElicitationId;
}

object! {
    /// In which ways the client asks the user for input. Protocol: Elicitation.
    pub struct ElicitationCapabilities: Default {
        /// Forms.
        soft form: ElicitationFormCapabilities,
        /// The address.
        soft url: ElicitationUrlCapabilities,
        meta
    }
}

object! {
    /// Marks that the client shows forms. Protocol: Elicitation.
    pub struct ElicitationFormCapabilities: Default {
        meta
    }
}

object! {
    /// Marks that the client opens URLs. Protocol: Elicitation.
    pub struct ElicitationUrlCapabilities: Default {
        meta
    }
}

object! {
    /// The question belongs to a session.
    pub struct ElicitationSessionScope {
        /// The session.
        req session_id: SessionId,
        /// The tool call.
        soft tool_call_id: ToolCallId,
    }
}

object! {
    /// The question belongs to a request that is still to be answered.
    pub struct ElicitationRequestScope {
        /// The request's id.
        req request_id: RequestId,
    }
}

object! {
    /// Asks the user for input, by a form or behind a URL. Protocol: Elicitation.
    pub struct CreateElicitationRequest {
        /// How the user is asked.
        flat mode: ElicitationMode,
        /// What the user is asked.
        req message: String,
        meta
    }
}

tagged! {
    /// How the user is asked. Protocol: Elicitation.
    pub enum ElicitationMode: "mode" {
        /// By a form.
        Form(ElicitationFormMode) = "form",
        /// Behind a URL.
        Url(ElicitationUrlMode) = "url",
        ; else Other where has_scope
    }
}

from_variants! {
    ElicitationMode:
    Form(ElicitationFormMode), Url(ElicitationUrlMode),
}

object! {
    /// The user fills in a form. Protocol: Elicitation.
    pub struct ElicitationFormMode {
        /// What the question belongs to.
        flat scope: ElicitationScope,
        /// The form.
        req requested_schema: ElicitationSchema,
    }
}

object! {
    /// The user goes to a URL. Protocol: Elicitation.
    pub struct ElicitationUrlMode {
        /// What the question belongs to.
        flat scope: ElicitationScope,
        /// The interaction.
        req elicitation_id: ElicitationId,
        /// The address.
        req url: String,
    }
}

object! {
    /// What the user did with the question. Protocol: Elicitation.
    pub struct CreateElicitationResponse {
        /// What the user did.
        flat action: ElicitationAction,
        meta
    }
}

tagged! {
    /// What the user did with a question; unknown actions count as `cancel`. Protocol: Elicitation.
    pub enum ElicitationAction: "action" {
        /// The user answered.
        Accept(ElicitationAcceptAction) = "accept",
        /// The user refused to answer.
        Decline = "decline",
        /// The user went away without an answer.
        Cancel = "cancel",
        ; else Other
    }
}

from_variants! {
    ElicitationAction:
    Accept(ElicitationAcceptAction),
}

object! {
    /// The user answered. Protocol: Elicitation.
    pub struct ElicitationAcceptAction: Default {
        /// The fields' values by name.
        opt content: BTreeMap<String, ElicitationContentValue>,
    }
}

object! {
    /// Says that the interaction behind a URL is over. Protocol: Elicitation.
    pub struct CompleteElicitationNotification {
        /// The interaction.
        req elicitation_id: ElicitationId,
        meta
    }
}

/// What an elicitation belongs to: a session or a pending request. Protocol: Elicitation.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
    /// A value of a kind this version of the protocol doesn't define.
    Other(Value),
}

impl<'de> Deserialize<'de> for ElicitationScope {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let members: Meta = crate::lenient::object(deserializer)?;
        let member = |name: &str| members.get(name);
        match (member("sessionId"), member("toolCallId"), member("requestId")) {
            (Some(session), tool_call, None) => {
                let session_id = SessionId::deserialize(session).map_err(D::Error::custom)?;
                let tool_call_id = tool_call.and_then(|id| ToolCallId::deserialize(id).ok());
                Ok(Self::Session(ElicitationSessionScope { session_id, tool_call_id }))
            }
            (None, None, Some(request)) => {
                let request_id = RequestId::deserialize(request).map_err(D::Error::custom)?;
                Ok(Self::Request(ElicitationRequestScope { request_id }))
            }
            (Some(_), _, Some(_)) | (None, _, _) => Err(D::Error::custom(
                "an elicitation has either a `sessionId` (with or without a `toolCallId`) or a `requestId`",
            )),
        }
    }
}

/// A mode this version of the protocol doesn't define must say what it belongs to, like the others.
fn has_scope<E: Error>(other: &Other) -> Result<(), E> {
    let members = Value::Object(other.fields().clone());
    ElicitationScope::deserialize(members).map(|_| ()).map_err(E::custom)
}
