//! A model behind whatever API it has. A provider turns a neutral request into a neutral stream; it knows
//! nothing of sessions, tools' insides or permissions, and retries nothing once a token has been seen.

use async_trait::async_trait;
use futures::stream::BoxStream;
use serde_json::Value;
use session_model::{Content, TokenUsage};

use crate::providers::http::is_loopback;
pub use crate::thinking::{Effort, Thinking};

/// A model that answers requests.
#[async_trait]
pub trait Provider: Send + Sync + 'static {
    /// Who this is, for rows, routes and errors.
    fn info(&self) -> ProviderInfo;

    /// Sends the request and returns once the answer begins (or fails to).
    ///
    /// Dropping the future or the stream closes the connection.
    ///
    /// # Errors
    /// See [`ProviderError`]; nothing was produced then.
    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ProviderError>;

    /// Whether the model is given sounds of this type, and not only told of them.
    fn hears(&self, _mime_type: &str) -> bool {
        false
    }

    /// What the user should be told once: how this provider had to adapt to its server. Taken, not copied.
    fn take_notices(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns when there are notices to take while a request is under way; for ever pending where there never are.
    async fn noticed(&self) {
        std::future::pending::<()>().await;
    }
}

/// An answer as it comes in. Ends after [`ModelDelta::Finish`]; ending without one is a truncated answer.
pub type ModelStream = BoxStream<'static, Result<ModelDelta, ProviderError>>;

/// Who a provider is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderInfo {
    /// The agent's configured name.
    pub agent: String,
    /// The model asked for; empty when the server decides.
    pub model: String,
    /// Tokens the model can hold, where known.
    pub context_window: Option<u64>,
}

/// What a model is asked.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelRequest {
    /// The system prompt.
    pub system: String,
    /// The conversation; strictly valid: starts with the user, every call is answered.
    pub messages: Vec<ModelMessage>,
    /// What it may call.
    pub tools: Vec<ToolSchema>,
    /// How hard it should think; as its provider is configured when there is none.
    pub effort: Option<Effort>,
}

/// One message of the conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelMessage {
    /// The user's.
    User(Vec<Content>),
    /// The model's own.
    Assistant {
        /// Its text; may be empty beside calls.
        text: String,
        /// What it called, in order.
        calls: Vec<ModelCall>,
        /// What the same provider wants back unread, in order (see [`ModelDelta::Kept`]).
        kept: Vec<Value>,
        /// The reasoning before it, in words, in a turn that used tools. Most servers do not want it back; a provider
        /// sends it only to those that do, so that it counts for no size.
        reasoning: String,
    },
    /// The result of one call.
    ToolResult {
        /// The call's [`ModelCall::id`].
        call_id: String,
        /// The tool's name.
        name: String,
        /// What the model is told.
        output: String,
    },
}

impl ModelMessage {
    /// The model's own words and calls, without anything its provider wants back.
    #[must_use]
    pub fn assistant(text: impl Into<String>, calls: Vec<ModelCall>) -> Self {
        Self::Assistant { text: text.into(), calls, kept: Vec::new(), reasoning: String::new() }
    }
}

/// A whole call as the model made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelCall {
    /// Tells it from the others of its conversation. Minted by us.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments as received; should be a JSON object, but is the model's word.
    pub arguments: String,
}

/// A tool as a model is told of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSchema {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// A JSON Schema object for its arguments.
    pub parameters: Value,
}

/// One piece of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelDelta {
    /// More text.
    Text(String),
    /// More reasoning.
    Thought(String),
    /// A call, complete. Never sent for a call that was cut off.
    Call(ModelCall),
    /// A call that the output limit cut off, as far as it came: nobody can tell what it was to be, so that it must not
    /// run.
    CutCall(ModelCall),
    /// Something of the answer that its provider has to be given back as it is while the turn goes on (signed or
    /// encrypted reasoning). It means nothing to anyone else, and a later turn can do without it.
    Kept(Value),
    /// Tokens consumed; the last one counts.
    Usage(TokenUsage),
    /// The answer is whole.
    Finish(FinishReason),
}

/// Why an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinishReason {
    /// It was said, or calls are to be run.
    Stop,
    /// The output limit.
    Length,
    /// The model or its server refused.
    Refusal,
}

/// What can go wrong with a model. Messages name the agent and the remedy, and never hold a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProviderError {
    /// No connection.
    #[error("{agent}: cannot reach {url}: {reason}; {}", remedy(url))]
    Unreachable {
        /// The agent's name.
        agent: String,
        /// Where, without credentials.
        url: String,
        /// The cause.
        reason: String,
    },
    /// No connection that can be trusted.
    #[error("{agent}: no secure connection to {url}: {reason}")]
    Untrusted {
        /// The agent's name.
        agent: String,
        /// Where, without credentials.
        url: String,
        /// The cause, with what to do.
        reason: String,
    },
    /// 401 or 403.
    #[error(
        "{agent}: {url} refused the credentials (HTTP {status}); check the agent's `api_key` or `token_cmd`"
    )]
    Unauthorized {
        /// The agent's name.
        agent: String,
        /// Where, without credentials.
        url: String,
        /// The status.
        status: u16,
    },
    /// Any other status that is no success.
    #[error("{agent}: the server answered HTTP {status}: {message}")]
    Status {
        /// The agent's name.
        agent: String,
        /// The status.
        status: u16,
        /// What the server said, bounded.
        message: String,
    },
    /// An error inside a successful answer.
    #[error("{agent}: the server reported: {message}")]
    Reported {
        /// The agent's name.
        agent: String,
        /// What it said, bounded.
        message: String,
    },
    /// The answer broke off.
    #[error("{agent}: the answer broke off: {reason}")]
    Truncated {
        /// The agent's name.
        agent: String,
        /// How.
        reason: String,
    },
    /// The answer is not what the API promises.
    #[error(
        "{agent}: the server's answer makes no sense: {reason}; does the API at `url` fit the agent's `provider`?"
    )]
    Malformed {
        /// The agent's name.
        agent: String,
        /// How.
        reason: String,
    },
    /// Nothing came for too long.
    #[error("{agent}: no answer for {seconds} s")]
    TimedOut {
        /// The agent's name.
        agent: String,
        /// How long.
        seconds: u64,
    },
    /// The agent's configuration cannot work.
    #[error("{agent}: {reason}")]
    Misconfigured {
        /// The agent's name.
        agent: String,
        /// What to correct.
        reason: String,
    },
}

/// What to do about a server that is not reached.
fn remedy(url: &str) -> &'static str {
    if reqwest::Url::parse(url).is_ok_and(|url| is_loopback(&url)) {
        "start the server or correct the agent's `url`"
    } else {
        "correct the agent's `url`, or look after the network and the proxy that HTTP_PROXY or HTTPS_PROXY name"
    }
}

impl ProviderError {
    /// A stable word for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unreachable { .. } => "provider_unreachable",
            Self::Untrusted { .. } => "provider_untrusted",
            Self::Unauthorized { .. } => "provider_unauthorized",
            Self::Status { .. } => "provider_status",
            Self::Reported { .. } => "provider_reported",
            Self::Truncated { .. } => "provider_truncated",
            Self::Malformed { .. } => "provider_malformed",
            Self::TimedOut { .. } => "provider_timed_out",
            Self::Misconfigured { .. } => "provider_misconfigured",
        }
    }
}
