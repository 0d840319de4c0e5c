//! How a stored session is dropped: after whoever shows it has let go of it.
//!
//! Serves `session/delete` and the command for it. A view that was made with the session is closed; one that merely
//! shows it goes on with a fresh session.

use acp_rpc::{Responder, RpcError};
use session_model::SessionId;
use tokio::sync::oneshot;

use crate::command::{DeleteSession, Reply};
use crate::error::ServerError;
use crate::session::{Mail, SessionHandle, Shared, Undelivered};
use crate::views::Deletion;

/// `session/delete`.
pub(crate) async fn delete(shared: Shared, request: DeleteSession, responder: Responder) {
    let DeleteSession { reference, by_prefix, missing_ok } = request;
    let exact = SessionId::from(reference.as_str());
    let found = if by_prefix {
        shared.store.find(&reference).await.map(|meta| meta.id)
    } else {
        shared.store.meta(&exact).await.map(|meta| meta.id)
    };
    // A session that could not be stored is known to its view alone.
    let id = found.as_ref().ok().unwrap_or(&exact).clone();
    let outcome = match (shared.views.delete(&id), found) {
        (Deletion::View(view), _) => ask(&shared, &view, id, Mail::Delete).await,
        (Deletion::Shown(view), _) => ask(&shared, &view, id, Mail::Drop).await,
        (Deletion::Nobody, Ok(id)) => drop_stored(&shared, &id).await,
        (Deletion::Nobody, Err(error)) => Err(error.into()),
    };
    match outcome {
        Ok(()) => responder.ok(&shared.dialect.reply(&Reply::Done)),
        Err(ServerError::UnknownSession(_)) if missing_ok => {
            responder.ok(&shared.dialect.reply(&Reply::Done));
        }
        Err(error) => responder.err(&RpcError::from(error)),
    }
}

/// Drops a session that another view may show: that view goes on with a fresh one.
pub(crate) async fn drop_elsewhere(shared: &Shared, id: &SessionId) -> Result<(), ServerError> {
    let outcome = match shared.views.shown(id) {
        Some(view) => ask(shared, &view, id.clone(), Mail::Drop).await,
        None => drop_stored(shared, id).await,
    };
    if outcome.is_ok() {
        shared.views.forget(id);
    }
    outcome
}

/// Has a view drop the session; when the view is gone, it is dropped here.
async fn ask(
    shared: &Shared,
    view: &SessionHandle,
    id: SessionId,
    mail: fn(SessionId, oneshot::Sender<Result<(), ServerError>>) -> Mail,
) -> Result<(), ServerError> {
    let (done, dropped) = oneshot::channel();
    match view.post(mail(id.clone(), done)) {
        Ok(()) => {}
        Err(Undelivered::Full(_)) => {
            let text = format!("session {id} has too many requests waiting; wait for some to be answered");
            return Err(ServerError::failed(Some(id), "overloaded", text));
        }
        Err(Undelivered::Gone(_)) => return drop_stored(shared, &id).await,
    }
    match dropped.await {
        Ok(outcome) => outcome,
        Err(_gone) => drop_stored(shared, &id).await,
    }
}

/// Drops a session that nobody may have open, here or in another process.
pub(crate) async fn drop_stored(shared: &Shared, id: &SessionId) -> Result<(), ServerError> {
    let lease = shared.store.lease(id).await?;
    let outcome = shared.store.delete(id).await;
    drop(lease);
    Ok(outcome?)
}
