//! A session's settings as a client shows them.

use serde::{Deserialize, Serialize};

/// One setting with its present value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigOption {
    /// Names it.
    pub id: String,
    /// Its label.
    pub name: String,
    /// What it does.
    pub description: Option<String>,
    /// What it is about.
    pub category: Option<OptionCategory>,
    /// Its sort and value.
    pub kind: OptionKind,
}

/// What a setting is about; clients place it accordingly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OptionCategory {
    /// How freely the agent acts.
    Mode,
    /// Which model.
    Model,
    /// How much it thinks.
    ThoughtLevel,
    /// Ours; begins with `_`.
    Other(String),
}

/// The sort of a setting, with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OptionKind {
    /// On or off.
    Toggle {
        /// Whether it is on.
        current: bool,
    },
    /// One of several.
    Select {
        /// The value chosen; one of `choices`.
        current: String,
        /// All values; never empty.
        choices: Vec<Choice>,
    },
}

/// One value of a select.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The value.
    pub value: String,
    /// Its label.
    pub name: String,
    /// What it means.
    pub description: Option<String>,
}

/// A value a client sets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum OptionInput {
    /// For a toggle.
    Toggle(bool),
    /// For a select (and, where a version has no booleans, `on`/`off` for a toggle).
    Choice(String),
}
