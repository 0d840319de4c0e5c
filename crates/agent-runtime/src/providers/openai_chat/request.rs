//! The body of a chat request. Servers differ in what they refuse, so this sends what all of them take: one
//! system message first, then user and assistant in turn, every call answered right after it, arguments that are
//! JSON objects, content that is never null. Knows nothing of connections.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::collections::VecDeque;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::calls;
use super::content::{Part, parts_of, plain};
use crate::provider::{ModelCall, ModelMessage, ModelRequest, ToolSchema};

/// What a call is answered with in a history that lost its result.
const NO_RESULT: &str = "(no result: the call was interrupted)";

/// What stands in for a user's message where servers demand one.
const GO_ON: &str = "Continue.";

/// What an agent adds to every request.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Extras {
    pub(super) model: Option<String>,
    pub(super) temperature: Option<f64>,
    /// Further members of the body.
    pub(super) members: Map<String, Value>,
}

/// The members that no configuration may replace.
const OURS: &[&str] = &["model", "messages", "tools", "stream"];

/// Names of the optional parts of a request, as [`Body::new`]'s `without` takes them.
pub(super) const TOOLS: &str = "tools";
pub(super) const IMAGES: &str = "images";
pub(super) const STREAM_OPTIONS: &str = "stream_options";
pub(super) const TEMPERATURE: &str = "temperature";

/// A request as the server gets it.
#[derive(Debug)]
pub(super) struct Body<'a> {
    extras: &'a Extras,
    messages: Vec<Wire<'a>>,
    tools: &'a [ToolSchema],
    without: &'a BTreeSet<String>,
}

impl<'a> Body<'a> {
    /// Puts a request into the server's words, `without` the optional parts it is known to refuse.
    pub(super) fn new(request: &'a ModelRequest, extras: &'a Extras, without: &'a BTreeSet<String>) -> Self {
        let tools = if without.contains(TOOLS) { &[] } else { request.tools.as_slice() };
        let mut history = History {
            messages: Vec::new(),
            calls: 0,
            with_images: !without.contains(IMAGES),
            with_tools: !without.contains(TOOLS),
        };
        if !request.system.is_empty() {
            history.messages.push(Wire::System { content: &request.system });
        }
        history.add_all(&request.messages);
        Self { extras, messages: history.messages, tools, without }
    }

    /// The optional parts that this request has, by name.
    pub(super) fn optional(&self) -> Vec<&str> {
        let mut names = Vec::new();
        if !self.tools.is_empty() {
            names.push(TOOLS);
        }
        if self.messages.iter().any(Wire::has_image) {
            names.push(IMAGES);
        }
        let chosen = [(STREAM_OPTIONS, true), (TEMPERATURE, self.extras.temperature.is_some())];
        names.extend(
            chosen.into_iter().filter(|(name, is_set)| *is_set && self.keeps(name)).map(|(name, _)| name),
        );
        names.extend(self.members().map(|(name, _)| name.as_str()));
        names
    }

    fn keeps(&self, name: &str) -> bool {
        !self.without.contains(name) && !self.extras.members.contains_key(name)
    }

    fn members(&self) -> impl Iterator<Item = (&String, &Value)> {
        let members = self.extras.members.iter();
        members.filter(|(name, _)| !OURS.contains(&name.as_str()) && !self.without.contains(*name))
    }
}

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut body = serializer.serialize_map(None)?;
        if let Some(model) = &self.extras.model {
            body.serialize_entry("model", model)?;
        }
        body.serialize_entry("messages", &self.messages)?;
        if !self.tools.is_empty() {
            let tools: Vec<_> = self.tools.iter().map(WireTool::new).collect();
            body.serialize_entry("tools", &tools)?;
        }
        body.serialize_entry("stream", &true)?;
        if self.keeps(STREAM_OPTIONS) {
            body.serialize_entry(STREAM_OPTIONS, &json!({"include_usage": true}))?;
        }
        if let Some(temperature) = self.extras.temperature.filter(|_| self.keeps(TEMPERATURE)) {
            body.serialize_entry(TEMPERATURE, &temperature)?;
        }
        for (name, value) in self.members() {
            body.serialize_entry(name, value)?;
        }
        body.end()
    }
}

/// One message on the wire.
#[derive(Debug, Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
enum Wire<'a> {
    System {
        content: &'a str,
    },
    User {
        #[serde(serialize_with = "user_content")]
        content: Vec<Part<'a>>,
    },
    Assistant {
        content: Cow<'a, str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<WireCall<'a>>,
    },
    Tool {
        tool_call_id: String,
        content: Cow<'a, str>,
    },
}

impl Wire<'_> {
    fn has_image(&self) -> bool {
        match self {
            Self::User { content } => content.iter().any(Part::is_image),
            Self::System { .. } | Self::Assistant { .. } | Self::Tool { .. } => false,
        }
    }
}

/// A plain string where there is only text, for servers that know no parts.
fn user_content<S: Serializer>(parts: &[Part<'_>], serializer: S) -> Result<S::Ok, S::Error> {
    match plain(parts) {
        Some(text) => serializer.serialize_str(&text),
        None => parts.serialize(serializer),
    }
}

#[derive(Debug, Serialize)]
struct WireCall<'a> {
    id: String,
    #[serde(rename = "type")]
    kind: &'static str,
    function: WireFunction<'a>,
}

