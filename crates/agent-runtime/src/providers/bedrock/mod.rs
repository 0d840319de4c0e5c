//! The Converse API of Amazon Bedrock, streamed. `request` words a request, `answer` reads an answer; both leave the way
//! there, signatures included, to the link. Knows nothing of sessions, tools' insides or permissions.
//!
//! Source: <https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html>

mod answer;
#[cfg(test)]
#[cfg(feature = "bedrock")]
mod provider_tests;
mod request;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use serde_json::{Map, Value};

use self::answer::ConverseAnswer;
use crate::provider::{ModelRequest, ModelStream, Provider, ProviderError, ProviderInfo, Thinking};
use crate::providers::anthropic::NO_BUDGETS;
use crate::providers::arguments::CallIds;
use crate::providers::extras::{Extras, Options, Sampling};
use crate::providers::link::{self, Api, Link, Question, ServerConfig, Worded};
use crate::providers::reader::Reader;

/// Whether this build can ask it (the feature `bedrock`).
pub const IS_BUILT_IN: bool = cfg!(feature = "bedrock");
/// Why it cannot, otherwise.
pub const MISSING: &str = "this build of milk leaves Amazon Bedrock out; build it with `--features bedrock`, or use a \
    gateway with an OpenAI-compatible API";

static API: Api = Api {
    tail: "/converse-stream",
    credential: link::bearer,
    headers: &[("accept", "application/vnd.amazon.eventstream")],
};

/// An agent behind the Converse API.
#[derive(Debug, Clone)]
pub struct BedrockConfig {
    /// The way to the server. Keys sign ([`crate::providers::auth::Auth::Aws`]); anything else is a bearer token.
    pub server: ServerConfig,
    /// The model's id, or the ARN of an inference profile.
    pub model: String,
    /// Tokens the model can hold, where known.
    pub context_window: Option<u64>,
    /// Tokens an answer may have; the model's own limit when there is none.
    pub max_tokens: Option<u64>,
    /// How much the model may think where a request does not say; as it does by itself otherwise.
    pub thinking: Option<Thinking>,
    /// Whether the server is told which beginnings of requests to keep. Not all models take that.
    pub prompt_caching: bool,
    /// How it chooses its words.
    pub sampling: Sampling,
    /// Further members of the request's body; `additionalModelRequestFields` is added to ours.
    pub extra: Map<String, Value>,
}

impl BedrockConfig {
    /// An agent that asks `server` for `model`, everything else at its default. Where requests are signed, the server needs a
    /// clock.
    #[must_use]
    pub fn new(server: ServerConfig, model: impl Into<String>) -> Self {
        let model: String = model.into().trim().to_owned();
        let path = Some(format!("/model/{}/converse-stream", encoded(&model)));
        Self {
            server: ServerConfig { path, ..server },
            model,
            context_window: None,
            max_tokens: None,
            thinking: None,
            prompt_caching: false,
            sampling: Sampling::default(),
            extra: Map::new(),
        }
    }
}

/// As one segment of a path.
fn encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |mut path, byte| {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            path.push(char::from(byte));
        } else {
            // Writing to a string does not fail.
            let _ = write!(path, "%{byte:02X}");
        }
        path
    })
}

/// A model behind the Converse API. Connects on its first request.
#[derive(Debug, Clone)]
pub struct Bedrock(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    link: Link,
    extras: Extras,
    ids: Arc<CallIds>,
    context_window: Option<u64>,
    max_tokens: Option<u64>,
    thinking: Option<Thinking>,
    /// The model thinks by words and takes no budget, as it has said.
    adaptive: AtomicBool,
    prompt_caching: bool,
}

impl Bedrock {
    /// Sets up; checks nothing yet.
    #[must_use]
    pub fn new(config: BedrockConfig) -> Self {
        let extras = Extras::new(Some(&config.model), config.sampling, &config.extra);
        Self(Arc::new(Inner {
            link: Link::new(config.server, &API),
            extras,
            ids: Arc::default(),
            context_window: config.context_window,
            max_tokens: config.max_tokens,
            thinking: config.thinking,
            adaptive: AtomicBool::new(false),
            prompt_caching: config.prompt_caching,
        }))
    }
}

#[async_trait]
impl Provider for Bedrock {
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
        Ok(inner.link.begin(&Ask { inner, request: &request }).await?.into_stream())
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
}

impl Question for Ask<'_> {
    type Answer = ConverseAnswer;

    fn word(&self, without: &BTreeSet<String>) -> Result<Worded, serde_json::Error> {
        let inner = self.inner;
        let options = Options { extras: &inner.extras, without, ours: request::OURS };
        let own = request::Own {
            max_tokens: inner.max_tokens,
            thinking: self.request.effort.map(Thinking::Effort).or(inner.thinking),
            adaptive: inner.adaptive.load(Ordering::Relaxed),
            prompt_caching: inner.prompt_caching,
        };
        let body = request::Body::new(self.request, options, own);
        Ok(Worded { json: serde_json::to_vec(&body.json())?, optional: body.optional() })
    }

    fn learn(&self, status: u16, message: &str) -> bool {
        // Told once: whoever does not mean it then refuses thinking as such.
        status == 400 && message.contains(NO_BUDGETS) && !self.inner.adaptive.swap(true, Ordering::Relaxed)
    }

    fn reader(&self) -> Reader<ConverseAnswer> {
        let Inner { link, ids, .. } = self.inner;
        Reader::framed(ConverseAnswer::new(&link.config.agent, Arc::clone(ids)))
    }

    fn model(&self) -> Option<&str> {
        self.inner.extras.model.as_deref()
    }
}
