//! One run of the program: started, heard out, answered, ended.

use std::time::Duration;

use futures::StreamExt as _;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use session_model::{Event, Role, Severity};
use tokio::time::{Instant, timeout_at};

use super::ClaudeCli;
use super::argv::{self, Places, Start};
use super::asks::{self, Settled};
use super::files::Files;
use super::line::{self, Asked, Assistant, End, Told};
use super::outcome;
use super::table::Table;
use crate::agent::reply::{Voice, notice};
use crate::driver::{Permissions, TurnEnd, TurnError, TurnInput};
use crate::external::brief::{self, Told as Past};
use crate::external::child::LineChild;
use crate::external::failure::Failure;
use crate::io::Interrupted;
use crate::waits::Waits;

/// How long work it left in the background is waited for.
const BACKGROUND: Duration = Duration::from_mins(10);
/// From which attempt on the user is told that the server does not answer.
const TOLD_ATTEMPT: u64 = 3;
/// Characters of output that is no JSON, kept for an explanation.
const ODD: usize = 4 * 1024;
/// What a tool is refused with when the program could not ask: its input was closed.
const STREAM_CLOSED: &str = "Stream closed";

/// What came of a run.
pub(super) enum Ended {
    /// It answered.
    Whole { end: TurnEnd, session: Option<String> },
    /// The conversation to take up is not known; nothing was said.
    Unknown,
    /// The id for a new conversation is taken; nothing was said.
    Taken,
}

pub(super) struct Run<'a> {
    pub(super) agent: &'a ClaudeCli,
    pub(super) input: &'a TurnInput,
    pub(super) waits: &'a Waits,
    pub(super) table: Table,
    pub(super) permissions: Permissions,
    pub(super) said: Voice,
    pub(super) thought: Voice,
    /// The answer that is streamed, by its id.
    pub(super) streaming: Option<String>,
    /// What the program itself says, until it is known whether that is its failure.
    pub(super) held: String,
    /// Whether the user has seen anything of an answer.
    pub(super) spoke: bool,
    /// Tokens of the newest answer.
    pub(super) context: u64,
    pub(super) session: Option<String>,
    /// Work in the background, by its ids.
    pub(super) background: Vec<String>,
    /// Why questions could not be asked, as far as the user was told.
    pub(super) causes: Vec<String>,
    pub(super) told_of_retry: bool,
    pub(super) odd: String,
    pub(super) requests: u32,
}

/// What happens next.
enum Next {
    Line(Option<String>),
    Settled(Box<Result<Settled, Interrupted>>),
}

type Asking = FuturesUnordered<BoxFuture<'static, Result<Settled, Interrupted>>>;

impl<'a> Run<'a> {
    pub(super) fn new(agent: &'a ClaudeCli, input: &'a TurnInput, waits: &'a Waits) -> Self {
        Self {
            agent,
            input,
            waits,
            table: Table::new(agent.tools.clone(), input),
            permissions: input.permissions.clone(),
            said: Voice::new(Role::Agent),
            thought: Voice::new(Role::Thought),
            streaming: None,
            held: String::new(),
            spoke: false,
            context: 0,
            session: None,
            background: Vec::new(),
            causes: Vec::new(),
            told_of_retry: false,
            odd: String::new(),
            requests: 0,
        }
    }

    /// Runs the program; `told` is what it is to know of the conversation.
    pub(super) async fn run(mut self, start: &Start, told: &str) -> Result<Ended, TurnError> {
        let relief = self.input.handover.as_ref().and_then(|handover| handover.relief.as_deref());
        let told = Past { text: told, resumed: matches!(start, Start::Resume(_)) };
        let words = brief::words(self.agent.config.instructions.as_deref(), relief, &told);
        let files = Files::write(&words, &self.agent.config.settings).map_err(|error| {
            self.agent.failed("external_failed", format!("cannot write what it is told: {error}"))
        })?;
        let mut child = self.start(start, &files)?;
        let hello = self.request();
        child.send(line::hello(&hello)).await;
        child.send(line::prompt(&self.input.prompt)).await;
        match self.hear(&mut child).await {
            Ok(end) => self.conclude(&mut child, end).await,
            Err(error) => {
                self.stop(&mut child).await;
                Err(error)
            }
        }
    }

