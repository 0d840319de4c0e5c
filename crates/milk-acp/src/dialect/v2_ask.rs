//! Words questions for a client of version 2.

use acp_wire::v2;
use serde_json::Value;
use session_model::{Ask, AskOption, AskOptionKind, ElicitAsk, PermissionAsk, SessionId};

use super::limit::Detail;
use super::{ELICITATION, Outgoing, PERMISSION, v2_words as words};
use crate::command::ClientFeatures;

pub(super) fn ask(session: &SessionId, features: ClientFeatures, ask: &Ask) -> Option<Outgoing> {
    match ask {
        Ask::Permission(ask) => Outgoing::bounded(PERMISSION, |detail| permission(session, ask, detail)),
        Ask::Elicit(form) if features.elicit_form => Outgoing::new(ELICITATION, &elicitation(session, form)?),
        Ask::Elicit(_) => None,
    }
}

fn permission(session: &SessionId, ask: &PermissionAsk, detail: Detail) -> v2::RequestPermissionRequest {
    let call = words::tool_call_update(&ask.tool_call, detail);
    let subject = v2::RequestPermissionSubject::ToolCall(v2::ToolCallPermissionSubject::new(call));
    let options: Vec<_> = ask.options.iter().map(option).collect();
    v2::RequestPermissionRequest::new(session.as_str(), ask.title.as_str(), options)
        .description(ask.description.clone())
        .subject(subject)
}

fn option(option: &AskOption) -> v2::PermissionOption {
    let kind = match option.kind {
        AskOptionKind::AllowOnce => v2::PermissionOptionKind::AllowOnce,
        AskOptionKind::AllowAlways => v2::PermissionOptionKind::AllowAlways,
        AskOptionKind::RejectOnce => v2::PermissionOptionKind::RejectOnce,
        AskOptionKind::RejectAlways => v2::PermissionOptionKind::RejectAlways,
    };
    v2::PermissionOption::new(option.id.as_str(), option.name.as_str(), kind)
}

/// `None` for a schema that the protocol's forms cannot show.
fn elicitation(session: &SessionId, ask: &ElicitAsk) -> Option<v2::CreateElicitationRequest> {
    let schema = match serde_json::from_value::<v2::ElicitationSchema>(Value::clone(&ask.schema)) {
        Ok(schema) => schema,
        Err(error) => {
            tracing::warn!(%error, "a form's schema does not fit the protocol");
            return None;
        }
    };
    let scope = v2::ElicitationSessionScope::new(session.as_str())
        .tool_call_id(ask.tool_call.as_ref().map(|id| v2::ToolCallId::from(id.as_str())));
    let mode = v2::ElicitationMode::Form(v2::ElicitationFormMode::new(scope, schema));
    Some(v2::CreateElicitationRequest::new(mode, ask.message.as_str()))
}
