//! The rules of one session, as a pure function from inputs to effects: which prompt runs, what is told in which
//! order, what is kept before it is told, how a turn ends.
//!
//! Has no clock, no I/O, no channels and no randomness, and knows no protocol version.

use std::collections::{HashMap, VecDeque};

use session_model::{
    Answer, Ask, AskId, Compaction, CompactionState, Content, ContextUsage, Event, Foreground, Item,
    MessageId, Role, Route, SessionId, SessionUsage, StopReason, TerminalExit, TerminalUpdate, TokenUsage,
    ToolCallUpdate, ToolStatus, TurnFailure, TurnId,
};
use session_store::fold::Folder;

use crate::command::Ack;
use crate::session::segment::Segments;

/// Names a request that waits for its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ReplyId(pub(crate) u64);

/// A prompt as it reached the session, with ids minted for it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NewPrompt {
    pub(crate) reply: ReplyId,
    /// The handle under which the client follows the turn.
    pub(crate) handle: SessionId,
    pub(crate) content: Vec<Content>,
    pub(crate) ack: Ack,
    pub(crate) key: Option<String>,
    pub(crate) message: MessageId,
    pub(crate) turn: TurnId,
    /// It is a command of milk's own: told, and kept nowhere.
    pub(crate) local: bool,
}

/// How a turn ended, as its task reports it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Outcome {
    /// It came to its end.
    Done { stop: StopReason, usage: Option<TokenUsage> },
    /// It was cancelled before.
    Interrupted,
    /// It failed.
    Failed(TurnFailure),
}

/// Everything that can make a session do something.
#[derive(Debug)]
pub(crate) enum Input {
    /// A prompt arrived.
    Prompt(NewPrompt),
    /// The client withdrew a request.
    Withdrawn(ReplyId),
    /// The client cancelled, or the session is closing.
    Cancel,
    /// The turn said something.
    Emitted(Event),
    /// The turn asks the user.
    Asked(AskId, Ask),
    /// The turn wants the client to do something in our place.
    Called(AskId),
    /// The user answered.
    Answered(AskId, Answer),
    /// The turn is over.
    Ended(Outcome),
    /// Whether reasoning is shown.
    ShowThoughts(bool),
    /// Another session is shown from now on; the messages inserted under a key there, and what it consumed.
    Bound(Vec<(String, MessageId)>, SessionUsage),
    /// The client follows the session under this handle.
    Attached(SessionId),
}

/// What the actor has to do. `CancelTurn`, `Withdraw`, `Settle` and `Forgo` are done at once, everything else in order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Effect {
    /// Keep these items; what follows waits until they are safe.
    Persist(TurnId, Vec<Item>),
    /// Keep what the session consumed by now.
    KeepUsage(SessionUsage),
    /// Speak to the client under this handle.
    Speak(SessionId),
    /// Tell the client.
    Emit(Event),
    /// The prompt is part of the conversation.
    Inserted(ReplyId, MessageId),
    /// Answer a prompt whose turn ended.
    Finish { reply: ReplyId, message: MessageId, stop: StopReason, usage: Option<TokenUsage> },
    /// Answer a prompt whose turn failed.
    Fail(ReplyId, TurnFailure),
    /// Answer a prompt that was never inserted: cancelled.
    Refuse(ReplyId),
    /// Run the turn.
    Start(TurnId, Vec<Content>),
    /// Ask the client.
    SendAsk(AskId, Ask),
    /// Have the client do this.
    Call(AskId),
    /// Do not have it done: the turn is being interrupted.
    Forgo(AskId),
    /// Interrupt the running turn.
    CancelTurn,
    /// Take a question back at the client.
    Withdraw(AskId),
    /// Give the turn its answer.
    Settle(AskId, Answer),
}

impl Effect {
    /// Whether it must not wait behind unsent updates.
    pub(crate) fn is_urgent(&self) -> bool {
        match self {
            Self::CancelTurn | Self::Withdraw(_) | Self::Settle(..) | Self::Forgo(_) => true,
            Self::Persist(..)
            | Self::KeepUsage(_)
            | Self::Speak(_)
            | Self::Emit(_)
            | Self::Inserted(..)
            | Self::Finish { .. }
            | Self::Fail(..)
            | Self::Refuse(_)
            | Self::Start(..)
            | Self::SendAsk(..)
            | Self::Call(_) => false,
        }
    }
}

#[derive(Debug)]
struct Running {
    turn: TurnId,
    message: MessageId,
    /// Who waits for the end; nobody once answered at insertion.
    waiting: Vec<ReplyId>,
    folder: Folder,
    segments: Segments,
    asks: Vec<AskId>,
    /// Terminals of ours in which a command runs.
    terminals: Vec<TerminalUpdate>,
    route: Option<Route>,
    cancelled: bool,
    local: bool,
    /// It consumed something.
    spent: bool,
}

