//! The duty to answer one request, once.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use serde::Serialize;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::batch::Slot;
use crate::core::{Core, with_scratch};
use crate::withdrawal::Withdrawal;
use crate::{Closed, RequestId, RpcError, encode};

/// The duty to answer one request.
///
/// Spent by [`ok`](Self::ok) or [`err`](Self::err). Dropped unspent, it answers `-32603`, or `-32800` if the
/// request was withdrawn. A second answer does not compile:
///
/// ```compile_fail,E0382
/// fn twice(responder: acp_rpc::Responder) {
///     responder.ok(&1);
///     responder.ok(&2);
/// }
/// ```
///
/// An answer takes its place in the connection's one outgoing order when it is given: a notification sent before
/// it is written before it, one sent after it after it.
#[must_use = "a request must be answered"]
#[derive(Debug)]
pub struct Responder {
    core: Arc<Core>,
    id: RequestId,
    method: Arc<str>,
    withdrawal: Arc<Withdrawal>,
    written: Option<oneshot::Sender<()>>,
    span: tracing::Span,
    spent: bool,
}

impl Responder {
    pub(crate) fn new(core: Arc<Core>, id: RequestId, method: &str, withdrawal: Arc<Withdrawal>) -> Self {
        let span = tracing::debug_span!("request", dir = "in", %id, method, code = tracing::field::Empty);
        Self { core, id, method: method.into(), withdrawal, written: None, span, spent: false }
    }

    /// The request's identifier.
    #[must_use]
    pub fn id(&self) -> &RequestId {
        &self.id
    }

    /// The request's method.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.method
    }

    /// Cancelled when the peer withdraws the request, or the connection will not wait for it any longer. The
    /// request still wants its one answer.
    #[must_use]
    pub fn cancelled(&self) -> &CancellationToken {
        self.withdrawal.token(&self.core.life)
    }

    pub(crate) fn is_withdrawn(&self) -> bool {
        self.withdrawal.is_withdrawn(&self.core.life)
    }

    /// Drives `work` until the request is withdrawn; `None` if that was first.
    pub(crate) async fn unless_withdrawn<T>(&self, mut work: Pin<&mut impl Future<Output = T>>) -> Option<T> {
        // Most handlers never wait; their requests need no token.
        if let Poll::Ready(value) = futures::poll!(work.as_mut()) {
            return Some(value);
        }
        self.cancelled().run_until_cancelled(work).await
    }

    pub(crate) fn withdrawal(&self) -> &Arc<Withdrawal> {
        &self.withdrawal
    }

    /// The request's tracing span: its method and id, never its payload.
    #[must_use]
    pub fn span(&self) -> &tracing::Span {
        &self.span
    }

    /// A future that resolves when the answer has been written and flushed. Ask before answering.
    pub fn written(&mut self) -> Written {
        let (sender, receiver) = oneshot::channel();
        self.written = Some(sender);
        Written(receiver)
    }

    /// Answers with a result. A value that has no JSON form is answered `-32603`.
    pub fn ok<R: Serialize + ?Sized>(mut self, result: &R) {
        // Encoded before the duty is spent: should `result` panic while it is written, the drop still answers.
        let encoded = with_scratch(|line| {
            encode::result(line, &self.id, result)?;
            self.spend(0, |core, slot, written| core.deliver(line, slot, written));
            Ok::<_, serde_json::Error>(())
        });
        if let Err(error) = encoded {
            tracing::error!(parent: &self.span, %error, "result has no JSON form");
            self.fail(&RpcError::internal("result has no JSON form"));
        }
    }

    /// Answers with an error.
    pub fn err(mut self, error: &RpcError) {
        self.fail(error);
    }

    /// Answers with whichever of the two it is.
    pub fn finish<R: Serialize>(self, outcome: &Result<R, RpcError>) {
        match outcome {
            Ok(result) => self.ok(result),
            Err(error) => self.err(error),
        }
    }

    fn fail(&mut self, error: &RpcError) {
        let id = self.id.clone();
        self.spend(error.code, |core, slot, written| core.answer_err(&id, error, slot, written));
    }

    fn spend(&mut self, code: i64, send: impl FnOnce(&Core, Option<Slot>, Option<oneshot::Sender<()>>)) {
        self.spent = true;
        // Not there any more when the connection has answered for us at its end.
        if let Some(mut right) = self.core.in_flight.take(&self.id) {
            let slot = right.slot();
            send(&self.core, slot, self.written.take());
            self.span.record("code", code);
        }
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        if self.spent {
            return;
        }
        if self.is_withdrawn() {
            self.fail(&RpcError::cancelled());
        } else {
            self.fail(&RpcError::internal("Internal error"));
        }
    }
}

/// Resolves when what it was asked about has been written, or cannot be any more.
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct Written(pub(crate) oneshot::Receiver<()>);

impl Future for Written {
    type Output = Result<(), Closed>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(cx).map(|outcome| outcome.map_err(|_| Closed))
    }
}
