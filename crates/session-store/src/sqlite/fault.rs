//! What goes wrong below a store's method, and how it is told.

use std::io;
use std::path::Path;

use rusqlite::ErrorCode;

use crate::error::StoreError;

/// A failure inside the database's thread.
#[derive(Debug)]
pub(super) enum Fault {
    /// The answer is the store's own.
    Store(StoreError),
    /// The database said so.
    Sqlite(rusqlite::Error),
    /// The file or its folder.
    Io(io::Error),
    /// A database of a later milk.
    Newer {
        /// Its version.
        found: usize,
        /// The last version this build knows.
        known: usize,
    },
    /// The path names another file than the one that was opened.
    Moved,
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl Fault {
    /// In the store's terms.
    pub(super) fn tell(&self, path: &Path) -> StoreError {
        let reason = match self {
            Self::Store(error) => return error.clone(),
            Self::Sqlite(error) => match explain(error) {
                Some(reason) => reason,
                None => return StoreError::Failed(error.to_string()),
            },
            Self::Io(error) => error.to_string(),
            Self::Newer { found, known } => format!(
                "a newer milk wrote it (version {found}, this one knows {known}); update milk or use another file"
            ),
            Self::Moved => "the file was replaced or removed while in use".to_owned(),
        };
        StoreError::Unavailable { path: path.display().to_string(), reason }
    }

    /// Whether the connection may be of no more use.
    pub(super) fn spoils_connection(&self) -> bool {
        match self {
            Self::Store(_) => false,
            Self::Sqlite(error) => explain(error).is_some(),
            Self::Io(_) | Self::Newer { .. } | Self::Moved => true,
        }
    }
}

/// The cause and the remedy, when it is the file's or the machine's condition and no mistake of ours.
fn explain(error: &rusqlite::Error) -> Option<String> {
    let code = error.sqlite_error_code()?;
    #[expect(clippy::wildcard_enum_match_arm, reason = "the list is SQLite's and open")]
    let cause = match code {
        ErrorCode::ReadOnly => "it cannot be written (read-only file, folder or disk)",
        ErrorCode::DiskFull => "the disk is full; free some space",
        ErrorCode::CannotOpen => "it cannot be opened; check that the folder exists and may be written",
        ErrorCode::PermissionDenied | ErrorCode::AuthorizationForStatementDenied => "permission denied",
        ErrorCode::NotADatabase => "it is not a milk database; move it away or use another file",
        ErrorCode::DatabaseCorrupt => {
            "the database is damaged; move it away, or repair it with `sqlite3 .recover`"
        }
        ErrorCode::SystemIoFailure => "the disk reports an error",
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => "another process keeps it locked",
        ErrorCode::FileLockingProtocolFailed | ErrorCode::NoLargeFileSupport => {
            "its file system cannot lock files; use a local disk"
        }
        _ => return None,
    };
    Some(format!("{cause} ({error})"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rusqlite::ffi;

    use super::Fault;

    #[test]
    fn conditions_of_the_file_are_told_with_the_path_and_what_to_do() {
        for (code, said) in [
            (ffi::SQLITE_READONLY, "it cannot be written (read-only file, folder or disk)"),
            (ffi::SQLITE_READONLY_DIRECTORY, "it cannot be written (read-only file, folder or disk)"),
            (ffi::SQLITE_FULL, "the disk is full; free some space"),
            (ffi::SQLITE_CANTOPEN, "it cannot be opened; check that the folder exists and may be written"),
            (ffi::SQLITE_NOTADB, "it is not a milk database; move it away or use another file"),
            (ffi::SQLITE_IOERR_WRITE, "the disk reports an error"),
            (ffi::SQLITE_BUSY, "another process keeps it locked"),
        ] {
            let fault = Fault::Sqlite(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None));
            let told = fault.tell(Path::new("/data/s.db")).to_string();
            let expected = format!("cannot use the session store at /data/s.db: {said}");
            assert!(told.starts_with(&expected), "{told}");
            assert!(fault.spoils_connection());
        }
    }

    #[test]
    fn a_mistake_in_a_statement_is_a_failure_and_keeps_the_connection() {
        let code = ffi::Error::new(ffi::SQLITE_CONSTRAINT);
        let fault = Fault::Sqlite(rusqlite::Error::SqliteFailure(code, None));
        assert!(fault.tell(Path::new("/x")).to_string().starts_with("the session store failed: "));
        assert!(!fault.spoils_connection());
    }
}
