//! Commands that run for a program: asked about like calls of `bash`, in the client's terminals where it has some, else as
//! children of ours. All of them end with the turn, at the latest.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value, json};
use session_model::source::IdKind;
use session_model::{
    Event, TerminalExit, TerminalId, TerminalOwner, TerminalUpdate, TerminalView, ToolCallId, ToolContent,
    ToolKind,
};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::command::NewCommand;
use super::row::Row;
use super::running::{Follower, Running};
use super::tail::Output;
use super::{Refusal, Servant};
use crate::external::leave::Wish;
use crate::host::{HeldTerminal, HostError, NewTerminal};
use crate::io::TurnIo;
use crate::process::{self, Background};
use crate::tools::bash::Bash;
use crate::tools::paths::Place;
use crate::tools::support::blocking;
use crate::tools::text::Utf8Pieces;
use crate::tools::{Tool, ToolOutput, Workspace};

/// How many a turn may have at once: far more than a program waits for.
const MAX_TERMINALS: usize = 32;
/// Bytes of output that are kept where the program does not say.
const DEFAULT_OUTPUT: u64 = 1024 * 1024;
/// Bytes that are kept at most.
const MAX_OUTPUT: u64 = 16 * 1024 * 1024;
/// Bytes shown live; a row is no place for more.
const LIVE_BYTES: usize = 256 * 1024;
/// How long the last words of commands may take to be told at the end of the turn.
const TELLING: Duration = Duration::from_millis(250);

/// The commands of one turn. Clones share them; dropping the last one ends them.
#[derive(Debug, Clone)]
pub struct Terminals {
    servant: Servant,
    all: Arc<All>,
}

#[derive(Debug, Default)]
struct All {
    held: Mutex<BTreeMap<TerminalId, Arc<Terminal>>>,
    /// What tells of them.
    telling: Mutex<JoinSet<()>>,
}

#[derive(Debug)]
struct Terminal {
    command: String,
    cwd: PathBuf,
    body: Body,
    /// The row that shows it, as it is ours.
    row: Mutex<Option<Row>>,
    /// The call in whose row it was shown first.
    shown: Mutex<Option<ToolCallId>>,
}

#[derive(Debug)]
enum Body {
    Ours(Running),
    Client { id: TerminalId, held: Mutex<Option<HeldTerminal>> },
}

/// How a terminal is shown in a row.
#[derive(Debug)]
pub struct Shown {
    /// What the row holds.
    pub view: TerminalView,
    /// What is told before, where the client is to learn of it.
    pub opening: Option<Event>,
}

impl Terminals {
    /// None yet.
    #[must_use]
    pub fn new(servant: Servant) -> Self {
        Self { servant, all: Arc::default() }
    }

    /// Starts a command, unless it may not run. `given` is what leave was given for already.
    ///
    /// # Errors
    /// Why it does not run.
    pub async fn create(&self, new: NewCommand, given: &[Wish]) -> Result<TerminalId, Refusal> {
        self.check_room()?;
        let (place, text) = (self.place(&new).await?, new.text());
        let is_known = |wish: &Wish| {
            wish.kind == ToolKind::Execute && wish.command.as_deref().map(str::trim) == Some(text.trim())
        };
        let given = place.inside && !new.is_steered() && given.iter().any(is_known);
        let workspace = self.workspace_in(&place);
        let judged = new.judged(&place);
        let tool: Arc<dyn Tool> = Arc::new(Bash::new(Background::default()));
        let args: Map<String, Value> = [("command".to_owned(), json!(judged))].into_iter().collect();
        let plan = tool.plan(&args, &workspace).await.map_err(Refusal::Invalid)?;
        let row = self.servant.settle(&tool, &args, (&plan, &workspace), given).await?;
        let body = match self.start(&new, &place.shown).await {
            Ok(body) => body,
            Err(refusal) => {
                if let Some(row) = row {
                    row.failed(&refusal.to_string()).await?;
                }
                return Err(refusal);
            }
        };
        let id = TerminalId::from(self.servant.0.ids.fresh(IdKind::ToolCall));
        let terminal = Terminal {
            command: text,
            cwd: place.shown,
            body,
            row: Mutex::new(row.clone()),
            shown: Mutex::default(),
        };
        self.all.held().insert(id.clone(), Arc::new(terminal));
        if let Some(row) = row
            && let Some(Shown { view, opening }) = self.show(&id, row.id())
        {
            let io = &self.servant.0.io;
            if let Some(opening) = opening {
                io.emit(opening).await?;
            }
            let chunk = ToolContent::Terminal(view);
            io.emit(Event::ToolOutput { id: row.id().clone(), chunk }).await?;
        }
        Ok(id)
    }

