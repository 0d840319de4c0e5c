//! Sessions kept in memory, for tests and for clients that want no trace.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use serde::Serialize;
use session_model::{Entry, Item, MessageId, SessionId};

use crate::error::StoreError;
use crate::fold;
use crate::meta::{ListQuery, MetaPatch, Page, SessionMeta, Span, StoredRecent, StoredSession, StoredWindow};
use crate::search::{Hit, HitMessage, Query};
use crate::store::{Lease, SessionStore};
use crate::title::title_from;

/// Keeps sessions until it is dropped. Behaves as [`crate::SqliteStore`] does, but for surviving the process.
#[derive(Debug, Default)]
pub struct MemoryStore {
    sessions: Mutex<BTreeMap<SessionId, StoredSession>>,
    leased: Arc<Mutex<BTreeSet<SessionId>>>,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn with<T>(
        &self,
        id: &SessionId,
        act: impl FnOnce(&mut StoredSession) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        act(lock(&self.sessions).get_mut(id).ok_or_else(|| StoreError::NotFound(id.clone()))?)
    }

    fn recent(&self, cwd: Option<&Path>) -> Vec<SessionMeta> {
        let sessions = lock(&self.sessions);
        // By spelling: `Path` itself takes `/a/` for `/a`.
        let here = |m: &&SessionMeta| cwd.is_none_or(|cwd| m.cwd.as_os_str() == cwd.as_os_str());
        let wanted = sessions.values().map(|s| &s.meta).filter(here);
        let mut found: Vec<_> = wanted.cloned().collect();
        found.sort_by(|a, b| b.updated_at.cmp(&a.updated_at).then_with(|| a.id.cmp(&b.id)));
        found
    }
}

#[async_trait]
impl SessionStore for MemoryStore {
    async fn create(&self, meta: SessionMeta) -> Result<(), StoreError> {
        let mut sessions = lock(&self.sessions);
        if sessions.contains_key(&meta.id) {
            return Err(StoreError::Exists(meta.id));
        }
        sessions.insert(meta.id.clone(), StoredSession { meta, entries: Vec::new(), damaged: 0 });
        Ok(())
    }

    async fn insert(&self, session: StoredSession) -> Result<(), StoreError> {
        let mut sessions = lock(&self.sessions);
        if sessions.contains_key(&session.meta.id) {
            return Err(StoreError::Exists(session.meta.id));
        }
        let mut keys = BTreeSet::new();
        if let Some(twice) = session.entries.iter().filter_map(key_of).find(|key| !keys.insert(*key)) {
            return Err(key_taken(twice));
        }
        sessions.insert(session.meta.id.clone(), StoredSession { damaged: 0, ..session });
        Ok(())
    }

    async fn append(&self, id: &SessionId, entries: &[Entry]) -> Result<(), StoreError> {
        self.with(id, |session| {
            let mut keys: BTreeSet<&str> = session.entries.iter().filter_map(key_of).collect();
            if let Some(twice) = entries.iter().filter_map(key_of).find(|key| !keys.insert(key)) {
                return Err(key_taken(twice));
            }
            if let Some(last) = entries.last() {
                session.meta.updated_at = last.at;
                session.meta.title = session.meta.title.take().or_else(|| title_from(entries));
                session.entries.extend_from_slice(entries);
            }
            Ok(())
        })
    }

    async fn load(&self, id: &SessionId) -> Result<StoredSession, StoreError> {
        self.with(id, |session| Ok(session.clone()))
    }

    async fn window(&self, id: &SessionId, span: Span) -> Result<StoredWindow, StoreError> {
        self.with(id, |session| {
            let entries = &session.entries;
            let (head, left_out, tail) = fold::split(entries, span);
            let keyed = |entry: &Entry| Some((key_of(entry)?.to_owned(), message_of(&entry.item)?.clone()));
            let mut keys: Vec<_> = entries.iter().filter_map(keyed).collect();
            keys.sort();
            Ok(StoredWindow {
                meta: session.meta.clone(),
                head: head.to_vec(),
                tail: tail.to_vec(),
                left_out,
                turns: entries.iter().filter(|entry| matches!(entry.item, Item::User { .. })).count(),
                damaged: 0,
                keys,
            })
        })
    }

    async fn recent(&self, id: &SessionId, bytes: usize) -> Result<StoredRecent, StoreError> {
        self.with(id, |session| {
            let entries = &session.entries;
            let (mut from, mut total) = (entries.len(), 0);
            for turn in entries.chunk_by(|a, b| a.turn == b.turn).rev() {
                if from < entries.len() && total >= bytes {
                    break;
                }
                from -= turn.len();
                for entry in turn {
                    total += stored_json(&entry.item)?.len();
                }
            }
            Ok(StoredRecent { entries: entries[from..].to_vec(), earlier: from > 0, damaged: 0 })
        })
    }

    async fn meta(&self, id: &SessionId) -> Result<SessionMeta, StoreError> {
        self.with(id, |session| Ok(session.meta.clone()))
    }

