//! A server in this process with a scripted model, a store in memory, predictable ids and a clock that stands still.

use std::path::Path;
use std::sync::Arc;
use std::sync::Mutex;

use agent_runtime::agent::Agent;
use agent_runtime::driver::TurnDriver;
use agent_runtime::handover::HandoverSlot;
use agent_runtime::prompt::{PromptRole, SystemPrompt};
use agent_runtime::provider::ProviderInfo;
use agent_runtime::scripted::{Line, Scripted};
use agent_runtime::tools::ToolRegistry;
use agent_runtime::tools::escalate::Escalate;
use milk_acp::drivers::{Drivers, FixedDriver, Routing, SessionSettings};
use milk_acp::negotiate::{PromptFeatures, ServerInfo};
use milk_acp::server::{Parts, Server};
use session_model::source::{FixedClock, SequentialIds};
use session_store::{MemoryStore, SessionStore};
use time::macros::datetime;
use tokio::io::DuplexStream;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::client::Client;
use crate::schema::Version;

/// Large enough that a pipe never decides the order of things, small enough that an unread one fills.
const PIPE: usize = 64 * 1024;

/// A server's surroundings; connections come and go, the store stays.
#[derive(Debug)]
pub struct Rig {
    /// The model.
    pub model: Arc<Scripted>,
    /// The second agent's model, where there is one.
    pub relief: Arc<Scripted>,
    /// Where sessions are kept.
    pub store: Arc<dyn SessionStore>,
    /// The session's folder; removed at the end.
    pub dir: tempfile::TempDir,
    drivers: Arc<dyn Drivers>,
    ids: Arc<SequentialIds>,
    prompt: PromptFeatures,
    servers: Mutex<JoinSet<()>>,
}

impl Rig {
    /// A server whose model gives these answers.
    #[must_use]
    pub fn new(answers: Vec<Vec<Line>>) -> Self {
        Self::with(answers, SessionSettings::default())
    }

    /// A server with these settings.
    #[must_use]
    pub fn with(answers: Vec<Vec<Line>>, settings: SessionSettings) -> Self {
        Self::build(Scripted::new(answers), settings, Arc::new(MemoryStore::new()))
    }

    /// A server with this model, these settings and this store.
    #[must_use]
    pub fn build(model: Scripted, settings: SessionSettings, store: Arc<dyn SessionStore>) -> Self {
        let model = Arc::new(model);
        let ids = Arc::new(SequentialIds::default());
        let agent =
            Agent::new(Arc::clone(&model) as _, ToolRegistry::builtin(), Arc::clone(&ids) as _).summarising();
        let agent: Arc<dyn TurnDriver> = Arc::new(agent);
        let drivers = FixedDriver::new("scripted", agent).with_settings(settings);
        Self::of(model, Arc::new(drivers), store, ids)
    }

    /// A server whose turns `driver` runs; it is made from the ids of the server. There is no model.
    #[must_use]
    pub fn driven(agent: &str, driver: impl FnOnce(Arc<SequentialIds>) -> Arc<dyn TurnDriver>) -> Self {
        let ids = Arc::new(SequentialIds::default());
        let drivers = FixedDriver::new(agent, driver(Arc::clone(&ids)));
        Self::of(Arc::new(Scripted::new(Vec::new())), Arc::new(drivers), Arc::new(MemoryStore::new()), ids)
    }

    /// A server that knows nothing of this one but its store, as after a restart.
    #[must_use]
    pub fn after(&self, agent: &str, driver: impl FnOnce(Arc<SequentialIds>) -> Arc<dyn TurnDriver>) -> Self {
        let drivers = FixedDriver::new(agent, driver(Arc::clone(&self.ids)));
        let model = Arc::new(Scripted::new(Vec::new()));
        Self::of(model, Arc::new(drivers), Arc::clone(&self.store), Arc::clone(&self.ids))
    }

