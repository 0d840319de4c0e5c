//! One outgoing request: its answer to come, its deadline, its withdrawal.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use tokio::sync::oneshot;
use tokio::time::Sleep;
use tracing::Span;

use crate::core::{Core, with_scratch};
use crate::params::decode;
use crate::pending::Outcome;
use crate::{RequestError, RequestId, encode};

/// The answer to a request of ours, to be awaited.
///
/// Dropping it before the answer came withdraws the request: the peer is sent the connection's
/// [`CancelMethod`](crate::CancelMethod), if it has one, and a late answer is dropped.
#[must_use = "dropping this withdraws the request"]
#[derive(Debug)]
pub struct PendingResponse {
    core: Arc<Core>,
    number: i64,
    state: State,
    deadline: Option<Pin<Box<Sleep>>>,
    span: Span,
}

#[derive(Debug)]
enum State {
    /// In the table, not sent: forgotten without a word when dropped.
    Unsent(oneshot::Receiver<Outcome>),
    Waiting(oneshot::Receiver<Outcome>),
    Failed(RequestError),
    Done,
}

impl PendingResponse {
    pub(crate) fn new(core: Arc<Core>, number: i64, waiter: oneshot::Receiver<Outcome>, span: Span) -> Self {
        Self { core, number, state: State::Unsent(waiter), deadline: None, span }
    }

    pub(crate) fn sent(mut self) -> Self {
        self.state = match std::mem::replace(&mut self.state, State::Done) {
            State::Unsent(waiter) => State::Waiting(waiter),
            other @ (State::Waiting(_) | State::Failed(_) | State::Done) => other,
        };
        self
    }

    pub(crate) fn failed(core: Arc<Core>, error: RequestError) -> Self {
        Self { core, number: 0, state: State::Failed(error), deadline: None, span: Span::none() }
    }

    /// The identifier the request was sent with.
    #[must_use]
    pub fn id(&self) -> RequestId {
        RequestId::Number(self.number)
    }

    /// Withdraws the request and fails with [`RequestError::Deadline`] if no answer comes within `limit` from
    /// now.
    pub fn with_deadline(mut self, limit: Duration) -> Self {
        self.deadline = Some(Box::pin(tokio::time::sleep(limit)));
        self
    }

    /// Lets go of the answer without withdrawing the request.
    pub fn detach(mut self) {
        self.state = State::Done;
    }

    /// Tells the peer that the answer is no longer wanted, and goes on waiting for the one it owes.
    pub fn cancel(&self) {
        if matches!(self.state, State::Waiting(_)) {
            self.send_cancel();
        }
    }

    /// Waits for the answer and reads its result.
    ///
    /// # Errors
    /// As the future's own, and [`RequestError::Decode`] for a result of another type.
    pub async fn typed<T: DeserializeOwned>(self) -> Result<T, RequestError> {
        decode(self.await?.get()).map_err(RequestError::Decode)
    }

    fn withdraw(&mut self) {
        let state = std::mem::replace(&mut self.state, State::Done);
        match state {
            State::Unsent(_) => {
                self.core.pending.forget(self.number);
            }
            State::Waiting(_) => {
                if self.core.pending.forget(self.number) {
                    self.send_cancel();
                }
            }
            State::Failed(_) | State::Done => {}
        }
    }

    fn send_cancel(&self) {
        let Some(cancel) = self.core.cancel else { return };
        let params = (cancel.params)(&self.id());
        with_scratch(|line| {
            // A `Value` always has a JSON form, and a closed connection needs no withdrawal.
            if encode::notification(line, cancel.method, &params).is_ok() {
                let _: Result<(), crate::Closed> = self.core.push_line(line);
            }
        });
    }
}

impl Future for PendingResponse {
    type Output = Result<Box<RawValue>, RequestError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        match &mut this.state {
            State::Unsent(waiter) | State::Waiting(waiter) => {
                if let Poll::Ready(outcome) = Pin::new(waiter).poll(cx) {
                    this.state = State::Done;
                    let outcome = outcome.unwrap_or(Err(RequestError::Closed));
                    let code = outcome.as_ref().map_or_else(RequestError::code, |_| Some(0));
                    if let Some(code) = code {
                        this.span.record("code", code);
                    }
                    return Poll::Ready(outcome);
                }
            }
            State::Failed(error) => {
                let error = error.clone();
                this.state = State::Done;
                return Poll::Ready(Err(error));
            }
            State::Done => return Poll::Ready(Err(RequestError::Closed)),
        }
        let Some(deadline) = &mut this.deadline else { return Poll::Pending };
        ready!(deadline.as_mut().poll(cx));
        this.withdraw();
        Poll::Ready(Err(RequestError::Deadline))
    }
}

impl Drop for PendingResponse {
    fn drop(&mut self) {
        self.withdraw();
    }
}
