//! One prompt from beginning to end: connect, open a session, ask, wait, say how it went.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use acp_rpc::{CancelMethod, Config, Direction, End, Peer, RequestError, RequestId};
use serde_json::{Value, json};
use tokio::sync::{oneshot, watch};

use super::consent::{Consent, Gate};
use super::screen::Screen;
use super::service::{Ended, Terminal};
use crate::output::Style;
use crate::signals::Signals;

/// How long a server may take over what needs no model.
const PATIENCE: Duration = Duration::from_secs(30);

/// What is asked, and how it is shown.
#[derive(Debug, Clone)]
pub(crate) struct Task {
    pub(crate) prompt: String,
    pub(crate) cwd: PathBuf,
    /// A stored session to carry on; otherwise a new one.
    pub(crate) session: Option<String>,
    /// The protocol version spoken, 1 or 2.
    pub(crate) version: u16,
    /// Show the lines received instead of what they say.
    pub(crate) raw: bool,
    pub(crate) consent: Consent,
    /// Whether the output is a terminal.
    pub(crate) live: bool,
    /// Whether remarks are wanted beside the answer.
    pub(crate) talkative: bool,
    pub(crate) style: Style,
}

/// How it went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The agent said all it had to say.
    Answered,
    /// The user broke it off.
    Cancelled,
    /// It ended otherwise; why.
    Failed(String),
    /// The user did not want to wait for the end.
    Abandoned,
    /// Nobody reads the output any more.
    Unread(io::ErrorKind),
}

/// How this protocol withdraws a request.
const CANCEL: CancelMethod = CancelMethod {
    method: "$/cancel_request",
    params: |id| json!({"requestId": id}),
    target: |params| serde_json::from_value::<RequestId>(params.get("requestId")?.clone()).ok(),
};

/// Runs the conversation over one end of a connection; the server is at the other end. `out` shows it.
pub(crate) async fn converse<W>(end: End, task: Task, out: W, signals: &mut Signals) -> Ending
where
    W: Write + Send,
{
    let (ended_sender, ended) = watch::channel(None);
    let (broken_sender, mut broken) = watch::channel(None);
    let (peer_sender, peer) = oneshot::channel();
    let screen = (!task.raw).then(|| Screen::new(out, task.style, task.live));
    let config = config(task.raw.then(|| broken_sender.clone()));
    let terminal =
        Terminal::new(screen, Gate::new(task.consent), ended_sender, broken_sender, task.talkative);
    let connection = acp_rpc::serve(end.reader, end.writer, config, move |peer| {
        // Received below, unless the conversation is over already.
        drop(peer_sender.send(peer));
        terminal
    });
    tokio::pin!(connection);
    let talking = async {
        let Ok(peer) = peer.await else { return Ending::Failed("the server did not start".to_owned()) };
        let ending = talk(&peer, &task, ended, signals).await;
        peer.shutdown();
        ending
    };
    tokio::pin!(talking);
    let ending = tokio::select! {
        biased;
        ending = &mut talking => ending,
        _ = &mut connection => return Ending::Failed("the server ended the connection".to_owned()),
        kind = broken.wait_for(Option::is_some) => {
            return Ending::Unread(kind.ok().and_then(|kind| *kind).unwrap_or(io::ErrorKind::BrokenPipe));
        }
    };
    if ending != Ending::Abandoned {
        // What remains is the last output; how the connection itself ended does not matter any more.
        drop(connection.await);
    }
    ending
}

/// `raw` is who is told that lines cannot be shown; without one none are shown.
fn config(raw: Option<watch::Sender<Option<io::ErrorKind>>>) -> Config {
    let config = Config::new().cancel(CANCEL);
    let Some(broken) = raw else { return config };
    config.tap(move |direction, line: &[u8]| {
        if direction == Direction::In {
            let mut out = io::stdout().lock();
            let written = out.write_all(line).and_then(|()| out.write_all(b"\n")).and_then(|()| out.flush());
            if let Err(error) = written {
                broken.send_replace(Some(error.kind()));
            }
        }
    })
}

