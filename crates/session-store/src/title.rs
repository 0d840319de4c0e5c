//! The short title a session gets from its first words.

use session_model::{Entry, Item, text_of};

/// How many characters of the first message make a title.
const TITLE_CHARS: usize = 60;

/// The title that `entries` give a session without one: the first user message with words in it, whitespace
/// collapsed, cut to 60 characters and an ellipsis.
#[must_use]
pub fn title_from(entries: &[Entry]) -> Option<String> {
    entries.iter().find_map(|entry| match &entry.item {
        Item::User { content, .. } => shorten(&text_of(content)),
        Item::Agent { .. }
        | Item::Thought { .. }
        | Item::Tool { .. }
        | Item::Remark { .. }
        | Item::Compaction { .. }
        | Item::TurnEnd { .. } => None,
    })
}

fn shorten(text: &str) -> Option<String> {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.is_empty() {
        return None;
    }
    Some(match words.char_indices().nth(TITLE_CHARS) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words,
    })
}

#[cfg(test)]
mod tests {
    use super::shorten;

    #[test]
    fn whitespace_is_collapsed_and_the_length_counted_in_characters() {
        for (text, title) in [
            ("", None),
            (" \n\t ", None),
            ("  fix\n\nthe   bug ", Some("fix the bug".to_owned())),
            (&"é".repeat(60), Some("é".repeat(60))),
            (&"é".repeat(61), Some(format!("{}…", "é".repeat(60)))),
        ] {
            assert_eq!(shorten(text), title, "{text:?}");
        }
    }
}
