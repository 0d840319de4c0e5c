//! What the reader, the writer, the responders and the peer handles of one connection share.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::batch::Slot;
use crate::in_flight::InFlight;
use crate::outbox::{Charge, Outbox};
use crate::pending::Pending;
use crate::trace::SharedContext;
use crate::{CancelMethod, Closed, Config, Policy, RequestId, RpcError, encode};

/// A thread's scratch buffer that has grown beyond this is not kept.
const KEPT_SCRATCH: usize = 256 << 10;

#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) outbox: Outbox,
    pub(crate) in_flight: InFlight,
    pub(crate) pending: Pending,
    pub(crate) counters: Counters,
    pub(crate) cancel: Option<CancelMethod>,
    pub(crate) overload: RpcError,
    pub(crate) context: Option<SharedContext>,
    /// Stop reading and drain.
    pub(crate) shutdown: CancellationToken,
    /// The parent of all request tokens.
    pub(crate) life: CancellationToken,
    policy: Mutex<Policy>,
}

/// Counts of what a connection dropped or refused.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) stray: AtomicU64,
    pub(crate) malformed: AtomicU64,
    pub(crate) overlong: AtomicU64,
}

impl Counters {
    pub(crate) fn add(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

impl Core {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            outbox: Outbox::new(config.outbound_budget, config.outbound_bytes, config.backlog_limit),
            in_flight: InFlight::new(config.max_in_flight),
            pending: Pending::default(),
            counters: Counters::default(),
            cancel: config.cancel,
            overload: config.overload.clone(),
            context: config.context.clone(),
            shutdown: config.shutdown.child_token(),
            life: CancellationToken::new(),
            policy: Mutex::new(config.policy),
        }
    }

    pub(crate) fn policy(&self) -> Policy {
        *self.policy.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_policy(&self, policy: Policy) {
        *self.policy.lock().unwrap_or_else(PoisonError::into_inner) = policy;
    }

    /// Queues one unbudgeted line.
    pub(crate) fn push_line(&self, line: &[u8]) -> Result<(), Closed> {
        self.outbox.push(line, Charge::default(), None)
    }

    /// Answers `id` with an error, under no table entry or after it was taken out.
    pub(crate) fn answer_err(
        &self,
        id: &RequestId,
        error: &RpcError,
        slot: Option<Slot>,
        written: Option<oneshot::Sender<()>>,
    ) {
        with_scratch(|line| {
            // Identifiers, strings and `Value`s always have a JSON form.
            if encode::error(line, id, error).is_ok() {
                self.deliver(line, slot, written);
            }
        });
    }

    /// Queues a response's bytes, alone or in its place in a batch.
    pub(crate) fn deliver(
        &self,
        line: &mut Vec<u8>,
        slot: Option<Slot>,
        written: Option<oneshot::Sender<()>>,
    ) {
        let pushed = match slot {
            None => {
                line.push(b'\n');
                self.outbox.push(line, Charge::default(), written)
            }
            Some(slot) => match slot.fill(line, written) {
                None => Ok(()),
                Some(batch) => self.outbox.push(&batch.line, Charge::default(), batch.written),
            },
        };
        if pushed.is_err() {
            tracing::debug!("an answer came after the connection was closed");
        }
    }
}

/// Runs `f` with an empty buffer that is reused on this thread; calls may nest.
pub(crate) fn with_scratch<T>(f: impl FnOnce(&mut Vec<u8>) -> T) -> T {
    thread_local! {
        static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
    }
    let mut buffer = SCRATCH.take();
    let value = f(&mut buffer);
    if buffer.capacity() <= KEPT_SCRATCH {
        buffer.clear();
        SCRATCH.set(buffer);
    }
    value
}
