//! Calls in the text in the forms of single families of models: GLM, `MiniMax` and Claude, Kimi, `DeepSeek`. Pure
//! functions over what stands between the marks that enclose calls.

use serde_json::{Map, Value};

use super::text_calls::{TextCall, finished, typed};
use crate::provider::ToolSchema;

/// What calls begin with.
pub(super) const INVOKE: &str = "<invoke name=";
pub(super) const DSML_INVOKE: &str = "<｜DSML｜invoke name=";
pub(super) const KIMI: &str = "<|tool_call_begin|>";
pub(super) const DEEPSEEK: &str = "<｜tool▁call▁begin｜>";

/// The calls in `text`, which holds nothing else, in any of the forms.
pub(super) fn calls(text: &str, tools: &[ToolSchema]) -> Option<Vec<TextCall>> {
    if text.starts_with(INVOKE) {
        return invokes(text, tools);
    }
    if text.starts_with(DSML_INVOKE) {
        return invokes(&text.replace("｜DSML｜", ""), tools);
    }
    if let Some(rest) = text.strip_prefix(KIMI) {
        return rest.split(KIMI).map(|call| kimi(call, tools)).collect();
    }
    if let Some(rest) = text.strip_prefix(DEEPSEEK) {
        return rest.split(DEEPSEEK).map(|call| deepseek(call, tools)).collect();
    }
    glm(text, tools).map(|call| vec![call])
}

/// `<invoke name="f"><parameter name="p">1</parameter></invoke>`, once or several times.
fn invokes(text: &str, tools: &[ToolSchema]) -> Option<Vec<TextCall>> {
    let mut calls = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (name, body) = rest.strip_prefix(INVOKE)?.split_once('>')?;
        let (body, after) = body.split_once("</invoke>")?;
        let tool = find(name.trim_matches('"'), tools)?;
        let mut arguments = Map::new();
        let mut fields = body.trim();
        while !fields.is_empty() {
            // The key, and perhaps whether the value is text, which the schema knows better.
            let (key, value) = fields.strip_prefix("<parameter name=")?.split_once('>')?;
            let key = key.split('"').nth(1)?;
            let (value, next) = value.split_once("</parameter>")?;
            arguments.insert(key.to_owned(), typed(trimmed(value), key, tool));
            fields = next.trim_start();
        }
        calls.push(finished(&tool.name, &Value::Object(arguments), tools)?);
        rest = after.trim_start();
    }
    Some(calls).filter(|calls| !calls.is_empty())
}

/// `functions.f:0<|tool_call_argument_begin|>{…}<|tool_call_end|>`
fn kimi(call: &str, tools: &[ToolSchema]) -> Option<TextCall> {
    let (name, rest) = call.split_once("<|tool_call_argument_begin|>")?;
    let (arguments, _) = rest.split_once("<|tool_call_end|>")?;
    let name = name.trim();
    let name = name.split(':').next().unwrap_or(name);
    let name = name.strip_prefix("functions.").unwrap_or(name);
    finished(name, &serde_json::from_str(arguments.trim()).ok()?, tools)
}

/// `f<｜tool▁sep｜>{…}<｜tool▁call▁end｜>`, or with `function` before and the JSON in a fence after the name.
fn deepseek(call: &str, tools: &[ToolSchema]) -> Option<TextCall> {
    let (call, _) = call.split_once("<｜tool▁call▁end｜>")?;
    let (kind, rest) = call.split_once("<｜tool▁sep｜>")?;
    let (name, arguments) =
        if kind.trim() == "function" { rest.trim_start().split_once('\n')? } else { (kind, rest) };
    let arguments = arguments.trim();
    let arguments =
        arguments.strip_prefix("```json").and_then(|text| text.strip_suffix("```")).unwrap_or(arguments);
    finished(name.trim(), &serde_json::from_str(arguments.trim()).ok()?, tools)
}

/// `f<arg_key>p</arg_key><arg_value>1</arg_value>`, blanks between them.
fn glm(text: &str, tools: &[ToolSchema]) -> Option<TextCall> {
    const KEY: &str = "<arg_key>";
    let at = text.find(KEY).unwrap_or(text.len());
    let tool = find(text[..at].trim(), tools)?;
    let mut arguments = Map::new();
    let mut rest = &text[at..];
    while !rest.trim().is_empty() {
        let (key, after) = rest.trim_start().strip_prefix(KEY)?.split_once("</arg_key>")?;
        let value = after.trim_start().strip_prefix("<arg_value>")?;
        let (value, next) = value.split_once("</arg_value>")?;
        arguments.insert(key.trim().to_owned(), typed(trimmed(value), key.trim(), tool));
        rest = next;
    }
    finished(&tool.name, &Value::Object(arguments), tools)
}

fn find<'t>(name: &str, tools: &'t [ToolSchema]) -> Option<&'t ToolSchema> {
    tools.iter().find(|tool| tool.name == name)
}

/// A value without the line ends that set it apart.
fn trimmed(value: &str) -> &str {
    let value = value.strip_prefix('\n').unwrap_or(value);
    value.strip_suffix('\n').unwrap_or(value)
}
