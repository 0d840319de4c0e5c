//! The `milk` program: arguments, places, logging, signals and exit codes. What milk does is in its libraries.

mod args;
mod assemble;
mod client;
mod commands;
mod error;
mod export;
mod logging;
mod output;
mod places;
mod signals;
mod store;

use std::process::ExitCode;

use clap::Parser as _;

use crate::args::{Cli, Command};
use crate::error::CliError;
use crate::places::Places;

fn main() -> ExitCode {
    let cli = Cli::parse();
    match dispatch(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            if !error.is_silent() {
                output::complain(&error);
            }
            ExitCode::from(error.exit_code())
        }
    }
}

fn dispatch(cli: Cli) -> Result<(), CliError> {
    let places = Places::of_this_process(cli.config, cli.session_db)?;
    match cli.command {
        Command::Serve(args) => commands::serve::run(&args, &places),
        Command::Run(args) => commands::run::run(args, &places),
        Command::Doctor(args) => commands::doctor::run(&args, &places),
        Command::Route(args) => commands::route::run(args, &places),
        Command::Config(command) => commands::config::run(&command, &places),
        Command::Sessions(command) => commands::sessions::run(command, &places),
        Command::Completions { shell } => commands::completions::run(shell),
    }
}
