//! One connection from its first byte to its last: read, hand over, drain.
//!
//! Spawns nothing: reading and writing are the two halves of one future, which the embedder runs where it likes.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;

use crate::core::Core;
use crate::dispatch::Dispatch;
use crate::lines::{Filled, Line, Lines};
use crate::tap::{Direction, SharedTap};
use crate::{Config, ConnectionError, Peer, RpcError, Service, trace};

/// Runs a connection over a reader and a writer until the peer leaves, the writer breaks or it is shut down.
///
/// `build` makes the service, given the handle to the other side.
///
/// At the end of input a last line without a line feed still counts. Then [`Service::closing`] runs, accepted
/// requests are finished within [`Config::drain_grace`], what is still unanswered is cancelled and, after
/// [`Config::cancel_grace`], answered `-32800`; the output is flushed and the writer shut down. Our own
/// unanswered requests fail as soon as the input has ended.
///
/// Dropping the future closes the connection at once. It needs a Tokio runtime whose timer is enabled.
///
/// # Errors
/// When reading or writing fails. A peer that closed its end (a broken pipe, a reset) is an ordinary end.
pub async fn serve<R, W, S>(
    reader: R,
    writer: W,
    config: Config,
    build: impl FnOnce(Peer) -> S,
) -> Result<(), ConnectionError>
where
    R: AsyncRead,
    W: AsyncWrite,
    S: Service,
{
    let (peer, connection) = connect(reader, writer, config);
    connection.run(build(peer)).await
}

/// The same in two steps, for a side that starts the conversation: the peer's handle at once, and a connection
/// to be [run](Connection::run).
///
/// What is sent before that is queued.
pub fn connect<R, W>(reader: R, writer: W, config: Config) -> (Peer, Connection<R, W>) {
    let core = Arc::new(Core::new(&config));
    let peer = Peer::new(Arc::clone(&core));
    (peer, Connection { reader, writer, config, teardown: Teardown(core) })
}

/// A connection that does not run yet. Dropping it closes it.
#[must_use = "a connection does nothing unless it is run"]
#[derive(Debug)]
pub struct Connection<R, W> {
    reader: R,
    writer: W,
    config: Config,
    teardown: Teardown,
}

impl<R: AsyncRead, W: AsyncWrite> Connection<R, W> {
    /// Runs the connection to its end; see [`serve`].
    ///
    /// # Errors
    /// As [`serve`].
    pub async fn run<S: Service>(self, service: S) -> Result<(), ConnectionError> {
        let Self { reader, writer, config, teardown } = self;
        let core = &teardown.0;
        let input = Input {
            dispatch: Dispatch::new(Arc::clone(core), service),
            lines: Lines::new(config.max_line),
            drain_grace: config.drain_grace,
            cancel_grace: config.cancel_grace,
            tap: config.tap.clone(),
            core: Arc::clone(core),
        };
        tokio::pin!(reader, writer);
        let input = pin!(input.run(reader));
        let output = pin!(core.outbox.run(writer, config.tap.as_ref()));
        let (read, written) = halves(input, output).await;
        read.or_else(|error| quiet(error).map_err(ConnectionError::Read))?;
        written.or_else(|error| quiet(error).map_err(ConnectionError::Write))
    }
}

/// Runs both to their ends, in one task. `input` goes first, so that the answers to all lines of one read leave in
/// one write, and what it says to `output` needs no wake; it hears of `output`'s end without one, too.
async fn halves<I, O>(mut input: Pin<&mut I>, mut output: Pin<&mut O>) -> (I::Output, O::Output)
where
    I: Future,
    O: Future,
{
    let (mut read, mut written) = (None, None);
    poll_fn(|cx| {
        read = read.take().or_else(|| ready(input.as_mut().poll(cx)));
        if written.is_none() {
            written = ready(output.as_mut().poll(cx));
            if written.is_some() {
                read = read.take().or_else(|| ready(input.as_mut().poll(cx)));
            }
        }
        match (read.take(), written.take()) {
            (Some(read), Some(written)) => Poll::Ready((read, written)),
            unfinished => {
                (read, written) = unfinished;
                Poll::Pending
            }
        }
    })
    .await
}

