//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use time::Duration;

/// The coding agent for people who work in an editor and choose their own models.
#[derive(Debug, Parser)]
#[command(
    name = "milk",
    version,
    after_help = "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 the turn failed, 4 the doctor found something, 130 interrupted."
)]
pub(crate) struct Cli {
    /// The configuration file, instead of ~/.milk/config.json.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The file that keeps the sessions, instead of ~/.milk/sessions.db.
    #[arg(long, global = true, value_name = "PATH")]
    pub(crate) session_db: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Be an agent for an editor, over standard input and output.
    Serve(ServeArgs),
    /// Answer one prompt in the terminal.
    Run(RunArgs),
    /// Look for what does not work, and say what to do about it.
    Doctor(DoctorArgs),
    /// Say which agent a prompt would go to, and why.
    Route(RouteArgs),
    /// Show the configuration, or where it is.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Look at stored sessions.
    #[command(subcommand)]
    Sessions(SessionsCommand),
    /// Print a completion script for a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
}

/// `milk serve`.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Speak the Agent Client Protocol. It is the only one, so this may be left out.
    #[arg(long)]
    pub(crate) acp: bool,
    /// Write logs to this file as well as to standard error.
    #[arg(long, value_name = "FILE")]
    pub(crate) log_file: Option<PathBuf>,
    /// Record every protocol line, in both directions, to this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) tap: Option<PathBuf>,
}

/// `milk run`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is one switch of the command line")]
pub(crate) struct RunArgs {
    /// What is to be done; `-` reads it from standard input.
    #[arg(required = true, value_name = "PROMPT")]
    pub(crate) prompt: Vec<String>,
    /// The folder to work in, instead of the current one.
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Carry on a stored session: its id, or a beginning of it that no other has.
    #[arg(long, value_name = "ID", conflicts_with_all = ["continue", "new"])]
    pub(crate) session: Option<String>,
    /// Carry on the folder's last session.
    #[arg(long, short)]
    pub(crate) r#continue: bool,
    /// Begin a new session, as happens anyway.
    #[arg(long, conflicts_with = "continue")]
    pub(crate) new: bool,
    /// The agent to ask, or the model to ask the usual agent for.
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Allow everything that is asked.
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Print the protocol lines received instead of what they say.
    #[arg(long)]
    pub(crate) json: bool,
    /// Speak protocol version 1 instead of 2.
    #[arg(long)]
    pub(crate) v1: bool,
    /// Write logs to this file as well as to standard error.
    #[arg(long, value_name = "FILE")]
    pub(crate) log_file: Option<PathBuf>,
    /// Record every protocol line, in both directions, to this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) tap: Option<PathBuf>,
}

/// `milk doctor`.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// The folder whose own configuration counts, instead of the current one.
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// How many seconds an agent may take for one answer.
    #[arg(long, value_name = "SECS", default_value_t = 30)]
    pub(crate) timeout: u64,
}

