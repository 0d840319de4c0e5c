//! Tools: what a model can do to the world. A tool knows its workspace and nothing of sessions, protocols or
//! who gave leave; the gate decides that before [`Tool::run`] is called.

pub(crate) mod address;
pub(crate) mod anchored;
mod apply_patch;
mod args;
mod ask_user;
pub(crate) mod bash;
pub(crate) mod client_files;
pub(crate) mod client_terminal;
pub(crate) mod command;
pub mod command_prefix;
mod delete_file;
mod edit_file;
pub mod escalate;
pub mod export_session;
mod fetch;
mod find_files;
mod grep;
pub(crate) mod harmless;
mod http;
mod list_dir;
mod move_file;
mod nearest;
mod page;
mod patch;
pub(crate) mod paths;
pub mod peer;
pub(crate) mod read_file;
mod read_many;
pub mod registry;
mod replace;
mod risky;
mod script;
pub(crate) mod script_word;
mod search;
mod session_context;
pub mod shell;
pub(crate) mod support;
#[cfg(test)]
mod tests;
pub(crate) mod text;
pub(crate) mod wrappers;
pub(crate) mod write_file;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value};
use session_model::{
    Content, Entry, Event, Grant, GrantScope, Location, SessionId, TokenUsage, ToolCallId, ToolContent,
    ToolKind, TurnId,
};
use tokio_util::sync::CancellationToken;

use crate::driver::Permissions;
use crate::host::{FileUse, Host};
use crate::inquiry::{self, Outcome, Question};
use crate::io::{Interrupted, TurnIo};
use crate::provider::ToolSchema;
use crate::rules::Origin;
use crate::waits::Stopwatch;

pub use registry::ToolRegistry;

use args::Args;
use paths::Place;

/// One tool. Arguments arrive as an object; each tool checks its own members.
#[async_trait]
pub trait Tool: Send + Sync + 'static {
    /// What it is.
    fn spec(&self) -> &ToolSpec;

    /// What it does with text files. With a client that has files of its own this decides whether it is offered; it
    /// then uses those of `Workspace::host` only.
    fn files(&self) -> FileUse {
        FileUse::Free
    }

    /// What one call will do: title, places, and the leave it needs. May look at the disk (links decide whether
    /// a path is inside the roots), but changes nothing.
    ///
    /// # Errors
    /// A sentence for the model when the arguments cannot be used.
    async fn plan(&self, args: &Map<String, Value>, workspace: &Workspace) -> Result<CallPlan, String>;

    /// Does it. Failures are output, not errors: the model is told and goes on. Observes `cx.cancel`.
    async fn run(&self, args: Map<String, Value>, cx: ToolCx) -> ToolOutput;

    /// Whose time a call takes. Commands have a limit of their own, which the model may set.
    fn timing(&self) -> Timing {
        if self.spec().kind == ToolKind::Execute { Timing::Turn } else { Timing::Call }
    }
}

/// Whose time a call takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timing {
    /// It has the limit for one call.
    Call,
    /// All that is left of the turn's.
    Turn,
    /// None: it limits itself, and the turn's time stands still meanwhile. Once cancelled it has `grace` to end.
    Own {
        /// How long.
        grace: Duration,
    },
}

/// What a tool is.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Name, description and arguments, for the model.
    pub schema: ToolSchema,
    /// The sort of work, for the client.
    pub kind: ToolKind,
    /// Whether it may run beside others of the same batch (it only reads).
    pub parallel: bool,
}

/// Where a session's tools work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    /// The session's folder, absolute. Relative paths and children start here.
    pub cwd: PathBuf,
    /// Further folders inside which nothing special is asked, absolute.
    pub additional_roots: Vec<PathBuf>,
    /// Whose files and terminals are used.
    pub host: Host,
}

impl Workspace {
    /// Folders whose files and terminals are ours.
    #[must_use]
    pub fn local(cwd: PathBuf, additional_roots: Vec<PathBuf>) -> Self {
        Self { cwd, additional_roots, host: Host::default() }
    }
}

/// What one call will do.
#[derive(Debug, Clone, PartialEq)]
pub struct CallPlan {
    /// `bash: <command>`, `edit_file: <path>`: what will happen, in a line.
    pub title: String,
    /// The files it touches, absolute.
    pub locations: Vec<Location>,
    /// The leave it needs.
    pub approval: Approval,
    /// What to show before it runs: the diff of an edit.
    pub preview: Vec<ToolContent>,
}

impl CallPlan {
    /// Whether a call that changes things as this plan says may change what `later` was planned on. A call without
    /// locations (a command) may change any file; a plan without them depends on none. `None` is a call that could
    /// not be planned, perhaps for the want of this one.
    #[must_use]
    pub fn may_change(&self, later: Option<&Self>) -> bool {
        let Some(later) = later else { return true };
        let meets = |a: &Location, b: &Location| a.path.starts_with(&b.path) || b.path.starts_with(&a.path);
        later.locations.iter().any(|place| {
            self.locations.is_empty() || self.locations.iter().any(|changed| meets(changed, place))
        })
    }
}

/// The leave a call needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Approval {
    /// None.
    Free,
    /// None in any mode: the call is itself a question to the user.
    Question,
    /// The user's.
    Ask(ApprovalAsk),
}

/// What the user is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalAsk {
    /// The question's second line: what exactly, and what is unusual about it.
    pub description: String,
    /// What "always" would grant; every one of these must be granted for the call to run unasked.
    pub scopes: Vec<GrantScope>,
}

