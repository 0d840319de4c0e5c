//! Shortens what is replayed. Cuts fall between characters, keep the beginning and the end, and say how much is
//! missing.

use std::ops::Range;

use serde_json::Value;
use session_model::{Content, FileChange, ResourceBody, ToolContent};

/// A change whose two sides are together within this is shown whole even where texts are cut shorter: half a
/// change reads as a different change.
const CHANGE_BYTES: usize = 64 * 1024;

/// `text`, at most `limit` bytes of it beside the marker.
pub(super) fn text(text: String, limit: usize) -> String {
    match middle(&text, limit) {
        Some(gap) => format!("{}{}{}", &text[..gap.start], marker(gap.len()), &text[gap.end..]),
        None => text,
    }
}

/// A message's content: its texts together within `limit` bytes, what is no text each.
pub(super) fn message(content: Vec<Content>, limit: usize) -> Vec<Content> {
    let total: usize = content.iter().map(|piece| text_in(piece).map_or(0, str::len)).sum();
    let mut cutter = (total > limit).then(|| Cutter::new(total, limit));
    let mut kept = Vec::with_capacity(content.len());
    for mut piece in content {
        let Some(text) = text_in_mut(&mut piece) else {
            kept.push(media(piece, limit));
            continue;
        };
        if cutter.as_mut().is_none_or(|cutter| cutter.take(text)) {
            kept.push(piece);
        }
    }
    kept
}

/// What a tool call's row shows.
pub(super) fn tool(content: Vec<ToolContent>, limit: usize) -> Vec<ToolContent> {
    let (mut texts, mut kept) = (Vec::new(), Vec::new());
    let flush = |texts: &mut Vec<Content>, kept: &mut Vec<ToolContent>| {
        kept.extend(message(std::mem::take(texts), limit).into_iter().map(ToolContent::Content));
    };
    for piece in content {
        match piece {
            ToolContent::Content(content) => texts.push(content),
            ToolContent::Terminal(terminal) => texts.push(Content::text(terminal.shown)),
            ToolContent::Change(file) => {
                flush(&mut texts, &mut kept);
                kept.push(change(file, limit.max(CHANGE_BYTES)));
            }
        }
    }
    flush(&mut texts, &mut kept);
    kept
}

/// Arguments or a result: every text within `limit` bytes, and the whole not much larger.
pub(super) fn value(value: Value, limit: usize) -> Value {
    let mut left = limit;
    shorten(value, &mut left)
}

