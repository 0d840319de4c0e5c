//! One agent: a model with tools, asked again and again until it has nothing left to call.
//!
//! Knows nothing of who listens, which version they speak, where history is kept, or which other agents there
//! are.

mod batch;
mod cap;
mod compact;
mod digest;
mod learned;
mod overflow;
mod price;
mod repeats;
pub(crate) mod reply;
mod summary;
mod turn;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use session_model::Severity;
use session_model::source::Ids;
use tracing::Instrument as _;

pub use self::learned::Learned;
pub use self::price::Price;
use crate::attach;
use crate::driver::{Compacted, TurnDriver, TurnEnd, TurnError, TurnInput};
use crate::io::TurnIo;
use crate::prompt::SystemPrompt;
use crate::provider::Provider;
use crate::redact::{Redacting, Redactor};
use crate::tools::registry::ToolRegistry;

/// How long a tool may clean up after its turn was cancelled or its time was over.
pub const TOOL_GRACE: Duration = Duration::from_millis(500);

/// A model with tools.
#[derive(Clone)]
pub struct Agent {
    provider: Arc<dyn Provider>,
    tools: ToolRegistry,
    ids: Arc<dyn Ids>,
    prompt: SystemPrompt,
    limits: Limits,
    /// For all later turns.
    learned: Learned,
    /// Whether turns that outgrow the window are summarised.
    summarises: bool,
    /// What its tokens cost.
    price: Option<Price>,
    /// Where results too long for the model are put aside.
    spill: Option<Arc<Path>>,
    /// What keeps secrets from the model.
    redactor: Option<Arc<Redactor>>,
}

/// What a turn may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Requests to the model; at least one is made.
    pub max_requests: usize,
    /// The whole turn, without the time the user takes to answer or to read.
    pub turn: Duration,
    /// One call of a tool. Commands have a limit of their own instead.
    pub tool: Duration,
    /// Bytes of conversation in one request, beside what the model's window says. Never taken for less than what a
    /// question with its answer needs.
    pub history: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_requests: 20,
            turn: Duration::from_mins(10),
            tool: Duration::from_mins(2),
            history: usize::MAX,
        }
    }
}

impl Agent {
    /// An agent with the standard prompt and limits, named as the provider is.
    #[must_use]
    pub fn new(provider: Arc<dyn Provider>, tools: ToolRegistry, ids: Arc<dyn Ids>) -> Self {
        let prompt = SystemPrompt::new(provider.info().agent);
        Self {
            provider,
            tools,
            ids,
            prompt,
            limits: Limits::default(),
            learned: Learned::default(),
            summarises: false,
            price: None,
            spill: None,
            redactor: None,
        }
    }

    /// Replaces the system prompt.
    #[must_use]
    pub fn with_prompt(self, prompt: SystemPrompt) -> Self {
        Self { prompt, ..self }
    }

    /// Replaces the limits.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Has turns that outgrow the model's window summarised by the model, at the cost of a request each time.
    #[must_use]
    pub fn summarising(self) -> Self {
        Self { summarises: true, ..self }
    }

    /// Goes on with what an earlier agent of the same model learned.
    #[must_use]
    pub fn with_learned(self, learned: Learned) -> Self {
        Self { learned, ..self }
    }

    /// Says what tokens cost; without it no cost is told.
    #[must_use]
    pub fn with_price(self, price: Option<Price>) -> Self {
        Self { price, ..self }
    }

    /// Has results that are too long for the model put aside in a folder of the session's below `folder` (absolute;
    /// made when needed, cleaned up by nobody here), where the tools of that session may read them. Without it the
    /// model is told to ask for less.
    #[must_use]
    pub fn with_spill(self, folder: impl Into<PathBuf>) -> Self {
        Self { spill: Some(folder.into().into()), ..self }
    }

    /// Hides the secrets that `redactor` finds from the model, and gives them back where the model writes files.
    #[must_use]
    pub fn with_redaction(self, redactor: Arc<Redactor>) -> Self {
        let provider = Arc::new(Redacting::new(self.provider, Arc::clone(&redactor)));
        Self { provider, redactor: Some(redactor), ..self }
    }

    /// The model behind it.
    #[must_use]
    pub fn provider(&self) -> &Arc<dyn Provider> {
        &self.provider
    }

    /// Its tools.
    #[must_use]
    pub fn tools(&self) -> &ToolRegistry {
        &self.tools
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let info = self.provider.info();
        f.debug_struct("Agent")
            .field("provider", &info)
            .field("prompt", &self.prompt)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl TurnDriver for Agent {
    async fn drive(&self, input: TurnInput, io: TurnIo) -> Result<TurnEnd, TurnError> {
        let span = tracing::info_span!("turn", id = %input.turn, agent = %self.prompt.name);
        if let Some(title) =
            attach::untold(&self.prompt.name, &input.prompt, |mime_type| self.provider.hears(mime_type))
        {
            io.emit(reply::notice(Severity::Warning, title, &*self.ids)).await?;
        }
        turn::Turn::new(self, input, io).run().instrument(span).await
    }

    async fn compact(&self, input: TurnInput, wish: &str, io: TurnIo) -> Result<Compacted, TurnError> {
        let span = tracing::info_span!("compaction", id = %input.turn, agent = %self.prompt.name);
        turn::Turn::new(self, input, io).compact_now(wish).instrument(span).await
    }
}

#[cfg(test)]
mod tests;
