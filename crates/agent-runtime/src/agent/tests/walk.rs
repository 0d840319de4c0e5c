//! A thousand turns in which everything goes wrong at random: whatever is left of them in a session, every request is
//! one that a strict server accepts.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;
use session_model::source::SequentialIds;
use session_model::{
    Answer, Compaction, CompactionState, Content, Entry, Event, GrantScope, Item, MessageId, Role, SessionId,
    StopReason, ToolCallId, ToolCallUpdate, ToolStatus, TurnId,
};
use time::OffsetDateTime;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::rig::{Behaviour, Fake};
use crate::Agent;
use crate::agent::Limits;
use crate::calls::RunningCalls;
use crate::context::check;
use crate::driver::{Permissions, TurnDriver, TurnEnd, TurnError, TurnInput};
use crate::host::HostFeatures;
use crate::io::{TurnIo, TurnSignal};
use crate::provider::{FinishReason, Provider, ProviderError};
use crate::providers::stream_table::framing::Dice;
use crate::scripted::{Line, Scripted};
use crate::tools::registry::ToolRegistry;

const SESSIONS: usize = 10;
const TURNS: usize = 100;

fn failure(message: &str) -> Line {
    Line::Fail(ProviderError::Reported { agent: "scripted".to_owned(), message: message.to_owned() })
}

fn line(dice: &mut Dice) -> Line {
    match dice.roll(16) {
        0..4 => Line::say("words ".repeat(1 + dice.roll(20))),
        4 => Line::say(" \n"),
        5 => Line::think("thoughts"),
        6 | 7 => Line::call("look", json!({ "n": dice.roll(3) })),
        8 => Line::call("edit", json!({ "n": dice.roll(3) })),
        9 => Line::call("bomb", json!({})),
        10 => Line::call("no such tool", json!({ "path": "a" })),
        11 => Line::call_raw("look", "{\"n\": "),
        12 => Line::call_raw("look", ""),
        13 if dice.chance(3) => Line::Cut,
        14 if dice.chance(3) => failure("maximum context length is 9 tokens"),
        15 if dice.chance(3) => Line::Finish(FinishReason::Length),
        _ => Line::call("look", json!({ "bad": 1 })),
    }
}

fn script(dice: &mut Dice) -> Vec<Vec<Line>> {
    (0..=dice.roll(5)).map(|_| (0..dice.roll(5)).map(|_| line(dice)).collect()).collect()
}

fn answer(dice: &mut Dice) -> Answer {
    match dice.roll(6) {
        0 | 1 => Answer::Selected("allow".into()),
        2 => Answer::Selected("reject".into()),
        3 => Answer::Selected("whatever".into()),
        4 => Answer::Cancelled,
        _ => Answer::Unanswerable("no".to_owned()),
    }
}

fn tools() -> ToolRegistry {
    ToolRegistry::new()
        .with(
            Fake::new("look", Behaviour::Say("a rather long text that a tool has found somewhere"))
                .parallel(),
        )
        .with(Fake::new("edit", Behaviour::Fail("no")).asks(vec![GrantScope::Tool]))
        .with(Fake::new("bomb", Behaviour::Panic))
}

/// What a session keeps of a turn's events.
#[derive(Default)]
struct Kept {
    items: Vec<Item>,
    open: Option<(MessageId, Role, String)>,
    rows: BTreeMap<ToolCallId, ToolCallUpdate>,
}

impl Kept {
    fn hear(&mut self, event: Event) {
        match event {
            Event::MessageDelta { id, role, content } => {
                let text = content.as_text().unwrap_or_default();
                match &mut self.open {
                    Some((open, _, said)) if *open == id => said.push_str(text),
                    Some(_) | None => {
                        self.close();
                        self.open = Some((id, role, text.to_owned()));
                    }
                }
            }
            Event::ToolCall(update) => {
                self.close();
                let row = self
                    .rows
                    .entry(update.id.clone())
                    .or_insert_with(|| ToolCallUpdate::new(update.id.clone()));
                row.merge(&update);
                if row.status.is_some_and(ToolStatus::is_final) {
                    let row = self.rows.remove(&update.id).unwrap();
                    self.items.push(Item::Tool { step: row.step.unwrap(), call: row });
                }
            }
            Event::Spent(_) | Event::Usage(_) | Event::Notice(_) | Event::Remark { .. } => self.close(),
            Event::Compaction(Compaction { id, state, .. }) => {
                self.close();
                if let CompactionState::Done(summary) = state {
                    self.items.push(Item::Compaction { id, summary });
                }
            }
            Event::Message { .. }
            | Event::ToolOutput { .. }
            | Event::Terminal(_)
            | Event::TerminalOutput { .. }
            | Event::Plan(_)
            | Event::PlanRemoved(_)
            | Event::Commands(_)
            | Event::Options(_)
            | Event::Title(_)
            | Event::Foreground(_)
            | Event::Routed(_)
            | Event::Warning(_)
            | Event::ReplayComplete => panic!("unexpected {event:?}"),
        }
    }

    fn close(&mut self) {
        let Some((id, role, text)) = self.open.take() else { return };
        self.items.push(match role {
            Role::Thought => Item::Thought { id, step: 0, text },
            Role::Agent | Role::User => Item::Agent { id, step: 0, text },
        });
    }

