//! A summary of turns that outgrew the model's window, in the model's own words. Where none can be had, the recap
//! of [`crate::context`] has to do.

use futures::StreamExt;
use session_model::{Content, TokenUsage};

use crate::context::Outgrown;
use crate::driver::TurnError;
use crate::provider::{ModelDelta, ModelMessage, ModelRequest, Provider, ProviderError};
use crate::waits::Waits;

/// What the model is told instead of its system prompt.
const TASK: &str = "You summarise the beginning of a conversation between a user and a coding agent, which has to go \
                    on without it. Write in short, plain sentences: the task and every requirement, in the user's \
                    words where they matter; what was decided and why; what was done, with the names of files; what \
                    was found out; what is still to do. Invent nothing. Answer with the summary alone.";

/// A summary as the model wrote it, and what that took.
#[derive(Debug)]
pub(super) struct Written {
    /// The summary; or why there is none, for people.
    pub(super) text: Result<String, String>,
    pub(super) usage: Option<TokenUsage>,
}

/// Asks the model for a summary; nothing of it is shown. More than `most` bytes are not kept: a model that writes
/// more has not summarised.
///
/// # Errors
/// The turn's end.
pub(super) async fn write(
    provider: &dyn Provider,
    waits: &Waits,
    outgrown: &Outgrown,
    (wish, most): (Option<&str>, usize),
) -> Result<Written, TurnError> {
    let mut question = format!("{}\n\nSummarise this.", outgrown.transcript);
    if let Some(wish) = wish.filter(|wish| !wish.is_empty()) {
        question = format!("{question} The user wants you to mind: {wish}");
    }
    let request = ModelRequest {
        system: TASK.to_owned(),
        messages: vec![ModelMessage::User(vec![Content::text(question)])],
        ..ModelRequest::default()
    };
    let (mut text, mut usage) = (String::new(), None);
    let collected = waits.within(collect(provider, request, (&mut text, &mut usage))).await?;
    let text = match collected {
        Ok(()) if text.trim().is_empty() => Err("the model wrote no summary".to_owned()),
        Ok(()) => {
            text.truncate(text.floor_char_boundary(most));
            Ok(text)
        }
        Err(error) => {
            tracing::warn!(%error, "the turns that outgrew the window could not be summarised");
            Err(error.to_string())
        }
    };
    Ok(Written { text, usage })
}

async fn collect(
    provider: &dyn Provider,
    request: ModelRequest,
    (text, usage): (&mut String, &mut Option<TokenUsage>),
) -> Result<(), ProviderError> {
    let mut stream = provider.stream(request).await?;
    while let Some(delta) = stream.next().await {
        match delta? {
            ModelDelta::Text(piece) => text.push_str(&piece),
            ModelDelta::Usage(tokens) => *usage = Some(tokens),
            ModelDelta::Finish(_) => return Ok(()),
            ModelDelta::Thought(_) | ModelDelta::Call(_) | ModelDelta::Kept(_) => {}
        }
    }
    let reason = "the stream ended before the summary was whole".to_owned();
    Err(ProviderError::Truncated { agent: provider.info().agent, reason })
}
