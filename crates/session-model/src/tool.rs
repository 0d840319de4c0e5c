//! Tool calls as a person sees them.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Content, FileChange, TerminalView, ToolCallId};

/// What is new about a tool call; absent members are unchanged. The first update of an id creates the row and
/// carries at least `name`, `title`, `kind` and `status`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCallUpdate {
    /// The row.
    pub id: ToolCallId,
    /// The tool's name as the model called it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What will happen, in a line (`bash: cargo test`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The sort of work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<ToolKind>,
    /// Where it stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ToolStatus>,
    /// What to show, whole; replaces what was shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Vec<ToolContent>>,
    /// The files it touches, absolute; replaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locations: Option<Vec<Location>>,
    /// The arguments the model gave: an object, or a string when they did not parse.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_input: Option<Value>,
    /// What the model is told: an object with `output`, `error` and `exit_code` where they apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_output: Option<Value>,
    /// Which model answer of the turn asked for it, from 0. Calls of one answer share it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// Whether it can be ended by itself, while its turn goes on. Of the moment, and so never stored.
    #[serde(skip)]
    pub cancellable: Option<bool>,
}

impl ToolCallUpdate {
    /// An update that says nothing yet.
    #[must_use]
    pub fn new(id: ToolCallId) -> Self {
        Self {
            id,
            name: None,
            title: None,
            kind: None,
            status: None,
            content: None,
            locations: None,
            raw_input: None,
            raw_output: None,
            step: None,
            cancellable: None,
        }
    }

    /// Lays `newer` over this one: present members replace.
    pub fn merge(&mut self, newer: &Self) {
        fn take<T: Clone>(old: &mut Option<T>, new: Option<&T>) {
            if let Some(new) = new {
                *old = Some(new.clone());
            }
        }
        take(&mut self.name, newer.name.as_ref());
        take(&mut self.title, newer.title.as_ref());
        take(&mut self.kind, newer.kind.as_ref());
        take(&mut self.status, newer.status.as_ref());
        take(&mut self.content, newer.content.as_ref());
        take(&mut self.locations, newer.locations.as_ref());
        take(&mut self.raw_input, newer.raw_input.as_ref());
        take(&mut self.raw_output, newer.raw_output.as_ref());
        take(&mut self.step, newer.step.as_ref());
        take(&mut self.cancellable, newer.cancellable.as_ref());
    }
}

/// The sort of work a tool does; both protocol versions share the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    /// Reads files or data.
    Read,
    /// Changes files.
    Edit,
    /// Removes files.
    Delete,
    /// Moves or renames files.
    Move,
    /// Searches.
    Search,
    /// Runs commands.
    Execute,
    /// Thinks aloud.
    Think,
    /// Fetches from the network.
    Fetch,
    /// Switches the session's mode.
    SwitchMode,
    /// Anything else.
    Other,
}

/// Where a tool call stands. Only moves forward; the last three are final.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    /// Announced, not started (its arguments are coming in, or it waits for a permission).
    Pending,
    /// Running.
    InProgress,
    /// Done.
    Completed,
    /// Done without success, refused included.
    Failed,
    /// Ended because its turn was.
    Cancelled,
}

impl ToolStatus {
    /// Whether nothing can follow.
    #[must_use]
    pub fn is_final(self) -> bool {
        match self {
            Self::Pending | Self::InProgress => false,
            Self::Completed | Self::Failed | Self::Cancelled => true,
        }
    }
}

/// One thing shown in a tool call's row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolContent {
    /// Text or media.
    Content(Content),
    /// A change to a file.
    Change(FileChange),
    /// A terminal.
    #[serde(skip)]
    Terminal(TerminalView),
}

impl ToolContent {
    /// The same for who keeps it, or cannot show a terminal: a terminal becomes what it showed.
    #[must_use]
    pub fn lasting(self) -> Self {
        match self {
            Self::Terminal(terminal) => Self::Content(Content::text(terminal.shown)),
            Self::Content(_) | Self::Change(_) => self,
        }
    }
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Location {
    /// The file, absolute.
    pub path: PathBuf,
    /// The line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}
