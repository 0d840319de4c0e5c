//! The configuration's answer to "who answers this turn?": reads the files anew, looks for running servers only
//! where nothing is configured, and keeps what it built as long as the description stays the same.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agent_runtime::agent::Learned;
use agent_runtime::handover::{BRICK_CHARS, HandoverSlot};
use agent_runtime::process::Background;
use agent_runtime::prompt::PromptRole;
use agent_runtime::provider::{Provider, ProviderError};
use agent_runtime::providers::detect::{Candidate, DETECT_TIMEOUT, Detected, detect, served_window};
use agent_runtime::providers::http::HttpClients;
use agent_runtime::providers::serving::{Launch, Servers};
use agent_runtime::redact::{Redacting, Redactor};
use agent_runtime::rules::Rules;
use agent_runtime::tools::ToolRegistry;
use agent_runtime::tools::escalate::Escalate;
use agent_runtime::tools::export_session::ExportSession;
use async_trait::async_trait;
use router::Target;
use session_model::source::{Clock, IdKind, Ids};
use session_model::{AgentId, Choice, Route, TurnFailure};
use session_store::SessionStore;
use tokio::time::Instant;

use super::Lookup;
use super::agent::AgentSettings;
use super::build::{build_provider, tls};
use super::choose::{
    AgentChoice, AgentSpec, Credential, EndpointSpec, Reason, choose, needs_detection, specify,
};
use super::classifier::ModelClassifier;
use super::exports::StoredTranscripts;
use super::external::Externals;
use super::load::{Loaded, Loader};
use super::maker::{Maker, custom_prompt};
use super::prices::price_of;
use super::redaction;
use super::view::{Budget, PromptAck, Settings, StreamMode};
use crate::command::Ack;
use crate::drivers::{Driver, Drivers, FRESH_AFTER, Judge, Routing, SessionDrivers, SessionSettings, Wanted};

/// How long a server that was found is taken to be there still.
const FOUND_FOR: Duration = Duration::from_mins(1);
/// How long it is taken for granted that there is none. Short: people start one and try again.
const MISSED_FOR: Duration = Duration::from_secs(5);
/// How many providers are kept. More agents than this are rarely configured, and a provider is cheap.
const KEPT_PROVIDERS: usize = 16;

/// Looks for model servers on this machine.
#[async_trait]
pub trait Detector: fmt::Debug + Send + Sync + 'static {
    /// Those that answer, best first. Bounded in time by the implementation.
    async fn detect(&self) -> Vec<Detected>;
}

/// Asks OpenAI-compatible servers at given places, all at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpDetector {
    candidates: Vec<Candidate>,
    limit: Duration,
}

impl HttpDetector {
    /// Looks at these places only; at none, it finds nothing.
    #[must_use]
    pub fn new(candidates: Vec<Candidate>) -> Self {
        Self { candidates, limit: DETECT_TIMEOUT }
    }
}

impl Default for HttpDetector {
    /// Looks at the ports where model servers usually listen on this machine.
    fn default() -> Self {
        Self::new(Candidate::local())
    }
}

#[async_trait]
impl Detector for HttpDetector {
    async fn detect(&self) -> Vec<Detected> {
        if self.candidates.is_empty() { Vec::new() } else { detect(&self.candidates, self.limit).await }
    }
}

/// A way to look up variables that can be shared.
pub type SharedLookup = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// The servers found running, and when.
type Found = (Instant, Vec<Detected>);
/// A provider, and what its agents have learned.
pub(super) type Built = (Arc<dyn Provider>, Learned);

/// Answers from the configuration. Clones share everything.
#[derive(Clone)]
pub struct ConfiguredDrivers {
    loader: Arc<Loader>,
    lookup: SharedLookup,
    detector: Arc<dyn Detector>,
    ids: Arc<dyn Ids>,
    model: Option<String>,
    remarks: Vec<String>,
    outputs: Option<PathBuf>,
    store: Option<Arc<dyn SessionStore>>,
    servers: Servers,
    server_logs: Option<PathBuf>,
    scripts: Option<PathBuf>,
    clients: HttpClients,
    /// Dates signatures.
    clock: Option<Arc<dyn Clock>>,
    found: Arc<Mutex<Option<Found>>>,
    /// With the descriptions they were built from.
    providers: Arc<Mutex<Vec<(AgentSpec, Built)>>>,
}