fn ready<T>(poll: Poll<T>) -> Option<T> {
    match poll {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

/// A peer that has gone is no failure of ours.
fn quiet(error: io::Error) -> io::Result<()> {
    use io::ErrorKind::{
        BrokenPipe, ConnectionAborted, ConnectionReset, NotConnected, UnexpectedEof, WriteZero,
    };
    let gone = [BrokenPipe, ConnectionAborted, ConnectionReset, NotConnected, UnexpectedEof, WriteZero];
    if gone.contains(&error.kind()) { Ok(()) } else { Err(error) }
}

/// However a connection ends, nobody waits for the connection any longer.
#[derive(Debug)]
struct Teardown(Arc<Core>);

impl Drop for Teardown {
    fn drop(&mut self) {
        self.0.shutdown.cancel();
        self.0.life.cancel();
        self.0.pending.close();
        self.0.outbox.close();
    }
}

struct Input<S> {
    core: Arc<Core>,
    dispatch: Dispatch<S>,
    lines: Lines,
    drain_grace: Duration,
    cancel_grace: Duration,
    tap: Option<SharedTap>,
}

impl<S: Service> Input<S> {
    async fn run<R: AsyncRead + Unpin>(mut self, reader: R) -> io::Result<()> {
        let read = self.read(reader).await;
        self.core.shutdown.cancel();
        self.core.pending.close();
        self.drain().await;
        read
    }

    /// Reads until the input ends, reading fails, nothing can be written any more, or a shutdown.
    async fn read<R: AsyncRead + Unpin>(&mut self, mut reader: R) -> io::Result<()> {
        let core = Arc::clone(&self.core);
        let mut shutdown = pin!(core.shutdown.cancelled());
        loop {
            let filled = tokio::select! {
                biased;
                () = &mut shutdown => return Ok(()),
                () = core.outbox.ended() => return Ok(()),
                filled = self.lines.fill(&mut reader) => filled?,
            };
            if filled == Filled::AtOnce {
                // Waiting would have been the writer's turn.
                tokio::task::yield_now().await;
            }
            // The writer need not be woken for what is answered here: it looks when this half waits.
            core.outbox.hold();
            while let Some(line) = self.lines.next() {
                handle(&mut self.dispatch, self.tap.as_ref(), &line);
                if core.outbox.is_over_limit() {
                    tokio::select! {
                        biased;
                        () = &mut shutdown => return Ok(()),
                        () = core.outbox.below_limit() => core.outbox.hold(),
                    }
                }
                if core.shutdown.is_cancelled() {
                    return Ok(());
                }
            }
            if filled == Filled::End {
                if let Some(line) = self.lines.rest() {
                    handle(&mut self.dispatch, self.tap.as_ref(), &line);
                }
                return Ok(());
            }
        }
    }

    async fn drain(&mut self) {
        let closed = self.core.outbox.closed().clone();
        if closed.is_cancelled() {
            // Nobody is there to be answered; the service may still want to put things away.
            self.core.life.cancel();
        }
        let finish = async {
            self.dispatch.closing().await;
            tokio::select! {
                () = self.core.in_flight.emptied() => {}
                () = closed.cancelled() => {}
            }
        };
        if timeout(self.drain_grace, finish).await.is_err() {
            tracing::debug!("requests were cancelled at the end of the drain grace");
        }
        self.core.life.cancel();
        if !closed.is_cancelled() {
            // What does not answer in time is answered below.
            let _: Result<(), _> = timeout(self.cancel_grace, self.core.in_flight.emptied()).await;
        }
        self.answer_leftovers();
        self.core.outbox.finish();
        if timeout(self.drain_grace, closed.cancelled()).await.is_err() {
            self.core.outbox.abandon();
        }
    }

    fn answer_leftovers(&self) {
        for id in self.core.in_flight.ids() {
            if let Some(mut right) = self.core.in_flight.take(&id) {
                let slot = right.slot();
                self.core.answer_err(&id, &RpcError::cancelled(), slot, None);
            }
        }
    }
}

fn handle<S: Service>(dispatch: &mut Dispatch<S>, tap: Option<&SharedTap>, line: &Line<'_>) {
    match line {
        Line::Whole(line) => {
            trace::line(tap, Direction::In, line);
            dispatch.line(line);
        }
        Line::Overlong(prefix) => {
            trace::line(tap, Direction::In, prefix);
            dispatch.overlong(prefix);
        }
    }
}
