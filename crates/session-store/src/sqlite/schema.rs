//! The database's tables, and how older ones become newer.
//!
//! A session's row is small and indexed both ways it is listed; its items are rows of their own, clustered by
//! session, each with the version of its wording, so that one bad or future row costs only itself.

use rusqlite::{Connection, TransactionBehavior};

use super::fault::Fault;

/// The wording of the items this build writes; rows of a later one are left out when reading.
pub(super) const ITEM_VERSION: i64 = 1;

/// Step n brings a database from version n to n + 1. Steps are never edited, only added.
const STEPS: &[&[&str]] = &[&[SESSIONS], &[TURNS], &[INDEX, UNINDEXED], &[USED]];

const SESSIONS: &str = "
    CREATE TABLE sessions (
        n INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        cwd TEXT NOT NULL,
        roots TEXT NOT NULL,
        name TEXT,
        title TEXT,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        grants TEXT NOT NULL,
        options TEXT NOT NULL
    ) STRICT;
    CREATE INDEX sessions_recent ON sessions (updated_at DESC, id);
    CREATE INDEX sessions_folder ON sessions (cwd, updated_at DESC, id);
    CREATE TABLE entries (
        session INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        version INTEGER NOT NULL,
        turn TEXT NOT NULL,
        kind TEXT NOT NULL,
        at INTEGER NOT NULL,
        key TEXT,
        message TEXT,
        json TEXT NOT NULL,
        PRIMARY KEY (session, seq)
    ) STRICT, WITHOUT ROWID;
    CREATE UNIQUE INDEX entries_key ON entries (session, key) WHERE key IS NOT NULL;
";

/// Where each turn of a session begins, so that a part of a long history is found without reading it (`users`
/// counts the user's messages before `seq`); and the idempotency keys with their messages side by side.
const TURNS: &str = "
    CREATE TABLE turns (
        session INTEGER NOT NULL,
        nth INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        users INTEGER NOT NULL,
        PRIMARY KEY (session, nth)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO turns (session, nth, seq, users)
        SELECT session, row_number() OVER (PARTITION BY session ORDER BY seq) - 1, seq, users FROM (
            SELECT session, seq, turn IS NOT lag(turn) OVER history AS opens,
                sum(kind = 'user') OVER history - (kind = 'user') AS users
            FROM entries WINDOW history AS (PARTITION BY session ORDER BY seq)
        ) WHERE opens;
    CREATE TABLE keys (
        session INTEGER NOT NULL,
        key TEXT NOT NULL,
        message TEXT NOT NULL,
        PRIMARY KEY (session, key)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO keys (session, key, message)
        SELECT session, key, message FROM entries WHERE key IS NOT NULL AND message IS NOT NULL;
    DROP INDEX entries_key;
";

/// Which messages have which three neighbouring characters: no positions, no text.
pub(super) const INDEX: &str = "
    CREATE VIRTUAL TABLE messages_index USING fts5(
        text, content = '', contentless_delete = 1, detail = none, tokenize = 'trigram case_sensitive 1'
    );
";

/// The sessions with messages that are not in the index, from `seq` on; and the names in their folders.
const UNINDEXED: &str = "
    CREATE TABLE unindexed (
        session INTEGER PRIMARY KEY,
        seq INTEGER NOT NULL
    ) STRICT;
    INSERT INTO unindexed (session, seq) SELECT n, 0 FROM sessions;
    CREATE INDEX sessions_name ON sessions (cwd, name) WHERE name IS NOT NULL;
";

/// What a session consumed.
const USED: &str = "
    ALTER TABLE sessions ADD COLUMN used TEXT NOT NULL DEFAULT '{}';
";

/// Brings the database to this build's version.
pub(super) fn migrate(conn: &mut Connection) -> Result<(), Fault> {
    if version(conn)? == STEPS.len() {
        return Ok(());
    }
    // Looked at again under the write lock: another process may have been faster.
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found = version(&tx)?;
    let Some(steps) = STEPS.get(found..) else {
        return Err(Fault::Newer { found, known: STEPS.len() });
    };
    for sql in steps.iter().copied().flatten() {
        tx.execute_batch(sql)?;
    }
    tx.pragma_update(None, "user_version", i64::try_from(STEPS.len()).unwrap_or(i64::MAX))?;
    tx.commit()?;
    Ok(())
}

/// Writes the version that is there.
pub(super) fn rewrite_version(conn: &Connection) -> Result<(), Fault> {
    let found: i64 = conn.pragma_query_value(None, "user_version", |row| row.get(0))?;
    Ok(conn.pragma_update(None, "user_version", found)?)
}

fn version(conn: &Connection) -> Result<usize, Fault> {
    let found: i64 = conn.pragma_query_value(None, "user_version", |row| row.get(0))?;
    Ok(usize::try_from(found).unwrap_or(usize::MAX))
}
