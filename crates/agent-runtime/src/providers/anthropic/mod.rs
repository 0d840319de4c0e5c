//! The Messages API of Anthropic. `request` words a request, `answer` reads an answer. Reasoning is signed by the
//! server and has to be sent back to it, as it came, with the results of the calls it led to; later turns do
//! without. Knows nothing of sessions, tools' insides or permissions.
//!
//! Source: <https://docs.anthropic.com/en/api/messages>, version 2023-06-01.

mod answer;
#[cfg(test)]
mod answer_tests;
#[cfg(test)]
mod provider_tests;
mod request;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use async_trait::async_trait;
use reqwest::header::HeaderName;
use serde_json::{Map, Value};

pub(super) use self::answer::MessagesAnswer;
use crate::provider::{ModelRequest, ModelStream, Provider, ProviderError, ProviderInfo, Thinking};
use crate::providers::arguments::CallIds;
use crate::providers::auth::Secret;
use crate::providers::extras::{Extras, Options, Sampling};
use crate::providers::learn;
use crate::providers::link::{self, Api, Link, Question, ServerConfig, Worded};
use crate::providers::reader::Reader;

/// How many tokens an answer may have when nothing is configured. The API demands a number; a model that allows
/// less says so and is believed.
pub const MAX_TOKENS: u64 = 16_384;

static API: Api = Api { tail: "/messages", credential, headers: &[("anthropic-version", "2023-06-01")] };

/// An agent behind the Messages API.
#[derive(Debug, Clone)]
pub struct AnthropicConfig {
    /// The way to the server; its address is `/v1/messages` by default. A key goes into `x-api-key`, anything else
    /// (what a sign-in prints) is a bearer token.
    pub server: ServerConfig,
    /// The model to ask for.
    pub model: String,
    /// Tokens the model can hold, where known.
    pub context_window: Option<u64>,
    /// See [`MAX_TOKENS`].
    pub max_tokens: u64,
    /// How much the model may think where a request does not say; as it does by itself otherwise. Other ways to think
    /// go into `extra`.
    pub thinking: Option<Thinking>,
    /// Whether the server is told which beginnings of requests to keep.
    pub prompt_caching: bool,
    /// How it chooses its words; never sent to a model that thinks.
    pub sampling: Sampling,
    /// Further members of the request's body.
    pub extra: Map<String, Value>,
}

impl AnthropicConfig {
    /// An agent that asks `server` for `model`, everything else at its default.
    #[must_use]
    pub fn new(server: ServerConfig, model: impl Into<String>) -> Self {
        Self {
            server,
            model: model.into(),
            context_window: None,
            max_tokens: MAX_TOKENS,
            thinking: None,
            prompt_caching: true,
            sampling: Sampling::default(),
            extra: Map::new(),
        }
    }
}

/// A model behind the Messages API. Connects on its first request.
#[derive(Debug, Clone)]
pub struct Anthropic(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    link: Link,
    extras: Extras,
    ids: Arc<CallIds>,
    context_window: Option<u64>,
    max_tokens: u64,
    /// The most tokens that the model allows an answer, reasoning included, as far as it has said.
    allowed: AtomicU64,
    /// The model thinks by words and takes no budget, as it has said.
    adaptive: AtomicBool,
    thinking: Option<Thinking>,
    prompt_caching: bool,
}

impl Anthropic {
    /// Sets up; checks nothing yet.
    #[must_use]
    pub fn new(config: AnthropicConfig) -> Self {
        let extras = Extras::new(Some(&config.model), config.sampling, &config.extra);
        Self(Arc::new(Inner {
            link: Link::new(config.server, &API),
            extras,
            ids: Arc::default(),
            context_window: config.context_window,
            max_tokens: config.max_tokens,
            allowed: AtomicU64::new(u64::MAX),
            adaptive: AtomicBool::new(false),
            thinking: config.thinking,
            prompt_caching: config.prompt_caching,
        }))
    }
}

