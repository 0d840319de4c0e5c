//! Words questions for a client of version 1, where a permission's words lie in the tool call.

use acp_wire::v1;
use serde_json::Value;
use session_model::{
    Ask, AskOption, AskOptionKind, Content, ElicitAsk, PermissionAsk, SessionId, ToolCallUpdate, ToolContent,
};

use super::limit::Detail;
use super::{ELICITATION, Outgoing, PERMISSION, v1_words as words};
use crate::command::ClientFeatures;

pub(super) fn ask(session: &SessionId, features: ClientFeatures, ask: &Ask) -> Option<Outgoing> {
    match ask {
        Ask::Permission(ask) => Outgoing::bounded(PERMISSION, |detail| permission(session, ask, detail)),
        Ask::Elicit(form) if features.elicit_form => Outgoing::new(ELICITATION, &elicitation(session, form)?),
        Ask::Elicit(_) => None,
    }
}

fn permission(session: &SessionId, ask: &PermissionAsk, detail: Detail) -> v1::RequestPermissionRequest {
    let mut call = ask.tool_call.clone();
    call.title.get_or_insert_with(|| ask.title.clone());
    // The version has no place for a description: it is shown in the call.
    if let Some(description) = ask.description.as_deref().filter(|text| !is_told(text, &call)) {
        let content = call.content.get_or_insert_default();
        // What begins it already (a long command) is not shown twice.
        content.retain(|shown| !begins(description, shown));
        content.push(ToolContent::Content(Content::text(description)));
    }
    v1::RequestPermissionRequest::new(
        session.as_str(),
        words::tool_call_update(&call, detail),
        ask.options.iter().map(option).collect::<Vec<_>>(),
    )
}

/// Whether a call that shows something says all that is in `description`: what is done (a word), and to which file.
fn is_told(description: &str, call: &ToolCallUpdate) -> bool {
    let shows = call.content.as_ref().is_some_and(|content| !content.is_empty());
    let Some((_, place)) = description.split_once(' ').filter(|_| shows) else { return false };
    call.locations.iter().flatten().any(|location| location.path.as_os_str() == place)
}

fn begins(description: &str, shown: &ToolContent) -> bool {
    match shown {
        ToolContent::Content(content) => content.as_text().is_some_and(|text| description.starts_with(text)),
        ToolContent::Change(_) | ToolContent::Terminal(_) => false,
    }
}

fn option(option: &AskOption) -> v1::PermissionOption {
    let kind = match option.kind {
        AskOptionKind::AllowOnce => v1::PermissionOptionKind::AllowOnce,
        AskOptionKind::AllowAlways => v1::PermissionOptionKind::AllowAlways,
        AskOptionKind::RejectOnce => v1::PermissionOptionKind::RejectOnce,
        AskOptionKind::RejectAlways => v1::PermissionOptionKind::RejectAlways,
    };
    v1::PermissionOption::new(option.id.as_str(), option.name.as_str(), kind)
}

/// `None` for a schema that the protocol's forms cannot show.
fn elicitation(session: &SessionId, ask: &ElicitAsk) -> Option<v1::CreateElicitationRequest> {
    let schema = match serde_json::from_value::<v1::ElicitationSchema>(Value::clone(&ask.schema)) {
        Ok(schema) => schema,
        Err(error) => {
            tracing::warn!(%error, "a form's schema does not fit the protocol");
            return None;
        }
    };
    let scope = v1::ElicitationSessionScope::new(session.as_str())
        .tool_call_id(ask.tool_call.as_ref().map(|id| v1::ToolCallId::from(id.as_str())));
    let mode = v1::ElicitationMode::Form(v1::ElicitationFormMode::new(scope, schema));
    Some(v1::CreateElicitationRequest::new(mode, ask.message.as_str()))
}
