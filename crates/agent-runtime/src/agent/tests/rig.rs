//! What the tests share: a turn whose signals become lines of text, and tools that do as told.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use session_model::source::SequentialIds;
use session_model::{
    Answer, Ask, Compaction, CompactionState, Content, Entry, Event, GrantScope, OptionId, PermissionAsk,
    Role, SessionId, Summary, ToolCallUpdate, ToolContent, ToolKind, TurnId,
};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::agent::{Agent, Limits};
use crate::calls::RunningCalls;
use crate::driver::{Permissions, TurnDriver, TurnEnd, TurnError, TurnInput};
use crate::host::HostFeatures;
use crate::io::{TurnIo, TurnSignal, TurnSignals};
use crate::provider::{ModelMessage, ModelRequest, ToolSchema};
use crate::redact::Redactor;
use crate::scripted::{Line, Scripted};
use crate::tools::registry::ToolRegistry;
use crate::tools::{Approval, ApprovalAsk, CallPlan, Tool, ToolCx, ToolOutput, ToolSpec, Workspace};

/// One turn about to be run.
pub(super) struct Rig {
    pub(super) model: Arc<Scripted>,
    pub(super) cancel: CancellationToken,
    pub(super) permissions: Permissions,
    pub(super) history: Vec<Entry>,
    pub(super) show_thoughts: bool,
    pub(super) calls: RunningCalls,
    pub(super) answers: VecDeque<Answer>,
    pub(super) cwd: PathBuf,
    prompt: String,
    limits: Limits,
    spill: Option<PathBuf>,
    pub(super) host: HostFeatures,
    redactor: Option<Arc<Redactor>>,
    tools: ToolRegistry,
}

/// What came of it.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) log: Vec<String>,
    pub(super) rows: Vec<ToolCallUpdate>,
    pub(super) end: Result<TurnEnd, TurnError>,
}

/// A turn that runs.
pub(super) struct Running {
    pub(super) model: Arc<Scripted>,
    pub(super) cancel: CancellationToken,
    pub(super) log: Vec<String>,
    rows: Vec<ToolCallUpdate>,
    answers: VecDeque<Answer>,
    signals: TurnSignals,
    task: JoinSet<Result<TurnEnd, TurnError>>,
}

impl Rig {
    pub(super) fn new(answers: Vec<Vec<Line>>) -> Self {
        Self {
            model: Arc::new(Scripted::new(answers)),
            cancel: CancellationToken::new(),
            permissions: Permissions::default(),
            history: Vec::new(),
            show_thoughts: false,
            calls: RunningCalls::default(),
            answers: VecDeque::new(),
            cwd: PathBuf::from("/work"),
            prompt: "go".to_owned(),
            limits: Limits::default(),
            spill: None,
            host: HostFeatures::default(),
            redactor: None,
            tools: ToolRegistry::new(),
        }
    }

    pub(super) fn model(mut self, model: Scripted) -> Self {
        self.model = Arc::new(model);
        self
    }

    pub(super) fn prompt(self, prompt: &str) -> Self {
        Self { prompt: prompt.to_owned(), ..self }
    }

    pub(super) fn tool(mut self, tool: Fake) -> Self {
        self.tools = self.tools.with(tool);
        self
    }

    pub(super) fn tools(self, tools: ToolRegistry) -> Self {
        Self { tools, ..self }
    }

    pub(super) fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    pub(super) fn redacting(self, redactor: Arc<Redactor>) -> Self {
        Self { redactor: Some(redactor), ..self }
    }

    pub(super) fn spill(self, folder: &Path) -> Self {
        Self { spill: Some(folder.to_owned()), ..self }
    }

    pub(super) fn thoughts(mut self) -> Self {
        self.show_thoughts = true;
        self
    }

    pub(super) fn answer(mut self, answer: Answer) -> Self {
        self.answers.push_back(answer);
        self
    }

    pub(super) fn choose(self, option: &str) -> Self {
        self.answer(Answer::Selected(OptionId::from(option)))
    }

    pub(super) fn start(self) -> Running {
        let ids = Arc::new(SequentialIds::default());
        let agent = Agent::new(Arc::<Scripted>::clone(&self.model), self.tools, ids).with_limits(self.limits);
        let agent = match self.spill {
            Some(folder) => agent.with_spill(folder),
            None => agent,
        };
        let agent = match self.redactor {
            Some(redactor) => agent.with_redaction(redactor),
            None => agent,
        };
        let (io, signals) = TurnIo::acknowledged(self.cancel.clone());
        let input = TurnInput {
            session: SessionId::from("s"),
            turn: TurnId::from("now"),
            prompt: vec![Content::text(self.prompt)],
            cwd: self.cwd,
            additional_roots: Vec::new(),
            history: self.history.into(),
            permissions: self.permissions,
            show_thoughts: self.show_thoughts,
            handover: None,
            effort: None,
            host: self.host,
            calls: self.calls,
        };
        let mut task = JoinSet::new();
        task.spawn(async move { agent.drive(input, io).await });
        let (model, cancel, answers) = (self.model, self.cancel, self.answers);
        Running { model, cancel, log: Vec::new(), rows: Vec::new(), answers, signals, task }
    }

