//! The turn's one way out: an ordered, bounded channel of signals, and waits that end when the turn is cancelled.
//!
//! Knows nothing of who listens.

use std::future::Future;
use std::time::Duration;

use session_model::{Answer, Ask, Event, Grant};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

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
}

impl TurnIo {
    /// A channel for one turn that `cancel` interrupts, and the listener's end.
    #[must_use]
    pub fn channel(cancel: CancellationToken) -> (Self, mpsc::Receiver<TurnSignal>) {
        let (signals, listener) = mpsc::channel(SIGNAL_QUEUE);
        (Self { signals, cancel }, listener)
    }

    /// Says that something happened. Waits while the listener is busy: this is how a slow client slows the model.
    ///
    /// # Errors
    /// [`Interrupted`] once the turn is cancelled.
    pub async fn emit(&self, event: Event) -> Result<(), Interrupted> {
        self.send(TurnSignal::Event(event)).await
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
        let (answer, answered) = oneshot::channel();
        self.send(TurnSignal::Ask(ask, answer)).await?;
        self.or_cancelled(answered).await?.map_err(|_| Interrupted)
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
        self.or_cancelled(self.signals.send(signal)).await?.map_err(|_| Interrupted)
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
    async fn a_question_whose_answer_is_thrown_away_interrupts() {
        let (io, mut listener) = TurnIo::channel(CancellationToken::new());
        let (answer, ()) = tokio::join!(io.ask(question()), async { drop(listener.recv().await) });
        assert_eq!(answer, Err(Interrupted));
        drop(listener);
        assert_eq!(io.emit(delta("a")).await, Err(Interrupted));
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