/// `milk route`.
#[derive(Debug, Args)]
pub(crate) struct RouteArgs {
    /// The prompt; `-` reads it from standard input.
    #[arg(required = true, value_name = "PROMPT")]
    pub(crate) prompt: Vec<String>,
    /// The folder to decide for, instead of the current one.
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Ask the configured classifier where the rules do not say; otherwise no model is asked.
    #[arg(long)]
    pub(crate) ask: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print where the configuration files are.
    Path {
        /// The folder whose own file is looked for.
        #[arg(long, value_name = "DIR")]
        cwd: Option<PathBuf>,
    },
    /// Print the configuration as it holds, without secrets.
    Show {
        /// The folder whose own file is laid over the user's.
        #[arg(long, value_name = "DIR")]
        cwd: Option<PathBuf>,
        /// Print one value a line, with the layer it comes from.
        #[arg(long)]
        sources: bool,
    },
    /// Write a first configuration file.
    Init {
        /// Write the folder's own file instead of the user's.
        #[arg(long)]
        local: bool,
        /// The folder, with --local.
        #[arg(long, value_name = "DIR", requires = "local")]
        cwd: Option<PathBuf>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// List stored sessions, last used first.
    List {
        #[command(flatten)]
        scope: Scope,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Find sessions by the words in their messages, titles and names.
    Search {
        /// What to look for: every word must occur, also inside a longer one, in either case.
        #[arg(required = true, value_name = "TEXT")]
        text: Vec<String>,
        #[command(flatten)]
        scope: Scope,
        /// How many sessions at most.
        #[arg(long, value_name = "N", default_value_t = 20)]
        limit: usize,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print a session as a conversation.
    Show {
        /// Its id, or a beginning of it that no other has; none is the folder's last.
        id: Option<String>,
        /// The folder, without an id.
        #[arg(long, value_name = "DIR")]
        cwd: Option<PathBuf>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Write a session as text or JSON.
    Export {
        /// Its id, or a beginning of it that no other has; none is the folder's last.
        id: Option<String>,
        /// The form.
        #[arg(long, value_enum, default_value_t = ExportForm::Text)]
        format: ExportForm,
        /// Where to write it, instead of standard output.
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
        /// The folder, without an id.
        #[arg(long, value_name = "DIR")]
        cwd: Option<PathBuf>,
        /// Leave keys and other secrets in it as they are: for a backup, not to be given away.
        #[arg(long)]
        with_secrets: bool,
    },
    /// Take in session files: exported ones, and those in ~/.milk/sessions of the Go milk.
    Import {
        /// The files, or folders of them.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Give a session whose id is taken a fresh one, instead of refusing it.
        #[arg(long)]
        new_id: bool,
    },
    /// Delete a session and its history.
    Delete {
        /// Its id, or a beginning of it that no other has.
        #[arg(required = true)]
        ids: Vec<String>,
    },
    /// Delete every session that has not been used for long; open ones stay.
    Prune(PruneArgs),
}

/// `milk sessions prune`.
#[derive(Debug, Args)]
pub(crate) struct PruneArgs {
    /// How long a session must not have been used: a number and m, h, d or w, as in `30d`.
    #[arg(long, value_name = "AGE", value_parser = age)]
    pub(crate) older_than: Duration,
    /// Only those of this folder, instead of every folder's.
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Only say what would be deleted.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask.
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

fn age(text: &str) -> Result<Duration, String> {
    let unit = text.chars().last().and_then(|unit| match unit {
        'm' => Some(Duration::MINUTE),
        'h' => Some(Duration::HOUR),
        'd' => Some(Duration::DAY),
        'w' => Some(Duration::WEEK),
        _ => None,
    });
    let count = text.get(..text.len().saturating_sub(1)).and_then(|count| count.parse::<u32>().ok());
    unit.zip(count)
        .and_then(|(unit, count)| Duration::seconds(unit.whole_seconds().checked_mul(count.into())?).into())
        .ok_or_else(|| "give a number and m, h, d or w, as in `30d`".to_owned())
}

/// Which sessions.
#[derive(Debug, Args)]
pub(crate) struct Scope {
    /// Those of this folder, instead of the current one.
    #[arg(long, value_name = "DIR", conflicts_with = "all")]
    pub(crate) cwd: Option<PathBuf>,
    /// Those of every folder.
    #[arg(long)]
    pub(crate) all: bool,
}

/// The form of an exported session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ExportForm {
    /// For people.
    Text,
    /// For programs.
    Json,
}

#[cfg(test)]
mod tests {
    use super::{Duration, age};

    #[test]
    fn an_age_is_a_number_and_a_unit() {
        for (text, expected) in [
            ("30d", Some(Duration::days(30))),
            ("2w", Some(Duration::weeks(2))),
            ("12h", Some(Duration::hours(12))),
            ("5m", Some(Duration::minutes(5))),
            ("0d", Some(Duration::ZERO)),
            ("", None),
            ("d", None),
            ("30", None),
            ("-1d", None),
            ("1.5d", None),
            ("3y", None),
            ("3é", None),
        ] {
            assert_eq!(age(text).ok(), expected, "{text:?}");
        }
    }
}
