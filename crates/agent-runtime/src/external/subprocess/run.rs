//! One run of the program: started, told the prompt, heard out, ended.

use std::io;

use session_model::{Event, Role, StopReason};

use super::Subprocess;
use super::argv;
use super::event::{self, End, Told};
use super::rows::Steps;
use super::script::{self, Script};
use crate::agent::reply::{Voice, message};
use crate::driver::{TurnEnd, TurnError, TurnInput};
use crate::external::child::LineChild;
use crate::external::failure::{Failure, bounded, unexpected, unstartable};
use crate::external::program::{EXIT_GRACE, STOP_GRACE, file, text_of_prompt};
use crate::io::Interrupted;
use crate::waits::Waits;

/// Characters of output that is no event, kept for an explanation.
const ODD: usize = 4 * 1024;

pub(super) struct Run<'a> {
    agent: &'a Subprocess,
    input: &'a TurnInput,
    waits: &'a Waits,
    steps: Steps,
    said: Voice,
    /// What was said since the last step, to know a final answer that repeats it.
    recent: String,
    /// Whether there is an answer.
    answered: bool,
    odd: String,
}

impl<'a> Run<'a> {
    pub(super) fn new(agent: &'a Subprocess, input: &'a TurnInput, waits: &'a Waits) -> Self {
        let said = Voice::new(Role::Agent);
        let (steps, recent, odd) = (Steps::default(), String::new(), String::new());
        Self { agent, input, waits, steps, said, recent, answered: false, odd }
    }

    pub(super) async fn run(mut self) -> Result<TurnEnd, TurnError> {
        let config = &self.agent.config;
        let context = file(&config.program, ".md", config.program.words(self.input)).await?;
        let script = self.script().await?;
        let prompt = text_of_prompt(&self.input.prompt);
        let session = self.agent.session(self.input);
        let run = argv::Run {
            cwd: &self.input.cwd,
            roots: &self.input.additional_roots,
            script: script.as_ref().map(Script::path),
            session: &session,
            context: context.path(),
            prompt: &prompt,
        };
        let command = argv::command(config, run);
        let spawned = if config.program.prompt_argument {
            LineChild::spawn_deaf(command)
        } else {
            LineChild::spawn(command)
        };
        let mut child = spawned.map_err(|error| self.unstartable(&error))?;
        child.send_bytes(prompt.into_bytes()).await;
        child.close_input();
        match self.hear(&mut child).await {
            Ok(end) => self.conclude(&mut child, end).await,
            Err(error) => {
                child.stop(STOP_GRACE).await;
                Err(error)
            }
        }
    }

    /// Milk's own script, where Python is to run it.
    async fn script(&self) -> Result<Option<Script>, TurnError> {
        let config = &self.agent.config;
        if !script::is_python(&config.program.bin) {
            return Ok(None);
        }
        let folder = config.scripts.clone();
        let put = tokio::task::spawn_blocking(move || script::put(folder.as_deref())).await;
        let put = put.unwrap_or_else(|error| Err(io::Error::other(error)));
        put.map(Some).map_err(|error| {
            config.program.failed("external_failed", format!("cannot write the script it runs: {error}"))
        })
    }

    fn unstartable(&self, error: &io::Error) -> TurnError {
        let program = &self.agent.config.program;
        let remedy = if script::is_python(&program.bin) {
            "install Python and smolagents (`pip install \"smolagents[openai]\"`), or set the agent's `bin`"
        } else {
            "set the agent's `bin` to a program that is there"
        };
        let Failure { code, reason } = unstartable(&program.bin, error, remedy);
        program.failed(code, reason)
    }

    /// Hears the program out, up to its last word; `None` when it ends without one.
    async fn hear(&mut self, child: &mut LineChild) -> Result<Option<End>, TurnError> {
        loop {
            let line = self.waits.within(child.line()).await?.map_err(|error| {
                let reason = format!("its output cannot be read: {error}");
                self.agent.config.program.failed("external_failed", reason)
            })?;
            let Some(line) = line else { return Ok(None) };
            match event::read(&line) {
                None => self.keep_odd(&line),
                Some(Told::End(end)) => return Ok(Some(end)),
                Some(told) => self.take(told).await?,
            }
        }
    }

