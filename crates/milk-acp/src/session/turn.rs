//! The running turn: its task, its channel, and how it is made to stop.
//!
//! The turn is over when its channel has closed and its task has been joined, or when its grace has passed.

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agent_runtime::attach::{self, attach};
use agent_runtime::calls::RunningCalls;
use agent_runtime::driver::{Compacted, Permissions, TurnEnd, TurnError, TurnInput};
use agent_runtime::host::HostFeatures;
use agent_runtime::io::{Interrupted, TurnIo, TurnSignal, TurnSignals};
use agent_runtime::provider::Effort;
use async_trait::async_trait;
use session_model::source::Ids;
use session_model::{
    Content, Entry, Event, Item, MessageId, Notice, Role, SessionId, Severity, StopReason, TurnFailure,
    TurnId,
};
use session_store::SessionStore;
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::commands::{self, Change, CommandCx, Invocation};
use crate::drivers::routed::{Desk, Ended, Kept, Routed};
use crate::drivers::{SessionDrivers, Wanted};
use crate::session::core::Outcome;

/// How long a cancelled turn may take to end by itself before it is dropped.
pub(crate) const TURN_GRACE: Duration = Duration::from_secs(2);

/// How much of the history a turn looks back on, in bytes as stored: more than any model's window takes.
const HISTORY_BYTES: usize = 4 * 1024 * 1024;

/// Everything a turn's task starts from.
#[derive(Debug)]
pub(crate) struct TurnPlan {
    pub(crate) session: SessionId,
    pub(crate) turn: TurnId,
    pub(crate) prompt: Vec<Content>,
    pub(crate) cwd: PathBuf,
    pub(crate) additional_roots: Vec<PathBuf>,
    pub(crate) permissions: Permissions,
    pub(crate) host: HostFeatures,
    pub(crate) calls: RunningCalls,
    pub(crate) model: Option<String>,
    /// The second agent, where there is one.
    pub(crate) desk: Option<Desk>,
    /// How hard the model should think, where the user has said so.
    pub(crate) effort: Option<Effort>,
    /// Finished items that are not in the store.
    pub(crate) unsaved: Vec<Entry>,
    pub(crate) store: Arc<dyn SessionStore>,
    pub(crate) drivers: Arc<dyn SessionDrivers>,
    pub(crate) ids: Arc<dyn Ids>,
}

impl TurnPlan {
    fn input(&self, history: Arc<[Entry]>) -> TurnInput {
        TurnInput {
            session: self.session.clone(),
            turn: self.turn.clone(),
            prompt: self.prompt.clone(),
            cwd: self.cwd.clone(),
            additional_roots: self.additional_roots.clone(),
            history,
            permissions: self.permissions.clone(),
            show_thoughts: true,
            handover: None,
            effort: self.effort,
            host: self.host,
            calls: self.calls.clone(),
        }
    }
}

/// What the turn has to say next.
#[derive(Debug)]
pub(crate) enum Said {
    /// This.
    Signal(TurnSignal),
    /// Nothing any more; a command leaves changes.
    Over(Outcome, Vec<Change>),
}

/// A turn under way.
#[derive(Debug)]
pub(crate) struct RunningTurn {
    signals: TurnSignals,
    task: JoinSet<(Outcome, Vec<Change>)>,
    cancel: CancellationToken,
    /// When it is dropped, once cancelled.
    deadline: Option<Instant>,
}

impl RunningTurn {
    /// Starts the turn's task; `parent` ends it with the session.
    pub(crate) fn start(plan: TurnPlan, parent: &CancellationToken) -> Self {
        Self::spawn(parent, |io| async move { run(plan, io).await })
    }

    /// Runs a command in place of a turn; its words are told under `message`.
    pub(crate) fn command(
        invocation: Invocation,
        cx: impl FnOnce(TurnIo) -> CommandCx + Send + 'static,
        message: MessageId,
        parent: &CancellationToken,
    ) -> Self {
        Self::spawn(parent, |io| async move { command(invocation, cx(io.clone()), message, &io).await })
    }

