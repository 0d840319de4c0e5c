//! One turn of another agent: its updates told on under ids of ours, its questions asked in turn, its end waited for.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use acp_rpc::{RequestError, Responder};
use agent_runtime::driver::{TurnEnd, TurnError, TurnInput};
use agent_runtime::external::served::{Servant, Terminals};
use agent_runtime::host::HostFeatures;
use agent_runtime::io::{Interrupted, TurnIo};
use agent_runtime::waits::Stopwatch;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt as _, StreamExt as _};
use serde_json::Value;
use serde_json::value::RawValue;
use session_model::source::{IdKind, Ids};
use session_model::{
    AgentId, Answer, Ask, ElicitAsk, Event, MessageId, Notice, PlanId, Role, Severity, Spent, StopReason,
    ToolStatus,
};
use tokio::time::{Instant, timeout_at};

use super::asks::{Asking, Settled};
use super::inbox::Said;
use super::link::Link;
use super::rows::Rows;
use super::served::{show_terminals, shown};
use super::theirs::Theirs;
use super::{ColleagueConfig, failed};
use crate::dialect::client::{self, Told};

/// How long it may take to stop when the turn is cancelled; less than the turn's own grace.
const STOP_GRACE: Duration = Duration::from_millis(1_500);

pub(super) struct Turn<'a> {
    pub(super) config: &'a ColleagueConfig,
    pub(super) input: &'a TurnInput,
    pub(super) io: &'a TurnIo,
    pub(super) ids: &'a dyn Ids,
    /// Its session, by its own name.
    pub(super) session: String,
    pub(super) offered: HostFeatures,
    pub(super) servant: Servant,
    pub(super) terminals: Terminals,
    /// The terminals of the agent's own.
    pub(super) theirs: Theirs,
    pub(super) rows: Rows,
    pub(super) asking: FuturesUnordered<Asking>,
    /// What is being done for it.
    pub(super) serving: FuturesUnordered<BoxFuture<'static, ()>>,
    messages: HashMap<(Role, String), MessageId>,
    /// Whose unnamed message is being told.
    speaking: Option<Role>,
    idle: Option<(Option<StopReason>, Option<String>)>,
    answered: Option<Value>,
    /// What the user was warned of; each is said once.
    warned: HashSet<String>,
    /// Stands still while the user is asked.
    watch: Stopwatch,
}

impl<'a> Turn<'a> {
    pub(super) fn new(
        config: &'a ColleagueConfig,
        (input, io): (&'a TurnInput, &'a TurnIo),
        ids: &'a Arc<dyn Ids>,
        link: &Link,
    ) -> Self {
        let watch = Stopwatch::start();
        let servant = Servant::new(input, io, Arc::clone(ids), watch.clone());
        Self {
            config,
            input,
            io,
            ids: &**ids,
            session: link.session().to_owned(),
            offered: link.offered(),
            terminals: Terminals::new(servant.clone()),
            servant,
            theirs: Theirs::default(),
            rows: Rows::default(),
            asking: FuturesUnordered::new(),
            serving: FuturesUnordered::new(),
            messages: HashMap::new(),
            speaking: None,
            idle: None,
            answered: None,
            warned: HashSet::new(),
            watch,
        }
    }

    pub(super) async fn run(
        mut self,
        link: &mut Link,
        prompt: &[session_model::Content],
    ) -> Result<TurnEnd, TurnError> {
        link.inbox.open();
        let (answer, lost) = link.prompt(prompt);
        let mut answer = Box::pin(answer);
        let warned = if lost.is_empty() {
            Ok(())
        } else {
            self.warn(format!("{} does not take {}", self.config.name, lost.join(", "))).await
        };
        let heard = match warned {
            Ok(()) => self.hear(link, &mut answer).await,
            Err(interrupted) => Err(interrupted.into()),
        };
        if heard.is_err() {
            self.stop(link, &mut answer).await;
        }
        link.inbox.close();
        self.terminals.end().await;
        match heard {
            Ok(Ok(())) => {
                if let Some(spent) = self.spent() {
                    self.io.emit(spent).await?;
                }
                self.end()
            }
            Ok(Err(error)) => Err(link.explain(self.config, &error).await),
            Err(error) => Err(error),
        }
    }

