//! Words a session's events for a client of version 2, which can say nearly all of them as they are. Knows nothing of
//! the sibling version.

use acp_wire::{Patch, v2};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use session_model::{
    Ask, Content, Event, MessageId, Notice, Role, SessionId, TerminalId, TerminalUpdate, ToolCallId,
    ToolContent,
};

use super::chunk::{self, Part};
use super::{Outgoing, UPDATE, limit, route, v2_ask, v2_words as words, warning};
use crate::command::ClientFeatures;

#[derive(Debug)]
pub(super) struct View {
    session: SessionId,
    features: ClientFeatures,
}

impl View {
    pub(super) fn new(session: SessionId, features: ClientFeatures) -> Self {
        Self { session, features }
    }

    pub(super) fn speak(&mut self, session: SessionId) {
        self.session = session;
    }

    pub(super) fn update(&self, event: &Event) -> Vec<Outgoing> {
        match event {
            Event::Message { id, role, content } => self.message(id, *role, content),
            Event::MessageDelta { id, role, content } => {
                chunk::part(content).filter_map(|part| self.chunk(id, *role, &part)).collect()
            }
            Event::ToolCall(update) => Outgoing::bounded(UPDATE, |detail| {
                self.notification(v2::SessionUpdate::ToolCallUpdate(words::tool_call_update(update, detail)))
            })
            .into_iter()
            .collect(),
            Event::ToolOutput { id, chunk } => self.tool_output(id, chunk),
            Event::Terminal(terminal) => self.terminal(terminal),
            // Each piece is encoded by itself, and the client joins the bytes.
            Event::TerminalOutput { id, text, .. } => {
                limit::pieces(text).filter_map(|piece| self.terminal_chunk(id, piece)).collect()
            }
            Event::Plan(plan) => self.one(v2::SessionUpdate::PlanUpdate(words::plan(plan))),
            Event::PlanRemoved(id) => {
                self.one(v2::SessionUpdate::PlanRemoved(v2::PlanRemoved::new(id.as_str())))
            }
            Event::Compaction(compaction) => {
                self.one(v2::SessionUpdate::CompactionUpdate(words::compaction(compaction)))
            }
            // What requests took is told by the gauge.
            Event::Spent(_) => Vec::new(),
            // A gauge of nothing cannot be drawn.
            Event::Usage(usage) if usage.size == 0 => Vec::new(),
            Event::Usage(usage) => self.one(v2::SessionUpdate::UsageUpdate(words::usage(usage))),
            Event::Commands(commands) => self.one(v2::SessionUpdate::AvailableCommandsUpdate(
                v2::AvailableCommandsUpdate::new(words::commands(commands)),
            )),
            Event::Options(options) => self.one(v2::SessionUpdate::ConfigOptionUpdate(
                v2::ConfigOptionUpdate::new(words::options(options)),
            )),
            Event::Title(title) => self
                .one(v2::SessionUpdate::SessionInfoUpdate(v2::SessionInfoUpdate::new().title(title.clone()))),
            Event::Foreground(foreground) => {
                self.one(v2::SessionUpdate::StateUpdate(words::state(foreground)))
            }
            Event::Routed(decision) => route(&self.session, decision).into_iter().collect(),
            Event::Warning(finding) => warning(&self.session, finding).into_iter().collect(),
            Event::Notice(notice) => self.notice(notice),
            Event::Remark { id, text } => {
                self.chunk(id, Role::Agent, &Part::Text(text)).into_iter().collect()
            }
            Event::ReplayComplete => self.one(v2::SessionUpdate::ReplayComplete(v2::ReplayComplete::new())),
        }
    }

    pub(super) fn ask(&self, ask: &Ask) -> Option<Outgoing> {
        v2_ask::ask(&self.session, self.features, ask)
    }

    fn notification(&self, update: v2::SessionUpdate) -> v2::UpdateSessionNotification {
        v2::UpdateSessionNotification::new(self.session.as_str(), update)
    }

    fn send(&self, update: v2::SessionUpdate) -> Option<Outgoing> {
        Outgoing::new(UPDATE, &self.notification(update))
    }

