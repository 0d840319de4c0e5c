//! `milk completions`: a script that teaches a shell our command line.

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::args::Cli;
use crate::error::CliError;
use crate::output;

/// Prints the script.
pub(crate) fn run(shell: Shell) -> Result<(), CliError> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "milk", &mut script);
    output::print(String::from_utf8_lossy(&script))?;
    Ok(())
}