    /// Hears it out to the end of the turn.
    async fn hear(
        &mut self,
        link: &Link,
        answer: &mut (impl Future<Output = Result<Box<RawValue>, RequestError>> + Unpin),
    ) -> Result<Result<(), RequestError>, TurnError> {
        loop {
            if self.is_over(link) {
                self.last_words(link).await?;
                return Ok(Ok(()));
            }
            let (is_asking, limit) = (!self.asking.is_empty(), self.config.turn_limit);
            // The time of the user is not the turn's.
            let watch = self.watch.clone();
            let _pause = is_asking.then(|| watch.pause());
            tokio::select! {
                biased;
                () = self.io.cancel_token().cancelled() => return Err(Interrupted.into()),
                Some(settled) = self.asking.next(), if is_asking => self.settled(settled).await?,
                Some(()) = self.serving.next(), if !self.serving.is_empty() => {}
                // First, so that what comes behind it is not taken for a part of the turn.
                outcome = &mut *answer, if self.answered.is_none() => match outcome {
                    Ok(result) => self.answered = Some(serde_json::from_str(result.get()).unwrap_or_default()),
                    Err(error) => {
                        self.last_words(link).await?;
                        return Ok(Err(error));
                    }
                },
                said = link.inbox.next() => self.take(said).await?,
                () = self.watch.reaches(limit) => return Err(TurnError::TimedOut { seconds: limit.as_secs() }),
            }
        }
    }

    /// What came before the end is told before it. Who asks at the end has nobody to ask.
    async fn last_words(&mut self, link: &Link) -> Result<(), Interrupted> {
        while let Some(said) = link.inbox.try_next() {
            match said {
                Said::Update(_) => self.take(said).await?,
                Said::Permission(..) | Said::Form(..) | Said::Host(..) => said.refuse(),
            }
        }
        Ok(())
    }

    fn is_over(&self, link: &Link) -> bool {
        self.answered.is_some() && (link.answers_at_the_end() || self.idle.is_some())
    }

    async fn take(&mut self, said: Said) -> Result<(), Interrupted> {
        match said {
            Said::Update(params) => match client::told(&params) {
                Some(Told::Event(event)) => self.tell(*event).await,
                Some(Told::Idle(stop, error)) => {
                    self.idle = Some((stop, error));
                    Ok(())
                }
                Some(Told::Terminal(id, news)) => {
                    for event in self.theirs.hear(&id, news) {
                        self.io.emit(event).await?;
                    }
                    Ok(())
                }
                Some(Told::Running) => {
                    self.idle = None;
                    Ok(())
                }
                None => Ok(()),
            },
            Said::Permission(params, responder) => {
                let Some(ask) = client::asked(&params) else {
                    responder.ok(&client::outcome(&Answer::Cancelled));
                    return Ok(());
                };
                self.ask_leave(ask, responder).await
            }
            Said::Form(params, responder) => {
                match client::form(&params) {
                    Some(mut form) => {
                        form.tool_call = form.tool_call.and_then(|id| self.rows.id(&id));
                        self.fill_in(form, responder);
                    }
                    None => responder.ok(&client::filled(&Answer::Cancelled)),
                }
                Ok(())
            }
            Said::Host(method, params, responder) => {
                self.serve(&method, &params, responder);
                Ok(())
            }
        }
    }

    /// Has the user fill in a form.
    fn fill_in(&self, form: ElicitAsk, responder: Responder) {
        let io = self.io.clone();
        let asking = async move {
            let withdrawn = responder.cancelled().clone();
            let answer = tokio::select! {
                biased;
                answer = io.ask(Ask::Elicit(form)) => answer.unwrap_or(Answer::Cancelled),
                () = withdrawn.cancelled() => Answer::Cancelled,
            };
            responder.ok(&client::filled(&answer));
            Settled::default()
        };
        self.asking.push(asking.boxed());
    }

    async fn settled(&mut self, settled: Settled) -> Result<(), Interrupted> {
        self.servant.grant(settled.grants).await?;
        if let Some((call, wish)) = settled.leave {
            self.rows.give_leave(&call, wish);
        }
        match settled.cause {
            Some(cause) => {
                let title = format!("{}: what it wanted was refused: {cause}", self.config.name);
                self.warn(title).await
            }
            None => Ok(()),
        }
    }

    /// Tells the user, once.
    pub(super) async fn warn(&mut self, title: String) -> Result<(), Interrupted> {
        if !self.warned.insert(title.clone()) {
            return Ok(());
        }
        let id = MessageId::from(self.ids.fresh(IdKind::Message));
        self.io.emit(Event::Notice(Notice { id, severity: Severity::Warning, title })).await
    }

