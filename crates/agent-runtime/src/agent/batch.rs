//! The calls of one answer: announced, asked about, run, told.

use std::any::Any;
use std::collections::VecDeque;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::stream::FuturesOrdered;
use futures::{FutureExt, StreamExt};
use serde_json::{Map, Value};
use session_model::source::IdKind;
use session_model::{
    Answer, Ask, Content, Event, Grant, Severity, TokenUsage, ToolCallId, ToolCallUpdate, ToolContent,
    ToolKind, ToolStatus,
};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tracing::Instrument as _;

use super::{Agent, TOOL_GRACE};
use super::{cap, reply};
use crate::calls::Running;
use crate::context;
use crate::driver::{Permissions, TurnError, TurnInput};
use crate::gate::{self, Denial, Ruling, Verdict};
use crate::host::Host;
use crate::io::Interrupted;
use crate::provider::ModelCall;
use crate::rules::Subject;
use crate::tools::support::blocking;
use crate::tools::{ApprovalAsk, CallPlan, Timing, Tool, ToolCx, ToolOutput, ToolRegistry, Workspace};
use crate::waits::{Stopwatch, Waits};

/// What came of a batch.
pub(super) struct Done {
    /// The calls as the model is reminded of them, in order, each with what it is told.
    pub(super) calls: Vec<(ModelCall, String)>,
    /// What "always" allowed meanwhile.
    pub(super) grants: Vec<Grant>,
    /// Why questions could not be asked; the user knows.
    pub(super) causes: Vec<String>,
    /// Whether one of the calls ended the turn.
    pub(super) over: bool,
    /// What the calls themselves consumed of models.
    pub(super) usage: Option<TokenUsage>,
}

pub(super) struct Batch<'a> {
    agent: &'a Agent,
    tools: &'a ToolRegistry,
    waits: &'a Waits,
    input: &'a TurnInput,
    permissions: Permissions,
    workspace: Workspace,
    /// Where results of this session that are too long are put aside.
    spill: Option<PathBuf>,
    step: u32,
    granted: Vec<Grant>,
    causes: Vec<String>,
    usage: Option<TokenUsage>,
    /// The user dismissed a question: those after it are not asked, and what they are about is not run.
    is_dismissed: bool,
}

/// What ended a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    Finished,
    /// The user, who ended this call and not its turn.
    Cancelled,
    TimedOut,
}

/// What the model is told of a call that its user ended.
const CANCELLED_ALONE: &str = "the user cancelled this call while it ran; what it did before may have had effects. Do \
                               not repeat it; go on without it or ask what to do instead";

/// What the model is told of a call that it did not come to the end of.
const CUT_OFF: &str = "your answer reached the output limit in the middle of this call, so it was not run; make it again \
                       in smaller pieces (a long file: its beginning first, then more with edits)";

/// One call before it is planned.
struct Received {
    told: ModelCall,
    row: ToolCallUpdate,
    /// The tool and its arguments, or why there are none.
    usable: Result<Usable, String>,
}

struct Usable {
    tool: Arc<dyn Tool>,
    args: Map<String, Value>,
}

/// One call on its way.
struct Call {
    /// As the model is reminded of it: an id of ours, arguments that parse.
    told: ModelCall,
    row: ToolCallUpdate,
    state: State,
}

enum State {
    /// May run, or will be asked about.
    Ready(Ready),
    /// Never to run; told when its turn comes, so that what is kept has the order of the calls.
    Refused(ToolOutput),
    /// Done and told.
    Over(ToolOutput),
}

struct Ready {
    tool: Arc<dyn Tool>,
    args: Map<String, Value>,
    plan: CallPlan,
}

impl<'a> Batch<'a> {
    /// `tools` are those of the agent that can be had in this turn.
    pub(super) fn new(
        (agent, tools): (&'a Agent, &'a ToolRegistry),
        input: &'a TurnInput,
        waits: &'a Waits,
        step: u32,
    ) -> Self {
        let mut additional_roots = input.additional_roots.clone();
        let spill = agent.spill.as_ref().map(|folder| folder.join(input.session.file_name()));
        additional_roots.extend(spill.clone());
        let host = Host::client(input.host, waits.io().clone());
        let host = match &spill {
            Some(folder) => host.without(folder),
            None => host,
        };
        let workspace = Workspace { cwd: input.cwd.clone(), additional_roots, host };
        let permissions = input.permissions.clone();
        Self {
            agent,
            tools,
            waits,
            input,
            permissions,
            workspace,
            spill,
            step,
            granted: Vec::new(),
            causes: Vec::new(),
            usage: None,
            is_dismissed: false,
        }
    }

