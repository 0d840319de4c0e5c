//! What the strictest servers of the Responses API demand of a request, all of it at once. Looks at one request and
//! remembers nothing.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

const TOP: &[&str] = &[
    "model",
    "instructions",
    "input",
    "tools",
    "stream",
    "store",
    "include",
    "reasoning",
    "max_output_tokens",
    "temperature",
    "top_p",
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
    if members.get("instructions").is_some_and(|text| text.as_str().is_none_or(str::is_empty)) {
        return Err("`instructions` must be a text".to_owned());
    }
    if let Some(tools) = members.get("tools") {
        check_tools(tools)?;
    }
    let items = body["input"].as_array().filter(|items| !items.is_empty()).ok_or("`input` is empty")?;
    let (mut open, mut seen) = (Vec::new(), BTreeSet::new());
    let mut last = "";
    for (at, item) in items.iter().enumerate() {
        let kind = check_item(item).map_err(|broken| format!("input[{at}]: {broken}"))?;
        let id = item["call_id"].as_str().unwrap_or_default();
        match kind {
            "function_call_output" => {
                let place = open.iter().position(|call| *call == id);
                open.remove(
                    place.ok_or_else(|| format!("No tool call found for output with call_id {id}."))?,
                );
            }
            "function_call" if !seen.insert(id) => return Err(format!("Duplicate call_id {id}")),
            "function_call" => open.push(id),
            _ if !open.is_empty() => {
                return Err(format!("No tool output found for function call {}.", open[0]));
            }
            "user" if last == "user" => {
                return Err(format!("input[{at}]: two messages of the user in a row"));
            }
            _ => {}
        }
        last = kind;
    }
    match last {
        "user" | "function_call_output" if open.is_empty() => Ok(()),
        _ => Err("the model has the last word, or a call no answer".to_owned()),
    }
}

/// The kind of an item that is in order.
fn check_item(item: &Value) -> Result<&str, String> {
    let members = item.as_object().ok_or("no object")?;
    let kind = item["type"].as_str().or(item["role"].as_str()).ok_or("neither type nor role")?;
    let is_said = |member: &str| item[member].as_str().is_some_and(|text| !text.trim().is_empty());
    let (known, fits): (&[&str], bool) = match kind {
        "user" => (
            &["role", "content"],
            is_said("content") || item["content"].as_array().is_some_and(|parts| !parts.is_empty()),
        ),
        "assistant" => (&["role", "content"], is_said("content")),
        "function_call" => {
            let arguments = item["arguments"].as_str().and_then(|text| serde_json::from_str(text).ok());
            let is_object = matches!(arguments, Some(Value::Object(_)));
            (&["type", "call_id", "name", "arguments"], is_object && is_said("call_id") && is_said("name"))
        }
        "function_call_output" => {
            (&["type", "call_id", "output"], is_said("call_id") && item["output"].is_string())
        }
        "reasoning" => {
            let is_list = item["summary"].is_array();
            (
                &["type", "id", "summary", "encrypted_content", "status"],
                is_list && is_said("encrypted_content"),
            )
        }
        _ => return Err(format!("unknown kind {kind}")),
    };
    only(members, known, kind)?;
    if fits { Ok(kind) } else { Err(format!("{kind} is empty or wrong: {item}")) }
}

fn check_tools(tools: &Value) -> Result<(), String> {
    let tools = tools.as_array().filter(|tools| !tools.is_empty());
    let mut names = BTreeSet::new();
    for tool in tools.ok_or("`tools` must be a list with members")? {
        let known = ["type", "name", "description", "parameters", "strict"];
        only(tool.as_object().ok_or("a tool is no object")?, &known, "a tool")?;
        let name = tool["name"].as_str().ok_or("a tool without name")?;
        if tool["type"] != "function" || !tool["parameters"]["properties"].is_object() {
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
        Some(name) => Err(format!("{whose}: Unknown parameter: '{name}'.")),
        None => Ok(()),
    }
}
