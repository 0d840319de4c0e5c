//! One entry of `agents`.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::program::ProgramSettings;
use super::request::RequestSettings;

/// A text that is never shown. Spaces and line ends around it are not part of it.
#[derive(Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(from = "String")]
pub struct Secret(Box<str>);

impl Secret {
    /// The text itself.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text.trim().into())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_empty() { "Secret(none)" } else { "Secret(***)" })
    }
}

/// An agent as configured. Texts are as written; empty means "not given".
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct AgentSettings {
    /// Names it.
    pub name: String,
    /// How it is talked to; see [`AgentSettings::kind`].
    pub provider: String,
    /// The server's base URL.
    pub url: String,
    /// The model to ask for; empty leaves it to the server.
    pub model: String,
    /// The path under `url`; empty is the API's usual one.
    pub chat_path: String,
    /// Which API the server has.
    pub api_format: ApiFormat,
    /// Further headers of every request.
    pub headers: BTreeMap<String, Secret>,
    /// The key, or the variable that holds it (`$NAME`, `${NAME}`).
    pub api_key: Secret,
    /// A shell command that prints a token; wins over `api_key`.
    pub token_cmd: String,
    /// The region of Amazon Bedrock.
    pub aws_region: String,
    /// The access key's id, or the variable that holds it.
    pub aws_key_id: Secret,
    /// The secret access key, likewise.
    pub aws_secret: Secret,
    /// The session token, likewise.
    pub aws_token: Secret,
    /// The service's name in signatures.
    pub aws_service: String,
    /// A command that prints keys as JSON; run without a shell.
    pub aws_refresh_cmd: String,
    /// Accept any certificate.
    pub tls_skip_verify: bool,
    /// A PEM file with further certificate authorities.
    pub tls_ca_cert: String,
    /// A shell command that starts the server.
    pub run_cmd: String,
    /// Tokens the model can hold; 0 when unknown.
    pub context_window_tokens: i64,
    /// How much milk tells the model about its surroundings.
    pub system_prompt_tier: PromptTier,
    /// Instructions of the user's own.
    pub prompt: String,
    /// A file with them; wins over `prompt`.
    pub prompt_file: String,
    /// Nothing is asked at all (read from a claude-cli entry).
    pub dangerously_skip_permissions: bool,
    /// The program of an agent that is one.
    pub bin: String,
    /// The same, as other clients spell it.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Further arguments, at the end.
    pub extra_args: Vec<String>,
    /// Further variables of its environment.
    pub env: BTreeMap<String, Secret>,
    /// Whether an ACP agent may read and write files through milk; unset is yes.
    pub client_files: Option<bool>,
    /// Whether it may run commands through milk; unset is yes.
    pub client_terminals: Option<bool>,
    /// Tools Claude Code may use without asking, in its own notation.
    pub allowed_tools: Vec<String>,
    /// Further folders it may look into.
    pub add_dirs: Vec<String>,
    /// Its own settings.
    pub settings: Map<String, Value>,
    /// What its model can do beside what all can.
    pub capabilities: Capabilities,
    /// What is added to every request to its model.
    #[serde(flatten)]
    pub request: RequestSettings,
    /// How a program that is run once a turn is run.
    #[serde(flatten)]
    pub program: ProgramSettings,
    /// Agents it may ask as tools, beside or instead of the root's.
    pub tools: Vec<PeerSettings>,
    /// Its own limits.
    pub limits: Limits,
}

/// What a model can do beside what all can.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct Capabilities {
    /// It takes sounds.
    pub audio: bool,
}

/// An agent that others may ask as a tool.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct PeerSettings {
    /// Which agent.
    pub agent: String,
    /// What it is good for, for the model that may ask it.
    pub description: String,
    /// Whether it may be asked; unset is yes.
    pub enabled: Option<bool>,
}

impl AgentSettings {
    /// Claude Code as it is there without being configured.
    #[must_use]
    pub fn builtin_claude() -> Self {
        Self { name: "claude".to_owned(), provider: "claude-cli".to_owned(), ..Self::default() }
    }

