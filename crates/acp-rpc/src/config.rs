//! What an embedder may choose about a connection.
//!
//! Knows no method name: even the notification that withdraws a request is the embedder's to spell.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::tap::{SharedTap, Tap};
use crate::trace::{SharedContext, TraceContext};
use crate::{RequestId, RpcError};

/// How this protocol spells "forget that request of mine".
#[derive(Debug, Clone, Copy)]
pub struct CancelMethod {
    /// The notification's name, in both directions.
    pub method: &'static str,
    /// Its parameters for one request.
    pub params: fn(&RequestId) -> Value,
    /// The request its parameters name, if they name one.
    pub target: fn(&Value) -> Option<RequestId>,
}

/// What to say about a line that is no JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MalformedPolicy {
    /// Nothing.
    #[default]
    Silent,
    /// `-32700` with a null id, as JSON-RPC 2.0 §5.1 has it.
    Reply,
}

/// What to do with a JSON array of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BatchPolicy {
    /// One `-32600` with a null id; no entry is executed.
    #[default]
    Reject,
    /// Execute the entries in order and answer with one array (JSON-RPC 2.0 §6).
    Expand,
}

/// Whether a request may have the id null.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IdPolicy {
    /// Yes; it is answered with a null id.
    #[default]
    AllowNull,
    /// No: `-32600` with a null id.
    RefuseNull,
}

/// The choices that may change while a connection lives; see [`Peer::set_policy`](crate::Peer::set_policy).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Policy {
    /// Lines that are no JSON.
    pub malformed: MalformedPolicy,
    /// JSON arrays.
    pub batches: BatchPolicy,
    /// Null identifiers.
    pub ids: IdPolicy,
}

/// The choices a connection is made with. Start from [`Config::default`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Config {
    /// How many notifications may be queued or being written before [`Peer::notify`](crate::Peer::notify)
    /// waits. Default 256.
    pub outbound_budget: usize,
    /// The same in bytes; a larger notification waits until the queue is empty. Default 4 MiB.
    pub outbound_bytes: usize,
    /// Bytes queued or being written (answers included) above which nothing more is read from a peer that
    /// does not read itself. Default 64 MiB.
    pub backlog_limit: usize,
    /// How many of the peer's requests may be unanswered. Default 1024.
    pub max_in_flight: usize,
    /// The answer to a request beyond that number. Reading goes on in any case: answers and withdrawals that
    /// running requests wait for must get through. Default `-32603`.
    pub overload: RpcError,
    /// The longest line read, in bytes without its ending. A longer one is skipped without being kept, and
    /// answered `-32600` if its first part shows its id. Default 32 MiB.
    pub max_line: usize,
    /// How requests are withdrawn; `None` if the protocol cannot. Default `None`.
    pub cancel: Option<CancelMethod>,
    /// What the connection starts with.
    pub policy: Policy,
    /// How long, after the input's end or a shutdown, accepted requests and [`Service::closing`](crate::Service::closing)
    /// may take before they are cancelled, and how long the last output may take. Default 5 s.
    pub drain_grace: Duration,
    /// How long cancelled requests may take to answer before they are answered `-32800` for them. Default 500 ms.
    pub cancel_grace: Duration,
    /// Cancelling this token shuts the connection down from outside. Default: a token nobody else has.
    pub shutdown: CancellationToken,
    pub(crate) tap: Option<SharedTap>,
    pub(crate) context: Option<SharedContext>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            outbound_budget: 256,
            outbound_bytes: 4 << 20,
            backlog_limit: 64 << 20,
            max_in_flight: 1024,
            overload: RpcError::internal("too many requests in flight"),
            max_line: 32 << 20,
            cancel: None,
            policy: Policy::default(),
            drain_grace: Duration::from_secs(5),
            cancel_grace: Duration::from_millis(500),
            shutdown: CancellationToken::new(),
            tap: None,
            context: None,
        }
    }
}

impl Config {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`Config::outbound_budget`] and [`Config::outbound_bytes`].
    #[must_use]
    pub fn outbound(mut self, messages: usize, bytes: usize) -> Self {
        self.outbound_budget = messages;
        self.outbound_bytes = bytes;
        self
    }

    /// Sets [`Config::backlog_limit`].
    #[must_use]
    pub fn backlog_limit(mut self, bytes: usize) -> Self {
        self.backlog_limit = bytes;
        self
    }

    /// Sets [`Config::max_in_flight`].
    #[must_use]
    pub fn max_in_flight(mut self, requests: usize) -> Self {
        self.max_in_flight = requests;
        self
    }

    /// Sets [`Config::overload`].
    #[must_use]
    pub fn overload(mut self, error: RpcError) -> Self {
        self.overload = error;
        self
    }

    /// Sets [`Config::max_line`].
    #[must_use]
    pub fn max_line(mut self, bytes: usize) -> Self {
        self.max_line = bytes;
        self
    }

    /// Sets [`Config::cancel`].
    #[must_use]
    pub fn cancel(mut self, method: CancelMethod) -> Self {
        self.cancel = Some(method);
        self
    }

    /// Sets [`Config::policy`].
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Sets the malformed-line part of [`Config::policy`].
    #[must_use]
    pub fn malformed(mut self, policy: MalformedPolicy) -> Self {
        self.policy.malformed = policy;
        self
    }

    /// Sets the batch part of [`Config::policy`].
    #[must_use]
    pub fn batches(mut self, policy: BatchPolicy) -> Self {
        self.policy.batches = policy;
        self
    }

    /// Sets the null-id part of [`Config::policy`].
    #[must_use]
    pub fn ids(mut self, policy: IdPolicy) -> Self {
        self.policy.ids = policy;
        self
    }

    /// Sets [`Config::drain_grace`].
    #[must_use]
    pub fn drain_grace(mut self, grace: Duration) -> Self {
        self.drain_grace = grace;
        self
    }

    /// Sets [`Config::cancel_grace`].
    #[must_use]
    pub fn cancel_grace(mut self, grace: Duration) -> Self {
        self.cancel_grace = grace;
        self
    }

    /// Sets [`Config::shutdown`].
    #[must_use]
    pub fn shutdown(mut self, token: CancellationToken) -> Self {
        self.shutdown = token;
        self
    }

    /// Ties the spans of messages to traces that go on at the other side. Costs a copy of what is sent.
    #[must_use]
    pub fn trace_context(mut self, context: impl TraceContext) -> Self {
        self.context = Some(SharedContext(Arc::new(context)));
        self
    }

    /// Shows every line in both directions to `tap`.
    #[must_use]
    pub fn tap(mut self, tap: impl Tap) -> Self {
        self.tap = Some(SharedTap(Arc::new(tap)));
        self
    }
}
