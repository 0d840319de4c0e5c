//! A change to one file, with both sides kept: v2's patch cannot be turned back into v1's two texts.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// One file before and after a tool touched it (or would touch it).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// The file, absolute. For a move, where it is afterwards.
    pub path: PathBuf,
    /// What happens to it.
    pub op: FileOp,
    /// The text before; `None` when there was no file or it is not text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The text afterwards; `None` when there is no file or it is not text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// What happens to a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileOp {
    /// It did not exist.
    Add,
    /// Its text changes.
    Modify,
    /// It goes.
    Delete,
    /// It moves here from another place, possibly with a new text.
    Move {
        /// Where it was, absolute.
        from: PathBuf,
    },
}
