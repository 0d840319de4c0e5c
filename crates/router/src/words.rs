//! Finds words and phrases in a text, at word boundaries and without regard to case.
//!
//! A boundary is where no letter, digit or underscore joins the phrase, and neither does a hyphen, a slash, a dot
//! or an apostrophe that itself joins a word: `read` is in "read it", and neither in "thread" nor in "read-only",
//! `src/read/mod.rs` or `read.rs`. Scripts written without spaces have no such boundaries; there any place will do.

/// Whether `phrase` occurs in `text`. Both are lower case.
pub(crate) fn contains(text: &str, phrase: &str) -> bool {
    !phrase.is_empty()
        && text
            .match_indices(phrase)
            .any(|(at, _)| begins_word(&text[..at], phrase) && ends_word(&text[at + phrase.len()..], phrase))
}

/// Whether `text`, but for punctuation before it, begins with `phrase`. Both are lower case. An apostrophe ends
/// the phrase here: "what's" begins with `what`.
pub(crate) fn begins_with(text: &str, phrase: &str) -> bool {
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    let Some(rest) = text.strip_prefix(phrase) else { return false };
    !phrase.is_empty() && (rest.starts_with(APOSTROPHES) || ends_word(rest, phrase))
}

/// How many words `text` has; each character of a script without spaces counts as one.
pub(crate) fn count(text: &str) -> usize {
    let unspaced = text.chars().filter(|c| is_unspaced(*c)).count();
    let spaced = text.split(|c: char| !c.is_alphanumeric() || is_unspaced(c)).filter(|word| !word.is_empty());
    unspaced + spaced.count()
}

const APOSTROPHES: [char; 2] = ['\'', '’'];

fn begins_word(before: &str, phrase: &str) -> bool {
    if phrase.chars().next().is_some_and(is_unspaced) {
        return true;
    }
    let mut back = before.chars().rev();
    match back.next() {
        None => true,
        Some('/' | '\\' | '.' | '_') => false,
        // Apostrophes that stand before a word are quotes or elisions.
        Some('-') => !back.next().is_some_and(char::is_alphanumeric),
        Some(c) => !c.is_alphanumeric() || is_unspaced(c),
    }
}

fn ends_word(after: &str, phrase: &str) -> bool {
    if phrase.chars().next_back().is_some_and(is_unspaced) {
        return true;
    }
    let mut next = after.chars();
    match next.next() {
        None => true,
        Some('/' | '\\' | '_') => false,
        Some('-' | '.' | '\'' | '’') => !next.next().is_some_and(char::is_alphanumeric),
        Some(c) => !c.is_alphanumeric() || is_unspaced(c),
    }
}

/// Han, kana, and the scripts of mainland South-East Asia.
fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c),
        0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF | 0x3040..=0x30FF | 0x3400..=0x4DBF
        | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}

#[cfg(test)]
mod tests {
    use super::{begins_with, contains, count};

    #[test]
    fn phrases_are_found_at_word_boundaries_only() {
        for (text, phrase, found) in [
            ("list the files", "list", true),
            ("please, list.", "list", true),
            ("(list)", "list", true),
            ("listen to me", "list", false),
            ("an enlist", "list", false),
            ("explain this", "plan", false),
            ("prune the tree", "run", false),
            ("the address book", "add", false),
            ("a thread", "read", false),
            ("it is read-only", "read", false),
            ("open src/list/mod.rs", "list", false),
            ("open list.rs", "list", false),
            ("call list_all", "list", false),
            ("the list's head", "list", false),
            ("- list it", "list", true),
            ("first thread, then read", "read", true),
            ("explain why it fails", "explain why", true),
            ("explain whyever", "explain why", false),
            ("l'analizza", "analizza", true),
            ("spiega perché no", "spiega perché", true),
            ("città", "citt", false),
            ("请重构整个模块", "重构", true),
            ("用run命令", "run", true),
            ("anything", "", false),
        ] {
            assert_eq!(contains(text, phrase), found, "{phrase:?} in {text:?}");
        }
    }

    #[test]
    fn a_beginning_may_follow_punctuation_and_end_in_an_apostrophe() {
        for (text, phrase, found) in [
            ("what is this", "what", true),
            ("what's this", "what", true),
            ("what", "what", true),
            ("what?", "what", true),
            ("whatever", "what", false),
            ("¿cómo?", "cómo", true),
            ("\"why, though\"", "why", true),
            ("how-to guide", "how", false),
            ("so what", "what", false),
        ] {
            assert_eq!(begins_with(text, phrase), found, "{phrase:?} at {text:?}");
        }
    }

    #[test]
    fn words_are_counted_in_every_script() {
        for (text, words) in [("", 0), ("yes, continue please", 3), ("なぜ失敗", 4), ("用 run 命令", 4)]
        {
            assert_eq!(count(text), words, "{text}");
        }
    }
}
