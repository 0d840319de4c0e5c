//! One command that runs for a program: its output kept, its end told, its group killed with whoever holds it.

use std::process::ExitStatus;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use session_model::TerminalExit;
use tokio::process::Command;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::tail::{Output, Tail};
use crate::process::{Leader, MergedOutput};
use crate::tools::bash::{TERM_GRACE, exit};

/// Bytes read at once; what a pipe holds.
const READ_BYTES: usize = 64 * 1024;
/// How long output is read on after the end of the command: something it left behind may hold the pipe open.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// A command that was started. Dropping it kills its group.
#[derive(Debug)]
pub(super) struct Running {
    tail: SharedTail,
    /// How it ended; said anew with each piece of output.
    state: watch::Receiver<Option<TerminalExit>>,
    kill: CancellationToken,
    _task: JoinSet<()>,
}

/// What has been printed.
#[derive(Debug, Clone)]
struct SharedTail(Arc<Mutex<Tail>>);

/// Watches a command.
#[derive(Debug)]
pub(super) struct Follower {
    tail: SharedTail,
    state: watch::Receiver<Option<TerminalExit>>,
    seen: u64,
}

impl Running {
    /// Starts `command`, of whose output the last `limit` bytes are kept.
    pub(super) fn spawn(command: Command, limit: usize) -> std::io::Result<Self> {
        let (leader, output) = MergedOutput::spawn(command)?;
        let tail = SharedTail(Arc::new(Mutex::new(Tail::new(limit))));
        // The task alone says more, so that its end is seen by those who follow.
        let (says, state) = watch::channel(None);
        let kill = CancellationToken::new();
        let mut task = JoinSet::new();
        task.spawn(run((leader, output), tail.clone(), says, kill.clone()));
        Ok(Self { tail, state, kill, _task: task })
    }

    /// Asks it to end, and soon makes it.
    pub(super) fn kill(&self) {
        self.kill.cancel();
    }

    pub(super) fn output(&self) -> Output {
        let exit = self.state.borrow().clone();
        let (text, truncated) = self.tail.get().text();
        Output { text, truncated, exit }
    }

    /// Watches it from its beginning on.
    pub(super) fn follow(&self) -> Follower {
        Follower { tail: self.tail.clone(), state: self.state.clone(), seen: 0 }
    }
}

impl SharedTail {
    fn get(&self) -> MutexGuard<'_, Tail> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Follower {
    /// What has been printed that was not given yet.
    pub(super) fn news(&mut self) -> Vec<u8> {
        self.state.mark_unchanged();
        let (bytes, seen) = self.tail.get().since(self.seen);
        self.seen = seen;
        bytes
    }

    /// All that is kept.
    pub(super) fn text(&self) -> String {
        self.tail.get().text().0
    }

    /// Waits until something is printed, or the command has ended: how. `None` is a command that was let go of.
    pub(super) async fn changed(&mut self) -> Option<Option<TerminalExit>> {
        if let Some(exit) = self.state.borrow().clone() {
            return Some(Some(exit));
        }
        self.state.changed().await.ok()?;
        Some(self.state.borrow().clone())
    }

    /// Waits for its end: how; `None` when it was let go of before.
    pub(super) async fn ended(&mut self) -> Option<TerminalExit> {
        self.state.wait_for(Option::is_some).await.ok()?.clone()
    }
}

async fn run(
    (mut leader, output): (Leader, MergedOutput),
    tail: SharedTail,
    says: watch::Sender<Option<TerminalExit>>,
    kill: CancellationToken,
) {
    let mut reader = Reader { output, tail, says, buffer: vec![0; READ_BYTES], open: true };
    let status = reader.read_until(wait(&mut leader, &kill)).await;
    if reader.open {
        reader.read_until(tokio::time::sleep(LAST_WORDS)).await;
    }
    reader.says.send_replace(Some(status.map(exit).unwrap_or_default()));
    // What it left in its group stays until whoever has it lets go, and may print.
    reader.read_until(std::future::pending::<()>()).await;
}

/// Waits for the end of the command, which `kill` brings about.
async fn wait(leader: &mut Leader, kill: &CancellationToken) -> Option<ExitStatus> {
    tokio::select! {
        biased;
        () = kill.cancelled() => {}
        status = leader.wait() => return status.ok(),
    }
    leader.terminate();
    let ended = tokio::time::timeout(TERM_GRACE, leader.wait()).await;
    leader.kill();
    match ended {
        Ok(status) => status.ok(),
        Err(_) => leader.wait().await.ok(),
    }
}

struct Reader {
    output: MergedOutput,
    tail: SharedTail,
    says: watch::Sender<Option<TerminalExit>>,
    buffer: Vec<u8>,
    open: bool,
}

impl Reader {
    /// Reads until `end`.
    async fn read_until<T>(&mut self, end: impl Future<Output = T>) -> T {
        let mut end = std::pin::pin!(end);
        loop {
            tokio::select! {
                biased;
                done = &mut end => return done,
                read = self.output.read(&mut self.buffer), if self.open => match read {
                    Ok(0) | Err(_) => self.open = false,
                    Ok(count) => {
                        self.tail.get().push(&self.buffer[..count]);
                        self.says.send_modify(|_| {});
                    }
                },
            }
        }
    }
}
