//! The turn's loop: ask the model, run what it calls, ask again.

use serde_json::{Value, json};
use session_model::{
    AgentId, Content, ContextUsage, Entry, Event, Severity, Spent, StopReason, Summary, TokenUsage,
};

use super::batch::{Batch, Done};
use super::digest::{self, Digest};
use super::overflow;
use super::repeats::{self, Repeats, Repetition};
use super::reply::{self, Broken, Listener, Reply};
use super::{Agent, Limits};
use crate::context::{self, Budget};
use crate::driver::{TurnEnd, TurnError, TurnInput};
use crate::handover::Handover;
use crate::io::{Interrupted, TurnIo};
use crate::prompt::PromptRole;
use crate::provider::{FinishReason, ModelMessage, ModelRequest, ProviderInfo, ToolSchema};
use crate::tools::ToolRegistry;
use crate::waits::Waits;

/// How many answers in a row may be cut off behind a whole call before the turn ends.
const MAX_CUT_ANSWERS: usize = 2;

const CUT_ANSWER: &str = "[note: your answer reached the output limit after these calls; whatever followed was lost \
                          and not run. Go on in smaller pieces.]";

pub(super) struct Turn<'a> {
    pub(super) agent: &'a Agent,
    pub(super) input: TurnInput,
    pub(super) waits: Waits,
    info: ProviderInfo,
    system: String,
    tools: Vec<ToolSchema>,
    registry: ToolRegistry,
    pub(super) budget: Budget,
    pub(super) messages: Vec<ModelMessage>,
    /// Of the oldest turns.
    pub(super) summary: Option<Summary>,
    /// Where the messages of this turn's answers begin.
    pub(super) own: usize,
    repeats: Repeats,
    digest: Digest,
    usage: Option<TokenUsage>,
    cut_answers: usize,
    /// Why questions could not be asked, as far as the user was told.
    causes: Vec<String>,
}

impl<'a> Turn<'a> {
    pub(super) fn new(agent: &'a Agent, input: TurnInput, io: TurnIo) -> Self {
        let input = told(input, agent.prompt.role);
        let Limits { turn: limit, .. } = agent.limits;
        let info = agent.provider.info();
        let registry = agent.tools.for_host(input.host);
        let tools = registry.schemas();
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        let system = agent.prompt.render(&input.cwd, &input.additional_roots, &names);
        let fixed = system.len() + tools.iter().map(schema_size).sum::<usize>();
        let most = Budget::bytes(agent.learned.most());
        let budget = Budget::for_window(info.context_window, fixed).min(most);
        let summary = context::summary(past(&input)).cloned();
        let messages = beginning(&input, budget, summary.as_ref());
        Self {
            agent,
            waits: Waits::new(io, limit),
            info,
            system,
            tools,
            registry,
            budget,
            own: messages.len(),
            messages,
            summary,
            repeats: Repeats::default(),
            digest: Digest::default(),
            usage: None,
            cut_answers: 0,
            causes: Vec::new(),
            input,
        }
    }

    pub(super) async fn run(mut self) -> Result<TurnEnd, TurnError> {
        let limit = self.agent.limits.max_requests.max(1);
        self.compact(self.budget, None).await?;
        for step in 0..limit {
            // What tools did is kept before the model builds on it.
            self.waits.settled().await?;
            let reply = self.ask_model().await?;
            if let Some(stop) = self.take(u32::try_from(step).unwrap_or(u32::MAX), reply).await? {
                return Ok(self.end(stop));
            }
        }
        let heading = format!("[stopped after {limit} requests to the model; ask to go on]");
        self.say(self.digest.under(&heading)).await?;
        Ok(self.end(StopReason::MaxTurnRequests))
    }

    /// Asks, and once more with less when the server says that it was too much.
    async fn ask_model(&mut self) -> Result<Reply, TurnError> {
        context::shrink(&mut self.messages, self.budget);
        let mut reply = self.request().await;
        let too_long = matches!(&reply, Err(broken) if broken.silent && overflow::is_overflow(&broken.error));
        if too_long && self.cut_down().await? {
            reply = self.request().await;
        }
        let reply = reply.map_err(|broken| broken.error)?;
        tracing::debug!(
            finish = ?reply.finish,
            text = reply.text.len(),
            reasoning = reply.reasoning.len(),
            calls = reply.calls.len(),
            "model answered"
        );
        self.account(&reply).await?;
        Ok(reply)
    }

    async fn request(&self) -> Result<Reply, Broken> {
        let request = ModelRequest {
            system: self.system.clone(),
            messages: self.messages.clone(),
            tools: self.tools.clone(),
            effort: self.input.effort,
        };
        let listener = Listener {
            provider: &*self.agent.provider,
            waits: &self.waits,
            ids: &*self.agent.ids,
            show_thoughts: self.input.show_thoughts,
        };
        listener.receive(request).await
    }

