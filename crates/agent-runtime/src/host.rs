//! Whose files and terminals a turn's tools use: ours, or those of the client that offers its own. What is the client's
//! goes out through the turn's channel, in order with everything else that the turn says.
//!
//! Knows neither the protocol nor who listens. Nothing here falls back: a call that the client fails has failed.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use session_model::{TerminalExit, TerminalId};
use tokio_util::sync::DropGuard;

use crate::io::TurnIo;

/// What the client does in our place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HostFeatures {
    /// Reads text files, as its editor has them.
    pub read_file: bool,
    /// Writes text files.
    pub write_file: bool,
    /// Runs commands in its terminals.
    pub terminal: bool,
}

/// What a tool does with text files; decides whether it can be offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileUse {
    /// Nothing, or on our own disk whoever else has files.
    Free,
    /// Reads them.
    Reads,
    /// Writes them whole.
    Writes,
    /// Reads one and writes it back.
    Edits,
    /// More than a client can do: deletes and moves.
    Manages,
}

impl HostFeatures {
    /// Whether the session's text files are the client's.
    #[must_use]
    pub fn has_files(self) -> bool {
        self.read_file || self.write_file
    }

    /// Whether a tool with this use of files can work. With a client that has files, one that would need more than it
    /// offers is not there at all: half an edit on the disk would pass by what the editor holds.
    #[must_use]
    pub fn allow(self, usage: FileUse) -> bool {
        if !self.has_files() {
            return true;
        }
        match usage {
            FileUse::Free => true,
            FileUse::Reads => self.read_file,
            FileUse::Writes => self.write_file,
            FileUse::Edits => self.read_file && self.write_file,
            FileUse::Manages => false,
        }
    }
}

/// One thing the client is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostCall {
    /// Give the text of a file; answered with [`HostReply::Text`].
    ReadFile {
        /// The file, absolute.
        path: PathBuf,
    },
    /// Write a file whole; answered with [`HostReply::Done`].
    WriteFile {
        /// The file, absolute.
        path: PathBuf,
        /// All of its new text.
        text: String,
    },
    /// Start a command; answered with [`HostReply::Terminal`].
    CreateTerminal(NewTerminal),
    /// Wait for the command's end; answered with [`HostReply::Exited`].
    WaitForExit(TerminalId),
    /// Give what it has printed; answered with [`HostReply::Output`].
    TerminalOutput(TerminalId),
    /// End the command; answered with [`HostReply::Done`].
    KillTerminal(TerminalId),
    /// Let go of the terminal; answered with [`HostReply::Done`].
    ReleaseTerminal(TerminalId),
}

/// A command for a client's terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewTerminal {
    /// The program, absolute.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Further variables.
    pub env: Vec<(String, String)>,
    /// Where it starts, absolute.
    pub cwd: PathBuf,
    /// How many bytes of output are kept, of its end.
    pub output_bytes: u64,
}

/// What the client did.
#[derive(Debug)]
pub enum HostReply {
    /// A file's text.
    Text(String),
    /// It is done.
    Done,
    /// The command runs.
    Terminal(HeldTerminal),
    /// What it has printed.
    Output(TerminalOutput),
    /// It has ended.
    Exited(TerminalExit),
}

/// A client's terminal while a tool uses it. Dropping it ends the command and gives the terminal back, unless it was
/// released before.
pub struct HeldTerminal {
    /// Its name at the client.
    pub id: TerminalId,
    _held: DropGuard,
}

impl HeldTerminal {
    /// A terminal whose owner watches the token of `held`.
    #[must_use]
    pub fn new(id: TerminalId, held: DropGuard) -> Self {
        Self { id, _held: held }
    }
}

impl fmt::Debug for HeldTerminal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HeldTerminal").field(&self.id).finish()
    }
}

/// What a client's terminal has shown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TerminalOutput {
    /// The text, less what was dropped at its beginning.
    pub text: String,
    /// Whether something was dropped.
    pub truncated: bool,
    /// How the command ended, once it has.
    pub exit: Option<TerminalExit>,
}

/// Why the client did not do it. The texts are for the user and the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// It has no such file or terminal.
    #[error("{0}")]
    NotFound(String),
    /// It will not: it takes the request itself for wrong, and has done nothing.
    #[error("{0}")]
    Refused(String),
    /// It answered with another error.
    #[error("{0}")]
    Failed(String),
    /// It did not answer, or not so that it could be understood; what it did is not known.
    #[error("{0}")]
    Unanswered(String),
    /// The call was given up, because its turn was.
    #[error("interrupted")]
    Interrupted,
}

