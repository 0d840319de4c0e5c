//! What is known of a session beside its history.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use session_model::{Entry, Grant, MessageId, SessionId, SessionUsage};
use time::OffsetDateTime;

/// A session without its history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionMeta {
    /// Its id.
    pub id: SessionId,
    /// Its folder, absolute.
    pub cwd: PathBuf,
    /// Further folders, absolute.
    #[serde(default)]
    pub additional_roots: Vec<PathBuf>,
    /// The name the user gave it.
    #[serde(default)]
    pub name: Option<String>,
    /// A short title: set, or made from the first user message.
    #[serde(default)]
    pub title: Option<String>,
    /// When it was made.
    #[serde(with = "time::serde::rfc3339")]
    pub created_at: OffsetDateTime,
    /// When it was last used.
    #[serde(with = "time::serde::rfc3339")]
    pub updated_at: OffsetDateTime,
    /// What "always" allowed.
    #[serde(default)]
    pub grants: Vec<Grant>,
    /// Values of the session's options by id, as the server above keeps them.
    #[serde(default)]
    pub options: serde_json::Map<String, serde_json::Value>,
    /// What it consumed.
    #[serde(default)]
    pub usage: SessionUsage,
}

/// Changes to a session's meta; absent members stay.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MetaPatch {
    /// New name; `Some(None)` takes it away.
    pub name: Option<Option<String>>,
    /// New title; `Some(None)` takes it away.
    pub title: Option<Option<String>>,
    /// New time of last use.
    pub updated_at: Option<OffsetDateTime>,
    /// New list of grants.
    pub grants: Option<Vec<Grant>>,
    /// New option values.
    pub options: Option<serde_json::Map<String, serde_json::Value>>,
    /// New further folders.
    pub additional_roots: Option<Vec<PathBuf>>,
    /// What the session consumed by now.
    pub usage: Option<SessionUsage>,
}

impl MetaPatch {
    /// Lays the changes over `meta`.
    pub fn apply(self, meta: &mut SessionMeta) {
        fn set<T>(old: &mut T, new: Option<T>) {
            if let Some(new) = new {
                *old = new;
            }
        }
        set(&mut meta.name, self.name);
        set(&mut meta.title, self.title);
        set(&mut meta.updated_at, self.updated_at);
        set(&mut meta.grants, self.grants);
        set(&mut meta.options, self.options);
        set(&mut meta.additional_roots, self.additional_roots);
        set(&mut meta.usage, self.usage);
    }
}

/// A session with its history.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredSession {
    /// What is known of it.
    pub meta: SessionMeta,
    /// Its history, oldest first.
    pub entries: Vec<Entry>,
    /// How many rows could not be read and were left out; told to the user, never fatal.
    pub damaged: usize,
}

/// Which part of a history to read. A turn is what stands together under one turn's id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// How many turns from the beginning.
    pub first_turns: usize,
    /// How many turns from the end.
    pub last_turns: usize,
}

impl Span {
    /// The ends of a history of `turns` turns: where the head ends and where the tail begins, never before it.
    pub(crate) fn bounds(self, turns: usize) -> (usize, usize) {
        let head = self.first_turns.min(turns);
        (head, turns.saturating_sub(self.last_turns).max(head))
    }
}

/// A session with the beginning and the end of its history.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredWindow {
    /// What is known of it.
    pub meta: SessionMeta,
    /// The first turns, oldest first.
    pub head: Vec<Entry>,
    /// The last turns, oldest first; those the head has already are not repeated.
    pub tail: Vec<Entry>,
    /// How many turns are between the two.
    pub left_out: usize,
    /// How many messages of the user the whole history has.
    pub turns: usize,
    /// How many rows of these turns could not be read.
    pub damaged: usize,
    /// Every idempotency key of the session and the message inserted under it, ordered by key.
    pub keys: Vec<(String, MessageId)>,
}

/// The end of a history.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRecent {
    /// Whole turns, oldest first.
    pub entries: Vec<Entry>,
    /// Whether there are turns before these.
    pub earlier: bool,
    /// How many rows of these turns could not be read.
    pub damaged: usize,
}

/// Which sessions to list: last use descending, then id.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListQuery {
    /// Only sessions of this folder.
    pub cwd: Option<PathBuf>,
    /// How many to leave out at the beginning.
    pub offset: usize,
    /// How many at most.
    pub limit: usize,
}

/// Some of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// The sessions.
    pub sessions: Vec<SessionMeta>,
    /// Whether more follow.
    pub more: bool,
}
