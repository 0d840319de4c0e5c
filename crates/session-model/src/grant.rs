//! Permissions given for the rest of a session.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A permission that "always" gave; kept with the session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// The tool, by name.
    pub tool: String,
    /// How far it reaches.
    pub scope: GrantScope,
}

/// How far a grant reaches within its tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrantScope {
    /// Every call inside the session's roots.
    Tool,
    /// Commands that are this one or begin with it at a word boundary.
    CommandPrefix(String),
    /// Calls that ask this host, by name or address, in lower case.
    Host(String),
    /// Calls that touch this folder outside the session's roots.
    Outside(PathBuf),
}
