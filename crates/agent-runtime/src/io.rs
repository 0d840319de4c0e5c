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