fn shorten(value: Value, left: &mut usize) -> Value {
    match value {
        Value::String(whole) => {
            let length = whole.len();
            let cut = text(whole, *left);
            *left -= length.min(*left);
            Value::String(cut)
        }
        Value::Array(items) => Value::Array(items.into_iter().map(|item| shorten(item, left)).collect()),
        Value::Object(members) => {
            Value::Object(members.into_iter().map(|(name, member)| (name, shorten(member, left))).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

fn change(file: FileChange, limit: usize) -> ToolContent {
    let size: usize = [&file.before, &file.after].into_iter().flatten().map(String::len).sum();
    if size <= limit {
        return ToolContent::Change(file);
    }
    let note = format!("[… the change of {} ({size} bytes) is omitted from replay …]", file.path.display());
    ToolContent::Content(Content::text(note))
}

fn media(piece: Content, limit: usize) -> Content {
    let (size, what) = match &piece {
        Content::Image { data, mime_type, .. } | Content::Audio { data, mime_type } => {
            (data.len(), mime_type)
        }
        Content::Resource(resource) => match &resource.body {
            ResourceBody::Blob(data) => (data.len(), &resource.uri),
            ResourceBody::Text(_) => return piece,
        },
        Content::Text { .. } | Content::Link(_) => return piece,
    };
    if size <= limit {
        return piece;
    }
    Content::text(format!("[… {what} ({size} bytes, base64) is omitted from replay …]"))
}

fn text_in(piece: &Content) -> Option<&str> {
    match piece {
        Content::Text { text } => Some(text),
        Content::Resource(resource) => match &resource.body {
            ResourceBody::Text(text) => Some(text),
            ResourceBody::Blob(_) => None,
        },
        Content::Image { .. } | Content::Audio { .. } | Content::Link(_) => None,
    }
}

fn text_in_mut(piece: &mut Content) -> Option<&mut String> {
    match piece {
        Content::Text { text } => Some(text),
        Content::Resource(resource) => match &mut resource.body {
            ResourceBody::Text(text) => Some(text),
            ResourceBody::Blob(_) => None,
        },
        Content::Image { .. } | Content::Audio { .. } | Content::Link(_) => None,
    }
}

/// Takes the middle out of several texts as if they were one.
struct Cutter {
    /// Where the next text begins in the whole.
    at: usize,
    gap: Range<usize>,
    marked: bool,
}

impl Cutter {
    fn new(total: usize, limit: usize) -> Self {
        let head = limit / 2;
        Self { at: 0, gap: head..total - (limit - head), marked: false }
    }

    /// Cuts `text`; false when nothing remains of it.
    fn take(&mut self, text: &mut String) -> bool {
        let here = self.at..self.at + text.len();
        self.at = here.end;
        let start = floor(text, self.gap.start.clamp(here.start, here.end) - here.start);
        let end = ceil(text, self.gap.end.clamp(here.start, here.end) - here.start);
        if start >= end {
            return true;
        }
        let marker = if self.marked { String::new() } else { marker(self.gap.len()) };
        self.marked = true;
        text.replace_range(start..end, &marker);
        !text.is_empty()
    }
}

/// The part to leave out, when `text` is longer than `limit`.
fn middle(text: &str, limit: usize) -> Option<Range<usize>> {
    if text.len() <= limit {
        return None;
    }
    let head = limit / 2;
    let start = floor(text, head);
    let end = ceil(text, text.len() - (limit - head));
    Some(start..end)
}

/// The last character boundary up to `at`.
fn floor(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// The first character boundary from `at` on.
fn ceil(text: &str, at: usize) -> usize {
    (at..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

fn marker(bytes: usize) -> String {
    format!("\n[… {bytes} bytes omitted from replay …]\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use session_model::{Content, FileChange, FileOp, ToolContent};

    use super::{message, text, tool, value};

    #[test]
    fn long_texts_keep_both_ends_and_say_what_is_missing() {
        for (whole, limit, cut) in [
            ("abcdefgh", 8, "abcdefgh"),
            ("abcdefghi", 8, "abcd\n[… 1 bytes omitted from replay …]\nfghi"),
            ("ééééé", 6, "é\n[… 6 bytes omitted from replay …]\né"),
            ("abc", 0, "\n[… 3 bytes omitted from replay …]\n"),
        ] {
            assert_eq!(text(whole.to_owned(), limit), cut, "{whole} {limit}");
        }
    }

    #[test]
    fn the_texts_of_a_message_share_the_limit() {
        let pieces = ["aaaa", "bbbb", "cccc", "dddd"].map(Content::text).to_vec();
        assert_eq!(message(pieces.clone(), 16), pieces);
        let expected = ["aaa\n[… 10 bytes omitted from replay …]\n", "ddd"].map(Content::text);
        assert_eq!(message(pieces, 6), expected);
    }

    #[test]
    fn large_media_and_changes_are_named_instead() {
        let image = |data: &str| Content::Image {
            data: data.to_owned(),
            mime_type: "image/png".to_owned(),
            uri: None,
        };
        let noted = message(vec![image("AAAA"), image("AAAAAAAA")], 4);
        let note = "[… image/png (8 bytes, base64) is omitted from replay …]";
        assert_eq!(noted, [image("AAAA"), Content::text(note)]);
        let change = |size: usize| {
            ToolContent::Change(FileChange {
                path: "/f".into(),
                op: FileOp::Modify,
                before: Some("x".repeat(size)),
                after: None,
            })
        };
        let note = "[… the change of /f (65537 bytes) is omitted from replay …]";
        let shown = tool(vec![change(65_536), change(65_537)], 4);
        assert_eq!(shown, [change(65_536), ToolContent::Content(Content::text(note))]);
    }

    #[test]
    fn all_texts_of_a_value_share_the_limit() {
        let cut = value(json!({"a": ["1234", 5], "b": "12345678", "c": "x"}), 8);
        let marked = "12\n[… 4 bytes omitted from replay …]\n78";
        assert_eq!(cut, json!({"a": ["1234", 5], "b": marked, "c": "\n[… 1 bytes omitted from replay …]\n"}));
    }
}
