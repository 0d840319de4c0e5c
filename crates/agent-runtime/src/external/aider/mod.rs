//! Aider as an agent: each turn is one run of its program in its non-interactive form, whose plain output is the answer.
//! (Aider: scripting.)
//!
//! Aider remembers nothing from turn to turn, so it is told what happened before. It says yes to whatever it would ask,
//! so the user is asked before it works.

mod argv;
mod files;
mod output;
mod run;

use std::sync::Arc;

use async_trait::async_trait;
use session_model::source::Ids;
use session_model::{Severity, StopReason};
use tracing::Instrument as _;

use super::program::{Leave, ProgramConfig, leave, over};
use crate::agent::reply::notice;
use crate::attach;
use crate::driver::{TurnDriver, TurnEnd, TurnError, TurnInput};
use crate::io::TurnIo;
use crate::waits::Waits;

use run::Run;

/// What the user is asked.
const WHAT: &str = "It changes files in this folder, and may run what the folder's own aider configuration names, without \
asking about each step. It commits nothing.";

/// Aider as an agent.
#[derive(Debug, Clone)]
pub struct Aider {
    config: ProgramConfig,
    ids: Arc<dyn Ids>,
}

impl Aider {
    /// Runs as `config` says.
    #[must_use]
    pub fn new(config: ProgramConfig, ids: Arc<dyn Ids>) -> Self {
        Self { config, ids }
    }

    async fn turn(&self, input: &TurnInput, waits: &Waits) -> Result<TurnEnd, TurnError> {
        let row = match leave(&self.config, WHAT, input, waits, &*self.ids).await? {
            Leave::Given(row) => row,
            Leave::Refused => return Ok(TurnEnd { stop: StopReason::EndTurn, usage: None }),
        };
        if let Some(title) = attach::unseen(&self.config.name, &input.prompt) {
            waits.emit(notice(Severity::Warning, title, &*self.ids)).await?;
        }
        let ended = Run::new(&self.config, &*self.ids, input, waits).run().await;
        let interrupted = matches!(ended, Err(TurnError::Interrupted(_)));
        if let Some(row) = row.filter(|_| !interrupted) {
            waits.emit(over(row, ended.is_err())).await?;
        }
        ended
    }
}

#[async_trait]
impl TurnDriver for Aider {
    async fn drive(&self, input: TurnInput, io: TurnIo) -> Result<TurnEnd, TurnError> {
        let span = tracing::info_span!("turn", id = %input.turn, agent = %self.config.name);
        let waits = Waits::new(io, self.config.turn_limit);
        self.turn(&input, &waits).instrument(span).await
    }
}
