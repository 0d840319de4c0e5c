//! From the description of an agent to what talks to it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use agent_runtime::agent::Limits;
use agent_runtime::offline::Offline;
use agent_runtime::prompt::{PromptRole, PromptTier as RuntimeTier, SystemPrompt};
use agent_runtime::provider::{Provider, ProviderError};
use agent_runtime::providers::auth::Auth;
use agent_runtime::providers::http::{HttpClients, TlsOptions};
use agent_runtime::providers::openai_chat::{OpenAiChat, OpenAiChatConfig};
use agent_runtime::tools::ToolRegistry;

use super::agent::{AgentSettings, ApiFormat, PromptTier};
use super::choose::{AgentSpec, Credential, EndpointSpec};
use super::view::Effective;

/// What "no limit" is where a number is needed: longer than any turn.
const ENDLESS: Duration = Duration::from_hours(24 * 365);

/// Makes the provider an agent is reached by. Connects to nothing yet; `clients` are shared with other providers.
///
/// # Errors
/// [`ProviderError::Misconfigured`] when the agent cannot be reached as it is described.
pub fn build_provider(spec: &AgentSpec, clients: &HttpClients) -> Result<Arc<dyn Provider>, ProviderError> {
    match spec {
        AgentSpec::Offline => Ok(Arc::new(Offline::new())),
        AgentSpec::Unusable { name, reason } => {
            Err(ProviderError::Misconfigured { agent: name.clone(), reason: reason.clone() })
        }
        AgentSpec::Endpoint(endpoint) => match endpoint.api {
            ApiFormat::ChatCompletions => Ok(Arc::new(OpenAiChat::new(chat_config(endpoint, clients)))),
            ApiFormat::Responses => Err(ProviderError::Misconfigured {
                agent: endpoint.name.clone(),
                reason: "this build does not speak `api_format` \"responses\"; leave it out".to_owned(),
            }),
        },
    }
}

/// What a Chat Completions server is asked with.
#[must_use]
pub fn chat_config(endpoint: &EndpointSpec, clients: &HttpClients) -> OpenAiChatConfig {
    let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    OpenAiChatConfig {
        chat_path: given(&endpoint.chat_path),
        model: given(&endpoint.model),
        headers: plain_headers(endpoint),
        auth: match &endpoint.credential {
            Credential::None => Auth::None,
            Credential::Key(key) => Auth::Key(key.expose().into()),
            Credential::Command(command) => Auth::Command(command.clone()),
        },
        tls: TlsOptions { skip_verify: endpoint.tls_skip_verify, ca_cert: endpoint.tls_ca_cert.clone() },
        context_window: endpoint.context_window,
        clients: clients.clone(),
        ..OpenAiChatConfig::new(&endpoint.name, &endpoint.url)
    }
}

fn plain_headers(endpoint: &EndpointSpec) -> BTreeMap<String, String> {
    endpoint.headers.iter().map(|(name, value)| (name.clone(), value.expose().to_owned())).collect()
}

/// What a turn of the agent may take.
pub(super) fn limits(effective: &Effective) -> Limits {
    let requests =
        effective.max_tool_iterations.map_or(usize::MAX, |n| usize::try_from(n).unwrap_or(usize::MAX));
    Limits {
        max_requests: requests,
        turn: effective.turn_timeout.unwrap_or(ENDLESS),
        tool: effective.tool_timeout.unwrap_or(ENDLESS),
    }
}

/// What the agent is told before everything else. `custom` are the user's own words.
pub(super) fn system_prompt(
    name: &str,
    agent: Option<&AgentSettings>,
    custom: Option<String>,
) -> SystemPrompt {
    let tier = match agent.map(|agent| agent.system_prompt_tier).unwrap_or_default() {
        PromptTier::Minimal => RuntimeTier::Minimal,
        PromptTier::Standard => RuntimeTier::Standard,
        PromptTier::Full => RuntimeTier::Full,
    };
    SystemPrompt { name: name.to_owned(), role: PromptRole::Primary, tier, custom }
}

/// The tools the agent may use: those included (all, when none is named) without those excluded.
pub(super) fn tools_of(all: &ToolRegistry, agent: Option<&AgentSettings>) -> ToolRegistry {
    let Some(limits) = agent.map(|agent| &agent.limits) else { return all.clone() };
    if limits.included_tools.is_empty() && limits.excluded_tools.is_empty() {
        return all.clone();
    }
    let names = |list: &[String], name: &str| list.iter().any(|entry| entry.trim() == name);
    all.iter()
        .filter(|tool| {
            let name = tool.spec().schema.name.as_str();
            let included = limits.included_tools.is_empty() || names(&limits.included_tools, name);
            included && !names(&limits.excluded_tools, name)
        })
        .fold(ToolRegistry::new(), |kept, tool| kept.with_shared(Arc::clone(tool)))
}
