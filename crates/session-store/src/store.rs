//! What every store does.

use std::any::Any;
use std::fmt;
use std::path::Path;

use async_trait::async_trait;
use session_model::{Entry, MessageId, SessionId};

use crate::error::StoreError;
use crate::meta::{ListQuery, MetaPatch, Page, SessionMeta, Span, StoredRecent, StoredSession, StoredWindow};
use crate::search::Hit;

/// Keeps sessions. What a method has returned from survives the end of the process, however it ends.
#[async_trait]
pub trait SessionStore: fmt::Debug + Send + Sync + 'static {
    /// Begins whatever the first use would have to wait for, and returns at once. What goes wrong is told by the
    /// next method called.
    fn warm(&self) {}

    /// Makes a session.
    async fn create(&self, meta: SessionMeta) -> Result<(), StoreError>;

    /// Makes a session with a history, all or none. What is known of it stays as given, time and title included.
    async fn insert(&self, session: StoredSession) -> Result<(), StoreError>;

    /// Appends finished items, all or none, and moves the time of last use to the last one's. The first user
    /// message makes the title where there is none.
    async fn append(&self, id: &SessionId, entries: &[Entry]) -> Result<(), StoreError>;

    /// A session with its history.
    async fn load(&self, id: &SessionId) -> Result<StoredSession, StoreError>;

    /// A session with the beginning and the end of its history. Costs what it returns, however much is between.
    async fn window(&self, id: &SessionId, span: Span) -> Result<StoredWindow, StoreError>;

    /// The last turns of a session: one, and further ones until they have `bytes` of stored JSON together or there
    /// are no more. Costs what it returns.
    async fn recent(&self, id: &SessionId, bytes: usize) -> Result<StoredRecent, StoreError>;

    /// A session without its history.
    async fn meta(&self, id: &SessionId) -> Result<SessionMeta, StoreError>;

    /// The one session whose id is `reference` or, failing that, begins with it.
    async fn find(&self, reference: &str) -> Result<SessionMeta, StoreError>;

    /// The session of this folder with this name; of several the one used last.
    async fn named(&self, cwd: &Path, name: &str) -> Result<Option<SessionMeta>, StoreError>;

    /// The session of this folder used last.
    async fn latest(&self, cwd: &Path) -> Result<Option<SessionMeta>, StoreError>;

    /// Some sessions, last used first.
    async fn list(&self, query: ListQuery) -> Result<Page, StoreError>;

    /// The sessions in which every word of `text` occurs in one message of the user or the agent, in the title or
    /// in the name; last used first, `limit` at most, of one folder where `cwd` says so. Words are found inside
    /// longer ones and in either case. A text without words finds nothing.
    async fn search(&self, text: &str, cwd: Option<&Path>, limit: usize) -> Result<Vec<Hit>, StoreError>;

    /// Changes what is known of a session.
    async fn update(&self, id: &SessionId, patch: MetaPatch) -> Result<(), StoreError>;

    /// Drops a session and its history.
    async fn delete(&self, id: &SessionId) -> Result<(), StoreError>;

    /// The user message inserted under this idempotency key.
    async fn inserted(&self, id: &SessionId, key: &str) -> Result<Option<MessageId>, StoreError>;

    /// Takes a session for this process until the lease is dropped; a process that dies gives it back.
    ///
    /// # Errors
    /// [`StoreError::Leased`] when another process, or another lease in this one, has it.
    async fn lease(&self, id: &SessionId) -> Result<Lease, StoreError>;
}

/// The right to write a session; dropping it gives it back.
pub struct Lease(#[expect(dead_code, reason = "held for its drop")] Box<dyn Any + Send + Sync>);

impl Lease {
    /// Wraps whatever holds the right.
    pub fn new(guard: impl Any + Send + Sync) -> Self {
        Self(Box::new(guard))
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Lease")
    }
}