    /// Runs to the end and refuses leftovers: answers not asked for, script not said, streams not closed.
    pub(super) async fn run(self) -> Outcome {
        self.start().finish().await
    }
}

impl Running {
    /// Reads signals until one whose line contains `mark`.
    pub(super) async fn until(&mut self, mark: &str) {
        loop {
            let signal = self.signals.recv().await.unwrap_or_else(|| panic!("no {mark}: {:#?}", self.log));
            let line = self.hear(signal);
            let found = line.contains(mark);
            self.note(line);
            if found {
                return;
            }
        }
    }

    /// Reads up to the next question and lets the user think about it.
    pub(super) async fn until_asked_and_wait(&mut self, time: Duration) {
        loop {
            let signal = self.signals.recv().await.unwrap();
            let asked = matches!(signal, TurnSignal::Ask(..));
            if asked {
                tokio::time::sleep(time).await;
            }
            let line = self.hear(signal);
            self.note(line);
            if asked {
                return;
            }
        }
    }

    /// What nobody is shown (how full an unknown window is) is not noted.
    fn note(&mut self, line: String) {
        if !(line.starts_with("usage ") && line.ends_with("/0")) {
            self.log.push(line);
        }
    }

    /// Stops listening.
    pub(super) async fn hang_up(mut self) -> Result<TurnEnd, TurnError> {
        drop(self.signals);
        self.task.join_next().await.unwrap().unwrap()
    }

    pub(super) async fn finish(mut self) -> Outcome {
        while let Some(signal) = self.signals.recv().await {
            let line = self.hear(signal);
            self.note(line);
        }
        let end = self.task.join_next().await.unwrap().unwrap();
        assert!(self.answers.is_empty(), "not asked: {:?}; {:#?}", self.answers, self.log);
        assert_eq!(self.model.streaming(), 0, "a stream is still open");
        if end.is_ok() {
            assert_eq!(self.model.remaining(), 0, "the script was not said to its end: {:#?}", self.log);
        }
        for request in self.model.requests() {
            crate::context::check(&request.messages).unwrap_or_else(|e| panic!("{e}: {request:#?}"));
        }
        Outcome { log: self.log, rows: self.rows, end }
    }

    fn hear(&mut self, signal: TurnSignal) -> String {
        match signal {
            TurnSignal::Event(event) => {
                if let Event::ToolCall(update) = &event {
                    self.rows.push(update.clone());
                }
                event_line(&event)
            }
            TurnSignal::Granted(grant) => format!("granted {} {:?}", grant.tool, grant.scope),
            TurnSignal::Host(call, _) => panic!("unexpected {call:?}"),
            TurnSignal::Ask(ask, answer) => {
                let line = ask_line(&ask);
                if let Some(next) = self.answers.pop_front() {
                    answer.send(next).unwrap();
                } else {
                    // Nobody answers: the question stays open for as long as the turn lives.
                    std::mem::forget(answer);
                }
                line
            }
        }
    }
}

pub(super) fn event_line(event: &Event) -> String {
    match event {
        Event::MessageDelta { id, role, content } => {
            let who = match role {
                Role::User => "user",
                Role::Agent => "agent",
                Role::Thought => "thought",
            };
            format!("{who} {id}: {}", content.as_text().unwrap_or("?"))
        }
        Event::ToolCall(update) => row_line(update),
        Event::ToolOutput { id, chunk } => format!("{id} +{}", shown(std::slice::from_ref(chunk))),
        Event::Compaction(compaction) => compaction_line(compaction),
        Event::Spent(spent) => format!("spent {} of {}", spent.tokens.total(), spent.agent),
        Event::Usage(usage) => format!("usage {}/{}", usage.used, usage.size),
        Event::Remark { text, .. } => format!("remark: {text}"),
        Event::Notice(notice) => format!("notice {:?}: {}", notice.severity, notice.title),
        Event::Terminal(terminal) => format!("terminal {terminal:?}"),
        Event::TerminalOutput { id, text, .. } => format!("{id} +{text}"),
        Event::Message { .. }
        | Event::Plan(_)
        | Event::PlanRemoved(_)
        | Event::Commands(_)
        | Event::Options(_)
        | Event::Title(_)
        | Event::Foreground(_)
        | Event::Routed(_)
        | Event::Warning(_)
        | Event::ReplayComplete => format!("unexpected {event:?}"),
    }
}

fn compaction_line(compaction: &Compaction) -> String {
    let state = match &compaction.state {
        CompactionState::Running => "begins".to_owned(),
        CompactionState::Done(Summary { turns, last, text }) => format!("of {turns} turns to {last}: {text}"),
        CompactionState::Failed(why) => format!("failed: {why}"),
        CompactionState::Cancelled => "cancelled".to_owned(),
    };
    format!("{} {state}", compaction.id)
}

