//! Child processes: the one place that builds and ends them. A child gets no input, leads a process group of
//! its own, and the whole group ends with whoever holds it. Knows nothing of tools.
//!
//! Every orderly way out, panics included, drops the holders and so ends the groups; where this program is killed,
//! a small guard ends them. A child that moves to another group or session (`setsid`) escapes.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::process::{Child, Command};

/// Variables that steer this program and are no child's business.
const OURS: [&str; 2] = ["MILK_HOME", "MILK_CONFIG"];

/// A command that starts in `cwd` with no input, its own group, and its outputs dropped unless changed.
#[must_use]
pub fn command(program: impl AsRef<OsStr>, cwd: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(cwd).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.kill_on_drop(true);
    for name in OURS {
        command.env_remove(name);
    }
    // There is nobody at the terminal: a password prompt would only wait.
    command.env("GIT_TERMINAL_PROMPT", "0");
    #[cfg(unix)]
    command.process_group(0);
    command
}

/// A command that the system's shell reads from `text`.
#[must_use]
pub fn shell(text: &str, cwd: &Path) -> Command {
    #[cfg(windows)]
    {
        let mut command = command("cmd", cwd);
        command.raw_arg("/D /S /C \"").raw_arg(text).raw_arg("\"");
        command
    }
    #[cfg(not(windows))]
    {
        let mut command = command("/bin/sh", cwd);
        command.arg("-c").arg(text);
        command
    }
}

/// A running child that leads a group. Dropping it kills the group.
#[derive(Debug)]
pub struct Leader {
    child: Child,
    group: Option<Group>,
}

impl Leader {
    /// Starts `command`, which [`command`] or [`shell`] built.
    ///
    /// # Errors
    /// The system's, when it cannot be started.
    pub fn spawn(command: &mut Command) -> io::Result<Self> {
        let child = command.spawn()?;
        let group = Group::of(&child);
        Ok(Self { child, group })
    }

    /// The child, for its pipes.
    pub fn child_mut(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Waits for the child itself, not for its group. May be dropped and called again.
    ///
    /// # Errors
    /// The system's.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Asks the group to end. Where there is no such request, nothing happens.
    pub fn terminate(&self) {
        if let Some(group) = &self.group {
            group.terminate();
        }
    }

    /// Kills the group.
    pub fn kill(&mut self) {
        if let Some(group) = &self.group {
            group.kill();
        }
        // An error means that it is gone already.
        drop(self.child.start_kill());
    }

    /// Lets go of a child that has ended. What still runs in its group is handed to `background`; tells the
    /// group's number then.
    pub fn leave(mut self, background: &Background) -> Option<u32> {
        let group = self.group.take().filter(Group::is_alive)?;
        let number = group.number();
        background.keep(group);
        Some(number)
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        if let Some(group) = &self.group {
            group.kill();
        }
    }
}

/// Groups that outlived the call that started them. Clones share them; dropping the last one kills them.
#[derive(Debug, Clone, Default)]
pub struct Background(Arc<Kept>);

#[derive(Debug, Default)]
struct Kept(Mutex<Vec<Group>>);

impl Background {
    /// Kills all groups kept so far.
    pub fn kill_all(&self) {
        self.0.kill_all();
    }

    fn keep(&self, group: Group) {
        let mut kept = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A number whose group is gone could in time become another's.
        kept.retain(Group::is_alive);
        kept.push(group);
    }
}

impl Kept {
    fn kill_all(&self) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for group in kept.drain(..) {
            group.kill();
        }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.kill_all();
    }
}

#[cfg(unix)]
mod guard;

pub use output::MergedOutput;
use system::Group;

#[cfg(unix)]
mod system {
    use rustix::io::Errno;
    use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
    use tokio::process::Child;

    use super::guard::Guarded;

    /// A process group, by its leader's number.
    #[derive(Debug)]
    pub(super) struct Group(Guarded);

    impl Group {
        pub(super) fn of(child: &Child) -> Option<Self> {
            let number = Pid::from_raw(i32::try_from(child.id()?).ok()?)?;
            Some(Self(Guarded::new(number)))
        }

        pub(super) fn number(&self) -> u32 {
            self.0.group().as_raw_nonzero().get().unsigned_abs()
        }

        // Signals fail only when nothing is left to signal.
        pub(super) fn terminate(&self) {
            let _ = kill_process_group(self.0.group(), Signal::TERM);
        }

        pub(super) fn kill(&self) {
            let _ = kill_process_group(self.0.group(), Signal::KILL);
        }

