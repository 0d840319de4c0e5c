//! Words a session's events for a client of version 1, and remembers what that takes: which tool calls were announced
//! and what they have put out, all plans, how much of the last messages was said, the mode. Knows nothing of the
//! sibling version.

use std::collections::BTreeMap;
use std::time::Duration;

use acp_wire::v1;
use session_model::{
    Ask, Compaction, ConfigOption, Content, Event, Foreground, MessageId, Notice, Plan, PlanId, Role,
    SessionId, TerminalOwner, TerminalView, ToolCallId, ToolCallUpdate, ToolContent,
};
use tokio::time::Instant;

use super::chunk::{self, Part};
use super::v1_in::V1;
use super::v1_memory::{Output, Said};
use super::{Outgoing, UPDATE, limit, route, v1_ask, v1_words as words, warning};
use crate::command::ClientFeatures;

/// The shortest time between two repetitions of one call's output (milk's contract).
const REPEAT: Duration = Duration::from_millis(400);

#[derive(Debug)]
pub(super) struct View {
    session: SessionId,
    features: ClientFeatures,
    echo: bool,
    rows: BTreeMap<ToolCallId, Row>,
    plans: Vec<Plan>,
    said: Said,
    mode: Option<String>,
}

/// A tool call that was announced and is not over.
#[derive(Debug, Default)]
struct Row {
    output: Output,
    /// When its output was last sent.
    shown: Option<Instant>,
    /// Whether there is output that was not sent.
    held: bool,
}

impl View {
    pub(super) fn new(session: SessionId, v1: &V1) -> Self {
        Self {
            session,
            features: v1.features,
            echo: v1.echo,
            rows: BTreeMap::new(),
            plans: Vec::new(),
            said: Said::default(),
            mode: None,
        }
    }

    pub(super) fn speak(&mut self, session: SessionId) {
        self.session = session;
    }

    pub(super) fn update(&mut self, event: &Event) -> Vec<Outgoing> {
        match event {
            // Editors show what their user typed; many would show it twice.
            Event::Message { role: Role::User, .. } | Event::MessageDelta { role: Role::User, .. }
                if !self.echo =>
            {
                Vec::new()
            }
            Event::Message { id, role, content } => self.message(id, *role, content),
            Event::MessageDelta { id, role, content } => self.delta(id, *role, content),
            Event::ToolCall(update) => self.tool_call(update),
            Event::ToolOutput { id, chunk } => self.tool_output(id, chunk),
            // Terminals of ours are unknown to the version: their output is their call's.
            Event::TerminalOutput { call, text, .. } => {
                self.tool_output(call, &ToolContent::Content(Content::text(text.as_str())))
            }
            Event::Plan(plan) => self.plan(plan),
            Event::PlanRemoved(id) => self.plan_removed(id),
            Event::Compaction(compaction) => self.compaction(compaction),
            // A client that does not know this kind of update may drop the connection over it.
            Event::Usage(usage) if self.features.usage && usage.size > 0 => {
                self.one(v1::SessionUpdate::UsageUpdate(words::usage(usage)))
            }
            Event::Commands(commands) => self.one(v1::SessionUpdate::AvailableCommandsUpdate(
                v1::AvailableCommandsUpdate::new(words::commands(commands)),
            )),
            Event::Options(options) => self.options(options),
            Event::Title(title) if self.features.usage => self
                .one(v1::SessionUpdate::SessionInfoUpdate(v1::SessionInfoUpdate::new().title(title.clone()))),
            Event::Foreground(foreground) => self.foreground(foreground),
            Event::Routed(decision) => route(&self.session, decision).into_iter().collect(),
            Event::Warning(finding) => warning(&self.session, finding).into_iter().collect(),
            Event::Notice(notice) => self.notice(notice),
            // The empty line keeps it apart from the next message in clients that join messages.
            Event::Remark { id, text } => {
                chunk::text(&self.session, Role::Agent, id, &format!("{text}\n\n")).into_iter().collect()
            }
            // What requests took is told by the gauge.
            Event::Spent(_)
            | Event::Usage(_)
            | Event::Title(_)
            | Event::Terminal(_)
            | Event::ReplayComplete => Vec::new(),
        }
    }

