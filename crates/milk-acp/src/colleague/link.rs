//! Another agent's process and our connection to it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use acp_rpc::{Config, Peer, PendingResponse, RequestError, RpcError};
use agent_runtime::driver::TurnError;
use agent_runtime::external::child::Piped;
use agent_runtime::host::HostFeatures;
use agent_runtime::process;
use serde_json::{Value, json};
use session_model::Content;
use tokio::task::JoinSet;

use super::inbox::Inbox;
use super::{ColleagueConfig, failed};
use crate::dialect::client;
use crate::negotiate::PromptFeatures;
use crate::server::CANCEL_REQUEST;

/// How long it may take over what needs no model. Some are interpreted and large.
const PATIENCE: Duration = Duration::from_mins(1);
/// How long the process may take to end once its input has.
const EXIT_GRACE: Duration = Duration::from_millis(500);
/// "No supported version", by the protocol.
const UNSUPPORTED_VERSION: i64 = -32022;
/// "Authentication required", by the protocol.
const UNAUTHENTICATED: i64 = -32000;

/// How a session is opened.
#[derive(Debug, Clone, Copy)]
pub(super) struct Opening<'a> {
    /// In which folder.
    pub(super) cwd: &'a Path,
    /// With which further ones.
    pub(super) roots: &'a [PathBuf],
    /// What the agent may have us do in its place.
    pub(super) offered: HostFeatures,
    /// The agent's name for the session that is to be taken up.
    pub(super) earlier: Option<&'a str>,
}

impl Opening<'_> {
    /// The parameters of what opens a session.
    fn params(&self, hello: &Value, version: u16) -> Value {
        let mut params = json!({"cwd": self.cwd, "mcpServers": []});
        if !self.roots.is_empty() && client::takes_roots(version, hello) {
            params["additionalDirectories"] = json!(self.roots);
        }
        params
    }
}

/// A process, a connection to it, and its session. Dropping it kills the process and its group.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) inbox: Inbox,
    peer: Peer,
    version: u16,
    takes: PromptFeatures,
    /// What it may have us do in its place.
    offered: HostFeatures,
    session: String,
    /// Whether that is the earlier one.
    taken_up: bool,
    /// Whether it was told how to ask for another agent.
    pub(super) knows_relief: bool,
    child: Piped,
    _connection: JoinSet<()>,
}

impl Link {
    /// Starts the program and opens a session.
    pub(super) async fn open(config: &ColleagueConfig, opening: Opening<'_>) -> Result<Self, TurnError> {
        let offered = opening.offered;
        let mut command = process::command(&config.bin, opening.cwd);
        command.args(&config.args).envs(config.env.iter());
        let (child, stdout, stdin) = Piped::spawn(command).map_err(|error| unstartable(config, &error))?;
        let inbox = Inbox::default();
        let (peer, connection) =
            acp_rpc::connect(inbox.paced(stdout), stdin, Config::new().cancel(CANCEL_REQUEST));
        let service = inbox.service();
        let mut running = JoinSet::new();
        running.spawn(async move {
            if let Err(error) = connection.run(service).await {
                tracing::debug!(%error, "the connection to another agent broke");
            }
        });
        let takes = PromptFeatures::default();
        let session = String::new();
        let mut link = Self {
            taken_up: false,
            knows_relief: false,
            inbox,
            peer,
            version: 0,
            takes,
            offered,
            session,
            child,
            _connection: running,
        };
        match link.begin(&opening).await {
            Ok(()) => Ok(link),
            Err(error) => Err(link.explain(config, &error).await),
        }
    }

    async fn begin(&mut self, opening: &Opening<'_>) -> Result<(), RequestError> {
        let hello = self.hello().await?;
        let version = hello["protocolVersion"].as_u64().and_then(|version| u16::try_from(version).ok());
        self.version = version.unwrap_or_default();
        if !client::VERSIONS.contains(&self.version) {
            let message = format!(
                "it speaks version {} of the protocol, which milk does not",
                hello["protocolVersion"]
            );
            return Err(RpcError::invalid_request(message).into());
        }
        self.takes = client::takes(self.version, &hello);
        if let Some(earlier) = opening.earlier
            && let Some(method) = client::takes_up(self.version, &hello)
        {
            let mut params = opening.params(&hello, self.version);
            params["sessionId"] = json!(earlier);
            match self.peer.request(method, &params).with_deadline(PATIENCE).await {
                Ok(_) => {
                    earlier.clone_into(&mut self.session);
                    self.taken_up = true;
                    return Ok(());
                }
                // It does not know it any more, or cannot after all: that is no reason to do nothing.
                Err(RequestError::Rpc(error)) if error.code != UNAUTHENTICATED => {
                    tracing::debug!(%error, "another agent's session could not be taken up");
                }
                Err(error) => return Err(error),
            }
        }
        let mut params = opening.params(&hello, self.version);
        params["_meta"] = json!({"milk": {"fresh": true}});
        let made: Value = self.peer.request("session/new", &params).with_deadline(PATIENCE).typed().await?;
        let named = made["sessionId"].as_str().filter(|id| !id.is_empty());
        named.ok_or_else(|| RpcError::invalid_request("it named no session"))?.clone_into(&mut self.session);
        Ok(())
    }