    /// The user was told of these causes already.
    pub(super) fn knowing(self, causes: Vec<String>) -> Self {
        Self { causes, ..self }
    }

    /// Runs `calls`, and has the model know that those in `cut` were not run.
    pub(super) async fn run(mut self, calls: Vec<ModelCall>, cut: Vec<ModelCall>) -> Result<Done, TurnError> {
        let cut =
            cut.into_iter().map(|call| Received { usable: Err(CUT_OFF.to_owned()), ..self.receive(call) });
        let mut calls: VecDeque<_> = calls.into_iter().map(|call| self.receive(call)).chain(cut).collect();
        let mut done = Vec::with_capacity(calls.len());
        let mut over = false;
        while !calls.is_empty() {
            let mut stretch = self.announce(&mut calls).await?;
            for call in &mut stretch {
                self.ask(call).await?;
            }
            self.execute(&mut stretch).await?;
            self.account(&stretch);
            over |= stretch.iter().any(Call::ends_turn);
            done.extend(stretch.into_iter().map(Call::told));
        }
        Ok(Done { calls: done, grants: self.granted, causes: self.causes, over, usage: self.usage })
    }

    /// Minds what calls consumed, and what was allowed in them.
    fn account(&mut self, calls: &[Call]) {
        for call in calls {
            let State::Over(output) = &call.state else { continue };
            if let Some(usage) = output.usage {
                self.usage.get_or_insert_default().add(usage);
            }
            self.permissions.grants.extend(output.grants.iter().cloned());
            self.granted.extend(output.grants.iter().cloned());
        }
    }

    /// Gives a call its row and the form in which the model is reminded of it.
    fn receive(&self, call: ModelCall) -> Received {
        let id = ToolCallId::from(self.agent.ids.fresh(IdKind::ToolCall));
        let tool = self.tools.meant(&call.name);
        let name = tool.as_ref().map_or_else(|| call.name.clone(), |tool| tool.spec().schema.name.clone());
        let args = context::arguments(&call.arguments).and_then(|args| self.restored(tool.as_ref(), args));
        let mut row = ToolCallUpdate::new(id.clone());
        row.name = Some(name.clone());
        row.step = Some(self.step);
        row.raw_input = Some(match &args {
            Ok(args) => Value::Object(args.clone()),
            Err(_) => Value::String(call.arguments),
        });
        row.title = Some(fallback_title(&name, args.as_ref().ok()));
        row.kind = Some(tool.as_ref().map_or(ToolKind::Other, |tool| tool.spec().kind));
        let told = ModelCall {
            id: id.to_string(),
            name: context::wire_name(&name),
            arguments: Value::Object(args.clone().unwrap_or_default()).to_string(),
        };
        let usable = match (tool, args) {
            (Some(tool), Ok(args)) => Ok(Usable { tool, args }),
            (None, _) => Err(self.unknown(&call.name)),
            (Some(_), Err(why)) => Err(why),
        };
        Received { told, row, usable }
    }

