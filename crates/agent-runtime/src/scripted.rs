//! A model that follows a script: for tests and demonstrations, of this crate and of others.
//!
//! Each answer is a list of [`Line`]s. A script decides when the model goes on ([`Latch`], or tokio's clock), and
//! remembers what it was asked. It knows nothing of what its answers lead to.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream;
use serde_json::Value;
use session_model::TokenUsage;
use tokio_util::sync::CancellationToken;

use crate::provider::{
    FinishReason, ModelCall, ModelDelta, ModelRequest, ModelStream, Provider, ProviderError, ProviderInfo,
};

/// One thing the scripted model does.
#[derive(Debug, Clone)]
pub enum Line {
    /// Says the pieces, one delta each.
    Say(Vec<String>),
    /// Thinks aloud, one delta.
    Think(String),
    /// Calls a tool.
    Use {
        /// The tool.
        tool: String,
        /// Its arguments.
        args: Value,
    },
    /// Calls a tool with arguments as written, however wrong.
    UseRaw {
        /// The tool.
        tool: String,
        /// Its arguments.
        arguments: String,
    },
    /// Calls a tool; the output limit cuts the arguments off.
    UseCut {
        /// The tool.
        tool: String,
        /// As far as they came.
        arguments: String,
    },
    /// Gives something that it wants back unread.
    Keep(Value),
    /// Reports tokens.
    Usage(TokenUsage),
    /// Stops until the test opens the latch.
    Wait(Latch),
    /// Stops for a time on tokio's clock.
    Pause(Duration),
    /// Never goes on.
    Hang,
    /// Fails; as the first line, before the answer begins.
    Fail(ProviderError),
    /// Ends without saying that the answer is whole.
    Cut,
    /// Ends. An answer that ends in nothing else ends in `Finish(Stop)`.
    Finish(FinishReason),
}

impl Line {
    /// Says one piece.
    pub fn say(text: impl Into<String>) -> Self {
        Self::Say(vec![text.into()])
    }

    /// Says several pieces, one delta each.
    #[must_use]
    pub fn pieces(pieces: &[&str]) -> Self {
        Self::Say(pieces.iter().map(|&piece| piece.to_owned()).collect())
    }

    /// Calls a tool; the output limit cuts the arguments off.
    pub fn call_cut(tool: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self::UseCut { tool: tool.into(), arguments: arguments.into() }
    }

    /// Thinks aloud.
    pub fn think(text: impl Into<String>) -> Self {
        Self::Think(text.into())
    }

    /// Calls a tool.
    pub fn call(tool: impl Into<String>, args: Value) -> Self {
        Self::Use { tool: tool.into(), args }
    }

    /// Calls a tool with arguments as written.
    pub fn call_raw(tool: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self::UseRaw { tool: tool.into(), arguments: arguments.into() }
    }
}

/// Opens once and stays open. Clones are the same latch.
#[derive(Debug, Clone, Default)]
pub struct Latch {
    opened: CancellationToken,
    reached: CancellationToken,
}

impl Latch {
    /// A closed latch.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets everybody through from now on.
    pub fn open(&self) {
        self.opened.cancel();
    }

    /// Waits until somebody stands before the latch.
    pub async fn reached(&self) {
        self.reached.cancelled().await;
    }

    /// Stands before the latch until it is open.
    pub async fn pass(&self) {
        self.reached.cancel();
        self.opened.cancelled().await;
    }
}

/// A provider that answers from a script.
#[derive(Debug)]
pub struct Scripted {
    info: ProviderInfo,
    script: Mutex<Script>,
    streaming: Arc<AtomicUsize>,
}

#[derive(Debug)]
struct Script {
    left: VecDeque<Vec<Line>>,
    looped: bool,
    requests: Vec<ModelRequest>,
    notices: Vec<String>,
}

impl Scripted {
    /// A model that gives these answers, one a request, and then fails.
    #[must_use]
    pub fn new(answers: Vec<Vec<Line>>) -> Self {
        let info =
            ProviderInfo { agent: "scripted".to_owned(), model: "script".to_owned(), context_window: None };
        let script =
            Script { left: answers.into(), looped: false, requests: Vec::new(), notices: Vec::new() };
        Self { info, script: Mutex::new(script), streaming: Arc::default() }
    }

    /// Begins again after the last answer.
    #[must_use]
    pub fn looped(self) -> Self {
        self.script().looped = true;
        self
    }

