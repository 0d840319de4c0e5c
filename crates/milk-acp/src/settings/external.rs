//! From the description of an agent that is a program of its own to what runs it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agent_runtime::TurnDriver;
use agent_runtime::external::Conversations;
use agent_runtime::external::claude::{ClaudeCli, ClaudeConfig};
use session_model::source::Ids;

use super::Lookup;
use super::agent::{AgentSettings, Secret};
use super::choose::AgentSpec;
use super::redact::variable_of;
use super::view::Effective;
use crate::colleague::{Colleague, ColleagueConfig, Links};

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
        env: variables(agent, lookup)?,
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
        env: variables(agent, lookup)?,
        past_bytes: ALL_BYTES,
        turn_limit: Duration::ZERO,
    })
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
    let resolve = |(name, value): (&String, &Secret)| match variable_of(value.expose()) {
        None => Ok((name.clone(), value.expose().to_owned())),
        Some(variable) => match lookup(variable) {
            Some(value) => Ok((name.clone(), value)),
            None => Err(format!("`env.{name}` refers to the variable {variable}, which is not set")),
        },
    };
    agent.env.iter().map(resolve).collect()
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
}

impl Externals {
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
                    past_bytes: past_bytes(effective),
                    turn_limit: super::build::limits(effective).turn,
                    ..(**config).clone()
                };
                Some(Arc::new(Colleague::new(config, self.links.clone(), ids)))
            }
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