        pub(super) fn is_alive(&self) -> bool {
            test_kill_process_group(self.0.group()) != Err(Errno::SRCH)
        }
    }
}

#[cfg(not(unix))]
mod system {
    use tokio::process::Child;

    /// There are no groups; the child alone is killed, when it is dropped.
    #[derive(Debug)]
    pub(super) enum Group {}

    impl Group {
        pub(super) fn of(_child: &Child) -> Option<Self> {
            None
        }

        pub(super) fn number(&self) -> u32 {
            match *self {}
        }

        pub(super) fn terminate(&self) {
            match *self {}
        }

        pub(super) fn kill(&self) {
            match *self {}
        }

        pub(super) fn is_alive(&self) -> bool {
            match *self {}
        }
    }
}

#[cfg(unix)]
mod output {
    use std::io;
    use std::os::fd::{AsFd as _, OwnedFd};

    use tokio::io::AsyncReadExt as _;
    use tokio::net::unix::pipe::Receiver;
    use tokio::process::Command;

    use super::Leader;

    /// Standard output and standard error of a child in one pipe, and so in their true order.
    #[derive(Debug)]
    pub struct MergedOutput(Receiver);

    impl MergedOutput {
        /// Starts `command` with both outputs led here.
        ///
        /// # Errors
        /// The system's.
        pub fn spawn(mut command: Command) -> io::Result<(Leader, Self)> {
            let (reader, writer) = io::pipe()?;
            command.stdout(writer.try_clone()?).stderr(writer);
            let receiver = Receiver::from_owned_fd(OwnedFd::from(reader))?;
            let leader = Leader::spawn(&mut command)?;
            // With the command go our copies of the writing end: the pipe ends with the last child.
            drop(command);
            Ok((leader, Self(receiver)))
        }

        /// Waits for more; 0 at the end. May be dropped and called again.
        ///
        /// # Errors
        /// The system's.
        pub async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0.read(buffer).await
        }

        /// What has been written already, without waiting; 0 when there is nothing (more).
        pub fn take_written(&mut self, buffer: &mut [u8]) -> usize {
            // Asked of the system itself: the runtime learns of readiness only later.
            rustix::io::read(self.0.as_fd(), buffer).unwrap_or(0)
        }
    }
}

#[cfg(not(unix))]
mod output {
    use std::io;
    use std::process::Stdio;

    use futures::FutureExt as _;
    use tokio::io::AsyncReadExt as _;
    use tokio::process::{ChildStderr, ChildStdout, Command};

    use super::Leader;

    /// Standard output and standard error of a child, merged as they arrive.
    #[derive(Debug)]
    pub struct MergedOutput {
        out: Option<ChildStdout>,
        err: Option<ChildStderr>,
        err_buffer: Vec<u8>,
    }

    impl MergedOutput {
        /// Starts `command` with both outputs led here.
        ///
        /// # Errors
        /// The system's.
        pub fn spawn(mut command: Command) -> io::Result<(Leader, Self)> {
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut leader = Leader::spawn(&mut command)?;
            let child = leader.child_mut();
            let (out, err) = (child.stdout.take(), child.stderr.take());
            Ok((leader, Self { out, err, err_buffer: Vec::new() }))
        }

        /// Waits for more; 0 at the end. May be dropped and called again.
        ///
        /// # Errors
        /// The system's.
        pub async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            loop {
                self.err_buffer.resize(buffer.len(), 0);
                let (from_out, count) = match (&mut self.out, &mut self.err) {
                    (None, None) => return Ok(0),
                    (Some(out), None) => (true, out.read(buffer).await?),
                    (None, Some(err)) => (false, err.read(&mut self.err_buffer).await?),
                    (Some(out), Some(err)) => tokio::select! {
                        count = out.read(buffer) => (true, count?),
                        count = err.read(&mut self.err_buffer) => (false, count?),
                    },
                };
                match (from_out, count) {
                    (true, 0) => self.out = None,
                    (false, 0) => self.err = None,
                    (true, count) => return Ok(count),
                    (false, count) => {
                        buffer[..count].copy_from_slice(&self.err_buffer[..count]);
                        return Ok(count);
                    }
                }
            }
        }

        /// What has been written already; 0 when there is nothing (more).
        pub fn take_written(&mut self, buffer: &mut [u8]) -> usize {
            match self.read(buffer).now_or_never() {
                Some(Ok(count)) => count,
                Some(Err(_)) | None => 0,
            }
        }
    }
}
