//! The body of a chat request. Servers differ in what they refuse, so this sends what all of them take: one
//! system message first, then user and assistant in turn, every call answered right after it, arguments that are
//! JSON objects, content that is never null. Knows nothing of connections.

use std::iter;

use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::provider::{Effort, ModelRequest, ToolSchema};
use crate::providers::content::{Part, plain};
use crate::providers::extras::{Function, Options, part_of};
use crate::providers::history::{self, Abilities, Call, Said};
use crate::providers::learn::{IMAGES, SOUNDS, TOOLS};

/// The members that no configuration may replace.
pub(super) const OURS: &[&str] = &["model", "messages", "tools", "stream"];

/// The name of the optional part.
const STREAM_OPTIONS: &str = "stream_options";

/// The names of the limit of an answer.
const MAX_TOKENS: &str = "max_tokens";
pub(super) const MAX_COMPLETION_TOKENS: &str = "max_completion_tokens";

const EFFORT: &str = "reasoning_effort";

/// What only this API has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Own {
    pub(super) max_tokens: Option<u64>,
    /// The limit goes by its newer name.
    pub(super) counts_completion: bool,
    pub(super) effort: Option<Effort>,
    /// The server wants the model's reasoning back.
    pub(super) with_reasoning: bool,
    /// The model takes sounds.
    pub(super) hears: bool,
}

/// The member in which some servers give the model's reasoning, and want it back.
pub(super) const REASONING: &str = "reasoning_content";

/// What belongs to an answer and goes back with its calls as it came: signed reasoning (OpenRouter, `MiniMax`), and
/// signatures of the calls themselves (Gemini), without which these servers refuse the next request.
pub(super) const REASONING_DETAILS: &str = "reasoning_details";
pub(super) const EXTRA_CONTENT: &str = "extra_content";

/// A request as the server gets it.
#[derive(Debug)]
pub(super) struct Body<'a> {
    options: Options<'a>,
    system: &'a str,
    said: Vec<Said<'a>>,
    tools: &'a [ToolSchema],
    own: Own,
    /// The optional part that the effort is.
    effort: Option<String>,
}

impl<'a> Body<'a> {
    /// Puts a request into the server's words.
    pub(super) fn new(request: &'a ModelRequest, options: Options<'a>, own: Own) -> Self {
        let can = Abilities {
            images: !options.without.contains(IMAGES),
            sounds: own.hears && !options.without.contains(SOUNDS),
            tools: !options.without.contains(TOOLS),
        };
        let said = history::in_order(&request.messages, can);
        let tools = options.tools(&request.tools);
        let effort = own.effort.map(|effort| part_of(EFFORT, effort));
        let effort = effort.filter(|part| options.keeps(EFFORT) && options.keeps(part));
        Self { options, system: &request.system, said, tools, own, effort }
    }

    /// The optional parts that this request has, by name.
    pub(super) fn optional(&self) -> Vec<String> {
        let limit = self.limit().map(|(name, _)| name);
        let own: Vec<&str> =
            [Some(STREAM_OPTIONS), limit, self.effort.as_deref()].into_iter().flatten().collect();
        self.options.names(self.tools, &self.said, &own)
    }

    /// The limit of an answer, by the name that the server knows.
    fn limit(&self) -> Option<(&'static str, u64)> {
        let name = if self.own.counts_completion { MAX_COMPLETION_TOKENS } else { MAX_TOKENS };
        self.own.max_tokens.filter(|_| self.options.keeps(name)).map(|most| (name, most))
    }
}

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut body = serializer.serialize_map(None)?;
        if let Some(model) = &self.options.extras.model {
            body.serialize_entry("model", model)?;
        }
        let Self { system, said, own, .. } = self;
        body.serialize_entry("messages", &Messages { system, said, with_reasoning: own.with_reasoning })?;
        if !self.tools.is_empty() {
            let tools: Vec<_> = self.tools.iter().map(WireTool::new).collect();
            body.serialize_entry("tools", &tools)?;
        }
        body.serialize_entry("stream", &true)?;
        if self.options.keeps(STREAM_OPTIONS) {
            body.serialize_entry(STREAM_OPTIONS, &json!({"include_usage": true}))?;
        }
        if let Some((name, most)) = self.limit() {
            body.serialize_entry(name, &most)?;
        }
        if let Some(effort) = self.own.effort.filter(|_| self.effort.is_some()) {
            body.serialize_entry(EFFORT, effort.id())?;
        }
        self.options.write(&mut body, true)?;
        body.end()
    }
}

