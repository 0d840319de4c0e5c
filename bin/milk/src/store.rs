//! Opens the sessions, for commands that look at them.

use std::future::Future;

use session_store::SqliteStore;

use crate::error::CliError;
use crate::places::Places;

/// The store of this process. Nothing is opened before it is used.
pub(crate) fn open(places: &Places) -> Result<SqliteStore, CliError> {
    let path = places.session_db().ok_or(CliError::NoHome("sessions"))?;
    Ok(SqliteStore::open(path).with_belongings(places.belongings()))
}

/// Runs a command to its end on this thread.
pub(crate) fn block_on<T>(work: impl Future<Output = Result<T, CliError>>) -> Result<T, CliError> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(CliError::Start)?;
    let outcome = runtime.block_on(work);
    runtime.shutdown_background();
    outcome
}
