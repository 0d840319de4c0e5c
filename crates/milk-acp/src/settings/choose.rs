//! Which agent answers: the configured one, else a model server that runs here, else a service whose key is in
//! the environment, else none. Pure: what was detected and how variables are looked up is passed in.

use std::fmt;
use std::path::PathBuf;

use agent_runtime::external::ProgramConfig;
use agent_runtime::external::claude::ClaudeConfig;
use agent_runtime::external::subprocess::SubprocessConfig;
use agent_runtime::providers::detect::Detected;

use super::Lookup;
use super::agent::{AgentSettings, ApiFormat, ProviderKind, Secret};
use super::aws::{self, AwsSpec};
use super::external;
use super::known::{ANTHROPIC_URL, KNOWN_SERVICES, KnownService};
use super::redact::variable_of;
use super::request::RequestSettings;
use super::view::Settings;
use crate::colleague::ColleagueConfig;

/// The agent that answers, and why it is this one.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentChoice {
    /// How it is reached.
    pub spec: AgentSpec,
    /// Why.
    pub reason: Reason,
}

/// How an agent is reached.
#[derive(Debug, Clone, PartialEq)]
pub enum AgentSpec {
    /// A model server.
    Endpoint(Box<EndpointSpec>),
    /// Claude Code as a child process.
    Claude(Box<ClaudeConfig>),
    /// Another agent that speaks the protocol, as a child process.
    Acp(Box<ColleagueConfig>),
    /// Any program that prints its events.
    Subprocess(Box<SubprocessConfig>),
    /// Aider as a child process.
    Aider(Box<ProgramConfig>),
    /// No model; the tools alone.
    Offline,
    /// It is configured in a way that cannot work.
    Unusable {
        /// Its name.
        name: String,
        /// What to correct.
        reason: String,
    },
}

impl AgentSpec {
    /// The name of an agent that is a program of its own.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        match self {
            Self::Claude(config) => Some(&config.name),
            Self::Acp(config) => Some(&config.name),
            Self::Subprocess(config) => Some(&config.program.name),
            Self::Aider(config) => Some(&config.name),
            Self::Endpoint(_) | Self::Offline | Self::Unusable { .. } => None,
        }
    }

    /// Asks for this model, where one can be asked for.
    pub fn ask_for(&mut self, model: &str) {
        match self {
            Self::Endpoint(endpoint) => model.clone_into(&mut endpoint.model),
            Self::Claude(config) => model.clone_into(&mut config.model),
            Self::Subprocess(config) => model.clone_into(&mut config.program.model),
            Self::Aider(config) => model.clone_into(&mut config.model),
            Self::Acp(_) | Self::Offline | Self::Unusable { .. } => {}
        }
    }
}

/// A model server, with everything that is needed to ask it.
#[derive(Debug, Clone, PartialEq)]
pub struct EndpointSpec {
    /// The agent's name.
    pub name: String,
    /// The base URL.
    pub url: String,
    /// The path under it; empty is the API's usual one.
    pub chat_path: String,
    /// Its API.
    pub api: ApiFormat,
    /// The model; empty leaves it to the server.
    pub model: String,
    /// Further headers, variables filled in.
    pub headers: Vec<(String, Secret)>,
    /// What proves who we are.
    pub credential: Credential,
    /// Accept any certificate.
    pub tls_skip_verify: bool,
    /// A PEM file with further certificate authorities.
    pub tls_ca_cert: Option<PathBuf>,
    /// Tokens the model can hold, where known.
    pub context_window: Option<u64>,
    /// The model takes sounds.
    pub hears: bool,
    /// What is added to every request.
    pub request: RequestSettings,
    /// The shell command that starts the server; empty where it is started otherwise.
    pub run_cmd: String,
}

/// What proves who we are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credential {
    /// Nothing.
    None,
    /// A bearer token.
    Key(Secret),
    /// A shell command that prints one.
    Command(String),
    /// Keys of Amazon's, which sign requests.
    Aws(Box<AwsSpec>),
}

/// Why an agent was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// The session's user chose it.
    Chosen,
    /// `escalation_agent` names it.
    Escalation,
    /// `agent` names it.
    Named,
    /// It is the first server among `agents`.
    FirstServer,
    /// It runs on this machine.
    Detected {
        /// Where.
        url: String,
    },
    /// Its key is in the environment.
    KeyVariable(&'static str),
    /// There is nothing else.
    NothingFound,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Chosen => f.write_str("it was chosen for this session"),
            Self::Escalation => f.write_str("it is the escalation agent"),
            Self::Named => f.write_str("`agent` in the configuration names it"),
            Self::FirstServer => f.write_str("it is the first server among the configured `agents`"),
            Self::Detected { url } => {
                write!(f, "no agent is configured, and a model server answers at {url}")
            }
            Self::KeyVariable(variable) => write!(f, "no agent is configured, and {variable} is set"),
            Self::NothingFound => {
                f.write_str("no agent is configured, no model server answers here, and no API key is set")
            }
        }
    }
}