    fn spawn<F>(parent: &CancellationToken, work: impl FnOnce(TurnIo) -> F) -> Self
    where
        F: Future<Output = (Outcome, Vec<Change>)> + Send + 'static,
    {
        let cancel = parent.child_token();
        // The session listens once everything before is kept and told, and the turn waits for that before each request.
        let (io, signals) = TurnIo::acknowledged(cancel.clone());
        let mut task = JoinSet::new();
        task.spawn(work(io));
        Self { signals, task, cancel, deadline: None }
    }

    /// Asks the turn to end.
    pub(crate) fn cancel(&mut self) {
        self.cancel.cancel();
        self.deadline.get_or_insert_with(|| Instant::now() + TURN_GRACE);
    }

    /// Whether it was asked to end.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.deadline.is_some()
    }

    /// What it says next, and at last its outcome. Cancel safe.
    pub(crate) async fn next(&mut self) -> Said {
        let deadline = self.deadline;
        tokio::select! {
            biased;
            said = Self::said(&mut self.signals, &mut self.task) => said,
            () = expired(deadline) => {
                tracing::warn!("the turn did not end in time after its cancellation and is dropped");
                self.task.abort_all();
                Said::Over(Outcome::Interrupted, Vec::new())
            }
        }
    }

    /// What it has said already, without waiting.
    pub(crate) fn try_next(&mut self) -> Option<TurnSignal> {
        self.signals.try_recv()
    }

    async fn said(signals: &mut TurnSignals, task: &mut JoinSet<(Outcome, Vec<Change>)>) -> Said {
        if let Some(signal) = signals.recv().await {
            return Said::Signal(signal);
        }
        match task.join_next().await {
            Some(Ok((outcome, changes))) => Said::Over(outcome, changes),
            Some(Err(error)) => Said::Over(panicked(&error), Vec::new()),
            None => Said::Over(Outcome::Interrupted, Vec::new()),
        }
    }
}

