//! The peer's unanswered requests: their identifiers, their tokens, where their answers go.
//!
//! Taking an identifier out of the table is the right to answer it, so that no request is answered twice.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::RequestId;
use crate::batch::Slot;
use crate::withdrawal::Withdrawal;

#[derive(Debug)]
pub(crate) struct InFlight {
    table: Mutex<Table>,
    limit: usize,
    emptied: Notify,
}

#[derive(Debug, Default)]
struct Table {
    accepted: HashMap<RequestId, Accepted>,
    /// Taken out, answer not queued yet.
    answering: usize,
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
        let mut table = self.in_flight.lock();
        table.answering -= 1;
        if table.is_empty() {
            self.in_flight.emptied.notify_waiters();
        }
    }
}

impl Table {
    fn is_empty(&self) -> bool {
        self.accepted.is_empty() && self.answering == 0
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
        Self { table: Mutex::default(), limit, emptied: Notify::new() }
    }

    pub(crate) fn accept(
        &self,
        id: &RequestId,
        withdrawal: Arc<Withdrawal>,
        slot: Option<Slot>,
    ) -> Result<(), Refused> {
        let mut table = self.lock();
        let full = table.accepted.len() >= self.limit;
        match table.accepted.entry(id.clone()) {
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
        let accepted = table.accepted.remove(id)?;
        table.answering += 1;
        Some(Right { in_flight: self, slot: accepted.slot })
    }

    pub(crate) fn cancel(&self, id: &RequestId) {
        let withdrawal = self.lock().accepted.get(id).map(|accepted| Arc::clone(&accepted.withdrawal));
        if let Some(withdrawal) = withdrawal {
            withdrawal.withdraw();
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().accepted.len()
    }

    /// The identifiers still unanswered, in a fixed order.
    pub(crate) fn ids(&self) -> Vec<RequestId> {
        let mut ids: Vec<_> = self.lock().accepted.keys().cloned().collect();
        ids.sort_unstable();
        ids
    }

    pub(crate) async fn emptied(&self) {
        loop {
            let emptied = self.emptied.notified();
            if self.lock().is_empty() {
                return;
            }
            emptied.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
