//! What is changed. Each function runs inside a transaction that its caller commits.

use rusqlite::{Connection, ErrorCode, OptionalExtension, params};
use session_model::{Entry, MessageId, SessionId, TurnId};

use super::fault::Fault;
use super::index;
use super::read;
use super::rows;
use super::schema::ITEM_VERSION;
use crate::error::StoreError;
use crate::memory::{key_of, key_taken, message_of};
use crate::meta::{MetaPatch, SessionMeta, StoredSession};
use crate::search::message_text;
use crate::title::title_from;

/// Makes a session.
pub(super) fn create(conn: &Connection, meta: &SessionMeta) -> Result<(), Fault> {
    let sql =
        format!("INSERT INTO sessions ({}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)", rows::SESSION);
    let inserted = conn.prepare_cached(&sql)?.execute(params![
        meta.id.as_str(),
        rows::path(&meta.cwd)?,
        rows::json(&meta.additional_roots)?,
        meta.name,
        meta.title,
        rows::nanos(meta.created_at),
        rows::nanos(meta.updated_at),
        rows::json(&meta.grants)?,
        rows::json(&meta.options)?,
        rows::json(&meta.usage)?,
    ]);
    match inserted {
        Ok(_) => Ok(()),
        Err(error) if taken(&error) => Err(StoreError::Exists(meta.id.clone()).into()),
        Err(error) => Err(error.into()),
    }
}

/// Makes a session with a history.
pub(super) fn insert(conn: &Connection, session: &StoredSession) -> Result<(), Fault> {
    let meta = &session.meta;
    create(conn, meta)?;
    append(conn, &meta.id, &session.entries)?;
    let sql = "UPDATE sessions SET updated_at = ?2, title = ?3 WHERE id = ?1";
    conn.prepare_cached(sql)?.execute(params![meta.id.as_str(), rows::nanos(meta.updated_at), meta.title])?;
    Ok(())
}

/// Appends items and moves the session's time and title with them.
pub(super) fn append(conn: &Connection, id: &SessionId, entries: &[Entry]) -> Result<(), Fault> {
    let n = read::number(conn, id)?;
    let Some(last) = entries.last() else { return Ok(()) };
    let (mut seq, mut turn) = end(conn, n)?;
    if entries.iter().any(|entry| message_text(&entry.item).is_some()) {
        index::note(conn, n, seq + 1)?;
    }
    for entry in entries {
        seq += 1;
        if turn.as_ref() != Some(&entry.turn) {
            open_turn(conn, n, seq)?;
            turn = Some(entry.turn.clone());
        }
        add(conn, (n, seq), entry)?;
    }
    conn.prepare_cached("UPDATE sessions SET updated_at = ?2, title = coalesce(title, ?3) WHERE n = ?1")?
        .execute(params![n, rows::nanos(last.at), title_from(entries)])?;
    Ok(())
}

/// The number of the last item, and its turn where that can be read.
fn end(conn: &Connection, n: i64) -> Result<(i64, Option<TurnId>), Fault> {
    let sql = "SELECT seq, turn FROM entries WHERE session = ?1 ORDER BY seq DESC LIMIT 1";
    let mut statement = conn.prepare_cached(sql)?;
    let last = statement.query_row([n], |row| Ok((row.get(0)?, rows::text(row, 1).map(TurnId::from))));
    Ok(last.optional()?.unwrap_or((0, None)))
}

/// Notes that the item `seq` begins a turn.
fn open_turn(conn: &Connection, n: i64, seq: i64) -> Result<(), Fault> {
    let sql = "INSERT INTO turns (session, nth, seq, users)
        SELECT ?1, nth + 1, ?2, users + (SELECT count(*) FROM entries AS e
            WHERE e.session = ?1 AND e.seq >= t.seq AND e.seq < ?2 AND e.kind = 'user')
        FROM turns AS t WHERE session = ?1 ORDER BY nth DESC LIMIT 1";
    if conn.prepare_cached(sql)?.execute([n, seq])? == 0 {
        let sql = "INSERT INTO turns (session, nth, seq, users) VALUES (?1, 0, ?2, 0)";
        conn.prepare_cached(sql)?.execute([n, seq])?;
    }
    Ok(())
}

fn add(conn: &Connection, (n, seq): (i64, i64), entry: &Entry) -> Result<(), Fault> {
    let sql = "INSERT INTO entries (session, seq, version, turn, kind, at, key, message, json)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    let (key, message) = (key_of(entry), message_of(&entry.item).map(MessageId::as_str));
    conn.prepare_cached(sql)?.execute(params![
        n,
        seq,
        ITEM_VERSION,
        entry.turn.as_str(),
        rows::kind(&entry.item),
        rows::nanos(entry.at),
        key,
        message,
        rows::json(&entry.item)?,
    ])?;
    let (Some(key), Some(message)) = (key, message) else { return Ok(()) };
    let sql = "INSERT INTO keys (session, key, message) VALUES (?1, ?2, ?3)";
    match conn.prepare_cached(sql)?.execute(params![n, key, message]) {
        Ok(_) => Ok(()),
        Err(error) if taken(&error) => Err(key_taken(key).into()),
        Err(error) => Err(error.into()),
    }
}

/// Changes what is known of a session; what the patch leaves out keeps its stored text, readable or not.
pub(super) fn update(conn: &Connection, id: &SessionId, patch: &MetaPatch) -> Result<(), Fault> {
    let n = read::number(conn, id)?;
    let sql = "UPDATE sessions SET
        name = CASE WHEN ?2 THEN ?3 ELSE name END,
        title = CASE WHEN ?4 THEN ?5 ELSE title END,
        updated_at = coalesce(?6, updated_at),
        grants = coalesce(?7, grants),
        options = coalesce(?8, options),
        roots = coalesce(?9, roots),
        used = coalesce(?10, used)
        WHERE n = ?1";
    conn.prepare_cached(sql)?.execute(params![
        n,
        patch.name.is_some(),
        patch.name.as_ref().and_then(Option::as_ref),
        patch.title.is_some(),
        patch.title.as_ref().and_then(Option::as_ref),
        patch.updated_at.map(rows::nanos),
        patch.grants.as_ref().map(rows::json).transpose()?,
        patch.options.as_ref().map(rows::json).transpose()?,
        patch.additional_roots.as_ref().map(rows::json).transpose()?,
        patch.usage.as_ref().map(rows::json).transpose()?,
    ])?;
    Ok(())
}

/// Drops a session and its items.
pub(super) fn delete(conn: &Connection, id: &SessionId) -> Result<(), Fault> {
    let n = read::number(conn, id)?;
    index::forget(conn, n)?;
    conn.prepare_cached("DELETE FROM entries WHERE session = ?1")?.execute([n])?;
    conn.prepare_cached("DELETE FROM turns WHERE session = ?1")?.execute([n])?;
    conn.prepare_cached("DELETE FROM keys WHERE session = ?1")?.execute([n])?;
    conn.prepare_cached("DELETE FROM sessions WHERE n = ?1")?.execute([n])?;
    Ok(())
}

fn taken(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation)
}
