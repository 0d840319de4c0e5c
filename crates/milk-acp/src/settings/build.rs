//! From the description of an agent to what talks to it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use agent_runtime::agent::Limits;
use agent_runtime::offline::Offline;
use agent_runtime::prompt::{PromptRole, PromptTier as RuntimeTier, SystemPrompt};
use agent_runtime::provider::{Provider, ProviderError};
use agent_runtime::providers::anthropic::{Anthropic, AnthropicConfig, MAX_TOKENS};
use agent_runtime::providers::auth::Auth;
use agent_runtime::providers::aws::{AwsAuth, AwsKeys};
use agent_runtime::providers::bedrock::{Bedrock, BedrockConfig};
use agent_runtime::providers::http::{HttpClients, TlsOptions};
use agent_runtime::providers::link::ServerConfig;
use agent_runtime::providers::openai_chat::{OpenAiChat, OpenAiChatConfig};
use agent_runtime::providers::openai_responses::{OpenAiResponses, OpenAiResponsesConfig};
use agent_runtime::tools::ToolRegistry;
use session_model::source::Clock;

use super::agent::{AgentSettings, ApiFormat, PromptTier};
use super::choose::{AgentSpec, Credential, EndpointSpec};
use super::view::Effective;

/// What "no limit" is where a number is needed: longer than any turn.
const ENDLESS: Duration = Duration::from_hours(24 * 365);

/// Makes the provider an agent is reached by. Connects to nothing yet; `clients` are shared with other providers, and
/// `clock` dates signatures (without one, what wants them cannot be asked).
///
/// # Errors
/// [`ProviderError::Misconfigured`] when the agent cannot be reached as it is described.
pub fn build_provider(
    spec: &AgentSpec,
    clients: &HttpClients,
    clock: Option<&Arc<dyn Clock>>,
) -> Result<Arc<dyn Provider>, ProviderError> {
    match spec {
        AgentSpec::Offline => Ok(Arc::new(Offline::new())),
        AgentSpec::Unusable { name, reason } => {
            Err(ProviderError::Misconfigured { agent: name.clone(), reason: reason.clone() })
        }
        AgentSpec::Claude(_) | AgentSpec::Acp(_) | AgentSpec::Subprocess(_) | AgentSpec::Aider(_) => {
            Err(ProviderError::Misconfigured {
                agent: spec.program().unwrap_or_default().to_owned(),
                reason: "it is a program of its own and no model".to_owned(),
            })
        }
        AgentSpec::Endpoint(endpoint) => match endpoint.api {
            ApiFormat::ChatCompletions => Ok(Arc::new(OpenAiChat::new(chat_config(endpoint, clients)))),
            ApiFormat::Responses => Ok(Arc::new(OpenAiResponses::new(OpenAiResponsesConfig {
                model: given(&endpoint.model),
                context_window: endpoint.context_window,
                max_tokens: endpoint.request.limit(),
                thinking: endpoint.request.thinking_budget,
                sampling: endpoint.request.sampling(),
                extra: endpoint.request.extra.clone(),
                ..OpenAiResponsesConfig::new(server_config(endpoint, clients))
            }))),
            ApiFormat::Messages => Ok(Arc::new(Anthropic::new(AnthropicConfig {
                context_window: endpoint.context_window,
                max_tokens: endpoint.request.limit().unwrap_or(MAX_TOKENS),
                thinking: endpoint.request.thinking_budget,
                sampling: endpoint.request.sampling(),
                prompt_caching: endpoint.request.prompt_caching.unwrap_or(true),
                extra: endpoint.request.extra.clone(),
                ..AnthropicConfig::new(server_config(endpoint, clients), &endpoint.model)
            }))),
            ApiFormat::Converse => Ok(Arc::new(Bedrock::new(bedrock_config(endpoint, clients, clock)))),
        },
    }
}

fn bedrock_config(
    endpoint: &EndpointSpec,
    clients: &HttpClients,
    clock: Option<&Arc<dyn Clock>>,
) -> BedrockConfig {
    let server = ServerConfig { clock: clock.cloned(), ..server_config(endpoint, clients) };
    BedrockConfig {
        context_window: endpoint.context_window,
        max_tokens: endpoint.request.limit(),
        thinking: endpoint.request.thinking_budget,
        sampling: endpoint.request.sampling(),
        prompt_caching: endpoint.request.prompt_caching.unwrap_or(false),
        extra: endpoint.request.extra.clone(),
        ..BedrockConfig::new(server, &endpoint.model)
    }
}

