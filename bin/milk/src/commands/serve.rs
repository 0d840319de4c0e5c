//! `milk serve --acp`: the agent, spoken to over standard input and output.

use std::thread;
use std::time::SystemTime;

use acp_rpc::CancellationToken;
use acp_rpc::stdio::{stdin, stdout};
use milk_acp::server::Server;
use time::{Duration, OffsetDateTime};

use crate::args::ServeArgs;
use crate::assemble::{self, Choices};
use crate::error::CliError;
use crate::logging;
use crate::places::Places;
use crate::signals::Signals;
use crate::store::block_on;

/// Serves until the input ends or a signal asks to end.
pub(crate) fn run(args: &ServeArgs, places: &Places) -> Result<(), CliError> {
    logging::start(args.log_file.as_deref())?;
    let server = assemble::server(places, Choices { tap: args.tap.as_deref(), model: None })?;
    sweep(places);
    tracing::info!(version = env!("CARGO_PKG_VERSION"), "serving on standard input and output");
    block_on(serve(&server)).inspect(|()| tracing::info!("the connection has ended"))
}

/// How long results too long for a model are kept.
const KEPT: Duration = Duration::days(7);

/// Removes results that were put aside long ago. Nobody waits for it.
fn sweep(places: &Places) {
    let Some(belongings) = places.belongings() else { return };
    let before = SystemTime::from(OffsetDateTime::now_utc() - KEPT);
    let work = move || match belongings.sweep(before) {
        Ok(0) => {}
        Ok(files) => tracing::info!(files, "old results were swept"),
        Err(error) => tracing::warn!(%error, "old results cannot be swept"),
    };
    if let Err(error) = thread::Builder::new().name("sweep".to_owned()).spawn(work) {
        tracing::warn!(%error, "old results are not swept");
    }
}

/// A first signal ends the connection as the client's leaving would; a second one does not wait for that.
async fn serve(server: &Server) -> Result<(), CliError> {
    let shutdown = CancellationToken::new();
    let mut signals = Signals::catch().map_err(CliError::Start)?;
    let (reader, writer) = (stdin().map_err(CliError::Start)?, stdout().map_err(CliError::Start)?);
    let serving = server.serve(reader, writer, shutdown.clone());
    tokio::pin!(serving);
    loop {
        tokio::select! {
            biased;
            outcome = &mut serving => return outcome.map_err(CliError::Connection),
            () = signals.next() => {
                if shutdown.is_cancelled() {
                    return Err(CliError::Interrupted);
                }
                shutdown.cancel();
            }
        }
    }
}
