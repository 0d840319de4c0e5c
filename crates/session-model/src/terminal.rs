//! Commands that a person can watch: where one runs, what it has printed, how it ended.

use std::path::PathBuf;

use crate::{TerminalId, ToolCallId};

/// What is new about a terminal of ours; absent members are unchanged. The first update of an id makes it known and
/// carries the command and its folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TerminalUpdate {
    /// The terminal.
    pub id: TerminalId,
    /// The call that runs the command.
    pub call: ToolCallId,
    /// The command as the model wrote it.
    pub command: Option<String>,
    /// The folder it runs in, absolute.
    pub cwd: Option<PathBuf>,
    /// All that it has printed, with long middles left out; replaces what was told so far.
    pub output: Option<String>,
    /// How it ended.
    pub exit: Option<TerminalExit>,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TerminalExit {
    /// Its exit code.
    pub code: Option<i32>,
    /// The signal that ended it, by name or number.
    pub signal: Option<String>,
}

/// A terminal as a part of what a tool call shows. It is never stored: what it showed is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TerminalView {
    /// The terminal.
    pub id: TerminalId,
    /// Whose it is.
    pub owner: TerminalOwner,
    /// What it has shown and how it ended, for a client that cannot show the terminal itself.
    pub shown: String,
    /// What the terminal itself does not show: that the command timed out, or goes on in the background.
    pub note: Option<String>,
}

/// Whose a terminal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TerminalOwner {
    /// Ours; the client is told what happens in it.
    Agent,
    /// The client's; it knows itself.
    Client,
}
