//! The rules of the strictest servers, as a check.

use std::collections::HashSet;

use serde_json::Value;

use crate::provider::{ModelCall, ModelMessage};

/// What may come next.
enum Next<'a> {
    User,
    Assistant,
    Results(&'a [ModelCall]),
}

/// Whether a strict server would accept `messages` as a request: the user first, no two messages of one side in
/// a row, every call answered once and in order right after it, ids unique, arguments JSON objects, nothing
/// empty, and the last word not the model's.
///
/// # Errors
/// The first rule that is broken, and where.
pub fn check(messages: &[ModelMessage]) -> Result<(), String> {
    let mut next = Next::User;
    let mut ids = HashSet::new();
    for (at, message) in messages.iter().enumerate() {
        next = match (message, next) {
            (ModelMessage::User(content), Next::User) => {
                if content.is_empty() {
                    return Err(format!("message {at} is empty"));
                }
                Next::Assistant
            }
            (ModelMessage::Assistant { text, calls, kept: _, reasoning: _ }, Next::Assistant) => {
                assistant(at, text, calls, &mut ids)?;
                if calls.is_empty() { Next::User } else { Next::Results(calls) }
            }
            (ModelMessage::ToolResult { call_id, name, .. }, Next::Results([call, rest @ ..])) => {
                if call.id != *call_id || call.name != *name {
                    return Err(format!("message {at} answers {call_id}, but {} is due", call.id));
                }
                if rest.is_empty() { Next::Assistant } else { Next::Results(rest) }
            }
            (ModelMessage::User(_), Next::Assistant | Next::Results(_)) => {
                return Err(format!("message {at}: the user speaks out of turn"));
            }
            (ModelMessage::Assistant { .. }, Next::User | Next::Results(_)) => {
                return Err(format!("message {at}: the model speaks out of turn"));
            }
            (ModelMessage::ToolResult { .. }, Next::User | Next::Assistant | Next::Results(_)) => {
                return Err(format!("message {at} answers no call"));
            }
        };
    }
    match next {
        Next::Assistant => Ok(()),
        Next::User => Err("nothing is asked".to_owned()),
        Next::Results(_) => Err("a call is not answered".to_owned()),
    }
}

fn assistant<'a>(
    at: usize,
    text: &str,
    calls: &'a [ModelCall],
    ids: &mut HashSet<&'a str>,
) -> Result<(), String> {
    if calls.is_empty() && text.trim().is_empty() {
        return Err(format!("message {at} is empty"));
    }
    for call in calls {
        if !ids.insert(&call.id) {
            return Err(format!("message {at}: the call id {} is used twice", call.id));
        }
        if call.name != super::wire_name(&call.name) {
            return Err(format!("message {at}: {:?} is no function name", call.name));
        }
        if !matches!(serde_json::from_str(&call.arguments), Ok(Value::Object(_))) {
            return Err(format!("message {at}: the arguments of {} are no object", call.id));
        }
    }
    Ok(())
}
