//! Waits of a turn: each ends when the turn is cancelled, and those for the model or a tool when its time is
//! over. Waiting for the user, to answer or to read, takes none of that time.

use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use session_model::{Answer, Ask, Event, Grant};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout_at};

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

    /// The user took this time, within a call.
    pub(crate) fn spent_by_user(&self, took: Duration) {
        let took = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.users.fetch_add(took, Ordering::Relaxed);
    }

    async fn users_time<F: Future>(&self, work: F) -> F::Output {
        let began = Instant::now();
        let output = work.await;
        self.spent_by_user(began.elapsed());
        output
    }

    fn deadline(&self) -> Instant {
        self.began + self.limit + Duration::from_nanos(self.users.load(Ordering::Relaxed))
    }
}

/// The time of one call, which stands still while the call waits for the user. Clones share it.
#[derive(Debug, Clone)]
pub struct Stopwatch {
    began: Instant,
    pauses: watch::Sender<Pauses>,
}

#[derive(Debug, Clone, Copy)]
struct Pauses {
    /// How many there are now.
    open: usize,
    /// Since when, where there are any.
    since: Instant,
    /// All that are over.
    over: Duration,
}

impl Stopwatch {
    /// It runs.
    #[must_use]
    pub fn start() -> Self {
        let began = Instant::now();
        Self { began, pauses: watch::Sender::new(Pauses { open: 0, since: began, over: Duration::ZERO }) }
    }

    /// Stands still until what is returned is dropped.
    #[must_use = "it goes on when this is dropped"]
    pub fn pause(&self) -> Pause<'_> {
        self.pauses.send_modify(|pauses| {
            if pauses.open == 0 {
                pauses.since = Instant::now();
            }
            pauses.open += 1;
        });
        Pause(self)
    }

    /// How long it stood still, in all pauses that are over.
    #[must_use = "it goes on when this is dropped"]
    pub fn paused(&self) -> Duration {
        self.pauses.borrow().over
    }

    /// Waits until it shows `limit`.
    pub async fn reaches(&self, limit: Duration) {
        let mut changes = self.pauses.subscribe();
        loop {
            let Pauses { open, over, .. } = *changes.borrow_and_update();
            let due = async {
                if open > 0 {
                    std::future::pending::<()>().await;
                }
                sleep_until(self.began + over + limit).await;
            };
            tokio::select! {
                () = due => return,
                // We hold the sender.
                news = changes.changed() => if news.is_err() { return },
            }
        }
    }
}

/// While this lives, its watch stands still.
#[derive(Debug)]
pub struct Pause<'a>(&'a Stopwatch);

impl Drop for Pause<'_> {
    fn drop(&mut self) {
        self.0.pauses.send_modify(|pauses| {
            pauses.open = pauses.open.saturating_sub(1);
            if pauses.open == 0 {
                pauses.over += pauses.since.elapsed();
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::sleep;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_stopwatch_stands_still_as_long_as_anyone_waits_for_the_user() {
        let (began, watch) = (Instant::now(), Stopwatch::start());
        let user = |after, took| {
            let watch = watch.clone();
            async move {
                sleep(Duration::from_secs(after)).await;
                let _pause = watch.pause();
                sleep(Duration::from_secs(took)).await;
            }
        };
        // From 5 to 25 and from 30 to 40: ten of forty-five seconds remain, and five between.
        tokio::join!(user(5, 10), user(10, 15), user(30, 10), watch.reaches(Duration::from_secs(15)));
        assert_eq!(began.elapsed(), Duration::from_secs(45));
        assert_eq!(watch.paused(), Duration::from_secs(30));
    }
}