impl fmt::Debug for ConfiguredDrivers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConfiguredDrivers").field("loader", &self.loader).finish_non_exhaustive()
    }
}

impl ConfiguredDrivers {
    /// Answers from the files of `loader`; variables are looked up with `lookup`, and `detector` is asked where
    /// nothing is configured. Reads nothing yet.
    #[must_use]
    pub fn new(loader: Loader, lookup: SharedLookup, detector: Arc<dyn Detector>, ids: Arc<dyn Ids>) -> Self {
        Self {
            loader: Arc::new(loader),
            lookup,
            detector,
            ids,
            model: None,
            remarks: Vec::new(),
            outputs: None,
            store: None,
            servers: Servers::default(),
            server_logs: None,
            scripts: None,
            clients: HttpClients::default(),
            clock: None,
            found: Arc::default(),
            providers: Arc::default(),
        }
    }

    /// With what dates signatures; without it, services that want them cannot be asked.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = Some(clock);
        self
    }

    /// With this agent, or this model of the agent that would answer anyway, wherever a session chooses none.
    #[must_use]
    pub fn with_model(mut self, model: Option<String>) -> Self {
        self.model = model;
        self
    }

    /// With a remark that every session is shown once.
    #[must_use]
    pub fn with_remark(mut self, remark: Option<String>) -> Self {
        self.remarks.extend(remark);
        self
    }

    /// With the store whose conversations agents may write out.
    #[must_use]
    pub fn with_store(mut self, store: Arc<dyn SessionStore>) -> Self {
        self.store = Some(store);
        self
    }

    /// With a folder (absolute) below which results too long for a model are put aside, by session.
    #[must_use]
    pub fn with_outputs(mut self, folder: Option<PathBuf>) -> Self {
        self.outputs = folder;
        self
    }

    /// With a folder (absolute) for the output of model servers that are started here.
    #[must_use]
    pub fn with_server_logs(mut self, folder: Option<PathBuf>) -> Self {
        self.server_logs = folder;
        self
    }

    /// With a folder (absolute) for the scripts that agents are run by.
    #[must_use]
    pub fn with_scripts(mut self, folder: Option<PathBuf>) -> Self {
        self.scripts = folder;
        self
    }

    /// What external agents of one session share; nothing is in it yet.
    pub(super) fn externals(&self) -> Externals {
        Externals::with_scripts(self.scripts.clone())
    }

    /// Who answers in this folder, and why. Looks for running servers where that matters.
    ///
    /// # Errors
    /// A sentence when the configuration cannot be used.
    pub async fn choice(&self, cwd: &Path, model: Option<&str>) -> Result<AgentChoice, TurnFailure> {
        let loaded = self.load(cwd)?;
        Ok(self.choose(&loaded.settings, model).await)
    }

    /// `wanted` is the session's choice, which begins as the usual agent; ours counts where it is still that.
    async fn choose(&self, settings: &Settings, wanted: Option<&str>) -> AgentChoice {
        let lookup = &*self.lookup;
        let usual = self.usual(settings);
        let agent = wanted.and_then(|name| settings.find(name)).or(usual);
        let is_usual = agent == usual;
        let mut choice = match agent {
            Some(agent) if Some(agent) != settings.primary() => {
                AgentChoice { spec: specify(agent, &lookup), reason: Reason::Chosen }
            }
            Some(_) | None => {
                let detected = if needs_detection(settings) { self.detected().await } else { Vec::new() };
                choose(settings, &lookup, &detected)
            }
        };
        let model = self.model.as_deref().filter(|model| is_usual && settings.find(model).is_none());
        if let Some(model) = model {
            choice.spec.ask_for(model);
        }
        choice
    }

    /// The agent that answers where a session has chosen none: ours, where it names one, else the configured one.
    fn usual<'a>(&self, settings: &'a Settings) -> Option<&'a AgentSettings> {
        self.model.as_deref().and_then(|name| settings.find(name)).or_else(|| settings.primary())
    }

    /// The agent that takes what is too much for the primary.
    fn relief(&self, settings: &Settings) -> Result<AgentChoice, TurnFailure> {
        let agent = settings.escalation().ok_or_else(|| TurnFailure {
            code: "no_escalation_agent".to_owned(),
            message: "there is no escalation agent any more; name one as `escalation_agent`".to_owned(),
        })?;
        Ok(AgentChoice { spec: specify(agent, &*self.lookup), reason: Reason::Escalation })
    }

    /// The two agents in this folder, where there are two, and what the primary is called.
    ///
    /// # Errors
    /// A sentence when the configuration cannot be used.
    pub(super) fn routing_in(&self, cwd: &Path) -> Result<(Option<Routing>, String), TurnFailure> {
        let loaded = self.load(cwd)?;
        let routing = self.routing(&loaded.settings);
        Ok((routing, self.primary_name(&loaded.settings)))
    }

    fn primary_name(&self, settings: &Settings) -> String {
        self.usual(settings).map_or_else(|| "the primary agent".to_owned(), |agent| agent.name.clone())
    }

    /// The two agents, and the rules between them.
    fn routing(&self, settings: &Settings) -> Option<Routing> {
        let escalation = settings.escalation()?.name.clone();
        let primary = self.primary_name(settings);
        let number = |configured: i64, built_in: usize| {
            let limit = Budget::new(configured, built_in as u64).limit();
            limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX))
        };
        Some(Routing {
            rules: settings.rules.clone(),
            sticky: settings.sticky_escalation,
            home: (self.lookup)("HOME").filter(|home| !home.is_empty()).map(PathBuf::from),
            brick_chars: number(settings.context_budget_chars, BRICK_CHARS),
            fresh_after: number(settings.returning_fresh_start_local_turns, FRESH_AFTER),
            ..Routing::new(primary, escalation)
        })
    }

    /// Where results too long for a model are put aside.
    pub(super) fn outputs(&self) -> Option<&Path> {
        self.outputs.as_deref()
    }

    /// What variables are looked up with.
    pub(super) fn lookup(&self) -> Lookup<'_> {
        &*self.lookup
    }

    /// Where ids come from.
    pub(super) fn ids(&self) -> Arc<dyn Ids> {
        Arc::clone(&self.ids)
    }

    async fn detected(&self) -> Vec<Detected> {
        if let Some((at, found)) = &*self.found.lock().unwrap_or_else(PoisonError::into_inner) {
            let fresh = if found.is_empty() { MISSED_FOR } else { FOUND_FOR };
            if at.elapsed() < fresh {
                return found.clone();
            }
        }
        let found = self.detector.detect().await;
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), found.clone()));
        found
    }

    /// The same provider for the same description: it may have learned something about its server.
    pub(super) fn provider(&self, spec: &AgentSpec) -> Result<Built, ProviderError> {
        let mut kept = self.providers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, built)) = kept.iter().find(|(known, _)| known == spec) {
            return Ok(built.clone());
        }
        let built = (build_provider(spec, &self.clients, self.clock.as_ref())?, Learned::default());
        if kept.len() >= KEPT_PROVIDERS {
            kept.remove(0);
        }
        kept.push((spec.clone(), built.clone()));
        Ok(built)
    }

    /// Starts the agent's model server, where that is configured and it is not there.
    pub(super) async fn serve(&self, spec: &AgentSpec, cwd: &Path) -> Result<(), TurnFailure> {
        let AgentSpec::Endpoint(endpoint) = spec else { return Ok(()) };
        if endpoint.run_cmd.is_empty() {
            return Ok(());
        }
        let launch = Launch {
            agent: endpoint.name.clone(),
            url: endpoint.url.clone(),
            tls: tls(endpoint),
            command: endpoint.run_cmd.clone(),
            cwd: cwd.to_owned(),
            log: self.server_logs.as_ref().map(|folder| folder.join(log_name(&endpoint.name))),
        };
        let ready = self.servers.ready(&self.clients, &launch).await;
        ready.map_err(|error| TurnFailure {
            code: "server_not_started".to_owned(),
            message: error.to_string(),
        })
    }

    /// Asks the server for what the configuration does not say: how much its model can hold. Only where no key is
    /// needed; hosted models say it in their first refusal.
    pub(super) async fn ask_window(&self, spec: &AgentSpec) {
        let AgentSpec::Endpoint(endpoint) = spec else { return };
        let EndpointSpec { url, model, context_window: None, credential: Credential::None, .. } = &**endpoint
        else {
            return;
        };
        let Ok((_, learned)) = self.provider(spec) else { return };
        if learned.asks()
            && let Some(tokens) = served_window(&self.clients, url, model, DETECT_TIMEOUT).await
        {
            learned.holds(tokens);
        }
    }

    /// `redactor` with the secrets of this configuration, unless hiding them is turned off.
    fn hiding(&self, settings: &Settings, redactor: &Arc<Redactor>) -> Option<Arc<Redactor>> {
        settings.redaction.enabled.then(|| {
            redactor.know(redaction::secrets(settings, &*self.lookup));
            Arc::clone(redactor)
        })
    }

    /// The same with the configuration as it is read from this folder. One that cannot be read turns nothing off.
    pub(super) fn hiding_in(&self, cwd: &Path, redactor: &Arc<Redactor>) -> Option<Arc<Redactor>> {
        match self.load(cwd) {
            Ok(loaded) => self.hiding(&loaded.settings, redactor),
            Err(_) => Some(Arc::clone(redactor)),
        }
    }

    fn load(&self, cwd: &Path) -> Result<Arc<Loaded>, TurnFailure> {
        self.loader
            .load(cwd)
            .map_err(|error| TurnFailure { code: "config_invalid".to_owned(), message: error.to_string() })
    }
}

