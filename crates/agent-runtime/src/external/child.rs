//! A child that is spoken with in lines: written to by a task of its own, so that neither side can block the other;
//! read in lines of any length up to a limit; its standard error drained all the while. Knows no protocol.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWriteExt as _, BufReader};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout, timeout_at};

use crate::process::Leader;

/// Lines on their way to the child. It is asked one thing and answers what it asks, so more are never of use.
const OUTGOING: usize = 16;
/// Bytes of a line; longer ones are skipped. A tool's whole result travels in one.
const MAX_LINE: usize = 64 * 1024 * 1024;
/// Bytes of standard error that are kept for an explanation: the last ones.
const KEPT_STDERR: usize = 8 * 1024;
/// How long the output is read on after the child has ended: another process may hold its pipe open.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// A child with its pipes. Dropping it kills its group.
#[derive(Debug)]
pub struct LineChild {
    leader: Leader,
    lines: Lines<ChildStdout>,
    input: Option<mpsc::Sender<Vec<u8>>>,
    stderr: Arc<Mutex<Tail>>,
    /// The writer and the reader of standard error.
    tasks: JoinSet<()>,
    ended: Option<(ExitStatus, Instant)>,
}

impl LineChild {
    /// Starts `command`, which [`crate::process::command`] built.
    ///
    /// # Errors
    /// The system's, when it cannot be started.
    pub fn spawn(mut command: Command) -> io::Result<Self> {
        command.stdin(Stdio::piped());
        Self::start(command)
    }

    /// The same, for a child that is told nothing: it has no input.
    ///
    /// # Errors
    /// The system's, when it cannot be started.
    pub fn spawn_deaf(mut command: Command) -> io::Result<Self> {
        command.stdin(Stdio::null());
        Self::start(command)
    }

    fn start(mut command: Command) -> io::Result<Self> {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut leader = Leader::spawn(&mut command)?;
        let child = leader.child_mut();
        let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(io::Error::other("the child has no pipes"));
        };
        let tail = Arc::new(Mutex::new(Tail::default()));
        let mut tasks = JoinSet::new();
        let input = child.stdin.take().map(|stdin| {
            let (input, outgoing) = mpsc::channel(OUTGOING);
            tasks.spawn(write(stdin, outgoing));
            input
        });
        tasks.spawn(drain(stderr, Arc::clone(&tail)));
        Ok(Self { leader, lines: Lines::new(stdout), input, stderr: tail, tasks, ended: None })
    }

    /// Sends these bytes as they are.
    pub async fn send_bytes(&self, bytes: Vec<u8>) {
        if let Some(input) = &self.input {
            drop(input.send(bytes).await);
        }
    }

    /// Sends a line, without its end. A child that no longer reads is noticed by its own end, not here.
    pub async fn send(&self, line: impl Into<Vec<u8>>) {
        if let Some(input) = &self.input {
            let mut line = line.into();
            line.push(b'\n');
            drop(input.send(line).await);
        }
    }

    /// The child is sent no more; it sees the end of its input once it has read what was sent.
    pub fn close_input(&mut self) {
        self.input = None;
    }

    /// The next line; `None` at the end of the output, or soon after the child's end. Cancel safe.
    ///
    /// # Errors
    /// The system's.
    pub async fn line(&mut self) -> io::Result<Option<String>> {
        let read = match self.ended {
            Some((_, deadline)) => timeout_at(deadline, self.lines.next()).await.unwrap_or(Ok(None)),
            None => {
                tokio::select! {
                    biased;
                    read = self.lines.next() => read,
                    status = self.leader.wait() => {
                        let deadline = Instant::now() + LAST_WORDS;
                        self.ended = Some((status?, deadline));
                        timeout_at(deadline, self.lines.next()).await.unwrap_or(Ok(None))
                    }
                }
            }
        };
        read.map(|line| line.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Asks the child's group to end, waits up to `grace` for the child, then kills the group.
    pub async fn stop(&mut self, grace: Duration) {
        if self.ended.is_none() {
            self.leader.terminate();
        }
        self.end(grace).await;
        self.leader.kill();
    }

    /// Waits up to `grace` for the child to end by itself, then kills its group. `None` when it had to be killed.
    pub async fn end(&mut self, grace: Duration) -> Option<ExitStatus> {
        self.close_input();
        let status = match self.ended {
            Some((status, _)) => Some(status),
            None => timeout(grace, self.leader.wait()).await.ok().and_then(Result::ok),
        };
        if status.is_none() {
            self.leader.kill();
            drop(timeout(LAST_WORDS, self.leader.wait()).await);
        }
        status
    }

    /// The last of what it said on standard error, without escape sequences.
    #[must_use]
    pub fn stderr(&self) -> String {
        words(&self.stderr)
    }

    /// Waits until standard error has been read to its end, or a moment.
    pub async fn settle_stderr(&mut self) {
        self.close_input();
        drop(timeout(LAST_WORDS, async { while self.tasks.join_next().await.is_some() {} }).await);
    }
}

/// A child whose pipes somebody else speaks through; its standard error is drained here. Dropping it kills its group.
#[derive(Debug)]
pub struct Piped {
    leader: Leader,
    stderr: Arc<Mutex<Tail>>,
    _drain: JoinSet<()>,
}

impl Piped {
    /// Starts `command`, which [`crate::process::command`] built: the child, its standard output and its input.
    ///
    /// # Errors
    /// The system's, when it cannot be started.
    pub fn spawn(mut command: Command) -> io::Result<(Self, ChildStdout, ChildStdin)> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut leader = Leader::spawn(&mut command)?;
        let child = leader.child_mut();
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) else {
            return Err(io::Error::other("the child has no pipes"));
        };
        let tail = Arc::new(Mutex::new(Tail::default()));
        let mut tasks = JoinSet::new();
        tasks.spawn(drain(stderr, Arc::clone(&tail)));
        Ok((Self { leader, stderr: tail, _drain: tasks }, stdout, stdin))
    }

    /// Waits up to `grace` for the child to end by itself, then kills its group. `None` when it had to be killed.
    pub async fn end(&mut self, grace: Duration) -> Option<ExitStatus> {
        let status = timeout(grace, self.leader.wait()).await.ok().and_then(Result::ok);
        if status.is_none() {
            self.leader.kill();
            drop(timeout(LAST_WORDS, self.leader.wait()).await);
        }
        status
    }

    /// Kills the group.
    pub fn kill(&mut self) {
        self.leader.kill();
    }

    /// The last of what it said on standard error, without escape sequences.
    #[must_use]
    pub fn stderr(&self) -> String {
        words(&self.stderr)
    }
}

