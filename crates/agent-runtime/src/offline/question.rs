//! What a question names: files, folders, and words to search for.

use session_model::{Content, text_of};

const MAX_PATHS: usize = 3;
const MAX_TERMS: usize = 3;
/// Shorter words are searched for only when quoted.
const MIN_WORD: usize = 4;

/// Words that say how something is asked, not what about.
const COMMON: &[&str] = &[
    "able",
    "about",
    "after",
    "again",
    "also",
    "another",
    "answer",
    "anything",
    "because",
    "before",
    "being",
    "between",
    "both",
    "called",
    "change",
    "check",
    "code",
    "codebase",
    "come",
    "contain",
    "contains",
    "could",
    "create",
    "describe",
    "difference",
    "directory",
    "does",
    "doing",
    "done",
    "each",
    "everything",
    "exactly",
    "explain",
    "file",
    "files",
    "find",
    "first",
    "five",
    "folder",
    "folders",
    "from",
    "function",
    "give",
    "goes",
    "good",
    "have",
    "hello",
    "help",
    "here",
    "implemented",
    "inside",
    "into",
    "just",
    "know",
    "like",
    "list",
    "look",
    "made",
    "make",
    "many",
    "mean",
    "more",
    "morning",
    "most",
    "much",
    "need",
    "only",
    "other",
    "please",
    "program",
    "project",
    "read",
    "repo",
    "repository",
    "same",
    "says",
    "search",
    "should",
    "show",
    "some",
    "something",
    "such",
    "summarize",
    "summary",
    "sure",
    "take",
    "tell",
    "than",
    "thank",
    "thanks",
    "that",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "thing",
    "things",
    "this",
    "those",
    "three",
    "through",
    "under",
    "used",
    "uses",
    "using",
    "very",
    "want",
    "what",
    "when",
    "where",
    "which",
    "while",
    "will",
    "with",
    "without",
    "word",
    "words",
    "work",
    "works",
    "would",
    "write",
    "your",
];

/// What a question names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Question {
    pub(super) files: Vec<String>,
    pub(super) folders: Vec<String>,
    pub(super) terms: Vec<String>,
}

impl Question {
    pub(super) fn read(content: &[Content]) -> Self {
        let mut question = Self::default();
        for piece in content {
            if let Content::Link(link) = piece
                && let Some(path) = link.uri.strip_prefix("file://")
            {
                question.path(path);
            }
        }
        let text = text_of(content);
        let (quoted, plain) = split_quoted(&text);
        for span in &quoted {
            question.span(span);
        }
        let words: Vec<&str> = plain.split_whitespace().map(bare).filter(|word| !word.is_empty()).collect();
        for word in &words {
            if is_path(word) {
                question.path(word);
            } else if is_identifier(word) {
                question.term(word);
            }
        }
        if question == Self::default() {
            for word in words.iter().filter(|word| is_telling(word)) {
                question.term(word);
            }
        }
        question
    }

    fn span(&mut self, span: &str) {
        let span = span.trim();
        if is_path(span) {
            self.path(span);
        } else {
            self.term(span);
        }
    }

    fn path(&mut self, path: &str) {
        let path = path.trim_start_matches('@');
        let list = if path.ends_with('/') { &mut self.folders } else { &mut self.files };
        push(list, path, MAX_PATHS);
    }

    fn term(&mut self, term: &str) {
        push(&mut self.terms, term.trim_end_matches("()"), MAX_TERMS);
    }
}

fn push(list: &mut Vec<String>, text: &str, max: usize) {
    if !text.is_empty() && list.len() < max && !list.iter().any(|known| known == text) {
        list.push(text.to_owned());
    }
}

