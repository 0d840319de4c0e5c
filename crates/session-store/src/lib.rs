//! Keeps sessions: append, load, list, update, delete, lease; in SQLite or in memory.
//!
//! Knows nothing of ACP, of agents or of views: a session here is a [`SessionMeta`] and an ordered list of
//! [`session_model::Entry`]s. It reads no clock and no home directory.

mod belongings;
mod error;
pub mod export;
mod files;
pub mod fold;
mod lease;
mod memory;
mod meta;
mod search;
mod sqlite;
mod store;
mod title;

pub use belongings::Belongings;
pub use error::StoreError;
pub use memory::MemoryStore;
pub use meta::{ListQuery, MetaPatch, Page, SessionMeta, Span, StoredRecent, StoredSession, StoredWindow};
pub use search::{Hit, HitMessage};
pub use sqlite::SqliteStore;
pub use store::{Lease, SessionStore};
pub use title::title_from;
