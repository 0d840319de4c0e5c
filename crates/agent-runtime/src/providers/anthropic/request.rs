//! The body of a request to the Messages API. Results of calls stand at the beginning of the user's message that
//! follows them; no text is blank; beginnings worth keeping are marked. Knows nothing of connections.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::provider::{Effort, ModelRequest, Thinking, ToolSchema};
use crate::providers::content::{Part, UNHEARD};
use crate::providers::extras::{Options, TEMPERATURE, TOP_P, parameters, part_of};
use crate::providers::history::Said;

/// The members that no configuration may replace.
pub(super) const OURS: &[&str] = &["model", "system", "messages", "tools", "stream"];

/// The names of the optional parts.
const CACHE_CONTROL: &str = "cache_control";
const THINKING: &str = "thinking";
const OUTPUT_CONFIG: &str = "output_config";
const DISPLAY: &str = "display";

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
    pub(super) thinking: Option<Thinking>,
    /// The model is told in words how much to think.
    pub(super) adaptive: bool,
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
        let (said, tools) = options.beside_tools(request);
        Self { options, own, system: &request.system, said, tools }
    }

    /// The optional parts that this request has, by name.
    pub(super) fn optional(&self) -> Vec<String> {
        let mut names = self.options.names(self.tools, &self.said, &[]);
        if self.thinks() {
            names.retain(|name| name != TEMPERATURE && name != TOP_P);
        }
        names.extend(self.marks().then(|| CACHE_CONTROL.to_owned()));
        // A refusal of a member names what holds it too.
        names.extend(self.shows().then(|| DISPLAY.to_owned()));
        names.extend(self.effort().map(|effort| part_of(OUTPUT_CONFIG, effort)));
        names.extend(self.thinking().is_some().then(|| THINKING.to_owned()));
        names.extend(self.is_told_not_to().then(|| part_of(THINKING, Effort::None)));
        names
    }

    fn marks(&self) -> bool {
        self.own.prompt_caching && !self.options.without.contains(CACHE_CONTROL)
    }

    /// How many tokens the model may think.
    fn thinking(&self) -> Option<u64> {
        let room = self.own.allowed.saturating_sub(LEAST_ANSWER);
        let budget = self.own.thinking.and_then(Thinking::budget).filter(|_| self.options.keeps(THINKING))?;
        (room >= LEAST_THINKING).then(|| budget.max(LEAST_THINKING).min(room))
    }

    /// The same as a word of this API.
    fn effort(&self) -> Option<Effort> {
        let asked = self.thinking().and(self.own.thinking).filter(|_| self.own.adaptive)?;
        let effort = asked.effort().max(Effort::Low);
        let is_sent =
            self.options.keeps(OUTPUT_CONFIG) && self.options.keeps(&part_of(OUTPUT_CONFIG, effort));
        is_sent.then_some(effort)
    }

    /// Whether it is asked to show what it thinks, which models that think by words do not do by themselves.
    fn shows(&self) -> bool {
        self.own.adaptive && self.thinking().is_some() && !self.options.without.contains(DISPLAY)
    }

    /// Whether it may not think.
    fn is_told_not_to(&self) -> bool {
        let asked = self.own.thinking.is_some_and(|asked| asked.budget().is_none());
        let part = part_of(THINKING, Effort::None);
        asked && self.options.keeps(THINKING) && !self.options.without.contains(&part)
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

    /// Whether it gets back what it has thought in this turn. One that was told nothing has thought by itself.
    fn remembers(&self) -> bool {
        let configured = self.options.members().any(|(name, _)| name == THINKING);
        self.thinks() || (self.own.thinking.is_none() && !configured)
    }

    fn write_thinking<M: SerializeMap>(&self, body: &mut M) -> Result<(), M::Error> {
        if self.is_told_not_to() {
            return body.serialize_entry(THINKING, &json!({"type": "disabled"}));
        }
        let Some(budget) = self.thinking() else { return Ok(()) };
        if !self.own.adaptive {
            return body.serialize_entry(THINKING, &json!({"type": "enabled", "budget_tokens": budget}));
        }
        let mut thinking = json!({"type": "adaptive"});
        if self.shows() {
            thinking[DISPLAY] = "summarized".into();
        }
        body.serialize_entry(THINKING, &thinking)?;
        match self.effort() {
            Some(effort) => body.serialize_entry(OUTPUT_CONFIG, &json!({"effort": effort.id()})),
            None => Ok(()),
        }
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
                Said::Model { text, calls, kept, reasoning: _ } => {
                    let mut blocks = if self.remembers() { kept.to_vec() } else { Vec::new() };
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
        self.write_thinking(&mut body)?;
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
            Part::Sound { .. } => text.push_str(UNHEARD),
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
