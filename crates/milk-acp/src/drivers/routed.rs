//! One turn between two agents: the rules decide who begins, the primary may hand over, and when one of them fails
//! before it has said anything the other takes its place.
//!
//! Knows nothing of sessions or clients; what it learns for the next turn it returns.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agent_runtime::context::last_route;
use agent_runtime::driver::{TurnEnd, TurnError, TurnInput};
use agent_runtime::handover::{Handover, brick};
use agent_runtime::io::{Interrupted, TurnIo};
use async_trait::async_trait;
use router::{Classifier, Decision, Pins, RouteInput, Rule, Target, is_repeated};
use session_model::source::{IdKind, Ids};
use session_model::{
    Entry, Event, Item, MessageId, Notice, Route, Severity, StopReason, TokenUsage, TurnFailure, TurnId,
    text_of,
};

use tokio::time::Instant;

use super::briefing::briefing;
use super::{Driver, Routing, SessionDrivers, Wanted};

/// What the primary is told when nobody relieves it after all.
const NOBODY: &str = "the other agent could not be asked, so go on yourself as well as you can";

/// A failure that took this long is not waited for again at once.
const COSTLY: Duration = Duration::from_secs(2);
/// How long an agent is left alone after such a failure.
const COOL_DOWN: Duration = Duration::from_mins(1);

/// What a view knows when a turn between two agents begins.
#[derive(Debug, Clone)]
pub(crate) struct Desk {
    pub(crate) routing: Routing,
    pub(crate) pins: Pins,
    /// Prompts up to this turn are no repetitions any more.
    pub(crate) baseline: Option<TurnId>,
    /// Whether the escalation agent is to begin anew.
    pub(crate) fresh: bool,
    pub(crate) warned: Warned,
    pub(crate) cooling: Cooling,
}

/// Of which failure of which agent the user was told; each is told once, until the agent answers again.
pub(crate) type Warned = BTreeMap<String, String>;

/// Until when an agent is left alone, since it failed and took its time over it.
pub(crate) type Cooling = BTreeMap<String, Instant>;

/// What a turn leaves for the next one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Learned {
    /// Why who answered, if somebody did.
    pub(crate) answered: Option<Decision>,
    pub(crate) warned: Warned,
    pub(crate) cooling: Cooling,
}

/// What was kept of the running turn so far.
#[async_trait]
pub(crate) trait Kept: Send + Sync {
    /// Its entries, in order.
    async fn of_turn(&self, turn: &TurnId) -> Vec<Entry>;
}

/// A turn between two agents.
pub(crate) struct Routed<'a> {
    pub(crate) drivers: &'a dyn SessionDrivers,
    pub(crate) ids: &'a dyn Ids,
    pub(crate) kept: &'a dyn Kept,
    pub(crate) io: &'a TurnIo,
    pub(crate) desk: Desk,
    pub(crate) model: Option<String>,
    pub(crate) input: TurnInput,
}

/// How an agent's part of a turn ended without an answer.
struct Trouble {
    failure: TurnFailure,
    agent: String,
    /// Whether it said something before.
    answered: bool,
}

/// How the whole turn ended.
pub(crate) type Ended = Result<TurnEnd, TurnFailure>;