    fn check_room(&self) -> Result<(), Refusal> {
        if self.all.held().len() < MAX_TERMINALS {
            return Ok(());
        }
        Err(Refusal::Failed(format!("{MAX_TERMINALS} terminals are open; release some of them first")))
    }

    /// The folder it is to start in.
    async fn place(&self, new: &NewCommand) -> Result<Place, Refusal> {
        let workspace = self.servant.workspace().clone();
        let cwd = new.cwd.clone().unwrap_or_else(|| workspace.cwd.clone());
        if !cwd.is_absolute() {
            return Err(Refusal::Invalid(format!("`cwd` must be absolute, and {} is not", cwd.display())));
        }
        let find = move || {
            let place = Place::resolve(&workspace, &cwd.to_string_lossy())?;
            if place.real.is_dir() { Ok(place) } else { Err(format!("{} is no folder", cwd.display())) }
        };
        blocking(find).await.map_err(Refusal::Invalid)
    }

    /// Where the command's words are judged from.
    fn workspace_in(&self, place: &Place) -> Workspace {
        let workspace = self.servant.workspace().clone();
        if !place.inside || place.shown == workspace.cwd {
            return workspace;
        }
        let roots = std::iter::once(workspace.cwd).chain(workspace.additional_roots).collect();
        Workspace { cwd: place.shown.clone(), additional_roots: roots, ..workspace }
    }

    async fn start(&self, new: &NewCommand, cwd: &Path) -> Result<Body, Refusal> {
        let bytes = new.output_bytes.unwrap_or(DEFAULT_OUTPUT).min(MAX_OUTPUT);
        let host = &self.servant.workspace().host;
        if host.features().terminal {
            let (program, args) = new.program();
            let (cwd, env) = (cwd.to_owned(), new.env.clone());
            let wanted = NewTerminal { program, args, env, cwd, output_bytes: bytes };
            let held = host.create_terminal(wanted).await.map_err(refusal)?;
            return Ok(Body::Client { id: held.id.clone(), held: Mutex::new(Some(held)) });
        }
        let mut command = if new.args.is_empty() {
            process::shell(&new.command, cwd)
        } else {
            let mut command = process::command(&new.command, cwd);
            command.args(&new.args);
            command
        };
        command.envs(new.env.iter().map(|(name, value)| (name, value)));
        let started = Running::spawn(command, usize::try_from(bytes).unwrap_or(usize::MAX));
        let explain = |error| Refusal::Failed(format!("the command could not be started: {error}"));
        started.map(Body::Ours).map_err(explain)
    }

    /// What a command has printed, and how it ended.
    ///
    /// # Errors
    /// When there is no such terminal, or the client does not say.
    pub async fn output(&self, id: &TerminalId) -> Result<Output, Refusal> {
        let terminal = self.get(id)?;
        match &terminal.body {
            Body::Ours(running) => Ok(running.output()),
            Body::Client { id, .. } => {
                let output = self.servant.workspace().host.terminal_output(id).await.map_err(refusal)?;
                Ok(Output { text: output.text, truncated: output.truncated, exit: output.exit })
            }
        }
    }