    async fn find(&self, reference: &str) -> Result<SessionMeta, StoreError> {
        let sessions = lock(&self.sessions);
        let exact = SessionId::from(reference);
        if let Some(session) = sessions.get(&exact) {
            return Ok(session.meta.clone());
        }
        let begins = |id: &SessionId| !reference.is_empty() && id.as_str().starts_with(reference);
        let mut found = sessions.values().filter(|session| begins(&session.meta.id));
        match (found.next(), found.next()) {
            (None, _) => Err(StoreError::NotFound(exact)),
            (Some(one), None) => Ok(one.meta.clone()),
            (Some(_), Some(_)) => Err(StoreError::Ambiguous(reference.to_owned())),
        }
    }

    async fn named(&self, cwd: &Path, name: &str) -> Result<Option<SessionMeta>, StoreError> {
        Ok(self.recent(Some(cwd)).into_iter().find(|meta| meta.name.as_deref() == Some(name)))
    }

    async fn latest(&self, cwd: &Path) -> Result<Option<SessionMeta>, StoreError> {
        Ok(self.recent(Some(cwd)).into_iter().next())
    }

    async fn list(&self, query: ListQuery) -> Result<Page, StoreError> {
        let mut rest = self.recent(query.cwd.as_deref()).into_iter().skip(query.offset);
        let sessions = rest.by_ref().take(query.limit).collect();
        Ok(Page { sessions, more: rest.next().is_some() })
    }

    async fn search(&self, text: &str, cwd: Option<&Path>, limit: usize) -> Result<Vec<Hit>, StoreError> {
        let query = Query::new(text);
        if query.is_empty() {
            return Ok(Vec::new());
        }
        let recent = self.recent(cwd);
        let sessions = lock(&self.sessions);
        let stored = recent.into_iter().filter_map(|meta| sessions.get(&meta.id));
        Ok(stored.filter_map(|session| hit(&query, session)).take(limit).collect())
    }

    async fn update(&self, id: &SessionId, patch: MetaPatch) -> Result<(), StoreError> {
        self.with(id, |session| {
            patch.apply(&mut session.meta);
            Ok(())
        })
    }

    async fn delete(&self, id: &SessionId) -> Result<(), StoreError> {
        lock(&self.sessions).remove(id).map(drop).ok_or_else(|| StoreError::NotFound(id.clone()))
    }

    async fn inserted(&self, id: &SessionId, key: &str) -> Result<Option<MessageId>, StoreError> {
        self.with(id, |session| {
            let entry = session.entries.iter().find(|entry| key_of(entry) == Some(key));
            Ok(entry.and_then(|entry| message_of(&entry.item)).cloned())
        })
    }

    async fn lease(&self, id: &SessionId) -> Result<Lease, StoreError> {
        if !lock(&self.leased).insert(id.clone()) {
            return Err(StoreError::Leased { id: id.clone(), pid: Some(std::process::id()) });
        }
        Ok(Lease::new(Held { id: id.clone(), leased: Arc::clone(&self.leased) }))
    }
}

fn hit(query: &Query, session: &StoredSession) -> Option<Hit> {
    let meta = session.meta.clone();
    let found = session.entries.iter().rev().find_map(|entry| {
        let (id, text) = query.message(&entry.item)?;
        Some((HitMessage { turn: entry.turn.clone(), id }, text))
    });
    if let Some((message, text)) = found {
        return Some(Hit { meta, message: Some(message), snippet: query.snippet(&text) });
    }
    let snippet = query.snippet(query.label(meta.title.as_deref(), meta.name.as_deref())?);
    Some(Hit { meta, message: None, snippet })
}

/// One lease given out.
struct Held {
    id: SessionId,
    leased: Arc<Mutex<BTreeSet<SessionId>>>,
}

impl Drop for Held {
    fn drop(&mut self) {
        lock(&self.leased).remove(&self.id);
    }
}

/// The idempotency key under which a user message was inserted.
pub(crate) fn key_of(entry: &Entry) -> Option<&str> {
    match &entry.item {
        Item::User { key, .. } => key.as_deref(),
        Item::Agent { .. }
        | Item::Thought { .. }
        | Item::Tool { .. }
        | Item::Remark { .. }
        | Item::Compaction { .. }
        | Item::TurnEnd { .. } => None,
    }
}

/// The id of the message that an item is.
pub(crate) fn message_of(item: &Item) -> Option<&MessageId> {
    match item {
        Item::User { id, .. }
        | Item::Agent { id, .. }
        | Item::Thought { id, .. }
        | Item::Remark { id, .. } => Some(id),
        Item::Tool { .. } | Item::Compaction { .. } | Item::TurnEnd { .. } => None,
    }
}

/// An item as it is stored.
pub(crate) fn stored_json<T: Serialize + ?Sized>(value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value)
        .map_err(|error| StoreError::Failed(format!("an item cannot be written: {error}")))
}

/// A second message under a key that has one.
pub(crate) fn key_taken(key: &str) -> StoreError {
    StoreError::Failed(format!("the idempotency key `{key}` belongs to another message of this session"))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
