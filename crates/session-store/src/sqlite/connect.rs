//! Opens the database file.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use super::fault::Fault;
use super::schema;
use crate::files;

/// How often a lock held by another process is tried; with the pauses below some twenty seconds, far beyond any
/// transaction of ours.
const LOCK_TRIES: i32 = 2_000;
/// The longest pause between two tries. Short, so that waiting processes take fair turns.
const LOCK_PAUSE_MAX_MS: u64 = 10;
/// Every statement of ours stays prepared.
const STATEMENTS: usize = 32;

/// Opens (and where needed makes, or brings up to date) the database at `path`.
pub(super) fn connect(path: &Path) -> Result<Connection, Fault> {
    if let Some(folder) = path.parent() {
        files::make_folder(folder)?;
    }
    // Made by us for its permissions; SQLite gives its side files those of the main one.
    files::make_file(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut conn = Connection::open_with_flags(path, flags)?;
    conn.busy_handler(Some(pause))?;
    plan_once(&conn)?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS);
    if fs::metadata(path)?.len() == 0 {
        // Making the tables need not wait for the disk: after a power cut there is a file without them, which is
        // new again. A killed process harms nothing in any case.
        conn.pragma_update(None, "synchronous", "OFF")?;
    }
    use_write_ahead_log(&conn)?;
    schema::migrate(&mut conn)?;
    // With the log, NORMAL survives every end of the process; only a power cut can cost the last moments.
    conn.pragma_update(None, "synchronous", "NORMAL")?;
    Ok(conn)
}

/// Writes something that changes nothing where the log is still empty: the first write into a log waits for the
/// disk twice, and the later ones not at all.
pub(super) fn begin_log(conn: &mut Connection, path: &Path) -> Result<(), Fault> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    if fs::metadata(log).is_ok_and(|log| log.len() > 0) {
        return Ok(());
    }
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    schema::rewrite_version(&tx)?;
    tx.commit()?;
    Ok(())
}

/// A second connection for a long look, beside one of [`connect`].
pub(super) fn aside(path: &Path) -> Result<Connection, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut conn = Connection::open_with_flags(path, flags)?;
    conn.busy_handler(Some(pause))?;
    plan_once(&conn)?;
    Ok(conn)
}

/// Plans do not depend on the values bound: otherwise a prepared statement is planned again for each of them.
fn plan_once(conn: &Connection) -> Result<(), Fault> {
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

/// Which file `path` names now.
pub(super) fn identity(path: &Path) -> Result<(u64, u64), Fault> {
    Ok(files::identity(&fs::metadata(path).map_err(|_| Fault::Moved)?))
}

/// Several processes that open a new database together may find it busy without the busy handler being asked.
fn use_write_ahead_log(conn: &Connection) -> Result<(), Fault> {
    let mut tries = 0;
    loop {
        match conn.pragma_update(None, "journal_mode", "WAL") {
            Ok(()) => return Ok(()),
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && pause(tries) => {
                tries += 1;
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Waits for a lock of another process; false when that has taken too long. Runs on the database's own thread.
fn pause(tries: i32) -> bool {
    let millis = u64::try_from(tries / 4).unwrap_or(0).clamp(1, LOCK_PAUSE_MAX_MS);
    thread::sleep(Duration::from_millis(millis));
    tries < LOCK_TRIES
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::{aside, connect};

    #[test]
    fn a_prepared_statement_is_planned_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.db");
        for conn in [connect(&path).unwrap(), aside(&path).unwrap()] {
            let sql = "SELECT turn FROM entries WHERE session = ?1 ORDER BY seq DESC LIMIT 1";
            for n in 0..3 {
                assert!(!conn.prepare_cached(sql).unwrap().exists([n]).unwrap());
            }
            assert_eq!(conn.prepare_cached(sql).unwrap().get_status(StatementStatus::RePrepare), 0);
        }
    }
}
