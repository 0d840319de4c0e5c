//! From the description of an agent that is a program of its own to what runs it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agent_runtime::TurnDriver;
use agent_runtime::external::aider::Aider;
use agent_runtime::external::claude::{ClaudeCli, ClaudeConfig};
use agent_runtime::external::subprocess::{Subprocess, SubprocessConfig};
use agent_runtime::external::{Conversations, ProgramConfig, Variables};
use session_model::source::Ids;

use super::Lookup;
use super::agent::{AgentSettings, Secret};
use super::choose::AgentSpec;
use super::redact::variable_of;
use super::view::Effective;
use crate::colleague::{Colleague, ColleagueConfig, Links, Memory};

/// What runs milk's own script where nothing is configured.
const PYTHON: &str = if cfg!(windows) { "python" } else { "python3" };
/// Earlier conversation an external agent is told where no limit is configured: more than it can use.
const ALL_BYTES: usize = 1024 * 1024;

/// How Claude Code is run for an agent. Limits are added when it is built.
///
/// # Errors
/// What is to be corrected.
pub(super) fn claude(agent: &AgentSettings, lookup: Lookup<'_>) -> Result<ClaudeConfig, String> {
    let named = ClaudeConfig::new(agent.name.trim());
    Ok(ClaudeConfig {
        bin: program(agent).unwrap_or(named.bin),
        model: agent.model.trim().to_owned(),
        allowed_tools: agent.allowed_tools.clone(),
        add_dirs: agent.add_dirs.iter().map(|folder| home(folder, lookup)).collect(),
        settings: agent.settings.clone(),
        extra_args: agent.extra_args.clone(),
        env: Variables(variables(agent, lookup)?),
        ..ClaudeConfig::new(agent.name.trim())
    })
}

/// How another agent is run. Limits are added when it is built.
///
/// # Errors
/// What is to be corrected.
pub(super) fn acp(agent: &AgentSettings, lookup: Lookup<'_>) -> Result<ColleagueConfig, String> {
    let bin =
        program(agent).ok_or("it has no `bin`; name the program, and in `args` what makes it speak ACP")?;
    Ok(ColleagueConfig {
        name: agent.name.trim().to_owned(),
        bin,
        args: agent.args.iter().chain(&agent.extra_args).cloned().collect(),
        env: Variables(variables(agent, lookup)?),
        instructions: None,
        past_bytes: ALL_BYTES,
        turn_limit: Duration::ZERO,
        client_files: agent.client_files.unwrap_or(true),
        client_terminals: agent.client_terminals.unwrap_or(true),
    })
}

/// How a program that prints its events is run. Limits are added when it is built.
///
/// # Errors
/// What is to be corrected.
pub(super) fn subprocess(agent: &AgentSettings, lookup: Lookup<'_>) -> Result<SubprocessConfig, String> {
    let usual = SubprocessConfig::new(once(agent, PYTHON, lookup)?);
    let settings = &agent.program;
    let or = |text: &str, usual: String| if text.trim().is_empty() { usual } else { text.trim().to_owned() };
    let max_steps = match settings.max_steps {
        0 => usual.max_steps,
        steps => u32::try_from(steps).unwrap_or(u32::MAX),
    };
    Ok(SubprocessConfig {
        args: agent.args.clone(),
        model_type: or(&settings.model_type, usual.model_type),
        action_type: or(&settings.action_type, usual.action_type).to_lowercase(),
        tools: settings.smolagent_tools.clone(),
        authorized_imports: settings.authorized_imports.clone(),
        max_steps,
        ..SubprocessConfig::new(usual.program)
    })
}

/// How aider is run. Limits are added when it is built.
///
/// # Errors
/// What is to be corrected.
pub(super) fn aider(agent: &AgentSettings, lookup: Lookup<'_>) -> Result<ProgramConfig, String> {
    once(agent, "aider", lookup)
}

/// A program that is run once a turn, usually `bin`.
fn once(agent: &AgentSettings, bin: &str, lookup: Lookup<'_>) -> Result<ProgramConfig, String> {
    if !agent.token_cmd.trim().is_empty() {
        return Err(
            "it cannot be given a token by `token_cmd`; give it `api_key` or variables in `env`".to_owned()
        );
    }
    let api_base = api_base(agent.url.trim());
    let key = resolved("api_key", &agent.api_key, lookup)?;
    // Clients of such a server want a key even where it wants none.
    let key = if key.is_empty() && !api_base.is_empty() { "none".to_owned() } else { key };
    let mut env: Vec<(String, String)> = Vec::new();
    env.extend((!key.is_empty()).then(|| ("OPENAI_API_KEY".to_owned(), key)));
    env.extend(variables(agent, lookup)?);
    Ok(ProgramConfig {
        model: agent.model.trim().to_owned(),
        api_base,
        extra_args: agent.extra_args.clone(),
        env: Variables(env),
        prompt_argument: agent.program.prompt_argument,
        ..ProgramConfig::new(agent.name.trim(), &program(agent).unwrap_or_else(|| bin.to_owned()))
    })
}

