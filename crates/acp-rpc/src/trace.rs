//! What this crate tells `tracing`: a span for each message that is handled, a line for each line when asked, and the
//! place where an embedder ties spans to a trace that goes on at the other side.
//!
//! Knows no propagation format and no member of anyone's parameters.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use tracing::{Level, Span};

use crate::Params;
use crate::tap::{Direction, SharedTap, each_line};

/// The target under which every line is shown, payload and all. Only at the level `TRACE`.
const LINES: &str = "acp_rpc::line";

/// Carries a trace across a connection: reads its context from what arrives and writes it into what leaves.
///
/// Where the context is kept in the parameters is up to the implementation (W3C Trace Context's `traceparent` in some
/// metadata member, for example). Both functions run where messages are sent and read, and must not wait. A span that
/// nobody listens to is [disabled](Span::is_disabled).
pub trait TraceContext: Send + Sync + 'static {
    /// A request or notification arrived. `span` is its own, not entered yet: the place to attach a remote parent.
    fn incoming(&self, span: &Span, method: &str, params: &Params);

    /// A request or notification is about to be sent from within `span`. `params` is what will be written; null stands
    /// for none. Withdrawals of requests are not shown.
    fn outgoing(&self, span: &Span, method: &str, params: &mut Value);
}

#[derive(Clone)]
pub(crate) struct SharedContext(pub(crate) Arc<dyn TraceContext>);

impl SharedContext {
    /// `params` with the context of `span` in them.
    pub(crate) fn attach<P: Serialize + ?Sized>(
        &self,
        span: &Span,
        method: &str,
        params: &P,
    ) -> Result<Value, serde_json::Error> {
        let mut params = serde_json::to_value(params)?;
        self.0.outgoing(span, method, &mut params);
        Ok(params)
    }
}

impl fmt::Debug for SharedContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TraceContext")
    }
}

/// Shows one line to the tap and to the log.
pub(crate) fn line(tap: Option<&SharedTap>, direction: Direction, line: &[u8]) {
    if let Some(tap) = tap {
        tap.line(direction, line);
    }
    tracing::trace!(target: LINES, "{} {}", arrow(direction), String::from_utf8_lossy(line));
}

/// Shows each line of a buffer of finished lines.
pub(crate) fn lines(tap: Option<&SharedTap>, direction: Direction, buffer: &[u8]) {
    if tap.is_some() || tracing::enabled!(target: LINES, Level::TRACE) {
        each_line(buffer, |one| line(tap, direction, one));
    }
}

fn arrow(direction: Direction) -> char {
    match direction {
        Direction::In => '<',
        Direction::Out => '>',
    }
}
