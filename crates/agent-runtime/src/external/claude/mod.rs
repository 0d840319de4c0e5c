//! Claude Code as an agent: each turn is one run of its program, spoken with in its stream-json form. What it says
//! becomes events, its requests for leave go through the gate like every tool's, and its conversation is taken up again
//! in the next turn. (Claude Code: headless mode; Agent SDK: control protocol.)
//!
//! Knows nothing of the protocol between milk and its client, and keeps nothing on disk but what the program reads at
//! its start.

mod argv;
mod asks;
mod closing;
mod files;
mod line;
mod outcome;
mod question;
mod rows;
mod run;
mod table;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value};
use session_model::source::{IdKind, Ids};
use session_model::{AgentId, Severity};
use tracing::Instrument as _;
use uuid::Uuid;

use super::{Conversation, Conversations, Variables, past};
use crate::agent::reply::notice;
use crate::attach;
use crate::driver::{TurnDriver, TurnEnd, TurnError, TurnInput};
use crate::handover::Handover;
use crate::io::TurnIo;
use crate::tools::ToolRegistry;
use crate::waits::Waits;

use argv::Start;
use run::{Ended, Run};

/// How Claude Code is run.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaudeConfig {
    /// The agent's name.
    pub name: String,
    /// The program, by path or name.
    pub bin: String,
    /// The model to ask for; empty leaves it to the program.
    pub model: String,
    /// Tools that it may use without asking, in its own notation.
    pub allowed_tools: Vec<String>,
    /// Further folders it may look into, absolute.
    pub add_dirs: Vec<PathBuf>,
    /// Its settings, as its own settings files have them.
    pub settings: Map<String, Value>,
    /// Further arguments, at the end.
    pub extra_args: Vec<String>,
    /// Further variables.
    pub env: Variables,
    /// What the user wants it to be told at all times.
    pub instructions: Option<String>,
    /// Bytes of earlier conversation it is told at most.
    pub past_bytes: usize,
    /// How long a turn may take; waiting for the user does not count.
    pub turn_limit: Duration,
}

impl ClaudeConfig {
    /// The agent of this name, with everything as it usually is.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            bin: "claude".to_owned(),
            model: String::new(),
            allowed_tools: Vec::new(),
            add_dirs: Vec::new(),
            settings: Map::new(),
            extra_args: Vec::new(),
            env: Variables::default(),
            instructions: None,
            past_bytes: 24_000,
            turn_limit: Duration::from_mins(10),
        }
    }
}

/// Claude Code as an agent.
#[derive(Debug, Clone)]
pub struct ClaudeCli {
    config: ClaudeConfig,
    agent: AgentId,
    /// Ours, by which its calls are described.
    tools: ToolRegistry,
    conversations: Conversations,
    ids: Arc<dyn Ids>,
}

impl ClaudeCli {
    /// Runs as `config` says. `conversations` is where its conversations are remembered from turn to turn.
    #[must_use]
    pub fn new(config: ClaudeConfig, conversations: Conversations, ids: Arc<dyn Ids>) -> Self {
        let agent = AgentId::from(config.name.as_str());
        Self { config, agent, tools: ToolRegistry::builtin(), conversations, ids }
    }

    /// The id under which the first conversation of a session is begun: the same in every process, so that a later
    /// one finds it.
    fn first_conversation(&self, input: &TurnInput) -> String {
        let name = format!("{}\n{}", input.session.as_str(), self.agent.as_str());
        Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes()).to_string()
    }

    async fn turn(&self, input: &TurnInput, waits: &Waits) -> Result<TurnEnd, TurnError> {
        let known = self.conversations.of(&input.session, &self.agent);
        let known = known.filter(|_| !input.handover.as_ref().is_some_and(|handover| handover.fresh));
        let seen = known.as_ref().map(|known| &known.turn);
        let past = past(&input.history, &self.agent, seen, self.config.past_bytes);
        let mut start = match &known {
            Some(known) => Start::Resume(known.id.clone()),
            None if past.answered.is_some() => Start::Resume(self.first_conversation(input)),
            None => Start::Fresh(self.first_conversation(input)),
        };
        let handed = input.handover.as_ref().map(Handover::preface).unwrap_or_default();
        // A conversation that cannot be taken up is begun anew, and an id that is taken is replaced: one more run each.
        for _ in 0..2 {
            let told = match &start {
                Start::Fresh(_) => &past.whole,
                Start::Resume(_) => &past.since,
            };
            let told =
                [told.as_str(), &handed].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
            match Run::new(self, input, waits).run(&start, &told.join("\n\n")).await? {
                Ended::Whole { end, session } => {
                    let id = session.unwrap_or_else(|| start.id().to_owned());
                    let conversation = Conversation { id, turn: input.turn.clone() };
                    self.conversations.keep(&input.session, &self.agent, conversation);
                    return Ok(end);
                }
                Ended::Unknown => {
                    self.conversations.forget(&input.session, &self.agent);
                    let title = format!(
                        "{}: its earlier conversation is gone, so a new one was begun with what was said here.",
                        self.config.name
                    );
                    waits.emit(notice(Severity::Info, title, &*self.ids)).await?;
                }
                Ended::Taken => {}
            }
            start = Start::Fresh(self.ids.fresh(IdKind::Session));
        }
        Err(self.failed("external_failed", "it can begin no conversation"))
    }

    fn failed(&self, code: &'static str, reason: impl Into<String>) -> TurnError {
        TurnError::External { agent: self.config.name.clone(), code, reason: reason.into() }
    }
}

#[async_trait]
impl TurnDriver for ClaudeCli {
    async fn drive(&self, input: TurnInput, io: TurnIo) -> Result<TurnEnd, TurnError> {
        let span = tracing::info_span!("turn", id = %input.turn, agent = %self.config.name);
        let waits = Waits::new(io, self.config.turn_limit);
        if let Some(title) = attach::untold(&self.config.name, &input.prompt, |_| false) {
            waits.emit(notice(Severity::Warning, title, &*self.ids)).await?;
        }
        self.turn(&input, &waits).instrument(span).await
    }
}
