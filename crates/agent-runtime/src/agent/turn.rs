//! The turn's loop: ask the model, run what it calls, ask again.

use serde_json::Value;
use session_model::{
    AgentId, Content, ContextUsage, Entry, Event, Severity, Spent, StopReason, Summary, TokenUsage,
};

use super::batch::{Batch, Done};
use super::digest::{self, Digest};
use super::learned::Counted;
use super::overflow::overflow;
use super::repeats::{self, Repeats, Repetition};
use super::reply::{self, Broken, Listener, Reply};
use super::{Agent, Limits};
use crate::context::{self, Budget, Density, Family};
use crate::driver::{TurnEnd, TurnError, TurnInput};
use crate::handover::Handover;
use crate::io::{Interrupted, TurnIo};
use crate::prompt::PromptRole;
use crate::provider::{FinishReason, ModelMessage, ModelRequest, ProviderError, ProviderInfo, ToolSchema};
use crate::tools::ToolRegistry;
use crate::waits::Waits;

/// How many answers in a row may be cut off behind or within a call before the turn ends.
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
    family: Family,
    /// Tokens of the system prompt and the tools, as estimated.
    fixed: u64,
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
        let family = Family::of(&info.model);
        let fixed = family.tokens(&system) + family.of_tools(&tools);
        let summary = context::summary(past(&input)).cloned();
        let messages = beginning(&input, Budget::bytes(usize::MAX), summary.as_ref());
        let mut turn = Self {
            agent,
            family,
            fixed,
            waits: Waits::new(io, limit),
            info,
            system,
            tools,
            registry,
            budget: Budget::bytes(usize::MAX),
            own: 0,
            messages,
            summary,
            repeats: Repeats::default(),
            digest: Digest::default(),
            usage: None,
            cut_answers: 0,
            causes: Vec::new(),
            input,
        };
        turn.budget = turn.window_budget().min(Budget::bytes(agent.learned.most()));
        turn.messages = beginning(&turn.input, turn.budget, turn.summary.as_ref());
        turn.own = turn.messages.len();
        turn
    }

    /// Tokens the model can hold, where known: as configured, or less if its server says so.
    fn window(&self) -> Option<u64> {
        let configured = self.info.context_window.filter(|&tokens| tokens > 0);
        match (configured, self.agent.learned.window()) {
            (Some(configured), Some(told)) => Some(configured.min(told)),
            (configured, told) => configured.or(told),
        }
    }

    /// How much text like that of the messages the window holds.
    pub(super) fn window_budget(&self) -> Budget {
        let learned = &self.agent.learned;
        let tokens = learned.corrected(self.family.of_messages(&self.messages));
        let density = Density::of(context::total_size(&self.messages), tokens);
        let window = Budget::for_window(self.window(), learned.corrected(self.fixed), density);
        window.min(Budget::at_least(self.agent.limits.history))
    }

    pub(super) async fn run(mut self) -> Result<TurnEnd, TurnError> {
        let limit = self.agent.limits.max_requests.max(1);
        self.fits()?;
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

    /// A window that does not even hold what is sent anyway cannot be made room in.
    fn fits(&self) -> Result<(), ProviderError> {
        let needed = self.agent.learned.corrected(self.fixed);
        let Some(window) = self.info.context_window.filter(|&window| window > 0 && window < needed) else {
            return Ok(());
        };
        let reason = format!(
            "the model's window of {window} tokens is smaller than the instructions and the tools alone (about {needed}); \
             give the model a larger context and correct `context_window_tokens`, or set a smaller `system_prompt_tier` \
             and fewer tools"
        );
        Err(ProviderError::Misconfigured { agent: self.info.agent.clone(), reason })
    }

    /// Asks, and once more with less when the server says that it was too much.
    async fn ask_model(&mut self) -> Result<Reply, TurnError> {
        context::shrink(&mut self.messages, self.budget);
        let mut reply = self.request().await;
        let too_long =
            reply.as_ref().err().filter(|broken| broken.silent).and_then(|broken| overflow(&broken.error));
        if let Some(overflow) = too_long
            && self.cut_down(overflow).await?
        {
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
            FinishReason::Length if !reply.has_calls() => {
                let notice = "The model reached its output limit before it said anything.";
                self.conclude(&reply, notice).await?;
                return Ok(Some(StopReason::MaxTokens));
            }
            FinishReason::Stop if !reply.has_calls() => {
                let notice = "The turn finished without a text reply.";
                self.conclude(&reply, notice).await?;
                return Ok(Some(StopReason::EndTurn));
            }
            FinishReason::Stop | FinishReason::Length => {}
        }
        if !reply.is_cut() {
            self.cut_answers = 0;
        } else if self.cut_answers == MAX_CUT_ANSWERS {
            self.conclude(&reply, "The model reached its output limit again and again within its calls.")
                .await?;
            return Ok(Some(StopReason::MaxTokens));
        } else {
            self.cut_answers += 1;
        }
        let repetition = self.repeats.observe(&reply.calls);
        if let Repetition::End(times) = repetition {
            let why = format!("[turn terminated: the model made the same calls {times} times in a row]");
            self.say(self.digest.under(&why)).await?;
            return Ok(Some(StopReason::MaxTurnRequests));
        }
        let cut = reply.finish == FinishReason::Length && reply.cut.is_empty();
        let batch = Batch::new((self.agent, &self.registry), &self.input, &self.waits, step);
        let done = batch.knowing(std::mem::take(&mut self.causes)).run(reply.calls, reply.cut).await?;
        let over = done.over;
        self.remember((reply.text, reply.reasoning, reply.kept), done, hints(repetition, cut));
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

    fn remember(&mut self, said: (String, String, Vec<Value>), done: Done, hints: Vec<String>) {
        let (text, reasoning, kept) = said;
        self.input.permissions.grants.extend(done.grants);
        if let Some(usage) = done.usage {
            self.usage.get_or_insert_default().add(usage);
        }
        self.causes = done.causes;
        let calls = done.calls.iter().map(|(call, _)| call.clone()).collect();
        self.messages.push(ModelMessage::Assistant { text, calls, kept, reasoning });
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
            self.compare(tokens.input + tokens.cached).await?;
        }
        let used = match reply.usage.map(TokenUsage::total) {
            Some(used) if used > 0 => used,
            Some(_) | None => self.estimate(&[&reply.text, &reply.reasoning]),
        };
        self.gauge(used).await
    }

    /// Tells how full the context is.
    pub(super) async fn gauge(&self, used: u64) -> Result<(), Interrupted> {
        let size = self.window().unwrap_or_default();
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

    /// Holds the server's count of the request against the estimate. A server that cuts requests without a word leaves
    /// out the instructions first: the user has to know.
    async fn compare(&self, counted: u64) -> Result<(), Interrupted> {
        let estimated = self.estimated();
        match self.agent.learned.counted(counted, estimated) {
            Counted::Well | Counted::StillFarBelow => Ok(()),
            Counted::FarBelow => {
                let title = format!(
                    "The server counted {counted} tokens where about {estimated} were sent: it seems to cut long \
                     requests without saying so, instructions first. Give its model a larger context (for Ollama: \
                     OLLAMA_CONTEXT_LENGTH), or set the agent's `context_window_tokens` to what it has."
                );
                self.notice(Severity::Warning, title).await
            }
        }
    }

    /// Tokens of the request, by the table alone.
    pub(super) fn estimated(&self) -> u64 {
        self.fixed + self.family.of_messages(&self.messages)
    }

    /// Tokens in use, for servers that do not say.
    pub(super) fn estimate(&self, said: &[&str]) -> u64 {
        let said: u64 = said.iter().map(|text| self.family.tokens(text)).sum();
        self.agent.learned.corrected(self.estimated() + said)
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
