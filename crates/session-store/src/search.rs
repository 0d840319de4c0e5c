//! What a search looks for, whatever keeps the messages: which words, in which texts, and what is shown of them.
//!
//! Every word of a query must occur in one message, or in the title, or in the name: as part of a longer word too,
//! in upper or lower case, in any order. A pure module; how candidates are found is each store's own.

use session_model::{Item, MessageId, TurnId, text_of};

use crate::meta::SessionMeta;

/// How many characters of a message a hit shows.
const SNIPPET_CHARS: usize = 120;
/// How many of them at most stand before the word that was found.
const BEFORE_CHARS: usize = 30;

/// A session that a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// What is known of the session.
    pub meta: SessionMeta,
    /// The newest message with the words in it; `None` when only the title or the name has them.
    pub message: Option<HitMessage>,
    /// The part of the message, title or name around the first word found; on one line.
    pub snippet: String,
}

/// Where in a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HitMessage {
    /// Its turn.
    pub turn: TurnId,
    /// Its id.
    pub id: MessageId,
}

/// The words looked for, none empty and none twice.
#[derive(Debug, Clone)]
pub(crate) struct Query {
    words: Vec<String>,
}

impl Query {
    /// The words of what the user typed.
    pub(crate) fn new(text: &str) -> Self {
        let mut words: Vec<String> = fold(text).split(' ').map(str::to_owned).collect();
        words.sort();
        words.dedup();
        words.retain(|word| !word.is_empty());
        Self { words }
    }

    /// Whether there is nothing to look for.
    pub(crate) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The words, folded.
    pub(crate) fn words(&self) -> &[String] {
        &self.words
    }

    /// Whether all words occur in `text`.
    pub(crate) fn matches(&self, text: &str) -> bool {
        let folded = fold(text);
        self.words.iter().all(|word| folded.contains(word.as_str()))
    }

    /// The text of `item` where it is a message that has all the words.
    pub(crate) fn message(&self, item: &Item) -> Option<(MessageId, String)> {
        message_text(item).filter(|(_, text)| self.matches(text))
    }

    /// The title or name that has all the words.
    pub(crate) fn label<'a>(&self, title: Option<&'a str>, name: Option<&'a str>) -> Option<&'a str> {
        [title, name].into_iter().flatten().find(|label| self.matches(label))
    }

    /// What is shown of a text that matches.
    pub(crate) fn snippet(&self, text: &str) -> String {
        let line: Vec<char> = collapsed(text).collect();
        let folded: Vec<(usize, char)> =
            line.iter().enumerate().flat_map(|(at, c)| fold_char(*c).map(move |c| (at, c))).collect();
        let found = self.words.iter().filter_map(|word| position(&folded, word)).min().unwrap_or(0);
        let begin = if line.len() <= SNIPPET_CHARS { 0 } else { found.saturating_sub(BEFORE_CHARS) };
        let begin = begin.min(line.len().saturating_sub(SNIPPET_CHARS));
        let end = line.len().min(begin + SNIPPET_CHARS);
        let (before, after) = (if begin > 0 { "…" } else { "" }, if end < line.len() { "…" } else { "" });
        format!("{before}{}{after}", line[begin..end].iter().collect::<String>().trim())
    }
}

/// A message's id and text; `None` for what is no message of the conversation, or has no words.
pub(crate) fn message_text(item: &Item) -> Option<(MessageId, String)> {
    let (id, text) = match item {
        Item::User { id, content, .. } => (id, text_of(content)),
        Item::Agent { id, text, .. } => (id, text.clone()),
        Item::Thought { .. }
        | Item::Tool { .. }
        | Item::Remark { .. }
        | Item::Compaction { .. }
        | Item::TurnEnd { .. } => return None,
    };
    (!text.trim().is_empty()).then(|| (id.clone(), text))
}

/// The text in which words are looked for: lower case, whitespace collapsed.
pub(crate) fn fold(text: &str) -> String {
    if text.is_ascii() {
        return fold_ascii(text);
    }
    collapsed(text).flat_map(fold_char).collect()
}

/// The same, several times as fast: a search without help from an index does little else.
fn fold_ascii(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    let mut gap = false;
    for byte in text.bytes() {
        if byte == b' ' || byte.is_ascii_control() {
            gap = !folded.is_empty();
        } else {
            if gap {
                folded.push(' ');
                gap = false;
            }
            folded.push(char::from(byte.to_ascii_lowercase()));
        }
    }
    folded
}

/// Character by character, so that what a word becomes does not depend on where it stands (as the Greek final
/// sigma would).
fn fold_char(c: char) -> impl Iterator<Item = char> {
    c.to_lowercase().map(|c| if c == 'ς' { 'σ' } else { c })
}

/// Control characters count as space: they are no part of words, and a search index ends at a NUL.
fn collapsed(text: &str) -> impl Iterator<Item = char> {
    let gap = |c: char| c.is_whitespace() || c.is_control();
    let words = text.split(gap).filter(|word| !word.is_empty());
    words.enumerate().flat_map(|(n, word)| (n > 0).then_some(' ').into_iter().chain(word.chars()))
}

/// The character of the original at which `word` begins.
fn position(folded: &[(usize, char)], word: &str) -> Option<usize> {
    let word: Vec<char> = word.chars().collect();
    let begins = |part: &&[(usize, char)]| part.iter().map(|(_, c)| c).eq(word.iter());
    folded.windows(word.len()).find(begins).and_then(|part| part.first()).map(|(at, _)| *at)
}

#[cfg(test)]
mod tests {
    use super::{Query, fold};

    #[test]
    fn words_are_found_in_any_case_order_and_place() {
        for (query, text, found) in [
            ("fix Login", "the LOGIN form:\n\tprefixes", true),
            ("fix login", "the login form", false),
            ("ogi", "the login form", true),
            ("日本", "これは日本語です", true),
            ("ÉTÉ", "l'été", true),
            ("σας", "ΣΑΣ", true),
            ("ΣΑΣ", "σας", true),
            ("a\0b", "a b", true),
            ("\"OR\"", "x \"or\" y", true),
            ("100%", "is 100 percent", false),
        ] {
            assert_eq!(Query::new(query).matches(text), found, "{query:?} in {text:?}");
        }
        assert!(Query::new(" \n\0").is_empty());
        assert_eq!(fold("  A\0\0B \u{3000}c "), "a b c");
        let all: String = (0..=127_u8).map(char::from).chain([' ', 'Z', '\n']).collect();
        assert_eq!(fold(&all), fold(&format!("{all}\u{e9}")).trim_end_matches([' ', '\u{e9}']));
    }

    #[test]
    fn a_snippet_is_the_line_around_the_first_word_found() {
        let words = |n: usize| vec!["word"; n].join(" ");
        let long = format!("{} İs the\nNEEDLE here {}", words(50), words(50));
        let snippet = Query::new("here needle").snippet(&long);
        assert_eq!(snippet.chars().count(), 122);
        assert!(snippet.starts_with("…rd word word word word İs the NEEDLE here word"), "{snippet}");
        assert_eq!(Query::new("x").snippet("  short\n x "), "short x");
        let end = format!("{} needle", words(50));
        let snippet = Query::new("needle").snippet(&end);
        assert!(snippet.starts_with('…') && snippet.ends_with("word needle"), "{snippet}");
        let begin = format!("needle {}", words(50));
        assert!(Query::new("needle").snippet(&begin).starts_with("needle word"));
    }
}
