//! What a session's turns have the client do in our place, and the terminals it runs for us: each is owned here from the
//! moment its id is known until the client has let go of it, whatever becomes of the call, its turn or the session.
//!
//! Knows no protocol version and nothing of what the calls are for.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use acp_rpc::{Peer, PendingResponse};
use agent_runtime::host::{HeldTerminal, HostCall, HostError, HostReply};
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use session_model::{AskId, SessionId, TerminalId};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::dialect::{Dialect, HostAnswer, Outgoing};

/// How long the client may take to name a new terminal, even when its call is over by then (Docker Agent).
const CREATING: Duration = Duration::from_secs(10);

/// How long it may take to kill, to give the output and to release, each (Docker Agent).
const CLEANING_UP: Duration = Duration::from_secs(5);

type Reply = Result<HostReply, HostError>;
type Answer = oneshot::Sender<Reply>;

/// The way to the client.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) dialect: Dialect,
    pub(crate) peer: Peer,
    /// The handle under which it is spoken to.
    pub(crate) session: SessionId,
}

/// Something happened to a call or a terminal.
pub(crate) enum Happened {
    /// A call is over, and whoever waited has its answer.
    Answered,
    /// A command may run.
    Created(Client, Result<HostAnswer, HostError>, Answer),
    /// Nobody uses this terminal any more.
    LetGo(TerminalId),
    /// The client was asked to let go of it.
    Released(TerminalId, Result<HostAnswer, HostError>, Option<Answer>),
}

impl fmt::Debug for Happened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answered => f.write_str("Answered"),
            Self::Created(..) => f.write_str("Created"),
            Self::LetGo(id) => f.debug_tuple("LetGo").field(id).finish(),
            Self::Released(id, ..) => f.debug_tuple("Released").field(id).finish(),
        }
    }
}

/// One terminal of the client.
struct Terminal {
    client: Client,
    state: State,
}

enum State {
    /// A call uses it.
    Held,
    /// The client is asked to let go of it.
    Releasing,
    /// It would not; the cause.
    Stuck(String),
}

/// All calls to the client that are under way, and all its terminals that are ours.
#[derive(Default)]
pub(crate) struct HostCalls {
    unsent: Vec<(AskId, HostCall, Answer)>,
    running: FuturesUnordered<BoxFuture<'static, Happened>>,
    watched: FuturesUnordered<BoxFuture<'static, Happened>>,
    terminals: BTreeMap<TerminalId, Terminal>,
    /// Why it is not known what the client runs.
    unknown: Option<String>,
    ending: bool,
}

impl fmt::Debug for HostCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostCalls").field("terminals", &self.terminals.len()).finish_non_exhaustive()
    }
}

impl HostCalls {
    /// A turn wants this done; it is sent when everything said before is.
    pub(crate) fn expect(&mut self, id: AskId, call: HostCall, answer: Answer) {
        self.unsent.push((id, call, answer));
    }

    /// It will not be sent.
    pub(crate) fn forgo(&mut self, id: &AskId) {
        self.unsent.retain(|(waiting, ..)| waiting != id);
    }

    /// Sends a call.
    pub(crate) fn send(&mut self, id: &AskId, client: Client) {
        let Some(at) = self.unsent.iter().position(|(waiting, ..)| waiting == id) else { return };
        let (_, call, answer) = self.unsent.swap_remove(at);
        if answer.is_closed() {
            return;
        }
        if let (HostCall::CreateTerminal(_), Some(cause)) = (&call, self.unresolved()) {
            return settle(answer, Err(HostError::Failed(cause)));
        }
        let Some(pending) = client.request(&call) else {
            return settle(answer, Err(HostError::Failed("the client has no such method".to_owned())));
        };
        self.running.push(match &call {
            HostCall::CreateTerminal(_) => created(client, call, pending, answer).boxed(),
            HostCall::ReleaseTerminal(id) => {
                if let Some(terminal) = self.terminals.get_mut(id) {
                    terminal.state = State::Releasing;
                }
                released(client, id.clone(), pending, Some(answer)).boxed()
            }
            HostCall::KillTerminal(_) | HostCall::TerminalOutput(_) => {
                answered(client, call, pending.with_deadline(CLEANING_UP), answer).boxed()
            }
            HostCall::ReadFile { .. } | HostCall::WriteFile { .. } | HostCall::WaitForExit(_) => {
                answered(client, call, pending, answer).boxed()
            }
        });
    }

