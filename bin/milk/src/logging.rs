//! Logs: to standard error, and to a file when asked. Never to standard output, which is the protocol's.

use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::sync::Mutex;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::EnvFilter;
use tracing_subscriber::fmt::layer;
use tracing_subscriber::prelude::*;

use crate::error::CliError;
use crate::output;
use crate::places::variable;

/// Starts logging: what `RUST_LOG` says, warnings and errors where it says nothing.
pub(crate) fn start(log_file: Option<&Path>) -> Result<(), CliError> {
    let file = log_file.map(append_to).transpose()?;
    let (filter, complaint) = match variable("RUST_LOG").filter(|wanted| !wanted.trim().is_empty()) {
        None => (None, None),
        Some(wanted) => match EnvFilter::try_new(&wanted) {
            Ok(filter) => (Some(filter), None),
            Err(error) => (None, Some(format!("RUST_LOG is not understood ({error}); warnings are logged"))),
        },
    };
    let plain = filter.is_none().then_some(LevelFilter::WARN);
    let to_stderr = layer().with_writer(io::stderr).with_ansi(io::stderr().is_terminal());
    let to_file = file.map(|file| layer().with_writer(Mutex::new(file)).with_ansi(false));
    let subscriber = tracing_subscriber::registry().with(plain).with(filter).with(to_stderr).with(to_file);
    // Only a second start could fail, and then the first one's subscriber serves as well.
    if subscriber.try_init().is_err() {
        output::remark("logging has been started already");
    }
    if let Some(complaint) = complaint {
        tracing::warn!("{complaint}");
    }
    Ok(())
}

fn append_to(path: &Path) -> Result<File, CliError> {
    OpenOptions::new().create(true).append(true).open(path).map_err(|source| CliError::File {
        doing: "open the log file",
        path: path.to_owned(),
        source,
    })
}
