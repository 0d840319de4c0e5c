//! One answer of the model, said on as it comes in.

use futures::StreamExt;
use serde_json::Value;
use session_model::source::{IdKind, Ids};
use session_model::{Content, Event, MessageId, Notice, Role, Severity, TokenUsage};

use crate::context;
use crate::driver::TurnError;
use crate::provider::{
    FinishReason, ModelCall, ModelDelta, ModelRequest, ModelStream, Provider, ProviderError,
};
use crate::waits::Waits;

/// All of an answer.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) text: String,
    pub(super) reasoning: String,
    pub(super) calls: Vec<ModelCall>,
    /// What the output limit cut off.
    pub(super) cut: Vec<ModelCall>,
    /// What the provider wants back.
    pub(super) kept: Vec<Value>,
    pub(super) finish: FinishReason,
    pub(super) usage: Option<TokenUsage>,
}

impl Reply {
    /// Whether there is anything to call, or was to be.
    pub(super) fn has_calls(&self) -> bool {
        !(self.calls.is_empty() && self.cut.is_empty())
    }

    /// Whether it was cut off. Some servers call an answer whole whose last call stops in the middle of its arguments.
    pub(super) fn is_cut(&self) -> bool {
        let stops = |call: &ModelCall| context::stops_early(&call.arguments);
        self.finish == FinishReason::Length || !self.cut.is_empty() || self.calls.iter().any(stops)
    }
}

/// What became of a request that failed.
#[derive(Debug)]
pub(super) struct Broken {
    pub(super) error: TurnError,
    /// Nothing of an answer had come: the request can be made again without anything being said twice.
    pub(super) silent: bool,
}

/// Hears the model out and passes on what it says.
pub(super) struct Listener<'a> {
    pub(super) provider: &'a dyn Provider,
    pub(super) waits: &'a Waits,
    pub(super) ids: &'a dyn Ids,
    pub(super) show_thoughts: bool,
}

impl Listener<'_> {
    /// Asks the model for one answer.
    ///
    /// # Errors
    /// The turn's end; or the provider's failure, after which everything said before stays said.
    pub(super) async fn receive(&self, request: ModelRequest) -> Result<Reply, Broken> {
        let mut parts = Parts {
            said: Voice::new(Role::Agent),
            thought: Voice::new(Role::Thought),
            calls: Vec::new(),
            cut: Vec::new(),
            kept: Vec::new(),
            usage: None,
        };
        match self.collect(request, &mut parts).await {
            Ok(finish) => {
                let Parts { said, thought, calls, cut, kept, usage } = parts;
                Ok(Reply { text: said.text, reasoning: thought.text, calls, cut, kept, finish, usage })
            }
            Err(error) => {
                let silent = parts.said.id.is_none() && parts.thought.id.is_none() && parts.calls.is_empty();
                Err(Broken { error, silent })
            }
        }
    }

    async fn collect(&self, request: ModelRequest, parts: &mut Parts) -> Result<FinishReason, TurnError> {
        let Self { provider, waits, ids, show_thoughts } = *self;
        let mut stream = self.open(request).await?;
        loop {
            match waits.within(stream.next()).await?.transpose()? {
                Some(ModelDelta::Text(piece)) => {
                    if let Some(event) = parts.said.hear(&piece, ids) {
                        waits.emit(event).await?;
                    }
                }
                Some(ModelDelta::Thought(piece)) => {
                    if let Some(event) = parts.thought.hear(&piece, ids).filter(|_| show_thoughts) {
                        waits.emit(event).await?;
                    }
                }
                Some(ModelDelta::Call(call)) => parts.calls.push(call),
                Some(ModelDelta::CutCall(call)) => parts.cut.push(call),
                Some(ModelDelta::Kept(value)) => parts.kept.push(value),
                Some(ModelDelta::Usage(tokens)) => parts.usage = Some(tokens),
                Some(ModelDelta::Finish(reason)) => return Ok(reason),
                None => {
                    let reason = "the stream ended before the answer was whole".to_owned();
                    return Err(ProviderError::Truncated { agent: provider.info().agent, reason }.into());
                }
            }
        }
    }

    /// Waits for the beginning of an answer, and passes on meanwhile what the provider has to tell.
    async fn open(&self, request: ModelRequest) -> Result<ModelStream, TurnError> {
        let mut opening = std::pin::pin!(self.waits.within(self.provider.stream(request)));
        let opened = loop {
            tokio::select! {
                biased;
                opened = &mut opening => break opened,
                () = self.provider.noticed() => self.tell_notices().await?,
            }
        };
        self.tell_notices().await?;
        Ok(opened??)
    }

    async fn tell_notices(&self) -> Result<(), TurnError> {
        for title in self.provider.take_notices() {
            self.waits.emit(notice(Severity::Info, title, self.ids)).await?;
        }
        Ok(())
    }
}

/// An answer as it grows.
struct Parts {
    said: Voice,
    thought: Voice,
    calls: Vec<ModelCall>,
    cut: Vec<ModelCall>,
    kept: Vec<Value>,
    usage: Option<TokenUsage>,
}

/// A whole message of the agent, with an id of its own.
pub(crate) fn message(text: String, ids: &dyn Ids) -> Event {
    let id = MessageId::from(ids.fresh(IdKind::Message));
    Event::MessageDelta { id, role: Role::Agent, content: Content::text(text) }
}

/// A remark to the user.
pub(crate) fn notice(severity: Severity, title: String, ids: &dyn Ids) -> Event {
    Event::Notice(Notice { id: MessageId::from(ids.fresh(IdKind::Message)), severity, title })
}

/// One message as it grows. White space at its beginning is held back until something follows, so that a model
/// that says nothing but line breaks says nothing.
pub(crate) struct Voice {
    role: Role,
    id: Option<MessageId>,
    text: String,
    held: String,
}

impl Voice {
    pub(crate) fn new(role: Role) -> Self {
        Self { role, id: None, text: String::new(), held: String::new() }
    }

    /// The event for one more piece, if there is something to say yet.
    pub(crate) fn hear(&mut self, piece: &str, ids: &dyn Ids) -> Option<Event> {
        if piece.is_empty() {
            return None;
        }
        if self.id.is_none() && piece.trim().is_empty() {
            self.held.push_str(piece);
            return None;
        }
        let piece = std::mem::take(&mut self.held) + piece;
        self.text.push_str(&piece);
        let id = self.id.get_or_insert_with(|| MessageId::from(ids.fresh(IdKind::Message)));
        Some(Event::MessageDelta { id: id.clone(), role: self.role, content: Content::text(piece) })
    }
}
