//! One run of aider: started, heard out, ended.

use std::io;
use std::path::PathBuf;

use serde_json::json;
use session_model::source::{IdKind, Ids};
use session_model::{
    Event, FileChange, Location, Role, Severity, StopReason, TokenUsage, ToolCallId, ToolCallUpdate,
    ToolContent, ToolKind, ToolStatus,
};
use tempfile::{NamedTempFile, TempDir};

use super::argv;
use super::files::{self, Memory};
use super::output::{Line, Reader};
use crate::agent::reply::{Voice, notice};
use crate::driver::{TurnEnd, TurnError, TurnInput};
use crate::external::ProgramConfig;
use crate::external::child::LineChild;
use crate::external::failure::{Failure, bounded, unexpected, unstartable};
use crate::external::program::{EXIT_GRACE, STOP_GRACE, file, text_of_prompt};
use crate::io::Interrupted;
use crate::tools::text::strip_escapes;
use crate::waits::Waits;

/// From which attempt on the user is told that the server does not answer.
const TOLD_ATTEMPT: u32 = 3;
/// What it takes to have it.
const REMEDY: &str = "install aider (`pip install aider-chat`) or set the agent's `bin`";

pub(super) struct Run<'a> {
    config: &'a ProgramConfig,
    ids: &'a dyn Ids,
    input: &'a TurnInput,
    waits: &'a Waits,
    reader: Reader,
    said: Voice,
    /// Empty lines that are said when something follows.
    blank: String,
    /// Whether anything came of it.
    answered: bool,
    trouble: Vec<String>,
    retries: u32,
    usage: Option<TokenUsage>,
}

/// What a run needs on disk; gone when dropped.
struct Desk {
    context: NamedTempFile,
    message: NamedTempFile,
    scratch: TempDir,
    files: Vec<PathBuf>,
    in_git: bool,
    memory: Option<Memory>,
}

impl<'a> Run<'a> {
    pub(super) fn new(
        config: &'a ProgramConfig,
        ids: &'a dyn Ids,
        input: &'a TurnInput,
        waits: &'a Waits,
    ) -> Self {
        Self {
            config,
            ids,
            input,
            waits,
            reader: Reader::default(),
            said: Voice::new(Role::Agent),
            blank: String::new(),
            answered: false,
            trouble: Vec::new(),
            retries: 0,
            usage: None,
        }
    }

    pub(super) async fn run(mut self) -> Result<TurnEnd, TurnError> {
        let prompt = words_only(text_of_prompt(&self.input.prompt));
        let mut desk = self.waits.within(self.desk(&prompt)).await??;
        let run = argv::Run {
            cwd: &self.input.cwd,
            in_git: desk.in_git,
            context: desk.context.path(),
            scratch: desk.scratch.path(),
            files: &desk.files,
            prompt: &prompt,
            message: desk.message.path(),
        };
        let spawned = LineChild::spawn_deaf(argv::command(self.config, run));
        let mut child = spawned.map_err(|error| {
            let Failure { code, reason } = unstartable(&self.config.bin, &error, REMEDY);
            self.config.failed(code, reason)
        })?;
        match self.hear(&mut child, &mut desk.memory).await {
            Ok(()) => self.conclude(&mut child).await,
            Err(error) => {
                child.stop(STOP_GRACE).await;
                Err(error)
            }
        }
    }

    async fn desk(&self, prompt: &str) -> Result<Desk, TurnError> {
        let context = file(self.config, ".md", self.config.words(self.input)).await?;
        let message = file(self.config, ".txt", prompt.to_owned()).await?;
        let (cwd, roots) = (self.input.cwd.clone(), self.input.additional_roots.clone());
        let prompt = prompt.to_owned();
        let looked = tokio::task::spawn_blocking(move || {
            let repository = files::repository(&cwd);
            let named = files::named(&prompt, &cwd, &roots);
            let in_git = repository.is_some();
            let base = repository.unwrap_or_else(|| cwd.clone());
            let base = base.canonicalize().unwrap_or(base);
            let mut memory = Memory::new(base, roots);
            for file in named.iter().filter_map(|file| file.to_str()) {
                memory.note(file);
            }
            let scratch = tempfile::Builder::new().prefix("milk-").tempdir()?;
            io::Result::Ok((scratch, named, in_git, memory))
        });
        let (scratch, files, in_git, memory) =
            looked.await.unwrap_or_else(|error| Err(io::Error::other(error))).map_err(|error| {
                self.config.failed("external_failed", format!("cannot make what it needs: {error}"))
            })?;
        Ok(Desk { context, message, scratch, files, in_git, memory: Some(memory) })
    }

