//! The questions a session has open at its client, and who in the turn waits for each.
//!
//! Dropping a question withdraws it at the client. Knows nothing of what is asked.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use acp_rpc::{PendingResponse, RequestError, RpcError};
use serde_json::value::RawValue;
use session_model::{Answer, Ask, AskId};
use tokio::sync::oneshot;

/// What came back for one question.
pub(crate) struct Returned {
    pub(crate) id: AskId,
    pub(crate) ask: Ask,
    pub(crate) outcome: Result<Box<RawValue>, RequestError>,
}

impl std::fmt::Debug for Returned {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Returned").field("id", &self.id).finish_non_exhaustive()
    }
}

struct Open {
    id: AskId,
    ask: Ask,
    pending: Pin<Box<PendingResponse>>,
}

/// All open questions of one session.
#[derive(Default)]
pub(crate) struct Questions {
    waiting: Vec<(AskId, oneshot::Sender<Answer>)>,
    open: Vec<Open>,
}

impl std::fmt::Debug for Questions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Questions").field("open", &self.open.len()).finish_non_exhaustive()
    }
}

impl Questions {
    /// The turn waits for an answer under this id.
    pub(crate) fn expect(&mut self, id: AskId, answer: oneshot::Sender<Answer>) {
        self.waiting.push((id, answer));
    }

    /// The client has been asked.
    pub(crate) fn sent(&mut self, id: AskId, ask: Ask, pending: PendingResponse) {
        self.open.push(Open { id, ask, pending: Box::pin(pending) });
    }

    /// Takes a question back at the client.
    pub(crate) fn withdraw(&mut self, id: &AskId) {
        self.open.retain(|open| open.id != *id);
    }

    /// Gives the turn its answer.
    pub(crate) fn settle(&mut self, id: &AskId, answer: Answer) {
        if let Some(at) = self.waiting.iter().position(|(waiting, _)| waiting == id) {
            // A turn that no longer listens was cancelled.
            drop(self.waiting.swap_remove(at).1.send(answer));
        }
    }

    /// Waits for the next answer; pending while nothing is open. A question that nobody waits for any more (its call
    /// was cancelled) is withdrawn at the client and counts as cancelled. Cancel safe.
    pub(crate) async fn returned(&mut self) -> Returned {
        poll_fn(|cx| {
            let waiting = self.waiting.iter_mut();
            let left: Vec<_> = waiting
                .filter_map(|(id, answer)| answer.poll_closed(cx).is_ready().then(|| id.clone()))
                .collect();
            if let Some(at) = self.open.iter().position(|open| left.contains(&open.id)) {
                let Open { id, ask, .. } = self.open.swap_remove(at);
                return Poll::Ready(Returned {
                    id,
                    ask,
                    outcome: Err(RequestError::Rpc(RpcError::cancelled())),
                });
            }
            let ready = self.open.iter_mut().enumerate().find_map(|(at, open)| {
                match open.pending.as_mut().poll(cx) {
                    Poll::Ready(outcome) => Some((at, outcome)),
                    Poll::Pending => None,
                }
            });
            match ready {
                Some((at, outcome)) => {
                    let Open { id, ask, .. } = self.open.swap_remove(at);
                    Poll::Ready(Returned { id, ask, outcome })
                }
                None => Poll::Pending,
            }
        })
        .await
    }
}
