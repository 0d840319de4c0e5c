//! What a session's task does with what the core decided: words it, keeps it, answers, starts and stops turns.

use std::sync::Arc;

use acp_rpc::{Permit, RpcError};
use agent_runtime::driver::Permissions;
use agent_runtime::host::HostFeatures;
use agent_runtime::io::{TurnIo, TurnSignal};
use agent_runtime::mode::Mode;
use session_model::{Answer, Ask, AskId, Content, Entry, Event, Item, TurnId};
use session_store::{MetaPatch, title_from};

use crate::command::{ClientFeatures, Reply};
use crate::commands::{self, CommandCx, Forced};
use crate::dialect::Outgoing;
use crate::drivers::Routing;
use crate::error::ServerError;
use crate::session::actor::{Actor, Out};
use crate::session::core::{Effect, Input, ReplyId};
use crate::session::host::Client;
use crate::session::questions::Returned;
use crate::session::segment::merge;
use crate::session::turn::{RunningTurn, Said, TurnPlan};

/// Deltas that pile up are merged into frames of about this many bytes.
const MERGED_BYTES: usize = 16 * 1024;

impl Actor {
    /// The head of the queue, which has what it needed.
    pub(super) fn deliver(&mut self, out: Out) {
        match out {
            Out::Do(effect) => self.act(effect),
            Out::Answer(responder, Ok(result)) => responder.ok(&result),
            Out::Answer(responder, Err(error)) => responder.err(&RpcError::from(error)),
            Out::Update(patch) => self.journal.update(patch),
            // These need room and go through `tell`.
            Out::Replay(_) | Out::Line(_) => {}
        }
    }

    /// Does one thing that needs no room at the client.
    pub(super) fn act(&mut self, effect: Effect) {
        match effect {
            Effect::Persist(turn, items) => self.keep(&turn, items),
            Effect::KeepUsage(usage) => {
                self.journal.update(MetaPatch { usage: Some(usage), ..MetaPatch::default() });
            }
            Effect::Inserted(reply, message) => {
                self.answer(reply, Ok(&Reply::Prompted { message, stop: None, usage: None }));
            }
            Effect::Finish { reply, message, stop, usage } => {
                self.answer(reply, Ok(&Reply::Prompted { message, stop: Some(stop), usage }));
            }
            Effect::Fail(reply, failure) => {
                let error = ServerError::Failed { session: Some(self.core.handle().clone()), failure };
                self.answer(reply, Err(&error));
            }
            Effect::Refuse(reply) => self.answer(reply, Err(&ServerError::Cancelled)),
            Effect::Speak(handle) => self.view.speak(handle),
            Effect::Start(turn, prompt) => self.start(turn, prompt),
            Effect::SendAsk(id, ask) => self.send_ask(id, ask),
            Effect::Call(id) => self.call(id),
            Effect::Forgo(id) => self.host.forgo(&id),
            Effect::CancelTurn => {
                if let Some(turn) = &mut self.turn {
                    turn.cancel();
                }
            }
            Effect::Withdraw(id) => self.questions.withdraw(&id),
            Effect::Settle(id, answer) => self.questions.settle(&id, answer),
            // Needs room and goes through `tell`.
            Effect::Emit(_) => {}
        }
    }

    fn answer(&mut self, reply: ReplyId, outcome: Result<&Reply, &ServerError>) {
        let Some(waiting) = self.waiting.remove(&reply) else { return };
        match outcome {
            Ok(reply) => waiting.responder.ok(&self.shared.dialect.reply(reply)),
            Err(error) => waiting.responder.err(&RpcError::from(error)),
        }
    }

    fn keep(&mut self, turn: &TurnId, items: Vec<Item>) {
        let at = self.shared.clock.now();
        let entries: Vec<Entry> =
            items.into_iter().map(|item| Entry { turn: turn.clone(), at, item }).collect();
        if !self.titled
            && let Some(title) = title_from(&commands::stripped(&entries))
        {
            self.titled = true;
            self.emit(Event::Title(Some(title)));
        }
        self.journal.append(entries);
    }

