//! Logs: to standard error, and to a file when asked. Never to standard output, which is the protocol's.

use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::sync::Mutex;

use tracing_subscriber::filter::EnvFilter;
use tracing_subscriber::fmt::layer;
use tracing_subscriber::prelude::*;

use crate::error::CliError;
use crate::output;
use crate::places::{private, variable};

/// What is logged when nothing is said.
const USUAL: &str = "warn";

/// Starts logging: what `RUST_LOG` says, warnings and errors where it says nothing.
pub(crate) fn start(log_file: Option<&Path>) -> Result<(), CliError> {
    let file = log_file.map(append_to).transpose()?;
    let wanted = variable("RUST_LOG").filter(|wanted| !wanted.trim().is_empty());
    let (filter, complaint) = match wanted.as_deref().map(EnvFilter::try_new) {
        None => (EnvFilter::new(USUAL), None),
        Some(Ok(filter)) => (filter, None),
        Some(Err(error)) => (EnvFilter::new(USUAL), Some(error)),
    };
    let to_stderr = layer().with_writer(io::stderr).with_ansi(io::stderr().is_terminal());
    let to_file = file.map(|file| layer().with_writer(Mutex::new(file)).with_ansi(false));
    let subscriber = tracing_subscriber::registry().with(filter).with(to_stderr).with(to_file);
    // Only a second start could fail, and then the first one's subscriber serves as well.
    if subscriber.try_init().is_err() {
        output::remark("logging has been started already");
    }
    if let Some(error) = complaint {
        tracing::warn!(%error, "RUST_LOG is not understood; warnings and errors are logged");
    }
    Ok(())
}

fn append_to(path: &Path) -> Result<File, CliError> {
    private(OpenOptions::new().create(true).append(true)).open(path).map_err(|source| CliError::File {
        doing: "open the log file",
        path: path.to_owned(),
        source,
    })
}
