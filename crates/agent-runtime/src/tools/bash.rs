//! `bash`: runs a command in the system's shell, in the session's folder, and ends when the shell does.

use std::fmt::Write as _;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::process::ExitStatus;
use std::task::Poll;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use session_model::{
    Content, Event, TerminalExit, TerminalId, TerminalOwner, TerminalUpdate, TerminalView, ToolContent,
    ToolKind,
};

use super::command::{Command, push_new};
use super::support::{blocking, spec, title};
use super::text::{Clip, Utf8Pieces, head, is_deceptive, strip_escapes};
use super::{
    Approval, ApprovalAsk, Args, CallPlan, Tool, ToolCx, ToolOutput, ToolSpec, Workspace, client_terminal,
};
use crate::io::Interrupted;
use crate::process::{self, Background, Leader, MergedOutput};

/// How long a command may take unless it asks for more or less.
const DEFAULT_TIMEOUT: u64 = 120;
/// How long it may take at most; longer work belongs in the background.
const MAX_TIMEOUT: u64 = 600;
/// Between the request to end and the kill. Together with [`REAP_GRACE`] below the 500 ms a cancelled tool has.
pub(crate) const TERM_GRACE: Duration = Duration::from_millis(250);
/// How long a killed child may take to be gone.
const REAP_GRACE: Duration = Duration::from_millis(150);
const _: () = assert!(TERM_GRACE.as_millis() + REAP_GRACE.as_millis() < 500);
/// Bytes of output the model is told: the beginning and the end.
const KEPT_BYTES: usize = 64 * 1024;
/// Bytes shown live; a row is no place for more, and the final content follows anyway.
const LIVE_BYTES: usize = 256 * 1024;
/// Bytes read at once; what a pipe holds.
const READ_BYTES: usize = 64 * 1024;
/// Reads after the end of the shell: a background child that never stops writing must not hold the call.
const LAST_READS: usize = 16;
/// Characters of a command that a question shows.
const ASKED_BYTES: usize = 16 * 1024;

/// The tool.
#[derive(Debug)]
pub(crate) struct Bash {
    spec: ToolSpec,
    background: Background,
}

impl Bash {
    /// What commands leave running is handed to `background`.
    pub(crate) fn new(background: Background) -> Self {
        let spec = spec(
            "bash",
            ToolKind::Execute,
            false,
            "Runs a command with `sh -c` in the working directory, without input. Returns what it printed \
             (standard output and error together; a long middle is left out) and its exit code. Each call is a \
             new shell. A command that should go on running is started with `&`.",
            json!({
                "type": "object",
                "properties": {
                    "command": {"type": "string", "description": "The command."},
                    "timeout_seconds": {
                        "type": "integer", "minimum": 1, "maximum": MAX_TIMEOUT,
                        "description": "After how long it is ended; 120 when absent, at most 600."
                    }
                },
                "required": ["command"]
            }),
        );
        Self { spec, background }
    }
}

#[async_trait]
impl Tool for Bash {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn plan(&self, args: &Map<String, Value>, workspace: &Workspace) -> Result<CallPlan, String> {
        let (request, workspace) = (Request::of(Args::new(args))?, workspace.clone());
        blocking(move || Ok(request.plan(&workspace))).await
    }

    async fn run(&self, args: Map<String, Value>, cx: ToolCx) -> ToolOutput {
        let request = match Request::of(Args::new(&args)) {
            Ok(request) => request,
            Err(reason) => return ToolOutput::failed(reason),
        };
        if cx.cancel.is_cancelled() {
            return ToolOutput::failed("cancelled before the command was started");
        }
        if cx.workspace.host.features().terminal {
            return client_terminal::run(&request.command, request.timeout, &cx).await;
        }
        let command = process::shell(&request.command, &cx.workspace.cwd);
        let (leader, output) = match MergedOutput::spawn(command) {
            Ok(started) => started,
            Err(error) => return ToolOutput::failed(not_started(&error, &request, &cx.workspace)),
        };
        Run {
            leader,
            output,
            cx: &cx,
            clip: Clip::new(KEPT_BYTES),
            live: Live::opened(&cx, &request.command),
        }
        .finish(&request, &self.background)
        .await
    }
}

