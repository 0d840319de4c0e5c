//! Summaries of turns that outgrew the model's window, in the model's own words. Kept in memory: a later
//! process makes them anew. Where none can be had, the recap of [`crate::context`] has to do.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::StreamExt;
use session_model::{Content, SessionId, TokenUsage};

use super::waits::Waits;
use crate::context::{Outgrown, Summary};
use crate::driver::TurnError;
use crate::provider::{ModelDelta, ModelMessage, ModelRequest, Provider, ProviderError};

/// How many of the newest turns stay whole when the user asks for a summary.
pub(super) const KEPT_TURNS: usize = 1;

/// The most of a summary that is kept, in bytes; a model that writes more has not summarised.
const MOST: usize = 12_000;

/// What the model is told instead of its system prompt.
const TASK: &str = "You summarise the beginning of a conversation between a user and a coding agent, which has to go \
                    on without it. Write in short, plain sentences: the task and every requirement, in the user's \
                    words where they matter; what was decided and why; what was done, with the names of files; what \
                    was found out; what is still to do. Invent nothing. Answer with the summary alone.";

/// The summaries of sessions; clones share them, so that an agent built anew goes on with those of the one before.
#[derive(Debug, Clone, Default)]
pub struct Summaries(Arc<Mutex<HashMap<SessionId, Kept>>>);

#[derive(Debug, Default)]
struct Kept {
    summary: Option<Summary>,
    /// The user wants one before the next turn; with what in mind.
    wish: Option<String>,
}

impl Summaries {
    pub(super) fn of(&self, session: &SessionId) -> Option<Summary> {
        self.sessions().get(session).and_then(|kept| kept.summary.clone())
    }

    pub(super) fn keep(&self, session: &SessionId, summary: Summary) {
        self.sessions().entry(session.clone()).or_default().summary = Some(summary);
    }

    /// Has all but the newest of the session's turns summarised before its next turn, with `instructions` (which may
    /// be empty) in mind.
    pub fn wish(&self, session: &SessionId, instructions: &str) {
        self.sessions().entry(session.clone()).or_default().wish = Some(instructions.trim().to_owned());
    }

    /// What the user wished for, once.
    pub(super) fn take_wish(&self, session: &SessionId) -> Option<String> {
        self.sessions().get_mut(session).and_then(|kept| kept.wish.take())
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<SessionId, Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A summary as the model wrote it, and what that took.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub(super) text: String,
    pub(super) usage: Option<TokenUsage>,
}

/// Asks the model for a summary; nothing of it is shown. An empty one when it fails.
///
/// # Errors
/// The turn's end.
pub(super) async fn write(
    provider: &dyn Provider,
    waits: &Waits,
    outgrown: &Outgrown,
    wish: Option<&str>,
) -> Result<Written, TurnError> {
    let mut question = format!("{}\n\nSummarise this.", outgrown.transcript);
    if let Some(wish) = wish.filter(|wish| !wish.is_empty()) {
        question = format!("{question} The user wants you to mind: {wish}");
    }
    let request = ModelRequest {
        system: TASK.to_owned(),
        messages: vec![ModelMessage::User(vec![Content::text(question)])],
        tools: Vec::new(),
    };
    let mut written = Written::default();
    match waits.within(collect(provider, request, &mut written)).await? {
        Ok(()) => {}
        Err(error) => {
            tracing::warn!(%error, "the turns that outgrew the window could not be summarised");
            written.text.clear();
        }
    }
    written.text.truncate(written.text.floor_char_boundary(MOST));
    Ok(written)
}

async fn collect(
    provider: &dyn Provider,
    request: ModelRequest,
    written: &mut Written,
) -> Result<(), ProviderError> {
    let mut stream = provider.stream(request).await?;
    while let Some(delta) = stream.next().await {
        match delta? {
            ModelDelta::Text(piece) => written.text.push_str(&piece),
            ModelDelta::Usage(usage) => written.usage = Some(usage),
            ModelDelta::Finish(_) => return Ok(()),
            ModelDelta::Thought(_) | ModelDelta::Call(_) | ModelDelta::Kept(_) => {}
        }
    }
    let reason = "the stream ended before the summary was whole".to_owned();
    Err(ProviderError::Truncated { agent: provider.info().agent, reason })
}