/// Whether looking for running servers can change the choice.
#[must_use]
pub fn needs_detection(settings: &Settings) -> bool {
    settings.primary().is_none()
}

/// Chooses the agent that answers.
///
/// `detected` matters only where [`needs_detection`] says so; servers without a usable model are passed over.
#[must_use]
pub fn choose(settings: &Settings, lookup: Lookup<'_>, detected: &[Detected]) -> AgentChoice {
    if let Some(agent) = settings.primary() {
        let named = settings.find(&settings.agent).is_some() && !settings.agent.trim().is_empty();
        let reason = if named { Reason::Named } else { Reason::FirstServer };
        return AgentChoice { spec: specify(agent, lookup), reason };
    }
    let running =
        detected.iter().find_map(|server| usable_model(&server.models).map(|model| (server, model)));
    if let Some((server, model)) = running {
        let spec = EndpointSpec {
            context_window: server.context_window,
            ..plain(&server.name, &server.url, model, Credential::None)
        };
        let reason = Reason::Detected { url: server.url.clone() };
        return AgentChoice { spec: AgentSpec::Endpoint(Box::new(spec)), reason };
    }
    let keyed =
        KNOWN_SERVICES.iter().find_map(|service| said(lookup, service.variable).map(|key| (service, key)));
    match keyed {
        Some((service, key)) => AgentChoice {
            spec: AgentSpec::Endpoint(Box::new(specify_known(service, key, lookup))),
            reason: Reason::KeyVariable(service.variable),
        },
        None => AgentChoice { spec: AgentSpec::Offline, reason: Reason::NothingFound },
    }
}

/// How a configured agent is reached, its variables filled in.
#[must_use]
pub fn specify(agent: &AgentSettings, lookup: Lookup<'_>) -> AgentSpec {
    let spec = match agent.kind() {
        ProviderKind::ClaudeCli => {
            external::claude(agent, lookup).map(|config| AgentSpec::Claude(Box::new(config)))
        }
        ProviderKind::Acp => external::acp(agent, lookup).map(|config| AgentSpec::Acp(Box::new(config))),
        ProviderKind::Subprocess => {
            external::subprocess(agent, lookup).map(|config| AgentSpec::Subprocess(Box::new(config)))
        }
        ProviderKind::AiderCli => {
            external::aider(agent, lookup).map(|config| AgentSpec::Aider(Box::new(config)))
        }
        ProviderKind::Local | ProviderKind::Bearer | ProviderKind::Anthropic | ProviderKind::Bedrock => {
            specify_endpoint(agent, lookup).map(|spec| AgentSpec::Endpoint(Box::new(spec)))
        }
    };
    match spec {
        Ok(spec) => spec,
        Err(reason) => AgentSpec::Unusable { name: agent.name.clone(), reason },
    }
}

fn specify_endpoint(agent: &AgentSettings, lookup: Lookup<'_>) -> Result<EndpointSpec, String> {
    match agent.kind() {
        ProviderKind::Local | ProviderKind::Bearer | ProviderKind::Anthropic | ProviderKind::Bedrock => {}
        kind @ (ProviderKind::ClaudeCli
        | ProviderKind::AiderCli
        | ProviderKind::Subprocess
        | ProviderKind::Acp) => {
            return Err(format!("this build cannot use provider `{}` as the primary agent", kind.name()));
        }
    }
    let is_amazons = agent.kind() == ProviderKind::Bedrock;
    let (url, credential) = if is_amazons { aws::place(agent, lookup)? } else { place(agent, lookup)? };
    let headers: Result<Vec<_>, String> = agent
        .headers
        .iter()
        .map(|(name, value)| Ok((name.clone(), resolve(&format!("headers.{name}"), value, lookup)?)))
        .collect();
    Ok(EndpointSpec {
        chat_path: agent.chat_path.trim().to_owned(),
        api: agent.api(),
        headers: headers?,
        tls_skip_verify: agent.tls_skip_verify,
        tls_ca_cert: (!agent.tls_ca_cert.is_empty()).then(|| PathBuf::from(&agent.tls_ca_cert)),
        context_window: u64::try_from(agent.context_window_tokens).ok().filter(|tokens| *tokens > 0),
        hears: agent.hears(),
        request: agent.request.clone(),
        run_cmd: agent.run_cmd.trim().to_owned(),
        ..plain(&agent.name, &url, agent.model.trim(), credential)
    })
}

