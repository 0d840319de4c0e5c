//! What an agent learns about its model from the model's answers, for all later turns.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use session_model::{SessionId, TurnId};

/// What was learned; clones share it, so that an agent built anew goes on with it.
#[derive(Debug, Clone, Default)]
pub struct Learned(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// The most text the model took, in bytes, once it refused more.
    most: Option<usize>,
    /// The last turn of those of a session that could not be summarised.
    unsummarised: Option<(SessionId, TurnId)>,
}

impl Learned {
    /// The most text the model takes, in bytes, as far as it has said.
    pub(super) fn most(&self) -> usize {
        self.state().most.unwrap_or(usize::MAX)
    }

    /// The model takes no more than so many bytes.
    pub(super) fn at_most(&self, bytes: usize) {
        let mut state = self.state();
        state.most = Some(state.most.map_or(bytes, |most| most.min(bytes)));
    }

    /// Whether the turns up to this one could not be summarised: trying the same again with every prompt would cost
    /// a request each time.
    pub(super) fn is_unsummarised(&self, session: &SessionId, last: &TurnId) -> bool {
        self.state().unsummarised.as_ref().is_some_and(|(s, turn)| s == session && turn == last)
    }

    pub(super) fn not_summarised(&self, session: &SessionId, last: &TurnId) {
        self.state().unsummarised = Some((session.clone(), last.clone()));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
