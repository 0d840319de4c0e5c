//! Everything on its way out: one queue of finished lines, the budget for stream traffic, the writing loop.
//!
//! Lines leave in the order in which they were queued, whoever queued them. Knows nothing of messages; a line
//! is bytes here.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::{Notify, Semaphore, TryAcquireError, oneshot};
use tokio_util::sync::CancellationToken;

use crate::tap::{Direction, SharedTap};
use crate::{Closed, trace};

/// A buffer that has grown beyond this is given back to the allocator once it is empty.
const KEPT_CAPACITY: usize = 1 << 20;

/// A semaphore counts in `u32`; a budget beyond this many bytes is no budget.
const MAX_BYTE_BUDGET: usize = 1 << 30;

#[derive(Debug)]
pub(crate) struct Outbox {
    queue: Mutex<Queue>,
    room: Notify,
    places: Semaphore,
    space: Semaphore,
    byte_budget: u32,
    /// Bytes queued or being written.
    backlog: AtomicUsize,
    backlog_limit: usize,
    /// Nothing more is written; set when writing failed or everything was written.
    closed: CancellationToken,
    /// The writer has ended.
    ended: AtomicBool,
    /// The writer must not wait for the peer any longer.
    abandoned: AtomicBool,
}

#[derive(Debug, Default)]
struct Queue {
    lines: Vec<u8>,
    charge: Charge,
    written: Vec<oneshot::Sender<()>>,
    /// The writer, when it waits for lines and nobody else will let it look.
    waiting: Option<Waker>,
    finished: bool,
    closed: bool,
}

/// What a queued line owes to the budget until it is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Charge {
    places: u32,
    bytes: u32,
}

impl Outbox {
    pub(crate) fn new(places: usize, bytes: usize, backlog_limit: usize) -> Self {
        let bytes = bytes.clamp(1, MAX_BYTE_BUDGET);
        Self {
            queue: Mutex::default(),
            room: Notify::new(),
            places: Semaphore::new(places.max(1)),
            space: Semaphore::new(bytes),
            byte_budget: u32::try_from(bytes).unwrap_or(u32::MAX),
            backlog: AtomicUsize::new(0),
            backlog_limit: backlog_limit.max(1),
            closed: CancellationToken::new(),
            ended: AtomicBool::new(false),
            abandoned: AtomicBool::new(false),
        }
    }

    /// Queues `line`, which ends with a line feed (or is empty, to learn when all before it is written).
    pub(crate) fn push(
        &self,
        line: &[u8],
        charge: Charge,
        written: impl IntoIterator<Item = oneshot::Sender<()>>,
    ) -> Result<(), Closed> {
        let mut queue = self.lock();
        if queue.closed {
            return Err(Closed);
        }
        queue.lines.extend_from_slice(line);
        self.backlog.fetch_add(line.len(), Ordering::Relaxed);
        queue.charge.places += charge.places;
        queue.charge.bytes += charge.bytes;
        queue.written.extend(written);
        wake(queue);
        Ok(())
    }

    /// Leaves the writer asleep over what is queued from now on. Only for the other half of the writer's own task,
    /// which lets the writer look before it waits itself.
    pub(crate) fn hold(&self) {
        self.lock().waiting = None;
    }