async fn talk(
    peer: &Peer,
    task: &Task,
    ended: watch::Receiver<Option<Ended>>,
    signals: &mut Signals,
) -> Ending {
    let session = match open(peer, task).await {
        Ok(session) => session,
        Err(error) => return Ending::Failed(reason(&error)),
    };
    let ending = prompt(peer, task, &session, ended, signals).await;
    if ending != Ending::Abandoned {
        let closed = peer.request("session/close", &json!({"sessionId": session})).with_deadline(PATIENCE);
        drop(closed.await);
    }
    ending
}

/// Says who we are and opens a session; its id.
async fn open(peer: &Peer, task: &Task) -> Result<String, RequestError> {
    let me = json!({"name": "milk run", "version": env!("CARGO_PKG_VERSION")});
    let hello = match task.version {
        1 => json!({"protocolVersion": 1, "clientInfo": me, "clientCapabilities": {}}),
        version => json!({"protocolVersion": version, "info": me, "capabilities": {}}),
    };
    peer.request("initialize", &hello).with_deadline(PATIENCE).await?;
    let cwd = task.cwd.to_string_lossy();
    if let Some(session) = &task.session {
        let params = json!({"sessionId": session, "cwd": cwd, "mcpServers": []});
        peer.request("session/resume", &params).with_deadline(PATIENCE).await?;
        return Ok(session.clone());
    }
    let params = json!({"cwd": cwd, "mcpServers": [], "_meta": {"milk": {"fresh": true}}});
    let made: Value = peer.request("session/new", &params).with_deadline(PATIENCE).typed().await?;
    Ok(made["sessionId"].as_str().unwrap_or_default().to_owned())
}

/// Asks and waits for the end of the turn. A first signal cancels the turn, a second one ends the waiting.
async fn prompt(
    peer: &Peer,
    task: &Task,
    session: &str,
    mut ended: watch::Receiver<Option<Ended>>,
    signals: &mut Signals,
) -> Ending {
    let content = json!([{"type": "text", "text": task.prompt}]);
    let answer = peer.request("session/prompt", &json!({"sessionId": session, "prompt": content}));
    let turn = async {
        match answer.typed::<Value>().await {
            Err(error) => Ending::Failed(reason(&error)),
            // Version 1 says here how the turn ended, version 2 in an update.
            Ok(result) => match result["stopReason"].as_str() {
                Some(stop) => ending(Some(stop), None),
                None => match ended.wait_for(Option::is_some).await.as_deref() {
                    Ok(Some(Ended { stop, error })) => ending(stop.as_deref(), error.clone()),
                    Ok(None) | Err(_) => Ending::Failed("the server ended the connection".to_owned()),
                },
            },
        }
    };
    tokio::pin!(turn);
    let mut cancelled = false;
    loop {
        tokio::select! {
            biased;
            ending = &mut turn => return ending,
            () = signals.next() => {
                if cancelled {
                    return Ending::Abandoned;
                }
                cancelled = true;
                // A closed connection ends the turn by itself.
                let _ = peer.notify("session/cancel", &json!({"sessionId": session})).await;
            }
        }
    }
}

fn ending(stop: Option<&str>, error: Option<String>) -> Ending {
    match stop {
        Some("end_turn") | None => Ending::Answered,
        Some("cancelled") => Ending::Cancelled,
        Some("max_tokens") => Ending::Failed("the answer was cut off by the model's output limit".to_owned()),
        Some("max_turn_requests") => Ending::Failed("the turn reached its limit of tool rounds".to_owned()),
        Some("refusal") => Ending::Failed("the model refused to answer".to_owned()),
        Some(other) => Ending::Failed(error.unwrap_or_else(|| format!("the turn ended with `{other}`"))),
    }
}

fn reason(error: &RequestError) -> String {
    let RequestError::Rpc(answer) = error else { return error.to_string() };
    let detail = answer.data.as_ref().and_then(|data| data["error"].as_str());
    detail.filter(|detail| !detail.is_empty()).unwrap_or(&answer.message).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_agents_own_end_is_success() {
        assert_eq!(ending(Some("end_turn"), None), Ending::Answered);
        assert_eq!(ending(None, None), Ending::Answered);
        assert_eq!(ending(Some("cancelled"), None), Ending::Cancelled);
        for stop in ["max_tokens", "max_turn_requests", "refusal", "error", "_new"] {
            assert!(matches!(ending(Some(stop), None), Ending::Failed(_)), "{stop}");
        }
        assert_eq!(ending(Some("error"), Some("why".into())), Ending::Failed("why".into()));
    }
}
