//! The body of a request to the Messages API. Results of calls stand at the beginning of the user's message that
//! follows them; no text is blank; beginnings worth keeping are marked. Knows nothing of connections.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::provider::{ModelRequest, ToolSchema};
use crate::providers::content::Part;
use crate::providers::extras::{Options, TEMPERATURE, TOP_P, parameters};
use crate::providers::history::{self, Abilities, Said};
use crate::providers::learn::IMAGES;

/// The members that no configuration may replace.
pub(super) const OURS: &[&str] = &["model", "system", "messages", "tools", "stream"];

/// The names of the optional parts.
const CACHE_CONTROL: &str = "cache_control";
const THINKING: &str = "thinking";

/// Tokens left for the answer itself where a configured thinking budget would take them all.
const LEAST_ANSWER: u64 = 1_024;

/// The least that the API takes for a thinking budget.
const LEAST_THINKING: u64 = 1_024;

/// How many of the newest user's messages are marked as beginnings worth keeping: what is new in this request,
/// and what was new in the last one, which the server has.
const MARKED_MESSAGES: usize = 2;

/// What only this API has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Own {
    pub(super) max_tokens: u64,
    /// The most that the model allows.
    pub(super) allowed: u64,
    pub(super) thinking_budget: Option<u64>,
    pub(super) prompt_caching: bool,
}

/// A request as the server gets it.
#[derive(Debug)]
pub(super) struct Body<'a> {
    options: Options<'a>,
    own: Own,
    system: &'a str,
    said: Vec<Said<'a>>,
    tools: &'a [ToolSchema],
}

impl<'a> Body<'a> {
    /// Puts a request into the server's words.
    pub(super) fn new(request: &'a ModelRequest, options: Options<'a>, own: Own) -> Self {
        let tools = options.tools(&request.tools);
        // Calls may only be told to a server that is told of tools.
        let can = Abilities { images: !options.without.contains(IMAGES), tools: !tools.is_empty() };
        let said = history::in_order(&request.messages, can);
        Self { options, own, system: &request.system, said, tools }
    }

    /// The optional parts that this request has, by name.
    pub(super) fn optional(&self) -> Vec<String> {
        let mut names = self.options.names(self.tools, &self.said, &[]);
        if self.thinks() {
            names.retain(|name| name != TEMPERATURE && name != TOP_P);
        }
        let own = [(CACHE_CONTROL, self.marks()), (THINKING, self.thinking().is_some())];
        names.extend(own.into_iter().filter(|(_, is_sent)| *is_sent).map(|(name, _)| name.to_owned()));
        names
    }

    fn marks(&self) -> bool {
        self.own.prompt_caching && !self.options.without.contains(CACHE_CONTROL)
    }

    fn thinking(&self) -> Option<u64> {
        let room = self.own.allowed.saturating_sub(LEAST_ANSWER);
        let budget = self.own.thinking_budget.filter(|_| self.options.keeps(THINKING))?;
        (room >= LEAST_THINKING).then(|| budget.max(LEAST_THINKING).min(room))
    }

    fn most(&self) -> u64 {
        let most = self.own.max_tokens;
        let most = self.thinking().map_or(most, |budget| most.max(budget.saturating_add(LEAST_ANSWER)));
        most.min(self.own.allowed)
    }

    /// Whether the model thinks, by our word or by a configured member.
    fn thinks(&self) -> bool {
        let configured = self.options.members().find(|(name, _)| *name == THINKING);
        let configured = configured.is_some_and(|(_, value)| value["type"] != "disabled");
        configured || self.thinking().is_some()
    }

    fn system(&self) -> Value {
        json!([mark(json!({"type": "text", "text": self.system}), self.marks())])
    }

    fn tools(&self) -> Vec<Value> {
        let last = self.tools.len().saturating_sub(1);
        // The system prompt comes after the tools, and its mark covers them.
        let marks = self.marks() && self.system.is_empty();
        let tool = |(at, tool): (usize, &ToolSchema)| {
            let schema = parameters(tool);
            let worded = json!({"name": tool.name, "description": tool.description, "input_schema": schema});
            mark(worded, marks && at == last)
        };
        self.tools.iter().enumerate().map(tool).collect()
    }

    fn messages(&self) -> Vec<Message> {
        let mut messages: Vec<Message> = Vec::new();
        for said in &self.said {
            let (role, blocks) = match said {
                Said::User(parts) => ("user", user_blocks(parts)),
                Said::Result { id, output } => {
                    ("user", vec![json!({"type": "tool_result", "tool_use_id": id, "content": output})])
                }
                Said::Model { text, calls, kept } => {
                    let mut blocks = if self.thinks() { kept.to_vec() } else { Vec::new() };
                    blocks.extend(text_block(text.trim_end()));
                    blocks.extend(calls.iter().map(|call| {
                        // An object, as the history promises.
                        let input: Value =
                            serde_json::from_str(&call.arguments).unwrap_or_else(|_| json!({}));
                        json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input})
                    }));
                    ("assistant", blocks)
                }
            };
            match messages.last_mut() {
                Some(last) if last.role == role => last.content.extend(blocks),
                Some(_) | None => messages.push(Message { role, content: blocks }),
            }
        }
        if self.marks() {
            let users = messages.iter_mut().rev().filter(|message| message.role == "user");
            for message in users.take(MARKED_MESSAGES) {
                if let Some(block) = message.content.last_mut() {
                    *block = mark(block.take(), true);
                }
            }
        }
        messages
    }
}

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut body = serializer.serialize_map(None)?;
        body.serialize_entry("model", &self.options.extras.model)?;
        if self.options.keeps("max_tokens") {
            body.serialize_entry("max_tokens", &self.most())?;
        }
        if !self.tools.is_empty() {
            body.serialize_entry("tools", &self.tools())?;
        }
        if !self.system.is_empty() {
            body.serialize_entry("system", &self.system())?;
        }
        body.serialize_entry("messages", &self.messages())?;
        body.serialize_entry("stream", &true)?;
        if let Some(budget) = self.thinking() {
            body.serialize_entry(THINKING, &json!({"type": "enabled", "budget_tokens": budget}))?;
        }
        self.options.write(&mut body, !self.thinks())?;
        body.end()
    }
}

#[derive(Debug, Serialize)]
struct Message {
    role: &'static str,
    content: Vec<Value>,
}

/// `block`, marked as the end of a beginning worth keeping.
fn mark(mut block: Value, marks: bool) -> Value {
    if marks && let Some(members) = block.as_object_mut() {
        members.insert(CACHE_CONTROL.to_owned(), json!({"type": "ephemeral"}));
    }
    block
}

/// A user's parts as blocks; neighbouring texts are one, and none is blank.
fn user_blocks(parts: &[Part<'_>]) -> Vec<Value> {
    let mut blocks = Vec::new();
    let mut text = String::new();
    for part in parts {
        match part {
            Part::Text(piece) => text.push_str(piece),
            Part::Image { mime_type, data } => {
                blocks.extend(text_block(&std::mem::take(&mut text)));
                let source = json!({"type": "base64", "media_type": mime_type, "data": data});
                blocks.push(json!({"type": "image", "source": source}));
            }
        }
    }
    blocks.extend(text_block(&text));
    blocks
}

fn text_block(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}))
}
