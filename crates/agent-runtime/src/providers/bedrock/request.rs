//! The body of a request to the Converse API: user and model in turn, results of calls at the beginning of the user's
//! message that follows them, nothing blank. Knows nothing of connections.

use serde_json::{Map, Value, json};

use crate::provider::{Effort, ModelRequest, Thinking, ToolSchema};
use crate::providers::content::{Part, UNHEARD};
use crate::providers::extras::{Options, TEMPERATURE, TOP_P, parameters, part_of};
use crate::providers::history::Said;

/// The members that no configuration may replace.
pub(super) const OURS: &[&str] = &["modelId", "system", "messages", "toolConfig"];

/// What the API hands on to the model as it is.
const FIELDS: &str = "additionalModelRequestFields";

/// The names of the optional parts, as refusals have them.
const CACHING: &str = "prompt caching";
const THINKING: &str = "thinking";
const EFFORT: &str = "reasoning_effort";

/// What stands for a result or a description that says nothing: the API takes no blanks.
const NOTHING: &str = "(nothing)";

/// Tokens left for the answer itself where a configured thinking budget would take them all.
const LEAST_ANSWER: u64 = 1_024;

/// The least that Claude takes for a thinking budget.
const LEAST_THINKING: u64 = 1_024;

/// The images that the API takes.
const FORMATS: [&str; 4] = ["png", "jpeg", "gif", "webp"];

/// How many of the newest user's messages end with a mark for the cache.
const MARKED_MESSAGES: usize = 2;

/// What only this API has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Own {
    pub(super) max_tokens: Option<u64>,
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
        names.extend(self.marks().then(|| CACHING.to_owned()));
        let (members, _) = self.thinking();
        let is_off = members.get(THINKING).is_some_and(|thinking| thinking["type"] == "disabled");
        let off = |name: &String| if is_off { part_of(name, Effort::None) } else { name.clone() };
        names.extend(members.keys().map(off));
        names
    }

    /// The whole body.
    pub(super) fn json(&self) -> Value {
        let mut body = Map::new();
        body.insert("messages".to_owned(), self.messages());
        if !self.system.is_empty() {
            body.insert("system".to_owned(), marked(vec![json!({"text": self.system})], self.marks()));
        }
        if !self.tools.is_empty() {
            let tools: Vec<Value> = self.tools.iter().map(tool).collect();
            body.insert("toolConfig".to_owned(), json!({"tools": tools}));
        }
        let inference = self.inference();
        if !inference.is_empty() {
            body.insert("inferenceConfig".to_owned(), inference.into());
        }
        let mut fields = self.thinking().0;
        for (name, value) in self.options.members() {
            if let Some(own) = value.as_object().filter(|_| name == FIELDS) {
                fields.extend(own.clone());
            } else {
                body.insert(name.clone(), value.clone());
            }
        }
        if !fields.is_empty() {
            body.insert(FIELDS.to_owned(), fields.into());
        }
        body.into()
    }

    fn marks(&self) -> bool {
        self.own.prompt_caching && !self.options.without.contains(CACHING)
    }

    fn inference(&self) -> Map<String, Value> {
        let mut inference = Map::new();
        let budget = self.thinking().1;
        let most = self.own.max_tokens.map(|most| most.max(budget.map_or(0, |budget| budget + LEAST_ANSWER)));
        if let Some(most) = most {
            inference.insert("maxTokens".to_owned(), most.into());
        }
        let extras = self.options.extras;
        for (part, name, value) in
            [(TEMPERATURE, "temperature", extras.temperature), (TOP_P, "topP", extras.top_p)]
        {
            if let Some(value) = value.filter(|_| !self.thinks() && self.options.keeps(part)) {
                inference.insert(name.to_owned(), value.into());
            }
        }
        inference
    }

    /// How much the model is to think, in its own words, and the tokens that this may take.
    fn thinking(&self) -> (Map<String, Value>, Option<u64>) {
        let none = (Map::new(), None);
        let Some(asked) = self.own.thinking else { return none };
        let members = match family(self.options.extras.model.as_deref().unwrap_or_default()) {
            // A model that always thinks may still be told how much.
            Family::Claude
                if asked.budget().is_none() && !self.options.keeps(&part_of(THINKING, Effort::None)) =>
            {
                return none;
            }
            Family::Claude => claude(asked, self.own.adaptive),
            Family::Gpt => {
                let effort = asked.effort().max(Effort::Low).min(Effort::High);
                Map::from_iter([(EFFORT.to_owned(), effort.id().into())])
            }
            Family::Other => return none,
        };
        let budget = members.get(THINKING).and_then(|thinking| thinking["budget_tokens"].as_u64());
        if members.keys().all(|name| self.options.keeps(name)) { (members, budget) } else { none }
    }

    /// Whether a Claude thinks, by our word.
    fn thinks(&self) -> bool {
        self.thinking().0.get(THINKING).is_some_and(|thinking| thinking["type"] != "disabled")
    }

    /// Whether it gets back what it has thought in this turn.
    fn remembers(&self) -> bool {
        self.thinks() || self.own.thinking.is_none()
    }

    fn messages(&self) -> Value {
        let mut messages: Vec<(&str, Vec<Value>)> = Vec::new();
        for said in &self.said {
            let (role, blocks) = match said {
                Said::User(parts) => ("user", user_blocks(parts)),
                Said::Result { id, output } => {
                    let text = if output.trim().is_empty() { NOTHING } else { output };
                    ("user", vec![json!({"toolResult": {"toolUseId": id, "content": [{"text": text}]}})])
                }
                Said::Model { text, calls, kept, reasoning: _ } => {
                    let kept = if self.remembers() { *kept } else { &[] };
                    let mut blocks: Vec<Value> = kept.iter().filter_map(reasoning).collect();
                    blocks.extend(text_block(text.trim_end()));
                    blocks.extend(calls.iter().map(|call| {
                        // An object, as the history promises.
                        let input: Value =
                            serde_json::from_str(&call.arguments).unwrap_or_else(|_| json!({}));
                        json!({"toolUse": {"toolUseId": call.id, "name": call.name, "input": input}})
                    }));
                    ("assistant", blocks)
                }
            };
            match messages.last_mut() {
                Some((last, content)) if *last == role => content.extend(blocks),
                Some(_) | None => messages.push((role, blocks)),
            }
        }
        let users = messages.iter().filter(|(role, _)| *role == "user").count();
        let mut seen = 0;
        let worded = messages.into_iter().map(|(role, content)| {
            seen += usize::from(role == "user");
            let is_marked = self.marks() && role == "user" && seen + MARKED_MESSAGES > users;
            json!({"role": role, "content": marked(content, is_marked)})
        });
        worded.collect()
    }
}