/// The server's base URL and the credential of an agent that is no service of Amazon's.
fn place(agent: &AgentSettings, lookup: Lookup<'_>) -> Result<(String, Credential), String> {
    let url = match agent.url.trim() {
        "" if agent.kind() == ProviderKind::Anthropic => ANTHROPIC_URL,
        url => url,
    };
    if url.is_empty() {
        return Err("it has no `url`; give the server's base URL".to_owned());
    }
    let credential = if !agent.token_cmd.trim().is_empty() {
        Credential::Command(agent.token_cmd.clone())
    } else if agent.api_key.is_empty() {
        Credential::None
    } else {
        Credential::Key(resolve("api_key", &agent.api_key, lookup)?)
    };
    Ok((url.to_owned(), credential))
}

/// The secret itself, whether it is given or named by its variable.
pub(super) fn resolve(key: &str, secret: &Secret, lookup: Lookup<'_>) -> Result<Secret, String> {
    match variable_of(secret.expose()) {
        None => Ok(secret.clone()),
        Some(name) => said(lookup, name)
            .map(Secret::from)
            .ok_or_else(|| format!("`{key}` refers to the variable {name}, which is not set")),
    }
}

fn specify_known(service: &KnownService, key: String, lookup: Lookup<'_>) -> EndpointSpec {
    let credential = Credential::Key(Secret::from(key));
    let mut spec = plain(service.name, service.url, service.model, credential);
    service.chat_path.clone_into(&mut spec.chat_path);
    spec.api = service.api;
    // OpenAI's own clients read these two, so whoever set them means them.
    if service.name == "openai" {
        if let Some(url) = said(lookup, "OPENAI_BASE_URL") {
            spec.url = url;
            spec.model.clear();
            // What gateways and local servers have.
            spec.api = ApiFormat::ChatCompletions;
        }
        if let Some(model) = said(lookup, "OPENAI_MODEL") {
            spec.model = model;
        }
    }
    spec
}

fn plain(name: &str, url: &str, model: &str, credential: Credential) -> EndpointSpec {
    EndpointSpec {
        name: name.to_owned(),
        url: url.to_owned(),
        chat_path: String::new(),
        api: ApiFormat::ChatCompletions,
        model: model.to_owned(),
        headers: Vec::new(),
        credential,
        tls_skip_verify: false,
        tls_ca_cert: None,
        context_window: None,
        hears: false,
        request: RequestSettings::default(),
        run_cmd: String::new(),
    }
}

/// The first model that is not merely for embeddings, sounds or ranking.
fn usable_model(models: &[String]) -> Option<&str> {
    const OTHER_TRADES: [&str; 5] = ["embed", "whisper", "rerank", "bge-", "tts"];
    models.iter().map(String::as_str).find(|model| {
        let model = model.to_lowercase();
        !OTHER_TRADES.iter().any(|word| model.contains(word))
    })
}

