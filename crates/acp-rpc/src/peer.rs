//! The handle to the other side: notifications within a budget, requests that are withdrawn when dropped.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde::Serialize;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tracing::Span;

use crate::core::{Core, with_scratch};
use crate::outbox::Charge;
use crate::request::PendingResponse;
use crate::{Closed, Method, Policy, RequestError, RequestId, Written, encode};

/// The other side of a connection. Cheap to clone; all clones share one outgoing order, the order of calls.
#[derive(Debug, Clone)]
pub struct Peer {
    core: Arc<Core>,
}

/// Counts of one connection, for logs and diagnosis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// The peer's requests not yet answered.
    pub in_flight: usize,
    /// Our requests not yet answered.
    pub pending: usize,
    /// Bytes queued or being written.
    pub backlog: usize,
    /// Answers dropped because nobody waited for them.
    pub stray_responses: u64,
    /// Entries that were no valid message.
    pub malformed: u64,
    /// Lines skipped for their length.
    pub overlong: u64,
}

impl Peer {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        Self { core }
    }

    /// Sends a notification. Waits while the outbound budget is used up, that is, while the peer does not read.
    ///
    /// Parameters that serialise to null are left out. Parameters that have no JSON form are a mistake of the
    /// caller's: they are logged and nothing is sent.
    ///
    /// # Errors
    /// [`Closed`] when the connection is.
    pub async fn notify<P: Serialize + ?Sized>(&self, method: &str, params: &P) -> Result<(), Closed> {
        let Some(line) = self.notification(method, params) else { return self.check() };
        let charge = self.core.outbox.admit(line.len()).await?;
        self.push(&line, charge)
    }

    /// Sends a notification if the budget has room for it now.
    ///
    /// # Errors
    /// [`Closed`] when the connection is. `Ok(false)` when there is no room; nothing was sent.
    pub fn try_notify<P: Serialize + ?Sized>(&self, method: &str, params: &P) -> Result<bool, Closed> {
        let Some(line) = self.notification(method, params) else { return self.check().map(|()| true) };
        let Some(charge) = self.core.outbox.try_admit(line.len())? else { return Ok(false) };
        self.push(&line, charge).map(|()| true)
    }

    /// Waits for one place in the outbound budget, so that what is sent can be decided when it can be sent.
    ///
    /// # Errors
    /// [`Closed`] when the connection is.
    pub async fn reserve(&self) -> Result<Permit, Closed> {
        let charge = self.core.outbox.admit(1).await?;
        Ok(Permit { core: Arc::clone(&self.core), charge: Some(charge) })
    }

    /// Sends a notification in a reserved place, without waiting.
    ///
    /// A long one uses up as much of the byte budget as there is, so that the next reservation waits.
    ///
    /// # Errors
    /// [`Closed`] when the connection is.
    pub fn notify_reserved<P: Serialize + ?Sized>(
        &self,
        mut permit: Permit,
        method: &str,
        params: &P,
    ) -> Result<(), Closed> {
        with_scratch(|line| match self.encode_notification(line, method, params) {
            Ok(()) => {
                // Taken only now: should `params` panic while being written, the permit's drop gives it back.
                let charge = permit.charge.take().unwrap_or_default();
                let charge = permit.core.outbox.extend(charge, line.len());
                self.push(line, charge)
            }
            Err(error) => {
                tracing::error!(method, %error, "parameters have no JSON form");
                self.check()
            }
        })
    }

    /// Sends a request. It skips the budget but not the order.
    ///
    /// The answer is awaited in the returned future; dropping that withdraws the request.
    pub fn request<P: Serialize + ?Sized>(&self, method: &str, params: &P) -> PendingResponse {
        let Some((number, waiter)) = self.core.pending.open() else {
            return PendingResponse::failed(Arc::clone(&self.core), RequestError::Closed);
        };
        let code = tracing::field::Empty;
        let span = tracing::debug_span!("request", dir = "out", id = number, method, code);
        // Built first: whatever happens while the parameters are written, its drop clears the table.
        let pending = PendingResponse::new(Arc::clone(&self.core), number, waiter, span.clone());
        let sent = with_scratch(|line| match self.encode_request(line, (&span, number), method, params) {
            Ok(()) => self.core.push_line(line).map_err(|Closed| RequestError::Closed),
            Err(error) => {
                tracing::error!(method, %error, "parameters have no JSON form");
                Err(RequestError::Encode)
            }
        });
        match sent {
            Ok(()) => pending.sent(),
            Err(error) => PendingResponse::failed(Arc::clone(&self.core), error),
        }
    }

    /// Calls a method described by types.
    ///
    /// # Errors
    /// As [`PendingResponse::typed`].
    pub async fn call<M: Method>(&self, params: &M::Params) -> Result<M::Result, RequestError> {
        self.request(M::NAME, params).typed().await
    }

    /// Waits until everything sent so far has been written and flushed.
    ///
    /// # Errors
    /// [`Closed`] when the connection is closed before.
    pub fn flush(&self) -> Written {
        let (sender, receiver) = oneshot::channel();
        // When closed the sender is dropped here, and the future says so.
        let _: Result<(), Closed> = self.core.outbox.push(b"", Charge::default(), Some(sender));
        Written(receiver)
    }

    /// Changes how batches, null ids and malformed lines are treated, from the next line on.
    pub fn set_policy(&self, policy: Policy) {
        self.core.set_policy(policy);
    }

    /// How they are treated now.
    #[must_use]
    pub fn policy(&self) -> Policy {
        self.core.policy()
    }

    /// Ends the connection as the peer's leaving would: nothing more is read, what was accepted is finished
    /// within the grace, output is flushed. Returns at once.
    pub fn shutdown(&self) {
        self.core.shutdown.cancel();
    }

    /// Resolves when nothing can be sent any more.
    pub fn closed(&self) -> impl Future<Output = ()> + Send + 'static {
        self.core.outbox.closed().clone().cancelled_owned()
    }

    /// Whether nothing can be sent any more.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.core.outbox.closed().is_cancelled()
    }

    /// The connection's counts at this moment.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let counters = &self.core.counters;
        Stats {
            in_flight: self.core.in_flight.len(),
            pending: self.core.pending.len(),
            backlog: self.core.outbox.backlog(),
            stray_responses: counters.stray.load(Ordering::Relaxed),
            malformed: counters.malformed.load(Ordering::Relaxed),
            overlong: counters.overlong.load(Ordering::Relaxed),
        }
    }

    /// Ends with all requests of the connection.
    pub(crate) fn life(&self) -> &CancellationToken {
        &self.core.life
    }

    fn encode_notification<P: Serialize + ?Sized>(
        &self,
        line: &mut Vec<u8>,
        method: &str,
        params: &P,
    ) -> Result<(), serde_json::Error> {
        let Some(context) = &self.core.context else { return encode::notification(line, method, params) };
        encode::notification(line, method, &context.attach(&Span::current(), method, params)?)
    }

    fn encode_request<P: Serialize + ?Sized>(
        &self,
        line: &mut Vec<u8>,
        (span, number): (&Span, i64),
        method: &str,
        params: &P,
    ) -> Result<(), serde_json::Error> {
        let id = RequestId::Number(number);
        let Some(context) = &self.core.context else { return encode::request(line, &id, method, params) };
        encode::request(line, &id, method, &context.attach(span, method, params)?)
    }

    fn notification<P: Serialize + ?Sized>(&self, method: &str, params: &P) -> Option<Vec<u8>> {
        let mut line = Vec::with_capacity(256);
        match self.encode_notification(&mut line, method, params) {
            Ok(()) => Some(line),
            Err(error) => {
                tracing::error!(method, %error, "parameters have no JSON form");
                None
            }
        }
    }

    fn push(&self, line: &[u8], charge: Charge) -> Result<(), Closed> {
        self.core.outbox.push(line, charge, None)
    }

    fn check(&self) -> Result<(), Closed> {
        if self.is_closed() { Err(Closed) } else { Ok(()) }
    }
}

/// One place in the outbound budget; given back when dropped unused.
#[must_use = "a place in the budget is for sending"]
#[derive(Debug)]
pub struct Permit {
    core: Arc<Core>,
    charge: Option<Charge>,
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some(charge) = self.charge.take() {
            self.core.outbox.refund(charge);
        }
    }
}