/// Models whose ways to think are known.
enum Family {
    Claude,
    Gpt,
    Other,
}

/// Profiles have names that tell nothing; most are of Claude.
fn family(model: &str) -> Family {
    let model = model.to_lowercase();
    if model.contains("gpt-oss") || model.contains("openai.") {
        Family::Gpt
    } else if model.contains("claude") || model.contains("application-inference-profile/") {
        Family::Claude
    } else {
        Family::Other
    }
}

fn claude(asked: Thinking, adaptive: bool) -> Map<String, Value> {
    let mut members = Map::new();
    let thinking = match asked.budget() {
        None => json!({"type": "disabled"}),
        Some(_) if adaptive => {
            let effort = asked.effort().max(Effort::Low).id();
            members.insert("output_config".to_owned(), json!({"effort": effort}));
            json!({"type": "adaptive", "display": "summarized"})
        }
        Some(budget) => json!({"type": "enabled", "budget_tokens": budget.max(LEAST_THINKING)}),
    };
    members.insert(THINKING.to_owned(), thinking);
    members
}

fn tool(tool: &ToolSchema) -> Value {
    let description = if tool.description.trim().is_empty() { &tool.name } else { &tool.description };
    let schema = json!({"json": parameters(tool)});
    json!({"toolSpec": {"name": tool.name, "description": description, "inputSchema": schema}})
}

/// Reasoning that was kept, in the words of this API.
fn reasoning(kept: &Value) -> Option<Value> {
    if let Some(data) = kept["data"].as_str() {
        return Some(json!({"reasoningContent": {"redactedContent": data}}));
    }
    let (text, signature) = (kept["thinking"].as_str()?, kept["signature"].as_str()?);
    Some(json!({"reasoningContent": {"reasoningText": {"text": text, "signature": signature}}}))
}

/// `blocks` as one list, with a mark for the cache at its end.
fn marked(mut blocks: Vec<Value>, is_marked: bool) -> Value {
    if is_marked {
        blocks.push(json!({"cachePoint": {"type": "default"}}));
    }
    blocks.into()
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
                let format = mime_type.strip_prefix("image/").unwrap_or_default();
                if FORMATS.contains(&format) {
                    blocks.extend(text_block(&std::mem::take(&mut text)));
                    blocks.push(json!({"image": {"format": format, "source": {"bytes": data}}}));
                } else {
                    let words = ["\n[an image of type ", mime_type, ", which this API does not take]\n"];
                    text.extend(words);
                }
            }
        }
    }
    blocks.extend(text_block(&text));
    blocks
}

fn text_block(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({"text": text}))
}