    fn start(&mut self, turn: TurnId, prompt: Vec<Content>) {
        self.refresh();
        let forced = self.forced.remove(&turn);
        let mut turn = match commands::parse(&prompt).filter(|_| forced.is_none()) {
            Some(invocation) => {
                let cx = self.command_cx(turn);
                RunningTurn::command(invocation, cx, self.message_id(), &self.shutdown)
            }
            None => RunningTurn::start(self.routed(turn, prompt, forced), &self.shutdown),
        };
        if self.core.is_cancelled() {
            // The cancel came while the user's message was being kept.
            turn.cancel();
        }
        self.turn = Some(turn);
    }

    /// What a command looks at, but for its way to speak.
    fn command_cx(&self, turn: TurnId) -> impl FnOnce(TurnIo) -> CommandCx + Send + use<> {
        let (shared, view, place) = (self.shared.clone(), self.seat.view(), self.place(None));
        let (session, unsaved) = (self.session.clone(), self.journal.unsaved().to_vec());
        let (options, routing) = (self.options.clone(), self.settings.routing.clone());
        let (show_thoughts, mode) = (self.options.think(), self.options.mode());
        let (usage, plan) = (self.core.usage().clone(), self.plan(turn, Vec::new()));
        move |io| CommandCx {
            shared,
            view,
            session,
            place,
            unsaved,
            options,
            routing,
            show_thoughts,
            skip_permissions: mode == Mode::Autonomous,
            usage,
            plan,
            io,
        }
    }

    /// What a model's turn starts from; a wish for it alone is used up.
    fn routed(&mut self, turn: TurnId, prompt: Vec<Content>, forced: Option<Forced>) -> TurnPlan {
        let model = self.options.model();
        // Nobody hands over to itself.
        let routing = self.settings.routing.clone().filter(|routing| model != Some(&routing.escalation));
        let routing = routing.map(|routing| {
            let primary = model.map_or_else(|| routing.primary.clone(), str::to_owned);
            Routing { primary, ..routing }
        });
        let desk = routing.map(|routing| self.desk.begin(routing, forced.as_ref()));
        self.show_routing();
        let prompt = forced.map_or(prompt, |forced| vec![Content::text(forced.prompt)]);
        TurnPlan { desk, ..self.plan(turn, prompt) }
    }

    fn plan(&self, turn: TurnId, prompt: Vec<Content>) -> TurnPlan {
        TurnPlan {
            session: self.session.clone(),
            turn,
            prompt,
            cwd: self.cwd.clone(),
            additional_roots: self.additional_roots.clone(),
            permissions: Permissions {
                mode: self.mode.clone(),
                grants: self.grants.clone(),
                bash_patterns: self.settings.bash_patterns.clone(),
                rules: self.settings.rules.clone(),
            },
            host: self.host_features(),
            calls: self.calls.clone(),
            model: self.options.model().map(str::to_owned),
            desk: None,
            effort: self.options.effort(),
            unsaved: self.journal.unsaved().to_vec(),
            store: Arc::clone(&self.shared.store),
            drivers: Arc::clone(&self.drivers),
            ids: Arc::clone(&self.shared.ids),
        }
    }

    fn host_features(&self) -> HostFeatures {
        let ClientFeatures { read_file, write_file, terminal, .. } = self.shared.dialect.features();
        HostFeatures { read_file, write_file, terminal }
    }

    fn send_ask(&mut self, id: AskId, ask: Ask) {
        if !self.core.is_asking(&id) {
            return;
        }
        if let Some(Outgoing { method, params }) = self.view.ask(&ask) {
            let pending = self.shared.peer.request(method, &params);
            self.questions.sent(id, ask, pending);
        } else {
            let cause = "the client shows no forms".to_owned();
            self.step(Input::Answered(id, Answer::Unanswerable(cause)));
        }
    }

