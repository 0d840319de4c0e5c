//! A history in the Go milk's terms: who said what, with which tool calls.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use session_model::{Content, Entry, Item, StopReason, Summary, ToolCallUpdate, ToolContent, text_of};
use time::OffsetDateTime;

/// One turn of the Go milk: a message, or a tool's result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct GoTurn {
    pub(super) role: String,
    #[serde(default)]
    pub(super) agent: String,
    #[serde(default)]
    pub(super) agent_name: String,
    #[serde(default)]
    pub(super) content: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) thinking: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) tool_calls: Vec<GoCall>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tool_call_id: Option<String>,
    #[serde(default, with = "time::serde::rfc3339::option")]
    pub(super) timestamp: Option<OffsetDateTime>,
    /// What some versions keep of the turn's tool calls instead of turns of their own.
    #[serde(default, alias = "tool_trail", alias = "trail", skip_serializing)]
    pub(super) steps: Vec<GoStep>,
}

/// One call; its arguments are a JSON text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct GoCall {
    #[serde(default)]
    pub(super) id: String,
    pub(super) name: String,
    #[serde(default)]
    pub(super) arguments: String,
}

/// One model answer within a turn.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct GoStep {
    #[serde(default)]
    pub(super) text: String,
    #[serde(default)]
    pub(super) calls: Vec<GoTrailCall>,
}

/// One call within a step, with its result.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct GoTrailCall {
    pub(super) name: String,
    #[serde(default)]
    pub(super) args: String,
    #[serde(default)]
    pub(super) result: String,
}

pub(super) const USER: &str = "user";
pub(super) const ASSISTANT: &str = "assistant";
pub(super) const TOOL_RESULT: &str = "tool_result";
/// Remarks and failures; no role of the Go milk's.
pub(super) const MILK: &str = "milk";

/// The history as turns, [`MILK`]'s included.
pub(super) fn turns(entries: &[Entry]) -> Vec<GoTurn> {
    entries.chunk_by(|a, b| a.turn == b.turn).flat_map(of_turn).collect()
}

fn of_turn(entries: &[Entry]) -> Vec<GoTurn> {
    let route = entries.iter().rev().find_map(|entry| match &entry.item {
        Item::TurnEnd { route, .. } => route.as_ref(),
        Item::User { .. }
        | Item::Agent { .. }
        | Item::Thought { .. }
        | Item::Tool { .. }
        | Item::Remark { .. }
        | Item::Compaction { .. } => None,
    });
    let agent = route.map_or("primary", |route| route.target.as_str());
    let name = route.map_or("", |route| route.agent.as_str());
    let mut writer = Writer { agent, name, turns: Vec::new(), answer: None, results: Vec::new() };
    for entry in entries {
        writer.entry(entry);
    }
    writer.close();
    writer.turns
}

struct Writer<'a> {
    agent: &'a str,
    name: &'a str,
    turns: Vec<GoTurn>,
    /// The model answer being gathered, with its step.
    answer: Option<(u32, GoTurn)>,
    /// The results of its calls.
    results: Vec<GoTurn>,
}

impl Writer<'_> {
    fn entry(&mut self, entry: &Entry) {
        match &entry.item {
            Item::User { content, .. } => self.alone(USER, text_of(content), entry.at),
            Item::Remark { text, .. } => self.alone(MILK, text.clone(), entry.at),
            Item::Compaction { summary, .. } => self.alone(MILK, summarised(summary), entry.at),
            Item::TurnEnd { stop, error, .. } => {
                let told = error.as_ref().map(|error| format!("Error: {}", error.message));
                if let Some(told) = told.or_else(|| ending(*stop).map(str::to_owned)) {
                    self.alone(MILK, told, entry.at);
                }
            }
            Item::Agent { step, text, .. } => self.words(*step, entry.at).content.push_str(text),
            Item::Thought { step, text, .. } => self.words(*step, entry.at).thinking.push_str(text),
            Item::Tool { step, call } => {
                let result = GoTurn {
                    tool_call_id: Some(call.id.to_string()),
                    ..self.turn(TOOL_RESULT, result_of(call), entry.at)
                };
                self.answer(*step, entry.at).tool_calls.push(GoCall {
                    id: call.id.to_string(),
                    name: call.name.clone().unwrap_or_default(),
                    arguments: arguments(call.raw_input.as_ref()),
                });
                self.results.push(result);
            }
        }
    }

    /// The answer that text of `step` belongs to; text after calls begins another one.
    fn words(&mut self, step: u32, at: OffsetDateTime) -> &mut GoTurn {
        if !self.results.is_empty() {
            self.close();
        }
        self.answer(step, at)
    }

    fn answer(&mut self, step: u32, at: OffsetDateTime) -> &mut GoTurn {
        if self.answer.as_ref().is_some_and(|(open, _)| *open != step) {
            self.close();
        }
        let turn = self.turn(ASSISTANT, String::new(), at);
        &mut self.answer.get_or_insert((step, turn)).1
    }

    fn alone(&mut self, role: &str, content: String, at: OffsetDateTime) {
        self.close();
        let turn = self.turn(role, content, at);
        self.turns.push(turn);
    }

    fn close(&mut self) {
        self.turns.extend(self.answer.take().map(|(_, turn)| turn));
        self.turns.append(&mut self.results);
    }

    fn turn(&self, role: &str, content: String, at: OffsetDateTime) -> GoTurn {
        GoTurn {
            role: role.to_owned(),
            agent: self.agent.to_owned(),
            agent_name: self.name.to_owned(),
            content,
            thinking: String::new(),
            tool_calls: Vec::new(),
            tool_call_id: None,
            timestamp: Some(at),
            steps: Vec::new(),
        }
    }
}

fn summarised(summary: &Summary) -> String {
    format!("Summary of the {} oldest turns:\n{}", summary.turns, summary.text.trim())
}

/// How a turn ended, where it did not simply end.
fn ending(stop: StopReason) -> Option<&'static str> {
    match stop {
        StopReason::EndTurn => None,
        StopReason::Cancelled => Some("[cancelled]"),
        StopReason::MaxTokens => Some("[cut off by the model's output limit]"),
        StopReason::MaxTurnRequests => Some("[ended by the limit of tool rounds]"),
        StopReason::Refusal => Some("[refused]"),
        StopReason::Error => Some("[failed]"),
    }
}

fn arguments(input: Option<&Value>) -> String {
    match input {
        None => "{}".to_owned(),
        // Arguments that did not parse are kept as they came.
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    }
}

/// What the model was told, else what was shown.
fn result_of(call: &ToolCallUpdate) -> String {
    let part =
        |name: &str| call.raw_output.as_ref().and_then(|output| output.get(name)).and_then(Value::as_str);
    if let Some(text) = part("output").filter(|text| !text.is_empty()).or_else(|| part("error")) {
        return text.to_owned();
    }
    let shown = call.content.iter().flatten().filter_map(|piece| match piece {
        ToolContent::Content(content) => Content::as_text(content),
        ToolContent::Change(_) | ToolContent::Terminal(_) => None,
    });
    shown.collect()
}
