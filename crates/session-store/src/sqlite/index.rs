//! The full-text index: which messages may have some words in them.
//!
//! It holds the threes of neighbouring characters of every message, not the text; whoever asks looks at the
//! messages themselves. An append only notes, in its own transaction, from where on a session is not indexed yet;
//! the thread does that when nothing else waits, and a search does what is left. Indexing costs as much as some
//! appends and now and then much more, which the answer of a model must not wait for.

use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::{Connection, ErrorCode, OptionalExtension, params};

use super::fault::Fault;
use super::rows;
use super::schema;
use crate::search::{Query, fold, message_text};

/// How much is indexed in one transaction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    /// How many messages, or sessions without any, at most.
    items: usize,
    /// How much text, beside the last message.
    bytes: usize,
}

impl Step {
    /// Some 4 ms, that long a write may have to wait.
    pub(super) const SHORT: Self = Self { items: 16, bytes: 32 * 1024 };
    /// For when somebody waits for the end.
    pub(super) const LONG: Self = Self { items: 128, bytes: 256 * 1024 };

    fn take(&mut self, bytes: usize) {
        self.items = self.items.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(bytes);
    }

    fn is_over(self) -> bool {
        self.items == 0 || self.bytes == 0
    }
}

/// How many bits of a row's number are the item's; the rest is the session's.
const SEQ_BITS: u32 = 24;
/// How many characters the index knows together.
const GRAM: usize = 3;

/// Notes that a session has messages from `seq` on that are not indexed.
pub(super) fn note(conn: &Connection, n: i64, seq: i64) -> Result<(), Fault> {
    let sql = "INSERT INTO unindexed (session, seq) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    conn.prepare_cached(sql)?.execute([n, seq])?;
    Ok(())
}

