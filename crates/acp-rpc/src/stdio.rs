//! Standard input and output as async streams, each on a thread of its own.
//!
//! Tokio's own standard input cannot be cancelled: while it waits for input, the runtime cannot shut down. The
//! threads here are never joined, so a process whose input is open but silent ends when it wants to.
//!
//! Standard output belongs to the protocol alone. Nothing here stops other code from printing to it; log to
//! standard error, and give child processes their own.

use std::io::{self, Read, Write};
use std::pin::Pin;
use std::sync::mpsc as threads;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::mpsc;

/// How much the reading thread asks for at once.
const CHUNK: usize = 64 << 10;

/// Chunks read ahead: one being taken apart, one ready. More would only hide that nobody reads.
const CHUNKS_AHEAD: usize = 1;

/// The most that is handed to the writing thread at once; a longer write is cut.
const MAX_WRITE: usize = 1 << 20;

/// Standard input, read on a thread of its own.
///
/// # Errors
/// When no thread can be started.
pub fn stdin() -> io::Result<ThreadReader> {
    ThreadReader::new(io::stdin())
}

/// Standard output, written on a thread of its own.
///
/// # Errors
/// When no thread can be started.
pub fn stdout() -> io::Result<ThreadWriter> {
    ThreadWriter::new(io::stdout())
}

/// Any blocking reader as an async one.
#[derive(Debug)]
pub struct ThreadReader {
    chunks: mpsc::Receiver<io::Result<Vec<u8>>>,
    chunk: Vec<u8>,
    taken: usize,
}

impl ThreadReader {
    /// Starts the thread that reads `source`. It ends with the input, or at the first chunk that nobody takes.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn new(source: impl Read + Send + 'static) -> io::Result<Self> {
        let (sender, chunks) = mpsc::channel(CHUNKS_AHEAD);
        std::thread::Builder::new().name("rpc-input".to_owned()).spawn(move || read_all(source, &sender))?;
        Ok(Self { chunks, chunk: Vec::new(), taken: 0 })
    }
}

fn read_all(mut source: impl Read, chunks: &mpsc::Sender<io::Result<Vec<u8>>>) {
    let mut buffer = vec![0; CHUNK];
    loop {
        let chunk = match source.read(&mut buffer) {
            Ok(0) => return,
            Ok(length) => Ok(buffer[..length].to_vec()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let failed = chunk.is_err();
        if chunks.blocking_send(chunk).is_err() || failed {
            return;
        }
    }
}

impl AsyncRead for ThreadReader {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.taken == self.chunk.len() {
            match ready!(self.chunks.poll_recv(cx)) {
                Some(chunk) => self.chunk = chunk?,
                None => return Poll::Ready(Ok(())),
            }
            self.taken = 0;
        }
        let left = &self.chunk[self.taken..];
        let length = left.len().min(out.remaining());
        out.put_slice(&left[..length]);
        self.taken += length;
        Poll::Ready(Ok(()))
    }
}

/// Any blocking writer as an async one. Each write is flushed by the thread; a flush waits for it.
#[derive(Debug)]
pub struct ThreadWriter {
    /// `None` once shut down.
    work: Option<threads::Sender<Vec<u8>>>,
    done: mpsc::Receiver<(Vec<u8>, io::Result<()>)>,
    /// Handed back by the thread, to be filled again.
    spare: Vec<u8>,
    busy: bool,
}

impl ThreadWriter {
    /// Starts the thread that writes to `target`. It ends when this is dropped or shut down, or when writing fails.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn new(target: impl Write + Send + 'static) -> io::Result<Self> {
        let (work, jobs) = threads::channel();
        // One buffer goes round, so there is never more than one report.
        let (report, done) = mpsc::channel(1);
        std::thread::Builder::new().name("rpc-output".to_owned()).spawn(move || {
            write_all(target, &jobs, &report);
        })?;
        Ok(Self { work: Some(work), done, spare: Vec::new(), busy: false })
    }

    /// Waits until the thread has written what it was given.
    fn poll_idle(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.busy {
            return Poll::Ready(Ok(()));
        }
        let report = ready!(self.done.poll_recv(cx));
        self.busy = false;
        let (spare, outcome) = report.ok_or(io::ErrorKind::BrokenPipe)?;
        self.spare = spare;
        if outcome.is_err() {
            // The thread has ended.
            self.work = None;
        }
        Poll::Ready(outcome)
    }
}

fn write_all(
    mut target: impl Write,
    jobs: &threads::Receiver<Vec<u8>>,
    report: &mpsc::Sender<(Vec<u8>, io::Result<()>)>,
) {
    while let Ok(bytes) = jobs.recv() {
        let outcome = target.write_all(&bytes).and_then(|()| target.flush());
        let failed = outcome.is_err();
        if report.blocking_send((bytes, outcome)).is_err() || failed {
            return;
        }
    }
}

impl AsyncWrite for ThreadWriter {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.poll_idle(cx))?;
        let bytes = &bytes[..bytes.len().min(MAX_WRITE)];
        let mut buffer = std::mem::take(&mut self.spare);
        buffer.clear();
        buffer.extend_from_slice(bytes);
        let work = self.work.as_ref().ok_or(io::ErrorKind::BrokenPipe)?;
        work.send(buffer).map_err(|_| io::ErrorKind::BrokenPipe)?;
        self.busy = true;
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_idle(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_idle(cx))?;
        self.work = None;
        Poll::Ready(Ok(()))
    }
}
