//! Model services that are found by the variable their users have set.

use super::agent::ApiFormat;

/// Where Anthropic's own API is.
pub(super) const ANTHROPIC_URL: &str = "https://api.anthropic.com";

/// A service and its API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownService {
    /// What it is called.
    pub name: &'static str,
    /// The variable that holds the key.
    pub variable: &'static str,
    /// The base URL.
    pub url: &'static str,
    /// Its API.
    pub api: ApiFormat,
    /// The path under it; empty is the usual one.
    pub chat_path: &'static str,
    /// The model to begin with: one that calls tools, and a name the service keeps pointing at something current
    /// where it has one.
    pub model: &'static str,
}

const fn usual(
    name: &'static str,
    variable: &'static str,
    url: &'static str,
    model: &'static str,
) -> KnownService {
    KnownService { name, variable, url, api: ApiFormat::ChatCompletions, chat_path: "", model }
}

/// The services, in the order in which they are tried.
pub const KNOWN_SERVICES: [KnownService; 12] = [
    KnownService {
        // The newest models take tools only here.
        api: ApiFormat::Responses,
        ..usual("openai", "OPENAI_API_KEY", "https://api.openai.com", "gpt-6.1-sol")
    },
    KnownService {
        api: ApiFormat::Messages,
        ..usual("anthropic", "ANTHROPIC_API_KEY", ANTHROPIC_URL, "claude-sonnet-5-5")
    },
    usual("openrouter", "OPENROUTER_API_KEY", "https://openrouter.ai/api", "openrouter/auto"),
    usual("groq", "GROQ_API_KEY", "https://api.groq.com/openai", "openai/gpt-oss-120b"),
    usual("together", "TOGETHER_API_KEY", "https://api.together.xyz", "openai/gpt-oss-120b"),
    usual("mistral", "MISTRAL_API_KEY", "https://api.mistral.ai", "mistral-large-latest"),
    usual("deepseek", "DEEPSEEK_API_KEY", "https://api.deepseek.com", "deepseek-v4-flash"),
    KnownService {
        name: "gemini",
        variable: "GEMINI_API_KEY",
        url: "https://generativelanguage.googleapis.com/v1beta/openai",
        api: ApiFormat::ChatCompletions,
        chat_path: "/chat/completions",
        model: "gemini-flash-latest",
    },
    usual("xai", "XAI_API_KEY", "https://api.x.ai", "grok-4.7"),
    usual("cerebras", "CEREBRAS_API_KEY", "https://api.cerebras.ai", "gpt-oss-120b"),
    usual(
        "fireworks",
        "FIREWORKS_API_KEY",
        "https://api.fireworks.ai/inference",
        "accounts/fireworks/models/gpt-oss-120b",
    ),
    usual("moonshot", "MOONSHOT_API_KEY", "https://api.moonshot.ai", "kimi-k3"),
];
