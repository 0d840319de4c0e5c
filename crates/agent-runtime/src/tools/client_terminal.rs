//! Runs a command in a terminal of the client, which owns the process. Whatever the client fails has failed: nothing is
//! run here in its place. The terminal is given back on every way out; where this file cannot wait for it, dropping the
//! terminal makes the session do it.

use std::time::Duration;

use session_model::{TerminalExit, TerminalId, TerminalOwner, TerminalView, ToolContent};

use super::text::strip_escapes;
use super::{ToolCx, ToolOutput};
use crate::host::{HeldTerminal, HostError, NewTerminal, TerminalOutput};

/// Bytes of output that the client keeps and the model is told, of its end.
const KEPT_BYTES: usize = 64 * 1024;

/// The shell and what makes it read a command: never the user's own, whose ways differ.
#[cfg(not(windows))]
pub(crate) const SHELL: (&str, &[&str]) = ("/bin/sh", &["-c"]);
#[cfg(windows)]
pub(crate) const SHELL: (&str, &[&str]) = (r"C:\Windows\System32\cmd.exe", &["/D", "/C"]);

/// How the wait for a command ended.
enum End {
    Exited(TerminalExit),
    TimedOut,
    Lost(HostError),
}

/// Runs `command` for at most `timeout`.
pub(super) async fn run(command: &str, timeout: Duration, cx: &ToolCx) -> ToolOutput {
    let (program, args) = SHELL;
    let args = args.iter().copied().chain([command]).map(str::to_owned).collect();
    let terminal = NewTerminal {
        program: program.to_owned(),
        args,
        env: Vec::new(),
        cwd: cx.workspace.cwd.clone(),
        output_bytes: KEPT_BYTES as u64,
    };
    let host = &cx.workspace.host;
    let created = tokio::select! {
        biased;
        () = cx.cancel.cancelled() => return cancelled(),
        created = host.create_terminal(terminal) => created,
    };
    let held = match created {
        Ok(held) => held,
        Err(error) => return ToolOutput::failed(not_started(&error)),
    };
    tokio::select! {
        biased;
        () = cx.cancel.cancelled() => cancelled(),
        output = follow(held, timeout, cx) => output,
    }
}

/// A cancelled command's output is of no use: its turn is over, or the user has seen it.
fn cancelled() -> ToolOutput {
    ToolOutput::failed("the command was cancelled and ended")
}

fn not_started(error: &HostError) -> String {
    match error {
        HostError::Unanswered(why) => {
            format!("it is not known whether the client started the command: {why}")
        }
        HostError::NotFound(said) | HostError::Refused(said) | HostError::Failed(said) => {
            format!("the client did not start the command: {said}")
        }
        HostError::Interrupted => "the command was not started: interrupted".to_owned(),
    }
}

async fn follow(held: HeldTerminal, timeout: Duration, cx: &ToolCx) -> ToolOutput {
    let (host, id) = (&cx.workspace.host, held.id.clone());
    // The client shows it from now on. An interruption is noticed by whoever waits for this.
    let _interrupted = cx.show(ToolContent::Terminal(view(&id, String::new(), None))).await;
    let end = match tokio::time::timeout(timeout, host.wait_for_exit(&id)).await {
        Ok(Ok(exit)) => End::Exited(exit),
        Ok(Err(error)) => End::Lost(error),
        Err(_) => End::TimedOut,
    };
    match &end {
        End::Exited(_) => {}
        // It may have ended by itself just now; the release ends it in any case.
        End::TimedOut | End::Lost(_) => drop(host.kill_terminal(&id).await),
    }
    let output = host.terminal_output(&id).await;
    let released = host.release_terminal(held).await;
    report(&id, end, output, (timeout, released.err()))
}

fn report(
    id: &TerminalId,
    end: End,
    output: Result<TerminalOutput, HostError>,
    (timeout, stuck): (Duration, Option<HostError>),
) -> ToolOutput {
    let (output, lost) = match output {
        Ok(output) => (output, None),
        Err(error) => {
            (TerminalOutput::default(), Some(format!("the client did not give its output: {error}")))
        }
    };
    let (mut error, exit_code, mut note) = match end {
        End::Exited(exit) => {
            let (error, code) = ending(&exit, output.exit.as_ref());
            (error, code, None)
        }
        End::TimedOut => {
            let text = format!("the command timed out after {} s and was ended", timeout.as_secs());
            (Some(text.clone()), None, Some(text))
        }
        End::Lost(cause) => {
            let text = format!("the command's end was not seen: {cause}");
            (Some(text.clone()), None, Some(text))
        }
    };
    for more in lost.into_iter().chain(stuck.map(|error| format!("its terminal was not released: {error}"))) {
        join(&mut error, &more);
        join(&mut note, &more);
    }
    let text = kept(&output);
    let shown = match &error {
        Some(error) if text.is_empty() => format!("[{error}]"),
        Some(error) => format!("{}\n[{error}]", text.trim_end_matches('\n')),
        None if text.is_empty() => "[no output]".to_owned(),
        None => text.clone(),
    };
    let content = vec![ToolContent::Terminal(view(id, shown, note))];
    ToolOutput { output: text, error, exit_code, content, ..ToolOutput::default() }
}

fn join(text: &mut Option<String>, more: &str) {
    match text {
        Some(text) => {
            text.push_str("; ");
            text.push_str(more);
        }
        None => *text = Some(more.to_owned()),
    }
}

/// The end of what was printed, whether or not the client kept to the limit.
fn kept(output: &TerminalOutput) -> String {
    let text = output.text.as_str();
    let from = text.ceil_char_boundary(text.len().saturating_sub(KEPT_BYTES));
    let tail = strip_escapes(&text[from..]);
    if output.truncated || from > 0 {
        format!("[… the beginning is left out; this is the end …]\n{tail}")
    } else {
        tail
    }
}

/// What an exit says: an error unless it is success, and the code. Some clients tell it only with the output.
fn ending(exit: &TerminalExit, with_output: Option<&TerminalExit>) -> (Option<String>, Option<i32>) {
    let said = |exit: &&TerminalExit| exit.code.is_some() || exit.signal.is_some();
    match Some(exit).filter(said).or(with_output.filter(said)) {
        Some(TerminalExit { signal: Some(signal), code }) => {
            (Some(format!("the command was ended by signal {signal}")), *code)
        }
        Some(TerminalExit { code: Some(0), .. }) => (None, Some(0)),
        Some(TerminalExit { code: Some(code), .. }) => {
            (Some(format!("the command ended with exit code {code}")), Some(*code))
        }
        Some(_) | None => (Some("the client did not say how the command ended".to_owned()), None),
    }
}

fn view(id: &TerminalId, shown: String, note: Option<String>) -> TerminalView {
    TerminalView { id: id.clone(), owner: TerminalOwner::Client, shown, note }
}
