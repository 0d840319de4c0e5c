//! Sessions in one embedded SQLite database that several processes share.
//!
//! A thread of its own has the connection; the methods send it jobs and wait without blocking. Leases are locked
//! files in a folder `locks` beside the database.

mod connect;
mod fault;
mod index;
mod read;
mod rows;
mod schema;
mod search;
mod window;
mod worker;
mod write;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use async_trait::async_trait;
use rusqlite::Connection;
use session_model::{Entry, MessageId, SessionId};

use self::worker::Database;
use crate::belongings::Belongings;
use crate::error::StoreError;
use crate::lease;
use crate::meta::{ListQuery, MetaPatch, Page, SessionMeta, Span, StoredRecent, StoredSession, StoredWindow};
use crate::search::{Hit, Query};
use crate::store::{Lease, SessionStore};

/// Keeps sessions in a file. What a method has returned from survives `kill -9`.
#[derive(Debug, Clone)]
pub struct SqliteStore {
    database: Arc<Database>,
    belongings: Option<Belongings>,
}

impl SqliteStore {
    /// A store at `path`. Does no I/O: the file is opened, and made where it is missing, by the first method
    /// called, which is also the one to say what is wrong with it. After a failure the next call tries again.
    #[must_use]
    pub fn open(path: PathBuf) -> Self {
        Self { database: Arc::new(Database::new(path)), belongings: None }
    }

    /// With files that go with the sessions: those of a session are removed when it is deleted.
    #[must_use]
    pub fn with_belongings(self, belongings: Option<Belongings>) -> Self {
        Self { belongings, ..self }
    }

    /// Returns when every message is in the full-text index.
    async fn indexed(&self) -> Result<(), StoreError> {
        let rebuilt = Arc::new(AtomicBool::new(false));
        while self.database.read(index::is_behind).await? {
            let rebuilt = Arc::clone(&rebuilt);
            self.database.write(move |conn| index::step_or_rebuild(conn, &rebuilt)).await?;
        }
        Ok(())
    }
}

#[async_trait]
impl SessionStore for SqliteStore {
    fn warm(&self) {
        self.database.open();
    }

    async fn create(&self, meta: SessionMeta) -> Result<(), StoreError> {
        self.database.write(move |conn| write::create(conn, &meta)).await
    }

    async fn insert(&self, session: StoredSession) -> Result<(), StoreError> {
        self.database.write(move |conn| write::insert(conn, &session)).await
    }

    async fn append(&self, id: &SessionId, entries: &[Entry]) -> Result<(), StoreError> {
        let (id, entries) = (id.clone(), entries.to_vec());
        self.database.write(move |conn| write::append(conn, &id, &entries)).await
    }

    async fn load(&self, id: &SessionId) -> Result<StoredSession, StoreError> {
        let id = id.clone();
        self.database.read(move |conn| read::load(conn, &id)).await
    }

    async fn window(&self, id: &SessionId, span: Span) -> Result<StoredWindow, StoreError> {
        let id = id.clone();
        self.database.read(move |conn| window::window(conn, &id, span)).await
    }

    async fn recent(&self, id: &SessionId, bytes: usize) -> Result<StoredRecent, StoreError> {
        let id = id.clone();
        self.database.read(move |conn| window::recent(conn, &id, bytes)).await
    }

    async fn meta(&self, id: &SessionId) -> Result<SessionMeta, StoreError> {
        let id = id.clone();
        self.database.read(move |conn| read::meta(conn, &id)).await
    }

    async fn find(&self, reference: &str) -> Result<SessionMeta, StoreError> {
        let reference = reference.to_owned();
        self.database.read(move |conn| read::find(conn, &reference)).await
    }

    async fn named(&self, cwd: &Path, name: &str) -> Result<Option<SessionMeta>, StoreError> {
        let (cwd, name) = (cwd.to_owned(), name.to_owned());
        self.database.read(move |conn| read::named(conn, &cwd, &name)).await
    }

    async fn latest(&self, cwd: &Path) -> Result<Option<SessionMeta>, StoreError> {
        let cwd = cwd.to_owned();
        self.database.read(move |conn| read::latest(conn, &cwd)).await
    }

    async fn list(&self, query: ListQuery) -> Result<Page, StoreError> {
        self.database.read(move |conn| read::list(conn, &query)).await
    }

    async fn search(&self, text: &str, cwd: Option<&Path>, limit: usize) -> Result<Vec<Hit>, StoreError> {
        let (query, cwd) = (Query::new(text), cwd.map(Path::to_owned));
        if query.is_empty() {
            return Ok(Vec::new());
        }
        let whole = match self.indexed().await {
            Ok(()) => false,
            Err(error) => {
                tracing::warn!(%error, "messages cannot be indexed, every one is read");
                true
            }
        };
        let look = move |conn: &Connection| search::search(conn, &query, cwd.as_deref(), (limit, whole));
        let found = self.database.aside(look).await?;
        if found.index_damaged {
            self.database.write(index::rebuild).await?;
        }
        Ok(found.hits)
    }

    async fn update(&self, id: &SessionId, patch: MetaPatch) -> Result<(), StoreError> {
        let id = id.clone();
        self.database.write(move |conn| write::update(conn, &id, &patch)).await
    }

    async fn delete(&self, id: &SessionId) -> Result<(), StoreError> {
        let deleted = id.clone();
        self.database.write(move |conn| write::delete(conn, &deleted)).await?;
        if let Some(belongings) = self.belongings.clone() {
            let id = id.clone();
            // Going down, the runtime drops the work; the sweep does it later.
            let _dropped = tokio::task::spawn_blocking(move || belongings.forget(&id)).await;
        }
        Ok(())
    }

    async fn inserted(&self, id: &SessionId, key: &str) -> Result<Option<MessageId>, StoreError> {
        let (id, key) = (id.clone(), key.to_owned());
        self.database.read(move |conn| read::inserted(conn, &id, &key)).await
    }

    async fn lease(&self, id: &SessionId) -> Result<Lease, StoreError> {
        // A few system calls on a local file: cheaper here than a trip to another thread.
        let folder = self.database.path().with_file_name("locks");
        Ok(Lease::new(lease::acquire(&folder, id)?))
    }
}
