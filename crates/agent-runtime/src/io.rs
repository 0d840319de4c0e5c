//! The turn's one way out: an ordered, bounded channel of signals, and waits that end when the turn is cancelled.
//!
//! Knows nothing of who listens.

mod sieve;

use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use session_model::{Answer, Ask, Event, Grant, Role};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

pub use sieve::Sieve;

use sieve::Sieving;

use crate::host::{HostCall, HostError, HostReply};

/// How many signals may wait unread. Small, so that a slow client stops the model soon; more than one, so that
/// a burst of deltas costs one switch of tasks.
pub const SIGNAL_QUEUE: usize = 16;

/// One thing a turn says, in order.
#[derive(Debug)]
pub enum TurnSignal {
    /// Something happened.
    Event(Event),
    /// The user is asked. Rides the same channel, so that all said before is told before.
    Ask(Ask, oneshot::Sender<Answer>),
    /// The client is to do something in our place. Rides the same channel for the same reason. A listener that gives
    /// up the answer's sender has given up the call; a dropped receiver means that the answer is no longer wanted.
    Host(HostCall, oneshot::Sender<Result<HostReply, HostError>>),
    /// The user gave a permission for the rest of the session; it is to be kept.
    Granted(Grant),
}

/// The turn was cancelled, or nobody listens any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the turn was interrupted")]
pub struct Interrupted;

/// The turn's side of the channel. Clones share it; the turn ends when the last one is dropped.
#[derive(Debug, Clone)]
pub struct TurnIo {
    signals: mpsc::Sender<TurnSignal>,
    cancel: CancellationToken,
    /// How many signals were sent, by all clones.
    sent: Arc<AtomicU64>,
    /// How many the listener has dealt with, where it says so.
    taken: Option<watch::Receiver<u64>>,
    /// This part of the turn, for all clones.
    part: Arc<Part>,
    /// What the agent's text goes through, where it does.
    sieve: Option<Arc<Mutex<Sieving>>>,
}

/// One agent's part of a turn.
#[derive(Debug, Default)]
struct Part {
    /// Whether anything of an answer was said.
    answered: AtomicBool,
    /// What is said before the agent's first word.
    opening: Mutex<Option<Event>>,
}

/// The end of a listener who says when a signal was dealt with: by asking for the next one.
#[derive(Debug)]
pub struct TurnSignals {
    signals: mpsc::Receiver<TurnSignal>,
    received: u64,
    taken: watch::Sender<u64>,
}

impl TurnSignals {
    /// The next signal; `None` when the turn is over. Asking says that all signals received before, by this or by
    /// [`Self::try_recv`], were dealt with: kept, if they are to be kept. Cancel safe.
    pub async fn recv(&mut self) -> Option<TurnSignal> {
        self.taken.send_replace(self.received);
        let signal = self.signals.recv().await?;
        self.received += 1;
        Some(signal)
    }

    /// A signal that waits already. Says nothing of those before.
    pub fn try_recv(&mut self) -> Option<TurnSignal> {
        let signal = self.signals.try_recv().ok()?;
        self.received += 1;
        Some(signal)
    }
}

impl TurnIo {
    /// A channel for one turn that `cancel` interrupts, and the listener's end.
    #[must_use]
    pub fn channel(cancel: CancellationToken) -> (Self, mpsc::Receiver<TurnSignal>) {
        let (signals, listener) = mpsc::channel(SIGNAL_QUEUE);
        let (sent, part) = (Arc::default(), Arc::default());
        let io = Self { signals, cancel, sent, taken: None, part, sieve: None };
        (io, listener)
    }

    /// The same, with a listener who says what was dealt with, so that [`Self::settled`] can wait for it.
    #[must_use]
    pub fn acknowledged(cancel: CancellationToken) -> (Self, TurnSignals) {
        let (io, signals) = Self::channel(cancel);
        let (taken, watched) = watch::channel(0);
        let listener = TurnSignals { signals, received: 0, taken };
        (Self { taken: Some(watched), ..io }, listener)
    }

    /// Says that something happened. Waits while the listener is busy: this is how a slow client slows the model.
    ///
    /// # Errors
    /// [`Interrupted`] once the turn is cancelled.
    pub async fn emit(&self, event: Event) -> Result<(), Interrupted> {
        let Some(sieve) = &self.sieve else { return self.say(event).await };
        let events = sieve.lock().unwrap_or_else(PoisonError::into_inner).sift(event);
        for event in events {
            self.say(event).await?;
        }
        Ok(())
    }