/// The base as OpenAI's clients want it: a server's address alone means its usual path.
fn api_base(url: &str) -> String {
    let url = url.trim_end_matches('/');
    let has_path = url.split_once("://").is_some_and(|(_, rest)| rest.contains('/'));
    if url.is_empty() || has_path { url.to_owned() } else { format!("{url}/v1") }
}

/// The program, as `bin` or `command` name it.
fn program(agent: &AgentSettings) -> Option<String> {
    [&agent.bin, &agent.command].map(|text| text.trim().to_owned()).into_iter().find(|text| !text.is_empty())
}

/// `~` is the home folder.
fn home(folder: &str, lookup: Lookup<'_>) -> PathBuf {
    match folder.strip_prefix('~').zip(lookup("HOME")) {
        Some((rest, home)) => Path::new(&home).join(rest.trim_start_matches('/')),
        None => PathBuf::from(folder),
    }
}

/// Its further variables, references filled in.
fn variables(agent: &AgentSettings, lookup: Lookup<'_>) -> Result<Vec<(String, String)>, String> {
    let resolve = |(name, value): (&String, &Secret)| {
        Ok((name.clone(), resolved(&format!("env.{name}"), value, lookup)?))
    };
    agent.env.iter().map(resolve).collect()
}

/// The text itself, or that of the variable it names.
fn resolved(key: &str, value: &Secret, lookup: Lookup<'_>) -> Result<String, String> {
    match variable_of(value.expose()) {
        None => Ok(value.expose().to_owned()),
        Some(variable) => lookup(variable)
            .ok_or_else(|| format!("`{key}` refers to the variable {variable}, which is not set")),
    }
}

/// How much earlier conversation an agent is told.
fn past_bytes(effective: &Effective) -> usize {
    effective.message_budget_chars.and_then(|chars| usize::try_from(chars).ok()).unwrap_or(ALL_BYTES)
}

/// What external agents of one session share.
#[derive(Debug, Clone, Default)]
pub(super) struct Externals {
    conversations: Conversations,
    links: Links,
    memory: Memory,
    /// Where milk's own script is put.
    scripts: Option<PathBuf>,
}

impl Externals {
    /// With a folder (absolute) for milk's own script.
    pub(super) fn with_scripts(scripts: Option<PathBuf>) -> Self {
        Self { scripts, ..Self::default() }
    }

    /// With a folder (absolute) to remember the agents' sessions in, beyond this process.
    pub(super) fn remembering(self, folder: Option<&Path>) -> Self {
        Self { memory: Memory::new(folder), ..self }
    }

    /// What runs the agent, with what holds for it and the user's own words to it; `None` for a model.
    pub(super) fn build(
        &self,
        spec: &AgentSpec,
        effective: &Effective,
        custom: Option<String>,
        ids: Arc<dyn Ids>,
    ) -> Option<Arc<dyn TurnDriver>> {
        match spec {
            AgentSpec::Claude(config) => Some(self.claude(config, effective, custom, ids)),
            AgentSpec::Acp(config) => {
                let config = ColleagueConfig {
                    instructions: custom,
                    past_bytes: past_bytes(effective),
                    turn_limit: super::build::limits(effective).turn,
                    ..(**config).clone()
                };
                Some(Arc::new(Colleague::new(config, self.links.clone(), self.memory.clone(), ids)))
            }
            AgentSpec::Subprocess(config) => {
                let config = SubprocessConfig {
                    program: limited(&config.program, effective, custom),
                    scripts: self.scripts.clone(),
                    ..(**config).clone()
                };
                Some(Arc::new(Subprocess::new(config, ids)))
            }
            AgentSpec::Aider(config) => Some(Arc::new(Aider::new(limited(config, effective, custom), ids))),
            AgentSpec::Endpoint(_) | AgentSpec::Offline | AgentSpec::Unusable { .. } => None,
        }
    }

    fn claude(
        &self,
        config: &ClaudeConfig,
        effective: &Effective,
        custom: Option<String>,
        ids: Arc<dyn Ids>,
    ) -> Arc<dyn TurnDriver> {
        let config = ClaudeConfig {
            instructions: custom,
            past_bytes: past_bytes(effective),
            turn_limit: super::build::limits(effective).turn,
            ..config.clone()
        };
        Arc::new(ClaudeCli::new(config, self.conversations.clone(), ids))
    }
}

fn limited(config: &ProgramConfig, effective: &Effective, instructions: Option<String>) -> ProgramConfig {
    ProgramConfig {
        instructions,
        past_bytes: past_bytes(effective),
        turn_limit: super::build::limits(effective).turn,
        ..config.clone()
    }
}