/// The spans between quotation marks, and the text without them. A quotation mark opens after white space only
/// (an apostrophe does not) and closes on the same line.
fn split_quoted(text: &str) -> (Vec<String>, String) {
    let (mut quoted, mut plain) = (Vec::new(), String::new());
    let mut rest = text;
    let mut before = ' ';
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        let closing = match c {
            '`' | '"' | '\'' => Some(c),
            '“' => Some('”'),
            '„' => Some('“'),
            _ => None,
        };
        let line = after.split('\n').next().unwrap_or_default();
        let end = closing
            .filter(|_| before.is_whitespace() || before == '(')
            .and_then(|closing| line.find(closing).map(|at| (at, closing.len_utf8())));
        if let Some((at, width)) = end {
            quoted.push(after[..at].to_owned());
            plain.push(' ');
            rest = &after[at + width..];
        } else {
            plain.push(c);
            rest = after;
        }
        before = c;
    }
    (quoted, plain)
}

/// A word without the punctuation around it.
fn bare(word: &str) -> &str {
    let call = word.trim_end_matches(['.', ',', ';', ':', '!', '?']);
    if call.ends_with("()") {
        return call;
    }
    let word = word.trim_start_matches(['(', '[', '{', '<', ',', ';', ':', '!', '?', '*']);
    word.trim_end_matches([')', ']', '}', '>', ',', ';', ':', '!', '?', '.', '*'])
}

fn is_path(word: &str) -> bool {
    let word = word.trim_start_matches('@');
    if word.contains("://") || word.contains(char::is_whitespace) || word.contains("..") {
        return false;
    }
    let Some((stem, extension)) = word.rsplit('/').next().and_then(|name| name.rsplit_once('.')) else {
        return word.contains('/') && word.len() > 1 && word.chars().any(char::is_alphanumeric);
    };
    let known_shape = extension.starts_with(|c: char| c.is_ascii_alphabetic())
        && extension.len() <= 8
        && extension.chars().all(|c| c.is_ascii_alphanumeric());
    known_shape && (stem.len() > 1 || extension.len() > 1 || word.contains('/'))
}

/// Written as only code is: `snake_case`, `camelCase`, `path::to`, `call()`, `UPPER_CASE`.
fn is_identifier(word: &str) -> bool {
    let (word, called) = word.strip_suffix("()").map_or((word, false), |name| (name, true));
    let code = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    if word.len() < 2 || !word.chars().all(code) {
        return false;
    }
    let humps = word.chars().zip(word.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase());
    called || humps || word.contains("::") || word.trim_matches('_').contains('_')
}

fn is_telling(word: &str) -> bool {
    word.chars().count() >= MIN_WORD
        && word.chars().all(|c| c.is_alphanumeric() || c == '-')
        && COMMON.binary_search(&word.to_lowercase().as_str()).is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_name_files_folders_and_words() {
        // Files, folders and words, each list separated by `|`.
        let rows = [
            ("What is in this project?", "", "", ""),
            ("Hello!", "", "", ""),
            ("What does src/main.rs do?", "src/main.rs", "", ""),
            ("Explain @Cargo.toml, please.", "Cargo.toml", "", ""),
            ("List crates/ and tests/", "", "crates/|tests/", ""),
            ("Where is `retry_after` read?", "", "", "retry_after"),
            ("Where's parseConfig() called?", "", "", "parseConfig"),
            ("Who calls main()?", "", "", "main"),
            ("Find \"stop reason\" in 'lib.rs'", "lib.rs", "", "stop reason"),
            ("Find „stop reason“ and “turn end”", "", "", "stop reason|turn end"),
            ("How does cancellation work?", "", "", "cancellation"),
            ("Is it e.g. 1.5 times http://example.org/x.html?", "", "", "times"),
            ("don't say what you can't", "", "", ""),
            ("read ../../etc/passwd", "", "", ""),
            ("aa_b aa_c aa_d aa_e aa_b", "", "", "aa_b|aa_c|aa_d"),
        ];
        let list = |text: &str| text.split('|').filter(|part| !part.is_empty()).map(str::to_owned).collect();
        for (text, files, folders, terms) in rows {
            let question = Question::read(&[Content::text(text)]);
            let expected = Question { files: list(files), folders: list(folders), terms: list(terms) };
            assert_eq!(question, expected, "{text}");
        }
    }

    #[test]
    fn the_common_words_are_sorted_for_the_search() {
        assert!(COMMON.is_sorted());
    }
}