    /// Has the client do something, behind all that was said before.
    fn call(&mut self, id: AskId) {
        let held = self.view.flush();
        if !held.is_empty() {
            self.queue.push_front(Out::Do(Effect::Call(id)));
            for line in held.into_iter().rev() {
                self.queue.push_front(Out::Line(line));
            }
            return;
        }
        let client = Client {
            dialect: self.shared.dialect.clone(),
            peer: self.shared.peer.clone(),
            session: self.core.handle().clone(),
        };
        self.host.send(&id, client);
    }

    /// What the client answered to a question.
    pub(super) fn returned(&mut self, returned: &Returned) {
        let outcome = returned.outcome.as_ref().map(AsRef::as_ref);
        let answer = self.view.answer(&returned.ask, outcome);
        self.step(Input::Answered(returned.id.clone(), answer));
    }

    /// Tells the head of the queue to the client, who has room for it.
    pub(super) fn tell(&mut self, permit: Permit) {
        let lines = match self.queue.pop_front() {
            Some(Out::Do(Effect::Emit(mut event))) => {
                self.gather(&mut event);
                self.view.update(&event)
            }
            Some(Out::Replay(event)) => self.view.replay(&event),
            Some(Out::Line(line)) => vec![line],
            Some(other) => {
                self.queue.push_front(other);
                return;
            }
            None => return,
        };
        let mut lines = lines.into_iter();
        if let Some(Outgoing { method, params }) = lines.next() {
            // A peer that is gone is noticed by the next wait for room.
            let _closed = self.shared.peer.notify_reserved(permit, method, &params);
        }
        for line in lines.rev() {
            self.queue.push_front(Out::Line(line));
        }
    }

    /// Merges deltas that have piled up behind this one; whatever else has piled up stays behind it.
    fn gather(&mut self, event: &mut Event) {
        while self.queue.is_empty() && text_len(event).is_some_and(|len| len < MERGED_BYTES) {
            let Some(signal) = self.turn.as_mut().and_then(RunningTurn::try_next) else { return };
            self.said(Said::Signal(signal));
            match self.queue.pop_front() {
                Some(Out::Do(Effect::Emit(next))) => {
                    if let Some(other) = merge(event, next) {
                        self.queue.push_front(Out::Do(Effect::Emit(other)));
                    }
                }
                Some(other) => self.queue.push_front(other),
                None => {}
            }
        }
    }

    /// What the turn said.
    pub(super) fn said(&mut self, said: Said) {
        match said {
            Said::Signal(TurnSignal::Event(event)) => self.step(Input::Emitted(event)),
            Said::Signal(TurnSignal::Ask(ask, answer)) => {
                let id = self.ask_id();
                self.questions.expect(id.clone(), answer);
                self.step(Input::Asked(id, ask));
            }
            Said::Signal(TurnSignal::Host(call, answer)) => {
                let id = self.ask_id();
                self.host.expect(id.clone(), call, answer);
                self.step(Input::Called(id));
            }
            Said::Signal(TurnSignal::Granted(grant)) => {
                self.grants.push(grant);
                let grants = Some(self.grants.clone());
                self.queue.push_back(Out::Update(MetaPatch { grants, ..MetaPatch::default() }));
            }
            Said::Over(outcome, changes) => {
                self.turn = None;
                for change in changes {
                    self.change(change);
                }
                self.desk.ended(self.core.model_turn().cloned());
                self.step(Input::Ended(outcome));
            }
        }
    }
}

fn text_len(event: &Event) -> Option<usize> {
    match event {
        Event::MessageDelta { content, .. } => content.as_text().map(str::len),
        Event::Message { .. }
        | Event::ToolCall(_)
        | Event::ToolOutput { .. }
        | Event::Terminal(_)
        | Event::TerminalOutput { .. }
        | Event::Plan(_)
        | Event::PlanRemoved(_)
        | Event::Compaction(_)
        | Event::Spent(_)
        | Event::Usage(_)
        | Event::Commands(_)
        | Event::Options(_)
        | Event::Title(_)
        | Event::Foreground(_)
        | Event::Routed(_)
        | Event::Warning(_)
        | Event::Notice(_)
        | Event::Remark { .. }
        | Event::ReplayComplete => None,
    }
}
