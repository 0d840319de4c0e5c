//! What is changed. Each function runs inside a transaction that its caller commits.

use rusqlite::{Connection, ErrorCode, params};
use session_model::{Entry, SessionId};

use super::fault::Fault;
use super::read;
use super::rows;
use super::schema::ITEM_VERSION;
use crate::error::StoreError;
use crate::memory::{key_of, key_taken, message_of};
use crate::meta::{MetaPatch, SessionMeta};
use crate::title::title_from;

/// Makes a session.
pub(super) fn create(conn: &Connection, meta: &SessionMeta) -> Result<(), Fault> {
    let sql = format!("INSERT INTO sessions ({}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)", rows::SESSION);
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
    ]);
    match inserted {
        Ok(_) => Ok(()),
        Err(error) if taken(&error) => Err(StoreError::Exists(meta.id.clone()).into()),
        Err(error) => Err(error.into()),
    }
}

/// Appends items and moves the session's time and title with them.
pub(super) fn append(conn: &Connection, id: &SessionId, entries: &[Entry]) -> Result<(), Fault> {
    let n = read::number(conn, id)?;
    let Some(last) = entries.last() else { return Ok(()) };
    let mut seq: i64 = conn
        .prepare_cached("SELECT coalesce(max(seq), 0) FROM entries WHERE session = ?1")?
        .query_row([n], |row| row.get(0))?;
    for entry in entries {
        seq += 1;
        insert(conn, (n, seq), entry)?;
    }
    conn.prepare_cached("UPDATE sessions SET updated_at = ?2, title = coalesce(title, ?3) WHERE n = ?1")?
        .execute(params![n, rows::nanos(last.at), title_from(entries)])?;
    Ok(())
}

fn insert(conn: &Connection, (n, seq): (i64, i64), entry: &Entry) -> Result<(), Fault> {
    let sql = "INSERT INTO entries (session, seq, version, turn, kind, at, key, message, json)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    let key = key_of(entry);
    let inserted = conn.prepare_cached(sql)?.execute(params![
        n,
        seq,
        ITEM_VERSION,
        entry.turn.as_str(),
        rows::kind(&entry.item),
        rows::nanos(entry.at),
        key,
        message_of(&entry.item).map(session_model::MessageId::as_str),
        rows::json(&entry.item)?,
    ]);
    match (inserted, key) {
        (Ok(_), _) => Ok(()),
        (Err(error), Some(key)) if taken(&error) => Err(key_taken(key).into()),
        (Err(error), _) => Err(error.into()),
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
        roots = coalesce(?9, roots)
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
    ])?;
    Ok(())
}

/// Drops a session and its items.
pub(super) fn delete(conn: &Connection, id: &SessionId) -> Result<(), Fault> {
    let n = read::number(conn, id)?;
    conn.prepare_cached("DELETE FROM entries WHERE session = ?1")?.execute([n])?;
    conn.prepare_cached("DELETE FROM sessions WHERE n = ?1")?.execute([n])?;
    Ok(())
}

fn taken(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation)
}
