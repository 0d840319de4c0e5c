//! `milk run`: one prompt in a terminal, through the same server and protocol an editor uses.

use std::io::{self, IsTerminal as _, Read as _};
use std::path::PathBuf;

use acp_rpc::{CancellationToken, memory};
use session_store::SessionStore as _;

use crate::args::RunArgs;
use crate::assemble::{self, Choices};
use crate::client::{Consent, Ending, Task, converse};
use crate::error::CliError;
use crate::logging;
use crate::output::Style;
use crate::places::Places;
use crate::signals::Signals;
use crate::store::{block_on, open};

/// Asks, and shows what comes back.
pub(crate) fn run(args: RunArgs, places: &Places) -> Result<(), CliError> {
    logging::start(args.log_file.as_deref())?;
    block_on(async {
        let task = task(&args, places).await?;
        let server = assemble::server(places, Choices { tap: args.tap.as_deref(), model: args.model })?;
        let (near, far) = memory();
        let shutdown = CancellationToken::new();
        let mut signals = Signals::catch().map_err(CliError::Start)?;
        let serving = server.serve(far.reader, far.writer, shutdown.clone());
        let talking = async {
            let ending = converse(near, task, io::stdout(), &mut signals).await;
            shutdown.cancel();
            ending
        };
        tokio::pin!(serving, talking);
        let ending = tokio::select! {
            biased;
            ending = &mut talking => ending,
            outcome = &mut serving => {
                outcome.map_err(CliError::Connection)?;
                talking.await
            }
        };
        if !matches!(ending, Ending::Abandoned) {
            finish(serving, &mut Signals::catch().map_err(CliError::Start)?).await;
        }
        verdict(ending)
    })
}

/// Lets the server store what it has; another signal ends the waiting.
async fn finish(serving: impl Future<Output = Result<(), acp_rpc::ConnectionError>>, signals: &mut Signals) {
    tokio::select! {
        biased;
        () = signals.next() => {}
        outcome = serving => {
            if let Err(error) = outcome {
                tracing::warn!(%error, "the server did not end cleanly");
            }
        }
    }
}

async fn task(args: &RunArgs, places: &Places) -> Result<Task, CliError> {
    let (session, cwd) = session(args, places).await?;
    let live = io::stdout().is_terminal();
    Ok(Task {
        prompt: prompt(&args.prompt)?,
        cwd,
        session,
        version: if args.v1 { 1 } else { 2 },
        raw: args.json,
        consent: Consent::of_this_process(args.yes),
        live,
        talkative: io::stderr().is_terminal(),
        style: Style::of_stdout(),
    })
}

/// The session to carry on and its folder; a new one in the folder given where none is asked for.
async fn session(args: &RunArgs, places: &Places) -> Result<(Option<String>, PathBuf), CliError> {
    let folder = places.folder(args.cwd.as_deref())?;
    let meta = if let Some(reference) = &args.session {
        open(places)?.find(reference).await?
    } else if args.r#continue {
        let latest = open(places)?.latest(&folder).await?;
        latest.ok_or_else(|| CliError::NoSession(format!(" of {}", folder.display())))?
    } else {
        return Ok((None, folder));
    };
    // A session belongs to its folder; `--cwd` can only confirm it.
    let cwd = if args.cwd.is_some() { folder } else { meta.cwd };
    Ok((Some(meta.id.as_str().to_owned()), cwd))
}

/// The words, or with `-` those of standard input.
pub(super) fn prompt(words: &[String]) -> Result<String, CliError> {
    if words != ["-"] {
        return Ok(words.join(" "));
    }
    let mut text = String::new();
    io::stdin().lock().read_to_string(&mut text).map_err(CliError::Input)?;
    if text.trim().is_empty() { Err(CliError::NoPrompt) } else { Ok(text) }
}

fn verdict(ending: Ending) -> Result<(), CliError> {
    match ending {
        Ending::Answered => Ok(()),
        Ending::Cancelled | Ending::Abandoned => Err(CliError::Interrupted),
        Ending::Failed(reason) => Err(CliError::Turn(reason)),
        Ending::Unread(kind) => Err(CliError::Output(kind.into())),
    }
}
