//! The configuration's answer to "who answers this turn?": reads the files anew, looks for running servers only
//! where nothing is configured, and keeps what it built as long as the description stays the same.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agent_runtime::Agent;
use agent_runtime::process::Background;
use agent_runtime::provider::{Provider, ProviderError};
use agent_runtime::providers::detect::{Candidate, DETECT_TIMEOUT, Detected, detect};
use agent_runtime::providers::http::HttpClients;
use agent_runtime::tools::ToolRegistry;
use async_trait::async_trait;
use session_model::source::Ids;
use session_model::{AgentId, Choice, Route, TurnFailure};
use tokio::time::Instant;

use super::agent::AgentSettings;
use super::build::{build_provider, limits, system_prompt, tools_of};
use super::choose::{AgentChoice, AgentSpec, Reason, choose, needs_detection, specify};
use super::load::{Loaded, Loader};
use super::view::{PromptAck, Settings, StreamMode};
use crate::command::Ack;
use crate::drivers::{Driver, Drivers, SessionDrivers, SessionSettings};

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

/// Answers from the configuration. Clones share everything.
#[derive(Clone)]
pub struct ConfiguredDrivers {
    loader: Arc<Loader>,
    lookup: SharedLookup,
    detector: Arc<dyn Detector>,
    ids: Arc<dyn Ids>,
    model: Option<String>,
    remarks: Vec<String>,
    clients: HttpClients,
    found: Arc<Mutex<Option<(Instant, Vec<Detected>)>>>,
    providers: Arc<Mutex<Vec<(AgentSpec, Arc<dyn Provider>)>>>,
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
            clients: HttpClients::default(),
            found: Arc::default(),
            providers: Arc::default(),
        }
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
        if let (Some(model), AgentSpec::Endpoint(endpoint)) = (model, &mut choice.spec) {
            model.clone_into(&mut endpoint.model);
        }
        choice
    }

    /// The agent that answers where a session has chosen none: ours, where it names one, else the configured one.
    fn usual<'a>(&self, settings: &'a Settings) -> Option<&'a AgentSettings> {
        self.model.as_deref().and_then(|name| settings.find(name)).or_else(|| settings.primary())
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
    fn provider(&self, spec: &AgentSpec) -> Result<Arc<dyn Provider>, ProviderError> {
        let mut kept = self.providers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, provider)) = kept.iter().find(|(known, _)| known == spec) {
            return Ok(Arc::clone(provider));
        }
        let provider = build_provider(spec, &self.clients)?;
        if kept.len() >= KEPT_PROVIDERS {
            kept.remove(0);
        }
        kept.push((spec.clone(), Arc::clone(&provider)));
        Ok(provider)
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
        Arc::new(ConfiguredSession {
            drivers: self.clone(),
            cwd: cwd.to_owned(),
            tools: ToolRegistry::builtin_with(background.clone()),
            background,
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
                    ..session_settings(&loaded.settings, warnings)
                }
            }
            Err(failure) => {
                warnings.push(failure.message);
                SessionSettings { warnings, ..SessionSettings::default() }
            }
        }
    }

    async fn driver(&self, model: Option<&str>) -> Result<Driver, TurnFailure> {
        let drivers = &self.drivers;
        let loaded = drivers.load(&self.cwd)?;
        let settings = &loaded.settings;
        let choice = drivers.choose(settings, model).await;
        let provider = drivers
            .provider(&choice.spec)
            .map_err(|error| TurnFailure { code: error.code().to_owned(), message: error.to_string() })?;
        let info = provider.info();
        let agent = settings.find(&info.agent);
        let effective = settings.effective(agent, info.context_window);
        let custom = agent.and_then(|agent| custom_prompt(agent).unwrap_or_else(|_| own_words(agent)));
        let runner = Agent::new(provider, tools_of(&self.tools, agent), Arc::clone(&drivers.ids))
            .with_limits(limits(&effective))
            .with_prompt(system_prompt(&info.agent, agent, custom));
        let route = Route {
            agent: AgentId::new(info.agent),
            target: "primary".to_owned(),
            reason: choice.reason.to_string(),
        };
        Ok(Driver { driver: Arc::new(runner), route })
    }
}

fn session_settings(settings: &Settings, warnings: Vec<String>) -> SessionSettings {
    let servers: Vec<_> = settings.agents.iter().filter(|agent| agent.kind().is_http()).collect();
    let models = if servers.len() < 2 { Vec::new() } else { servers.iter().map(|a| choice_of(a)).collect() };
    SessionSettings {
        resume: settings.acp_resume,
        show_thoughts: settings.shows_reasoning(),
        skip_permissions: settings.skip_permissions(),
        by_segment: settings.acp.stream == StreamMode::Segment,
        bash_patterns: settings.bash_allowed_patterns.clone(),
        models,
        model: None,
        warnings,
    }
}

fn choice_of(agent: &AgentSettings) -> Choice {
    let description = (!agent.model.is_empty()).then(|| agent.model.clone());
    Choice { value: agent.name.clone(), name: agent.name.clone(), description }
}

/// The user's own words to the model: the file's, else the configured ones.
fn custom_prompt(agent: &AgentSettings) -> Result<Option<String>, String> {
    if agent.prompt_file.is_empty() {
        return Ok(own_words(agent));
    }
    match fs::read_to_string(&agent.prompt_file) {
        Ok(text) => Ok(Some(text).filter(|text| !text.trim().is_empty())),
        Err(error) => {
            Err(format!("{}: cannot read `prompt_file` {}: {error}", agent.name, agent.prompt_file))
        }
    }
}

fn own_words(agent: &AgentSettings) -> Option<String> {
    Some(agent.prompt.clone()).filter(|text| !text.trim().is_empty())
}