    /// Hears the program out.
    async fn hear(&mut self, child: &mut LineChild, memory: &mut Option<Memory>) -> Result<(), TurnError> {
        loop {
            let line = self.waits.within(child.line()).await?.map_err(|error| {
                self.config.failed("external_failed", format!("its output cannot be read: {error}"))
            })?;
            let Some(line) = line else { return Ok(()) };
            let line = self.reader.read(&strip_escapes(&line));
            self.take(line, memory).await?;
        }
    }

    async fn take(&mut self, line: Line, memory: &mut Option<Memory>) -> Result<(), Interrupted> {
        match line {
            Line::Noise => {}
            Line::Answer(line) if line.is_empty() => self.blank.push('\n'),
            Line::Answer(line) => {
                let piece = format!("{}{line}\n", std::mem::take(&mut self.blank));
                let event = self.said.hear(&piece, self.ids);
                self.answered |= event.is_some();
                self.emit(event).await?;
            }
            Line::Added(path) => drop(look(memory, move |memory| memory.note(&path)).await),
            Line::Created(path) => drop(look(memory, move |memory| memory.note_new(&path)).await),
            Line::Edited(path) => {
                self.answered = true;
                let seen = look(memory, move |memory| {
                    let place = memory.place(&path);
                    let change = memory.change(&path);
                    (memory.shown(&place), place, change)
                });
                if let Some((shown, place, change)) = seen.await {
                    let event = self.edited(&shown, place, change);
                    self.emit([event]).await?;
                }
            }
            Line::Spent(tokens, dollars) => {
                self.usage.get_or_insert_default().add(tokens);
                self.emit([self.config.spent(tokens, dollars)]).await?;
                // What follows is another answer.
                self.said = Voice::new(Role::Agent);
                self.blank.clear();
            }
            Line::Trouble(words) => self.trouble.push(words),
            Line::Retry => {
                self.retries += 1;
                if self.retries == TOLD_ATTEMPT {
                    let title = format!("{}: its server does not answer; it tries again.", self.config.name);
                    self.emit([notice(Severity::Warning, title, self.ids)]).await?;
                }
                self.trouble.clear();
            }
        }
        Ok(())
    }

    /// The row of a change.
    fn edited(&self, path: &str, place: PathBuf, change: Option<FileChange>) -> Event {
        let mut row = ToolCallUpdate::new(ToolCallId::from(self.ids.fresh(IdKind::ToolCall)));
        row.name = Some("edit".to_owned());
        row.title = Some(format!("edit: {path}"));
        row.kind = Some(ToolKind::Edit);
        row.status = Some(ToolStatus::Completed);
        row.step = Some(0);
        row.locations = Some(vec![Location { path: place, line: None }]);
        row.raw_input = Some(json!({ "path": path }));
        row.raw_output = Some(json!({ "output": "changed" }));
        row.content = Some(change.into_iter().map(ToolContent::Change).collect());
        Event::ToolCall(row)
    }

    async fn emit(&self, events: impl IntoIterator<Item = Event>) -> Result<(), Interrupted> {
        for event in events {
            self.waits.emit(event).await?;
        }
        Ok(())
    }

    /// What the end means, once the program is gone.
    async fn conclude(self, child: &mut LineChild) -> Result<TurnEnd, TurnError> {
        let status = self.waits.io().or_cancelled(child.end(EXIT_GRACE)).await?;
        child.settle_stderr().await;
        // It ends well even where its server refused it.
        if !self.trouble.is_empty() && (!self.answered || self.retries > 0) {
            return Err(self.config.failed("external_failed", bounded(&self.trouble.join(" "))));
        }
        let is_well = status.is_some_and(|status| status.success());
        if !is_well || !self.answered {
            let Failure { code, reason } = unexpected(status, &child.stderr());
            return Err(self.config.failed(code, reason));
        }
        Ok(TurnEnd { stop: StopReason::EndTurn, usage: self.usage })
    }
}

/// A prompt is for the model: what begins like a command of aider's is none.
fn words_only(prompt: String) -> String {
    if prompt.starts_with(['/', '!']) { format!("\n{prompt}") } else { prompt }
}

/// Looks at files, which may lie on a slow disk.
async fn look<T: Send + 'static>(
    memory: &mut Option<Memory>,
    work: impl FnOnce(&mut Memory) -> T + Send + 'static,
) -> Option<T> {
    let mut taken = memory.take()?;
    let looked = tokio::task::spawn_blocking(move || {
        let found = work(&mut taken);
        (taken, found)
    });
    let (back, found) = looked.await.ok()?;
    *memory = Some(back);
    Some(found)
}
