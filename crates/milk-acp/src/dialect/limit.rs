//! Keeps lines short enough for clients that read them into fixed buffers. Text of a message is split, never cut;
//! what a tool shows is cut with a notice in its place. Knows no version.

use std::borrow::Cow;

use serde_json::{Map, Value};
use session_model::{Content, ResourceBody};

/// The most text in one update, in bytes. Some clients' line buffers end at 64 KiB, and escaping lengthens a text.
pub(super) const MAX_TEXT: usize = 32 * 1024;

/// The longest line written for any update, in bytes.
pub(super) const MAX_LINE: usize = 1024 * 1024;

/// What an update may carry beside its framing (ids, names, the envelope).
pub(super) const MAX_BODY: usize = MAX_LINE - 8 * 1024;

/// The longest title of a tool call, in bytes.
pub(super) const MAX_TITLE: usize = 1024;

/// The notice in place of a whole part that made the line too long.
pub(super) const NOT_SHOWN: &str = "[not shown: too long]";

/// How much of a message is worded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    /// All that the limits allow.
    Full,
    /// Only what cannot be left out: escaping made the line too long.
    Bare,
}

/// What is left of one line's body.
#[derive(Debug)]
pub(super) struct Budget(usize);

impl Budget {
    pub(super) fn new() -> Self {
        Self(MAX_BODY)
    }

    /// Whether `bytes` more still fit; then they are spent.
    pub(super) fn take(&mut self, bytes: usize) -> bool {
        spend(&mut self.0, bytes)
    }
}

/// About how many bytes `content` takes on the wire.
pub(super) fn size(content: &Content) -> usize {
    match content {
        Content::Text { text } => text.len(),
        Content::Image { data, mime_type, uri } => {
            data.len() + mime_type.len() + uri.as_ref().map_or(0, String::len)
        }
        Content::Audio { data, mime_type } => data.len() + mime_type.len(),
        Content::Link(link) => {
            let description = link.description.as_ref().map_or(0, String::len);
            link.uri.len() + link.name.len() + description
        }
        Content::Resource(resource) => {
            let body = match &resource.body {
                ResourceBody::Text(body) | ResourceBody::Blob(body) => body.len(),
            };
            resource.uri.len() + body
        }
    }
}

/// The notice in place of content that fits no line.
pub(super) fn unshown(content: &Content) -> String {
    let what = match content {
        Content::Text { .. } => "text",
        Content::Image { .. } => "image",
        Content::Audio { .. } => "audio",
        Content::Link(_) => "link",
        Content::Resource(_) => "resource",
    };
    format!("[{what} of {} bytes not shown]", size(content))
}

/// The notice in place of a change that fits no line.
pub(super) fn unshown_change(path: &str, bytes: usize) -> String {
    format!("[change of {path} not shown: {bytes} bytes]")
}

/// The longest beginning of `text` of at most `limit` bytes that ends at a character's boundary.
pub(super) fn head(text: &str, limit: usize) -> &str {
    if text.len() <= limit {
        return text;
    }
    let end = (0..=limit).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    &text[..end]
}

/// The longest end of `text` of at most `limit` bytes that begins at a character's boundary.
pub(super) fn tail(text: &str, limit: usize) -> &str {
    let from = text.len().saturating_sub(limit);
    let start = (from..text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len());
    &text[start..]
}

/// `text` in pieces of at most [`MAX_TEXT`] bytes; one, possibly empty, when it fits.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest.take()?;
        let piece = head(text, MAX_TEXT);
        rest = (piece.len() < text.len()).then(|| &text[piece.len()..]);
        Some(piece)
    })
}

/// `text`, or its beginning with a notice of how much is missing.
pub(super) fn cut(text: &str, limit: usize) -> Cow<'_, str> {
    if text.len() <= limit {
        return Cow::Borrowed(text);
    }
    let kept = head(text, limit);
    Cow::Owned(format!("{kept}\n{}", omitted(text.len() - kept.len())))
}

/// The notice in place of bytes that are not sent.
pub(super) fn omitted(bytes: usize) -> String {
    format!("[… {bytes} bytes omitted]")
}

/// `value`, or a copy in which texts are cut so that all of them together stay within [`MAX_TEXT`].
pub(super) fn cut_value(value: &Value) -> Cow<'_, Value> {
    let mut budget = MAX_TEXT;
    if fits(value, &mut budget) {
        return Cow::Borrowed(value);
    }
    let mut budget = MAX_TEXT;
    Cow::Owned(trimmed(value, &mut budget))
}