fn not_started(error: &std::io::Error, request: &Request, workspace: &Workspace) -> String {
    let cwd = &workspace.cwd;
    let why = if !cwd.is_dir() {
        format!("the session's folder {} is not there", cwd.display())
    } else if error.kind() == std::io::ErrorKind::ArgumentListTooLong {
        let bytes = request.command.len();
        format!("it is too long ({bytes} bytes); write_file a script and run that")
    } else {
        error.to_string()
    };
    format!("the command could not be started: {why}")
}

struct Request {
    command: String,
    timeout: Duration,
}

impl Request {
    fn of(args: Args<'_>) -> Result<Self, String> {
        let command = args.string("command")?;
        if command.trim().is_empty() {
            return Err("`command` is empty".to_owned());
        }
        if command.contains('\0') {
            return Err("`command` contains a NUL character".to_owned());
        }
        let seconds = args.optional_count("timeout_seconds")?.filter(|seconds| *seconds > 0);
        let timeout = Duration::from_secs(seconds.unwrap_or(DEFAULT_TIMEOUT).min(MAX_TIMEOUT));
        Ok(Self { command, timeout })
    }

    fn plan(&self, workspace: &Workspace) -> CallPlan {
        let shown = title("bash", &self.command);
        let whole = shown == format!("bash: {}", self.command);
        let text = head(&self.command, ASKED_BYTES);
        let cut = if text.len() < self.command.len() { "\n[… the command is longer …]" } else { "" };
        let mut description = format!("{text}{cut}\nin {}", workspace.cwd.display());
        let looked = Command::look(&self.command, workspace);
        remark(&looked, &mut description);
        let scopes = looked.scopes();
        if self.command.chars().any(|c| is_deceptive(c) && !matches!(c, '\n' | '\t')) {
            description.push_str("\ncontains invisible characters or such that change the order of reading");
        }
        let preview = ToolContent::Content(Content::text(format!("{text}{cut}")));
        CallPlan {
            title: shown,
            locations: Vec::new(),
            approval: Approval::Ask(ApprovalAsk { description, scopes }),
            preview: if whole { Vec::new() } else { vec![preview] },
        }
    }
}

/// Says what is unusual about a command.
fn remark(command: &Command, description: &mut String) {
    let parts = match &command.parts {
        Ok(parts) => parts,
        Err(reason) => {
            // Writing to a string cannot fail.
            let _ = write!(description, "\nwhat it may run cannot be told: {reason}");
            return;
        }
    };
    let mut outside = Vec::new();
    for place in parts.iter().flat_map(|part| &part.outside) {
        push_new(&mut outside, place.path.display().to_string());
    }
    for place in outside {
        let _ = write!(description, "\nnames {place}, outside the session's folders");
    }
    for written in parts.iter().flat_map(|part| &part.writes) {
        let _ = write!(description, "\nwrites to {}", written.text);
    }
}

/// How a command came to its end.
enum End {
    Exited(ExitStatus),
    TimedOut,
    Cancelled,
    Lost(String),
}

/// A running command.
struct Run<'a> {
    leader: Leader,
    output: MergedOutput,
    cx: &'a ToolCx,
    clip: Clip,
    live: Live<'a>,
}

