//! Keeps sessions: append, load, list, update, delete, lease; in SQLite or in memory.
//!
//! Knows nothing of ACP, of agents or of views: a session here is a [`SessionMeta`] and an ordered list of
//! [`session_model::Entry`]s. It reads no clock and no home directory.

mod error;
mod meta;
mod store;

pub use error::StoreError;
pub use meta::{ListQuery, MetaPatch, Page, SessionMeta, StoredSession};
pub use store::{Lease, SessionStore};
