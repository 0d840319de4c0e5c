//! Writes a session's finished items, one batch at a time, and remembers what could not be written.
//!
//! A failed write never fails the turn: the conversation goes on from memory, the user is told once, and the
//! items are tried again with the next ones, so that order is kept. Knows nothing of clients.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use session_model::{Entry, SessionId};
use session_store::{MetaPatch, SessionStore, StoreError};

/// What a finished write means for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Report {
    /// Nothing to say.
    Quiet,
    /// Writing has begun to fail; the cause.
    Failing(String),
    /// What could not be written is written now.
    Recovered,
}

type Write = BoxFuture<'static, (Vec<Entry>, Result<(), StoreError>)>;

/// The writer of one session.
pub(crate) struct Journal {
    store: Arc<dyn SessionStore>,
    session: SessionId,
    unsaved: Vec<Entry>,
    failing: bool,
    write: Option<Write>,
}

impl std::fmt::Debug for Journal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Journal").field("unsaved", &self.unsaved.len()).finish_non_exhaustive()
    }
}

impl Journal {
    pub(crate) fn new(store: Arc<dyn SessionStore>, session: SessionId) -> Self {
        Self { store, session, unsaved: Vec::new(), failing: false, write: None }
    }

    /// Writes another session from now on; what was not written of the earlier one is given up.
    pub(crate) fn turn_to(&mut self, session: SessionId) {
        *self = Self::new(Arc::clone(&self.store), session);
    }

    /// What exists only in memory.
    pub(crate) fn unsaved(&self) -> &[Entry] {
        &self.unsaved
    }

    /// Whether a write is under way; the next waits for it.
    pub(crate) fn is_busy(&self) -> bool {
        self.write.is_some()
    }

    /// Begins to write these items, after what is still unsaved.
    pub(crate) fn append(&mut self, entries: Vec<Entry>) {
        let (store, session) = (Arc::clone(&self.store), self.session.clone());
        let mut all = std::mem::take(&mut self.unsaved);
        all.extend(entries);
        self.write = Some(
            async move {
                let result = store.append(&session, &all).await;
                (all, result)
            }
            .boxed(),
        );
    }

    /// Begins to write what is known beside the history.
    pub(crate) fn update(&mut self, patch: MetaPatch) {
        let (store, session) = (Arc::clone(&self.store), self.session.clone());
        let unsaved = std::mem::take(&mut self.unsaved);
        self.write = Some(async move { (unsaved, store.update(&session, patch).await) }.boxed());
    }

    /// Waits for the write under way; pending when there is none. Cancel safe.
    pub(crate) async fn written(&mut self) -> Report {
        let Some(write) = &mut self.write else { return std::future::pending().await };
        let (entries, result) = write.await;
        self.write = None;
        match result {
            Ok(()) if std::mem::take(&mut self.failing) => Report::Recovered,
            Ok(()) => Report::Quiet,
            Err(error) => {
                tracing::error!(session = %self.session, %error, "cannot save");
                self.unsaved = entries;
                if std::mem::replace(&mut self.failing, true) {
                    Report::Quiet
                } else {
                    Report::Failing(error.to_string())
                }
            }
        }
    }
}