    async fn take(&mut self, told: Told) -> Result<(), Interrupted> {
        let ids = &*self.agent.ids;
        match told {
            Told::System | Told::End(_) => {}
            Told::Unknown(kind) => tracing::info!(kind, "an event that is not known is passed over"),
            Told::Text(text) => {
                self.recent.push_str(&text);
                let event = self.said.hear(&text, ids);
                self.answered |= event.is_some();
                self.emit(event).await?;
            }
            Told::Step { number, thought, code } => {
                self.part().await?;
                if !thought.trim().is_empty() && self.input.show_thoughts {
                    let event = Voice::new(Role::Thought).hear(&thought, ids);
                    self.emit(event).await?;
                }
                if !code.trim().is_empty() {
                    let event = self.steps.begin(number, &code, ids);
                    self.emit([event]).await?;
                }
            }
            Told::Observation { text, failed } => {
                let event = self.steps.end(&text, failed);
                self.emit(event).await?;
            }
            Told::Edit(edit) => {
                let event = self.steps.edit(edit, &self.input.cwd, ids);
                self.emit([event]).await?;
            }
            Told::Final(text) => {
                let event = self.steps.end("", false);
                self.emit(event).await?;
                self.answer(&text).await?;
            }
        }
        Ok(())
    }

    /// What was open ends; what is said next is another message.
    async fn part(&mut self) -> Result<(), Interrupted> {
        let event = self.steps.end("", false);
        self.emit(event).await?;
        self.said = Voice::new(Role::Agent);
        self.recent.clear();
        Ok(())
    }

    /// The whole answer, unless it was said already.
    async fn answer(&mut self, text: &str) -> Result<(), Interrupted> {
        let text = text.trim();
        if text.is_empty() || self.recent.trim_end().ends_with(text) {
            return Ok(());
        }
        self.answered = true;
        text.clone_into(&mut self.recent);
        self.said = Voice::new(Role::Agent);
        self.emit([message(text.to_owned(), &*self.agent.ids)]).await
    }

    async fn emit(&self, events: impl IntoIterator<Item = Event>) -> Result<(), Interrupted> {
        for event in events {
            self.waits.emit(event).await?;
        }
        Ok(())
    }

    fn keep_odd(&mut self, text: &str) {
        tracing::debug!(target: "child", "{text}");
        if self.odd.len() < ODD {
            self.odd.extend(text.chars().take(ODD));
            self.odd.push('\n');
        }
    }

    /// What the end means, once the program is gone.
    async fn conclude(mut self, child: &mut LineChild, end: Option<End>) -> Result<TurnEnd, TurnError> {
        let status = self.waits.io().or_cancelled(child.end(EXIT_GRACE)).await?;
        child.settle_stderr().await;
        let program = &self.agent.config.program;
        let is_well = status.is_some_and(|status| status.success());
        let Some(end) = end else {
            if is_well && self.answered {
                self.part().await?;
                return Ok(TurnEnd { stop: StopReason::EndTurn, usage: None });
            }
            let Failure { code, reason } = unexpected(status, &format!("{}\n{}", child.stderr(), self.odd));
            return Err(program.failed(code, reason));
        };
        if let Some(tokens) = end.usage {
            self.emit([program.spent(tokens, end.dollars)]).await?;
        }
        if end.failed {
            let reason = if end.text.trim().is_empty() {
                unexpected(status, &child.stderr()).reason
            } else {
                bounded(&end.text)
            };
            return Err(program.failed("external_failed", reason));
        }
        if !is_well {
            tracing::warn!(agent = program.name, ?status, "it answered, but did not end well");
        }
        if !self.answered {
            self.part().await?;
            self.answer(&end.text).await?;
        }
        let event = self.steps.end("", false);
        self.emit(event).await?;
        let stop = match end.stop.as_str() {
            "max_steps" => StopReason::MaxTurnRequests,
            "max_tokens" => StopReason::MaxTokens,
            "refusal" => StopReason::Refusal,
            _ => StopReason::EndTurn,
        };
        Ok(TurnEnd { stop, usage: end.usage })
    }
}
