//! The Responses API of OpenAI and of servers that imitate it. `request` words a request, `answer` reads an answer.
//! Nothing is left with the server: every request tells the whole conversation, and reasoning goes back encrypted,
//! as it came, with the results of the calls it led to; later turns do without. Knows nothing of sessions, tools'
//! insides or permissions.
//!
//! Source: <https://platform.openai.com/docs/api-reference/responses>.

mod answer;
#[cfg(test)]
mod answer_tests;
mod items;
#[cfg(test)]
mod provider_tests;
mod request;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use serde_json::{Map, Value};

pub(super) use self::answer::ResponseAnswer;
use crate::provider::{ModelRequest, ModelStream, Provider, ProviderError, ProviderInfo, Thinking};
use crate::providers::arguments::CallIds;
use crate::providers::extras::{Extras, Options, Sampling};
use crate::providers::learn;
use crate::providers::link::{self, Api, Link, Question, ServerConfig, Worded};
use crate::providers::reader::Reader;

static API: Api = Api { tail: "/responses", credential: link::bearer, headers: &[] };

/// An agent behind a Responses API.
#[derive(Debug, Clone)]
pub struct OpenAiResponsesConfig {
    /// The way to the server; its address is `/v1/responses` by default.
    pub server: ServerConfig,
    /// The model to ask for; the server decides when there is none.
    pub model: Option<String>,
    /// Tokens the model can hold, where known.
    pub context_window: Option<u64>,
    /// Tokens an answer may have, reasoning included; the server's default when there is none.
    pub max_tokens: Option<u64>,
    /// How much a reasoning model thinks where a request does not say. A summary of it is asked for then.
    pub thinking: Option<Thinking>,
    /// How it chooses its words.
    pub sampling: Sampling,
    /// Further members of the request's body.
    pub extra: Map<String, Value>,
}

impl OpenAiResponsesConfig {
    /// An agent that asks `server`, everything else at its default.
    #[must_use]
    pub fn new(server: ServerConfig) -> Self {
        Self {
            server,
            model: None,
            context_window: None,
            max_tokens: None,
            thinking: None,
            sampling: Sampling::default(),
            extra: Map::new(),
        }
    }
}

/// A model behind a Responses API. Connects on its first request.
#[derive(Debug, Clone)]
pub struct OpenAiResponses(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    link: Link,
    extras: Extras,
    ids: Arc<CallIds>,
    context_window: Option<u64>,
    max_tokens: Option<u64>,
    thinking: Option<Thinking>,
}

impl OpenAiResponses {
    /// Sets up; checks nothing yet.
    #[must_use]
    pub fn new(config: OpenAiResponsesConfig) -> Self {
        let extras = Extras::new(config.model.as_deref(), config.sampling, &config.extra);
        Self(Arc::new(Inner {
            link: Link::new(config.server, &API),
            extras,
            ids: Arc::default(),
            context_window: config.context_window,
            max_tokens: config.max_tokens,
            thinking: config.thinking,
        }))
    }
}

#[async_trait]
impl Provider for OpenAiResponses {
    fn info(&self) -> ProviderInfo {
        ProviderInfo {
            agent: self.0.link.config.agent.clone(),
            model: self.0.extras.model.clone().unwrap_or_default(),
            context_window: self.0.context_window,
        }
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ProviderError> {
        let ask = Ask { inner: &self.0, request: &request, room: AtomicU64::new(u64::MAX) };
        Ok(self.0.link.begin(&ask).await?.into_stream())
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
    /// Tokens that the window leaves for the answer, once the server has said so.
    room: AtomicU64,
}

impl Question for Ask<'_> {
    type Answer = ResponseAnswer;

    fn word(&self, without: &BTreeSet<String>) -> Result<Worded, serde_json::Error> {
        let Inner { extras, max_tokens, thinking, .. } = self.inner;
        let effort = self.request.effort.or(thinking.map(Thinking::effort));
        let max_tokens = max_tokens.map(|most| most.min(self.room.load(Ordering::Relaxed)));
        let own = request::Own { max_tokens, effort };
        let options = Options { extras, without, ours: request::OURS };
        let body = request::Body::new(self.request, options, own);
        Ok(Worded { json: serde_json::to_vec(&body)?, optional: body.optional() })
    }

    fn learn(&self, status: u16, message: &str) -> bool {
        let room = self.inner.max_tokens.and_then(|most| learn::room(status, message, most));
        room.is_some_and(|room| self.room.swap(room, Ordering::Relaxed) > room)
    }

    fn model(&self) -> Option<&str> {
        self.inner.extras.model.as_deref()
    }

    fn reader(&self) -> Reader<ResponseAnswer> {
        let Inner { link, ids, .. } = self.inner;
        Reader::new(ResponseAnswer::new(&link.config.agent, Arc::clone(ids)))
    }
}
