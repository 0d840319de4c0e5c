//! Makes room while a turn runs: first old outputs and long arguments go, then what is too long of the newest.

use serde_json::{Map, Value};

use super::fit::{Budget, CLEARED};
use super::{size, total_size};
use crate::provider::ModelMessage;

/// When the running turn outgrows its room, it shrinks to this share of it at once: a beginning that changed with
/// every request would defeat every cache.
const SHRINK_TO_PERCENT: usize = 75;
/// Characters kept of a long argument.
const ARGUMENT_CHARS: usize = 200;
/// What is left of a newest output at least, in bytes.
const LEAST_OUTPUT: usize = 1_000;

/// Shortens the running turn's messages when they have outgrown `budget`. The answers to the newest calls are cut
/// only when nothing else helps, for the model has not seen them yet.
pub fn shrink(messages: &mut [ModelMessage], budget: Budget) {
    let mut total = total_size(messages);
    if total <= budget.size() {
        return;
    }
    let aim = budget.size() / 100 * SHRINK_TO_PERCENT;
    let newest = messages.iter().rposition(|message| matches!(message, ModelMessage::Assistant { .. }));
    let (old, new) = messages.split_at_mut(newest.unwrap_or_default());
    for message in old {
        if total <= aim {
            return;
        }
        let before = size(message);
        shorten(message);
        total -= before - size(message);
    }
    if total > budget.size() {
        cut_newest(new, total - budget.size());
    }
}

/// The arguments with long texts shortened; still an object.
pub(super) fn short_arguments(arguments: &str) -> String {
    let Ok(Value::Object(mut members)) = serde_json::from_str(arguments) else { return arguments.to_owned() };
    for value in members.values_mut() {
        if let Value::String(text) = value
            && let Some((end, _)) = text.char_indices().nth(ARGUMENT_CHARS)
        {
            let left_out = text[end..].chars().count();
            let short = format!("{}… [{left_out} more characters]", &text[..end]);
            if short.len() < text.len() {
                *text = short;
            }
        }
    }
    Value::Object(members).to_string()
}

fn shorten(message: &mut ModelMessage) {
    match message {
        ModelMessage::User(_) => {}
        ModelMessage::Assistant { calls, .. } => {
            for call in calls {
                let short = short_arguments(&call.arguments);
                if short.len() < call.arguments.len() {
                    call.arguments = short;
                }
            }
        }
        ModelMessage::ToolResult { output, .. } => {
            if output.len() > CLEARED.len() {
                CLEARED.clone_into(output);
            }
        }
    }
}

/// Cuts the longest outputs to one length, so that `excess` bytes go in all.
fn cut_newest(messages: &mut [ModelMessage], mut excess: usize) {
    let mut outputs: Vec<&mut String> = messages
        .iter_mut()
        .filter_map(|message| match message {
            ModelMessage::ToolResult { output, .. } => Some(output),
            ModelMessage::User(_) | ModelMessage::Assistant { .. } => None,
        })
        .collect();
    outputs.sort_by_key(|output| std::cmp::Reverse(output.len()));
    let count = outputs.len();
    for (done, output) in outputs.into_iter().enumerate() {
        if excess == 0 {
            return;
        }
        let share = excess.div_ceil(count - done);
        let keep = output.len().saturating_sub(share).max(LEAST_OUTPUT);
        if keep < output.len() {
            let cut = cut_output(output, keep);
            excess = excess.saturating_sub(output.len().saturating_sub(cut.len()));
            *output = cut;
        }
    }
}

/// The beginning and the end of an output, in about `keep` bytes of the tool's own form.
fn cut_output(output: &str, keep: usize) -> String {
    let Ok(Value::Object(members)) = serde_json::from_str::<Value>(output) else {
        return ends(output, keep);
    };
    let cut: Map<String, Value> = members
        .into_iter()
        .map(|(name, mut value)| {
            if let Value::String(text) = &mut value {
                // Escapes make the written form longer than the text: in proportion, not in bytes.
                let share = text.len().saturating_mul(keep) / output.len().max(1);
                *text = ends(text, share);
            }
            (name, value)
        })
        .collect();
    Value::Object(cut).to_string()
}

fn ends(text: &str, keep: usize) -> String {
    if text.len() <= keep {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(keep / 3 * 2);
    let tail = text.ceil_char_boundary(text.len() - keep / 3);
    let left_out = tail - head;
    format!(
        "{}\n[… {left_out} bytes left out to fit the model's window; ask for a smaller part …]\n{}",
        &text[..head],
        &text[tail..]
    )
}