impl Drivers for ConfiguredDrivers {
    fn default_ack(&self) -> Ack {
        // No folder is known yet; the root has no file of its own on any machine of sense.
        let ack = self.load(Path::new("/")).map(|loaded| loaded.settings.acp.prompt_ack).unwrap_or_default();
        match ack {
            PromptAck::TurnEnd => Ack::TurnEnd,
            PromptAck::Insertion => Ack::Insertion,
        }
    }

    fn open(&self, cwd: &Path) -> Arc<dyn SessionDrivers> {
        let background = Background::default();
        let redactor = Arc::new(Redactor::new(&self.ids.fresh(IdKind::Session)));
        let tools = ToolRegistry::builtin_with(background.clone());
        let tools = match &self.store {
            Some(store) => tools.with(ExportSession::new(Arc::new(StoredTranscripts {
                store: Arc::clone(store),
                drivers: self.clone(),
                cwd: cwd.to_owned(),
                redactor: Arc::clone(&redactor),
            }))),
            None => tools,
        };
        Arc::new(ConfiguredSession {
            drivers: self.clone(),
            cwd: cwd.to_owned(),
            tools,
            background,
            externals: self.externals().remembering(self.outputs.as_deref()),
            redactor,
        })
    }
}

/// One session's agents, tools and the children its commands left running.
#[derive(Debug)]
struct ConfiguredSession {
    drivers: ConfiguredDrivers,
    cwd: PathBuf,
    tools: ToolRegistry,
    background: Background,
    externals: Externals,
    /// Kept here, so that a secret has the same mark in every turn.
    redactor: Arc<Redactor>,
}