    fn start(&self, start: &Start, files: &Files) -> Result<LineChild, TurnError> {
        let config = &self.agent.config;
        let places = Places {
            cwd: &self.input.cwd,
            roots: &self.input.additional_roots,
            context: files.context.path(),
            settings: files.settings.as_ref().map(tempfile::NamedTempFile::path),
        };
        LineChild::spawn(argv::command(config, start, places)).map_err(|error| {
            let Failure { code, reason } = outcome::unstartable(&config.bin, &error);
            self.agent.failed(code, reason)
        })
    }

    pub(super) fn request(&mut self) -> String {
        self.requests += 1;
        format!("milk-{}", self.requests)
    }

    /// Hears the program out, up to its last word; `None` when it ends without one.
    async fn hear(&mut self, child: &mut LineChild) -> Result<Option<End>, TurnError> {
        let mut asking = Asking::new();
        let mut last: Option<(End, Instant)> = None;
        loop {
            let deadline = last.as_ref().map(|(_, deadline)| *deadline);
            let Some(next) = self.next(child, &mut asking, deadline).await? else {
                self.tell_dropped().await?;
                return Ok(last.map(|(end, _)| end));
            };
            match next {
                Next::Settled(settled) => self.settled(child, (*settled)?).await?,
                Next::Line(None) => return Ok(last.map(|(end, _)| end)),
                Next::Line(Some(text)) => match self.take(child, &mut asking, &text).await? {
                    Some(end) if self.background.is_empty() => return Ok(Some(end)),
                    Some(end) => last = Some((end, Instant::now() + BACKGROUND)),
                    None => {}
                },
            }
        }
    }

    /// What happens next; `None` once `deadline` has passed.
    async fn next(
        &self,
        child: &mut LineChild,
        asking: &mut Asking,
        deadline: Option<Instant>,
    ) -> Result<Option<Next>, TurnError> {
        let is_asking = !asking.is_empty();
        let next = async {
            tokio::select! {
                biased;
                Some(settled) = asking.next(), if is_asking => Ok(Next::Settled(Box::new(settled))),
                line = child.line() => line.map(Next::Line),
            }
        };
        let next = async {
            match deadline {
                Some(deadline) => timeout_at(deadline, next).await.map(Some).unwrap_or_default().transpose(),
                None => next.await.map(Some),
            }
        };
        // While the user is asked the time of the turn stands still.
        let next =
            if is_asking { self.waits.at_leisure(next).await? } else { self.waits.within(next).await? };
        next.map_err(|error| {
            self.agent.failed("external_failed", format!("its output cannot be read: {error}"))
        })
    }

    /// Does what a line says; gives the program's last word.
    async fn take(
        &mut self,
        child: &LineChild,
        asking: &mut Asking,
        text: &str,
    ) -> Result<Option<End>, TurnError> {
        let Ok(told) = line::read(text) else {
            self.keep_odd(text);
            return Ok(None);
        };
        match told {
            None | Some(Told::Withdrawn(_)) => {}
            Some(Told::Session(id)) => self.session = Some(id),
            Some(Told::MessageStart { id, tokens }) => self.begin(id, tokens),
            Some(Told::MessageTokens(tokens)) => self.context += tokens,
            Some(Told::Text(piece)) => self.say(&piece).await?,
            Some(Told::Thought(piece)) => self.think(&piece).await?,
            Some(Told::ToolStart { id, name }) => {
                let event = self.table.announce(&id, &name, &*self.agent.ids);
                self.emit_all(event).await?;
            }
            Some(Told::Assistant(whole)) => self.whole(whole).await?,
            Some(Told::Results(results)) => {
                for result in results {
                    let closed = result.failed
                        && result
                            .content
                            .iter()
                            .any(|c| c.as_text().is_some_and(|t| t.contains(STREAM_CLOSED)));
                    let name = self.table.name(&result.id);
                    let event = self.table.finish(result);
                    self.emit_all(event).await?;
                    if closed {
                        self.unanswerable(&name, "Claude Code could not ask for permission").await?;
                    }
                }
            }
            Some(Told::Asked(asked)) => self.asked(asking, *asked).await?,
            Some(Told::Unknown { request, subtype }) => {
                child.send(line::refuse(&request, &format!("{subtype} is not supported"))).await;
            }
            Some(Told::Retry { attempt, most }) => self.retry(attempt, most).await?,
            Some(Told::Task { id, runs }) => {
                self.background.retain(|known| *known != id);
                if runs {
                    self.background.push(id);
                }
            }
            Some(Told::End(end)) => return Ok(Some(*end)),
        }
        Ok(None)
    }