/// Whether any message is not indexed.
pub(super) fn is_behind(conn: &Connection) -> Result<bool, Fault> {
    let sql = "SELECT EXISTS (SELECT 1 FROM unindexed)";
    Ok(conn.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
}

/// As [`step`] for one who waits, but begins a damaged index anew: once, as long as `rebuilt` is not set.
pub(super) fn step_or_rebuild(conn: &Connection, rebuilt: &AtomicBool) -> Result<(), Fault> {
    match alone(conn, |conn| step(conn, Step::LONG)) {
        Err(fault) if is_damage(&fault) && !rebuilt.swap(true, Ordering::Relaxed) => rebuild(conn),
        other => other,
    }
}

/// Indexes some of the messages that are not, inside a transaction of the caller's.
pub(super) fn step(conn: &Connection, mut left: Step) -> Result<(), Fault> {
    while !left.is_over() {
        let sql = "SELECT session, seq FROM unindexed ORDER BY session DESC LIMIT 1";
        let next = conn.prepare_cached(sql)?.query_row([], |row| Ok((row.get(0)?, row.get(1)?)));
        let Some((n, from)) = next.optional()? else { return Ok(()) };
        left.take(0);
        session(conn, (n, from), &mut left)?;
    }
    Ok(())
}

fn session(conn: &Connection, (n, from): (i64, i64), left: &mut Step) -> Result<(), Fault> {
    let sql = format!(
        "SELECT {}, seq FROM entries WHERE session = ?1 AND seq >= ?2 AND kind IN ('user', 'agent') ORDER BY seq",
        rows::ENTRY
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let mut found = statement.query([n, from])?;
    while let Some(row) = found.next()? {
        let seq: i64 = row.get(4)?;
        if left.is_over() {
            let sql = "UPDATE unindexed SET seq = ?2 WHERE session = ?1";
            conn.prepare_cached(sql)?.execute([n, seq])?;
            return Ok(());
        }
        let text = rows::entry(row).and_then(|entry| message_text(&entry.item));
        if let (Some((_, text)), Some(row)) = (text, row_of(n, seq)) {
            left.take(text.len());
            let sql = "INSERT OR REPLACE INTO messages_index (rowid, text) VALUES (?1, ?2)";
            conn.prepare_cached(sql)?.execute(params![row, fold(&text)])?;
        }
    }
    conn.prepare_cached("DELETE FROM unindexed WHERE session = ?1")?.execute([n])?;
    Ok(())
}

/// Takes a session's messages out. Before its items are deleted.
pub(super) fn forget(conn: &Connection, n: i64) -> Result<(), Fault> {
    match alone(conn, |conn| forgotten(conn, n)) {
        // A session must not outlive its deletion because of the index.
        Err(fault) if is_damage(&fault) => rebuild(conn)?,
        other => other?,
    }
    conn.prepare_cached("DELETE FROM unindexed WHERE session = ?1")?.execute([n])?;
    Ok(())
}

fn forgotten(conn: &Connection, n: i64) -> Result<(), Fault> {
    let sql = "DELETE FROM messages_index WHERE rowid IN (
        SELECT (?1 << ?2) | seq FROM entries WHERE session = ?1 AND kind IN ('user', 'agent')
            AND seq < coalesce((SELECT seq FROM unindexed WHERE session = ?1), 1 << ?2))";
    conn.prepare_cached(sql)?.execute(params![n, SEQ_BITS])?;
    Ok(())
}

/// Does some work on the index so that its failure undoes nothing else. The index is written when a further
/// savepoint begins, or else with the commit, when a failure would be everybody's.
fn alone(conn: &Connection, work: impl FnOnce(&Connection) -> Result<(), Fault>) -> Result<(), Fault> {
    conn.execute_batch("SAVEPOINT of_index")?;
    let write = "SAVEPOINT written; RELEASE written; RELEASE of_index";
    let done = work(conn).and_then(|()| Ok(conn.execute_batch(write)?));
    if done.is_err() {
        conn.execute_batch("ROLLBACK TO of_index; RELEASE of_index")?;
    }
    done
}

/// Whether it is the index that is wrong: damaged, or not there.
fn is_damage(fault: &Fault) -> bool {
    let Fault::Sqlite(error) = fault else { return false };
    // A lost list of its parts shows in numbers that are taken already.
    let codes = [ErrorCode::DatabaseCorrupt, ErrorCode::ConstraintViolation, ErrorCode::Unknown];
    error.sqlite_error_code().is_some_and(|code| codes.contains(&code))
}

/// Begins the index anew; every message is to be indexed again.
pub(super) fn rebuild(conn: &Connection) -> Result<(), Fault> {
    tracing::warn!("the full-text index is damaged and is built anew");
    conn.execute_batch("DROP TABLE IF EXISTS messages_index")?;
    conn.execute_batch(schema::INDEX)?;
    conn.execute_batch("INSERT OR REPLACE INTO unindexed (session, seq) SELECT n, 0 FROM sessions")?;
    Ok(())
}

/// The items that may match, by session and the newest first; `None` when the index cannot tell, because no word is
/// long enough.
pub(super) fn candidates(conn: &Connection, query: &Query) -> Result<Option<Vec<(i64, i64)>>, Fault> {
    let Some(expression) = expression(query) else { return Ok(None) };
    let sql = "SELECT rowid FROM messages_index WHERE messages_index MATCH ?1 ORDER BY rowid DESC";
    let mut statement = conn.prepare(sql)?;
    let mut found = statement.query([expression])?;
    let mut items = Vec::new();
    while let Some(row) = found.next()? {
        let row: i64 = row.get(0)?;
        items.push((row >> SEQ_BITS, row & ((1 << SEQ_BITS) - 1)));
    }
    Ok(Some(items))
}

/// All threes of all words, each quoted, so that nothing of them is syntax.
fn expression(query: &Query) -> Option<String> {
    let mut grams: Vec<String> = Vec::new();
    for word in query.words() {
        let chars: Vec<char> = word.chars().collect();
        grams.extend(chars.windows(GRAM).map(|gram| gram.iter().collect::<String>().replace('"', "\"\"")));
    }
    grams.sort();
    grams.dedup();
    (!grams.is_empty()).then(|| format!("\"{}\"", grams.join("\" AND \"")))
}

/// An item's row in the index; `None` beyond what such a number can hold.
fn row_of(n: i64, seq: i64) -> Option<i64> {
    let fits = (0..1 << SEQ_BITS).contains(&seq) && (0..1 << (62 - SEQ_BITS)).contains(&n);
    fits.then_some((n << SEQ_BITS) | seq)
}

#[cfg(test)]
mod tests {
    use super::{expression, row_of};
    use crate::search::Query;

    #[test]
    fn words_become_quoted_threes_and_short_ones_none() {
        for (query, expected) in [
            ("ab", None),
            ("日本", None),
            ("ABC ab", Some(r#""abc""#)),
            ("abcd bcd", Some(r#""abc" AND "bcd""#)),
            (r#"a"b"#, Some(r#""a""b""#)),
            ("x* NOT", Some(r#""not""#)),
        ] {
            assert_eq!(expression(&Query::new(query)).as_deref(), expected, "{query}");
        }
    }

    #[test]
    fn rows_are_numbered_as_long_as_the_numbers_fit() {
        assert_eq!(row_of(3, 5), Some((3 << 24) + 5));
        assert_eq!(row_of(3, 1 << 24), None);
        assert_eq!(row_of(1 << 40, 1), None);
    }
}