#[derive(Debug, Serialize)]
struct WireFunction<'a> {
    name: &'a str,
    arguments: Cow<'a, str>,
}

#[derive(Debug, Serialize)]
struct WireTool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    function: WireSchema<'a>,
}

#[derive(Debug, Serialize)]
struct WireSchema<'a> {
    name: &'a str,
    description: &'a str,
    parameters: Value,
}

impl<'a> WireTool<'a> {
    fn new(tool: &'a ToolSchema) -> Self {
        // Some servers' templates fail without these two members.
        let mut parameters = tool.parameters.clone();
        if !parameters.is_object() {
            parameters = json!({});
        }
        if let Some(members) = parameters.as_object_mut() {
            members.entry("type").or_insert_with(|| "object".into());
            members.entry("properties").or_insert_with(|| json!({}));
        }
        let function = WireSchema { name: &tool.name, description: &tool.description, parameters };
        Self { kind: "function", function }
    }
}

/// The conversation as it is put in order.
#[derive(Debug)]
struct History<'a> {
    messages: Vec<Wire<'a>>,
    calls: usize,
    with_images: bool,
    with_tools: bool,
}

impl<'a> History<'a> {
    fn add_all(&mut self, messages: &'a [ModelMessage]) {
        let mut rest = messages.iter().peekable();
        while let Some(message) = rest.next() {
            match message {
                ModelMessage::User(content) => self.add_user(parts_of(content, self.with_images)),
                ModelMessage::Assistant { text, calls } => {
                    let mut results = VecDeque::new();
                    while let Some(ModelMessage::ToolResult { call_id, output, .. }) = rest.peek() {
                        results.push_back((call_id.as_str(), output.as_str()));
                        rest.next();
                    }
                    self.add_assistant(text, calls, results);
                }
                ModelMessage::ToolResult { call_id, name, .. } => {
                    tracing::debug!(call_id, name, "a tool result without its call is left out");
                }
            }
        }
        if matches!(self.messages.last(), None | Some(Wire::System { .. } | Wire::Assistant { .. })) {
            self.add_user(vec![Part::text(GO_ON)]);
        }
    }

    fn add_user(&mut self, parts: Vec<Part<'a>>) {
        if parts.iter().all(Part::is_blank) {
            return;
        }
        if let Some(Wire::User { content }) = self.messages.last_mut() {
            content.push(Part::text("\n\n"));
            content.extend(parts);
        } else {
            self.messages.push(Wire::User { content: parts });
        }
    }

    fn add_assistant(
        &mut self,
        text: &'a str,
        calls: &'a [ModelCall],
        results: VecDeque<(&'a str, &'a str)>,
    ) {
        if text.is_empty() && calls.is_empty() {
            return;
        }
        if matches!(self.messages.last(), None | Some(Wire::System { .. })) {
            self.add_user(vec![Part::text(GO_ON)]);
        }
        if !self.with_tools {
            self.add_told(text, calls, results);
            return;
        }
        let first = self.calls + 1;
        self.calls += calls.len();
        let wired = calls.iter().zip(first..).map(|(call, number)| wire_call(call, number)).collect();
        self.add_said(Cow::Borrowed(text), wired);
        let answers = answers(calls, results).zip(first..);
        self.messages.extend(answers.map(|(output, number)| Wire::Tool {
            tool_call_id: wire_id(number),
            content: Cow::Borrowed(output),
        }));
    }

    /// Adds what the assistant said, to its last message where no result stands between.
    fn add_said(&mut self, text: Cow<'a, str>, calls: Vec<WireCall<'a>>) {
        if let Some(Wire::Assistant { content, tool_calls }) = self.messages.last_mut()
            && tool_calls.is_empty()
        {
            let joint = if content.is_empty() || text.is_empty() { "" } else { "\n\n" };
            *content = format!("{content}{joint}{text}").into();
            *tool_calls = calls;
        } else {
            self.messages.push(Wire::Assistant { content: text, tool_calls: calls });
        }
    }

    /// Tells calls and results in words, for a server that knows no tools.
    fn add_told(&mut self, text: &'a str, calls: &'a [ModelCall], results: VecDeque<(&'a str, &'a str)>) {
        let told = calls.iter().map(|call| format!("(called {} with {})", call.name, call.arguments));
        let said: Vec<String> =
            Some(text.to_owned()).into_iter().filter(|text| !text.is_empty()).chain(told).collect();
        self.add_said(said.join("\n").into(), Vec::new());
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
fn wire_id(number: usize) -> String {
    format!("call{number:05}")
}

fn wire_call(call: &ModelCall, number: usize) -> WireCall<'_> {
    let arguments = if calls::is_object(&call.arguments) {
        Cow::Borrowed(call.arguments.as_str())
    } else {
        let settled = calls::settle(&call.arguments);
        if calls::is_object(&settled) { Cow::Owned(settled) } else { Cow::Borrowed("{}") }
    };
    let function = WireFunction { name: &call.name, arguments };
    WireCall { id: wire_id(number), kind: "function", function }
}
