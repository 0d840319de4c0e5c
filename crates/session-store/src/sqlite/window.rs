//! Parts of a history, found by the table of turns without reading what is between.

use rusqlite::{Connection, OptionalExtension, Row};
use session_model::{Entry, Item, MessageId, SessionId};

use super::fault::Fault;
use super::read::{self, History};
use super::rows;
use crate::fold;
use crate::meta::{Span, StoredRecent, StoredWindow};

/// The beginning and the end of a history.
pub(super) fn window(conn: &Connection, id: &SessionId, span: Span) -> Result<StoredWindow, Fault> {
    // One snapshot for all queries: another process may append in between.
    let tx = conn.unchecked_transaction()?;
    let meta = read::meta(&tx, id)?;
    let n = read::number(&tx, id)?;
    let part = match found(&tx, n, span)? {
        Some(part) => part,
        None => counted(&tx, id, n, span)?,
    };
    let Part { head, tail, left_out, turns, damaged } = part;
    History { entries: Vec::new(), damaged }.warn(id);
    Ok(StoredWindow { meta, head, tail, left_out, turns, damaged, keys: keys(&tx, n)? })
}

struct Part {
    head: Vec<Entry>,
    tail: Vec<Entry>,
    left_out: usize,
    turns: usize,
    damaged: usize,
}

/// By the table of turns; `None` when it does not fit the history.
fn found(conn: &Connection, n: i64, span: Span) -> Result<Option<Part>, Fault> {
    let Some((total, turns)) = count(conn, n)? else { return Ok(None) };
    let (head_end, tail_begin) = span.bounds(total);
    let (Some(head_end_seq), Some(tail_seq)) =
        (begin(conn, n, head_end, total)?, begin(conn, n, tail_begin, total)?)
    else {
        return Ok(None);
    };
    let (mut head, mut tail) = (History::default(), History::default());
    head.read(conn, n, 0..head_end_seq)?;
    tail.read(conn, n, tail_seq..i64::MAX)?;
    Ok(Some(Part {
        head: head.entries,
        tail: tail.entries,
        left_out: tail_begin - head_end,
        turns,
        damaged: head.damaged + tail.damaged,
    }))
}

/// How many turns and user's messages a history has; `None` when the table of turns has none of its turns.
fn count(conn: &Connection, n: i64) -> Result<Option<(usize, usize)>, Fault> {
    let sql = "SELECT nth + 1, users + (SELECT count(*) FROM entries AS e
            WHERE e.session = ?1 AND e.seq >= t.seq AND e.kind = 'user')
        FROM turns AS t WHERE session = ?1 ORDER BY nth DESC LIMIT 1";
    let counted = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?));
    if let Some((total, users)) = conn.prepare_cached(sql)?.query_row([n], counted).optional()? {
        return Ok(usize::try_from(total).ok().zip(usize::try_from(users).ok()));
    }
    let empty = "SELECT NOT EXISTS (SELECT 1 FROM entries WHERE session = ?1)";
    let empty: bool = conn.prepare_cached(empty)?.query_row([n], |row| row.get(0))?;
    Ok(empty.then_some((0, 0)))
}

/// The number of the first item of the `nth` turn, or one beyond all after the last.
fn begin(conn: &Connection, n: i64, nth: usize, total: usize) -> Result<Option<i64>, Fault> {
    if nth == 0 {
        return Ok(Some(0));
    }
    if nth == total {
        return Ok(Some(i64::MAX));
    }
    let mut statement = conn.prepare_cached("SELECT seq FROM turns WHERE session = ?1 AND nth = ?2")?;
    Ok(statement.query_row([n, rows::count(nth)], |row| row.get(0)).optional()?)
}

/// By reading everything.
fn counted(conn: &Connection, id: &SessionId, n: i64, span: Span) -> Result<Part, Fault> {
    tracing::warn!(session = %id, "the table of turns does not fit the history, which is read whole");
    let mut history = History::default();
    history.read(conn, n, 0..i64::MAX)?;
    let (head, left_out, tail) = fold::split(&history.entries, span);
    let by_user = |entry: &&Entry| matches!(entry.item, Item::User { .. });
    Ok(Part {
        head: head.to_vec(),
        tail: tail.to_vec(),
        left_out,
        turns: history.entries.iter().filter(by_user).count(),
        damaged: history.damaged,
    })
}

fn keys(conn: &Connection, n: i64) -> Result<Vec<(String, MessageId)>, Fault> {
    let sql = "SELECT key, message FROM keys WHERE session = ?1 ORDER BY key";
    let mut statement = conn.prepare_cached(sql)?;
    let mut found = statement.query([n])?;
    let mut keys = Vec::new();
    while let Some(row) = found.next()? {
        if let (Some(key), Some(message)) = (rows::text(row, 0), rows::text(row, 1)) {
            keys.push((key.to_owned(), MessageId::from(message)));
        }
    }
    Ok(keys)
}

/// The end of a history.
pub(super) fn recent(conn: &Connection, id: &SessionId, bytes: usize) -> Result<StoredRecent, Fault> {
    let tx = conn.unchecked_transaction()?;
    let n = read::number(&tx, id)?;
    // Backwards, until a turn begins with which there is enough.
    let sql = format!("SELECT {} FROM entries WHERE session = ?1 ORDER BY seq DESC", rows::ENTRY);
    let mut statement = tx.prepare_cached(&sql)?;
    let mut found = statement.query([n])?;
    let mut history = History::default();
    let (mut total, mut turn, mut earlier) = (0, None, false);
    while let Some(row) = found.next()? {
        let of = rows::turn(row);
        if turn.as_ref().is_some_and(|turn| *turn != of) && total >= bytes {
            earlier = true;
            break;
        }
        turn = Some(of);
        total += rows::size(row);
        history.push(rows::entry(row));
    }
    history.warn(id);
    history.entries.reverse();
    Ok(StoredRecent { entries: history.entries, earlier, damaged: history.damaged })
}