fn words(tail: &Mutex<Tail>) -> String {
    let tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
    crate::tools::text::strip_escapes(&String::from_utf8_lossy(&tail.0)).trim().to_owned()
}

/// A pipe in lines.
#[derive(Debug)]
struct Lines<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
    /// The present line is too long and is not kept.
    skipping: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    fn new(reader: R) -> Self {
        Self { reader: BufReader::with_capacity(64 * 1024, reader), line: Vec::new(), skipping: false }
    }

    /// The next line without its end; cancel safe.
    async fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            let buffer = self.reader.fill_buf().await?;
            if buffer.is_empty() {
                let last = std::mem::take(&mut self.line);
                return Ok(Some(last).filter(|line| !line.is_empty() && !self.skipping));
            }
            let (taken, whole) = match buffer.iter().position(|&byte| byte == b'\n') {
                Some(at) => (at + 1, true),
                None => (buffer.len(), false),
            };
            if !self.skipping {
                self.line.extend_from_slice(&buffer[..taken - usize::from(whole)]);
            }
            self.reader.consume(taken);
            if self.line.len() > MAX_LINE {
                tracing::warn!("a line of a child is too long and is skipped");
                self.line = Vec::new();
                self.skipping = true;
            }
            if whole {
                let line = std::mem::take(&mut self.line);
                if !std::mem::take(&mut self.skipping) {
                    return Ok(Some(line));
                }
            }
        }
    }
}

/// The end of a text.
#[derive(Debug, Default)]
struct Tail(Vec<u8>);

impl Tail {
    fn add(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
        let over = self.0.len().saturating_sub(KEPT_STDERR);
        self.0.drain(..over);
    }
}

async fn write(mut stdin: ChildStdin, mut outgoing: mpsc::Receiver<Vec<u8>>) {
    while let Some(line) = outgoing.recv().await {
        let written = async {
            stdin.write_all(&line).await?;
            stdin.flush().await
        };
        if let Err(error) = written.await {
            tracing::debug!(%error, "a child no longer reads");
            return;
        }
    }
}

async fn drain(stderr: ChildStderr, tail: Arc<Mutex<Tail>>) {
    let mut reader = BufReader::new(stderr);
    loop {
        let taken = match reader.fill_buf().await {
            Ok([]) | Err(_) => return,
            Ok(bytes) => {
                tracing::debug!(target: "child", "{}", String::from_utf8_lossy(bytes).trim_end());
                tail.lock().unwrap_or_else(PoisonError::into_inner).add(bytes);
                bytes.len()
            }
        };
        reader.consume(taken);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn lines(bytes: &'static [u8]) -> Vec<String> {
        let mut lines = Lines::new(bytes);
        let mut all = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            all.push(String::from_utf8_lossy(&line).into_owned());
        }
        all
    }

    #[tokio::test]
    async fn lines_end_at_line_ends_and_at_the_end() {
        assert_eq!(lines(b"a\n\nb\r\nc").await, ["a", "", "b\r", "c"]);
        assert_eq!(lines(b"").await, [""; 0]);
    }

    #[test]
    fn the_tail_keeps_the_end() {
        let mut tail = Tail::default();
        tail.add(&vec![b'a'; KEPT_STDERR]);
        tail.add(b"end");
        assert_eq!(tail.0.len(), KEPT_STDERR);
        assert!(tail.0.ends_with(b"aend"));
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_child_that_reads_slowly_while_it_writes_does_not_lock_up() {
        let script = "seq 1 30000; wc -c";
        let mut child = LineChild::spawn(crate::process::shell(script, std::path::Path::new("/"))).unwrap();
        child.send("x".repeat(400_000)).await;
        child.close_input();
        let mut last = String::new();
        while let Some(line) = child.line().await.unwrap() {
            last = line;
        }
        assert_eq!(last.trim(), "400001");
        assert!(child.end(Duration::from_secs(5)).await.unwrap().success());
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn the_output_ends_with_the_child_though_another_process_holds_its_pipe() {
        let script = "sleep 60 & echo here; echo there >&2; exit 3";
        let mut child = LineChild::spawn(crate::process::shell(script, std::path::Path::new("/"))).unwrap();
        assert_eq!(child.line().await.unwrap().as_deref(), Some("here"));
        assert_eq!(child.line().await.unwrap(), None);
        assert_eq!(child.end(Duration::ZERO).await.unwrap().code(), Some(3));
        assert_eq!(child.stderr(), "there");
    }
}