    /// Which API it has.
    #[must_use]
    pub fn api(&self) -> ApiFormat {
        match self.kind() {
            ProviderKind::Anthropic => ApiFormat::Messages,
            ProviderKind::Bedrock => ApiFormat::Converse,
            ProviderKind::Local
            | ProviderKind::Bearer
            | ProviderKind::ClaudeCli
            | ProviderKind::AiderCli
            | ProviderKind::Subprocess
            | ProviderKind::Acp => self.api_format,
        }
    }

    /// Whether its model is known to think, so that one can say how hard: it is configured, or its API is of models
    /// that do. Nobody is asked.
    #[must_use]
    pub fn thinks(&self) -> bool {
        let by_api = match self.api() {
            ApiFormat::Responses | ApiFormat::Messages => true,
            // Models of all kinds.
            ApiFormat::ChatCompletions | ApiFormat::Converse => self.request.thinking_budget.is_some(),
        };
        self.kind().is_http() && by_api
    }

    /// Whether prompts with sounds reach it: its model takes them, and so does its API. An agent that speaks ACP says for
    /// itself what it takes.
    #[must_use]
    pub fn hears(&self) -> bool {
        let kind = self.kind();
        let has_form =
            kind == ProviderKind::Acp || (kind.is_http() && self.api() == ApiFormat::ChatCompletions);
        self.capabilities.audio && has_form
    }

    /// How the agent is talked to.
    #[must_use]
    pub fn kind(&self) -> ProviderKind {
        match self.provider.trim().to_lowercase().as_str() {
            "" | "local" => ProviderKind::Local,
            "anthropic" => ProviderKind::Anthropic,
            "bedrock" => ProviderKind::Bedrock,
            "claude-cli" => ProviderKind::ClaudeCli,
            "aider-cli" => ProviderKind::AiderCli,
            "subprocess" => ProviderKind::Subprocess,
            "acp" => ProviderKind::Acp,
            _ => ProviderKind::Bearer,
        }
    }
}

/// How an agent is talked to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderKind {
    /// Plain HTTP; no key is expected.
    Local,
    /// HTTP with a bearer token.
    Bearer,
    /// Anthropic's own API.
    Anthropic,
    /// Amazon Bedrock.
    Bedrock,
    /// Claude Code as a child process.
    ClaudeCli,
    /// Aider as a child process.
    AiderCli,
    /// Any program that prints its events, as a child process.
    Subprocess,
    /// Another ACP agent as a child process.
    Acp,
}

impl ProviderKind {
    /// As it is written in a configuration.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Bearer => "bearer",
            Self::Anthropic => "anthropic",
            Self::Bedrock => "bedrock",
            Self::ClaudeCli => "claude-cli",
            Self::AiderCli => "aider-cli",
            Self::Subprocess => "subprocess",
            Self::Acp => "acp",
        }
    }

    /// Whether it is a server and not a child process.
    #[must_use]
    pub fn is_http(self) -> bool {
        match self {
            Self::Local | Self::Bearer | Self::Anthropic | Self::Bedrock => true,
            Self::ClaudeCli | Self::AiderCli | Self::Subprocess | Self::Acp => false,
        }
    }
}

/// Which API a server has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApiFormat {
    /// OpenAI's chat completions.
    #[default]
    #[serde(alias = "")]
    ChatCompletions,
    /// OpenAI's responses.
    Responses,
    /// Anthropic's messages; what `provider` "anthropic" always speaks.
    Messages,
    /// Amazon's Converse; what `provider` "bedrock" always speaks, and nothing else.
    Converse,
}

/// How much milk tells the model about its surroundings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptTier {
    /// The least.
    Minimal,
    /// The usual.
    #[default]
    #[serde(alias = "")]
    Standard,
    /// Everything.
    Full,
}

/// An agent's own limits. Absent ones fall back to the root's; otherwise negative is none, 0 the built-in one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Characters of history in one request.
    pub message_budget_chars: Option<i64>,
    /// Rounds of tool calls in one turn.
    pub max_tool_iterations: Option<i64>,
    /// Seconds of one turn.
    pub turn_timeout_secs: Option<i64>,
    /// Seconds of one tool call.
    pub tool_timeout_secs: Option<i64>,
    /// Only these tools; empty is all.
    pub included_tools: Vec<String>,
    /// Not these tools.
    pub excluded_tools: Vec<String>,
}
