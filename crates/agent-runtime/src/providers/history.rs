//! The conversation in the order that strict servers demand: user and model in turn, every call answered right
//! after it, arguments that are JSON objects, nothing empty. Knows no API's words.

use std::borrow::Cow;
use std::collections::VecDeque;

use serde_json::Value;

use super::arguments::{is_object, settle};
use super::content::{Media, Part, parts_of};
use crate::provider::{ModelCall, ModelMessage};

/// What a call is answered with in a history that lost its result.
const NO_RESULT: &str = "(no result: the call was interrupted)";

/// What stands in for a user's message where servers demand one.
const GO_ON: &str = "Continue.";

/// What a server can be told of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Abilities {
    /// Images; otherwise they are told in words.
    pub(super) images: bool,
    /// Sounds, likewise.
    pub(super) sounds: bool,
    /// Calls and their results; otherwise they are told in words.
    pub(super) tools: bool,
}

impl Abilities {
    fn media(self) -> Media {
        Media { images: self.images, sounds: self.sounds }
    }
}

/// One step of the conversation.
#[derive(Debug)]
pub(super) enum Said<'a> {
    /// The user's words; never blank.
    User(Vec<Part<'a>>),
    /// The model's; results of its calls follow, one each and in order.
    Model { text: Cow<'a, str>, calls: Vec<Call<'a>>, kept: &'a [Value], reasoning: &'a str },
    /// What came of a call.
    Result { id: String, output: &'a str },
}

/// One call.
#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) id: String,
    pub(super) name: &'a str,
    /// A JSON object.
    pub(super) arguments: Cow<'a, str>,
}

/// `messages` in order, with the user first and the model not last.
pub(super) fn in_order(messages: &[ModelMessage], can: Abilities) -> Vec<Said<'_>> {
    let mut history = History { said: Vec::new(), calls: 0, can };
    history.add_all(messages);
    history.said
}

/// The conversation as it is put in order.
#[derive(Debug)]
struct History<'a> {
    said: Vec<Said<'a>>,
    calls: usize,
    can: Abilities,
}

impl<'a> History<'a> {
    fn add_all(&mut self, messages: &'a [ModelMessage]) {
        let mut rest = messages.iter().peekable();
        while let Some(message) = rest.next() {
            match message {
                ModelMessage::User(content) => self.add_user(parts_of(content, self.can.media())),
                ModelMessage::Assistant { text, calls, kept, reasoning } => {
                    let mut results = VecDeque::new();
                    while let Some(ModelMessage::ToolResult { call_id, output, .. }) = rest.peek() {
                        results.push_back((call_id.as_str(), output.as_str()));
                        rest.next();
                    }
                    if !(text.trim().is_empty() && calls.is_empty()) {
                        self.add_model(text, calls, (kept, reasoning), results);
                    }
                }
                ModelMessage::ToolResult { call_id, name, .. } => {
                    tracing::debug!(call_id, name, "a tool result without its call is left out");
                }
            }
        }
        if matches!(self.said.last(), None | Some(Said::Model { .. })) {
            self.add_user(vec![Part::text(GO_ON)]);
        }
    }

    fn add_user(&mut self, parts: Vec<Part<'a>>) {
        if parts.iter().all(Part::is_blank) {
            return;
        }
        if let Some(Said::User(content)) = self.said.last_mut() {
            content.push(Part::text("\n\n"));
            content.extend(parts);
        } else {
            self.said.push(Said::User(parts));
        }
    }

    fn add_model(
        &mut self,
        text: &'a str,
        calls: &'a [ModelCall],
        beside: (&'a [Value], &'a str),
        results: VecDeque<(&'a str, &'a str)>,
    ) {
        if self.said.is_empty() {
            self.add_user(vec![Part::text(GO_ON)]);
        }
        if !self.can.tools {
            self.add_told(text, calls, results);
            return;
        }
        let first = self.calls + 1;
        self.calls += calls.len();
        let numbered = calls.iter().zip(first..).map(|(call, number)| numbered(call, number)).collect();
        self.add_said(Cow::Borrowed(text), numbered, beside);
        let answers = answers(calls, results).zip(first..);
        self.said.extend(answers.map(|(output, number)| Said::Result { id: id_of(number), output }));
    }

    /// Adds what the model said, to its last message where no result stands between.
    fn add_said(&mut self, added: Cow<'a, str>, new: Vec<Call<'a>>, beside: (&'a [Value], &'a str)) {
        let (new_kept, new_reasoning) = beside;
        if let Some(Said::Model { text, calls, kept, reasoning }) = self.said.last_mut()
            && calls.is_empty()
        {
            let joint = if text.is_empty() || added.is_empty() { "" } else { "\n\n" };
            *text = format!("{text}{joint}{added}").into();
            *calls = new;
            *kept = new_kept;
            *reasoning = new_reasoning;
        } else {
            let (kept, reasoning) = beside;
            self.said.push(Said::Model { text: added, calls: new, kept, reasoning });
        }
    }

    /// Tells calls and results in words, for a server that knows no tools.
    fn add_told(&mut self, text: &'a str, calls: &'a [ModelCall], results: VecDeque<(&'a str, &'a str)>) {
        let told = calls.iter().map(|call| format!("(called {} with {})", call.name, call.arguments));
        let said: Vec<String> =
            Some(text.to_owned()).into_iter().filter(|text| !text.is_empty()).chain(told).collect();
        self.add_said(said.join("\n").into(), Vec::new(), (&[], ""));
        for (call, output) in calls.iter().zip(answers(calls, results)) {
            self.add_user(vec![Part::text(format!("(result of {}) {output}", call.name))]);
        }
    }
}

/// The output for each call in order; a result of no call is left out.
fn answers<'a>(
    calls: &'a [ModelCall],
    mut results: VecDeque<(&'a str, &'a str)>,
) -> impl Iterator<Item = &'a str> {
    calls.iter().map(move |call| {
        let found = results.iter().position(|(id, _)| *id == call.id);
        found.and_then(|at| results.remove(at)).map_or(NO_RESULT, |(_, output)| output)
    })
}

/// Numbered along the conversation: unique whatever the history holds, the same in every request, and of the nine
/// alphanumeric characters that the strictest servers demand.
fn id_of(number: usize) -> String {
    format!("call{number:05}")
}

fn numbered(call: &ModelCall, number: usize) -> Call<'_> {
    let arguments = if is_object(&call.arguments) {
        Cow::Borrowed(call.arguments.as_str())
    } else {
        let settled = settle(&call.arguments);
        if is_object(&settled) { Cow::Owned(settled) } else { Cow::Borrowed("{}") }
    };
    Call { id: id_of(number), name: &call.name, arguments }
}
