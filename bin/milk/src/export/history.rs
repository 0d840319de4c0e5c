//! A session's entries as turns of a conversation: what the user said, and what was done about it.

use serde_json::Value;
use session_model::{
    Content, Entry, Item, ResourceBody, Route, StopReason, ToolCallUpdate, ToolContent, TurnFailure,
};
use time::OffsetDateTime;

/// One side's turn.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    /// When it was finished.
    pub(super) at: OffsetDateTime,
    /// Whose it is, with what is particular to it.
    pub(super) side: Side<'a>,
}

/// Whose turn it is.
#[derive(Debug)]
pub(super) enum Side<'a> {
    /// The user's.
    User(String),
    /// The agent's.
    Agent(AgentTurn<'a>),
    /// A remark of milk's own.
    Remark(&'a str),
}

/// Everything an agent did about one message.
#[derive(Debug, Default)]
pub(super) struct AgentTurn<'a> {
    pub(super) steps: Vec<Step<'a>>,
    pub(super) thoughts: Vec<&'a str>,
    pub(super) route: Option<&'a Route>,
    /// How it ended, where it did not simply end.
    pub(super) trouble: Option<(StopReason, Option<&'a TurnFailure>)>,
}

/// One answer of the model: its words, then the calls it made.
#[derive(Debug)]
pub(super) struct Step<'a> {
    number: u32,
    pub(super) text: String,
    pub(super) calls: Vec<&'a ToolCallUpdate>,
}

impl AgentTurn<'_> {
    /// The agent's role as milk's files have it.
    pub(super) fn role(&self) -> &str {
        self.route.map_or("primary", |route| route.target.as_str())
    }

    /// The last words.
    pub(super) fn answer(&self) -> &str {
        self.steps.iter().rev().map(|step| step.text.as_str()).find(|text| !text.is_empty()).unwrap_or("")
    }
}

impl<'a> AgentTurn<'a> {
    fn step(&mut self, number: u32) -> &mut Step<'a> {
        let known = self.steps.iter().position(|step| step.number == number);
        let at = known.unwrap_or_else(|| {
            self.steps.push(Step { number, text: String::new(), calls: Vec::new() });
            self.steps.len() - 1
        });
        &mut self.steps[at]
    }
}

/// The turns of a history, oldest first.
pub(super) fn turns(entries: &[Entry]) -> Vec<Turn<'_>> {
    let mut turns: Vec<Turn<'_>> = Vec::new();
    for exchange in entries.chunk_by(|a, b| a.turn == b.turn) {
        let mut agent: Option<(OffsetDateTime, AgentTurn<'_>)> = None;
        for entry in exchange {
            match &entry.item {
                Item::User { content, .. } => {
                    turns.push(Turn { at: entry.at, side: Side::User(words(content)) });
                }
                Item::Remark { text, .. } => turns.push(Turn { at: entry.at, side: Side::Remark(text) }),
                Item::Agent { .. } | Item::Thought { .. } | Item::Tool { .. } | Item::TurnEnd { .. } => {
                    let (at, turn) = agent.get_or_insert_with(|| (entry.at, AgentTurn::default()));
                    *at = entry.at;
                    take(turn, &entry.item);
                }
            }
        }
        if let Some((at, agent)) = agent {
            turns.push(Turn { at, side: Side::Agent(agent) });
        }
    }
    turns
}

fn take<'a>(turn: &mut AgentTurn<'a>, item: &'a Item) {
    match item {
        Item::Agent { step, text, .. } => turn.step(*step).text.push_str(text),
        Item::Tool { step, call } => turn.step(*step).calls.push(call),
        Item::Thought { text, .. } => turn.thoughts.push(text),
        Item::TurnEnd { stop, error, route } => {
            turn.route = route.as_ref();
            if *stop != StopReason::EndTurn {
                turn.trouble = Some((*stop, error.as_ref()));
            }
        }
        Item::User { .. } | Item::Remark { .. } => {}
    }
}

/// A message as text; what is no text is named.
pub(super) fn words(content: &[Content]) -> String {
    let pieces: Vec<_> = content
        .iter()
        .map(|piece| match piece {
            Content::Text { text } => text.clone(),
            Content::Image { mime_type, .. } => format!("[image: {mime_type}]"),
            Content::Audio { mime_type, .. } => format!("[audio: {mime_type}]"),
            Content::Link(link) => format!("[{}]({})", link.name, link.uri),
            Content::Resource(resource) => match &resource.body {
                ResourceBody::Text(text) => format!("[{}]\n{text}", resource.uri),
                ResourceBody::Blob(_) => format!("[{}]", resource.uri),
            },
        })
        .collect();
    pieces.join("\n")
}

/// A call's arguments as JSON text.
pub(super) fn arguments(call: &ToolCallUpdate) -> String {
    match &call.raw_input {
        None => "{}".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    }
}

/// What a call gave back.
pub(super) fn result(call: &ToolCallUpdate) -> String {
    let said =
        |member: &str| call.raw_output.as_ref().and_then(|out| out.get(member)).and_then(Value::as_str);
    if let Some(text) = said("error").or_else(|| said("output")) {
        return text.to_owned();
    }
    match &call.raw_output {
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => call.content.iter().flatten().map(shown).collect::<Vec<_>>().join("\n"),
    }
}

fn shown(content: &ToolContent) -> String {
    match content {
        ToolContent::Content(content) => words(std::slice::from_ref(content)),
        ToolContent::Change(change) => change.path.display().to_string(),
    }
}
