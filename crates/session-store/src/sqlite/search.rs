//! Finds sessions by words: candidates from the index, then a look at what they really say.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use rusqlite::{Connection, OptionalExtension};
use session_model::Entry;

use super::fault::Fault;
use super::index;
use super::rows;
use crate::meta::SessionMeta;
use crate::search::{Hit, HitMessage, Query};

/// What was found, and what the search noticed.
pub(super) struct Found {
    /// Last used first.
    pub(super) hits: Vec<Hit>,
    /// The index could not be used and has to be built anew.
    pub(super) index_damaged: bool,
}

/// The sessions that match, last used first. All messages must be indexed, unless `whole` says to read them all.
pub(super) fn search(
    conn: &Connection,
    query: &Query,
    cwd: Option<&Path>,
    (limit, whole): (usize, bool),
) -> Result<Found, Fault> {
    let mut search = Search { query, items: None, labelled: HashSet::new() };
    let mut index_damaged = false;
    if !whole {
        match index::candidates(conn, query) {
            Ok(items) => search.items = items.map(by_session),
            Err(error) => {
                tracing::warn!(?error, "the full-text index cannot be used, every message is read");
                index_damaged = true;
            }
        }
    }
    let cwd = cwd.map(rows::path).transpose()?;
    search.labels(conn)?;
    let hits = search.walk(conn, cwd.as_deref(), limit)?;
    Ok(Found { hits, index_damaged })
}

fn by_session(items: Vec<(i64, i64)>) -> HashMap<i64, Vec<i64>> {
    let mut sessions: HashMap<i64, Vec<i64>> = HashMap::new();
    for (n, seq) in items {
        sessions.entry(n).or_default().push(seq);
    }
    sessions
}

struct Search<'a> {
    query: &'a Query,
    /// The items that may match, newest first; without them every message may.
    items: Option<HashMap<i64, Vec<i64>>>,
    /// The sessions whose title or name matches.
    labelled: HashSet<i64>,
}

impl Search<'_> {
    /// Titles change; there is one per session, so they are not indexed but read.
    fn labels(&mut self, conn: &Connection) -> Result<(), Fault> {
        let mut statement = conn.prepare("SELECT n, title, name FROM sessions")?;
        let mut found = statement.query([])?;
        while let Some(row) = found.next()? {
            if self.query.label(rows::text(row, 1), rows::text(row, 2)).is_some() {
                self.labelled.insert(row.get(0)?);
            }
        }
        Ok(())
    }

    fn walk(&self, conn: &Connection, cwd: Option<&str>, limit: usize) -> Result<Vec<Hit>, Fault> {
        let filter = if cwd.is_some() { "WHERE cwd = ?1" } else { "WHERE ?1 IS NULL" };
        let sql = format!("SELECT n FROM sessions {filter} ORDER BY updated_at DESC, id");
        let mut statement = conn.prepare(&sql)?;
        let mut found = statement.query([cwd])?;
        let mut hits = Vec::new();
        while hits.len() < limit
            && let Some(row) = found.next()?
        {
            hits.extend(self.hit(conn, row.get(0)?)?);
        }
        Ok(hits)
    }

    fn hit(&self, conn: &Connection, n: i64) -> Result<Option<Hit>, Fault> {
        let message = match &self.items {
            Some(items) => self.among(conn, n, items.get(&n).map_or(&[], Vec::as_slice))?,
            None => self.anywhere(conn, n)?,
        };
        if message.is_none() && !self.labelled.contains(&n) {
            return Ok(None);
        }
        let Some(meta) = meta(conn, n)? else { return Ok(None) };
        if let Some((message, text)) = message {
            return Ok(Some(Hit { meta, message: Some(message), snippet: self.query.snippet(&text) }));
        }
        let label = self.query.label(meta.title.as_deref(), meta.name.as_deref());
        let snippet = label.map(|label| self.query.snippet(label));
        Ok(snippet.map(|snippet| Hit { meta, message: None, snippet }))
    }

    fn among(&self, conn: &Connection, n: i64, seqs: &[i64]) -> Result<Option<(HitMessage, String)>, Fault> {
        let sql = format!("SELECT {} FROM entries WHERE session = ?1 AND seq = ?2", rows::ENTRY);
        let mut statement = conn.prepare_cached(&sql)?;
        for seq in seqs {
            let entry = statement.query_row([n, *seq], |row| Ok(rows::entry(row))).optional()?.flatten();
            let found = entry.and_then(|entry| self.message(&entry));
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    fn anywhere(&self, conn: &Connection, n: i64) -> Result<Option<(HitMessage, String)>, Fault> {
        let sql = format!(
            "SELECT {} FROM entries WHERE session = ?1 AND kind IN ('user', 'agent') ORDER BY seq DESC",
            rows::ENTRY
        );
        let mut statement = conn.prepare_cached(&sql)?;
        let mut found = statement.query([n])?;
        while let Some(row) = found.next()? {
            let found = rows::entry(row).and_then(|entry| self.message(&entry));
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    fn message(&self, entry: &Entry) -> Option<(HitMessage, String)> {
        let (id, text) = self.query.message(&entry.item)?;
        Some((HitMessage { turn: entry.turn.clone(), id }, text))
    }
}

/// A session's record; `None` when it is gone or cannot be read.
fn meta(conn: &Connection, n: i64) -> Result<Option<SessionMeta>, Fault> {
    let sql = format!("SELECT {} FROM sessions WHERE n = ?1", rows::SESSION);
    let row = conn.prepare_cached(&sql)?.query_row([n], |row| Ok(rows::session(row))).optional()?;
    Ok(row.flatten())
}
