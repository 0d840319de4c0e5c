//! Entries grouped into finished turns, whatever state a cancel, a failure or a crash left them in.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};
use session_model::{
    Content, Entry, Item, Location, MessageId, StopReason, ToolCallUpdate, ToolKind, ToolStatus, TurnId,
};

use super::{arguments, user_content, wire_name};
use crate::provider::ModelCall;

/// One turn, ready to be worded.
#[derive(Debug)]
pub(super) struct PastTurn {
    pub(super) id: TurnId,
    pub(super) user: Vec<Content>,
    pub(super) steps: Vec<PastStep>,
    /// What has to be said about how it ended.
    pub(super) note: Option<&'static str>,
}

/// One answer of the model: what it said, then what it called.
#[derive(Debug, Default)]
pub(super) struct PastStep {
    pub(super) reasoning: String,
    pub(super) text: String,
    pub(super) calls: Vec<PastCall>,
}

#[derive(Debug)]
pub(super) struct PastCall {
    pub(super) call: ModelCall,
    pub(super) output: String,
    pub(super) kind: ToolKind,
    pub(super) locations: Vec<Location>,
}

impl PastTurn {
    pub(super) fn calls(&self) -> impl Iterator<Item = &PastCall> {
        self.steps.iter().flat_map(|step| &step.calls)
    }
}

/// The turns of `history` that a model is told of, oldest first.
pub(super) fn turns<'a>(history: impl IntoIterator<Item = &'a Entry>) -> Vec<PastTurn> {
    let mut drafts: Vec<Draft<'_>> = Vec::new();
    let mut places: HashMap<&TurnId, usize> = HashMap::new();
    for entry in history {
        let at = *places.entry(&entry.turn).or_insert_with(|| {
            drafts.push(Draft { id: &entry.turn, items: Vec::new() });
            drafts.len() - 1
        });
        drafts[at].items.push(&entry.item);
    }
    let mut ids = HashSet::new();
    drafts.iter().filter_map(|draft| draft.finish(&mut ids)).collect()
}

/// The items of one turn.
struct Draft<'a> {
    id: &'a TurnId,
    items: Vec<&'a Item>,
}

impl Draft<'_> {
    fn finish(&self, ids: &mut HashSet<String>) -> Option<PastTurn> {
        let mut user: Option<Vec<Content>> = None;
        let mut steps = Steps::default();
        let (mut remarked, mut end) = (false, None);
        for &item in &self.items {
            match item {
                Item::User { content, .. } => user.get_or_insert_default().extend(content.iter().cloned()),
                Item::Agent { id, text, .. } => steps.say(id, text),
                Item::Tool { step, call } => steps.call(*step, past_call(call, ids)),
                Item::Thought { text, .. } => steps.thoughts.push_str(text),
                Item::Compaction { .. } => {}
                Item::Remark { .. } => remarked = true,
                Item::TurnEnd { stop, .. } => end = Some(*stop),
            }
        }
        let steps = steps.list;
        if steps.is_empty() && (user.is_none() || (remarked && is_command(user.as_deref()))) {
            return None;
        }
        let user = user.map_or_else(
            || vec![Content::text("[the message that began this turn is missing]")],
            |content| user_content(&content),
        );
        let answered = steps.last().is_some_and(|step| step.calls.is_empty());
        Some(PastTurn { id: self.id.clone(), user, steps, note: note(end, answered) })
    }
}

/// A slash command that milk answered by a remark was no business of the model's.
fn is_command(user: Option<&[Content]>) -> bool {
    user.and_then(<[Content]>::first).and_then(Content::as_text).is_some_and(|text| text.starts_with('/'))
}

#[derive(Default)]
struct Steps {
    list: Vec<PastStep>,
    /// The step whose calls are being collected.
    calling: Option<u32>,
    /// The message that spoke last.
    speaking: Option<MessageId>,
    /// Reasoning before what is said or called next.
    thoughts: String,
}

impl Steps {
    /// Items of one id continue each other; different messages are set apart.
    fn say(&mut self, id: &MessageId, text: &str) {
        let continues = self.speaking.as_ref() == Some(id);
        if text.trim().is_empty() && !continues {
            return;
        }
        self.speaking = Some(id.clone());
        match self.list.last_mut() {
            Some(last) if last.calls.is_empty() => {
                if !continues {
                    last.text.push_str("\n\n");
                }
                last.text.push_str(text);
            }
            Some(_) | None => self.list.push(PastStep { text: text.to_owned(), ..PastStep::default() }),
        }
        self.reasoned();
        self.calling = None;
    }

    fn call(&mut self, step: u32, call: PastCall) {
        let joins = match self.list.last() {
            // The text before the first call of an answer belongs to that answer.
            Some(last) => last.calls.is_empty() || self.calling == Some(step),
            None => false,
        };
        if !joins {
            self.list.push(PastStep::default());
        }
        self.calling = Some(step);
        self.speaking = None;
        self.reasoned();
        if let Some(last) = self.list.last_mut() {
            last.calls.push(call);
        }
    }
}

impl Steps {
    /// The newest step is what the reasoning led to.
    fn reasoned(&mut self) {
        if let Some(last) = self.list.last_mut() {
            last.reasoning.push_str(&std::mem::take(&mut self.thoughts));
        }
    }
}

fn past_call(call: &ToolCallUpdate, ids: &mut HashSet<String>) -> PastCall {
    let mut id = call.id.to_string();
    while !ids.insert(id.clone()) {
        id.push('+');
    }
    let arguments = match &call.raw_input {
        Some(Value::Object(members)) => Value::Object(members.clone()).to_string(),
        Some(Value::String(raw)) => {
            arguments(raw).map_or_else(|_| "{}".to_owned(), |args| json!(args).to_string())
        }
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_)) | None => "{}".to_owned(),
    };
    let name = wire_name(call.name.as_deref().unwrap_or_default());
    PastCall {
        call: ModelCall { id, name, arguments },
        output: output(call),
        kind: call.kind.unwrap_or(ToolKind::Other),
        locations: call.locations.clone().unwrap_or_default(),
    }
}

/// Every call is answered, also one that never came to an end.
fn output(call: &ToolCallUpdate) -> String {
    if let Some(output) = &call.raw_output {
        return output.to_string();
    }
    let error = match call.status {
        Some(ToolStatus::Completed) => return json!({ "output": "" }).to_string(),
        Some(ToolStatus::Failed) => "the call failed",
        Some(ToolStatus::Cancelled) => {
            "cancelled by the user before it was done; it may have had effects already"
        }
        Some(ToolStatus::Pending | ToolStatus::InProgress) | None => {
            "cut off before it was done; it may have had effects already"
        }
    };
    json!({ "error": error }).to_string()
}

/// What the model is told about the end of a turn that did not end by itself.
fn note(end: Option<StopReason>, answered: bool) -> Option<&'static str> {
    match end {
        Some(StopReason::Cancelled) => Some("[the user cancelled this turn here]"),
        Some(StopReason::Error) => Some("[this turn failed here]"),
        None => Some("[this turn was cut off here]"),
        Some(StopReason::Refusal) if !answered => Some("[refused]"),
        Some(
            StopReason::EndTurn | StopReason::MaxTokens | StopReason::MaxTurnRequests | StopReason::Refusal,
        ) => (!answered).then_some("[this turn ended without an answer]"),
    }
}