#[derive(Debug)]
struct Held {
    prompt: NewPrompt,
    /// Retries under the same key, to be answered alike.
    others: Vec<(ReplyId, Ack)>,
}

/// The state of one session.
#[derive(Debug)]
pub(crate) struct Core {
    /// The handle under which the client is spoken to.
    handle: SessionId,
    running: Option<Running>,
    held: VecDeque<Held>,
    /// Messages inserted under an idempotency key.
    inserted: HashMap<String, MessageId>,
    usage: SessionUsage,
    show_thoughts: bool,
    by_segment: bool,
    withdrawing_cancels: bool,
}

/// What a session's rules depend on.
#[derive(Debug)]
pub(crate) struct Terms {
    /// The handle the client knows first.
    pub(crate) handle: SessionId,
    /// Whether reasoning is shown.
    pub(crate) show_thoughts: bool,
    /// Whether text is told by segment.
    pub(crate) by_segment: bool,
    /// Whether withdrawing a prompt's request ends its turn.
    pub(crate) withdrawing_cancels: bool,
    /// The keys of stored messages.
    pub(crate) inserted: HashMap<String, MessageId>,
    /// What the session consumed already.
    pub(crate) usage: SessionUsage,
}

impl Core {
    /// A session at rest.
    pub(crate) fn new(terms: Terms) -> Self {
        let Terms { handle, show_thoughts, by_segment, withdrawing_cancels, inserted, usage } = terms;
        Self {
            handle,
            running: None,
            held: VecDeque::new(),
            inserted,
            usage,
            show_thoughts,
            by_segment,
            withdrawing_cancels,
        }
    }

    /// What the session as a whole is doing.
    pub(crate) fn foreground(&self) -> Foreground {
        match &self.running {
            None => Foreground::Idle { stop: None, error: None, route: None },
            Some(running) if running.asks.is_empty() => Foreground::Running,
            Some(_) => Foreground::RequiresAction,
        }
    }

    /// What the session consumed so far.
    pub(crate) fn usage(&self) -> &SessionUsage {
        &self.usage
    }

    /// The handle under which the client is spoken to.
    pub(crate) fn handle(&self) -> &SessionId {
        &self.handle
    }

    /// Whether nothing runs and nothing waits to run.
    pub(crate) fn is_idle(&self) -> bool {
        self.running.is_none() && self.held.is_empty()
    }

