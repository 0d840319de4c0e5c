//! Earlier turns that a summary stands for.

use serde::{Deserialize, Serialize};

use crate::{CompactionId, TurnId};

/// What is being done about a conversation that has outgrown its model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compaction {
    /// Names it, from its beginning to its end and in every replay.
    pub id: CompactionId,
    /// Whether the user asked for it.
    pub requested: bool,
    /// How far it is.
    pub state: CompactionState,
}

/// How far a compaction is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CompactionState {
    /// The summary is being written.
    Running,
    /// From now on the summary stands for the turns it covers.
    Done(Summary),
    /// There is no summary; why, for people.
    Failed(String),
    /// It was ended early; there is no summary.
    Cancelled,
}

/// A summary of the beginning of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// How many turns it covers.
    pub turns: usize,
    /// The last of them.
    pub last: TurnId,
    /// In a model's words.
    pub text: String,
}
