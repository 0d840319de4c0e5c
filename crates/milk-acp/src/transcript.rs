//! A stored conversation as a document to be given away: without the secrets that the redaction knows.

use agent_runtime::redact::Redactor;
pub use agent_runtime::tools::export_session::Form;
use session_store::{StoreError, StoredSession, export};

/// The conversation in this form; with marks in place of secrets where there is a `redactor`.
///
/// # Errors
/// [`StoreError`] when it cannot be said in this form.
pub fn document(
    stored: &StoredSession,
    form: Form,
    redactor: Option<&Redactor>,
) -> Result<String, StoreError> {
    let text = match form {
        Form::Text => export::text(stored),
        Form::Json => export::json(stored)?,
    };
    Ok(match (redactor, form) {
        (None, Form::Text | Form::Json) => text,
        (Some(redactor), Form::Text) => redactor.hide(&text).into_owned(),
        (Some(redactor), Form::Json) => redactor.hide_json(text),
    })
}
