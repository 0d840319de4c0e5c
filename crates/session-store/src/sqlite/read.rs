//! What is looked up.

use std::ops::Range;
use std::path::Path;

use rusqlite::{Connection, OptionalExtension, params};
use session_model::{Entry, MessageId, SessionId};

use super::fault::Fault;
use super::rows;
use crate::error::StoreError;
use crate::meta::{ListQuery, Page, SessionMeta, StoredSession};

/// Offsets up to this are simply counted off.
const NEAR: usize = 500;

/// A session with its history.
pub(super) fn load(conn: &Connection, id: &SessionId) -> Result<StoredSession, Fault> {
    // One snapshot for both queries: another process may append in between.
    let tx = conn.unchecked_transaction()?;
    let meta = meta(&tx, id)?;
    let n = number(&tx, id)?;
    let mut history = History::default();
    history.read(&tx, n, 0..i64::MAX)?;
    history.warn(id);
    Ok(StoredSession { meta, entries: history.entries, damaged: history.damaged })
}

/// Items read so far.
#[derive(Default)]
pub(super) struct History {
    pub(super) entries: Vec<Entry>,
    /// Rows that cannot be read.
    pub(super) damaged: usize,
}

impl History {
    /// Adds those of a session with these numbers.
    pub(super) fn read(&mut self, conn: &Connection, n: i64, seqs: Range<i64>) -> Result<(), Fault> {
        let sql = format!(
            "SELECT {} FROM entries WHERE session = ?1 AND seq >= ?2 AND seq < ?3 ORDER BY seq",
            rows::ENTRY
        );
        let mut statement = conn.prepare_cached(&sql)?;
        let mut found = statement.query([n, seqs.start, seqs.end])?;
        while let Some(row) = found.next()? {
            self.push(rows::entry(row));
        }
        Ok(())
    }

    /// Adds one, or counts it as damaged.
    pub(super) fn push(&mut self, entry: Option<Entry>) {
        match entry {
            Some(entry) => self.entries.push(entry),
            None => self.damaged += 1,
        }
    }

    /// Says so when something is missing.
    pub(super) fn warn(&self, id: &SessionId) {
        if self.damaged > 0 {
            tracing::warn!(session = %id, damaged = self.damaged, "items that cannot be read are left out");
        }
    }
}

/// A session without its history.
pub(super) fn meta(conn: &Connection, id: &SessionId) -> Result<SessionMeta, Fault> {
    let sql = format!("SELECT {} FROM sessions WHERE id = ?1", rows::SESSION);
    let row = conn.prepare_cached(&sql)?.query_row([id.as_str()], |row| Ok(rows::session(row))).optional()?;
    match row {
        Some(Some(meta)) => Ok(meta),
        Some(None) => Err(StoreError::Failed(format!("the record of session {id} is damaged")).into()),
        None => Err(StoreError::NotFound(id.clone()).into()),
    }
}

/// The session's number, by which its items go.
pub(super) fn number(conn: &Connection, id: &SessionId) -> Result<i64, Fault> {
    let mut statement = conn.prepare_cached("SELECT n FROM sessions WHERE id = ?1")?;
    let found = statement.query_row([id.as_str()], |row| row.get(0)).optional()?;
    found.ok_or_else(|| StoreError::NotFound(id.clone()).into())
}

/// The session whose id is, or alone begins with, `reference`.
pub(super) fn find(conn: &Connection, reference: &str) -> Result<SessionMeta, Fault> {
    let exact = SessionId::from(reference);
    match meta(conn, &exact) {
        Err(Fault::Store(StoreError::NotFound(_))) if !reference.is_empty() => {}
        settled => return settled,
    }
    // A range of the id index rather than LIKE: no wildcards to escape, no folding of case, no full scan.
    let mut statement =
        conn.prepare_cached("SELECT id FROM sessions WHERE id >= ?1 AND id < ?2 ORDER BY id LIMIT 2")?;
    let mut found = statement.query([reference, &format!("{reference}{}", char::MAX)])?;
    let mut ids = Vec::new();
    while let Some(row) = found.next()? {
        ids.push(SessionId::from(row.get::<_, String>(0)?));
    }
    match ids.as_slice() {
        [] => Err(StoreError::NotFound(exact).into()),
        [one] => meta(conn, one),
        [_, ..] => Err(StoreError::Ambiguous(reference.to_owned()).into()),
    }
}

