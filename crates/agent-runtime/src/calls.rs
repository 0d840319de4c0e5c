//! The tool calls that run, so that one of them can be ended by itself while its turn goes on.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use session_model::ToolCallId;
use tokio_util::sync::CancellationToken;

/// The running calls of a session; clones share them.
#[derive(Debug, Clone, Default)]
pub struct RunningCalls(Arc<Mutex<HashMap<ToolCallId, CancellationToken>>>);

impl RunningCalls {
    /// Ends this call; `false` when it does not run.
    #[must_use]
    pub fn cancel(&self, id: &ToolCallId) -> bool {
        let token = self.lock().get(id).cloned();
        token.inspect(CancellationToken::cancel).is_some()
    }

    /// A call runs from now on, until what is returned is dropped.
    pub(crate) fn enter(&self, id: &ToolCallId) -> Running {
        let token = CancellationToken::new();
        self.lock().insert(id.clone(), token.clone());
        Running { calls: self.clone(), id: id.clone(), token }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ToolCallId, CancellationToken>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call that runs.
#[derive(Debug)]
pub(crate) struct Running {
    calls: RunningCalls,
    id: ToolCallId,
    token: CancellationToken,
}

impl Running {
    /// Resolves when this call alone is to end.
    pub(crate) async fn cancelled(&self) {
        self.token.cancelled().await;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.calls.lock().remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_a_call_that_runs_can_be_ended_and_only_that_one() {
        let calls = RunningCalls::default();
        let (a, b) = (ToolCallId::from("a"), ToolCallId::from("b"));
        assert!(!calls.cancel(&a));
        let (running, other) = (calls.enter(&a), calls.enter(&b));
        assert!(calls.clone().cancel(&a));
        running.cancelled().await;
        assert!(!other.token.is_cancelled());
        drop(running);
        assert!(!calls.cancel(&a));
        assert!(calls.cancel(&b));
    }
}
