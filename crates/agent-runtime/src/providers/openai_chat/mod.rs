//! The Chat Completions API of OpenAI and the many servers that imitate it (Ollama, llama.cpp, LM Studio, vLLM,
//! `LiteLLM`, OpenRouter, Groq, Azure…). `request` words a request, `stream` reads an answer, `send` connects
//! and retries; the rest are their parts. Knows nothing of sessions, tools' insides or permissions.

mod calls;
mod chunk;
mod content;
mod endpoint;
mod error;
mod inline;
mod learn;
pub mod probe;
#[cfg(test)]
mod provider_tests;
mod reading;
mod request;
mod send;
mod stream;
#[cfg(test)]
mod stream_tests;
mod surrogates;
mod text_calls;
mod usage;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value};

pub use self::error::Failure;
pub use self::stream::ChatStream;
use crate::provider::{ModelRequest, ModelStream, Provider, ProviderError, ProviderInfo};
use crate::providers::auth::{Auth, Credentials};
use crate::providers::http::{CONNECT_TIMEOUT, HttpClients, TlsOptions};

/// How long a server may be silent: before its answer begins and between any two pieces of it.
pub const IDLE_TIMEOUT: Duration = Duration::from_mins(5);

/// How often a request that failed for the moment is sent again.
pub const RETRIES: u32 = 2;

/// An agent behind a Chat Completions API.
#[derive(Debug, Clone)]
pub struct OpenAiChatConfig {
    /// The agent's name, for errors.
    pub agent: String,
    /// The server; with or without `/v1`, a closing slash or the whole path.
    pub url: String,
    /// The path of the chat endpoint where it is not `/v1/chat/completions`.
    pub chat_path: Option<String>,
    /// The model to ask for; the server decides when there is none.
    pub model: Option<String>,
    /// Headers added to every request; they replace ours of the same name.
    pub headers: BTreeMap<String, String>,
    /// The credentials.
    pub auth: Auth,
    /// Certificates.
    pub tls: TlsOptions,
    /// Tokens the model can hold, where known.
    pub context_window: Option<u64>,
    /// Sent only when set.
    pub temperature: Option<f64>,
    /// Further members of the request's body.
    pub extra: Map<String, Value>,
    /// Whether tool calls written into the text are taken for calls.
    pub text_tool_calls: bool,
    /// How long a connection may take.
    pub connect_timeout: Duration,
    /// See [`IDLE_TIMEOUT`].
    pub idle_timeout: Duration,
    /// See [`RETRIES`].
    pub retries: u32,
    /// The clients to share with other providers.
    pub clients: HttpClients,
}

impl OpenAiChatConfig {
    /// An agent called `agent` at `url`, everything else at its default.
    #[must_use]
    pub fn new(agent: impl Into<String>, url: impl Into<String>) -> Self {
        Self {
            agent: agent.into(),
            url: url.into(),
            chat_path: None,
            model: None,
            headers: BTreeMap::new(),
            auth: Auth::None,
            tls: TlsOptions::default(),
            context_window: None,
            temperature: None,
            extra: Map::new(),
            text_tool_calls: true,
            connect_timeout: CONNECT_TIMEOUT,
            idle_timeout: IDLE_TIMEOUT,
            retries: RETRIES,
            clients: HttpClients::default(),
        }
    }
}

/// A model behind a Chat Completions API. Connects on its first request.
#[derive(Debug, Clone)]
pub struct OpenAiChat(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    config: OpenAiChatConfig,
    extras: request::Extras,
    credentials: Credentials,
    ids: Arc<calls::CallIds>,
    /// The optional parts of a request that the server has refused.
    refused: Mutex<BTreeSet<String>>,
    notices: Mutex<Vec<String>>,
}

impl OpenAiChat {
    /// Sets up; checks nothing yet.
    #[must_use]
    pub fn new(config: OpenAiChatConfig) -> Self {
        let model = config.model.clone().filter(|model| !model.trim().is_empty());
        let members = config.extra.clone();
        let extras = request::Extras { model, temperature: config.temperature, members };
        let credentials = Credentials::new(config.auth.clone());
        Self(Arc::new(Inner {
            config,
            extras,
            credentials,
            ids: Arc::default(),
            refused: Mutex::default(),
            notices: Mutex::default(),
        }))
    }
}

#[async_trait]
impl Provider for OpenAiChat {
    fn info(&self) -> ProviderInfo {
        let config = &self.0.config;
        ProviderInfo {
            agent: config.agent.clone(),
            model: self.0.extras.model.clone().unwrap_or_default(),
            context_window: config.context_window,
        }
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ProviderError> {
        Ok(self.0.begin(&request).await?.into_stream())
    }

    fn take_notices(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.notices.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