    /// A server with two agents, `small` and `big`, between whom `adjusted` rules decide.
    #[must_use]
    pub fn pair(
        small: Vec<Vec<Line>>,
        big: Vec<Vec<Line>>,
        adjusted: impl FnOnce(Routing) -> Routing,
    ) -> Self {
        let named = |name: &str, answers| {
            let info =
                ProviderInfo { agent: name.to_owned(), model: "script".to_owned(), context_window: None };
            Arc::new(Scripted::new(answers).with_info(info))
        };
        let (model, relief) = (named("small", small), named("big", big));
        let ids = Arc::new(SequentialIds::default());
        let slot = HandoverSlot::default();
        let tools = ToolRegistry::builtin();
        let escalation = SystemPrompt { role: PromptRole::Escalation, ..SystemPrompt::new("big") };
        let primary = Agent::new(
            Arc::clone(&model) as _,
            tools.clone().with(Escalate::new(slot.clone())),
            Arc::clone(&ids) as _,
        );
        let second =
            Agent::new(Arc::clone(&relief) as _, tools, Arc::clone(&ids) as _).with_prompt(escalation);
        let drivers = FixedDriver::new("small", Arc::new(primary))
            .with_slot(slot)
            .with_escalation(Arc::new(second), adjusted(Routing::new("small", "big")));
        let store = Arc::new(MemoryStore::new());
        Self { relief, ..Self::of(model, Arc::new(drivers), store, ids) }
    }

    /// A server whose agents come from elsewhere.
    #[must_use]
    pub fn served_by(drivers: Arc<dyn Drivers>) -> Self {
        let model = Arc::new(Scripted::new(Vec::new()));
        Self::of(model, drivers, Arc::new(MemoryStore::new()), Arc::default())
    }

    /// Another such server that shares nothing with this one but its store.
    #[must_use]
    pub fn served_next(&self, drivers: Arc<dyn Drivers>) -> Self {
        let model = Arc::new(Scripted::new(Vec::new()));
        Self::of(model, drivers, Arc::clone(&self.store), Arc::clone(&self.ids))
    }

    fn of(
        model: Arc<Scripted>,
        drivers: Arc<dyn Drivers>,
        store: Arc<dyn SessionStore>,
        ids: Arc<SequentialIds>,
    ) -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let relief = Arc::new(Scripted::new(Vec::new()));
        let prompt = PromptFeatures::default();
        Self { model, relief, store, dir, drivers, ids, prompt, servers: Mutex::default() }
    }

    /// The same server, whose prompts may hold all that the program's may.
    #[must_use]
    pub fn taking_all(self) -> Self {
        Self { prompt: PromptFeatures { image: true, audio: false, embedded_context: true }, ..self }
    }

    /// The session's folder, links resolved.
    #[must_use]
    pub fn cwd(&self) -> std::path::PathBuf {
        self.dir.path().canonicalize().expect("the folder is there")
    }

    /// Writes a file into the session's folder.
    pub fn file(&self, name: &str, text: &str) {
        std::fs::write(self.dir.path().join(name), text).expect("the folder can be written");
    }

    /// What a file of the session's folder holds.
    #[must_use]
    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.dir.path().join(name)).expect("the file is there")
    }

    /// A connected client that has said nothing yet.
    #[must_use]
    pub fn pipe(&self, version: Version) -> Client {
        let (reader, writer) = self.serve();
        Client::new(version, reader, writer)
    }

    /// A connected client that has said hello.
    pub async fn connect(&self, version: Version) -> Client {
        let mut client = self.pipe(version);
        client.initialize().await;
        client
    }

    /// A connected client with a new session.
    pub async fn session(&self, version: Version) -> (Client, String) {
        let mut client = self.connect(version).await;
        let session = client.new_session(&self.cwd()).await;
        (client, session)
    }

    /// Serves a connection and returns the client's ends of it: what the server says, and what it hears.
    pub fn serve(&self) -> (DuplexStream, DuplexStream) {
        let (client_reads, server_writes) = tokio::io::duplex(PIPE);
        let (server_reads, client_writes) = tokio::io::duplex(PIPE);
        let parts = Parts {
            store: Arc::clone(&self.store),
            drivers: Arc::clone(&self.drivers),
            clock: Arc::new(FixedClock(datetime!(2026-01-02 03:04:05 UTC))),
            ids: Arc::clone(&self.ids) as _,
            base: Path::new("/").to_owned(),
            info: ServerInfo { prompt: self.prompt, ..ServerInfo::new("milk", "0.0.0-test") },
        };
        let server = Server::new(parts, acp_rpc::Config::default());
        self.servers.lock().expect("no server panicked").spawn(async move {
            server.serve(server_reads, server_writes, CancellationToken::new()).await.expect("served");
        });
        (client_reads, client_writes)
    }
}

/// The transcript with what differs from run to run replaced.
#[must_use]
pub fn redacted(transcript: &str, rig: &Rig) -> String {
    let cwd = rig.cwd();
    let shown = cwd.to_string_lossy();
    transcript.replace(&*shown, "${CWD}")
}
