//! Any agent that speaks the protocol, as one of ours: a child process that we are the client of. What it says is told
//! as if we said it, under ids of ours; what it asks is asked in turn. Its session lives as long as ours, over all turns;
//! when its process ends, the next turn starts another one.
//!
//! Knows no wire type; [`crate::dialect::client`] words and reads.

mod asks;
mod inbox;
mod link;
mod memory;
mod rows;
mod served;
mod theirs;
mod turn;
mod wish;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agent_runtime::driver::{TurnDriver, TurnEnd, TurnError, TurnInput};
use agent_runtime::external::{Variables, past};
use agent_runtime::handover::Handover;
use agent_runtime::io::TurnIo;
use async_trait::async_trait;
use session_model::source::{IdKind, Ids};
use session_model::{AgentId, Content, Event, MessageId, Notice, SessionId, Severity, TurnId};

use link::{Link, Opening};
pub(crate) use memory::Memory;
use memory::Remembered;
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
    pub env: Variables,
    /// What the user wants it to be told at all times.
    pub instructions: Option<String>,
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
    memory: Memory,
    ids: Arc<dyn Ids>,
}

/// A link at the beginning of a turn.
struct Ready {
    link: Link,
    /// The last turn of ours that its session knows; none when it is new.
    known: Option<TurnId>,
    /// There was an earlier session, which cannot be taken up.
    lost: bool,
}

impl Colleague {
    /// Runs as `config` says. Its processes are in `links`, and its sessions remembered in `memory`.
    pub(crate) fn new(config: ColleagueConfig, links: Links, memory: Memory, ids: Arc<dyn Ids>) -> Self {
        let agent = AgentId::from(config.name.as_str());
        Self { config, agent, links, memory, ids }
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

    /// The link that is there, or another one: to the session that is remembered, where the agent can take that up.
    async fn ready(&self, input: &TurnInput) -> Result<Ready, TurnError> {
        let fresh = input.handover.as_ref().is_some_and(|handover| handover.fresh);
        let held = self.take(input).filter(|_| !fresh);
        if let Some(Held { link, turn, .. }) = held {
            return Ok(Ready { link, known: Some(turn), lost: false });
        }
        let remembered = self.memory.recall(&input.session, &self.agent).await.filter(|_| !fresh);
        let roots = existing(input.additional_roots.clone()).await;
        let opening = Opening {
            cwd: &input.cwd,
            roots: &roots,
            offered: served::offered(&self.config, input.host),
            earlier: remembered.as_ref().map(|kept| kept.id.as_str()),
        };
        let link = Link::open(&self.config, opening).await?;
        let (known, lost) = match remembered {
            Some(kept) if link.is_taken_up() => (Some(kept.turn), false),
            Some(_) => (None, true),
            None => (None, false),
        };
        Ok(Ready { link, known, lost })
    }

    /// The prompt, with what the agent is to know before it: once the user's instructions, then what happened without it,
    /// then what it is handed over with.
    fn prompt(&self, input: &TurnInput, known: Option<&TurnId>, link: &mut Link) -> Vec<Content> {
        let past = past(&input.history, &self.agent, known, self.config.past_bytes);
        let told = if known.is_some() { past.since } else { past.whole };
        let mut prompt = Vec::new();
        if let (Some(instructions), None) = (&self.config.instructions, known) {
            prompt.push(Content::text(format!(
                "[The user's instructions for all of this conversation:]\n\n{}\n\n[End of the instructions]\n\n",
                instructions.trim()
            )));
        }
        // The words are the same in all turns of a session.
        if let Some(relief) = input.handover.as_ref().and_then(|handover| handover.relief.as_ref())
            && !std::mem::replace(&mut link.knows_relief, true)
        {
            prompt.push(Content::text(format!("[{relief}]\n\n")));
        }
        let handed = input.handover.as_ref().map(Handover::preface).unwrap_or_default();
        let now = if told.is_empty() { "" } else { "[Now:]\n\n" };
        if !told.is_empty() {
            prompt.push(Content::text(format!(
                "[What was said in this conversation before, partly without you:]\n\n{told}\n\n"
            )));
        }
        if !(handed.is_empty() && now.is_empty()) {
            prompt.push(Content::text(format!("{handed}{now}")));
        }
        prompt.extend(input.prompt.iter().cloned());
        prompt
    }

    /// Says that what the agent knew is gone.
    async fn tell_lost(&self, io: &TurnIo) -> Result<(), TurnError> {
        let id = MessageId::from(self.ids.fresh(IdKind::Message));
        let title = format!(
            "{}: its earlier conversation is gone, so a new one was begun with what was said here.",
            self.config.name
        );
        io.emit(Event::Notice(Notice { id, severity: Severity::Info, title })).await?;
        Ok(())
    }
}

#[async_trait]
impl TurnDriver for Colleague {
    async fn drive(&self, input: TurnInput, io: TurnIo) -> Result<TurnEnd, TurnError> {
        let Ready { mut link, known, lost } = io.or_cancelled(self.ready(&input)).await??;
        if lost {
            self.tell_lost(&io).await?;
        }
        let prompt = self.prompt(&input, known.as_ref(), &mut link);
        let ended = Turn::new(&self.config, (&input, &io), &self.ids, &link).run(&mut link, &prompt).await;
        if link.is_open() {
            let kept = Remembered { id: link.session().to_owned(), turn: input.turn.clone() };
            self.memory.keep(&input.session, &self.agent, kept).await;
        }
        self.put_back(&input, link);
        ended
    }
}

/// Those folders that are there. Some are made when they are first needed, and agents refuse what is not there.
async fn existing(roots: Vec<PathBuf>) -> Vec<PathBuf> {
    let look = move || roots.into_iter().filter(|root| root.is_dir()).collect();
    tokio::task::spawn_blocking(look).await.unwrap_or_default()
}

/// A failure of this agent.
fn failed(config: &ColleagueConfig, code: &'static str, reason: impl Into<String>) -> TurnError {
    TurnError::External { agent: config.name.clone(), code, reason: reason.into() }
}