    /// Arguments with secrets in place of their marks, for a tool that writes files: the model was never told them.
    fn restored(
        &self,
        tool: Option<&Arc<dyn Tool>>,
        args: Map<String, Value>,
    ) -> Result<Map<String, Value>, String> {
        let writes = tool.is_some_and(|tool| tool.spec().kind == ToolKind::Edit);
        let Some(redactor) = self.agent.redactor.as_ref().filter(|_| writes) else { return Ok(args) };
        match redactor.restore(Value::Object(args))? {
            Value::Object(args) => Ok(args),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                Err("the arguments are no object".to_owned())
            }
        }
    }

    fn unknown(&self, name: &str) -> String {
        let known: Vec<_> = self.tools.schemas().into_iter().map(|tool| tool.name).collect();
        format!("unknown tool: {name}; there are: {}", known.join(", "))
    }

    /// Plans the next calls and shows their rows, up to the first whose plan may depend on what one of them will
    /// have done: it is planned once they have run.
    async fn announce(&self, calls: &mut VecDeque<Received>) -> Result<Vec<Call>, TurnError> {
        let mut stretch: Vec<Call> = Vec::new();
        while let Some(next) = calls.front() {
            let state = match &next.usable {
                Ok(Usable { tool, args }) => {
                    let plan = self.plan(tool, args).await?;
                    if stretch.iter().any(|call| call.may_change(&plan)) {
                        break;
                    }
                    plan.map(|plan| Ready { tool: Arc::clone(tool), args: args.clone(), plan })
                }
                Err(why) => Err(why.clone()),
            };
            let Some(Received { told, row, .. }) = calls.pop_front() else { break };
            stretch.push(self.show(told, row, state).await?);
        }
        Ok(stretch)
    }

    async fn show(
        &self,
        told: ModelCall,
        mut row: ToolCallUpdate,
        state: Result<Ready, String>,
    ) -> Result<Call, TurnError> {
        let state = match state {
            Ok(ready) => {
                row.status = Some(ToolStatus::Pending);
                row.title = Some(ready.plan.title.clone());
                row.locations = present(&ready.plan.locations);
                row.content = present(&ready.plan.preview);
                State::Ready(ready)
            }
            Err(why) => {
                row.status = Some(ToolStatus::Pending);
                State::Refused(ToolOutput::failed(why))
            }
        };
        self.waits.emit(Event::ToolCall(row.clone())).await?;
        Ok(Call { told, row, state })
    }

    async fn plan(
        &self,
        tool: &Arc<dyn Tool>,
        args: &Map<String, Value>,
    ) -> Result<Result<CallPlan, String>, TurnError> {
        let name = &tool.spec().schema.name;
        let planning = timeout(self.agent.limits.tool, unpanicked(tool.plan(args, &self.workspace)));
        Ok(match self.waits.within(planning).await? {
            Ok(Ok(plan)) => plan,
            Ok(Err(panic)) => Err(format!("the tool {name} broke: {panic}")),
            Err(_) => Err(timed_out(name, self.agent.limits.tool)),
        })
    }

    /// Settles whether a call may run.
    async fn ask(&mut self, call: &mut Call) -> Result<(), TurnError> {
        let State::Ready(ready) = &call.state else { return Ok(()) };
        let name = ready.tool.spec().schema.name.clone();
        let subject = match self.subject(ready).await {
            Ok(subject) => subject,
            Err(reason) => {
                call.state = State::Refused(ToolOutput::failed(reason));
                return Ok(());
            }
        };
        let ask = match gate::decide(&subject, &ready.plan.approval, &self.permissions) {
            Verdict::Allowed => return Ok(()),
            Verdict::Ask(_) if self.is_dismissed => return self.deny(call, &Denial::Dismissed).await,
            Verdict::Ask(ask) => ask.into_owned(),
            Verdict::Denied(denial) => return self.deny(call, &denial).await,
        };
        let question = gate::question(&name, &call.row, &ask);
        let answer = self.waits.ask(Ask::Permission(Box::new(question.clone()))).await?;
        self.is_dismissed |= answer == Answer::Cancelled;
        match gate::ruling(&question, &answer) {
            Ruling::Once => Ok(()),
            Ruling::Always => self.grant(&name, &ask).await,
            Ruling::Denied(denial) => self.deny(call, &denial).await,
        }
    }

    /// Looks at a call for the gate, which may follow links on a slow disk.
    async fn subject(&self, ready: &Ready) -> Result<Subject, String> {
        let (tool, args) = (Arc::clone(&ready.tool), ready.args.clone());
        let (plan, workspace) = (ready.plan.clone(), self.workspace.clone());
        blocking(move || Ok(Subject::look(&*tool, &args, &plan, &workspace))).await
    }

    async fn grant(&mut self, tool: &str, ask: &ApprovalAsk) -> Result<(), TurnError> {
        for grant in gate::grants(tool, ask) {
            if self.permissions.grants.contains(&grant) {
                continue;
            }
            self.permissions.grants.push(grant.clone());
            self.granted.push(grant.clone());
            self.waits.granted(grant).await?;
        }
        Ok(())
    }

    async fn deny(&mut self, call: &mut Call, denial: &Denial) -> Result<(), TurnError> {
        call.state = State::Refused(ToolOutput::failed(denial.to_string()));
        if let Denial::Unanswerable(cause) = denial
            && !self.causes.contains(cause)
        {
            self.causes.push(cause.clone());
            let title = format!(
                "{} was not run: {cause}. To run tools without being asked, use `/skip-permissions on` or set \
                 `dangerously_skip_permissions`.",
                call.told.name
            );
            self.waits.emit(reply::notice(Severity::Warning, title, &*self.agent.ids)).await?;
        }
        Ok(())
    }

    /// Runs what may run: neighbours that only read together, everything else alone, all in order.
    async fn execute(&self, batch: &mut [Call]) -> Result<(), TurnError> {
        let mut rest = batch;
        while !rest.is_empty() {
            let together = rest.iter().take_while(|call| call.is_parallel()).count().max(1);
            let (now, later) = rest.split_at_mut(together);
            self.execute_together(now).await?;
            rest = later;
        }
        Ok(())
    }

    /// What is told never keeps the calls from running on: one of them may hold the place that telling waits for.
    async fn execute_together(&self, calls: &mut [Call]) -> Result<(), TurnError> {
        // Each call ends once, so that there is room for every end.
        let (ends, mut ended) = mpsc::channel(calls.len().max(1));
        let mut running: FuturesOrdered<_> = calls.iter_mut().map(|call| self.execute_one(call)).collect();
        let run = async move {
            while let Some(outcome) = running.next().await {
                if let Some(row) = outcome? {
                    // Whoever listens is the other half of this very wait.
                    let _unheard = ends.try_send(row);
                }
            }
            Ok::<_, TurnError>(())
        };
        let tell = async {
            while let Some((closing, row)) = ended.recv().await {
                for event in closing {
                    self.waits.emit(event).await?;
                }
                self.waits.emit(Event::ToolCall(row)).await?;
            }
            Ok(())
        };
        tokio::try_join!(run, tell)?;
        Ok(())
    }

    /// Runs one call; gives the last update of its row, and what is told before.
    async fn execute_one(&self, call: &mut Call) -> Result<Option<(Vec<Event>, ToolCallUpdate)>, TurnError> {
        let ready = match &call.state {
            State::Ready(ready) => ready,
            State::Refused(output) => {
                let output = output.clone();
                let last = outcome(&mut call.row, &output);
                call.state = State::Over(output);
                return Ok(Some((Vec::new(), last)));
            }
            State::Over(_) => return Ok(None),
        };
        let mut started = ToolCallUpdate::new(call.row.id.clone());
        started.status = Some(ToolStatus::InProgress);
        started.cancellable = Some(true);
        let running = self.input.calls.enter(&call.row.id);
        call.row.merge(&started);
        self.waits.emit(Event::ToolCall(started)).await?;
        let span = tracing::info_span!("tool", id = %call.row.id, name = %call.told.name);
        let (output, ended) = self.run_tool(ready, &call.row.id, &running).instrument(span.clone()).await?;
        drop(running);
        let mut output = cap::bounded(output, &call.row.id, self.spill.as_deref()).await;
        let closing = std::mem::take(&mut output.closing);
        tracing::debug!(parent: &span, failed = output.error.is_some(), exit_code = output.exit_code, "tool ended");
        let mut last = outcome(&mut call.row, &output);
        last.cancellable = Some(false);
        if ended == Ended::Cancelled {
            last.status = Some(ToolStatus::Cancelled);
        }
        call.row.merge(&last);
        call.state = State::Over(output);
        Ok(Some((closing, last)))
    }

    async fn run_tool(
        &self,
        ready: &Ready,
        id: &ToolCallId,
        running: &Running,
    ) -> Result<(ToolOutput, Ended), Interrupted> {
        let io = self.waits.io();
        let cancel = io.cancel_token().child_token();
        let watch = Stopwatch::start();
        let cx = ToolCx::new(self.workspace.clone(), id.clone(), cancel.clone(), Some(io.clone()))
            .in_turn(self.input.session.clone(), self.input.turn.clone(), self.permissions.clone())
            .with_watch(watch.clone())
            .with_history(Arc::clone(&self.input.history))
            .for_plan(&ready.plan);
        let name = &ready.tool.spec().schema.name;
        let left = self.waits.left();
        let (limit, grace, pause) = match ready.tool.timing() {
            Timing::Call => (left.min(self.agent.limits.tool), TOOL_GRACE, None),
            Timing::Turn => (left, TOOL_GRACE, None),
            Timing::Own { grace } => (left, grace, Some(watch.pause())),
        };
        let limited = async {
            let mut work = std::pin::pin!(unpanicked(ready.tool.run(ready.args.clone(), cx)));
            let ended = tokio::select! {
                biased;
                output = &mut work => {
                    let broke = |panic| ToolOutput::failed(format!("the tool {name} broke: {panic}"));
                    return (output.unwrap_or_else(broke), Ended::Finished);
                }
                () = running.cancelled() => Ended::Cancelled,
                () = watch.reaches(limit) => Ended::TimedOut,
            };
            cancel.cancel();
            // What it says while cleaning up is of no use: it was cut off.
            let partial = timeout(grace, work).await.ok().and_then(Result::ok).unwrap_or_default();
            let error = match ended {
                Ended::Cancelled => CANCELLED_ALONE.to_owned(),
                Ended::Finished | Ended::TimedOut => timed_out(name, limit),
            };
            (ToolOutput { error: Some(error), ..partial }, ended)
        };
        let output = io.with_grace(grace, limited).await;
        drop(pause);
        self.waits.spent_by_user(watch.paused());
        output
    }
}