impl Routed<'_> {
    /// Runs the turn to its end.
    ///
    /// # Errors
    /// [`Interrupted`] when it was cancelled.
    pub(crate) async fn run(mut self) -> Result<(Ended, Learned), Interrupted> {
        let (mut decision, judged) = self.decide().await?;
        if decision.target == Target::Primary && !decision.is_wished() && self.is_repeated() {
            decision = Decision::repeated();
        }
        let other = decision.target.other();
        if !decision.is_wished() && self.is_cooling(decision.target) && !self.is_cooling(other) {
            decision = decision.unavailable();
        }
        let mut last = last_route(&self.input.history).map(|turn| turn.route.target.clone());
        let first = self.part(&decision, None, &mut last).await?;
        let (decision, ended) = match first {
            Ok((end, Some(reason))) => self.hand_over(&reason, end, &mut last).await?,
            Ok((end, None)) => (decision, Ok(end)),
            Err(trouble) if trouble.answered => (decision, Err(trouble)),
            Err(trouble) => self.replace(decision, trouble, &mut last).await?,
        };
        let answered = ended.is_ok().then_some(decision);
        let Desk { warned, cooling, .. } = self.desk;
        let judged = TurnEnd { stop: StopReason::EndTurn, usage: judged };
        let ended = ended.map(|end| together(judged, end)).map_err(|trouble| trouble.failure);
        Ok((ended, Learned { answered, warned, cooling }))
    }

    /// The name of the agent that has the role in this turn.
    fn name(&self, target: Target) -> &str {
        let chosen = self.model.as_deref().filter(|_| target == Target::Primary);
        chosen.unwrap_or_else(|| self.desk.routing.name(target))
    }

    fn is_cooling(&self, target: Target) -> bool {
        self.desk.cooling.get(self.name(target)).is_some_and(|until| Instant::now() < *until)
    }

    /// Who answers, and the tokens that it took to know.
    async fn decide(&self) -> Result<(Decision, Option<TokenUsage>), Interrupted> {
        let Desk { routing, pins, .. } = &self.desk;
        let prompt = text_of(&self.input.prompt);
        let waiting = last_route(&self.input.history)
            .is_some_and(|turn| turn.asks && turn.route.target == Target::Escalation.as_str());
        let (cwd, home) = (self.input.cwd.clone(), routing.home.clone());
        let exists = move |path: &str| located(path, &cwd, home.as_deref()).exists();
        let (rules, mut pins) = (routing.rules.clone(), *pins);
        // A folder on a dead network mount must hold up nothing but this turn.
        let asked = prompt.clone();
        let looked = tokio::task::spawn_blocking(move || {
            let mut input = RouteInput { path_exists: &exists, ..RouteInput::new(&asked) };
            input.awaiting_escalation = waiting;
            pins.apply(&mut input);
            rules.decide(&input)
        });
        if let Some(decision) = self.io.or_cancelled(looked).await?.ok().flatten() {
            return Ok((decision, None));
        }
        let judge = if routing.rules.classifier {
            self.io.or_cancelled(self.drivers.classifier(self.model.as_deref())).await?
        } else {
            None
        };
        let classifier = judge.as_deref().map(|judge| judge as &dyn Classifier);
        let asked = routing.rules.undecided(&prompt, classifier);
        let decision = self.io.or_cancelled(asked).await?;
        let spent = judge.and_then(|judge| judge.spent());
        let tokens = spent.as_ref().map(|spent| spent.tokens);
        if let Some(spent) = spent {
            self.io.emit(Event::Spent(spent)).await?;
        }
        Ok((decision, tokens))
    }

    /// Whether the user asks what was asked before, and answered.
    fn is_repeated(&self) -> bool {
        let history = &self.input.history;
        let baseline = self.desk.baseline.as_ref();
        let from = history.iter().rposition(|entry| Some(&entry.turn) == baseline).map_or(0, |at| at + 1);
        let answered = |turn: &TurnId| {
            history.iter().any(|entry| {
                entry.turn == *turn && matches!(&entry.item, Item::TurnEnd { stop, .. } if is_answer(*stop))
            })
        };
        let earlier: Vec<String> = history[from..]
            .iter()
            .rev()
            .filter_map(|entry| match &entry.item {
                Item::User { content, .. } if answered(&entry.turn) => Some(text_of(content)),
                Item::User { .. }
                | Item::Agent { .. }
                | Item::Thought { .. }
                | Item::Tool { .. }
                | Item::Remark { .. }
                | Item::Compaction { .. }
                | Item::TurnEnd { .. } => None,
            })
            .take(router::EARLIER_PROMPTS)
            .collect();
        is_repeated(&text_of(&self.input.prompt), earlier.iter().map(String::as_str))
    }

    /// One agent's part of the turn: who it is is said, then it speaks. Its end, and its wish to be relieved. With
    /// `brief`, it goes on with what was done in this turn, and that is why.
    async fn part(
        &mut self,
        decision: &Decision,
        brief: Option<&str>,
        last: &mut Option<String>,
    ) -> Result<Result<(TurnEnd, Option<String>), Trouble>, Interrupted> {
        let (target, began) = (decision.target, Instant::now());
        let role = self.name(target).to_owned();
        let alone = decision.is_wished() || decision.rule == Rule::Unavailable;
        let may_hand_over = target == Target::Primary && !alone;
        let wanted = Wanted { target, model: self.model.as_deref(), may_hand_over };
        let Driver { driver, route, slot } = match self.io.or_cancelled(self.drivers.driver(wanted)).await? {
            Ok(driver) => driver,
            Err(failure) => {
                let agent = self.desk.routing.name(target).to_owned();
                return Ok(Err(Trouble { failure, agent, answered: false }));
            }
        };
        let route = decision.route(route.agent);
        let agent = route.agent.to_string();
        let io = self.announce(route, last.as_deref()).await?;
        let (handover, history) = briefing(&self.input.history, target, &self.desk.routing, self.desk.fresh);
        let present = match brief {
            Some(_) => self.done_so_far().await?,
            None => String::new(),
        };
        let handover = Some(Handover { brief: brief.map(str::to_owned), present, ..handover });
        // It was said to the primary agent's model.
        let effort = self.input.effort.filter(|_| target == Target::Primary);
        let input = TurnInput { history, handover, effort, ..self.input.clone() };
        let driven = driver.drive(input, io.clone()).await;
        if io.has_answered() {
            *last = Some(target.to_string());
        }
        match driven {
            Ok(end) => {
                self.desk.warned.remove(&agent);
                self.desk.cooling.remove(&role);
                Ok(Ok((end, slot.take().filter(|_| may_hand_over))))
            }
            Err(TurnError::Interrupted(interrupted)) => Err(interrupted),
            Err(
                error @ (TurnError::Provider(_) | TurnError::External { .. } | TurnError::TimedOut { .. }),
            ) => {
                let answered = io.has_answered();
                if !answered && began.elapsed() >= COSTLY {
                    self.desk.cooling.insert(role, Instant::now() + COOL_DOWN);
                }
                Ok(Err(Trouble { failure: error.failure(), agent, answered }))
            }
        }
    }

    /// The primary has asked to be relieved: the other agent goes on, or, when it cannot, the primary itself.
    async fn hand_over(
        &mut self,
        reason: &str,
        sofar: TurnEnd,
        last: &mut Option<String>,
    ) -> Result<(Decision, Result<TurnEnd, Trouble>), Interrupted> {
        let decision = Decision::handed_over(reason);
        let relieved = self.part(&decision, Some(reason), last).await?;
        match relieved {
            Ok((end, _)) => Ok((decision, Ok(together(sofar, end)))),
            Err(trouble) if trouble.answered => Ok((decision, Err(trouble))),
            Err(trouble) => {
                self.warn(&trouble, Target::Primary).await?;
                let decision = decision.unavailable();
                let ended = self.part(&decision, Some(NOBODY), last).await?;
                Ok((decision, ended.map(|(end, _)| together(sofar, end))))
            }
        }
    }

    /// The chosen agent could not even begin: the other one answers.
    async fn replace(
        &mut self,
        decision: Decision,
        trouble: Trouble,
        last: &mut Option<String>,
    ) -> Result<(Decision, Result<TurnEnd, Trouble>), Interrupted> {
        let decision = decision.unavailable();
        self.warn(&trouble, decision.target).await?;
        let ended = self.part(&decision, None, last).await?;
        Ok((decision, ended.map(|(end, _)| end)))
    }

    /// What was done in this turn, for whoever goes on with it.
    async fn done_so_far(&self) -> Result<String, Interrupted> {
        self.io.settled().await?;
        let entries = self.io.or_cancelled(self.kept.of_turn(&self.input.turn)).await?;
        let done = entries.iter().filter(|entry| !matches!(entry.item, Item::User { .. }));
        let routing = &self.desk.routing;
        let speaker = format!("{} ({})", routing.primary, Target::Primary);
        Ok(brick(done, &speaker, routing.brick_chars))
    }

    /// Says who is asked, to programs; the line that people are shown when it is not who answered last comes with its
    /// first word.
    async fn announce(&self, route: Route, last: Option<&str>) -> Result<TurnIo, Interrupted> {
        let Route { agent, target, reason, .. } = &route;
        let changed = last.is_some_and(|last| last != target);
        let line = changed.then(|| {
            let text = format!("→ now handled by {agent} ({target}): {reason}");
            Event::Remark { id: self.message_id(), text }
        });
        self.io.emit(Event::Routed(route)).await?;
        Ok(self.io.apart(line))
    }

    /// Tells a failure that did not stop the turn, once.
    async fn warn(&mut self, trouble: &Trouble, other: Target) -> Result<(), Interrupted> {
        let Trouble { failure, agent, .. } = trouble;
        let told = self.desk.warned.insert(agent.clone(), failure.message.clone());
        if told.as_ref() == Some(&failure.message) {
            return Ok(());
        }
        let instead = self.desk.routing.name(other);
        let title = format!("{} ({instead} answers instead)", failure.message);
        self.io
            .emit(Event::Notice(Notice { id: self.message_id(), severity: Severity::Warning, title }))
            .await
    }

    fn message_id(&self) -> MessageId {
        self.ids.fresh(IdKind::Message).into()
    }
}

/// Where a path in a prompt leads.
pub(crate) fn located(path: &str, cwd: &Path, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~/").or_else(|| path.strip_prefix("~\\")), home) {
        (Some(rest), Some(home)) => home.join(rest),
        (Some(_) | None, _) => cwd.join(path),
    }
}

fn is_answer(stop: StopReason) -> bool {
    match stop {
        StopReason::EndTurn | StopReason::MaxTokens | StopReason::MaxTurnRequests | StopReason::Refusal => {
            true
        }
        StopReason::Cancelled | StopReason::Error => false,
    }
}

fn together(first: TurnEnd, second: TurnEnd) -> TurnEnd {
    let usage = match (first.usage, second.usage) {
        (Some(mut usage), Some(more)) => {
            TokenUsage::add(&mut usage, more);
            Some(usage)
        }
        (usage, None) | (None, usage) => usage,
    };
    TurnEnd { stop: second.stop, usage }
}

impl std::fmt::Debug for Routed<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Routed").field("desk", &self.desk).finish_non_exhaustive()
    }
}