    fn keep_odd(&mut self, text: &str) {
        tracing::debug!(target: "child", "{text}");
        if self.odd.len() < ODD {
            self.odd.extend(text.chars().take(ODD));
            self.odd.push('\n');
        }
    }

    fn begin(&mut self, id: String, tokens: u64) {
        self.said = Voice::new(Role::Agent);
        self.thought = Voice::new(Role::Thought);
        self.streaming = Some(id);
        self.context = tokens;
        self.table.step();
    }

    async fn say(&mut self, piece: &str) -> Result<(), Interrupted> {
        let event = self.said.hear(piece, &*self.agent.ids);
        self.spoke |= event.is_some();
        self.emit_all(event).await
    }

    async fn think(&mut self, piece: &str) -> Result<(), Interrupted> {
        let event = self.thought.hear(piece, &*self.agent.ids).filter(|_| self.input.show_thoughts);
        self.emit_all(event).await
    }

    async fn emit_all(&self, events: impl IntoIterator<Item = Event>) -> Result<(), Interrupted> {
        for event in events {
            self.waits.emit(event).await?;
        }
        Ok(())
    }

    /// Whole pieces: the arguments of calls always, words only where they were not streamed.
    async fn whole(&mut self, whole: Assistant) -> Result<(), Interrupted> {
        let streamed = self.streaming.as_deref() == Some(whole.id.as_str());
        if whole.synthetic {
            self.held.push_str(&whole.text);
        } else if !streamed && !whole.nested {
            self.begin(whole.id, self.context);
            self.think(&whole.thought).await?;
            self.say(&whole.text).await?;
        }
        for call in whole.tools {
            let events = self.table.describe(call, &*self.agent.ids).await;
            self.emit_all(events).await?;
        }
        Ok(())
    }

    async fn asked(&mut self, asking: &mut Asking, asked: Asked) -> Result<(), Interrupted> {
        let (known, events) = self.table.know(&asked, &*self.agent.ids).await;
        self.emit_all(events).await?;
        let (permissions, io) = (self.permissions.clone(), self.waits.io().clone());
        asking.push(Box::pin(asks::settle(asked, known, permissions, io)));
        Ok(())
    }

    async fn settled(&mut self, child: &LineChild, settled: Settled) -> Result<(), TurnError> {
        for grant in settled.grants {
            if !self.permissions.grants.contains(&grant) {
                self.permissions.grants.push(grant.clone());
                self.waits.granted(grant).await?;
            }
        }
        if let Some(cause) = settled.cause {
            let name = self.table.name_of_row(&settled.row);
            self.unanswerable(&name, &cause).await?;
        }
        if settled.allowed {
            let event = self.table.started(&settled.row);
            self.emit_all(event).await?;
        }
        tracing::debug!(request = settled.request, allowed = settled.allowed, "leave");
        child.send(settled.answer).await;
        Ok(())
    }

    async fn unanswerable(&mut self, name: &str, cause: &str) -> Result<(), Interrupted> {
        if self.causes.iter().any(|known| known == cause) {
            return Ok(());
        }
        self.causes.push(cause.to_owned());
        self.waits.emit(asks::unanswerable(name, cause, &*self.agent.ids)).await
    }

    async fn retry(&mut self, attempt: u64, most: u64) -> Result<(), Interrupted> {
        if attempt < TOLD_ATTEMPT || std::mem::replace(&mut self.told_of_retry, true) {
            return Ok(());
        }
        let title = format!(
            "{}: its server does not answer; it tries again (attempt {attempt} of {most}).",
            self.agent.config.name
        );
        self.waits.emit(notice(Severity::Warning, title, &*self.agent.ids)).await
    }

    async fn tell_dropped(&self) -> Result<(), Interrupted> {
        let title = format!(
            "{}: what it left running in the background was not waited for any longer and has ended with it.",
            self.agent.config.name
        );
        self.waits.emit(notice(Severity::Warning, title, &*self.agent.ids)).await
    }
}