impl Run<'_> {
    async fn finish(mut self, request: &Request, background: &Background) -> ToolOutput {
        let end = self.follow(request.timeout).await;
        match end {
            End::Exited(_) => {}
            End::TimedOut | End::Cancelled | End::Lost(_) => self.stop().await,
        }
        let mut buffer = vec![0; READ_BYTES];
        for _ in 0..LAST_READS {
            match self.output.take_written(&mut buffer) {
                0 => break,
                count => {
                    self.clip.push(&buffer[..count]);
                    self.live.push(&buffer[..count]);
                }
            }
        }
        let left = match end {
            End::Exited(_) => self.leader.leave(background),
            End::TimedOut | End::Cancelled | End::Lost(_) => None,
        };
        let text = self.clip.into_text();
        let closing = self.live.close(self.cx, (&request.command, &end), &text);
        let output = report((self.cx, &strip_escapes(&text)), &end, left, request.timeout);
        ToolOutput { closing, ..output }
    }

    /// Reads and shows output until the shell has ended or must.
    async fn follow(&mut self, timeout: Duration) -> End {
        let deadline = tokio::time::sleep(timeout);
        tokio::pin!(deadline);
        let (mut buffer, mut open) = (vec![0; READ_BYTES], true);
        loop {
            tokio::select! {
                biased;
                () = self.cx.cancel.cancelled() => return End::Cancelled,
                () = &mut deadline => return End::TimedOut,
                status = self.leader.wait() => return match status {
                    Ok(status) => End::Exited(status),
                    Err(error) => End::Lost(error.to_string()),
                },
                read = self.output.read(&mut buffer), if open => match read {
                    Ok(0) | Err(_) => open = false,
                    Ok(count) => {
                        self.clip.push(&buffer[..count]);
                        self.live.push(&buffer[..count]);
                    }
                },
                () = self.live.show(self.cx) => {}
            }
        }
    }

    /// Asks the group to end, and kills what is left of it. Goes on reading, so that last words are kept.
    async fn stop(&mut self) {
        self.leader.terminate();
        let grace = tokio::time::sleep(TERM_GRACE);
        tokio::pin!(grace);
        let (mut buffer, mut open, mut running) = (vec![0; READ_BYTES], true, true);
        // The end of the output means that the whole group has let go of it.
        while open || running {
            tokio::select! {
                biased;
                () = &mut grace => break,
                _ = self.leader.wait(), if running => running = false,
                read = self.output.read(&mut buffer), if open => match read {
                    Ok(0) | Err(_) => open = false,
                    Ok(count) => {
                        self.clip.push(&buffer[..count]);
                        self.live.push(&buffer[..count]);
                    }
                },
            }
        }
        self.leader.kill();
        // One that cannot even be killed is left to the system.
        drop(tokio::time::timeout(REAP_GRACE, self.leader.wait()).await);
    }
}

type Sending<'a> = Pin<Box<dyn Future<Output = Result<(), Interrupted>> + Send + 'a>>;

/// The command's terminal as the client is told of it, and output on its way there: what arrives while a piece is being
/// sent goes with the next.
#[derive(Default)]
struct Live<'a> {
    pieces: Utf8Pieces,
    waiting: String,
    sending: Option<Sending<'a>>,
    shown: usize,
    /// The client knows of the terminal.
    opened: bool,
}

impl<'a> Live<'a> {
    /// Opens the terminal, which bears the name of its call.
    fn opened(cx: &'a ToolCx, command: &str) -> Self {
        let opening = opening(cx, command);
        let sending = async {
            for event in opening {
                cx.emit(event).await?;
            }
            Ok(())
        };
        Self { sending: Some(Box::pin(sending)), ..Self::default() }
    }

    /// What is still to be told: how the command ended, and what did not get through. Nobody is waited for here: a client
    /// that does not read must not hold the call.
    fn close(self, cx: &ToolCx, (command, end): (&str, &End), text: &str) -> Vec<Event> {
        let exit = match end {
            End::Exited(status) => exit(*status),
            // The note beside the terminal says more.
            End::TimedOut | End::Cancelled | End::Lost(_) => TerminalExit::default(),
        };
        let whole = self.sending.is_none() && self.waiting.is_empty();
        let opening = if self.opened { Vec::new() } else { opening(cx, command) };
        let output = (!whole).then(|| text.to_owned());
        let closing = TerminalUpdate { exit: Some(exit), output, ..terminal(cx) };
        opening.into_iter().chain([Event::Terminal(closing)]).collect()
    }

    fn push(&mut self, bytes: &[u8]) {
        if self.shown >= LIVE_BYTES {
            return;
        }
        let text = self.pieces.push(bytes);
        self.shown += text.len();
        self.waiting.push_str(&text);
        if self.shown >= LIVE_BYTES {
            self.waiting.push_str("\n[… more is not shown while the command runs …]\n");
        }
    }