    async fn tell(&mut self, event: Event) -> Result<(), Interrupted> {
        let event = match event {
            Event::MessageDelta { id, role, content } => {
                if role == Role::Thought && !self.input.show_thoughts {
                    return Ok(());
                }
                Event::MessageDelta { id: self.message(&id, role), role, content }
            }
            Event::Message { id, role, content } => {
                if role == Role::Thought && !self.input.show_thoughts {
                    return Ok(());
                }
                Event::Message { id: self.message(&id, role), role, content }
            }
            Event::ToolCall(mut row) => {
                let known = self.rows.knows(&row.id);
                self.speaking = None;
                row.id = self.rows.note(&row, self.ids).id;
                show_terminals((&self.terminals, &mut self.theirs, self.ids), self.io, &mut row).await?;
                if !known {
                    row.title.get_or_insert_with(|| "a tool".to_owned());
                    row.status.get_or_insert(ToolStatus::Pending);
                }
                Event::ToolCall(row)
            }
            Event::ToolOutput { id, chunk } => {
                let Some(id) = self.rows.id(&id) else { return Ok(()) };
                let terminals = (&self.terminals, &mut self.theirs, self.ids);
                let Some(chunk) = shown(terminals, self.io, chunk, &id).await? else { return Ok(()) };
                Event::ToolOutput { id, chunk }
            }
            // Terminals are this program's own: what another agent's commands print comes in its rows.
            Event::Terminal(_) | Event::TerminalOutput { .. } => return Ok(()),
            Event::Plan(mut plan) => {
                plan.id = PlanId::from(format!("{}:{}", self.config.name, plan.id));
                Event::Plan(plan)
            }
            Event::PlanRemoved(id) => Event::PlanRemoved(PlanId::from(format!("{}:{id}", self.config.name))),
            Event::Notice(mut notice) => {
                notice.id = MessageId::from(self.ids.fresh(IdKind::Message));
                Event::Notice(notice)
            }
            other @ (Event::Compaction(_)
            | Event::Spent(_)
            | Event::Usage(_)
            | Event::Commands(_)
            | Event::Remark { .. }
            | Event::Options(_)
            | Event::Title(_)
            | Event::Foreground(_)
            | Event::Routed(_)
            | Event::Warning(_)
            | Event::ReplayComplete) => other,
        };
        self.io.emit(event).await
    }

    /// Our id for its message. Unnamed pieces continue each other until another role speaks or a row appears.
    fn message(&mut self, id: &MessageId, role: Role) -> MessageId {
        let unnamed = id.as_str().is_empty();
        let key = (role, id.as_str().to_owned());
        if unnamed && self.speaking != Some(role) {
            self.messages.remove(&key);
        }
        self.speaking = Some(role);
        let fresh = || MessageId::from(self.ids.fresh(IdKind::Message));
        self.messages.entry(key).or_insert_with(fresh).clone()
    }

    /// What the turn took, as far as the agent says.
    fn spent(&self) -> Option<Event> {
        let tokens = client::usage(self.answered.as_ref()?).filter(|tokens| tokens.total() > 0)?;
        let agent = AgentId::from(self.config.name.as_str());
        Some(Event::Spent(Spent { agent, model: String::new(), tokens, dollars: None }))
    }

    fn end(self) -> Result<TurnEnd, TurnError> {
        let (idle, error) = self.idle.unwrap_or_default();
        let answered =
            self.answered.as_ref().and_then(|answer| answer["stopReason"].as_str()).map(client::stop);
        let stop = answered.or(idle).unwrap_or(StopReason::EndTurn);
        if stop == StopReason::Error {
            return Err(failed(
                self.config,
                "external_failed",
                error.unwrap_or_else(|| "it failed".to_owned()),
            ));
        }
        Ok(TurnEnd { stop, usage: self.answered.as_ref().and_then(client::usage) })
    }

    /// Has it stop: by the protocol, else by force.
    async fn stop(
        &mut self,
        link: &mut Link,
        answer: &mut (impl Future<Output = Result<Box<RawValue>, RequestError>> + Unpin),
    ) {
        let deadline = Instant::now() + STOP_GRACE;
        let stopped = async {
            self.terminals.kill_all();
            link.cancel().await;
            while !self.is_over(link) {
                let is_asking = !self.asking.is_empty();
                tokio::select! {
                    biased;
                    Some(_) = self.asking.next(), if is_asking => {}
                    Some(()) = self.serving.next(), if !self.serving.is_empty() => {}
                    said = link.inbox.next() => self.hush(said),
                    outcome = &mut *answer, if self.answered.is_none() => {
                        self.answered = Some(Value::Null);
                        if outcome.is_err() {
                            return;
                        }
                    }
                }
            }
        };
        if timeout_at(deadline, stopped).await.is_err() {
            link.kill();
        }
    }

    /// What comes after a cancel is told to nobody.
    fn hush(&mut self, said: Said) {
        match said {
            Said::Update(params) => {
                if let Some(Told::Idle(stop, error)) = client::told(&params) {
                    self.idle = Some((stop, error));
                }
            }
            Said::Permission(_, responder) => responder.ok(&client::outcome(&Answer::Cancelled)),
            Said::Form(_, responder) => responder.ok(&client::filled(&Answer::Cancelled)),
            // It may still want to know how its commands ended.
            Said::Host(method, params, responder) => self.serve(&method, &params, responder),
        }
    }
}