    /// Whether the running turn has been cancelled.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.running.as_ref().is_some_and(|running| running.cancelled)
    }

    /// The running turn, when a model answers it.
    pub(crate) fn model_turn(&self) -> Option<&TurnId> {
        self.running.as_ref().filter(|running| !running.local).map(|running| &running.turn)
    }

    /// Whether this question still waits for its answer.
    pub(crate) fn is_asking(&self, id: &AskId) -> bool {
        self.running.as_ref().is_some_and(|running| running.asks.contains(id))
    }

    /// The one way the state changes.
    pub(crate) fn step(&mut self, input: Input) -> Vec<Effect> {
        let mut out = Vec::new();
        match input {
            Input::Prompt(prompt) => self.prompt(prompt, &mut out),
            Input::Withdrawn(reply) => self.withdrawn(reply, &mut out),
            Input::Cancel => self.cancel(&mut out),
            Input::Emitted(event) => self.emitted(event, &mut out),
            Input::Asked(id, ask) => self.asked(id, ask, &mut out),
            Input::Called(id) => self.called(id, &mut out),
            Input::Answered(id, answer) => self.answered(id, answer, &mut out),
            Input::Ended(outcome) => self.ended(outcome, &mut out),
            Input::ShowThoughts(show) => self.show_thoughts = show,
            // A retry may come from before the move: what was inserted here first stays known.
            Input::Bound(inserted, usage) => {
                self.usage = usage;
                for (key, message) in inserted {
                    self.inserted.entry(key).or_insert(message);
                }
            }
            Input::Attached(handle) => self.speak(handle, &mut out),
        }
        out
    }

    fn speak(&mut self, handle: SessionId, out: &mut Vec<Effect>) {
        if self.handle != handle {
            self.handle = handle.clone();
            out.push(Effect::Speak(handle));
        }
    }

    fn prompt(&mut self, prompt: NewPrompt, out: &mut Vec<Effect>) {
        if let Some(key) = &prompt.key {
            if let Some(message) = self.inserted.get(key) {
                out.push(Effect::Inserted(prompt.reply, message.clone()));
                return;
            }
            if let Some(held) = self.held.iter_mut().find(|held| held.prompt.key.as_ref() == Some(key)) {
                held.others.push((prompt.reply, prompt.ack));
                return;
            }
        }
        self.held.push_back(Held { prompt, others: Vec::new() });
        if self.running.is_none() {
            self.insert_next(out);
        }
    }

    fn insert_next(&mut self, out: &mut Vec<Effect>) {
        let Some(Held { prompt, others }) = self.held.pop_front() else { return };
        let NewPrompt { reply, handle, content, ack, key, message, turn, local } = prompt;
        self.speak(handle, out);
        if let Some(key) = &key {
            self.inserted.insert(key.clone(), message.clone());
        }
        if !local {
            let user = Item::User { id: message.clone(), content: content.clone(), key };
            out.push(Effect::Persist(turn.clone(), vec![user]));
        }
        let echo = Event::Message { id: message.clone(), role: Role::User, content: content.clone() };
        out.push(Effect::Emit(echo));
        out.push(Effect::Emit(Event::Foreground(Foreground::Running)));
        let mut waiting = Vec::new();
        for (reply, ack) in [(reply, ack)].into_iter().chain(others) {
            match ack {
                Ack::Insertion => out.push(Effect::Inserted(reply, message.clone())),
                Ack::TurnEnd => waiting.push(reply),
            }
        }
        out.push(Effect::Start(turn.clone(), content));
        self.running = Some(Running {
            turn,
            message,
            waiting,
            folder: Folder::new(),
            segments: Segments::new(self.by_segment),
            asks: Vec::new(),
            terminals: Vec::new(),
            route: None,
            cancelled: false,
            local,
            spent: false,
        });
    }

    /// A held prompt is taken back; a running one is cancelled where the version says so, and always answered.
    fn withdrawn(&mut self, reply: ReplyId, out: &mut Vec<Effect>) {
        if let Some(at) = self.held.iter().position(|held| held.prompt.reply == reply) {
            let others = self.held.get_mut(at).map(|held| std::mem::take(&mut held.others));
            match others.filter(|others| !others.is_empty()) {
                Some(mut others) => {
                    let (next, ack) = others.remove(0);
                    if let Some(held) = self.held.get_mut(at) {
                        held.prompt.reply = next;
                        held.prompt.ack = ack;
                        held.others = others;
                    }
                }
                None => drop(self.held.remove(at)),
            }
            out.push(Effect::Refuse(reply));
            return;
        }
        if let Some(held) = self.held.iter_mut().find(|held| held.others.iter().any(|(id, _)| *id == reply)) {
            held.others.retain(|(id, _)| *id != reply);
            out.push(Effect::Refuse(reply));
            return;
        }
        let waits = self.running.as_ref().is_some_and(|running| running.waiting.contains(&reply));
        if waits && self.withdrawing_cancels {
            self.cancel_running(out);
        }
    }

    fn cancel(&mut self, out: &mut Vec<Effect>) {
        self.cancel_running(out);
        for held in self.held.drain(..) {
            out.push(Effect::Refuse(held.prompt.reply));
            out.extend(held.others.into_iter().map(|(reply, _)| Effect::Refuse(reply)));
        }
    }

    /// The turn sees the cancellation before its questions are settled, or a tool would report a refusal that
    /// nobody made.
    fn cancel_running(&mut self, out: &mut Vec<Effect>) {
        let Some(running) = &mut self.running else { return };
        if std::mem::replace(&mut running.cancelled, true) {
            return;
        }
        out.push(Effect::CancelTurn);
        for ask in running.asks.drain(..) {
            out.push(Effect::Withdraw(ask.clone()));
            out.push(Effect::Settle(ask, Answer::Cancelled));
        }
    }

    fn emitted(&mut self, mut event: Event, out: &mut Vec<Effect>) {
        let show_thoughts = self.show_thoughts;
        let Some(running) = &mut self.running else { return };
        if let Event::Spent(spent) = &event {
            self.usage.add(spent);
            running.spent = true;
        }
        if let Event::Usage(context) = &mut event {
            let now = Some(ContextUsage { cost: None, ..context.clone() });
            running.spent |= now != self.usage.context;
            self.usage.context = now;
            context.cost = self.usage.cost();
        }
        // Also after a cancel: a tool that finished before it saw the cancel did finish.
        if let Event::Routed(route) = &event {
            running.route = Some(Route { conclusive: None, ..route.clone() });
        }
        if let Event::Terminal(terminal) = &event {
            running.remember(terminal);
        }
        running.tell(event, show_thoughts, out);
    }

    fn asked(&mut self, id: AskId, ask: Ask, out: &mut Vec<Effect>) {
        let Some(running) = self.running.as_mut().filter(|running| !running.cancelled) else {
            out.push(Effect::Settle(id, Answer::Cancelled));
            return;
        };
        running.flush(out);
        if running.asks.is_empty() {
            out.push(Effect::Emit(Event::Foreground(Foreground::RequiresAction)));
        }
        running.asks.push(id.clone());
        out.push(Effect::SendAsk(id, ask));
    }

    /// Unlike a question, this is nothing that the turn waits for the user with.
    fn called(&mut self, id: AskId, out: &mut Vec<Effect>) {
        match self.running.as_mut().filter(|running| !running.cancelled) {
            Some(running) => {
                running.flush(out);
                out.push(Effect::Call(id));
            }
            None => out.push(Effect::Forgo(id)),
        }
    }

    fn answered(&mut self, id: AskId, answer: Answer, out: &mut Vec<Effect>) {
        let Some(running) = &mut self.running else { return };
        let Some(at) = running.asks.iter().position(|open| *open == id) else { return };
        running.asks.remove(at);
        if running.asks.is_empty() {
            out.push(Effect::Emit(Event::Foreground(Foreground::Running)));
        }
        out.push(Effect::Settle(id, answer));
    }

    fn ended(&mut self, outcome: Outcome, out: &mut Vec<Effect>) {
        let show_thoughts = self.show_thoughts;
        let Some(mut running) = self.running.take() else { return };
        for ask in std::mem::take(&mut running.asks) {
            out.push(Effect::Withdraw(ask.clone()));
            out.push(Effect::Settle(ask, Answer::Cancelled));
        }
        let (stop, usage, error) = match outcome {
            // Whatever the driver made of it, the user cancelled.
            Outcome::Done { usage, .. } if running.cancelled => (StopReason::Cancelled, usage, None),
            Outcome::Done { stop, usage } => (stop, usage, None),
            Outcome::Interrupted => (StopReason::Cancelled, None, None),
            Outcome::Failed(_) if running.cancelled => (StopReason::Cancelled, None, None),
            Outcome::Failed(failure) => (StopReason::Error, None, Some(failure)),
        };
        running.flush(out);
        for terminal in std::mem::take(&mut running.terminals) {
            running.tell(Event::Terminal(terminal), show_thoughts, out);
        }
        for open in running.folder.open_tools() {
            let mut update = ToolCallUpdate::new(open.id);
            update.status = Some(ToolStatus::Cancelled);
            update.cancellable = Some(false);
            running.tell(Event::ToolCall(update), show_thoughts, out);
        }
        if let Some(id) = running.folder.open_compaction().cloned() {
            let ended = Compaction { id, requested: running.local, state: CompactionState::Cancelled };
            running.tell(Event::Compaction(ended), show_thoughts, out);
        }
        let mut items = running.folder.finish();
        items.push(Item::TurnEnd { stop, error: error.clone(), route: running.route.clone() });
        running.keep(items, out);
        if running.spent {
            out.push(Effect::KeepUsage(self.usage.clone()));
        }
        let idle = Foreground::Idle { stop: Some(stop), error: error.clone(), route: running.route };
        out.push(Effect::Emit(Event::Foreground(idle)));
        for reply in running.waiting {
            out.push(match &error {
                Some(failure) => Effect::Fail(reply, failure.clone()),
                None => Effect::Finish { reply, message: running.message.clone(), stop, usage },
            });
        }
        self.insert_next(out);
    }
}

