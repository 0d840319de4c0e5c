//! Everything that can go wrong with a store.

use session_model::SessionId;

/// Why a store could not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// No such session.
    #[error("session {0} does not exist")]
    NotFound(SessionId),
    /// More than one session begins so.
    #[error("`{0}` names several sessions; give more characters")]
    Ambiguous(String),
    /// An id given twice.
    #[error("session {0} exists already")]
    Exists(SessionId),
    /// Another process has it open.
    #[error("session {id} is open in another milk process{}; close it there first", holder(*.pid))]
    Leased {
        /// The session.
        id: SessionId,
        /// The process that has it, where it said so.
        pid: Option<u32>,
    },
    /// The file cannot be used (missing folder, no permission, full or read-only disk, not a database).
    #[error("cannot use the session store at {path}: {reason}")]
    Unavailable {
        /// The file.
        path: String,
        /// The cause, with the remedy where there is one.
        reason: String,
    },
    /// Anything else the database says.
    #[error("the session store failed: {0}")]
    Failed(String),
}

fn holder(pid: Option<u32>) -> String {
    pid.map_or_else(String::new, |pid| format!(", pid {pid}"))
}
