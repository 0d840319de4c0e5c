//! The Chat Completions API of OpenAI and the many servers that imitate it (Ollama, llama.cpp, LM Studio, vLLM,
//! `LiteLLM`, OpenRouter, Groq, Azure…). `request` words a request, `stream` reads an answer; the rest are their
//! parts. Knows nothing of sessions, tools' insides or permissions.

mod calls;
mod chunk;
mod details;
mod ending;
mod inline;
#[cfg(test)]
mod inline_tests;
mod marks;
pub mod probe;
#[cfg(test)]
mod provider_tests;
#[cfg(test)]
mod refusal_tests;
mod request;
mod stream;
#[cfg(test)]
mod stream_tests;
mod text_calls;
mod text_formats;
mod usage;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value};

pub(super) use self::stream::ChatAnswer;
pub use self::stream::ChatStream;
use crate::provider::{ModelRequest, ModelStream, Provider, ProviderError, ProviderInfo, Thinking};
use crate::providers::arguments::CallIds;
use crate::providers::auth::Auth;
use crate::providers::content::SoundFormat;
pub use crate::providers::error::Failure;
use crate::providers::extras::{Extras, Options, Sampling};
use crate::providers::http::{CONNECT_TIMEOUT, HttpClients, TlsOptions};
use crate::providers::learn::{self, SOUNDS};
use crate::providers::link::{self, Api, Link, Question, ServerConfig, Worded};
pub use crate::providers::link::{IDLE_TIMEOUT, RETRIES};
use crate::providers::reader::Reader;
use crate::providers::reading::Reading;

static API: Api = Api { tail: "/chat/completions", credential: link::bearer, headers: &[] };

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
    /// How it chooses its words.
    pub sampling: Sampling,
    /// Tokens an answer may have; the server's default when there is none.
    pub max_tokens: Option<u64>,
    /// How much the model thinks where a request does not say; the server's default when there is none.
    pub thinking: Option<Thinking>,
    /// Whether the model takes sounds.
    pub hears: bool,
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
            sampling: Sampling::default(),
            max_tokens: None,
            thinking: None,
            hears: false,
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
    link: Link,
    extras: Extras,
    ids: Arc<CallIds>,
    context_window: Option<u64>,
    text_tool_calls: bool,
    max_tokens: Option<u64>,
    thinking: Option<Thinking>,
    hears: bool,
    /// The server wants the model's reasoning back, as it has said.
    wants_reasoning: AtomicBool,
    /// The server knows the limit of an answer by its newer name, as it has said.
    counts_completion: AtomicBool,
}

impl OpenAiChat {
    /// Sets up; checks nothing yet.
    #[must_use]
    pub fn new(config: OpenAiChatConfig) -> Self {
        let extras = Extras::new(config.model.as_deref(), config.sampling, &config.extra);
        let OpenAiChatConfig { context_window, text_tool_calls, max_tokens, thinking, hears, .. } = config;
        let link = Link::new(config.into_server(), &API);
        Self(Arc::new(Inner {
            link,
            extras,
            ids: Arc::default(),
            context_window,
            text_tool_calls,
            max_tokens,
            thinking,
            hears,
            wants_reasoning: AtomicBool::default(),
            counts_completion: AtomicBool::default(),
        }))
    }
}

impl OpenAiChatConfig {
    fn into_server(self) -> ServerConfig {
        ServerConfig {
            agent: self.agent,
            url: self.url,
            path: self.chat_path,
            headers: self.headers,
            auth: self.auth,
            tls: self.tls,
            connect_timeout: self.connect_timeout,
            idle_timeout: self.idle_timeout,
            retries: self.retries,
            clients: self.clients,
            clock: None,
        }
    }
}

/// A request to one agent.
struct Ask<'a> {
    inner: &'a Inner,
    request: &'a ModelRequest,
    /// Tokens that the model has left for this answer, as far as it has said.
    room: AtomicU64,
}

impl Question for Ask<'_> {
    type Answer = ChatAnswer;

    fn word(&self, without: &BTreeSet<String>) -> Result<Worded, serde_json::Error> {
        let options = Options { extras: &self.inner.extras, without, ours: request::OURS };
        let Inner { max_tokens, thinking, wants_reasoning, counts_completion, .. } = self.inner;
        let own = request::Own {
            max_tokens: max_tokens.map(|most| most.min(self.room.load(Ordering::Relaxed))),
            counts_completion: counts_completion.load(Ordering::Relaxed),
            effort: self.request.effort.or(thinking.map(Thinking::effort)),
            with_reasoning: wants_reasoning.load(Ordering::Relaxed),
            hears: self.inner.hears,
        };
        let body = request::Body::new(self.request, options, own);
        Ok(Worded { json: serde_json::to_vec(&body)?, optional: body.optional() })
    }

    /// `DeepSeek` refuses calls whose reasoning does not come back; others refuse it when it does. `OpenAI`'s newer
    /// models know the limit of an answer by another name.
    fn learn(&self, status: u16, message: &str) -> bool {
        if let Some(most) = self.inner.max_tokens
            && let Some(room) = learn::room(status, message, most)
        {
            return self.room.swap(room, Ordering::Relaxed) > room;
        }
        let message = message.to_lowercase();
        if status == 400 && message.contains(request::MAX_COMPLETION_TOKENS) {
            return self.inner.max_tokens.is_some()
                && !self.inner.counts_completion.swap(true, Ordering::Relaxed);
        }
        let missed = ["passed back", "pass back", "missing", "must be", "required"];
        let wanted = status == 400
            && message.contains(request::REASONING)
            && missed.iter().any(|word| message.contains(word));
        wanted && !self.inner.wants_reasoning.swap(true, Ordering::Relaxed)
    }

    fn model(&self) -> Option<&str> {
        self.inner.extras.model.as_deref()
    }

    fn reader(&self) -> Reader<ChatAnswer> {
        let Inner { link, ids, .. } = self.inner;
        let offered = self.request.tools.as_slice().into();
        let mut answer = ChatAnswer::new(&link.config.agent, offered, Arc::clone(ids));
        if !self.inner.text_tool_calls {
            answer.ignore_text_calls();
        }
        Reader::new(answer)
    }
}

impl Inner {
    async fn begin(&self, request: &ModelRequest) -> Result<Reading<ChatAnswer>, ProviderError> {
        let room = AtomicU64::new(u64::MAX);
        self.link.begin(&Ask { inner: self, request, room }).await
    }
}

#[async_trait]
impl Provider for OpenAiChat {
    fn info(&self) -> ProviderInfo {
        ProviderInfo {
            agent: self.0.link.config.agent.clone(),
            model: self.0.extras.model.clone().unwrap_or_default(),
            context_window: self.0.context_window,
        }
    }

    fn hears(&self, mime_type: &str) -> bool {
        self.0.hears && !self.0.link.refuses(SOUNDS) && SoundFormat::of(mime_type).is_some()
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ProviderError> {
        Ok(self.0.begin(&request).await?.into_stream())
    }

    fn take_notices(&self) -> Vec<String> {
        self.0.link.take_notices()
    }

    async fn noticed(&self) {
        self.0.link.noticed().await;
    }
}