/// Whose files and terminals a workspace has.
#[derive(Debug, Clone, Default)]
pub struct Host {
    features: HostFeatures,
    io: Option<TurnIo>,
    /// A folder of ours, whose files no client has to know.
    own: Option<Arc<Path>>,
}

/// Two of one turn are alike; a turn has one client.
impl PartialEq for Host {
    fn eq(&self, other: &Self) -> bool {
        self.features == other.features && self.io.is_some() == other.io.is_some() && self.own == other.own
    }
}

impl Eq for Host {}

impl Host {
    /// The client behind `io`, as far as `features` go; all else is ours.
    #[must_use]
    pub fn client(features: HostFeatures, io: TurnIo) -> Self {
        Self { features, io: Some(io), own: None }
    }

    /// The same, but the files below `folder` are ours whatever the client offers.
    #[must_use]
    pub fn without(self, folder: &Path) -> Self {
        Self { own: Some(folder.into()), ..self }
    }

    /// Whether the file at `path`, which is absolute, is read and written by the client.
    #[must_use]
    pub fn has_file(&self, path: &Path) -> bool {
        self.features.has_files() && !self.own.as_ref().is_some_and(|own| path.starts_with(own))
    }

    /// What the client does in our place.
    #[must_use]
    pub fn features(&self) -> HostFeatures {
        self.features
    }

    /// The text of the client's file at `path`, which is absolute.
    ///
    /// # Errors
    /// What the client said, or that it said nothing.
    pub async fn read_file(&self, path: &Path) -> Result<String, HostError> {
        let HostReply::Text(text) = self.call(HostCall::ReadFile { path: path.to_owned() }).await? else {
            return Err(unfitting());
        };
        Ok(text)
    }

    /// Writes the client's file at `path`, which is absolute.
    ///
    /// # Errors
    /// As [`Self::read_file`]; with [`HostError::Unanswered`] it may have been written all the same.
    pub async fn write_file(&self, path: &Path, text: String) -> Result<(), HostError> {
        self.call(HostCall::WriteFile { path: path.to_owned(), text }).await.map(drop)
    }

    /// Starts a command in a terminal of the client.
    ///
    /// # Errors
    /// As [`Self::read_file`]; with [`HostError::Unanswered`] it may run all the same.
    pub async fn create_terminal(&self, terminal: NewTerminal) -> Result<HeldTerminal, HostError> {
        let HostReply::Terminal(held) = self.call(HostCall::CreateTerminal(terminal)).await? else {
            return Err(unfitting());
        };
        Ok(held)
    }

    /// Waits for the end of a command.
    ///
    /// # Errors
    /// As [`Self::read_file`].
    pub async fn wait_for_exit(&self, id: &TerminalId) -> Result<TerminalExit, HostError> {
        let HostReply::Exited(exit) = self.call(HostCall::WaitForExit(id.clone())).await? else {
            return Err(unfitting());
        };
        Ok(exit)
    }

    /// What a command has printed.
    ///
    /// # Errors
    /// As [`Self::read_file`].
    pub async fn terminal_output(&self, id: &TerminalId) -> Result<TerminalOutput, HostError> {
        let HostReply::Output(output) = self.call(HostCall::TerminalOutput(id.clone())).await? else {
            return Err(unfitting());
        };
        Ok(output)
    }

    /// Ends a command; its terminal stays.
    ///
    /// # Errors
    /// As [`Self::read_file`].
    pub async fn kill_terminal(&self, id: &TerminalId) -> Result<(), HostError> {
        self.call(HostCall::KillTerminal(id.clone())).await.map(drop)
    }

    /// Lets go of a terminal.
    ///
    /// # Errors
    /// As [`Self::read_file`]; the session then still owns it.
    pub async fn release_terminal(&self, held: HeldTerminal) -> Result<(), HostError> {
        self.call(HostCall::ReleaseTerminal(held.id.clone())).await.map(drop)
    }

    async fn call(&self, call: HostCall) -> Result<HostReply, HostError> {
        match &self.io {
            Some(io) => io.host(call).await,
            None => Err(HostError::Failed("there is no client to ask".to_owned())),
        }
    }
}

fn unfitting() -> HostError {
    HostError::Unanswered("the client's answer belongs to another request".to_owned())
}
