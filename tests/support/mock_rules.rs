//! What the strictest servers demand of a chat request, all of it at once: an agent that passes here passes
//! everywhere. Looks at one request and remembers nothing.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

const TOP: &[&str] = &[
    "model",
    "messages",
    "tools",
    "stream",
    "stream_options",
    "temperature",
    "top_p",
    "max_tokens",
    "max_completion_tokens",
    "reasoning_effort",
];

/// Checks a request.
///
/// # Errors
/// The first rule it breaks.
pub fn check(body: &Value) -> Result<(), String> {
    let members = body.as_object().ok_or("the body is no JSON object")?;
    only(members, TOP, "the request")?;
    if body["stream"] != true {
        return Err("`stream` must be true".to_owned());
    }
    if let Some(tools) = members.get("tools") {
        check_tools(tools)?;
    }
    let messages = body["messages"].as_array().ok_or("`messages` is no list")?;
    let mut last = "";
    let mut open: BTreeSet<&str> = BTreeSet::new();
    for (at, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().ok_or_else(|| format!("message {at} has no role"))?;
        if role != "tool" && !open.is_empty() {
            return Err(format!("message {at}: the calls {open:?} are not answered"));
        }
        check_message(message, role, &mut open).map_err(|broken| format!("message {at}: {broken}"))?;
        check_order(last, role, at)?;
        last = role;
    }
    match last {
        "user" | "tool" if open.is_empty() => Ok(()),
        "user" | "tool" => Err(format!("the calls {open:?} are not answered")),
        _ => Err("the conversation must end with the user or a tool".to_owned()),
    }
}

fn check_order(last: &str, role: &str, at: usize) -> Result<(), String> {
    let fits = match role {
        "system" => at == 0,
        "user" => matches!(last, "" | "system" | "assistant" | "tool"),
        "assistant" => matches!(last, "user" | "tool"),
        "tool" => matches!(last, "assistant" | "tool"),
        _ => return Err(format!("message {at}: unknown role {role}")),
    };
    if fits {
        Ok(())
    } else {
        Err(format!("message {at}: roles must alternate, but {role} follows {last:?}"))
    }
}

fn check_message<'a>(message: &'a Value, role: &str, open: &mut BTreeSet<&'a str>) -> Result<(), String> {
    let members = message.as_object().ok_or("no object")?;
    match role {
        "assistant" => {
            only(members, &["role", "content", "tool_calls"], role)?;
            let calls = members.get("tool_calls");
            if !message["content"].is_string() {
                return Err("content must be a string".to_owned());
            }
            let calls = calls.map(|calls| calls.as_array().filter(|calls| !calls.is_empty()));
            let calls =
                calls.map(|calls| calls.ok_or("tool_calls must be a list with members")).transpose()?;
            if calls.is_none() && message["content"] == "" {
                return Err("an assistant message with neither text nor calls".to_owned());
            }
            calls.into_iter().flatten().try_for_each(|call| check_call(call, open))
        }
        "tool" => {
            only(members, &["role", "content", "tool_call_id"], role)?;
            if !message["content"].is_string() {
                return Err("content must be a string".to_owned());
            }
            let id = message["tool_call_id"].as_str().ok_or("no tool_call_id")?;
            if open.remove(id) { Ok(()) } else { Err(format!("{id} answers no call")) }
        }
        _ => {
            only(members, &["role", "content"], role)?;
            let parts = message["content"].as_array();
            let is_parts = role == "user" && parts.is_some_and(|parts| !parts.is_empty());
            let is_text = message["content"].as_str().is_some_and(|text| !text.is_empty());
            if is_text || is_parts { Ok(()) } else { Err("empty content".to_owned()) }
        }
    }
}

fn check_call<'a>(call: &'a Value, open: &mut BTreeSet<&'a str>) -> Result<(), String> {
    only(call.as_object().ok_or("a call is no object")?, &["id", "type", "function"], "a call")?;
    let function = call["function"].as_object().ok_or("a call without function")?;
    only(function, &["name", "arguments"], "a function")?;
    let id = call["id"].as_str().ok_or("a call without id")?;
    if id.len() != 9 || !id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Err(format!("the id {id} must be of nine letters and digits"));
    }
    if !open.insert(id) {
        return Err(format!("the id {id} occurs twice"));
    }
    if function.get("name").and_then(Value::as_str).is_none_or(str::is_empty) {
        return Err("a call without name".to_owned());
    }
    let arguments = function.get("arguments").and_then(Value::as_str).ok_or("arguments are no string")?;
    let parsed: Value = serde_json::from_str(arguments).map_err(|cause| format!("arguments: {cause}"))?;
    if parsed.is_object() { Ok(()) } else { Err("arguments are no JSON object".to_owned()) }
}

fn check_tools(tools: &Value) -> Result<(), String> {
    let tools =
        tools.as_array().filter(|tools| !tools.is_empty()).ok_or("`tools` must be a list with members")?;
    let mut names = BTreeSet::new();
    for tool in tools {
        let function = &tool["function"];
        let name = function["name"].as_str().ok_or("a tool without name")?;
        if tool["type"] != "function" || !function["parameters"]["properties"].is_object() {
            return Err(format!("the tool {name} has no parameters of type object"));
        }
        if !names.insert(name) {
            return Err(format!("the tool {name} occurs twice"));
        }
    }
    Ok(())
}

fn only(members: &Map<String, Value>, known: &[&str], whose: &str) -> Result<(), String> {
    match members.keys().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(format!("{whose} has the unknown member {name}")),
        None => Ok(()),
    }
}