    pub(super) fn replay(&mut self, event: &Event) -> Vec<Outgoing> {
        match event {
            Event::Message { id, role, content } => {
                self.said.forget(*role);
                self.message(id, *role, content)
            }
            Event::MessageDelta { id, role, content } => self.delta(id, *role, content),
            Event::ToolCall(_)
            | Event::ToolOutput { .. }
            | Event::Terminal(_)
            | Event::TerminalOutput { .. }
            | Event::Plan(_)
            | Event::PlanRemoved(_)
            | Event::Compaction(_)
            | Event::Spent(_)
            | Event::Usage(_)
            | Event::Commands(_)
            | Event::Options(_)
            | Event::Title(_)
            | Event::Foreground(_)
            | Event::Routed(_)
            | Event::Warning(_)
            | Event::Notice(_)
            | Event::Remark { .. }
            | Event::ReplayComplete => self.update(event),
        }
    }

    pub(super) fn ask(&self, ask: &Ask) -> Option<Outgoing> {
        v1_ask::ask(&self.session, self.features, ask)
    }

    /// When held output may be sent: the earliest end of a pause.
    pub(super) fn flush_due(&self) -> Option<Instant> {
        let held = self.rows.values().filter(|row| row.held);
        held.filter_map(|row| row.shown.map(|shown| shown + REPEAT)).min()
    }

    pub(super) fn flush(&mut self) -> Vec<Outgoing> {
        let session = &self.session;
        self.rows
            .iter_mut()
            .filter(|(_, row)| row.held)
            .filter_map(|(id, row)| row.show(session, id))
            .collect()
    }

    fn one(&self, update: v1::SessionUpdate) -> Vec<Outgoing> {
        send(&self.session, update).into_iter().collect()
    }

    /// A whole message. The version can only append, so of a message that was said in part the rest follows.
    fn message(&mut self, id: &MessageId, role: Role, content: &[Content]) -> Vec<Outgoing> {
        let mut skip = self.said.of(role, id);
        let begun = skip > 0;
        let mut out = Vec::new();
        for content in content {
            match content.as_text() {
                Some(text) => {
                    let rest = text.get(skip.min(text.len())..).unwrap_or_default();
                    skip = skip.saturating_sub(text.len());
                    if !rest.is_empty() {
                        out.extend(self.delta(id, role, &Content::text(rest)));
                    }
                }
                None if begun => {}
                None => out.extend(self.delta(id, role, content)),
            }
        }
        out
    }

    fn delta(&mut self, id: &MessageId, role: Role, content: &Content) -> Vec<Outgoing> {
        self.said.add(role, id, content.as_text().map_or(0, str::len));
        let session = &self.session;
        chunk::part(content)
            .filter_map(|part| match part {
                Part::Text(text) => chunk::text(session, role, id, text),
                Part::Media(content) => {
                    let chunk = v1::ContentChunk::new(words::block(content)).message_id(id.as_str());
                    send(
                        session,
                        match role {
                            Role::User => v1::SessionUpdate::UserMessageChunk(chunk),
                            Role::Agent => v1::SessionUpdate::AgentMessageChunk(chunk),
                            Role::Thought => v1::SessionUpdate::AgentThoughtChunk(chunk),
                        },
                    )
                }
            })
            .collect()
    }

    /// The first report of a call is a kind of its own. A call that is over is forgotten; whatever is still said of it
    /// has no title and therefore cannot be mistaken for a first report.
    fn tool_call(&mut self, update: &ToolCallUpdate) -> Vec<Outgoing> {
        let over = update.status.is_some_and(session_model::ToolStatus::is_final);
        let named = update.title.is_some() || update.name.is_some();
        let first = named && !self.rows.contains_key(&update.id);
        let mut out = Vec::new();
        if over {
            let row = self.rows.remove(&update.id);
            if let Some(mut row) = row.filter(|row| row.held) {
                out.extend(row.show(&self.session, &update.id));
            }
        } else {
            let row = self.rows.entry(update.id.clone()).or_default();
            if let Some(content) = &update.content {
                row.output = Output::of(content);
                row.held = false;
            }
        }
        out.extend(Outgoing::bounded(UPDATE, |detail| {
            notification(
                &self.session,
                if first {
                    v1::SessionUpdate::ToolCall(words::tool_call(update, detail))
                } else {
                    v1::SessionUpdate::ToolCallUpdate(words::tool_call_update(update, detail))
                },
            )
        }));
        out
    }

