//! Sees to it that groups end when this program is killed. A process killed with SIGKILL can do nothing any more; but
//! its pipes close. So a small shell beside it is told which groups there are, over a pipe that nobody else holds, and
//! kills them when the pipe closes. It runs only while there are groups, and knows nothing else.

use std::process::Stdio;
use std::sync::{Mutex, PoisonError};

use rustix::io::{ioctl_fionbio, write};
use rustix::process::Pid;
use tokio::process::{Child, ChildStdin, Command};

/// Reads `+ GROUP` and `- GROUP` until the end, then kills what was added and not taken away. A signal to everybody
/// must not end it first.
const SCRIPT: &str = r#"
trap '' HUP INT QUIT TERM
groups=
while read -r sign group; do
    case $sign in
        +) groups="$groups $group" ;;
        -) left=
           for one in $groups; do [ "$one" = "$group" ] || left="$left $one"; done
           groups=$left ;;
    esac
done
for one in $groups; do kill -s KILL -- "-$one"; done
"#;

/// One for this process, as there is one process to be killed.
static GUARD: Mutex<Guard> = Mutex::new(Guard { groups: Vec::new(), shell: None });

#[derive(Debug)]
struct Guard {
    groups: Vec<Pid>,
    shell: Option<(Child, ChildStdin)>,
}

/// A group that is ended with this program, until this is dropped.
#[derive(Debug)]
pub(super) struct Guarded(Pid);

impl Guarded {
    /// Has the group ended with this program. Needs a tokio runtime around it.
    pub(super) fn new(group: Pid) -> Self {
        let mut guard = GUARD.lock().unwrap_or_else(PoisonError::into_inner);
        guard.groups.push(group);
        if !guard.tell('+', group) {
            guard.start();
        }
        Self(group)
    }

    pub(super) fn group(&self) -> Pid {
        self.0
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        let mut guard = GUARD.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = guard.groups.iter().position(|group| *group == self.0) {
            guard.groups.swap_remove(at);
        }
        if guard.groups.is_empty() {
            // With the pipe the shell ends; the runtime collects it.
            guard.shell = None;
        } else {
            guard.tell('-', self.0);
        }
    }
}

impl Guard {
    /// Whether the shell runs and was told.
    fn tell(&self, sign: char, group: Pid) -> bool {
        let Some((_, pipe)) = &self.shell else { return false };
        let line = format!("{sign} {}\n", group.as_raw_nonzero());
        // A line is written whole or not at all: it is shorter than PIPE_BUF.
        write(pipe, line.as_bytes()).is_ok()
    }

    /// Starts a shell that knows all groups. Without one, everything works but this.
    fn start(&mut self) {
        self.shell = None;
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(SCRIPT).current_dir("/").env_clear().process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let started = command.spawn().and_then(|mut child| {
            let pipe = child.stdin.take().ok_or(std::io::ErrorKind::BrokenPipe)?;
            // A shell that somebody has stopped must not stop us.
            ioctl_fionbio(&pipe, true)?;
            Ok((child, pipe))
        });
        match started {
            Ok(shell) => self.shell = Some(shell),
            Err(error) => tracing::warn!(%error, "if this program is killed, its commands live on"),
        }
        for group in &self.groups {
            self.tell('+', *group);
        }
    }
}
