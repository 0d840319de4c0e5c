//! Why the program ends without success, in one sentence with the remedy, and its exit code.

use std::io;
use std::path::PathBuf;

use acp_rpc::ConnectionError;
use milk_acp::settings::ConfigError;
use session_store::StoreError;

/// Exit codes. 0 is success and 2 a command line that makes no sense (clap's).
mod code {
    /// It could not be done.
    pub(super) const FAILED: u8 = 1;
    /// `run`: the turn ended without success.
    pub(super) const TURN: u8 = 3;
    /// `doctor`: something needs attention.
    pub(super) const PROBLEMS: u8 = 4;
    /// Interrupted from the keyboard, as shells count it.
    pub(super) const INTERRUPTED: u8 = 130;
}

/// Why the program ends without success.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("cannot {doing} {}: {source}", path.display())]
    File { doing: &'static str, path: PathBuf, source: io::Error },
    #[error("{} is not a folder; give an existing one", .0.display())]
    NotAFolder(PathBuf),
    #[error("cannot start: {0}")]
    Start(io::Error),
    #[error("cannot read the prompt: {0}")]
    Input(io::Error),
    #[error("there is no prompt; say what is to be done, or give it on standard input with `-`")]
    NoPrompt,
    #[error("the connection broke: {0}")]
    Connection(ConnectionError),
    #[error("{0}")]
    Undone(String),
    #[error("{0}")]
    Turn(String),
    #[error("{count} problem{} found; see above", if *count == 1 { "" } else { "s" })]
    Problems { count: usize },
    #[error("interrupted")]
    Interrupted,
    #[error("cannot write the output: {0}")]
    Output(#[from] io::Error),
    #[error("there is no home folder to keep {0} in; set HOME, MILK_HOME or MILK_CONFIG")]
    NoHome(&'static str),
    #[error("cannot find the current folder: {0}; change into one that exists")]
    NoCwd(io::Error),
    #[error("no stored session{}; start one with `milk run`, or use --all", .0)]
    NoSession(String),
}

impl CliError {
    /// The program's exit code.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Config(_)
            | Self::Store(_)
            | Self::File { .. }
            | Self::NotAFolder(_)
            | Self::Output(_)
            | Self::NoHome(_)
            | Self::NoCwd(_)
            | Self::NoSession(_)
            | Self::Start(_)
            | Self::Input(_)
            | Self::NoPrompt
            | Self::Undone(_)
            | Self::Connection(_) => code::FAILED,
            Self::Turn(_) => code::TURN,
            Self::Problems { .. } => code::PROBLEMS,
            Self::Interrupted => code::INTERRUPTED,
        }
    }

    /// Whether nothing is to be said: the reader of our output has gone, which is its right (`milk … | head`).
    pub(crate) fn is_silent(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}
