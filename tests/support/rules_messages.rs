//! What the strictest servers of the Messages API demand of a request, all of it at once. Looks at one request and
//! remembers nothing.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

const TOP: &[&str] = &[
    "model",
    "max_tokens",
    "tools",
    "system",
    "messages",
    "stream",
    "thinking",
    "output_config",
    "temperature",
    "top_p",
];

/// How many marks for the cache a request may have.
const MAX_MARKS: usize = 4;

/// Checks a request.
///
/// # Errors
/// The first rule it breaks.
pub fn check(body: &Value) -> Result<(), String> {
    let members = body.as_object().ok_or("the body is no JSON object")?;
    only(members, TOP, "the request")?;
    if body["stream"] != true || body["model"].as_str().is_none_or(str::is_empty) {
        return Err("`stream` must be true and `model` be named".to_owned());
    }
    let most = body["max_tokens"].as_u64().filter(|most| *most > 0).ok_or("`max_tokens` must be positive")?;
    if body["thinking"]["type"] == "enabled" && body["thinking"]["budget_tokens"].as_u64() >= Some(most) {
        return Err("`max_tokens` must be greater than `thinking.budget_tokens`".to_owned());
    }
    let thinks = body["thinking"]["type"].as_str().is_some_and(|kind| kind != "disabled");
    if thinks && (members.contains_key("temperature") || members.contains_key("top_p")) {
        return Err("`temperature` and `top_p` may not be set while the model thinks".to_owned());
    }
    if body.to_string().matches("\"cache_control\"").count() > MAX_MARKS {
        return Err(format!("more than {MAX_MARKS} blocks with cache_control"));
    }
    // A model that was told nothing may think by itself.
    let may_think = body["thinking"]["type"] != "disabled";
    for block in body["system"].as_array().into_iter().flatten() {
        check_block(block, "system", may_think)?;
    }
    if let Some(tools) = members.get("tools") {
        check_tools(tools)?;
    }
    check_messages(body, may_think)
}

fn check_messages(body: &Value, may_think: bool) -> Result<(), String> {
    let messages = body["messages"].as_array().ok_or("`messages` is no list")?;
    let mut open: Vec<&str> = Vec::new();
    let mut seen = BTreeSet::new();
    for (at, message) in messages.iter().enumerate() {
        let role = if at % 2 == 0 { "user" } else { "assistant" };
        if message["role"] != role {
            return Err(format!("message {at}: roles must alternate from the user on"));
        }
        only(message.as_object().ok_or("no object")?, &["role", "content"], "a message")?;
        let blocks = message["content"].as_array().filter(|blocks| !blocks.is_empty());
        let blocks = blocks.ok_or_else(|| format!("message {at}: empty content"))?;
        let mut results = Vec::new();
        for (place, block) in blocks.iter().enumerate() {
            check_block(block, role, may_think).map_err(|broken| format!("message {at}: {broken}"))?;
            if block["type"] == "tool_result" {
                if place > results.len() {
                    return Err(format!("message {at}: a result behind other content"));
                }
                results.push(block["tool_use_id"].as_str().unwrap_or_default());
            }
            let is_reasoning = matches!(block["type"].as_str(), Some("thinking" | "redacted_thinking"));
            if is_reasoning && blocks[..place].iter().any(|block| block["type"] == "tool_use") {
                return Err(format!("message {at}: reasoning behind a call"));
            }
        }
        if role == "user" && results != open {
            return Err(format!("message {at}: the calls {open:?} are answered by {results:?}"));
        }
        let calls = blocks.iter().filter(|block| block["type"] == "tool_use");
        open = calls.map(|block| block["id"].as_str().unwrap_or_default()).collect();
        if let Some(twice) = open.iter().find(|id| !seen.insert(**id)) {
            return Err(format!("message {at}: the id {twice} occurs twice"));
        }
        if !open.is_empty() && body["tools"].is_null() {
            return Err(format!("message {at}: calls without tools"));
        }
    }
    if messages.len() % 2 == 1 { Ok(()) } else { Err("the model has the last word".to_owned()) }
}

fn check_block(block: &Value, role: &str, may_think: bool) -> Result<(), String> {
    let members = block.as_object().ok_or("a block is no object")?;
    let kind = block["type"].as_str().ok_or("a block without type")?;
    let known: &[&str] = match (role, kind) {
        ("user" | "assistant" | "system", "text") => &["type", "text", "cache_control"],
        ("user", "image") => &["type", "source", "cache_control"],
        ("user", "tool_result") => &["type", "tool_use_id", "content", "cache_control"],
        ("assistant", "tool_use") => &["type", "id", "name", "input"],
        ("assistant", "thinking") if may_think => &["type", "thinking", "signature"],
        ("assistant", "redacted_thinking") if may_think => &["type", "data"],
        _ => return Err(format!("a block of type {kind} is out of place")),
    };
    only(members, known, kind)?;
    let is_said = |member: &str| block[member].as_str().is_some_and(|text| !text.trim().is_empty());
    let is_id = |member: &str| {
        let id = block[member].as_str().unwrap_or_default();
        !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
    };
    let fits = match kind {
        "text" => is_said("text"),
        "tool_result" => is_id("tool_use_id") && block["content"].is_string(),
        "tool_use" => is_id("id") && is_id("name") && block["input"].is_object(),
        "thinking" => is_said("signature") && block["thinking"].is_string(),
        _ => true,
    };
    if fits { Ok(()) } else { Err(format!("a block of type {kind} is empty or wrong: {block}")) }
}

fn check_tools(tools: &Value) -> Result<(), String> {
    let tools = tools.as_array().filter(|tools| !tools.is_empty());
    let mut names = BTreeSet::new();
    for tool in tools.ok_or("`tools` must be a list with members")? {
        let known = ["name", "description", "input_schema", "cache_control"];
        only(tool.as_object().ok_or("a tool is no object")?, &known, "a tool")?;
        let name = tool["name"].as_str().ok_or("a tool without name")?;
        if tool["input_schema"]["type"] != "object" {
            return Err(format!("the tool {name} has no schema of type object"));
        }
        if !names.insert(name) {
            return Err(format!("the tool {name} occurs twice"));
        }
    }
    Ok(())
}

fn only(members: &Map<String, Value>, known: &[&str], whose: &str) -> Result<(), String> {
    match members.keys().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(format!("{whose}: {name}: Extra inputs are not permitted")),
        None => Ok(()),
    }
}