fn row_line(update: &ToolCallUpdate) -> String {
    let parts = [
        Some(update.id.to_string()),
        update.status.map(|status| format!("{status:?}")),
        update.title.as_ref().map(|title| format!("{title:?}")),
        update.step.map(|step| format!("step {step}")),
        update.raw_input.as_ref().map(|input| format!("in {input}")),
        update.raw_output.as_ref().map(|output| format!("out {output}")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn ask_line(ask: &Ask) -> String {
    match ask {
        Ask::Permission(ask) => {
            let PermissionAsk { tool_call, title, options, .. } = &**ask;
            let options: Vec<_> =
                options.iter().map(|option| format!("{}={}", option.id, option.name)).collect();
            format!("ask {} {title:?} [{}]", tool_call.id, options.join(", "))
        }
        Ask::Elicit(ask) => format!("elicit {}", ask.message),
    }
}

pub(super) fn shown(content: &[ToolContent]) -> String {
    let text = |piece: &ToolContent| match piece {
        ToolContent::Content(content) => content.as_text().unwrap_or("?").to_owned(),
        ToolContent::Change(change) => format!("change of {}", change.path.display()),
        ToolContent::Terminal(terminal) => terminal.shown.clone(),
    };
    content.iter().map(text).collect()
}

/// What the model was told of each call, in the newest request.
pub(super) fn told(requests: &[ModelRequest]) -> Vec<String> {
    let results = |message: &ModelMessage| match message {
        ModelMessage::ToolResult { output, .. } => Some(output.clone()),
        ModelMessage::User(_) | ModelMessage::Assistant { .. } => None,
    };
    requests.last().unwrap().messages.iter().filter_map(results).collect()
}

/// What a fake tool does when it runs.
#[derive(Debug, Clone)]
pub(super) enum Behaviour {
    Say(&'static str),
    Fail(&'static str),
    Panic,
    /// Takes its time.
    Slow(Duration),
    /// Takes its time to clean up once it is cancelled.
    Tidy(Duration),
    /// Never ends, whatever it is told.
    Deaf,
}

/// A tool that does as told, and notes its runs.
#[derive(Debug)]
pub(super) struct Fake {
    spec: ToolSpec,
    does: Behaviour,
    scopes: Option<Vec<GrantScope>>,
    diary: Diary,
}

pub(super) type Diary = Arc<Mutex<Vec<String>>>;

impl Fake {
    pub(super) fn new(name: &str, does: Behaviour) -> Self {
        let schema = ToolSchema {
            name: name.to_owned(),
            description: String::new(),
            parameters: json!({ "type": "object" }),
        };
        let spec = ToolSpec { schema, kind: ToolKind::Other, parallel: false };
        Self { spec, does, scopes: None, diary: Diary::default() }
    }

    pub(super) fn parallel(mut self) -> Self {
        self.spec.parallel = true;
        self
    }

    pub(super) fn kind(mut self, kind: ToolKind) -> Self {
        self.spec.kind = kind;
        self
    }

    pub(super) fn asks(mut self, scopes: Vec<GrantScope>) -> Self {
        self.scopes = Some(scopes);
        self
    }

    pub(super) fn noting(mut self, diary: &Diary) -> Self {
        self.diary = Arc::clone(diary);
        self
    }

    fn note(&self, what: &str) {
        self.diary.lock().unwrap().push(format!("{} {what}", self.spec.schema.name));
    }
}

#[async_trait]
impl Tool for Fake {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn plan(&self, args: &Map<String, Value>, _: &Workspace) -> Result<CallPlan, String> {
        if args.contains_key("bad") {
            return Err("bad is not allowed".to_owned());
        }
        let approval = match &self.scopes {
            Some(scopes) => {
                Approval::Ask(ApprovalAsk { description: "what it is".to_owned(), scopes: scopes.clone() })
            }
            None => Approval::Free,
        };
        let title = format!("{}: planned", self.spec.schema.name);
        Ok(CallPlan { title, locations: Vec::new(), approval, preview: Vec::new() })
    }

    async fn run(&self, _: Map<String, Value>, cx: ToolCx) -> ToolOutput {
        self.note("begins");
        match &self.does {
            Behaviour::Say(text) => return ToolOutput::ok(*text),
            Behaviour::Fail(text) => return ToolOutput::failed(*text),
            Behaviour::Panic => panic!("boom"),
            Behaviour::Slow(time) => tokio::time::sleep(*time).await,
            Behaviour::Tidy(time) => {
                cx.cancel.cancelled().await;
                tokio::time::sleep(*time).await;
                self.note("is tidy");
            }
            Behaviour::Deaf => std::future::pending().await,
        }
        self.note("ends");
        ToolOutput::ok("done")
    }
}