    /// Waits for one place and `bytes` of space; whoever asks first is served first.
    pub(crate) async fn admit(&self, bytes: usize) -> Result<Charge, Closed> {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX).clamp(1, self.byte_budget);
        let place = self.places.acquire().await.map_err(|_| Closed)?;
        let space = self.space.acquire_many(bytes).await.map_err(|_| Closed)?;
        place.forget();
        space.forget();
        Ok(Charge { places: 1, bytes })
    }

    /// Admits without waiting; `None` when there is no room, or others wait for it.
    pub(crate) fn try_admit(&self, bytes: usize) -> Result<Option<Charge>, Closed> {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX).clamp(1, self.byte_budget);
        let room =
            self.places.try_acquire().and_then(|place| Ok((place, self.space.try_acquire_many(bytes)?)));
        match room {
            Ok((place, space)) => {
                place.forget();
                space.forget();
                Ok(Some(Charge { places: 1, bytes }))
            }
            Err(TryAcquireError::NoPermits) => Ok(None),
            Err(TryAcquireError::Closed) => Err(Closed),
        }
    }

    /// Charges a line that turned out larger than what was admitted, as far as the budget goes.
    pub(crate) fn extend(&self, charge: Charge, bytes: usize) -> Charge {
        let more = bytes.saturating_sub(charge.bytes as usize);
        let taken = self.space.forget_permits(more);
        Charge { bytes: charge.bytes.saturating_add(u32::try_from(taken).unwrap_or(u32::MAX)), ..charge }
    }

    pub(crate) fn refund(&self, charge: Charge) {
        self.places.add_permits(charge.places as usize);
        self.space.add_permits(charge.bytes as usize);
    }

    /// Bytes queued or being written.
    pub(crate) fn backlog(&self) -> usize {
        self.backlog.load(Ordering::Relaxed)
    }

    /// Waits until the backlog is below its limit (or the outbox is closed).
    pub(crate) async fn below_limit(&self) {
        loop {
            let room = self.room.notified();
            if self.backlog() < self.backlog_limit || self.closed.is_cancelled() {
                return;
            }
            tokio::select! {
                () = room => {}
                () = self.closed.cancelled() => return,
            }
        }
    }

    pub(crate) fn is_over_limit(&self) -> bool {
        self.backlog() >= self.backlog_limit
    }

    /// What is queued will be written, then the writer ends.
    pub(crate) fn finish(&self) {
        let mut queue = self.lock();
        queue.finished = true;
        wake(queue);
    }

    /// The writer ends when it is polled next, whatever is queued. For the other half of its task.
    pub(crate) fn abandon(&self) {
        self.abandoned.store(true, Ordering::Relaxed);
    }

    /// Resolves when the writer has ended, without a wake: for the other half of its task, which is polled then.
    pub(crate) async fn ended(&self) {
        poll_fn(|_| if self.ended.load(Ordering::Relaxed) { Poll::Ready(()) } else { Poll::Pending }).await;
    }

    /// Cancelled when nothing more will be written.
    pub(crate) fn closed(&self) -> &CancellationToken {
        &self.closed
    }

    pub(crate) fn close(&self) {
        let mut queue = self.lock();
        queue.closed = true;
        queue.lines = Vec::new();
        self.backlog.store(0, Ordering::Relaxed);
        // Their receivers learn of the end by the drop.
        queue.written.clear();
        drop(queue);
        self.places.close();
        self.space.close();
        self.closed.cancel();
    }

    /// Writes until finished, abandoned or failed; closes the outbox in each case.
    pub(crate) async fn run<W: AsyncWrite + Unpin>(
        &self,
        writer: W,
        tap: Option<&SharedTap>,
    ) -> io::Result<()> {
        let mut writing = pin!(self.write_all(writer, tap));
        let outcome = poll_fn(|cx| {
            if self.abandoned.load(Ordering::Relaxed) {
                return Poll::Ready(Ok(()));
            }
            writing.as_mut().poll(cx)
        })
        .await;
        self.ended.store(true, Ordering::Relaxed);
        self.close();
        outcome
    }

    async fn write_all<W: AsyncWrite + Unpin>(
        &self,
        mut writer: W,
        tap: Option<&SharedTap>,
    ) -> io::Result<()> {
        let mut lines = Vec::new();
        loop {
            let Some((charge, written)) = self.next(&mut lines).await else {
                return end(&mut writer).await;
            };
            trace::lines(tap, Direction::Out, &lines);
            if !lines.is_empty() {
                writer.write_all(&lines).await?;
                writer.flush().await?;
            }
            let backlog = self.backlog.fetch_sub(lines.len(), Ordering::Relaxed);
            self.refund(charge);
            if backlog >= self.backlog_limit {
                self.room.notify_waiters();
            }
            for written in written {
                // Whoever asked may no longer care.
                let _: Result<(), ()> = written.send(());
            }
            lines.clear();
            if lines.capacity() > KEPT_CAPACITY {
                lines = Vec::new();
            }
        }
    }

    /// Swaps everything queued into `lines`; `None` when finished.
    async fn next(&self, lines: &mut Vec<u8>) -> Option<(Charge, Vec<oneshot::Sender<()>>)> {
        poll_fn(|cx| {
            let mut queue = self.lock();
            if !queue.lines.is_empty() || !queue.written.is_empty() {
                std::mem::swap(&mut queue.lines, lines);
                let written = std::mem::take(&mut queue.written);
                return Poll::Ready(Some((std::mem::take(&mut queue.charge), written)));
            }
            if queue.finished {
                // In the same breath, so that nothing queued later is taken for sent.
                queue.closed = true;
                return Poll::Ready(None);
            }
            match &mut queue.waiting {
                Some(waiting) => waiting.clone_from(cx.waker()),
                none @ None => *none = Some(cx.waker().clone()),
            }
            Poll::Pending
        })
        .await
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lets the writer look at the queue.
fn wake(mut queue: MutexGuard<'_, Queue>) {
    let waiting = queue.waiting.take();
    drop(queue);
    if let Some(waiting) = waiting {
        waiting.wake();
    }
}

/// Tells the peer that nothing more will come; a peer that has left already is no failure.
async fn end<W: AsyncWrite + Unpin>(writer: &mut W) -> io::Result<()> {
    poll_fn(|cx| Pin::new(&mut *writer).poll_shutdown(cx)).await
}
