//! From the description of an agent to what runs its turns, with the agents it may ask as tools. Those are made when they
//! are asked, and know nothing but what they are asked.

use std::fs;
use std::sync::Arc;

use agent_runtime::Agent;
use agent_runtime::driver::{TurnDriver, TurnEnd, TurnError, TurnInput};
use agent_runtime::external::Tagged;
use agent_runtime::handover::HandoverSlot;
use agent_runtime::io::TurnIo;
use agent_runtime::prompt::{PromptRole, SystemPrompt};
use agent_runtime::provider::ProviderError;
use agent_runtime::redact::Redactor;
use agent_runtime::tools::ToolRegistry;
use agent_runtime::tools::escalate::Escalate;
use agent_runtime::tools::peer::Peer;
use async_trait::async_trait;

use super::agent::AgentSettings;
use super::build::{limits, system_prompt, tools_of};
use super::choose::{AgentSpec, specify};
use super::drivers::ConfiguredDrivers;
use super::external::Externals;
use super::load::Loaded;
use super::prices::price_of;

/// How many agents may be at work for each other, the first one included: enough for a helper's helper.
const MAX_DEPTH: usize = 3;

/// Makes what runs agents.
#[derive(Debug, Clone)]
pub(super) struct Maker {
    drivers: ConfiguredDrivers,
    loaded: Arc<Loaded>,
    /// The session's.
    tools: ToolRegistry,
    /// What hides secrets from models.
    redactor: Option<Arc<Redactor>>,
    /// Who has asked whom so far, by name in lower case.
    callers: Vec<String>,
}

impl Maker {
    /// Makes agents of this configuration that work with `tools`; `redactor` hides secrets from models.
    pub(super) fn new(
        drivers: ConfiguredDrivers,
        loaded: Arc<Loaded>,
        tools: ToolRegistry,
        redactor: Option<Arc<Redactor>>,
    ) -> Self {
        Self { drivers, loaded, tools, redactor, callers: Vec::new() }
    }

    /// What runs a model in its role, and the agent's name. `escalate` lets it hand over.
    ///
    /// # Errors
    /// When it cannot be reached as it is described.
    pub(super) fn model(
        &self,
        spec: &AgentSpec,
        role: PromptRole,
        escalate: Option<Escalate>,
    ) -> Result<(Arc<dyn TurnDriver>, String), ProviderError> {
        let settings = &self.loaded.settings;
        let (provider, learned) = self.drivers.provider(spec)?;
        let info = provider.info();
        let agent = settings.find(&info.agent);
        let effective = settings.effective(agent, info.context_window.or(learned.window()));
        let custom = agent.and_then(|agent| custom_prompt(agent).unwrap_or_else(|_| own_words(agent)));
        let tools = self.tools.clone();
        let tools = match escalate {
            Some(escalate) => tools.with(escalate),
            None => tools,
        };
        let tools = self.with_peers(tools_of(&tools, agent), &info.agent);
        let runner = Agent::new(provider, tools, self.drivers.ids())
            .with_limits(limits(&effective))
            .with_prompt(SystemPrompt { role, ..system_prompt(&info.agent, agent, custom) });
        let runner = match self.drivers.outputs() {
            Some(folder) => runner.with_spill(folder),
            None => runner,
        };
        let runner = match spec {
            AgentSpec::Endpoint(endpoint) => {
                let price = price_of(settings, endpoint);
                runner.with_learned(learned).with_price(price).summarising()
            }
            // Nobody is there to summarise.
            AgentSpec::Claude(_)
            | AgentSpec::Acp(_)
            | AgentSpec::Subprocess(_)
            | AgentSpec::Aider(_)
            | AgentSpec::Offline
            | AgentSpec::Unusable { .. } => runner,
        };
        let runner = match &self.redactor {
            Some(redactor) => runner.with_redaction(Arc::clone(redactor)),
            None => runner,
        };
        Ok((Arc::new(runner), info.agent))
    }

    /// What runs an agent that is a program of its own, and remembers its conversations in `externals`; `None` for a model.
    /// With `relief` it may ask for the other agent.
    pub(super) fn program(
        &self,
        spec: &AgentSpec,
        externals: &Externals,
        relief: Option<HandoverSlot>,
    ) -> Option<Arc<dyn TurnDriver>> {
        let agent = self.loaded.settings.find(spec.program()?);
        let effective = self.loaded.settings.effective(agent, None);
        let custom = agent.and_then(|agent| custom_prompt(agent).unwrap_or_else(|_| own_words(agent)));
        let driver = externals.build(spec, &effective, custom, self.drivers.ids())?;
        Some(Arc::new(Tagged::new(driver, relief)))
    }

    /// `tools` and those agents that `caller` may ask. None of them is at work already, however deep.
    fn with_peers(&self, tools: ToolRegistry, caller: &str) -> ToolRegistry {
        let mut callers = self.callers.clone();
        callers.push(caller.trim().to_lowercase());
        if callers.len() >= MAX_DEPTH {
            return tools;
        }
        let peers = self.loaded.settings.peers(caller);
        let free = peers.into_iter().filter(|(peer, _)| !callers.contains(&peer.name.trim().to_lowercase()));
        free.fold(tools, |tools, (peer, about)| {
            let name = peer.name.trim();
            let maker = Self { callers: callers.clone(), ..self.clone() };
            tools.with(Peer::new(name, about, Arc::new(Asked { maker, name: name.to_owned() })))
        })
    }
}

/// An agent that another one asks.
#[derive(Debug)]
struct Asked {
    maker: Maker,
    name: String,
}

#[async_trait]
impl TurnDriver for Asked {
    async fn drive(&self, input: TurnInput, io: TurnIo) -> Result<TurnEnd, TurnError> {
        let agent =
            self.maker.loaded.settings.find(&self.name).ok_or_else(|| ProviderError::Misconfigured {
                agent: self.name.clone(),
                reason: "it is not among `agents`".to_owned(),
            })?;
        let spec = specify(agent, self.maker.drivers.lookup());
        let served = io.or_cancelled(self.maker.drivers.serve(&spec, &input.cwd)).await?;
        served.map_err(|failure| TurnError::External {
            agent: self.name.clone(),
            code: "server_not_started",
            reason: failure.message,
        })?;
        io.or_cancelled(self.maker.drivers.ask_window(&spec)).await?;
        // What it learns of this turn is forgotten with it, and its process ends.
        let driver = match self.maker.program(&spec, &self.maker.drivers.externals(), None) {
            Some(driver) => driver,
            None => self.maker.model(&spec, PromptRole::Primary, None)?.0,
        };
        driver.drive(input, io).await
    }
}

/// The user's own words to the model: the file's, else the configured ones.
pub(super) fn custom_prompt(agent: &AgentSettings) -> Result<Option<String>, String> {
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