    fn end(mut self, end: &Result<TurnEnd, TurnError>) -> Vec<Item> {
        self.close();
        for (_, mut row) in std::mem::take(&mut self.rows) {
            row.status = Some(ToolStatus::Cancelled);
            self.items.push(Item::Tool { step: row.step.unwrap(), call: row });
        }
        let stop = match end {
            Ok(end) => end.stop,
            Err(TurnError::Interrupted(_)) => StopReason::Cancelled,
            Err(TurnError::Provider(_) | TurnError::External { .. } | TurnError::TimedOut { .. }) => {
                StopReason::Error
            }
        };
        self.items.push(Item::TurnEnd { stop, error: None, route: None });
        self.items
    }
}

/// A row of turns in one session after another.
pub(super) struct Walk {
    pub(super) dice: Dice,
    ids: Arc<SequentialIds>,
    pub(super) history: Vec<Entry>,
    pub(super) ends: BTreeMap<String, usize>,
}

impl Walk {
    pub(super) fn new(seed: u64) -> Self {
        Self { dice: Dice::new(seed), ids: Arc::default(), history: Vec::new(), ends: BTreeMap::new() }
    }

    async fn scripted_turn(&mut self, n: usize) {
        let model =
            Scripted::new(script(&mut self.dice)).with_context_window(1_000 * (1 + self.dice.roll(9)) as u64);
        let model = Arc::new(model);
        self.turn(n, Arc::<Scripted>::clone(&model)).await;
        for request in model.requests() {
            check(&request.messages)
                .unwrap_or_else(|rule| panic!("turn {n}: {rule}: {:#?}", request.messages));
        }
        assert_eq!(model.streaming(), 0);
    }

    /// One turn with whatever `provider` answers.
    pub(super) async fn turn(&mut self, n: usize, provider: Arc<dyn Provider>) {
        let turn = TurnId::from(format!("t{n}"));
        let limits = Limits { max_requests: 4, ..Limits::default() };
        let agent = Agent::new(provider, tools(), Arc::<SequentialIds>::clone(&self.ids)).with_limits(limits);
        // Some windows are outgrown silently, some by way of a summary.
        let agent = if self.dice.chance(2) { agent.summarising() } else { agent };
        let prompt = vec![Content::text("question ".repeat(1 + self.dice.roll(9)))];
        let cancel = CancellationToken::new();
        let (io, mut signals) = TurnIo::channel(cancel.clone());
        let input = TurnInput {
            session: SessionId::from("s"),
            turn: turn.clone(),
            prompt: prompt.clone(),
            cwd: PathBuf::from("/work"),
            additional_roots: Vec::new(),
            history: self.history.clone().into(),
            permissions: Permissions::default(),
            show_thoughts: self.dice.chance(2),
            handover: None,
            effort: None,
            host: HostFeatures::default(),
            calls: RunningCalls::default(),
        };
        let mut task = JoinSet::new();
        task.spawn(async move { agent.drive(input, io).await });
        let cancel_at = self.dice.chance(3).then(|| self.dice.roll(8));
        let (mut kept, mut heard) = (Kept::default(), 0);
        while let Some(signal) = signals.recv().await {
            match signal {
                TurnSignal::Event(event) => kept.hear(event),
                TurnSignal::Ask(_, reply) => drop(reply.send(answer(&mut self.dice))),
                TurnSignal::Host(call, _) => panic!("unexpected {call:?}"),
                TurnSignal::Granted(_) => {}
            }
            if cancel_at == Some(heard) {
                cancel.cancel();
            }
            heard += 1;
        }
        let end = task.join_next().await.unwrap().unwrap();
        let how = match &end {
            Ok(end) => format!("{:?}", end.stop),
            Err(error) => error.failure().code,
        };
        *self.ends.entry(how).or_default() += 1;
        self.keep(&turn, prompt, kept.end(&end));
    }

    /// The walk went everywhere.
    pub(super) fn went_to(&self, ends: &[&str]) {
        for end in ends {
            let times = self.ends.get(*end).copied().unwrap_or_default();
            assert!(times > 5, "{end}: {:?}", self.ends);
        }
    }

    /// A new session.
    pub(super) fn begin(&mut self) {
        self.history.clear();
    }

    /// Keeps a turn; now and then only as much of it as a crash leaves.
    fn keep(&mut self, turn: &TurnId, prompt: Vec<Content>, mut items: Vec<Item>) {
        items.insert(0, Item::User { id: MessageId::from("u"), content: prompt, key: None });
        if self.dice.chance(10) {
            items.truncate(1 + self.dice.roll(items.len()));
        }
        let at = OffsetDateTime::UNIX_EPOCH;
        self.history.extend(items.into_iter().map(|item| Entry { turn: turn.clone(), at, item }));
    }
}

#[tokio::test(start_paused = true)]
async fn every_request_of_a_thousand_troubled_turns_is_valid() {
    let mut walk = Walk::new(42);
    for _ in 0..SESSIONS {
        walk.begin();
        for n in 0..TURNS {
            walk.scripted_turn(n).await;
        }
    }
    walk.went_to(&[
        "EndTurn",
        "MaxTokens",
        "MaxTurnRequests",
        "interrupted",
        "provider_truncated",
        "provider_reported",
    ]);
}