    /// Waits until something happens. Cancel safe.
    pub(crate) async fn happened(&mut self) -> Happened {
        tokio::select! {
            biased;
            Some(happened) = self.running.next() => happened,
            Some(happened) = self.watched.next() => happened,
            else => std::future::pending().await,
        }
    }

    /// Deals with what happened.
    pub(crate) fn deal_with(&mut self, happened: Happened) {
        match happened {
            Happened::Answered => {}
            Happened::Created(client, outcome, answer) => self.created(client, outcome, answer),
            Happened::LetGo(id) => self.let_go(&id),
            Happened::Released(id, outcome, answer) => self.released(id, outcome, answer),
        }
    }

    /// Why no new work may begin: the client still runs something for us, or may.
    pub(crate) fn unresolved(&self) -> Option<String> {
        let stuck = self.terminals.values().find_map(|terminal| match &terminal.state {
            State::Stuck(cause) => Some(cause.clone()),
            State::Held | State::Releasing => None,
        });
        stuck.or_else(|| self.unknown.clone())
    }

    /// The session ends: what the client would not let go of is asked for once more.
    pub(crate) fn end(&mut self) {
        if !std::mem::replace(&mut self.ending, true) {
            let stuck: Vec<TerminalId> = self
                .terminals
                .iter()
                .filter(|(_, terminal)| matches!(terminal.state, State::Stuck(_)))
                .map(|(id, _)| id.clone())
                .collect();
            for id in stuck {
                self.release_again(id);
            }
        }
    }

    /// Whether the client has nothing more to do for us, as far as it will.
    pub(crate) fn is_settled(&self) -> bool {
        let stuck = |terminal: &Terminal| matches!(terminal.state, State::Stuck(_));
        self.unsent.is_empty() && self.running.is_empty() && self.terminals.values().all(stuck)
    }

    fn created(&mut self, client: Client, outcome: Result<HostAnswer, HostError>, answer: Answer) {
        let id = match outcome {
            Ok(HostAnswer::Terminal(id)) => id,
            Ok(_) => {
                return settle(answer, Err(HostError::Failed("the client named no terminal".to_owned())));
            }
            Err(error) => {
                if !matches!(error, HostError::Refused(_)) {
                    self.unknown = Some(format!(
                        "the client did not say whether it started a command ({error}); close this session and open it \
                         again to go on"
                    ));
                }
                return settle(answer, Err(error));
            }
        };
        if self.terminals.contains_key(&id) {
            let cause = format!("the client named a new terminal {id}, as one that is still in use");
            self.unknown = Some(cause.clone());
            return settle(answer, Err(HostError::Unanswered(cause)));
        }
        let held = CancellationToken::new();
        let (token, watched) = (held.clone(), id.clone());
        self.watched.push(async move { token.cancelled().map(|()| Happened::LetGo(watched)).await }.boxed());
        self.terminals.insert(id.clone(), Terminal { client, state: State::Held });
        settle(answer, Ok(HostReply::Terminal(HeldTerminal::new(id, held.drop_guard()))));
    }

    fn let_go(&mut self, id: &TerminalId) {
        let Some(terminal) = self.terminals.get_mut(id) else { return };
        if let State::Held = terminal.state {
            terminal.state = State::Releasing;
            let client = terminal.client.clone();
            let kill = client.request(&HostCall::KillTerminal(id.clone()));
            self.running.push(clean_up(client, id.clone(), kill).boxed());
        }
    }

