//! Which conversation of an external agent belongs to which of our sessions, as far as this process knows.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use session_model::{AgentId, SessionId, TurnId};

/// The conversations of external agents, by session and agent. Clones share them; nothing is kept on disk.
#[derive(Debug, Clone, Default)]
pub struct Conversations(Arc<Mutex<HashMap<(SessionId, AgentId), Conversation>>>);

/// One conversation of an external agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    /// The agent's own name for it.
    pub id: String,
    /// The last turn of ours that it knows.
    pub turn: TurnId,
}

impl Conversations {
    /// The one of `agent` in `session`.
    #[must_use]
    pub fn of(&self, session: &SessionId, agent: &AgentId) -> Option<Conversation> {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.get(&(session.clone(), agent.clone())).cloned()
    }

    /// Remembers it.
    pub fn keep(&self, session: &SessionId, agent: &AgentId, conversation: Conversation) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.insert((session.clone(), agent.clone()), conversation);
    }

    /// Forgets it.
    pub fn forget(&self, session: &SessionId, agent: &AgentId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&(session.clone(), agent.clone()));
    }
}