/// What a running call may use.
#[derive(Debug, Clone)]
pub struct ToolCx {
    /// Where it works.
    pub workspace: Workspace,
    /// Its row.
    pub call: ToolCallId,
    /// Ends it.
    pub cancel: CancellationToken,
    io: Option<TurnIo>,
    planned: Option<Vec<PathBuf>>,
    permissions: Permissions,
    /// Which turn it belongs to.
    turn: Option<(SessionId, TurnId)>,
    watch: Option<Stopwatch>,
    history: Arc<[Entry]>,
}

impl ToolCx {
    /// A context whose live output goes to `io`, or nowhere.
    #[must_use]
    pub fn new(
        workspace: Workspace,
        call: ToolCallId,
        cancel: CancellationToken,
        io: Option<TurnIo>,
    ) -> Self {
        let (permissions, history) = (Permissions::default(), Arc::default());
        Self { workspace, call, cancel, io, planned: None, permissions, turn: None, watch: None, history }
    }

    /// The same in a turn, with what may be done unasked in it: rules keep files from tools which look through many, and
    /// tools that have others work pass them on.
    #[must_use]
    pub fn in_turn(self, session: SessionId, turn: TurnId, permissions: Permissions) -> Self {
        Self { permissions, turn: Some((session, turn)), ..self }
    }

    /// The same, with the turns before this one.
    pub(crate) fn with_history(self, history: Arc<[Entry]>) -> Self {
        Self { history, ..self }
    }

    /// The turns before this one.
    pub(crate) fn history(&self) -> &[Entry] {
        &self.history
    }

    /// The same, with what measures the call's time.
    pub(crate) fn with_watch(self, watch: Stopwatch) -> Self {
        Self { watch: Some(watch), ..self }
    }

    /// Asks the user. The call's time stands still meanwhile.
    pub(crate) async fn inquire(&self, questions: &[Question]) -> Result<Outcome, Interrupted> {
        let Some(io) = &self.io else {
            return Ok(Outcome::Unanswerable("nobody is there to be asked".to_owned()));
        };
        let _pause = self.watch.as_ref().map(Stopwatch::pause);
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(Interrupted),
            outcome = inquiry::put(questions, &self.call, io) => outcome,
        }
    }

    /// Whether a rule allows to ask this very host, though it is not public.
    pub(crate) fn opens_host(&self, host: &str) -> bool {
        self.permissions.rules.opens(host)
    }

    /// What tells, for this call of `tool`, the files that a rule keeps from it.
    pub(crate) fn hidden(&self, tool: &'static str) -> impl Fn(&Path) -> bool + '_ {
        let origin = self.permissions.rules.restrict().then(|| Origin::of(&self.workspace));
        move |path| origin.as_ref().is_some_and(|origin| self.permissions.rules.hides(tool, path, origin))
    }

    /// The same, held to `plan`: a call may touch what its plan named, and a change only that. Without a plan
    /// nothing outside the workspace is touched. Give every call the plan its leave was given for.
    #[must_use]
    pub fn for_plan(mut self, plan: &CallPlan) -> Self {
        self.planned = Some(plan.locations.iter().map(|location| location.path.clone()).collect());
        self
    }

    /// Whether a call may touch `place`, looked at anew when it runs.
    pub(crate) fn may_touch(&self, place: &Path, inside: bool) -> bool {
        match &self.planned {
            None => inside,
            Some(planned) => planned.iter().any(|path| path == place),
        }
    }

    /// Shows more output in the running call's row.
    ///
    /// # Errors
    /// [`Interrupted`] once the turn is cancelled.
    pub async fn output(&self, text: String) -> Result<(), Interrupted> {
        self.show(ToolContent::Content(Content::text(text))).await
    }

    /// Shows one thing more in the running call's row.
    ///
    /// # Errors
    /// [`Interrupted`] once the turn is cancelled.
    pub async fn show(&self, chunk: ToolContent) -> Result<(), Interrupted> {
        self.emit(Event::ToolOutput { id: self.call.clone(), chunk }).await
    }

    /// Says that something happened in the running call.
    ///
    /// # Errors
    /// [`Interrupted`] once the turn is cancelled.
    pub(crate) async fn emit(&self, event: Event) -> Result<(), Interrupted> {
        match &self.io {
            Some(io) => io.emit(event).await,
            None => Ok(()),
        }
    }
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolOutput {
    /// What the model is told on success.
    pub output: String,
    /// What it is told of a failure.
    pub error: Option<String>,
    /// The exit code of a command.
    pub exit_code: Option<i32>,
    /// What the row shows; when empty, it shows `output` or `error`.
    pub content: Vec<ToolContent>,
    /// Better places than the plan had (the line of an edit); replaces when not empty.
    pub locations: Vec<Location>,
    /// Whether the turn ends with this batch of calls: the model is not asked again.
    pub ends_turn: bool,
    /// What is told before the row's end: of a terminal, how its command ended.
    pub closing: Vec<Event>,
    /// What it consumed of models; told already, and to be counted.
    pub usage: Option<TokenUsage>,
    /// What "always" allowed meanwhile; kept already, and to be minded in this turn.
    pub grants: Vec<Grant>,
}

impl ToolOutput {
    /// Success, with what the model is told.
    pub fn ok(output: impl Into<String>) -> Self {
        Self { output: output.into(), ..Self::default() }
    }

    /// Failure, with what the model is told.
    pub fn failed(error: impl Into<String>) -> Self {
        Self { error: Some(error.into()), ..Self::default() }
    }

    /// The model's form: an object with the members that apply.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut members = Map::new();
        if !self.output.is_empty() || (self.error.is_none() && self.exit_code.is_none()) {
            members.insert("output".into(), self.output.clone().into());
        }
        if let Some(error) = &self.error {
            members.insert("error".into(), error.clone().into());
        }
        if let Some(code) = self.exit_code {
            members.insert("exit_code".into(), code.into());
        }
        Value::Object(members)
    }
}
