//! Our own unanswered requests, and who waits for each.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::value::RawValue;
use tokio::sync::oneshot;

use crate::{RequestError, RequestId};

pub(crate) type Outcome = Result<Box<RawValue>, RequestError>;

#[derive(Debug, Default)]
pub(crate) struct Pending {
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    last_id: i64,
    waiting: HashMap<i64, oneshot::Sender<Outcome>>,
    closed: bool,
}

impl Pending {
    /// A fresh identifier and its answer to come; `None` once no answer can come any more.
    pub(crate) fn open(&self) -> Option<(i64, oneshot::Receiver<Outcome>)> {
        let mut table = self.lock();
        if table.closed {
            return None;
        }
        table.last_id += 1;
        let id = table.last_id;
        let (answer, waiter) = oneshot::channel();
        table.waiting.insert(id, answer);
        Some((id, waiter))
    }

    /// Hands `outcome` to the one who waits for it; `false` if nobody does.
    pub(crate) fn settle(&self, id: &RequestId, outcome: Outcome) -> bool {
        let RequestId::Number(id) = id else { return false };
        let waiting = self.lock().waiting.remove(id);
        waiting.is_some_and(|answer| {
            // A waiter that let go of the answer has been served all the same.
            drop(answer.send(outcome));
            true
        })
    }

    /// Forgets `id`; `false` if it was answered already.
    pub(crate) fn forget(&self, id: i64) -> bool {
        self.lock().waiting.remove(&id).is_some()
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().waiting.len()
    }

    /// Fails all waiters, and every later request.
    pub(crate) fn close(&self) {
        let mut table = self.lock();
        table.closed = true;
        let waiting = std::mem::take(&mut table.waiting);
        drop(table);
        // The waiters learn of it by the drop.
        drop(waiting);
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