    /// The same way out, on which the agent's text goes through `sieve`. What that still holds when the agent has said
    /// all is said by [`Self::drain`].
    #[must_use]
    pub fn sieved(&self, sieve: Box<dyn Sieve>) -> Self {
        Self { sieve: Some(Arc::new(Mutex::new(Sieving::new(sieve)))), ..self.clone() }
    }

    /// Says what the sieve still holds.
    ///
    /// # Errors
    /// [`Interrupted`] once the turn is cancelled.
    pub async fn drain(&self) -> Result<(), Interrupted> {
        let Some(sieve) = &self.sieve else { return Ok(()) };
        let held = sieve.lock().unwrap_or_else(PoisonError::into_inner).rest();
        match held {
            Some(event) => self.say(event).await,
            None => Ok(()),
        }
    }

    async fn say(&self, event: Event) -> Result<(), Interrupted> {
        let says = says(&event);
        if says != Says::Nothing {
            let opening = self.part.opening.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(opening) = opening {
                self.send(TurnSignal::Event(opening)).await?;
            }
        }
        self.send(TurnSignal::Event(event)).await?;
        self.part.answered.fetch_or(says == Says::Answer, Ordering::Relaxed);
        Ok(())
    }

    /// The same way out, for another part of the turn, which has said nothing yet. Its first word comes behind
    /// `opening`; when it says nothing, neither is that.
    #[must_use]
    pub fn apart(&self, opening: Option<Event>) -> Self {
        let part = Part { answered: AtomicBool::new(false), opening: Mutex::new(opening) };
        Self { part: Arc::new(part), ..self.clone() }
    }

    /// Whether anything of an answer was said in this turn, or this part of it: text, or a tool's row. Until then another agent may
    /// answer in this one's place and nobody sees a difference; thoughts and notices do not count.
    #[must_use]
    pub fn has_answered(&self) -> bool {
        self.part.answered.load(Ordering::Relaxed)
    }

    /// Keeps a permission for the rest of the session.
    ///
    /// # Errors
    /// [`Interrupted`] once the turn is cancelled.
    pub async fn granted(&self, grant: Grant) -> Result<(), Interrupted> {
        self.send(TurnSignal::Granted(grant)).await
    }

    /// Asks the user and waits for the answer.
    ///
    /// # Errors
    /// [`Interrupted`] once the turn is cancelled; the question is then withdrawn by the listener.
    pub async fn ask(&self, ask: Ask) -> Result<Answer, Interrupted> {
        let answered = self.put(ask).await?;
        self.or_cancelled(answered).await?.map_err(|_| Interrupted)
    }

    /// Says what another turn says, with whoever waits for the answer there.
    pub(crate) async fn pass_on(&self, signal: TurnSignal) -> Result<(), Interrupted> {
        self.send(signal).await
    }

    /// Asks the user; the answer is waited for elsewhere.
    pub(crate) async fn put(&self, ask: Ask) -> Result<oneshot::Receiver<Answer>, Interrupted> {
        self.drain().await?;
        let (answer, answered) = oneshot::channel();
        self.send(TurnSignal::Ask(ask, answer)).await?;
        Ok(answered)
    }

    /// Has the client do something and waits until it is done. Dropping the future gives the call up.
    ///
    /// # Errors
    /// What the client said; [`HostError::Interrupted`] once the turn is cancelled.
    pub async fn host(&self, call: HostCall) -> Result<HostReply, HostError> {
        let (answer, answered) = oneshot::channel();
        self.send(TurnSignal::Host(call, answer)).await.map_err(|Interrupted| HostError::Interrupted)?;
        match self.or_cancelled(answered).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) | Err(Interrupted) => Err(HostError::Interrupted),
        }
    }

    /// Waits until the listener has dealt with everything sent so far: what must be kept is kept then. A listener
    /// who does not say so (see [`Self::channel`]) is not waited for.
    ///
    /// # Errors
    /// [`Interrupted`] once the turn is cancelled or nobody listens any more.
    pub async fn settled(&self) -> Result<(), Interrupted> {
        let Some(taken) = &self.taken else { return Ok(()) };
        let sent = self.sent.load(Ordering::Acquire);
        let mut taken = taken.clone();
        let settled = self.or_cancelled(taken.wait_for(|taken| *taken >= sent)).await?;
        settled.map(drop).map_err(|_| Interrupted)
    }

    /// Runs `work` until it is done or the turn is cancelled.
    ///
    /// # Errors
    /// [`Interrupted`] once the turn is cancelled; `work` is then dropped.
    pub async fn or_cancelled<F: Future>(&self, work: F) -> Result<F::Output, Interrupted> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(Interrupted),
            output = work => Ok(output),
        }
    }

    /// Like [`Self::or_cancelled`], but `work` has `grace` after the cancellation to end by itself.
    ///
    /// # Errors
    /// [`Interrupted`] when the grace has passed.
    pub async fn with_grace<F: Future>(&self, grace: Duration, work: F) -> Result<F::Output, Interrupted> {
        tokio::pin!(work);
        tokio::select! {
            biased;
            output = &mut work => return Ok(output),
            () = self.cancel.cancelled() => {}
        }
        tokio::time::timeout(grace, work).await.map_err(|_| Interrupted)
    }

    /// The turn's cancellation.
    #[must_use]
    pub fn cancel_token(&self) -> &CancellationToken {
        &self.cancel
    }

    async fn send(&self, signal: TurnSignal) -> Result<(), Interrupted> {
        let place = self.or_cancelled(self.signals.reserve()).await?.map_err(|_| Interrupted)?;
        // Counted before it can be received, so that it is never dealt with before it was sent.
        self.sent.fetch_add(1, Ordering::Release);
        place.send(signal);
        Ok(())
    }
}