#[async_trait]
impl Provider for Anthropic {
    fn info(&self) -> ProviderInfo {
        ProviderInfo {
            agent: self.0.link.config.agent.clone(),
            model: self.0.extras.model.clone().unwrap_or_default(),
            context_window: self.0.context_window,
        }
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ProviderError> {
        let inner = &*self.0;
        if inner.extras.model.is_none() {
            let (agent, reason) = (inner.link.config.agent.clone(), "no `model` is set".to_owned());
            return Err(ProviderError::Misconfigured { agent, reason });
        }
        Ok(inner
            .link
            .begin(&Ask { inner, request: &request, room: AtomicU64::new(u64::MAX) })
            .await?
            .into_stream())
    }

    fn take_notices(&self) -> Vec<String> {
        self.0.link.take_notices()
    }

    async fn noticed(&self) {
        self.0.link.noticed().await;
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
    type Answer = MessagesAnswer;

    fn word(&self, without: &BTreeSet<String>) -> Result<Worded, serde_json::Error> {
        let Inner { extras, max_tokens, adaptive, thinking, prompt_caching, .. } = self.inner;
        let options = Options { extras, without, ours: request::OURS };
        let own = request::Own {
            max_tokens: *max_tokens,
            allowed: self.allowed(),
            thinking: self.request.effort.map(Thinking::Effort).or(*thinking),
            adaptive: adaptive.load(Ordering::Relaxed),
            prompt_caching: *prompt_caching,
        };
        let body = request::Body::new(self.request, options, own);
        Ok(Worded { json: serde_json::to_vec(&body)?, optional: body.optional() })
    }

    fn learn(&self, status: u16, message: &str) -> bool {
        if status == 400 && message.contains(NO_BUDGETS) {
            // Told once: whoever does not mean it then refuses thinking as such.
            return !self.inner.adaptive.swap(true, Ordering::Relaxed);
        }
        let asked = self.inner.max_tokens.min(self.allowed());
        if let Some(room) = learn::room(status, message, asked) {
            return self.room.swap(room, Ordering::Relaxed) > room;
        }
        let before = self.inner.allowed.load(Ordering::Relaxed);
        let allowed = if status == 400 { allowed_tokens(message) } else { None };
        let Some(allowed) = allowed.filter(|allowed| (1..before).contains(allowed)) else { return false };
        self.inner.allowed.store(allowed, Ordering::Relaxed);
        tracing::info!(allowed, "the model allows fewer tokens an answer");
        true
    }

    fn model(&self) -> Option<&str> {
        self.inner.extras.model.as_deref()
    }

    fn reader(&self) -> Reader<MessagesAnswer> {
        let Inner { link, ids, .. } = self.inner;
        Reader::new(MessagesAnswer::new(&link.config.agent, Arc::clone(ids)))
    }
}

impl Ask<'_> {
    /// The most tokens of an answer: what the model allows, and what is left of its window.
    fn allowed(&self) -> u64 {
        self.inner.allowed.load(Ordering::Relaxed).min(self.room.load(Ordering::Relaxed))
    }
}

/// By what a refusal tells that a model takes words for a budget: `"thinking.type.enabled" is not supported for this
/// model. Use "thinking.type.adaptive" and "output_config.effort" …`.
pub(super) const NO_BUDGETS: &str = "thinking.type.enabled";

/// Keys and tokens are told apart by their beginning; what is neither is a key of a server that imitates the API.
fn credential(secret: &Secret) -> (HeaderName, String) {
    let value = secret.reveal();
    let is_token = value.starts_with("sk-ant-oat") || value.starts_with("eyJ");
    if is_token { link::bearer(secret) } else { (HeaderName::from_static("x-api-key"), value.to_owned()) }
}

/// The most that a refusal of `max_tokens` allows: `max_tokens: 16384 > 4096, which is the maximum allowed …`.
fn allowed_tokens(message: &str) -> Option<u64> {
    let (_, compared) = message.split_once("max_tokens: ")?;
    let (_, allowed) = compared.split_once(" > ")?;
    let digits: String = allowed.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}