    /// Sends what waits, one piece at a time; never done, so that it can stand in a loop's selection.
    async fn show(&mut self, cx: &'a ToolCx) {
        poll_fn(|task| {
            loop {
                if let Some(sending) = &mut self.sending {
                    if sending.as_mut().poll(task).is_pending() {
                        return Poll::<()>::Pending;
                    }
                    // An interruption is noticed by the loop itself.
                    self.sending = None;
                    self.opened = true;
                }
                if self.waiting.is_empty() {
                    return Poll::<()>::Pending;
                }
                self.sending = Some(Box::pin(cx.emit(more(cx, std::mem::take(&mut self.waiting)))));
            }
        })
        .await;
    }
}

/// What makes the call's terminal known and puts it into the row.
fn opening(cx: &ToolCx, command: &str) -> Vec<Event> {
    let command = Some(command.to_owned());
    let opened = TerminalUpdate { command, cwd: Some(cx.workspace.cwd.clone()), ..terminal(cx) };
    let chunk = ToolContent::Terminal(view(cx, String::new(), None));
    vec![Event::Terminal(opened), Event::ToolOutput { id: cx.call.clone(), chunk }]
}

/// An update of the call's terminal that says nothing yet.
fn terminal(cx: &ToolCx) -> TerminalUpdate {
    let id = TerminalId::new(cx.call.as_str());
    TerminalUpdate { id, call: cx.call.clone(), command: None, cwd: None, output: None, exit: None }
}

fn more(cx: &ToolCx, text: String) -> Event {
    Event::TerminalOutput { id: TerminalId::new(cx.call.as_str()), call: cx.call.clone(), text }
}

fn view(cx: &ToolCx, shown: String, note: Option<String>) -> TerminalView {
    TerminalView { id: TerminalId::new(cx.call.as_str()), owner: TerminalOwner::Agent, shown, note }
}

fn report((cx, text): (&ToolCx, &str), end: &End, left: Option<u32>, timeout: Duration) -> ToolOutput {
    let mut output = text.to_owned();
    let mut notes = Vec::new();
    if let Some(group) = left {
        let note = format!("[still running in the background; `kill -- -{group}` ends it]\n");
        output.push_str(if output.is_empty() || output.ends_with('\n') { "" } else { "\n" });
        output.push_str(&note);
        notes.push(note.trim_end().to_owned());
    }
    let (error, exit_code) = match end {
        End::Exited(status) => ending(*status),
        End::TimedOut => {
            let after = format!("the command timed out after {} s and was ended", timeout.as_secs());
            (Some(after), None)
        }
        End::Cancelled => (Some("the command was cancelled and ended".to_owned()), None),
        End::Lost(reason) => (Some(format!("the command's end was not seen: {reason}")), None),
    };
    let shown = match &error {
        Some(error) if output.is_empty() => format!("[{error}]"),
        Some(error) => format!("{}\n[{error}]", output.trim_end_matches('\n')),
        None if output.is_empty() => "[no output]".to_owned(),
        None => output.clone(),
    };
    match end {
        End::Exited(_) => {}
        End::TimedOut | End::Cancelled | End::Lost(_) => notes.extend(error.clone()),
    }
    let note = (!notes.is_empty()).then(|| notes.join("\n"));
    let content = vec![ToolContent::Terminal(view(cx, shown, note))];
    ToolOutput { output, error, exit_code, content, ..ToolOutput::default() }
}

/// An exit status as a terminal shows it.
pub(crate) fn exit(status: ExitStatus) -> TerminalExit {
    #[cfg(unix)]
    let signal = std::os::unix::process::ExitStatusExt::signal(&status).map(|signal| signal.to_string());
    #[cfg(not(unix))]
    let signal = None;
    TerminalExit { code: status.code(), signal }
}

/// What an exit status says: an error unless it is success, and the code; a signal as shells code it.
fn ending(status: ExitStatus) -> (Option<String>, Option<i32>) {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return (Some(format!("the command was ended by signal {signal}")), Some(128 + signal));
    }
    match status.code() {
        Some(0) => (None, Some(0)),
        Some(code) => (Some(format!("the command ended with exit code {code}")), Some(code)),
        None => (Some(format!("the command ended: {status}")), None),
    }
}
