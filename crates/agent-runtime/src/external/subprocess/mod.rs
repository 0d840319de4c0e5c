//! Any program as an agent: each turn is one run of it, which takes the prompt and prints its events, one JSON object a
//! line. Where no program is named it is milk's own script around smolagents.
//!
//! The program remembers nothing from turn to turn, so it is told what happened before. It asks nothing, so the user is
//! asked before it works.

mod argv;
mod event;
mod rows;
mod run;
mod script;

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use session_model::source::Ids;
use session_model::{Severity, StopReason};
use tracing::Instrument as _;
use uuid::Uuid;

use super::program::{Leave, ProgramConfig, leave, over};
use crate::agent::reply::notice;
use crate::attach;
use crate::driver::{TurnDriver, TurnEnd, TurnError, TurnInput};
use crate::io::TurnIo;
use crate::waits::Waits;

use run::Run;

/// What the user is asked.
const WHAT: &str =
    "It runs code on this machine, and may read and change files, without asking about each step.";

/// How the program is run.
#[derive(Debug, Clone, PartialEq)]
pub struct SubprocessConfig {
    /// The program; one whose name begins with `python` runs milk's own script.
    pub program: ProgramConfig,
    /// Arguments at the beginning.
    pub args: Vec<String>,
    /// The class of the model.
    pub model_type: String,
    /// How it acts: `code` or `tool_calling`.
    pub action_type: String,
    /// The tools it has; the script's own where there are none.
    pub tools: Vec<String>,
    /// Modules its code may import.
    pub authorized_imports: Vec<String>,
    /// Steps of one turn.
    pub max_steps: u32,
    /// The folder milk's own script is put into, absolute; without, a temporary file is used.
    pub scripts: Option<PathBuf>,
}

impl SubprocessConfig {
    /// This program, with everything as it usually is.
    #[must_use]
    pub fn new(program: ProgramConfig) -> Self {
        Self {
            program,
            args: Vec::new(),
            model_type: "OpenAIModel".to_owned(),
            action_type: "code".to_owned(),
            tools: Vec::new(),
            authorized_imports: Vec::new(),
            max_steps: 15,
            scripts: None,
        }
    }
}

/// A program as an agent.
#[derive(Debug, Clone)]
pub struct Subprocess {
    config: SubprocessConfig,
    ids: Arc<dyn Ids>,
}

impl Subprocess {
    /// Runs as `config` says.
    #[must_use]
    pub fn new(config: SubprocessConfig, ids: Arc<dyn Ids>) -> Self {
        Self { config, ids }
    }

    /// What the session is called towards the program: the same in all its turns.
    fn session(&self, input: &TurnInput) -> String {
        let name = format!("{}\n{}", input.session.as_str(), self.config.program.name);
        Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes()).to_string()
    }

    async fn turn(&self, input: &TurnInput, waits: &Waits) -> Result<TurnEnd, TurnError> {
        let program = &self.config.program;
        let row = match leave(program, WHAT, input, waits, &*self.ids).await? {
            Leave::Given(row) => row,
            Leave::Refused => return Ok(TurnEnd { stop: StopReason::EndTurn, usage: None }),
        };
        if let Some(title) = attach::unseen(&program.name, &input.prompt) {
            waits.emit(notice(Severity::Warning, title, &*self.ids)).await?;
        }
        let ended = Run::new(self, input, waits).run().await;
        let interrupted = matches!(ended, Err(TurnError::Interrupted(_)));
        if let Some(row) = row.filter(|_| !interrupted) {
            waits.emit(over(row, ended.is_err())).await?;
        }
        ended
    }
}

#[async_trait]
impl TurnDriver for Subprocess {
    async fn drive(&self, input: TurnInput, io: TurnIo) -> Result<TurnEnd, TurnError> {
        let span = tracing::info_span!("turn", id = %input.turn, agent = %self.config.program.name);
        let waits = Waits::new(io, self.config.program.turn_limit);
        self.turn(&input, &waits).instrument(span).await
    }
}
