//! The lines Claude Code writes with `--output-format stream-json --include-partial-messages`, and those it reads with
//! `--input-format stream-json`. Reads leniently: what is not known is nothing. (Claude Code: headless mode; Agent SDK:
//! control protocol.)

use serde_json::{Map, Value, json};
use session_model::{Content, TokenUsage};

use crate::providers::content::{Media, Part, UNHEARD, parts_of};

/// What one line says.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Told {
    /// The conversation's own id.
    Session(String),
    /// A model answer begins.
    MessageStart { id: String, tokens: u64 },
    /// How many tokens the answer took.
    MessageTokens(u64),
    /// A tool call begins; its arguments follow.
    ToolStart { id: String, name: String },
    /// More of the answer.
    Text(String),
    /// More reasoning.
    Thought(String),
    /// Whole pieces of an answer.
    Assistant(Assistant),
    /// What tools gave.
    Results(Vec<ToolResult>),
    /// It wants leave for a tool.
    Asked(Box<Asked>),
    /// A question is taken back.
    Withdrawn(String),
    /// Another request, which we cannot serve.
    Unknown { request: String, subtype: String },
    /// The server is asked again.
    Retry { attempt: u64, most: u64 },
    /// Work in the background began or ended.
    Task { id: String, runs: bool },
    /// The run is over.
    End(Box<End>),
}

/// Whole pieces of an answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Assistant {
    pub(super) id: String,
    /// Made up by the program itself, not by a model.
    pub(super) synthetic: bool,
    /// The answer of an agent it delegated to.
    pub(super) nested: bool,
    pub(super) text: String,
    pub(super) thought: String,
    pub(super) tools: Vec<ToolUse>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct ToolUse {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) input: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct ToolResult {
    pub(super) id: String,
    pub(super) content: Vec<Content>,
    pub(super) failed: bool,
}

