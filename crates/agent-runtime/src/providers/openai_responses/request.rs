//! The body of a request to the Responses API: the system prompt as instructions, the conversation as items.
//! Knows nothing of connections.

use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::provider::{Effort, ModelRequest, ToolSchema};
use crate::providers::content::{Part, UNHEARD, plain};
use crate::providers::extras::{Function, Options, part_of};
use crate::providers::history::{self, Abilities, Said};
use crate::providers::learn::{IMAGES, INCLUDE, TOOLS};

/// The members that no configuration may replace.
pub(super) const OURS: &[&str] = &["model", "instructions", "input", "tools", "stream"];

/// The names of the optional parts.
const STORE: &str = "store";
const REASONING: &str = "reasoning";
const MAX_TOKENS: &str = "max_output_tokens";

/// What only this API has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Own {
    pub(super) max_tokens: Option<u64>,
    pub(super) effort: Option<Effort>,
}

/// A request as the server gets it.
#[derive(Debug)]
pub(super) struct Body<'a> {
    options: Options<'a>,
    own: Own,
    /// The optional part that the effort is.
    effort: Option<String>,
    system: &'a str,
    said: Vec<Said<'a>>,
    tools: &'a [ToolSchema],
}

impl<'a> Body<'a> {
    /// Puts a request into the server's words.
    pub(super) fn new(request: &'a ModelRequest, options: Options<'a>, own: Own) -> Self {
        let can = Abilities {
            images: !options.without.contains(IMAGES),
            sounds: false,
            tools: !options.without.contains(TOOLS),
        };
        let said = history::in_order(&request.messages, can);
        let effort = own.effort.map(|effort| part_of(REASONING, effort));
        let effort = effort.filter(|part| options.keeps(REASONING) && options.keeps(part));
        Self { options, own, effort, system: &request.system, said, tools: options.tools(&request.tools) }
    }

    /// The optional parts that this request has, by name.
    pub(super) fn optional(&self) -> Vec<String> {
        let limit = self.own.max_tokens.map(|_| MAX_TOKENS);
        let own = [Some(STORE), Some(INCLUDE), limit, self.effort.as_deref()];
        let own: Vec<&str> = own.into_iter().flatten().collect();
        self.options.names(self.tools, &self.said, &own)
    }
}

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let keeps = |name| self.options.keeps(name);
        let mut body = serializer.serialize_map(None)?;
        if let Some(model) = &self.options.extras.model {
            body.serialize_entry("model", model)?;
        }
        if !self.system.is_empty() {
            body.serialize_entry("instructions", self.system)?;
        }
        body.serialize_entry("input", &Items { said: &self.said, with_kept: keeps(INCLUDE) })?;
        if !self.tools.is_empty() {
            let tools: Vec<_> = self.tools.iter().map(WireTool::new).collect();
            body.serialize_entry("tools", &tools)?;
        }
        body.serialize_entry("stream", &true)?;
        if keeps(STORE) {
            body.serialize_entry(STORE, &false)?;
        }
        if keeps(INCLUDE) {
            body.serialize_entry(INCLUDE, &["reasoning.encrypted_content"])?;
        }
        if let Some(effort) = self.own.effort.filter(|_| self.effort.is_some()) {
            let mut reasoning = json!({"effort": effort.id()});
            if effort != Effort::None {
                reasoning["summary"] = json!("auto");
            }
            body.serialize_entry(REASONING, &reasoning)?;
        }
        if let Some(most) = self.own.max_tokens.filter(|_| keeps(MAX_TOKENS)) {
            body.serialize_entry(MAX_TOKENS, &most)?;
        }
        self.options.write(&mut body, true)?;
        body.end()
    }
}

/// The conversation.
struct Items<'a> {
    said: &'a [Said<'a>],
    /// Whether encrypted reasoning goes back.
    with_kept: bool,
}

impl Serialize for Items<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut items = serializer.serialize_seq(None)?;
        for said in self.said {
            match said {
                Said::User(parts) => items.serialize_element(&Item::User { role: "user", content: parts })?,
                Said::Model { text, calls, kept, reasoning: _ } => {
                    for item in kept.iter().filter(|_| self.with_kept) {
                        items.serialize_element(item)?;
                    }
                    if !text.trim().is_empty() {
                        items.serialize_element(&Item::Model { role: "assistant", content: text })?;
                    }
                    for call in calls {
                        let (call_id, name, arguments) = (call.id.as_str(), call.name, &*call.arguments);
                        let kind = "function_call";
                        items.serialize_element(&Item::Call { kind, call_id, name, arguments })?;
                    }
                }
                Said::Result { id, output } => {
                    let kind = "function_call_output";
                    items.serialize_element(&Item::Result { kind, call_id: id, output })?;
                }
            }
        }
        items.end()
    }
}

/// One item of the conversation.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Item<'a> {
    User {
        role: &'static str,
        #[serde(serialize_with = "user_content")]
        content: &'a [Part<'a>],
    },
    Model {
        role: &'static str,
        content: &'a str,
    },
    Call {
        #[serde(rename = "type")]
        kind: &'static str,
        call_id: &'a str,
        name: &'a str,
        arguments: &'a str,
    },
    Result {
        #[serde(rename = "type")]
        kind: &'static str,
        call_id: &'a str,
        output: &'a str,
    },
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
        Part::Text(text) => json!({"type": "input_text", "text": text}),
        Part::Sound { .. } => json!({"type": "input_text", "text": UNHEARD}),
        Part::Image { mime_type, data } => {
            json!({"type": "input_image", "image_url": format!("data:{mime_type};base64,{data}")})
        }
    }
}

#[derive(Debug, Serialize)]
struct WireTool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(flatten)]
    function: Function<'a>,
    /// The API's default rewrites schemas that do not fit its strict form.
    strict: bool,
}

impl<'a> WireTool<'a> {
    fn new(tool: &'a ToolSchema) -> Self {
        Self { kind: "function", function: Function::new(tool), strict: false }
    }
}