impl Running {
    /// Whatever ends a turn ends the commands in its terminals, and their last update is at hand.
    fn remember(&mut self, terminal: &TerminalUpdate) {
        if terminal.exit.is_some() {
            self.terminals.retain(|open| open.id != terminal.id);
        } else if terminal.command.is_some() {
            let exit = Some(TerminalExit::default());
            self.terminals.push(TerminalUpdate {
                command: None,
                cwd: None,
                output: None,
                exit,
                ..terminal.clone()
            });
        }
    }

    /// Keeps what the event completes, then tells it; text by segment waits for the segment's end.
    fn tell(&mut self, event: Event, show_thoughts: bool, out: &mut Vec<Effect>) {
        let items = self.folder.event(&event);
        self.keep(items, out);
        let hidden = matches!(
            event,
            Event::MessageDelta { role: Role::Thought, .. } | Event::Message { role: Role::Thought, .. }
        ) && !show_thoughts;
        if !hidden {
            out.extend(self.segments.pass(event).into_iter().map(Effect::Emit));
        }
    }

    /// Of a command nothing is kept but a summary, which is for the turns to come.
    fn keep(&self, mut items: Vec<Item>, out: &mut Vec<Effect>) {
        items.retain(|item| !self.local || matches!(item, Item::Compaction { .. }));
        if !items.is_empty() {
            out.push(Effect::Persist(self.turn.clone(), items));
        }
    }

    fn flush(&mut self, out: &mut Vec<Effect>) {
        out.extend(self.segments.flush().map(Effect::Emit));
    }
}

#[cfg(test)]
mod tests;
