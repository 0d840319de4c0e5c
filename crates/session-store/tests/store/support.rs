//! Sessions and items for the tests.

use std::path::PathBuf;

use rusqlite::Connection;
use session_model::{Content, Entry, Item, SessionId, StopReason, TurnId};
use session_store::{SessionMeta, SqliteStore};
use tempfile::TempDir;
use time::OffsetDateTime;

/// Runs each of the tests named against both stores.
macro_rules! contract {
    ($($name:ident)*) => {
        mod memory {
            $(#[tokio::test]
            async fn $name() {
                super::$name(&session_store::MemoryStore::new()).await;
            })*
        }
        mod sqlite {
            $(#[tokio::test]
            async fn $name() {
                super::$name(&crate::support::Disk::new().store()).await;
            })*
        }
    };
}

pub(crate) use contract;

/// A database in a folder of its own.
pub(crate) struct Disk {
    _folder: TempDir,
    pub(crate) path: PathBuf,
}

impl Disk {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data").join("sessions.db");
        Self { _folder: folder, path }
    }

    pub(crate) fn store(&self) -> SqliteStore {
        SqliteStore::open(self.path.clone())
    }

    /// A look past the store.
    pub(crate) fn raw(&self) -> Connection {
        Connection::open(&self.path).unwrap()
    }
}

pub(crate) fn at(second: i64) -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp(1_700_000_000 + second).unwrap()
}

/// A session of `/w`, last used at `second`.
pub(crate) fn meta(id: &str, second: i64) -> SessionMeta {
    SessionMeta {
        id: SessionId::from(id),
        cwd: "/w".into(),
        additional_roots: Vec::new(),
        name: None,
        title: None,
        created_at: at(0),
        updated_at: at(second),
        grants: Vec::new(),
        options: serde_json::Map::new(),
        usage: session_model::SessionUsage::default(),
    }
}

pub(crate) fn entry(turn: &str, second: i64, item: Item) -> Entry {
    Entry { turn: TurnId::from(turn), at: at(second), item }
}

pub(crate) fn user(id: &str, text: &str, key: Option<&str>) -> Item {
    Item::User { id: id.into(), content: vec![Content::text(text)], key: key.map(str::to_owned) }
}

pub(crate) fn agent(id: &str, text: &str) -> Item {
    Item::Agent { id: id.into(), step: 0, text: text.to_owned() }
}

pub(crate) fn end() -> Item {
    Item::TurnEnd { stop: StopReason::EndTurn, error: None, route: None }
}
