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

/// How often the summary's own length a model may write in all, with what it thinks first.
const WORDINESS: usize = 4;
/// Bytes of a word with its space, about; for telling the model how much it may write.
const WORD: usize = 8;

/// Asks the model for a summary; nothing of it is shown. It is told how long the summary may be, and is not heard out
/// beyond `most` bytes: a model that writes on has not summarised, and the user waits.
///
/// # Errors
/// The turn's end.
pub(super) async fn write(
    provider: &dyn Provider,
    waits: &Waits,
    outgrown: &Outgrown,
    (wish, most): (Option<&str>, usize),
) -> Result<Written, TurnError> {
    let words = most / WORD;
    let mut question = format!("{}\n\nSummarise this in at most {words} words.", outgrown.transcript);
    if let Some(wish) = wish.filter(|wish| !wish.is_empty()) {
        question = format!("{question} The user wants you to mind: {wish}");
    }
    let request = ModelRequest {
        system: TASK.to_owned(),
        messages: vec![ModelMessage::User(vec![Content::text(question)])],
        ..ModelRequest::default()
    };
    let mut heard = Heard { most, text: String::new(), thought: 0, usage: None };
    let collected = waits.within(heard.collect(provider, request)).await?;
    let Heard { text, usage, .. } = heard;
    let text = match collected {
        Ok(()) if text.trim().is_empty() => Err("the model wrote no summary".to_owned()),
        Ok(()) => Ok(cut(text, most)),
        Err(error) => {
            tracing::warn!(%error, "the turns that outgrew the window could not be summarised");
            Err(error.to_string())
        }
    };
    Ok(Written { text, usage })
}

/// What the model has said so far.
struct Heard {
    most: usize,
    text: String,
    /// Bytes that it thought.
    thought: usize,
    usage: Option<TokenUsage>,
}

impl Heard {
    async fn collect(&mut self, provider: &dyn Provider, request: ModelRequest) -> Result<(), ProviderError> {
        let mut stream = provider.stream(request).await?;
        while let Some(delta) = stream.next().await {
            match delta? {
                ModelDelta::Text(piece) => self.text.push_str(&piece),
                ModelDelta::Thought(piece) => self.thought += piece.len(),
                ModelDelta::Usage(tokens) => self.usage = Some(tokens),
                ModelDelta::Finish(_) => return Ok(()),
                ModelDelta::Call(_) | ModelDelta::CutCall(_) | ModelDelta::Kept(_) => {}
            }
            if self.is_enough() {
                return Ok(());
            }
        }
        let reason = "the stream ended before the summary was whole".to_owned();
        Err(ProviderError::Truncated { agent: provider.info().agent, reason })
    }

    /// Dropping the stream then also stops the server.
    fn is_enough(&self) -> bool {
        self.text.len() > self.most || self.text.len() + self.thought > WORDINESS * self.most
    }
}

/// At most `most` bytes, up to the last line or sentence that is whole in them.
fn cut(mut text: String, most: usize) -> String {
    if text.len() > most {
        text.truncate(text.floor_char_boundary(most));
        let line = text.rfind('\n');
        let sentence = text.rfind(". ").map(|at| at + 1);
        if let Some(end) = line.max(sentence).filter(|end| *end > most / 2) {
            text.truncate(end);
        }
    }
    text
}