async fn expired(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

fn panicked(error: &JoinError) -> Outcome {
    if error.is_cancelled() {
        return Outcome::Interrupted;
    }
    tracing::error!(%error, "the turn panicked");
    Outcome::Failed(TurnFailure {
        code: "turn_panicked".to_owned(),
        message:
            "the turn failed by a defect of milk; the session goes on, and the log on stderr has the place"
                .to_owned(),
    })
}

/// What a command did is done, whether or not its words are still wanted.
async fn command(
    invocation: Invocation,
    cx: CommandCx,
    id: MessageId,
    io: &TurnIo,
) -> (Outcome, Vec<Change>) {
    let said = if invocation.is_whole() {
        commands::run(invocation, cx).await
    } else {
        match io.or_cancelled(commands::run(invocation, cx)).await {
            Ok(said) => said,
            Err(Interrupted) => return (Outcome::Interrupted, Vec::new()),
        }
    };
    let words = Event::MessageDelta { id, role: Role::Agent, content: Content::text(said.text) };
    let outcome = match io.emit(words).await {
        Ok(()) => Outcome::Done { stop: StopReason::EndTurn, usage: None },
        Err(Interrupted) => Outcome::Interrupted,
    };
    (outcome, said.changes)
}

async fn run(plan: TurnPlan, io: TurnIo) -> (Outcome, Vec<Change>) {
    attempt(plan, &io).await.unwrap_or_else(|Interrupted| (Outcome::Interrupted, Vec::new()))
}

async fn attempt(mut plan: TurnPlan, io: &TurnIo) -> Result<(Outcome, Vec<Change>), Interrupted> {
    let history = io.or_cancelled(history(&plan, io)).await??;
    let mut input = plan.input(history);
    let lost = attach(&mut input, io).await?;
    if !lost.is_empty() {
        warn(&plan, io, format!("not passed on: {}", lost.join("; "))).await?;
    }
    let Some(desk) = plan.desk.take() else {
        return Ok((alone(&plan, input, io).await?, Vec::new()));
    };
    let routed = Routed {
        drivers: &*plan.drivers,
        ids: &*plan.ids,
        kept: &plan,
        io,
        desk,
        model: plan.model.clone(),
        input,
    };
    let (ended, learned) = routed.run().await?;
    Ok((outcome(ended), vec![Change::Routed(Box::new(learned))]))
}

/// A turn of the only agent.
async fn alone(plan: &TurnPlan, input: TurnInput, io: &TurnIo) -> Result<Outcome, Interrupted> {
    let wanted = Wanted { model: plan.model.as_deref(), ..Wanted::PRIMARY };
    let driver = match io.or_cancelled(plan.drivers.driver(wanted)).await? {
        Ok(driver) => driver,
        Err(failure) => return Ok(Outcome::Failed(failure)),
    };
    io.emit(Event::Routed(driver.route)).await?;
    match driver.driver.drive(input, io.clone()).await {
        Ok(end) => Ok(outcome(Ok(end))),
        Err(TurnError::Interrupted(interrupted)) => Err(interrupted),
        Err(error @ (TurnError::Provider(_) | TurnError::External { .. } | TurnError::TimedOut { .. })) => {
            Ok(Outcome::Failed(error.failure()))
        }
    }
}

/// Has the session's earlier turns summarised, with `wish` in mind.
pub(crate) async fn compact(
    plan: TurnPlan,
    wish: &str,
    io: TurnIo,
) -> Result<Result<Compacted, TurnFailure>, Interrupted> {
    let history = io.or_cancelled(history(&plan, &io)).await??;
    let wanted = Wanted { model: plan.model.as_deref(), ..Wanted::PRIMARY };
    let driver = match io.or_cancelled(plan.drivers.driver(wanted)).await? {
        Ok(driver) => driver,
        Err(failure) => return Ok(Err(failure)),
    };
    match driver.driver.compact(plan.input(history), wish, io).await {
        Ok(compacted) => Ok(Ok(compacted)),
        Err(TurnError::Interrupted(interrupted)) => Err(interrupted),
        Err(error @ (TurnError::Provider(_) | TurnError::External { .. } | TurnError::TimedOut { .. })) => {
            Ok(Err(error.failure()))
        }
    }
}

fn outcome(ended: Ended) -> Outcome {
    match ended {
        Ok(TurnEnd { stop, usage }) => Outcome::Done { stop, usage },
        Err(failure) => Outcome::Failed(failure),
    }
}

#[async_trait]
impl Kept for TurnPlan {
    async fn of_turn(&self, turn: &TurnId) -> Vec<Entry> {
        let stored = self.store.recent(&self.session, HISTORY_BYTES).await;
        let entries = stored.map(|stored| stored.entries).unwrap_or_default();
        entries.into_iter().filter(|entry| entry.turn == *turn).collect()
    }
}

/// What was before this turn, as far as a model can use it: what the store has, and what it could not take.
async fn history(plan: &TurnPlan, io: &TurnIo) -> Result<Arc<[Entry]>, Interrupted> {
    let (mut entries, trouble) = match plan.store.recent(&plan.session, HISTORY_BYTES).await {
        Ok(stored) if stored.damaged > 0 => {
            let text = format!("{} damaged items of this session were left out", stored.damaged);
            (stored.entries, Some(text))
        }
        Ok(stored) => (stored.entries, None),
        Err(error) => (Vec::new(), Some(format!("earlier turns cannot be read: {error}"))),
    };
    if let Some(title) = trouble {
        warn(plan, io, title).await?;
    }
    entries.extend(plan.unsaved.iter().cloned());
    entries.retain(|entry| entry.turn != plan.turn);
    for entry in &mut entries {
        if let Item::User { content, .. } = &mut entry.item {
            commands::strip(content);
            // The user was told when it was new.
            attach::check(content);
        }
    }
    Ok(entries.into())
}

async fn warn(plan: &TurnPlan, io: &TurnIo, title: String) -> Result<(), Interrupted> {
    let id = MessageId::from(plan.ids.fresh(session_model::source::IdKind::Message));
    io.emit(Event::Notice(Notice { id, severity: Severity::Warning, title })).await
}