    /// The version repeats a call's whole output for every addition, so additions that follow fast are gathered.
    fn tool_output(&mut self, id: &ToolCallId, chunk: &ToolContent) -> Vec<Outgoing> {
        if let ToolContent::Terminal(TerminalView { owner: TerminalOwner::Agent, .. }) = chunk {
            return Vec::new();
        }
        let row = self.rows.entry(id.clone()).or_default();
        row.output.push(chunk);
        row.held = true;
        if row.shown.is_some_and(|shown| shown.elapsed() < REPEAT) {
            return Vec::new();
        }
        row.show(&self.session, id).into_iter().collect()
    }

    fn plan(&mut self, plan: &Plan) -> Vec<Outgoing> {
        match self.plans.iter_mut().find(|known| known.id == plan.id) {
            Some(known) => known.clone_from(plan),
            None => self.plans.push(plan.clone()),
        }
        self.one(v1::SessionUpdate::Plan(words::plan(&self.plans)))
    }

    /// What is left; an empty plan clears what the client shows.
    fn plan_removed(&mut self, id: &PlanId) -> Vec<Outgoing> {
        let before = self.plans.len();
        self.plans.retain(|plan| plan.id != *id);
        if self.plans.len() == before {
            return Vec::new();
        }
        self.one(v1::SessionUpdate::Plan(words::plan(&self.plans)))
    }

    fn options(&mut self, options: &[ConfigOption]) -> Vec<Outgoing> {
        let settings = words::options(options, self.features.boolean_options);
        let mut out = self.one(v1::SessionUpdate::ConfigOptionUpdate(v1::ConfigOptionUpdate::new(settings)));
        if let Some((mode, _)) = words::mode(options)
            && self.mode.as_deref() != Some(mode)
        {
            self.mode = Some(mode.to_owned());
            out.extend(self.one(v1::SessionUpdate::CurrentModeUpdate(v1::CurrentModeUpdate::new(mode))));
        }
        out
    }

    /// Nothing is said of the session as a whole: the open prompt says it. At a turn's end nothing may be held back.
    fn foreground(&mut self, foreground: &Foreground) -> Vec<Outgoing> {
        match foreground {
            Foreground::Running => Vec::new(),
            Foreground::RequiresAction | Foreground::Idle { .. } => self.flush(),
        }
    }

    /// A client that does not follow compactions is told their end in a line, unless the user's command does it.
    fn compaction(&mut self, compaction: &Compaction) -> Vec<Outgoing> {
        if self.features.compaction {
            return self.one(v1::SessionUpdate::CompactionUpdate(words::compaction(compaction)));
        }
        match words::compaction_line(compaction).filter(|_| !compaction.requested) {
            Some((severity, title)) => {
                let id = MessageId::from(compaction.id.as_str());
                self.notice(&Notice { id, severity, title })
            }
            None => Vec::new(),
        }
    }

    /// A client that did not ask for notices is shown them as a message.
    fn notice(&mut self, notice: &Notice) -> Vec<Outgoing> {
        if notice.title.is_empty() {
            return Vec::new();
        }
        let title = limit::cut(&notice.title, limit::MAX_TEXT);
        if self.features.notices {
            let notice = v1::Notice::new(words::severity(notice.severity), title);
            return self.one(v1::SessionUpdate::Notice(notice));
        }
        // The empty line keeps it apart from the next message in clients that join messages.
        chunk::text(&self.session, Role::Agent, &notice.id, &format!("{title}\n\n")).into_iter().collect()
    }
}

fn notification(session: &SessionId, update: v1::SessionUpdate) -> v1::SessionNotification {
    v1::SessionNotification::new(session.as_str(), update)
}

fn send(session: &SessionId, update: v1::SessionUpdate) -> Option<Outgoing> {
    Outgoing::new(UPDATE, &notification(session, update))
}

impl Row {
    fn show(&mut self, session: &SessionId, id: &ToolCallId) -> Option<Outgoing> {
        self.held = false;
        self.shown = Some(Instant::now());
        let mut update = ToolCallUpdate::new(id.clone());
        update.content = Some(self.output.shown());
        Outgoing::bounded(UPDATE, |detail| {
            notification(session, v1::SessionUpdate::ToolCallUpdate(words::tool_call_update(&update, detail)))
        })
    }
}
