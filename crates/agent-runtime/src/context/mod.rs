//! Turns a session's entries into messages that the strictest model server accepts, within a budget.
//!
//! Pure. What it makes starts with the user, alternates, and answers every call exactly once; [`check`] says so
//! of any list of messages. The same entries always make the same messages, so that a server's prompt cache
//! hits. Remarks are never sent; reasoning goes along for the few servers that want it back. It knows no tokenizer: sizes are bytes of text,
//! and a table says about how many tokens that is.

mod check;
mod fit;
pub(crate) mod look_back;
mod marked;
mod past;
mod recap;
mod shrink;
mod tokens;

use serde_json::{Map, Value};
use session_model::{Content, EmbeddedResource, Entry, Item, ResourceBody, Summary};

pub use check::check;
pub use fit::{Budget, Density};
pub use marked::{LastTurn, last_route, marked};
pub use recap::Outgrown;
pub use shrink::shrink;
pub use tokens::Family;

use crate::provider::ModelMessage;

/// What a strict server takes as a function name; longer names are cut, other characters replaced.
const MAX_NAME: usize = 64;

/// The conversation a model is sent: all of `history` that fits into `budget`, then `prompt`. Of what does not fit,
/// and of what `summary` covers, a recap is told.
#[must_use]
pub fn messages<'a>(
    history: impl IntoIterator<Item = &'a Entry>,
    prompt: &[Content],
    budget: Budget,
    summary: Option<&Summary>,
) -> Vec<ModelMessage> {
    let turns = past::turns(history);
    let prompt = user_content(prompt);
    let room = budget.less(content_size(&prompt));
    let (mut messages, left_out) = fit::fit(&turns, summary, room);
    messages.push(ModelMessage::User(prompt));
    if (left_out > 0 || summary.is_some())
        && let Some(ModelMessage::User(content)) = messages.first_mut()
    {
        let recap = recap::recap(&turns[..left_out], summary, recap::facts_room(room));
        content.insert(0, Content::text(recap));
    }
    messages
}

/// The summary that stands for the beginning of `history`, if there is one.
pub fn summary<'a>(history: impl IntoIterator<Item = &'a Entry>) -> Option<&'a Summary> {
    let of = |entry: &'a Entry| match &entry.item {
        Item::Compaction { summary, .. } => Some(summary),
        Item::User { .. }
        | Item::Agent { .. }
        | Item::Thought { .. }
        | Item::Tool { .. }
        | Item::Remark { .. }
        | Item::TurnEnd { .. } => None,
    };
    history.into_iter().filter_map(of).last()
}

/// The turns that have to be summarised before `prompt` is asked within `budget`, if there are any that `summary`
/// does not cover: with `keep` all but so many of the newest; else, when some do not fit, so many that there is room
/// again for a while.
#[must_use]
pub fn outgrown<'a>(
    history: impl IntoIterator<Item = &'a Entry>,
    prompt: &[Content],
    budget: Budget,
    summary: Option<&Summary>,
    keep: Option<usize>,
) -> Option<Outgrown> {
    let turns = past::turns(history);
    let covered = recap::covered(&turns, summary);
    let room = budget.less(content_size(&user_content(prompt)));
    let mut count = fit::fit(&turns, summary, room).1;
    if count > covered {
        // Each summary costs a request and the server's cache, so that it must not be needed with every turn.
        count = count.max(fit::fit(&turns, summary, Budget::bytes(room.size() / 2)).1);
    }
    let count = keep.map_or(count, |keep| count.max(turns.len().saturating_sub(keep)));
    let last = turns.get(count.checked_sub(1)?)?.id.clone();
    let transcript = recap::transcript(&turns[covered.min(count)..count], summary, budget.size() / 2);
    let before = summary.filter(|_| covered == 0).map_or(0, |summary| summary.turns);
    (count > covered).then_some(Outgrown { turns: before + count, last, transcript })
}

