//! The peer's unanswered requests: their identifiers, their tokens, where their answers go.
//!
//! Taking an identifier out of the table is the right to answer it, so that no request is answered twice.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::RequestId;
use crate::batch::Slot;
use crate::withdrawal::Withdrawal;

#[derive(Debug)]
pub(crate) struct InFlight {
    accepted: Mutex<HashMap<RequestId, Accepted>>,
    limit: usize,
    /// Taken out of the table, answer not queued yet. Grows under the table's lock.
    answering: AtomicUsize,
    /// Someone waits for `emptied`.
    draining: AtomicBool,
    emptied: Notify,
}

#[derive(Debug)]
struct Accepted {
    withdrawal: Arc<Withdrawal>,
    slot: Option<Slot>,
}

/// The right to answer one request; held until the answer is queued.
#[derive(Debug)]
pub(crate) struct Right<'a> {
    in_flight: &'a InFlight,
    slot: Option<Slot>,
}

impl Right<'_> {
    /// Where in a batch the answer belongs.
    pub(crate) fn slot(&mut self) -> Option<Slot> {
        self.slot.take()
    }
}

impl Drop for Right<'_> {
    fn drop(&mut self) {
        self.in_flight.answering.fetch_sub(1, Ordering::SeqCst);
        // Read after the count is lowered, as `emptied` reads the count after it is set: one of the two sees the other.
        if self.in_flight.draining.load(Ordering::SeqCst) {
            self.in_flight.emptied.notify_waiters();
        }
    }
}

/// Why a request was not accepted; the slot its answer belongs to comes back.
#[derive(Debug)]
pub(crate) enum Refused {
    Duplicate(Option<Slot>),
    Full(Option<Slot>),
}

impl InFlight {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            accepted: Mutex::default(),
            limit,
            answering: AtomicUsize::new(0),
            draining: AtomicBool::new(false),
            emptied: Notify::new(),
        }
    }

    pub(crate) fn accept(
        &self,
        id: &RequestId,
        withdrawal: Arc<Withdrawal>,
        slot: Option<Slot>,
    ) -> Result<(), Refused> {
        let mut accepted = self.lock();
        let full = accepted.len() >= self.limit;
        match accepted.entry(id.clone()) {
            Entry::Occupied(_) => Err(Refused::Duplicate(slot)),
            Entry::Vacant(_) if full => Err(Refused::Full(slot)),
            Entry::Vacant(place) => {
                place.insert(Accepted { withdrawal, slot });
                Ok(())
            }
        }
    }

    /// The right to answer `id`; `None` if it was answered already.
    pub(crate) fn take(&self, id: &RequestId) -> Option<Right<'_>> {
        let mut table = self.lock();
        let accepted = table.remove(id)?;
        self.answering.fetch_add(1, Ordering::SeqCst);
        drop(table);
        Some(Right { in_flight: self, slot: accepted.slot })
    }

    pub(crate) fn cancel(&self, id: &RequestId) {
        let withdrawal = self.lock().get(id).map(|accepted| Arc::clone(&accepted.withdrawal));
        if let Some(withdrawal) = withdrawal {
            withdrawal.withdraw();
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().len()
    }

    /// The identifiers still unanswered, in a fixed order.
    pub(crate) fn ids(&self) -> Vec<RequestId> {
        let mut ids: Vec<_> = self.lock().keys().cloned().collect();
        ids.sort_unstable();
        ids
    }

    pub(crate) async fn emptied(&self) {
        self.draining.store(true, Ordering::SeqCst);
        loop {
            let emptied = self.emptied.notified();
            if self.is_empty() {
                return;
            }
            emptied.await;
        }
    }

    fn is_empty(&self) -> bool {
        let accepted = self.lock();
        accepted.is_empty() && self.answering.load(Ordering::SeqCst) == 0
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RequestId, Accepted>> {
        self.accepted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
