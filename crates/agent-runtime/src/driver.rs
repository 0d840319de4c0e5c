//! What a turn is given and what it gives back. One agent, a routed pair and a workflow are all drivers.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use session_model::{Content, Entry, Grant, SessionId, StopReason, TokenUsage, TurnFailure, TurnId};

use crate::calls::RunningCalls;
use crate::handover::Handover;
use crate::host::HostFeatures;
use crate::io::{Interrupted, TurnIo};
use crate::mode::SharedMode;
use crate::provider::{Effort, ProviderError};
use crate::rules::Rules;

/// Runs turns. Says everything through `io`, ends when it returns.
#[async_trait]
pub trait TurnDriver: Send + Sync + 'static {
    /// Runs one turn to its end.
    ///
    /// # Errors
    /// What made the turn fail; all that was said before stays said.
    async fn drive(&self, input: TurnInput, io: TurnIo) -> Result<TurnEnd, TurnError>;

    /// Has all turns of `input.history` but the newest summarised, with `wish` (which may be empty) in mind, and
    /// answers nothing; `input.prompt` is empty.
    ///
    /// # Errors
    /// Why it came to no end; the history is as it was.
    async fn compact(&self, _input: TurnInput, _wish: &str, _io: TurnIo) -> Result<Compacted, TurnError> {
        Ok(Compacted::Unable)
    }
}

/// What came of a compaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Compacted {
    /// A summary stands for the oldest turns.
    Done {
        /// How many.
        turns: usize,
    },
    /// There is nothing to summarise.
    Nothing,
    /// Nobody here can summarise.
    Unable,
    /// There is no summary; why, for people.
    Failed(String),
}

/// A snapshot of the session for one turn: the turn shares nothing with it.
#[derive(Debug, Clone)]
pub struct TurnInput {
    /// The session, for logs and headers only.
    pub session: SessionId,
    /// The turn.
    pub turn: TurnId,
    /// The user's message.
    pub prompt: Vec<Content>,
    /// The session's folder, absolute. Relative paths start here.
    pub cwd: PathBuf,
    /// Further folders that tools may touch unasked, absolute.
    pub additional_roots: Vec<PathBuf>,
    /// Everything before this turn, oldest first.
    pub history: Arc<[Entry]>,
    /// What may be done unasked.
    pub permissions: Permissions,
    /// Whether reasoning is shown.
    pub show_thoughts: bool,
    /// What is told beside the conversation to an agent that takes over; `None` where nobody does.
    pub handover: Option<Handover>,
    /// How hard the model should think; as it is configured when there is none.
    pub effort: Option<Effort>,
    /// Whose files and terminals tools use.
    pub host: HostFeatures,
    /// Where the calls that run can be found.
    pub calls: RunningCalls,
}

/// What may be done unasked in this session.
#[derive(Debug, Clone, Default)]
pub struct Permissions {
    /// How freely tools run; may change while the turn runs.
    pub mode: SharedMode,
    /// What "always" allowed.
    pub grants: Vec<Grant>,
    /// Commands `bash` may run unasked, as configured (`bash_allowed_patterns`).
    pub bash_patterns: Vec<String>,
    /// What the configuration denies, has asked and allows.
    pub rules: Rules,
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnEnd {
    /// Why.
    pub stop: StopReason,
    /// What it consumed, where the server said.
    pub usage: Option<TokenUsage>,
}

/// Why a turn failed.
#[derive(Debug, thiserror::Error)]
pub enum TurnError {
    /// It was cancelled. Not a failure to the user.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
    /// The model could not be asked, or its answer broke off.
    #[error(transparent)]
    Provider(#[from] ProviderError),
    /// An agent that is a program of its own could not be used, or broke off.
    #[error("{agent}: {reason}")]
    External {
        /// The agent's name.
        agent: String,
        /// A stable word for programs.
        code: &'static str,
        /// What happened, with the remedy where there is one.
        reason: String,
    },
    /// It took too long.
    #[error("the turn took longer than {seconds} s; ask again to go on, or raise `limits.turn_timeout_secs`")]
    TimedOut {
        /// The limit.
        seconds: u64,
    },
}

impl TurnError {
    /// The failure as it is kept and told.
    #[must_use]
    pub fn failure(&self) -> TurnFailure {
        let code = match self {
            Self::Interrupted(_) => "interrupted",
            Self::Provider(error) => error.code(),
            Self::External { code, .. } => code,
            Self::TimedOut { .. } => "turn_timed_out",
        };
        TurnFailure { code: code.to_owned(), message: self.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_failure_has_a_word_for_programs_and_a_sentence_for_people() {
        let unreachable = ProviderError::Unreachable {
            agent: "local".to_owned(),
            url: "http://127.0.0.1:1/".to_owned(),
            reason: "refused".to_owned(),
        };
        let rows = [
            (TurnError::Interrupted(Interrupted), "interrupted", "the turn was interrupted"),
            (
                TurnError::Provider(unreachable),
                "provider_unreachable",
                "local: cannot reach http://127.0.0.1:1/: refused; start the server or correct the agent's `url`",
            ),
            (
                TurnError::TimedOut { seconds: 600 },
                "turn_timed_out",
                "the turn took longer than 600 s; ask again to go on, or raise `limits.turn_timeout_secs`",
            ),
        ];
        for (error, code, message) in rows {
            let expected = TurnFailure { code: code.to_owned(), message: message.to_owned() };
            assert_eq!(error.failure(), expected);
        }
    }
}