/// A request for leave (`can_use_tool`).
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Asked {
    pub(super) request: String,
    pub(super) call: ToolUse,
    pub(super) description: String,
    pub(super) blocked_path: Option<String>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct End {
    pub(super) session: Option<String>,
    pub(super) failed: bool,
    pub(super) subtype: String,
    pub(super) stop: String,
    pub(super) text: String,
    pub(super) errors: Vec<String>,
    pub(super) usage: Option<TokenUsage>,
    /// The model that took the most of it.
    pub(super) model: String,
    pub(super) window: Option<u64>,
    pub(super) cost: f64,
}

/// Reads a line; `Err` when it is no JSON object, `Ok(None)` when it says nothing to us.
pub(super) fn read(line: &str) -> Result<Option<Told>, ()> {
    let Ok(Value::Object(line)) = serde_json::from_str::<Value>(line) else { return Err(()) };
    let line = Value::Object(line);
    Ok(match text(&line["type"]).as_str() {
        "system" => system(&line),
        "stream_event" if line["parent_tool_use_id"].is_null() => stream(&line["event"]),
        "assistant" => Some(Told::Assistant(assistant(&line))),
        "user" => Some(Told::Results(results(&line["message"]["content"])))
            .filter(|told| *told != Told::Results(Vec::new())),
        "control_request" => Some(control(&line)),
        "control_cancel_request" => Some(Told::Withdrawn(text(&line["request_id"]))),
        "result" => Some(Told::End(Box::new(end(&line)))),
        _ => None,
    })
}

fn system(line: &Value) -> Option<Told> {
    match text(&line["subtype"]).as_str() {
        "init" => Some(Told::Session(text(&line["session_id"])))
            .filter(|told| *told != Told::Session(String::new())),
        "api_retry" => {
            let number = |name: &str| line[name].as_u64().unwrap_or(0);
            Some(Told::Retry { attempt: number("attempt"), most: number("max_retries") })
        }
        "task_started" => Some(Told::Task { id: text(&line["task_id"]), runs: true }),
        "task_notification" => Some(Told::Task { id: text(&line["task_id"]), runs: false }),
        _ => None,
    }
}

fn stream(event: &Value) -> Option<Told> {
    match text(&event["type"]).as_str() {
        "message_start" => {
            let message = &event["message"];
            Some(Told::MessageStart { id: text(&message["id"]), tokens: given(&message["usage"]) })
        }
        "message_delta" => event["usage"]["output_tokens"].as_u64().map(Told::MessageTokens),
        "content_block_start" => {
            let block = &event["content_block"];
            let begins = block["type"] == "tool_use";
            begins.then(|| Told::ToolStart { id: text(&block["id"]), name: text(&block["name"]) })
        }
        "content_block_delta" => {
            let delta = &event["delta"];
            match text(&delta["type"]).as_str() {
                "text_delta" => Some(Told::Text(text(&delta["text"]))),
                "thinking_delta" => Some(Told::Thought(text(&delta["thinking"]))),
                _ => None,
            }
        }
        _ => None,
    }
}

fn assistant(line: &Value) -> Assistant {
    let message = &line["message"];
    let blocks = message["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    let all = |kind: &str, member: &str| -> String {
        blocks.iter().filter(|block| block["type"] == kind).map(|block| text(&block[member])).collect()
    };
    let tool = |block: &Value| ToolUse {
        id: text(&block["id"]),
        name: text(&block["name"]),
        input: block["input"].as_object().cloned().unwrap_or_default(),
    };
    Assistant {
        id: text(&message["id"]),
        synthetic: message["model"] == "<synthetic>",
        nested: !line["parent_tool_use_id"].is_null(),
        text: all("text", "text"),
        thought: all("thinking", "thinking"),
        tools: blocks.iter().filter(|block| block["type"] == "tool_use").map(tool).collect(),
    }
}

fn results(content: &Value) -> Vec<ToolResult> {
    let blocks = content.as_array().map(Vec::as_slice).unwrap_or_default();
    let result = |block: &Value| ToolResult {
        id: text(&block["tool_use_id"]),
        content: shown(&block["content"]),
        failed: block["is_error"].as_bool().unwrap_or(false),
    };
    blocks.iter().filter(|block| block["type"] == "tool_result").map(result).collect()
}

fn shown(content: &Value) -> Vec<Content> {
    match content {
        Value::String(text) => vec![Content::text(text.as_str())],
        Value::Array(blocks) => blocks.iter().filter_map(shown_block).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
    }
}

fn shown_block(block: &Value) -> Option<Content> {
    match text(&block["type"]).as_str() {
        "text" => Some(Content::text(text(&block["text"]))),
        "image" => Some(Content::Image {
            data: text(&block["source"]["data"]),
            mime_type: text(&block["source"]["media_type"]),
            uri: None,
        }),
        _ => None,
    }
}

fn control(line: &Value) -> Told {
    let (request, asked) = (text(&line["request_id"]), &line["request"]);
    match text(&asked["subtype"]).as_str() {
        "can_use_tool" => {
            let call = ToolUse {
                id: text(&asked["tool_use_id"]),
                name: text(&asked["tool_name"]),
                input: asked["input"].as_object().cloned().unwrap_or_default(),
            };
            let description = [&asked["title"], &asked["description"], &asked["decision_reason"]];
            let description =
                description.map(text).into_iter().find(|text| !text.is_empty()).unwrap_or_default();
            let blocked_path = asked["blocked_path"].as_str().map(str::to_owned);
            Told::Asked(Box::new(Asked { request, call, description, blocked_path }))
        }
        subtype => Told::Unknown { request, subtype: subtype.to_owned() },
    }
}

fn end(line: &Value) -> End {
    let usage = &line["usage"];
    let number = |name: &str| usage[name].as_u64().unwrap_or(0);
    let tokens = TokenUsage {
        input: number("input_tokens") + number("cache_creation_input_tokens"),
        cached: number("cache_read_input_tokens"),
        output: number("output_tokens"),
        thought: 0,
        written: number("cache_creation_input_tokens"),
    };
    let models = line["modelUsage"].as_object();
    let output = |usage: &Value| usage["outputTokens"].as_u64().unwrap_or(0);
    let model = models.into_iter().flatten().max_by_key(|(_, usage)| output(usage));
    let windows = models.into_iter().flat_map(Map::values);
    let errors = line["errors"].as_array().map(Vec::as_slice).unwrap_or_default();
    End {
        session: line["session_id"].as_str().map(str::to_owned),
        failed: line["is_error"].as_bool().unwrap_or(false),
        subtype: text(&line["subtype"]),
        stop: text(&line["stop_reason"]),
        text: text(&line["result"]),
        errors: errors.iter().map(text).filter(|error| !error.starts_with("[ede_diagnostic]")).collect(),
        usage: usage.is_object().then_some(tokens),
        model: model.map(|(name, _)| name.clone()).unwrap_or_default(),
        window: windows.filter_map(|model| model["contextWindow"].as_u64()).max().filter(|size| *size > 0),
        cost: line["total_cost_usd"].as_f64().unwrap_or(0.0),
    }
}

/// All tokens that went in.
fn given(usage: &Value) -> u64 {
    ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"]
        .iter()
        .filter_map(|name| usage[*name].as_u64())
        .sum()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The first line of all: without it the program answers no control request.
pub(super) fn hello(request: &str) -> String {
    json!({"type": "control_request", "request_id": request, "request": {"subtype": "initialize", "hooks": null}})
        .to_string()
}

/// Asks it to stop what it does.
pub(super) fn interrupt(request: &str) -> String {
    json!({"type": "control_request", "request_id": request, "request": {"subtype": "interrupt"}}).to_string()
}

/// Gives leave, for the call as it was asked about or with other arguments.
pub(super) fn allow(request: &str, input: &Map<String, Value>) -> String {
    answer(request, &json!({"behavior": "allow", "updatedInput": input}))
}

/// Refuses; the model is told why.
pub(super) fn deny(request: &str, message: &str) -> String {
    answer(request, &json!({"behavior": "deny", "message": message}))
}

fn answer(request: &str, answer: &Value) -> String {
    let response = json!({"subtype": "success", "request_id": request, "response": answer});
    json!({"type": "control_response", "response": response}).to_string()
}

/// Says that a request is not served.
pub(super) fn refuse(request: &str, error: &str) -> String {
    let response = json!({"subtype": "error", "request_id": request, "error": error});
    json!({"type": "control_response", "response": response}).to_string()
}

/// The user's message. What the program has no place for is said in words.
pub(super) fn prompt(content: &[Content]) -> String {
    let sent = Media { images: true, sounds: false };
    let blocks: Vec<Value> =
        parts_of(content, sent).iter().filter(|part| !part.is_blank()).map(block).collect();
    let message = json!({"role": "user", "content": blocks});
    json!({"type": "user", "message": message, "parent_tool_use_id": null, "session_id": ""}).to_string()
}

fn block(part: &Part<'_>) -> Value {
    match part {
        Part::Text(text) => json!({"type": "text", "text": text}),
        Part::Sound { .. } => json!({"type": "text", "text": UNHEARD}),
        Part::Image { mime_type, data } => {
            let source = json!({"type": "base64", "media_type": mime_type, "data": data});
            json!({"type": "image", "source": source})
        }
    }
}

#[cfg(test)]
#[path = "line_tests.rs"]
mod tests;
