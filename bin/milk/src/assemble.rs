//! The one place where the server is put together from its parts.

use std::fs::OpenOptions;
use std::path::Path;
use std::sync::Arc;

use acp_rpc::{Config, MalformedPolicy, Recorder};
use agent_runtime::providers::detect::Candidate;
use milk_acp::negotiate::{PromptFeatures, ServerInfo};
use milk_acp::server::{Parts, Server};
use milk_acp::settings::{ConfiguredDrivers, HttpDetector, Malformed, Settings};
use session_model::source::{Clock, Ids, RandomIds};
use session_store::{MemoryStore, SessionStore, SqliteStore};
use time::OffsetDateTime;

use crate::error::CliError;
use crate::places::{Places, private, variable};

/// Said where nothing can be kept.
const IN_MEMORY: &str = "There is no home folder to keep sessions in (neither HOME nor MILK_HOME is set), so this \
    session is forgotten when milk ends.";

/// What may be chosen when a server is put together.
#[derive(Debug, Default)]
pub(crate) struct Choices<'a> {
    /// The agent, or the model of the agent that would answer anyway.
    pub(crate) model: Option<String>,
    /// A file that records both directions.
    pub(crate) tap: Option<&'a Path>,
}

/// Puts a server together. Opens no database and asks nobody: the first answer must not wait for that.
pub(crate) fn server(places: &Places, choices: Choices<'_>) -> Result<Server, CliError> {
    let ids: Arc<dyn Ids> = Arc::new(RandomIds::new());
    let (store, remark) = store(places);
    let settings =
        places.loader().load(&places.cwd).map(|loaded| loaded.settings.clone()).unwrap_or_default();
    let rpc = transport(&settings, choices.tap)?;
    let drivers = drivers(places, Arc::clone(&ids), choices.model, remark).with_store(Arc::clone(&store));
    let parts = Parts {
        store,
        drivers: Arc::new(drivers),
        clock: Arc::new(SystemClock),
        ids,
        base: places.cwd.clone(),
        info: info(&settings),
    };
    Ok(Server::new(parts, rpc))
}

/// Who answers, from the configuration as it is found from here.
pub(crate) fn drivers(
    places: &Places,
    ids: Arc<dyn Ids>,
    model: Option<String>,
    remark: Option<String>,
) -> ConfiguredDrivers {
    ConfiguredDrivers::new(places.loader(), Arc::new(variable), Arc::new(detector()), ids)
        .with_clock(Arc::new(SystemClock))
        .with_model(model)
        .with_remark(remark)
        .with_server_logs(places.data().map(|data| data.join("servers")))
        .with_scripts(places.data().map(|data| data.join("scripts")))
        .with_outputs(places.belongings().map(|belongings| belongings.folder().to_owned()))
}

/// Where model servers are looked for when no agent is configured: on the usual ports, or where `MILK_DETECT` says
/// (URLs separated by commas; empty or `off` for nowhere).
fn detector() -> HttpDetector {
    let Some(places) = variable("MILK_DETECT") else { return HttpDetector::default() };
    let urls = places.split(',').map(str::trim).filter(|url| url.contains("://"));
    let candidates = urls.map(|url| Candidate { name: "local".to_owned(), url: url.to_owned() });
    HttpDetector::new(candidates.collect())
}

/// How this program names itself.
fn info(settings: &Settings) -> ServerInfo {
    ServerInfo {
        title: Some("Milk".to_owned()),
        prompt: PromptFeatures { image: true, audio: settings.hears(), embedded_context: true },
        ..ServerInfo::new("milk", env!("CARGO_PKG_VERSION"))
    }
}

fn store(places: &Places) -> (Arc<dyn SessionStore>, Option<String>) {
    match places.session_db() {
        Some(path) => {
            let store = SqliteStore::open(path).with_belongings(places.belongings());
            (Arc::new(store), None)
        }
        None => (Arc::new(MemoryStore::new()), Some(IN_MEMORY.to_owned())),
    }
}

fn transport(settings: &Settings, tap: Option<&Path>) -> Result<Config, CliError> {
    let policy = match settings.acp.malformed {
        Malformed::Silent => MalformedPolicy::Silent,
        Malformed::Reply => MalformedPolicy::Reply,
    };
    let config = Config::new().malformed(policy);
    let Some(path) = tap else { return Ok(config) };
    let file = private(OpenOptions::new().create(true).append(true))
        .open(path)
        .map_err(|source| CliError::File { doing: "open the recording", path: path.to_owned(), source })?;
    Ok(config.tap(Recorder::new(file)))
}

/// The machine's clock.
#[derive(Debug)]
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> OffsetDateTime {
        OffsetDateTime::now_utc()
    }
}