/// A variable that is set to something.
pub(super) fn said(lookup: Lookup<'_>, name: &str) -> Option<String> {
    lookup(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn chosen(document: &Value, variables: &[(&str, &str)], detected: &[Detected]) -> AgentChoice {
        let settings = Settings::from_document(document.as_object().unwrap().clone()).unwrap();
        let lookup = |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned());
        choose(&settings, &lookup, detected)
    }

    fn endpoint(choice: &AgentChoice) -> &EndpointSpec {
        match &choice.spec {
            AgentSpec::Endpoint(spec) => spec,
            AgentSpec::Claude(_)
            | AgentSpec::Acp(_)
            | AgentSpec::Subprocess(_)
            | AgentSpec::Aider(_)
            | AgentSpec::Offline
            | AgentSpec::Unusable { .. } => {
                panic!("no endpoint: {choice:?}")
            }
        }
    }

    fn server(url: &str, models: &[&str]) -> Detected {
        let models = models.iter().map(|m| (*m).to_owned()).collect();
        Detected { name: "ollama".into(), url: url.into(), models, context_window: Some(4096) }
    }

    #[test]
    fn a_configured_agent_beats_everything_found() {
        let document = json!({"agents": [
            {"name": "cc", "provider": "claude-cli"},
            {"name": "a", "url": " http://h/v1 ", "model": "m", "context_window_tokens": 8192},
        ]});
        let choice =
            chosen(&document, &[("OPENAI_API_KEY", "sk")], &[server("http://127.0.0.1:11434", &["qwen"])]);
        assert_eq!(choice.reason, Reason::FirstServer);
        let spec = endpoint(&choice);
        assert_eq!(
            (spec.url.as_str(), spec.model.as_str(), spec.context_window),
            ("http://h/v1", "m", Some(8192))
        );
        assert_eq!(spec.credential, Credential::None);
    }

    #[test]
    fn a_running_server_beats_a_key_and_a_key_beats_nothing() {
        let key = [("GROQ_API_KEY", "gsk"), ("OPENAI_API_KEY", " ")];
        let running = [
            server("http://127.0.0.1:1234", &[]),
            server("http://127.0.0.1:11434", &["nomic-embed-text", "qwen3:8b"]),
        ];
        let choice = chosen(&json!({}), &key, &running);
        assert_eq!(choice.reason, Reason::Detected { url: "http://127.0.0.1:11434".into() });
        assert_eq!(endpoint(&choice).model, "qwen3:8b");
        let choice = chosen(&json!({}), &key, &running[..1]);
        assert_eq!(choice.reason, Reason::KeyVariable("GROQ_API_KEY"));
        assert_eq!(endpoint(&choice).url, "https://api.groq.com/openai");
        assert_eq!(endpoint(&choice).credential, Credential::Key("gsk".to_owned().into()));
        let choice = chosen(&json!({}), &[], &running[..1]);
        assert_eq!(choice, AgentChoice { spec: AgentSpec::Offline, reason: Reason::NothingFound });
    }

    #[test]
    fn keys_may_be_references_and_an_unset_one_is_named() {
        let document =
            |key: &str| json!({"agents": [{"name": "a", "url": "u", "provider": "bearer", "api_key": key}]});
        let table = [("${MY_KEY}", "v"), ("$MY_KEY", "v"), ("literal", "literal"), (" literal\n", "literal")];
        for (key, expected) in table {
            let choice = chosen(&document(key), &[("MY_KEY", "v\n")], &[]);
            assert_eq!(endpoint(&choice).credential, Credential::Key(expected.to_owned().into()), "{key:?}");
        }
        let choice = chosen(&document("$MY_KEY"), &[("MY_KEY", "")], &[]);
        assert_eq!(
            choice.spec,
            AgentSpec::Unusable {
                name: "a".into(),
                reason: "`api_key` refers to the variable MY_KEY, which is not set".into()
            }
        );
    }

    #[test]
    fn a_token_command_wins_over_a_key_and_headers_are_filled_in() {
        let document = json!({"agents": [{"name": "a", "url": "u", "api_key": "$NONE", "token_cmd": "gh auth token",
            "headers": {"api-key": "$AZURE", "X-Title": "milk"}}]});
        let choice = chosen(&document, &[("AZURE", "k")], &[]);
        let spec = endpoint(&choice);
        assert_eq!(spec.credential, Credential::Command("gh auth token".into()));
        let headers: Vec<_> = spec.headers.iter().map(|(n, v)| (n.as_str(), v.expose())).collect();
        assert_eq!(headers, [("X-Title", "milk"), ("api-key", "k")]);
    }

    #[test]
    fn openai_clients_own_variables_are_honoured() {
        let choice = chosen(&json!({}), &[("OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", "http://gw/v1")], &[]);
        assert_eq!((endpoint(&choice).url.as_str(), endpoint(&choice).model.as_str()), ("http://gw/v1", ""));
        assert_eq!(endpoint(&choice).api, ApiFormat::ChatCompletions);
        let choice = chosen(&json!({}), &[("OPENAI_API_KEY", "k"), ("OPENAI_MODEL", "m")], &[]);
        assert_eq!(
            (endpoint(&choice).url.as_str(), endpoint(&choice).model.as_str()),
            ("https://api.openai.com", "m")
        );
        assert_eq!(endpoint(&choice).api, ApiFormat::Responses);
    }

    #[test]
    fn only_an_unconfigured_milk_looks_for_servers() {
        let needs = |document: &Value| {
            needs_detection(&Settings::from_document(document.as_object().unwrap().clone()).unwrap())
        };
        assert!(needs(&json!({})));
        assert!(needs(&json!({"agents": [{"name": "cc", "provider": "claude-cli"}]})));
        assert!(!needs(&json!({"agents": [{"name": "a", "url": "u"}]})));
        assert!(!needs(&json!({"agent": "cc", "agents": [{"name": "cc", "provider": "claude-cli"}]})));
    }

    #[test]
    fn services_have_distinct_names_and_variables() {
        for (index, service) in KNOWN_SERVICES.iter().enumerate() {
            for other in &KNOWN_SERVICES[index + 1..] {
                assert_ne!(service.name, other.name);
                assert_ne!(service.variable, other.variable);
            }
        }
    }
}