struct Messages<'a> {
    system: &'a str,
    said: &'a [Said<'a>],
    with_reasoning: bool,
}

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        if !self.system.is_empty() {
            list.serialize_element(&Wire::System { content: self.system })?;
        }
        for said in self.said {
            list.serialize_element(&Wire::new(said, self.with_reasoning))?;
        }
        list.end()
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
        content: &'a [Part<'a>],
    },
    Assistant {
        content: &'a str,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<WireCall<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning_content: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning_details: Option<&'a Value>,
    },
    Tool {
        tool_call_id: &'a str,
        content: &'a str,
    },
}

impl<'a> Wire<'a> {
    fn new(said: &'a Said<'a>, with_reasoning: bool) -> Self {
        match said {
            Said::User(content) => Self::User { content },
            Said::Model { text, calls, kept, reasoning } => {
                let given = |member| kept.iter().find_map(|kept| kept.get(member));
                let extras = given(EXTRA_CONTENT).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
                let extras = extras.iter().map(Some).chain(iter::repeat(None));
                let tool_calls = calls.iter().zip(extras).map(|(call, extra)| WireCall::new(call, extra));
                // Where nothing is known, a blank: some servers take an empty text for none.
                let reasoning = if reasoning.is_empty() { " " } else { reasoning };
                Self::Assistant {
                    content: text,
                    tool_calls: tool_calls.collect(),
                    reasoning_content: with_reasoning.then_some(reasoning),
                    reasoning_details: given(REASONING_DETAILS),
                }
            }
            Said::Result { id, output } => Self::Tool { tool_call_id: id, content: output },
        }
    }
}

/// A plain string where there is only text, for servers that know no parts.
fn user_content<S: Serializer>(parts: &&[Part<'_>], serializer: S) -> Result<S::Ok, S::Error> {
    match plain(parts) {
        Some(text) => serializer.serialize_str(&text),
        None => serializer.collect_seq(parts.iter().map(part)),
    }
}

fn part(part: &Part<'_>) -> Value {
    match part {
        Part::Text(text) => json!({"type": "text", "text": text}),
        Part::Image { mime_type, data } => {
            json!({"type": "image_url", "image_url": {"url": format!("data:{mime_type};base64,{data}")}})
        }
        Part::Sound { format, data } => {
            json!({"type": "input_audio", "input_audio": {"data": data, "format": format.id()}})
        }
    }
}

#[derive(Debug, Serialize)]
struct WireCall<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    function: WireFunction<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra_content: Option<&'a Value>,
}

#[derive(Debug, Serialize)]
struct WireFunction<'a> {
    name: &'a str,
    arguments: &'a str,
}

impl<'a> WireCall<'a> {
    fn new(call: &'a Call<'a>, extra: Option<&'a Value>) -> Self {
        let function = WireFunction { name: call.name, arguments: &call.arguments };
        let extra_content = extra.filter(|extra| !extra.is_null());
        Self { id: &call.id, kind: "function", function, extra_content }
    }
}

#[derive(Debug, Serialize)]
struct WireTool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    function: Function<'a>,
}

impl<'a> WireTool<'a> {
    fn new(tool: &'a ToolSchema) -> Self {
        Self { kind: "function", function: Function::new(tool) }
    }
}
