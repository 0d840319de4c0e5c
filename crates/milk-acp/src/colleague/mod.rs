//! Any agent that speaks the protocol, as one of ours: a child process that we are the client of. What it says is told
//! as if we said it, under ids of ours; what it asks is asked in turn. Its session lives as long as ours, over all turns;
//! when its process ends, the next turn starts another one.
//!
//! Knows no wire type; [`crate::dialect::client`] words and reads.

mod asks;
mod inbox;
mod link;
mod rows;
mod served;
mod turn;
mod wish;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agent_runtime::driver::{TurnDriver, TurnEnd, TurnError, TurnInput};
use agent_runtime::external::past;
use agent_runtime::io::TurnIo;
use async_trait::async_trait;
use session_model::source::Ids;
use session_model::{AgentId, Content, SessionId, TurnId};

use link::Link;
use turn::Turn;

/// How another agent is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColleagueConfig {
    /// The agent's name.
    pub name: String,
    /// The program, by path or name.
    pub bin: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Further variables.
    pub env: Vec<(String, String)>,
    /// Bytes of earlier conversation it is told at most.
    pub past_bytes: usize,
    /// How long a turn may take; waiting for the user does not count.
    pub turn_limit: Duration,
    /// Whether it may read and write files through us.
    pub client_files: bool,
    /// Whether it may run commands through us.
    pub client_terminals: bool,
}

/// The links to other agents, by session and agent. Clones share them; dropping the last one ends the agents.
#[derive(Debug, Clone, Default)]
pub(crate) struct Links(Arc<Mutex<HashMap<(SessionId, AgentId), Held>>>);

/// A link between two turns.
#[derive(Debug)]
struct Held {
    config: ColleagueConfig,
    link: Link,
    cwd: PathBuf,
    /// The last turn of ours that it knows.
    turn: TurnId,
}

/// Another agent as one of ours.
#[derive(Debug)]
pub(crate) struct Colleague {
    config: ColleagueConfig,
    agent: AgentId,
    links: Links,
    ids: Arc<dyn Ids>,
}

impl Colleague {
    pub(crate) fn new(config: ColleagueConfig, links: Links, ids: Arc<dyn Ids>) -> Self {
        let agent = AgentId::from(config.name.as_str());
        Self { config, agent, links, ids }
    }

    fn key(&self, input: &TurnInput) -> (SessionId, AgentId) {
        (input.session.clone(), self.agent.clone())
    }

    /// Takes the link that is there, if it still works and is what is wanted.
    fn take(&self, input: &TurnInput) -> Option<Held> {
        let mut links = self.links.0.lock().unwrap_or_else(PoisonError::into_inner);
        let held = links.remove(&self.key(input))?;
        let offered = served::offered(&self.config, input.host);
        let is_same = held.config == self.config && held.cwd == input.cwd && held.link.offered() == offered;
        (is_same && held.link.is_open()).then_some(held)
    }

    fn put_back(&self, input: &TurnInput, link: Link) {
        if link.is_open() {
            let held =
                Held { config: self.config.clone(), link, cwd: input.cwd.clone(), turn: input.turn.clone() };
            self.links.0.lock().unwrap_or_else(PoisonError::into_inner).insert(self.key(input), held);
        }
    }

    /// The prompt, with what happened without the agent before it.
    fn prompt(&self, input: &TurnInput, known: Option<&TurnId>) -> Vec<Content> {
        let past = past(&input.history, &self.agent, known, self.config.past_bytes);
        let told = if known.is_some() { past.since } else { past.whole };
        let mut prompt = input.prompt.clone();
        if !told.is_empty() {
            let words = format!(
                "[What was said in this conversation before, partly without you:]\n\n{told}\n\n[Now:]\n\n"
            );
            prompt.insert(0, Content::text(words));
        }
        prompt
    }
}

#[async_trait]
impl TurnDriver for Colleague {
    async fn drive(&self, input: TurnInput, io: TurnIo) -> Result<TurnEnd, TurnError> {
        let held = self.take(&input);
        let known = held.as_ref().map(|held| held.turn.clone());
        let mut link = match held {
            Some(held) => held.link,
            None => {
                io.or_cancelled(Link::open(
                    &self.config,
                    &input.cwd,
                    served::offered(&self.config, input.host),
                ))
                .await??
            }
        };
        let prompt = self.prompt(&input, known.as_ref());
        let ended = Turn::new(&self.config, (&input, &io), &self.ids, &link).run(&mut link, &prompt).await;
        self.put_back(&input, link);
        ended
    }
}

/// A failure of this agent.
fn failed(config: &ColleagueConfig, code: &'static str, reason: impl Into<String>) -> TurnError {
    TurnError::External { agent: config.name.clone(), code, reason: reason.into() }
}