impl Call {
    fn is_parallel(&self) -> bool {
        match &self.state {
            State::Ready(ready) => ready.tool.spec().parallel,
            State::Refused(_) | State::Over(_) => true,
        }
    }

    /// Whether the call, when it runs, may change what `plan` (or its failure) is based on.
    fn may_change(&self, plan: &Result<CallPlan, String>) -> bool {
        match &self.state {
            State::Ready(ready) if !ready.tool.spec().parallel => ready.plan.may_change(plan.as_ref().ok()),
            State::Ready(_) | State::Refused(_) | State::Over(_) => false,
        }
    }

    fn ends_turn(&self) -> bool {
        match &self.state {
            State::Over(output) => output.ends_turn,
            State::Ready(_) | State::Refused(_) => false,
        }
    }

    fn told(self) -> (ModelCall, String) {
        let output = match self.state {
            State::Refused(output) | State::Over(output) => output,
            State::Ready(_) => ToolOutput::failed("the call was not run"),
        };
        (self.told, output.to_value().to_string())
    }
}

/// Lays the outcome over the row, and gives the update that says so.
fn outcome(row: &mut ToolCallUpdate, output: &ToolOutput) -> ToolCallUpdate {
    let mut update = ToolCallUpdate::new(row.id.clone());
    finish(&mut update, output);
    row.merge(&update);
    update
}