/// What was said and done in `history`, as text of at most about `room` bytes: whole turns, the newest. Empty when
/// there is nothing, or not even the last turn fits.
#[must_use]
pub fn transcript<'a>(history: impl IntoIterator<Item = &'a Entry>, room: usize) -> String {
    let turns = past::turns(history);
    let mut from = turns.len();
    let mut text = String::new();
    while let Some(before) = from.checked_sub(1) {
        let longer = recap::transcript(&turns[before..], None, usize::MAX);
        if longer.len() > room {
            break;
        }
        (from, text) = (before, longer);
    }
    match from {
        0 => text,
        _ if text.is_empty() => text,
        left_out => format!("[{left_out} earlier turns left out]\n\n{text}"),
    }
}

/// The arguments of a call as an object; nothing at all means none. Some servers encode the object twice.
///
/// # Errors
/// What is wrong with them, for the model.
pub fn arguments(raw: &str) -> Result<Map<String, Value>, String> {
    let text = raw.trim();
    if text.is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(members)) => Ok(members),
        Ok(Value::Null) => Ok(Map::new()),
        Ok(Value::String(inner)) => match serde_json::from_str(&inner) {
            Ok(Value::Object(members)) => Ok(members),
            Ok(_) | Err(_) => Err("invalid arguments: a JSON object is needed, not a string".to_owned()),
        },
        Ok(Value::Array(_) | Value::Bool(_) | Value::Number(_)) => {
            Err("invalid arguments: a JSON object is needed".to_owned())
        }
        Err(error) if error.is_eof() => Err(format!(
            "invalid arguments: not valid JSON, they stop in the middle ({error}); nothing was run; send the whole call \
             again, in smaller pieces if it is long"
        )),
        Err(error) => Err(format!("invalid arguments: not valid JSON ({error}); nothing was run")),
    }
}

/// Whether the arguments of a call stop in the middle.
#[must_use]
pub fn stops_early(raw: &str) -> bool {
    let text = raw.trim();
    !text.is_empty() && serde_json::from_str::<serde::de::IgnoredAny>(text).is_err_and(|error| error.is_eof())
}

/// `name` as a strict server accepts it.
#[must_use]
pub fn wire_name(name: &str) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    let name: String = name.chars().take(MAX_NAME).map(allowed).collect();
    if name.is_empty() { "unknown".to_owned() } else { name }
}

/// No server takes a message without content.
fn user_content(content: &[Content]) -> Vec<Content> {
    let says_something = |piece: &Content| piece.as_text().is_none_or(|text| !text.trim().is_empty());
    if content.iter().any(says_something) {
        return content.to_vec();
    }
    vec![Content::text("(empty message)")]
}

fn content_size(content: &[Content]) -> usize {
    content
        .iter()
        .map(|piece| match piece {
            Content::Text { text } => text.len(),
            // Media is counted by the server in tiles, not in characters; this is about a page of text.
            Content::Image { .. } | Content::Audio { .. } => 4_000,
            Content::Link(link) => link.uri.len() + link.name.len(),
            Content::Resource(EmbeddedResource { uri, body, .. }) => {
                uri.len()
                    + match body {
                        ResourceBody::Text(text) | ResourceBody::Blob(text) => text.len(),
                    }
            }
        })
        .sum()
}

/// How much room messages take, in bytes of text.
#[must_use]
pub fn total_size(messages: &[ModelMessage]) -> usize {
    messages.iter().map(size).sum()
}

/// How much room a message takes.
fn size(message: &ModelMessage) -> usize {
    match message {
        ModelMessage::User(content) => content_size(content),
        ModelMessage::Assistant { text, calls, kept, reasoning: _ } => {
            let calls = calls.iter().map(|call| call.name.len() + call.arguments.len());
            text.len() + calls.sum::<usize>() + kept.iter().map(json_size).sum::<usize>()
        }
        ModelMessage::ToolResult { output, .. } => output.len(),
    }
}

/// The length of a value's texts; the rest of its form hardly counts.
fn json_size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(json_size).sum(),
        Value::Object(members) => members.iter().map(|(name, value)| name.len() + json_size(value)).sum(),
    }
}

#[cfg(test)]
mod tests;