    fn one(&self, update: v2::SessionUpdate) -> Vec<Outgoing> {
        self.send(update).into_iter().collect()
    }

    /// A whole message: it replaces what its id said before. What exceeds one update's limit is appended to it.
    fn message(&self, id: &MessageId, role: Role, content: &[Content]) -> Vec<Outgoing> {
        let mut room = limit::MAX_TEXT;
        let mut parts = chunk::parts(content).peekable();
        let mut blocks = Vec::new();
        while let Some(part) = parts.next_if(|part| blocks.is_empty() || part.size() <= room) {
            room = room.saturating_sub(part.size());
            blocks.push(block(&part));
        }
        let whole = match role {
            Role::User => v2::SessionUpdate::UserMessage(v2::UserMessage::new(id.as_str()).content(blocks)),
            Role::Agent => {
                v2::SessionUpdate::AgentMessage(v2::AgentMessage::new(id.as_str()).content(blocks))
            }
            Role::Thought => {
                v2::SessionUpdate::AgentThought(v2::AgentThought::new(id.as_str()).content(blocks))
            }
        };
        let mut out = self.one(whole);
        out.extend(parts.filter_map(|part| self.chunk(id, role, &part)));
        out
    }

    fn chunk(&self, id: &MessageId, role: Role, part: &Part<'_>) -> Option<Outgoing> {
        match part {
            Part::Text(text) => chunk::text(&self.session, role, id, text),
            Part::Media(content) => {
                let chunk = v2::ContentChunk::new(id.as_str(), words::block(content));
                self.send(match role {
                    Role::User => v2::SessionUpdate::UserMessageChunk(chunk),
                    Role::Agent => v2::SessionUpdate::AgentMessageChunk(chunk),
                    Role::Thought => v2::SessionUpdate::AgentThoughtChunk(chunk),
                })
            }
        }
    }

    fn tool_output(&self, id: &ToolCallId, chunk: &ToolContent) -> Vec<Outgoing> {
        let send = |content| {
            let chunk = v2::ToolCallContentChunk::new(id.as_str(), content);
            self.send(v2::SessionUpdate::ToolCallContentChunk(chunk))
        };
        match chunk {
            ToolContent::Content(content) => {
                chunk::part(content).filter_map(|part| send(words::shown(block(&part)))).collect()
            }
            ToolContent::Change(_) | ToolContent::Terminal(_) => {
                words::tool_content(chunk, &mut limit::Budget::new()).into_iter().filter_map(send).collect()
            }
        }
    }

    /// A terminal of ours. Output that exceeds one update's limit is appended to it, and the end told last.
    fn terminal(&self, terminal: &TerminalUpdate) -> Vec<Outgoing> {
        let word = |word| self.send(v2::SessionUpdate::TerminalUpdate(word));
        let mut pieces = terminal.output.as_deref().into_iter().flat_map(limit::pieces);
        let mut out = Vec::new();
        if let Some(first) = pieces.next() {
            let output = v2::TerminalOutput::new(STANDARD.encode(first));
            out.extend(word(v2::TerminalUpdate::new(terminal.id.as_str()).output(Patch::Set(output))));
            out.extend(pieces.filter_map(|piece| self.terminal_chunk(&terminal.id, piece)));
        }
        out.extend(word(words::terminal(terminal)));
        out
    }

    fn terminal_chunk(&self, id: &TerminalId, text: &str) -> Option<Outgoing> {
        let chunk = v2::TerminalOutputChunk::new(id.as_str(), STANDARD.encode(text));
        self.send(v2::SessionUpdate::TerminalOutputChunk(chunk))
    }

    fn notice(&self, notice: &Notice) -> Vec<Outgoing> {
        if notice.title.is_empty() {
            return Vec::new();
        }
        let title = limit::cut(&notice.title, limit::MAX_TEXT);
        self.one(v2::SessionUpdate::Notice(v2::Notice::new(words::severity(notice.severity), title)))
    }
}

fn block(part: &Part<'_>) -> v2::ContentBlock {
    match part {
        Part::Text(text) => v2::ContentBlock::from(*text),
        Part::Media(content) => words::block(content),
    }
}