impl Drop for ConfiguredSession {
    fn drop(&mut self) {
        self.background.kill_all();
    }
}

#[async_trait]
impl SessionDrivers for ConfiguredSession {
    fn settings(&self) -> SessionSettings {
        let mut warnings = self.drivers.remarks.clone();
        match self.drivers.load(&self.cwd) {
            Ok(loaded) => {
                warnings.extend(loaded.warnings.iter().map(ToString::to_string));
                warnings.extend(loaded.settings.agents.iter().filter_map(|agent| custom_prompt(agent).err()));
                SessionSettings {
                    model: self.drivers.usual(&loaded.settings).map(|agent| agent.name.clone()),
                    rules: loaded.rules.clone(),
                    routing: self.drivers.routing(&loaded.settings),
                    ..session_settings(&loaded.settings, warnings)
                }
            }
            Err(failure) => {
                warnings.push(failure.message);
                SessionSettings { warnings, ..SessionSettings::default() }
            }
        }
    }

    async fn driver(&self, wanted: Wanted<'_>) -> Result<Driver, TurnFailure> {
        let drivers = &self.drivers;
        let loaded = drivers.load(&self.cwd)?;
        let choice = match wanted.target {
            Target::Primary => drivers.choose(&loaded.settings, wanted.model).await,
            Target::Escalation => drivers.relief(&loaded.settings)?,
        };
        drivers.serve(&choice.spec, &self.cwd).await?;
        drivers.ask_window(&choice.spec).await;
        self.made(loaded, choice, wanted)
    }

