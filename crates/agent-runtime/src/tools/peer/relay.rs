//! What an agent says in a turn of its own, told in its caller's turn: one row holds a line for each of its calls and the
//! changes it made; its questions are asked under that row; its words become the result.

use std::collections::HashMap;

use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt as _, StreamExt as _};
use session_model::{
    Answer, Ask, Content, Event, Grant, MessageId, Notice, Role, StopReason, ToolCallId, ToolCallUpdate,
    ToolContent, ToolStatus,
};
use tokio::sync::oneshot;

use crate::driver::{TurnEnd, TurnError};
use crate::io::{Interrupted, TurnIo, TurnSignal, TurnSignals};
use crate::tools::{ToolOutput, text};

/// How much of an agent's words is kept, in bytes. Far more than any model is told of one call.
const MAX_WORDS: usize = 1024 * 1024;
/// How many of its calls are told in the row.
const MAX_LINES: usize = 200;
/// Characters of such a line.
const LINE_CHARS: usize = 200;
/// How many of its changes are shown in the row.
const MAX_CHANGES: usize = 64;
/// How much of its answer the row shows, in bytes.
const SHOWN_ANSWER: usize = 64 * 1024;

type Asking<'a> = FuturesUnordered<BoxFuture<'a, Result<(), Interrupted>>>;

/// Tells one turn in another one.
pub(super) struct Relay<'a> {
    agent: &'a str,
    row: ToolCallId,
    title: String,
    io: &'a TurnIo,
    /// Its messages since its last call.
    said: Vec<(MessageId, String)>,
    /// Its calls that have not ended.
    calls: HashMap<ToolCallId, ToolCallUpdate>,
    lines: usize,
    changes: usize,
    /// What the row shows of its calls.
    shown: Vec<ToolContent>,
    grants: Vec<Grant>,
}

impl<'a> Relay<'a> {
    /// Tells the turn of `agent` under `row`, which is called `title`.
    pub(super) fn new(agent: &'a str, row: ToolCallId, title: String, io: &'a TurnIo) -> Self {
        Self {
            agent,
            row,
            title,
            io,
            said: Vec::new(),
            calls: HashMap::new(),
            lines: 0,
            changes: 0,
            shown: Vec::new(),
            grants: Vec::new(),
        }
    }

    /// Tells everything that comes, to the end of the turn.
    pub(super) async fn run(&mut self, mut signals: TurnSignals) -> Result<(), Interrupted> {
        let mut asking = Asking::new();
        loop {
            let is_asking = !asking.is_empty();
            let signal = tokio::select! {
                biased;
                Some(settled) = asking.next(), if is_asking => {
                    settled?;
                    continue;
                }
                signal = signals.recv() => signal,
            };
            match signal {
                None => return Ok(()),
                Some(TurnSignal::Event(event)) => self.tell(event).await?,
                Some(TurnSignal::Granted(grant)) => {
                    self.grants.push(grant.clone());
                    self.io.granted(grant).await?;
                }
                Some(call @ TurnSignal::Host(..)) => self.io.pass_on(call).await?,
                Some(TurnSignal::Ask(ask, answer)) => {
                    let settled = self.ask(ask, answer).await?;
                    asking.push(settled);
                }
            }
        }
    }

    /// What came of it, for the caller.
    pub(super) fn output(self, ended: Result<TurnEnd, TurnError>) -> ToolOutput {
        let answer = self.answer();
        let (usage, error) = match ended {
            Ok(end) => (end.usage, self.shortcoming(end.stop)),
            Err(error) => (None, Some(error.to_string())),
        };
        let mut content = self.shown;
        let last = [text::head(&answer, SHOWN_ANSWER), error.as_deref().unwrap_or_default()];
        let last = last.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n");
        if !content.is_empty() && !last.is_empty() {
            content.push(ToolContent::Content(Content::text(last)));
        }
        let output = if answer.is_empty() && error.is_none() {
            format!("{} has ended without a word", self.agent)
        } else {
            answer
        };
        ToolOutput { error, content, usage, grants: self.grants, ..ToolOutput::ok(output) }
    }

    /// Why an answer is none, or not whole.
    fn shortcoming(&self, stop: StopReason) -> Option<String> {
        let what = match stop {
            StopReason::EndTurn => return None,
            StopReason::MaxTokens => "reached its output limit; what it said is not whole",
            StopReason::MaxTurnRequests => "stopped before it was done",
            StopReason::Refusal => "refused",
            StopReason::Cancelled => "was stopped",
            StopReason::Error => "failed",
        };
        Some(format!("{} {what}", self.agent))
    }

    fn answer(&self) -> String {
        let said = self.said.iter().map(|(_, text)| text.trim());
        said.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
    }