/// The session of this folder with this name.
pub(super) fn named(conn: &Connection, cwd: &Path, name: &str) -> Result<Option<SessionMeta>, Fault> {
    let sql = format!(
        "SELECT {} FROM sessions WHERE cwd = ?1 AND name = ?2 ORDER BY updated_at DESC, id LIMIT 1",
        rows::SESSION
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let found =
        statement.query_row(params![rows::path(cwd)?, name], |row| Ok(rows::session(row))).optional()?;
    Ok(found.flatten())
}

/// The session of this folder used last.
pub(super) fn latest(conn: &Connection, cwd: &Path) -> Result<Option<SessionMeta>, Fault> {
    let query = ListQuery { cwd: Some(cwd.to_owned()), offset: 0, limit: 1 };
    Ok(list(conn, &query)?.sessions.into_iter().next())
}

/// A page of the list.
pub(super) fn list(conn: &Connection, query: &ListQuery) -> Result<Page, Fault> {
    // One snapshot for the count and the page.
    let tx = conn.unchecked_transaction()?;
    let filter = if query.cwd.is_some() { "WHERE cwd = ?1" } else { "WHERE ?1 IS NULL" };
    let cwd = query.cwd.as_deref().map(rows::path).transpose()?;
    let (order, limit, offset) = span(&tx, (filter, cwd.as_deref()), query)?;
    // The offset is counted off in the index alone; only the page's own rows are fetched.
    let sql = format!(
        "SELECT {} FROM sessions WHERE n IN (SELECT n FROM sessions {filter} ORDER BY {order} \
         LIMIT ?2 OFFSET ?3) ORDER BY updated_at DESC, id",
        rows::SESSION
    );
    let mut statement = tx.prepare_cached(&sql)?;
    let mut found = statement.query(params![cwd, limit, offset])?;
    let (mut seen, mut sessions) = (0, Vec::new());
    while let Some(row) = found.next()? {
        seen += 1;
        if seen > query.limit {
            return Ok(Page { sessions, more: true });
        }
        if let Some(meta) = rows::session(row) {
            sessions.push(meta);
        } else {
            tracing::warn!("a session whose record cannot be read is left out of the list");
        }
    }
    Ok(Page { sessions, more: false })
}

/// From which end to count, how many rows to take (one more than the page, to know of a next one), and how many
/// to skip: a page of the far half is counted from the end, so that the last one costs no more than the first.
fn span(
    conn: &Connection,
    (filter, cwd): (&str, Option<&str>),
    query: &ListQuery,
) -> Result<(&'static str, i64, i64), Fault> {
    let (limit, offset) = (rows::count(query.limit.saturating_add(1)), rows::count(query.offset));
    if query.offset > NEAR {
        let total: i64 = match cwd {
            Some(_) => {
                let sql = format!("SELECT count(*) FROM sessions {filter}");
                conn.prepare_cached(&sql)?.query_row([cwd], |row| row.get(0))?
            }
            // Without any condition SQLite counts whole pages.
            None => conn.prepare_cached("SELECT count(*) FROM sessions")?.query_row([], |row| row.get(0))?,
        };
        if offset > total / 2 {
            let rest = total.saturating_sub(offset).max(0);
            let take = limit.min(rest);
            return Ok(("updated_at, id DESC", take, rest - take));
        }
    }
    Ok(("updated_at DESC, id", limit, offset))
}

/// The message inserted under a key.
pub(super) fn inserted(conn: &Connection, id: &SessionId, key: &str) -> Result<Option<MessageId>, Fault> {
    let n = number(conn, id)?;
    let mut statement = conn.prepare_cached("SELECT message FROM keys WHERE session = ?1 AND key = ?2")?;
    let found = statement.query_row(params![n, key], |row| row.get::<_, String>(0)).optional()?;
    Ok(found.map(MessageId::from))
}