    /// Waits for the end of a command.
    ///
    /// # Errors
    /// When there is no such terminal, or it is released meanwhile.
    pub async fn wait_for_exit(&self, id: &TerminalId) -> Result<TerminalExit, Refusal> {
        let terminal = self.get(id)?;
        match &terminal.body {
            Body::Ours(running) => {
                let mut follower = running.follow();
                // Held no longer, so that a release in the meantime ends it.
                drop(terminal);
                let gone = || Refusal::Failed(format!("the terminal {id} was released"));
                // A cancelled turn ends the command, and so the wait.
                follower.ended().await.ok_or_else(gone)
            }
            Body::Client { id, .. } => {
                let exit = self.servant.workspace().host.wait_for_exit(id).await.map_err(refusal)?;
                self.end_row(&terminal, Some(&exit)).await?;
                Ok(exit)
            }
        }
    }

    /// Ends a command; its terminal stays.
    ///
    /// # Errors
    /// When there is no such terminal, or the client would not.
    pub async fn kill(&self, id: &TerminalId) -> Result<(), Refusal> {
        let terminal = self.get(id)?;
        match &terminal.body {
            Body::Ours(running) => {
                running.kill();
                Ok(())
            }
            Body::Client { id, .. } => self.servant.workspace().host.kill_terminal(id).await.map_err(refusal),
        }
    }

    /// Ends a command with all it left behind, and forgets its terminal.
    ///
    /// # Errors
    /// When there is no such terminal, or the client would not.
    pub async fn release(&self, id: &TerminalId) -> Result<(), Refusal> {
        let unknown = || Refusal::NotFound(format!("there is no terminal {id}"));
        let terminal = self.all.held().remove(id).ok_or_else(unknown)?;
        let Body::Client { held, .. } = &terminal.body else { return Ok(()) };
        let held = held.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(held) = held {
            self.servant.workspace().host.release_terminal(held).await.map_err(refusal)?;
        }
        self.end_row(&terminal, None).await
    }

    /// Shows a terminal in the row `call`; `None` when there is none of this name. What it prints is told from then on.
    #[must_use]
    pub fn show(&self, id: &TerminalId, call: &ToolCallId) -> Option<Shown> {
        let terminal = self.get(id).ok()?;
        let running = match &terminal.body {
            Body::Ours(running) => running,
            Body::Client { id, .. } => {
                let (owner, shown) = (TerminalOwner::Client, String::new());
                let view = TerminalView { id: id.clone(), owner, shown, note: None };
                return Some(Shown { view, opening: None });
            }
        };
        let first = {
            let mut shown = terminal.shown.lock().unwrap_or_else(PoisonError::into_inner);
            let first = shown.is_none();
            shown.get_or_insert_with(|| call.clone());
            first
        };
        let owner = TerminalOwner::Agent;
        if !first {
            let view = TerminalView { id: id.clone(), owner, shown: running.output().text, note: None };
            return Some(Shown { view, opening: None });
        }
        let opening = TerminalUpdate {
            command: Some(terminal.command.clone()),
            cwd: Some(terminal.cwd.clone()),
            ..update(id, call)
        };
        let row = terminal.row.lock().unwrap_or_else(PoisonError::into_inner).take();
        let teller = Teller { io: self.servant.0.io.clone(), id: id.clone(), call: call.clone(), row };
        // What was printed before is told like all that follows.
        self.all.telling().spawn(teller.tell(running.follow(), Utf8Pieces::default()));
        let view = TerminalView { id: id.clone(), owner, shown: String::new(), note: None };
        Some(Shown { view, opening: Some(Event::Terminal(opening)) })
    }

    /// Asks all of them to end; their terminals stay.
    pub fn kill_all(&self) {
        for terminal in self.all.held().values() {
            match &terminal.body {
                Body::Ours(running) => running.kill(),
                // Whoever has it for us ends it when it is let go.
                Body::Client { held, .. } => {
                    drop(held.lock().unwrap_or_else(PoisonError::into_inner).take());
                }
            }
        }
    }