/// Spends the budget on `value`; false when it runs out. Numbers and punctuation count a few bytes each.
fn fits(value: &Value, budget: &mut usize) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => spend(budget, 8),
        Value::String(text) => spend(budget, text.len()),
        Value::Array(items) => items.iter().all(|item| spend(budget, 1) && fits(item, budget)),
        Value::Object(members) => {
            members.iter().all(|(name, member)| spend(budget, name.len()) && fits(member, budget))
        }
    }
}

fn spend(budget: &mut usize, bytes: usize) -> bool {
    match budget.checked_sub(bytes) {
        Some(left) => {
            *budget = left;
            true
        }
        None => false,
    }
}

/// A copy of `value` that keeps its shape as far as the budget goes.
fn trimmed(value: &Value, budget: &mut usize) -> Value {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            *budget = budget.saturating_sub(8);
            value.clone()
        }
        Value::String(text) => {
            let kept = cut(text, *budget);
            *budget = budget.saturating_sub(text.len());
            Value::String(kept.into_owned())
        }
        Value::Array(items) => Value::Array(trimmed_items(items, budget)),
        Value::Object(members) => Value::Object(trimmed_members(members, budget)),
    }
}

fn trimmed_items(items: &[Value], budget: &mut usize) -> Vec<Value> {
    let mut kept = Vec::new();
    for (index, item) in items.iter().enumerate() {
        if *budget == 0 {
            kept.push(Value::String(format!("[… {} items omitted]", items.len() - index)));
            break;
        }
        *budget = budget.saturating_sub(1);
        kept.push(trimmed(item, budget));
    }
    kept
}

/// Short members go first: a path must not be lost behind a long text.
fn trimmed_members(members: &Map<String, Value>, budget: &mut usize) -> Map<String, Value> {
    let mut values = vec![None; members.len()];
    for short in [true, false] {
        for (slot, (name, member)) in values.iter_mut().zip(members) {
            if is_short(member) == short && *budget > 0 {
                *budget = budget.saturating_sub(name.len());
                *slot = Some(trimmed(member, budget));
            }
        }
    }
    let omitted = values.iter().filter(|value| value.is_none()).count();
    let kept = members.keys().zip(values).filter_map(|(name, value)| Some((name.clone(), value?)));
    let mut kept: Map<String, Value> = kept.collect();
    if omitted > 0 {
        kept.insert("…".to_owned(), Value::String(format!("[… {omitted} members omitted]")));
    }
    kept
}

fn is_short(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
        Value::String(text) => text.len() <= 256,
        Value::Array(_) | Value::Object(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pieces_join_to_the_text_and_split_no_character() {
        let text = "é🦀x".repeat(20_000);
        let all: Vec<&str> = pieces(&text).collect();
        assert!(all.len() > 1);
        assert!(all.iter().all(|piece| piece.len() <= MAX_TEXT));
        assert_eq!(all.concat(), text);
    }

    #[test]
    fn a_short_or_empty_text_is_one_piece() {
        assert_eq!(pieces("").collect::<Vec<_>>(), [""]);
        assert_eq!(pieces("abc").collect::<Vec<_>>(), ["abc"]);
    }

    #[test]
    fn a_cut_text_says_how_much_is_missing() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdef", 2), "ab\n[… 4 bytes omitted]");
        assert_eq!(cut("ééé", 3), "é\n[… 4 bytes omitted]");
    }

    #[test]
    fn the_tail_begins_at_a_character() {
        assert_eq!(tail("ééé", 3), "é");
        assert_eq!(tail("abc", 5), "abc");
    }

    #[test]
    fn a_value_that_fits_is_not_copied() {
        let value = json!({"command": "ls", "n": [1, true, null]});
        assert!(matches!(cut_value(&value), Cow::Borrowed(_)));
    }

    #[test]
    fn a_large_value_keeps_its_shape_and_loses_text() {
        let value = json!({"content": "x".repeat(100_000), "more": "y".repeat(100_000), "path": "/w/a"});
        let kept = cut_value(&value);
        assert_eq!(kept["path"], "/w/a");
        let content = kept["content"].as_str().unwrap();
        assert!(content.len() < MAX_TEXT + 64);
        assert!(content.ends_with("bytes omitted]"), "{}", &content[content.len() - 40..]);
        assert_eq!(kept["…"], "[… 1 members omitted]");
    }

    #[test]
    fn many_small_items_are_bounded_too() {
        let items: Vec<Value> = (0..100_000).map(|_| json!("abc")).collect();
        let kept = cut_value(&Value::Array(items)).into_owned();
        let kept = kept.as_array().unwrap().clone();
        assert!(kept.len() < 10_000);
        assert!(kept.last().unwrap().as_str().unwrap().contains("items omitted"));
    }
}