    /// Says who it is.
    #[must_use]
    pub fn with_info(mut self, info: ProviderInfo) -> Self {
        self.info = info;
        self
    }

    /// Says how many tokens it can hold.
    #[must_use]
    pub fn with_context_window(mut self, tokens: u64) -> Self {
        self.info.context_window = Some(tokens);
        self
    }

    /// Has something to tell the user with its next answer.
    #[must_use]
    pub fn with_notice(self, notice: impl Into<String>) -> Self {
        self.script().notices.push(notice.into());
        self
    }

    /// Adds an answer to the end.
    pub fn push(&self, answer: Vec<Line>) {
        self.script().left.push_back(answer);
    }

    /// What it was asked so far.
    #[must_use]
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.script().requests.clone()
    }

    /// How many answers were not given yet.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.script().left.len()
    }

    /// How many of its answers are still being read.
    #[must_use]
    pub fn streaming(&self) -> usize {
        self.streaming.load(Ordering::SeqCst)
    }

    fn script(&self) -> std::sync::MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next_answer(&self, request: ModelRequest) -> Option<Vec<Line>> {
        let mut script = self.script();
        script.requests.push(request);
        let answer = script.left.pop_front()?;
        if script.looped {
            script.left.push_back(answer.clone());
        }
        Some(answer)
    }
}

#[async_trait]
impl Provider for Scripted {
    fn info(&self) -> ProviderInfo {
        self.info.clone()
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ProviderError> {
        let Some(answer) = self.next_answer(request) else {
            let reason = "the script has no further answer".to_owned();
            return Err(ProviderError::Misconfigured { agent: self.info.agent.clone(), reason });
        };
        if let Some(Line::Fail(error)) = answer.first() {
            return Err(error.clone());
        }
        let playback = Playback {
            lines: answer.into(),
            ready: VecDeque::new(),
            calls: 0,
            over: false,
            _open: Open::new(Arc::clone(&self.streaming)),
        };
        Ok(stream::unfold(playback, Playback::next).boxed())
    }

    fn take_notices(&self) -> Vec<String> {
        std::mem::take(&mut self.script().notices)
    }
}

/// Counts a stream for as long as it lives.
#[derive(Debug)]
struct Open(Arc<AtomicUsize>);

impl Open {
    fn new(count: Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

struct Playback {
    lines: VecDeque<Line>,
    ready: VecDeque<ModelDelta>,
    calls: usize,
    over: bool,
    _open: Open,
}

impl Playback {
    async fn next(mut self) -> Option<(Result<ModelDelta, ProviderError>, Self)> {
        loop {
            if let Some(delta) = self.ready.pop_front() {
                return Some((Ok(delta), self));
            }
            if self.over {
                return None;
            }
            match self.lines.pop_front() {
                None => self.end(Some(FinishReason::Stop)),
                Some(Line::Say(pieces)) => self.ready.extend(pieces.into_iter().map(ModelDelta::Text)),
                Some(Line::Think(text)) => self.ready.push_back(ModelDelta::Thought(text)),
                Some(Line::Use { tool, args }) => self.call(tool, args.to_string(), ModelDelta::Call),
                Some(Line::UseRaw { tool, arguments }) => self.call(tool, arguments, ModelDelta::Call),
                Some(Line::UseCut { tool, arguments }) => self.call(tool, arguments, ModelDelta::CutCall),
                Some(Line::Keep(value)) => self.ready.push_back(ModelDelta::Kept(value)),
                Some(Line::Usage(usage)) => self.ready.push_back(ModelDelta::Usage(usage)),
                Some(Line::Wait(latch)) => latch.pass().await,
                Some(Line::Pause(time)) => tokio::time::sleep(time).await,
                Some(Line::Hang) => std::future::pending().await,
                Some(Line::Fail(error)) => {
                    self.over = true;
                    return Some((Err(error), self));
                }
                Some(Line::Cut) => self.end(None),
                Some(Line::Finish(reason)) => self.end(Some(reason)),
            }
        }
    }

    /// Ids repeat in every answer, as those of many local servers do: nothing may rely on them.
    fn call(&mut self, name: String, arguments: String, said: fn(ModelCall) -> ModelDelta) {
        let id = format!("call_{}", self.calls);
        self.calls += 1;
        self.ready.push_back(said(ModelCall { id, name, arguments }));
    }

    fn end(&mut self, reason: Option<FinishReason>) {
        self.over = true;
        self.ready.extend(reason.map(ModelDelta::Finish));
    }
}