/// What an event is of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Says {
    /// No part of it.
    Nothing,
    /// A thought that leads to it.
    Thought,
    /// A part of it.
    Answer,
}

fn says(event: &Event) -> Says {
    match event {
        Event::Message { role: Role::Thought, .. } | Event::MessageDelta { role: Role::Thought, .. } => {
            Says::Thought
        }
        Event::Message { .. }
        | Event::MessageDelta { .. }
        | Event::ToolCall(_)
        | Event::ToolOutput { .. }
        | Event::Terminal(_)
        | Event::TerminalOutput { .. }
        | Event::Plan(_) => Says::Answer,
        Event::PlanRemoved(_)
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
        | Event::ReplayComplete => Says::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use session_model::{ElicitAsk, GrantScope, MessageId, Role};
    use tokio::time::Instant;

    use super::*;

    fn delta(text: &str) -> Event {
        let content = session_model::Content::text(text);
        Event::MessageDelta { id: MessageId::from("m"), role: Role::Agent, content }
    }

    fn question() -> Ask {
        Ask::Elicit(ElicitAsk {
            message: "which?".to_owned(),
            tool_call: None,
            schema: serde_json::json!({}),
        })
    }

    #[tokio::test(start_paused = true)]
    async fn signals_arrive_in_the_order_in_which_they_were_said() {
        let (io, mut listener) = TurnIo::channel(CancellationToken::new());
        let speak = async {
            io.emit(delta("a")).await.unwrap();
            let grant = Grant { tool: "t".to_owned(), scope: GrantScope::Tool };
            io.granted(grant).await.unwrap();
            let answer = io.ask(question()).await.unwrap();
            io.emit(delta("b")).await.unwrap();
            drop(io);
            answer
        };
        let listen = async {
            let mut heard = Vec::new();
            while let Some(signal) = listener.recv().await {
                heard.push(match signal {
                    TurnSignal::Event(event) => format!("{:?}", event == delta("a")),
                    TurnSignal::Granted(grant) => grant.tool,
                    TurnSignal::Host(call, _) => format!("{call:?}"),
                    TurnSignal::Ask(ask, answer) => {
                        answer.send(Answer::Declined).unwrap();
                        format!("{:?}", ask == question())
                    }
                });
            }
            heard
        };
        let (answer, heard) = tokio::join!(speak, listen);
        assert_eq!(answer, Answer::Declined);
        assert_eq!(heard, ["true", "t", "true", "false"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_listener_that_does_not_read_holds_the_speaker_until_the_cancel() {
        let cancel = CancellationToken::new();
        let (io, mut listener) = TurnIo::channel(cancel.clone());
        for _ in 0..SIGNAL_QUEUE {
            io.emit(delta("a")).await.unwrap();
        }
        let waits = tokio::time::timeout(Duration::from_mins(1), io.emit(delta("b"))).await;
        assert!(waits.is_err(), "the queue is full");
        let (blocked, ()) = tokio::join!(io.emit(delta("c")), async { cancel.cancel() });
        assert_eq!(blocked, Err(Interrupted));
        drop(io);
        let mut heard = 0;
        while let Some(signal) = listener.recv().await {
            assert!(matches!(signal, TurnSignal::Event(event) if event == delta("a")));
            heard += 1;
        }
        assert_eq!(heard, SIGNAL_QUEUE);
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_is_said_after_a_cancel_though_there_is_room() {
        let cancel = CancellationToken::new();
        let (io, mut listener) = TurnIo::channel(cancel.clone());
        cancel.cancel();
        assert_eq!(io.emit(delta("a")).await, Err(Interrupted));
        assert_eq!(io.ask(question()).await, Err(Interrupted));
        drop(io);
        assert!(listener.recv().await.is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_part_of_a_turn_opens_with_its_first_word_and_knows_whether_it_spoke() {
        let (io, mut listener) = TurnIo::channel(CancellationToken::new());
        let opening = || Some(Event::Title(Some("opening".to_owned())));
        let said = |role| Event::MessageDelta {
            id: MessageId::from("m"),
            role,
            content: session_model::Content::text("x"),
        };
        let silent = io.apart(opening());
        silent.emit(Event::ReplayComplete).await.unwrap();
        assert!(!silent.has_answered());
        let part = io.apart(opening());
        part.clone().emit(said(Role::Thought)).await.unwrap();
        assert!(!part.has_answered(), "a thought is no answer");
        part.clone().emit(said(Role::Agent)).await.unwrap();
        assert!(part.has_answered() && !io.has_answered() && !silent.has_answered());
        drop((io, part, silent));
        let mut heard = Vec::new();
        while let Some(TurnSignal::Event(event)) = listener.recv().await {
            heard.push(event);
        }
        let order = [Event::ReplayComplete, Event::Title(Some("opening".to_owned()))];
        assert_eq!(heard[..2], order);
        assert_eq!(heard[2..], [said(Role::Thought), said(Role::Agent)]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_whose_answer_is_thrown_away_interrupts() {
        let (io, mut listener) = TurnIo::channel(CancellationToken::new());
        let (answer, ()) = tokio::join!(io.ask(question()), async { drop(listener.recv().await) });
        assert_eq!(answer, Err(Interrupted));
        drop(listener);
        assert_eq!(io.emit(delta("a")).await, Err(Interrupted));
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_said_is_settled_when_the_listener_asks_for_more() {
        let (io, mut listener) = TurnIo::acknowledged(CancellationToken::new());
        io.settled().await.unwrap();
        io.emit(delta("a")).await.unwrap();
        io.emit(delta("b")).await.unwrap();
        let waits = async || tokio::time::timeout(Duration::from_secs(1), io.settled()).await.is_err();
        assert!(waits().await, "nothing was received");
        assert!(listener.recv().await.is_some());
        assert!(listener.try_recv().is_some());
        assert!(waits().await, "received is not dealt with");
        let (settled, more) = tokio::join!(io.settled(), async {
            tokio::time::timeout(Duration::from_secs(1), listener.recv()).await.is_ok()
        });
        assert_eq!((settled, more), (Ok(()), false));
        io.emit(delta("c")).await.unwrap();
        drop(listener);
        assert_eq!(io.settled().await, Err(Interrupted));
    }

    #[tokio::test(start_paused = true)]
    async fn a_listener_that_says_nothing_is_not_waited_for_and_a_cancel_ends_the_wait() {
        let (io, _listener) = TurnIo::channel(CancellationToken::new());
        io.emit(delta("a")).await.unwrap();
        assert_eq!(io.settled().await, Ok(()));
        let cancel = CancellationToken::new();
        let (io, _listener) = TurnIo::acknowledged(cancel.clone());
        io.emit(delta("a")).await.unwrap();
        let (settled, ()) = tokio::join!(io.settled(), async { cancel.cancel() });
        assert_eq!(settled, Err(Interrupted));
    }

    #[tokio::test(start_paused = true)]
    async fn work_that_is_done_counts_though_a_cancel_came_with_it_only_under_grace() {
        let cancel = CancellationToken::new();
        let (io, _listener) = TurnIo::channel(cancel.clone());
        cancel.cancel();
        assert_eq!(io.or_cancelled(async { 1 }).await, Err(Interrupted));
        assert_eq!(io.with_grace(Duration::ZERO, async { 1 }).await, Ok(1));
    }

    #[tokio::test(start_paused = true)]
    async fn grace_begins_with_the_cancel_and_lasts_exactly_so_long() {
        const GRACE: Duration = Duration::from_millis(500);
        for (work, expected, took) in [(400, Ok(()), 400), (600, Err(Interrupted), 500)] {
            let cancel = CancellationToken::new();
            let (io, _listener) = TurnIo::channel(cancel.clone());
            let began = Instant::now();
            let working = async {
                cancel.cancelled().await;
                tokio::time::sleep(Duration::from_millis(work)).await;
            };
            let (result, ()) = tokio::join!(io.with_grace(GRACE, working), async {
                tokio::time::sleep(Duration::from_secs(9)).await;
                cancel.cancel();
            });
            assert_eq!(result, expected);
            assert_eq!(began.elapsed(), Duration::from_millis(9_000 + took));
        }
    }
}