fn given(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

/// The way to a server, whatever its API.
fn server_config(endpoint: &EndpointSpec, clients: &HttpClients) -> ServerConfig {
    ServerConfig {
        path: given(&endpoint.chat_path),
        headers: plain_headers(endpoint),
        auth: auth(&endpoint.credential),
        tls: tls(endpoint),
        clients: clients.clone(),
        ..ServerConfig::new(&endpoint.name, &endpoint.url)
    }
}

fn auth(credential: &Credential) -> Auth {
    match credential {
        Credential::None => Auth::None,
        Credential::Key(key) => Auth::Key(key.expose().into()),
        Credential::Command(command) => Auth::Command(command.clone()),
        Credential::Aws(aws) => Auth::Aws(Box::new(AwsAuth {
            region: aws.region.clone(),
            service: aws.service.clone(),
            keys: aws.keys.as_ref().map(|keys| AwsKeys {
                id: keys.id.expose().into(),
                secret: keys.secret.expose().into(),
                token: keys.token.as_ref().map(|token| token.expose().into()),
            }),
            refresh: aws.refresh_cmd.clone(),
        })),
    }
}

pub(super) fn tls(endpoint: &EndpointSpec) -> TlsOptions {
    TlsOptions { skip_verify: endpoint.tls_skip_verify, ca_cert: endpoint.tls_ca_cert.clone() }
}

/// What a Chat Completions server is asked with.
#[must_use]
pub fn chat_config(endpoint: &EndpointSpec, clients: &HttpClients) -> OpenAiChatConfig {
    OpenAiChatConfig {
        chat_path: given(&endpoint.chat_path),
        model: given(&endpoint.model),
        headers: plain_headers(endpoint),
        auth: auth(&endpoint.credential),
        tls: tls(endpoint),
        context_window: endpoint.context_window,
        max_tokens: endpoint.request.limit(),
        thinking: endpoint.request.thinking_budget,
        hears: endpoint.hears,
        sampling: endpoint.request.sampling(),
        extra: endpoint.request.extra.clone(),
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
        history: effective.message_limit.and_then(|chars| usize::try_from(chars).ok()).unwrap_or(usize::MAX),
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

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::TcpListener;

    use agent_runtime::provider::{ModelMessage, ModelRequest};
    use serde_json::{Value, json};
    use session_model::Content;
    use session_model::source::FixedClock;

    use super::*;
    use crate::settings::{Settings, choose};

    fn clock() -> Arc<dyn Clock> {
        Arc::new(FixedClock(time::OffsetDateTime::UNIX_EPOCH))
    }

    /// The request that the agent of `document` sends to `server`, which refuses it.
    fn asked(server: TcpListener, document: &Value, key: Option<&str>) -> String {
        let settings = Settings::from_document(document.as_object().unwrap().clone()).unwrap();
        let lookup = |name: &str| key.filter(|_| name == "KEY").map(str::to_owned);
        let spec = choose(&settings, &lookup, &[]).spec;
        let provider = build_provider(&spec, &HttpClients::default(), Some(&clock())).unwrap();
        let heard = std::thread::spawn(move || {
            let (stream, _) = server.accept().unwrap();
            let mut reader = BufReader::new(stream);
            let mut lines = String::new();
            while !lines.ends_with("\r\n\r\n") {
                reader.read_line(&mut lines).unwrap();
            }
            let length = lines.to_lowercase().split_once("content-length: ").unwrap().1.to_owned();
            let mut body = vec![0; length.lines().next().unwrap().parse().unwrap()];
            reader.read_exact(&mut body).unwrap();
            lines.push_str(&String::from_utf8(body).unwrap());
            let refusal = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            reader.get_mut().write_all(refusal).unwrap();
            lines
        });
        let messages = vec![ModelMessage::User(vec![Content::text("hi")])];
        let request =
            ModelRequest { system: String::new(), messages, tools: Vec::new(), ..ModelRequest::default() };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(provider.stream(request)).err().unwrap();
        heard.join().unwrap()
    }

    #[test]
    fn every_api_is_asked_at_its_own_place_with_its_own_proof() {
        for (members, place, proof) in [
            (json!({}), "/v1/chat/completions", "authorization: Bearer k"),
            (json!({"api_format": "responses"}), "/v1/responses", "authorization: Bearer k"),
            (json!({"api_format": "messages"}), "/v1/messages", "x-api-key: k"),
            (json!({"provider": "Anthropic"}), "/v1/messages", "x-api-key: k"),
            (json!({"provider": "anthropic", "chat_path": "/up"}), "/up", "x-api-key: k"),
            (
                json!({"provider": "bedrock", "aws_region": "r-1"}),
                "/model/m/converse-stream",
                "authorization: Bearer k",
            ),
            (
                json!({"provider": "bedrock", "aws_region": "r-1", "api_key": "", "aws_key_id": "A", "aws_secret": "$KEY"}),
                "/model/m/converse-stream",
                "authorization: AWS4-HMAC-SHA256 Credential=A/19700101/r-1/bedrock/aws4_request",
            ),
        ] {
            let server = TcpListener::bind("127.0.0.1:0").unwrap();
            let url = format!("http://{}", server.local_addr().unwrap());
            let mut agent = json!({"name": "a", "url": url, "model": "m", "api_key": "$KEY"});
            agent.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
            let heard = asked(server, &json!({"agents": [agent]}), Some("k"));
            assert!(heard.starts_with(&format!("POST {place} HTTP/1.1")), "{members}: {heard}");
            assert!(heard.contains(proof), "{members}: {heard}");
        }
    }

    #[test]
    fn what_is_configured_for_requests_reaches_every_api() {
        let request =
            json!({"max_tokens": 500, "top_p": 0.5, "thinking_budget": "low", "extra": {"top_k": 3}});
        for (api, expected) in [
            (
                "chat_completions",
                json!({"max_tokens": 500, "top_p": 0.5, "reasoning_effort": "low", "top_k": 3}),
            ),
            (
                "responses",
                json!({"max_output_tokens": 500, "top_p": 0.5, "top_k": 3,
                    "reasoning": {"effort": "low", "summary": "auto"}}),
            ),
            (
                "messages",
                json!({"max_tokens": 5120, "top_k": 3, "thinking": {"type": "enabled", "budget_tokens": 4096}}),
            ),
        ] {
            let server = TcpListener::bind("127.0.0.1:0").unwrap();
            let url = format!("http://{}", server.local_addr().unwrap());
            let mut agent = json!({"name": "a", "url": url, "model": "m", "api_format": api});
            agent.as_object_mut().unwrap().extend(request.as_object().unwrap().clone());
            let heard = asked(server, &json!({"agents": [agent]}), None);
            let (_, body) = heard.split_once("\r\n\r\n").unwrap();
            let body: Value = serde_json::from_str(body).unwrap();
            for (name, value) in expected.as_object().unwrap() {
                assert_eq!(&body[name], value, "{api}: {name} in {body}");
            }
        }
    }
}