    /// Ends all of them, and waits a moment until that is told.
    pub async fn end(&self) {
        let ended = std::mem::take(&mut *self.all.held());
        drop(ended);
        let mut telling = std::mem::take(&mut *self.all.telling());
        drop(timeout(TELLING, async { while telling.join_next().await.is_some() {} }).await);
    }

    fn get(&self, id: &TerminalId) -> Result<Arc<Terminal>, Refusal> {
        let unknown = || Refusal::NotFound(format!("there is no terminal {id}"));
        self.all.held().get(id).cloned().ok_or_else(unknown)
    }

    /// A client's terminal of ours has come to its end.
    async fn end_row(&self, terminal: &Terminal, exit: Option<&TerminalExit>) -> Result<(), Refusal> {
        let row = terminal.row.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let (Some(row), Body::Client { id, .. }) = (row, &terminal.body) {
            let (owner, shown) = (TerminalOwner::Client, String::new());
            let view = TerminalView { id: id.clone(), owner, shown, note: None };
            row.ended(&ended(view, exit.unwrap_or(&TerminalExit::default()), "")).await?;
        }
        Ok(())
    }
}

impl All {
    fn held(&self) -> MutexGuard<'_, BTreeMap<TerminalId, Arc<Terminal>>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn telling(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.telling.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn refusal(error: HostError) -> Refusal {
    match error {
        HostError::Interrupted => Refusal::Interrupted,
        HostError::NotFound(said)
        | HostError::Refused(said)
        | HostError::Failed(said)
        | HostError::Unanswered(said) => Refusal::Failed(format!("the client says: {said}")),
    }
}

fn update(id: &TerminalId, call: &ToolCallId) -> TerminalUpdate {
    TerminalUpdate { id: id.clone(), call: call.clone(), command: None, cwd: None, output: None, exit: None }
}

/// What a command came to, for its row.
fn ended(view: TerminalView, exit: &TerminalExit, text: &str) -> ToolOutput {
    let error = match (&exit.signal, exit.code) {
        (Some(signal), _) => Some(format!("the command was ended by signal {signal}")),
        (None, Some(0) | None) => None,
        (None, Some(code)) => Some(format!("the command ended with exit code {code}")),
    };
    let content = vec![ToolContent::Terminal(view)];
    ToolOutput { error, exit_code: exit.code, content, ..ToolOutput::ok(text) }
}

/// Tells what a command of ours prints.
struct Teller {
    io: TurnIo,
    id: TerminalId,
    call: ToolCallId,
    row: Option<Row>,
}

impl Teller {
    async fn tell(self, mut follower: Follower, mut pieces: Utf8Pieces) {
        let mut told = 0;
        let (exit, is_over) = loop {
            let changed = follower.changed().await;
            let text = pieces.push(&follower.news());
            if !text.is_empty() && told < LIVE_BYTES {
                told += text.len();
                let event = Event::TerminalOutput { id: self.id.clone(), call: self.call.clone(), text };
                if self.io.emit(event).await.is_err() {
                    return;
                }
            }
            match changed {
                Some(None) => {}
                Some(Some(exit)) => break (exit, true),
                None => break (TerminalExit::default(), false),
            }
        };
        let closing = TerminalUpdate { exit: Some(exit.clone()), ..update(&self.id, &self.call) };
        if self.io.emit(Event::Terminal(closing)).await.is_err() {
            return;
        }
        if let Some(row) = &self.row {
            let text = follower.text();
            let shown = if text.is_empty() { "[no output]".to_owned() } else { text.clone() };
            let view = TerminalView { id: self.id.clone(), owner: TerminalOwner::Agent, shown, note: None };
            let mut output = ended(view, &exit, &text);
            if !is_over {
                output.error = Some("the command was ended when its terminal was given up".to_owned());
            }
            // An interrupted turn closes its rows itself.
            let _interrupted = row.ended(&output).await;
        }
    }
}
