//! What is kept of a session: finished items, in order.

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use crate::{
    CompactionId, Content, MessageId, Route, StopReason, Summary, ToolCallUpdate, TurnFailure, TurnId,
};

/// One finished item. A session's history is the list of its entries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The turn it belongs to.
    pub turn: TurnId,
    /// When it was finished.
    #[serde(with = "time::serde::rfc3339")]
    pub at: OffsetDateTime,
    /// What it is.
    pub item: Item,
}

/// A finished item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Item {
    /// The user's message; the first entry of a turn.
    User {
        /// Its id, as the client was told.
        id: MessageId,
        /// All of it.
        content: Vec<Content>,
        /// The key under which a retry finds it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
    },
    /// Text of the agent.
    Agent {
        /// Its id, as the client was told.
        id: MessageId,
        /// Which model answer of the turn, from 0.
        step: u32,
        /// The text.
        text: String,
    },
    /// Reasoning of the agent; sent back only to servers that demand it.
    Thought {
        /// Its id, as the client was told.
        id: MessageId,
        /// Which model answer of the turn, from 0.
        step: u32,
        /// The text.
        text: String,
    },
    /// A tool call in its final state.
    Tool {
        /// Which model answer of the turn asked for it, from 0.
        step: u32,
        /// All that is known of it; `status` is final.
        call: ToolCallUpdate,
    },
    /// A remark of milk itself (a command's output, a notice): shown and replayed, never sent to a model.
    Remark {
        /// Its id, as the client was told.
        id: MessageId,
        /// The text.
        text: String,
    },
    /// A summary of earlier turns: for a model it stands in their place from here on. They stay in the history.
    Compaction {
        /// Its id, as the client was told.
        id: CompactionId,
        /// The summary.
        summary: Summary,
    },
    /// The end of a turn. A turn without one was cut off by a crash.
    TurnEnd {
        /// Why it ended.
        stop: StopReason,
        /// What went wrong, with [`StopReason::Error`].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<TurnFailure>,
        /// Who answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        route: Option<Route>,
    },
}