    fn redactor(&self) -> Option<Arc<Redactor>> {
        self.drivers.hiding_in(&self.cwd, &self.redactor)
    }

    async fn classifier(&self, model: Option<&str>) -> Option<Arc<dyn Judge>> {
        let loaded = self.drivers.load(&self.cwd).ok()?;
        let choice = self.drivers.choose(&loaded.settings, model).await;
        match choice.spec {
            AgentSpec::Endpoint(ref endpoint) => {
                let price = price_of(&loaded.settings, endpoint);
                let (provider, _) = self.drivers.provider(&choice.spec).ok()?;
                let provider = match self.drivers.hiding(&loaded.settings, &self.redactor) {
                    Some(redactor) => Arc::new(Redacting::new(provider, redactor)),
                    None => provider,
                };
                Some(Arc::new(ModelClassifier::new(provider, price)))
            }
            // Nobody is there to ask.
            AgentSpec::Claude(_)
            | AgentSpec::Acp(_)
            | AgentSpec::Subprocess(_)
            | AgentSpec::Aider(_)
            | AgentSpec::Offline
            | AgentSpec::Unusable { .. } => None,
        }
    }
}

impl ConfiguredSession {
    /// The driver of an agent in its role.
    fn made(
        &self,
        loaded: Arc<Loaded>,
        choice: AgentChoice,
        wanted: Wanted<'_>,
    ) -> Result<Driver, TurnFailure> {
        let AgentChoice { spec, reason } = choice;
        let redactor = self.drivers.hiding(&loaded.settings, &self.redactor);
        let maker = Maker::new(self.drivers.clone(), loaded, self.tools.clone(), redactor);
        let slot = HandoverSlot::default();
        let relief = wanted.may_hand_over.then(|| slot.clone());
        let (driver, agent) = if let Some(driver) = maker.program(&spec, &self.externals, relief.clone()) {
            (driver, spec.program().unwrap_or_default().to_owned())
        } else {
            let escalate = relief.map(Escalate::new);
            let role = match wanted.target {
                Target::Primary => PromptRole::Primary,
                Target::Escalation => PromptRole::Escalation,
            };
            maker
                .model(&spec, role, escalate)
                .map_err(|error| TurnFailure { code: error.code().to_owned(), message: error.to_string() })?
        };
        let target = wanted.target.to_string();
        let route =
            Route { agent: AgentId::new(agent), target, reason: reason.to_string(), conclusive: Some(true) };
        Ok(Driver { driver, route, slot })
    }
}

/// A file name for an agent's name, whatever is in it.
fn log_name(agent: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_') { c } else { '_' };
    format!("{}.log", agent.chars().map(plain).collect::<String>())
}

fn session_settings(settings: &Settings, warnings: Vec<String>) -> SessionSettings {
    let agents = &settings.agents;
    let models = if agents.len() < 2 { Vec::new() } else { agents.iter().map(choice_of).collect() };
    SessionSettings {
        resume: settings.acp_resume,
        show_thoughts: settings.shows_reasoning(),
        skip_permissions: settings.skip_permissions(),
        by_segment: settings.acp.stream == StreamMode::Segment,
        bash_patterns: settings.bash_allowed_patterns.clone(),
        rules: Rules::default(),
        models,
        model: None,
        routing: None,
        thinkers: settings.agents.iter().filter(|agent| agent.thinks()).map(|a| a.name.clone()).collect(),
        warnings,
    }
}

fn choice_of(agent: &AgentSettings) -> Choice {
    let description = (!agent.model.is_empty()).then(|| agent.model.clone());
    Choice { value: agent.name.clone(), name: agent.name.clone(), description }
}

#[cfg(test)]
#[path = "drivers_tests.rs"]
mod tests;