    /// Whether its session is the earlier one.
    pub(super) fn is_taken_up(&self) -> bool {
        self.taken_up
    }

    /// Says who we are, in the first version it speaks.
    async fn hello(&self) -> Result<Value, RequestError> {
        let ask = |version| {
            self.peer.request("initialize", &client::hello(version, self.offered)).with_deadline(PATIENCE)
        };
        let [first, second] = client::VERSIONS;
        match ask(first).typed().await {
            Err(error) if error.code() == Some(UNSUPPORTED_VERSION) => ask(second).typed().await,
            answer => answer,
        }
    }

    pub(super) fn is_open(&self) -> bool {
        !self.peer.is_closed()
    }

    /// What it was offered to have done in its place.
    pub(super) fn offered(&self) -> HostFeatures {
        self.offered
    }

    /// Its session, by its own name.
    pub(super) fn session(&self) -> &str {
        &self.session
    }

    /// Whether the answer to a prompt is the end of the turn, or an update tells it.
    pub(super) fn answers_at_the_end(&self) -> bool {
        self.version == 1
    }

    /// Asks; the answer is waited for elsewhere. Returns also what it does not take and was told of in words.
    pub(super) fn prompt(&self, content: &[Content]) -> (PendingResponse, Vec<String>) {
        let (prompt, lost) = client::prompt(self.version, content, self.takes);
        let params = json!({"sessionId": self.session, "prompt": prompt});
        (self.peer.request("session/prompt", &params), lost)
    }

    /// Asks it to stop.
    pub(super) async fn cancel(&self) {
        // A closed connection has stopped by itself.
        let _closed = self.peer.notify("session/cancel", &json!({"sessionId": self.session})).await;
    }

    /// Breaks off.
    pub(super) fn kill(&mut self) {
        self.peer.shutdown();
        self.child.kill();
    }

    /// What a failed request means, with the agent's last words where it has ended.
    pub(super) async fn explain(&mut self, config: &ColleagueConfig, error: &RequestError) -> TurnError {
        if *error == RequestError::Closed {
            return self.ended(config).await;
        }
        let RequestError::Rpc(answer) = error else {
            return failed(config, "external_failed", error.to_string());
        };
        if answer.code == UNAUTHENTICATED {
            let reason = format!(
                "it is not signed in ({}); start `{}` once in a terminal and sign in, or give it a key in `env`",
                answer.message, config.bin
            );
            return failed(config, "external_unauthorized", reason);
        }
        let detail = answer.data.as_ref().and_then(|data| data["error"].as_str());
        let reason = detail.filter(|detail| !detail.is_empty()).unwrap_or(&answer.message);
        failed(config, "external_failed", reason)
    }

    /// How the process ended.
    pub(super) async fn ended(&mut self, config: &ColleagueConfig) -> TurnError {
        let ending = match self.child.end(EXIT_GRACE).await {
            Some(status) => status.to_string(),
            None => "it closed its output and had to be killed".to_owned(),
        };
        let said = self.child.stderr();
        let said = said.lines().last().map(|line| format!(": {line}")).unwrap_or_default();
        failed(config, "external_exited", format!("its process ended ({ending}){said}"))
    }
}

fn unstartable(config: &ColleagueConfig, error: &std::io::Error) -> TurnError {
    let bin = &config.bin;
    let reason = if error.kind() == std::io::ErrorKind::NotFound {
        format!("cannot start `{bin}`: there is no such program; install it or set the agent's `bin`")
    } else {
        format!("cannot start `{bin}`: {error}")
    };
    failed(config, "external_missing", reason)
}
