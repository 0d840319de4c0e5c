//! Waits of a turn: each ends when the turn is cancelled, and those for the model or a tool when its time is
//! over. Waiting for the user, to answer or to read, takes none of that time.

use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use session_model::{Answer, Ask, Event, Grant};
use tokio::time::{Instant, timeout_at};

use crate::driver::TurnError;
use crate::io::{Interrupted, TurnIo};

pub(crate) struct Waits {
    io: TurnIo,
    began: Instant,
    limit: Duration,
    /// Time the user took, in nanoseconds.
    users: AtomicU64,
}

impl Waits {
    pub(crate) fn new(io: TurnIo, limit: Duration) -> Self {
        Self { io, began: Instant::now(), limit, users: AtomicU64::new(0) }
    }

    pub(crate) fn io(&self) -> &TurnIo {
        &self.io
    }

    /// What is left of the turn's time.
    pub(crate) fn left(&self) -> Duration {
        self.deadline().saturating_duration_since(Instant::now())
    }

    /// Runs `work` until it is done, the turn is cancelled or its time is over.
    pub(crate) async fn within<F: Future>(&self, work: F) -> Result<F::Output, TurnError> {
        let timed = timeout_at(self.deadline(), work);
        let output = self.io.or_cancelled(timed).await?;
        output.map_err(|_| TurnError::TimedOut { seconds: self.limit.as_secs() })
    }

    pub(crate) async fn emit(&self, event: Event) -> Result<(), Interrupted> {
        self.users_time(self.io.emit(event)).await
    }

    pub(crate) async fn ask(&self, ask: Ask) -> Result<Answer, Interrupted> {
        self.users_time(self.io.ask(ask)).await
    }

    pub(crate) async fn granted(&self, grant: Grant) -> Result<(), Interrupted> {
        self.users_time(self.io.granted(grant)).await
    }

    /// Waits until what was said is kept.
    pub(crate) async fn settled(&self) -> Result<(), Interrupted> {
        self.users_time(self.io.settled()).await
    }

    /// Waits for something that may wait for the user in turn; ends only with the turn.
    pub(crate) async fn at_leisure<F: Future>(&self, work: F) -> Result<F::Output, Interrupted> {
        self.users_time(self.io.or_cancelled(work)).await
    }

    async fn users_time<F: Future>(&self, work: F) -> F::Output {
        let began = Instant::now();
        let output = work.await;
        let took = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.users.fetch_add(took, Ordering::Relaxed);
        output
    }

    fn deadline(&self) -> Instant {
        self.began + self.limit + Duration::from_nanos(self.users.load(Ordering::Relaxed))
    }
}
