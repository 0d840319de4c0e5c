//! `milk sessions delete`.

use session_store::SessionStore;

use super::Sessions;
use crate::error::CliError;
use crate::output;

pub(super) async fn run(sessions: &Sessions<'_>, ids: &[String]) -> Result<(), CliError> {
    for id in ids {
        let meta = sessions.find(id).await?;
        // What another process has open stays.
        let _lease = sessions.store.lease(&meta.id).await?;
        sessions.store.delete(&meta.id).await?;
        output::print(format_args!("deleted {}\n", meta.id))?;
    }
    Ok(())
}