    async fn tell(&mut self, event: Event) -> Result<(), Interrupted> {
        match event {
            Event::MessageDelta { id, role: Role::Agent, content } => {
                self.hear(id, content.as_text().unwrap_or_default(), false);
                Ok(())
            }
            Event::Message { id, role: Role::Agent, content } => {
                self.hear(id, &session_model::text_of(&content), true);
                Ok(())
            }
            Event::ToolCall(update) => self.call(update).await,
            Event::Notice(notice) => {
                let title = format!("{}: {}", self.agent, notice.title);
                self.io.emit(Event::Notice(Notice { title, ..notice })).await
            }
            Event::Spent(spent) => self.io.emit(Event::Spent(spent)).await,
            // Its thoughts, plans and state are its own; what it remembers ends with it.
            Event::Message { role: Role::User | Role::Thought, .. }
            | Event::MessageDelta { role: Role::User | Role::Thought, .. }
            | Event::ToolOutput { .. }
            | Event::Terminal(_)
            | Event::TerminalOutput { .. }
            | Event::Plan(_)
            | Event::PlanRemoved(_)
            | Event::Compaction(_)
            | Event::Usage(_)
            | Event::Commands(_)
            | Event::Options(_)
            | Event::Title(_)
            | Event::Foreground(_)
            | Event::Routed(_)
            | Event::Warning(_)
            | Event::Remark { .. }
            | Event::ReplayComplete => Ok(()),
        }
    }

    fn hear(&mut self, id: MessageId, words: &str, whole: bool) {
        let at = self.said.iter().position(|(known, _)| *known == id).unwrap_or_else(|| {
            self.said.push((id, String::new()));
            self.said.len() - 1
        });
        if whole {
            self.said[at].1.clear();
        }
        let kept: usize = self.said.iter().map(|(_, text)| text.len()).sum();
        let room = MAX_WORDS.saturating_sub(kept);
        self.said[at].1.push_str(text::head(words, room));
    }

    /// Follows a call; one that ends leaves a line and its changes.
    async fn call(&mut self, update: ToolCallUpdate) -> Result<(), Interrupted> {
        if !self.calls.contains_key(&update.id) {
            // What it said before it goes on working is no answer yet.
            self.said.clear();
        }
        let id = update.id.clone();
        let call = self.calls.entry(id.clone()).or_insert_with(|| ToolCallUpdate::new(id.clone()));
        call.merge(&update);
        let Some(status) = call.status.filter(|status| status.is_final()) else { return Ok(()) };
        let Some(call) = self.calls.remove(&id) else { return Ok(()) };
        self.lines += 1;
        if self.lines <= MAX_LINES {
            let mark = if status == ToolStatus::Completed { '✓' } else { '✗' };
            let title = text::one_line(call.title.as_deref().unwrap_or("a tool"), LINE_CHARS);
            let more = if self.lines == MAX_LINES { "… further calls are not listed\n" } else { "" };
            self.show(ToolContent::Content(Content::text(format!("{mark} {title}\n{more}")))).await?;
        }
        for piece in call.content.unwrap_or_default() {
            if matches!(piece, ToolContent::Change(_))
                && status == ToolStatus::Completed
                && self.changes < MAX_CHANGES
            {
                self.changes += 1;
                self.show(piece).await?;
            }
        }
        Ok(())
    }

    async fn show(&mut self, chunk: ToolContent) -> Result<(), Interrupted> {
        self.shown.push(chunk.clone());
        self.io.emit(Event::ToolOutput { id: self.row.clone(), chunk }).await
    }

    /// Puts a question of the agent's, under the row it works in; gives the wait for its answer.
    async fn ask(
        &self,
        ask: Ask,
        answer: oneshot::Sender<Answer>,
    ) -> Result<BoxFuture<'a, Result<(), Interrupted>>, Interrupted> {
        let asks_leave = matches!(ask, Ask::Permission(_));
        let answered = self.io.put(self.under_row(ask)).await?;
        let (io, row, title) = (self.io, self.row.clone(), self.title.clone());
        Ok(async move { settle(io, answered, answer, asks_leave.then_some((row, title))).await }.boxed())
    }

    fn under_row(&self, ask: Ask) -> Ask {
        match ask {
            Ask::Permission(mut ask) => {
                ask.title = format!("{} → {}", self.agent, ask.title);
                let mut call = ToolCallUpdate::new(self.row.clone());
                call.title = Some(ask.title.clone());
                call.content = ask.tool_call.content.take();
                call.locations = ask.tool_call.locations.take();
                ask.tool_call = call;
                Ask::Permission(ask)
            }
            Ask::Elicit(mut form) => {
                form.message = format!("{}: {}", self.agent, form.message);
                form.tool_call = Some(self.row.clone());
                Ask::Elicit(form)
            }
        }
    }
}

/// Passes an answer back, unless nobody waits for it any more. A client may have shown the question in the row, which gets
/// its own title again.
async fn settle(
    io: &TurnIo,
    answered: oneshot::Receiver<Answer>,
    mut answer: oneshot::Sender<Answer>,
    row: Option<(ToolCallId, String)>,
) -> Result<(), Interrupted> {
    let given = tokio::select! {
        biased;
        given = io.or_cancelled(answered) => given?.map_err(|_| Interrupted)?,
        () = answer.closed() => return Ok(()),
    };
    if let Some((row, title)) = row {
        let mut update = ToolCallUpdate::new(row);
        update.title = Some(title);
        io.emit(Event::ToolCall(update)).await?;
    }
    // Whoever asked may have ended meanwhile.
    let _unheard = answer.send(given);
    Ok(())
}