    /// Does what an answer asks for; says why the turn is over, if it is.
    async fn take(&mut self, step: u32, reply: Reply) -> Result<Option<StopReason>, TurnError> {
        match reply.finish {
            FinishReason::Refusal => {
                self.conclude(&reply, "The model refused to answer.").await?;
                return Ok(Some(StopReason::Refusal));
            }
            FinishReason::Length if reply.calls.is_empty() || self.cut_answers == MAX_CUT_ANSWERS => {
                let notice = "The model reached its output limit before it said anything.";
                self.conclude(&reply, notice).await?;
                return Ok(Some(StopReason::MaxTokens));
            }
            FinishReason::Stop if reply.calls.is_empty() => {
                let notice = "The turn finished without a text reply.";
                self.conclude(&reply, notice).await?;
                return Ok(Some(StopReason::EndTurn));
            }
            FinishReason::Stop => self.cut_answers = 0,
            FinishReason::Length => self.cut_answers += 1,
        }
        let repetition = self.repeats.observe(&reply.calls);
        if let Repetition::End(times) = repetition {
            let why = format!("[turn terminated: the model made the same calls {times} times in a row]");
            self.say(self.digest.under(&why)).await?;
            return Ok(Some(StopReason::MaxTurnRequests));
        }
        let cut = reply.finish == FinishReason::Length;
        let batch = Batch::new((self.agent, &self.registry), &self.input, &self.waits, step);
        let done = batch.knowing(std::mem::take(&mut self.causes)).run(reply.calls).await?;
        let over = done.over;
        self.remember(reply.text, reply.kept, done, hints(repetition, cut));
        Ok(over.then_some(StopReason::EndTurn))
    }

    /// An answer that says nothing is replaced by what there is: reasoning, what was done, or at least a notice.
    async fn conclude(&self, reply: &Reply, notice: &str) -> Result<(), Interrupted> {
        if !reply.text.is_empty() {
            return Ok(());
        }
        match digest::stand_in(&self.digest, &reply.reasoning) {
            Some(text) => self.say(text).await,
            None => self.notice(Severity::Info, notice.to_owned()).await,
        }
    }

    fn remember(&mut self, text: String, kept: Vec<Value>, done: Done, hints: Vec<String>) {
        self.input.permissions.grants.extend(done.grants);
        self.causes = done.causes;
        let calls = done.calls.iter().map(|(call, _)| call.clone()).collect();
        self.messages.push(ModelMessage::Assistant { text, calls, kept });
        for (call, output) in done.calls {
            self.digest.add(&call, &output);
            self.messages.push(ModelMessage::ToolResult { call_id: call.id, name: call.name, output });
        }
        // Strict servers want the model to speak after a result: what it is to be told rides on the last one.
        if let Some(ModelMessage::ToolResult { output, .. }) = self.messages.last_mut() {
            for hint in hints {
                output.push_str("\n\n");
                output.push_str(&hint);
            }
        }
    }

    async fn account(&mut self, reply: &Reply) -> Result<(), Interrupted> {
        if let Some(tokens) = reply.usage.filter(|tokens| tokens.total() > 0) {
            self.spend(tokens).await?;
        }
        let used = match reply.usage.map(TokenUsage::total) {
            Some(used) if used > 0 => used,
            Some(_) | None => self.estimate(reply.text.len() + reply.reasoning.len()),
        };
        self.gauge(used).await
    }

    /// Tells how full the context is.
    pub(super) async fn gauge(&self, used: u64) -> Result<(), Interrupted> {
        let size = self.info.context_window.unwrap_or_default();
        self.waits.emit(Event::Usage(ContextUsage { used, size, cost: None })).await
    }

    /// Counts what a request took.
    pub(super) async fn spend(&mut self, tokens: TokenUsage) -> Result<(), Interrupted> {
        self.usage.get_or_insert_default().add(tokens);
        let ProviderInfo { agent, model, .. } = &self.info;
        let dollars = self.agent.price.map(|price| price.of(tokens));
        let spent = Spent { agent: AgentId::from(agent.as_str()), model: model.clone(), tokens, dollars };
        self.waits.emit(Event::Spent(spent)).await
    }

    /// Tokens in use by size, for servers that do not say: about four bytes each.
    pub(super) fn estimate(&self, more: usize) -> u64 {
        let fixed = self.system.len() + self.tools.iter().map(schema_size).sum::<usize>();
        let bytes = fixed + context::total_size(&self.messages) + more;
        (bytes / 4) as u64
    }

    async fn say(&self, text: String) -> Result<(), Interrupted> {
        self.waits.emit(reply::message(text, &*self.agent.ids)).await
    }

    pub(super) async fn notice(&self, severity: Severity, title: String) -> Result<(), Interrupted> {
        self.waits.emit(reply::notice(severity, title, &*self.agent.ids)).await
    }

    fn end(&self, stop: StopReason) -> TurnEnd {
        TurnEnd { stop, usage: self.usage }
    }
}

/// The conversation as an agent of this role reads it, and its prompt with what it is told of a hand-over.
fn told(mut input: TurnInput, role: PromptRole) -> TurnInput {
    if let Some(role) = role.target() {
        input.history = context::marked(input.history, role);
    }
    let preface = input.handover.as_ref().map(Handover::preface).unwrap_or_default();
    if !preface.is_empty() {
        input.prompt.insert(0, Content::text(preface));
    }
    input
}

/// What was before this turn, and its prompt.
pub(super) fn beginning(input: &TurnInput, budget: Budget, summary: Option<&Summary>) -> Vec<ModelMessage> {
    context::messages(past(input), &input.prompt, budget, summary)
}

pub(super) fn past(input: &TurnInput) -> impl Iterator<Item = &Entry> {
    input.history.iter().filter(|entry| entry.turn != input.turn)
}

fn hints(repetition: Repetition, cut: bool) -> Vec<String> {
    let mut hints = Vec::new();
    if let Repetition::Remind(times) = repetition {
        hints.push(repeats::reminder(times));
    }
    if cut {
        hints.push(CUT_ANSWER.to_owned());
    }
    hints
}

fn schema_size(tool: &ToolSchema) -> usize {
    json!([tool.name, tool.description, tool.parameters]).to_string().len()
}