fn finish(update: &mut ToolCallUpdate, output: &ToolOutput) {
    let failed = output.error.is_some();
    update.status = Some(if failed { ToolStatus::Failed } else { ToolStatus::Completed });
    update.raw_output = Some(output.to_value());
    update.locations = present(&output.locations);
    update.content = present(&output.content).or_else(|| {
        let said = [output.output.as_str(), output.error.as_deref().unwrap_or_default()];
        let text = said.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n");
        (!text.is_empty()).then(|| vec![ToolContent::Content(Content::text(text))])
    });
}

fn present<T: Clone>(list: &[T]) -> Option<Vec<T>> {
    (!list.is_empty()).then(|| list.to_vec())
}

/// What is told of a call that has no plan: its name and its most telling argument.
fn fallback_title(name: &str, args: Option<&Map<String, Value>>) -> String {
    const TELLING: [&str; 8] =
        ["command", "path", "file_path", "url", "query", "pattern", "reason", "content"];
    const CHARS: usize = 120;
    let name = if name.is_empty() { "unknown tool" } else { name };
    let argument = args.and_then(|args| TELLING.iter().find_map(|key| args.get(*key)?.as_str()));
    match argument.and_then(|text| text.lines().next()) {
        Some(line) => format!("{name}: {}", line.chars().take(CHARS).collect::<String>()),
        None => name.to_owned(),
    }
}

/// A panic in a tool is that call's failure and nobody else's.
async fn unpanicked<F: Future>(work: F) -> Result<F::Output, String> {
    AssertUnwindSafe(work).catch_unwind().await.map_err(|panic| panic_text(&*panic))
}

fn timed_out(tool: &str, limit: Duration) -> String {
    format!("tool {tool:?} timed out after {} s", limit.as_secs())
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "it panicked".to_owned())
}