    fn released(&mut self, id: TerminalId, outcome: Result<HostAnswer, HostError>, answer: Option<Answer>) {
        let again = match &outcome {
            // A client that does not know it has let go of it.
            Ok(_) | Err(HostError::NotFound(_)) => {
                self.terminals.remove(&id);
                false
            }
            Err(error) => {
                tracing::warn!(terminal = %id, %error, "the client would not release a terminal");
                let cause = format!(
                    "the client would not release its terminal {id} ({error}); close this session and open it again to \
                     go on"
                );
                let terminal = self.terminals.get_mut(&id);
                let first =
                    terminal.map(|terminal| std::mem::replace(&mut terminal.state, State::Stuck(cause)));
                self.ending && matches!(first, Some(State::Releasing))
            }
        };
        if let Some(answer) = answer {
            settle(answer, outcome.map(|_| HostReply::Done));
        }
        if again {
            self.release_again(id);
        }
    }

    /// The last attempt; it leaves the state as it is, so that there is no other.
    fn release_again(&mut self, id: TerminalId) {
        let Some(client) = self.terminals.get(&id).map(|terminal| terminal.client.clone()) else { return };
        if let Some(pending) = client.request(&HostCall::ReleaseTerminal(id.clone())) {
            self.running.push(released(client, id, pending, None).boxed());
        }
    }
}

impl Client {
    fn request(&self, call: &HostCall) -> Option<PendingResponse> {
        let Outgoing { method, params } = self.dialect.host(&self.session, call)?;
        Some(self.peer.request(method, &params))
    }

    async fn outcome(&self, call: &HostCall, pending: PendingResponse) -> Result<HostAnswer, HostError> {
        let outcome = pending.await;
        self.dialect.host_answer(call, outcome.as_deref())
    }
}

/// Whoever waited may have given up.
fn settle(answer: Answer, reply: Reply) {
    drop(answer.send(reply));
}

/// A call that is withdrawn when nobody waits for it any more.
async fn answered(client: Client, call: HostCall, pending: PendingResponse, mut answer: Answer) -> Happened {
    let outcome = tokio::select! {
        biased;
        () = answer.closed() => return Happened::Answered,
        outcome = client.outcome(&call, pending) => outcome,
    };
    settle(
        answer,
        outcome.map(|outcome| match outcome {
            HostAnswer::Text(text) => HostReply::Text(text),
            HostAnswer::Output(output) => HostReply::Output(output),
            HostAnswer::Exited(exit) => HostReply::Exited(exit),
            HostAnswer::Done | HostAnswer::Terminal(_) => HostReply::Done,
        }),
    );
    Happened::Answered
}

/// A new terminal is waited for whoever still wants it: a command that nobody knows of could not be ended.
async fn created(client: Client, call: HostCall, pending: PendingResponse, answer: Answer) -> Happened {
    let outcome = client.outcome(&call, pending.with_deadline(CREATING)).await;
    Happened::Created(client, outcome, answer)
}

async fn released(
    client: Client,
    id: TerminalId,
    pending: PendingResponse,
    answer: Option<Answer>,
) -> Happened {
    let call = HostCall::ReleaseTerminal(id.clone());
    let outcome = client.outcome(&call, pending.with_deadline(CLEANING_UP)).await;
    Happened::Released(id, outcome, answer)
}

/// Ends a command and gives its terminal back; it is given back whether or not it could be ended.
async fn clean_up(client: Client, id: TerminalId, kill: Option<PendingResponse>) -> Happened {
    if let Some(kill) = kill
        && let Err(error) = kill.with_deadline(CLEANING_UP).await
    {
        tracing::debug!(terminal = %id, %error, "the client did not end a command");
    }
    match client.request(&HostCall::ReleaseTerminal(id.clone())) {
        Some(pending) => released(client, id, pending, None).await,
        None => Happened::Answered,
    }
}
