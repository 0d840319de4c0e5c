//! The end of what a command has printed.

use std::collections::VecDeque;

use session_model::TerminalExit;

/// What a command has printed so far, and how it ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Output {
    /// The text, less what was dropped at its beginning. What is no UTF-8 is replaced.
    pub text: String,
    /// Whether something was dropped.
    pub truncated: bool,
    /// How it ended, once it has.
    pub exit: Option<TerminalExit>,
}

/// Bytes, of which only the last ones are kept.
#[derive(Debug)]
pub(super) struct Tail {
    bytes: VecDeque<u8>,
    limit: usize,
    /// How many there were in all.
    total: u64,
}

impl Tail {
    /// Keeps at most `limit` bytes.
    pub(super) fn new(limit: usize) -> Self {
        Self { bytes: VecDeque::new(), limit, total: 0 }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let kept = &bytes[bytes.len().saturating_sub(self.limit)..];
        let excess = (self.bytes.len() + kept.len()).saturating_sub(self.limit);
        self.bytes.drain(..excess);
        self.bytes.extend(kept);
    }

    /// What is kept, from a character's beginning on, and whether that is not all.
    pub(super) fn text(&self) -> (String, bool) {
        let truncated = self.total > self.bytes.len() as u64;
        let cut =
            if truncated { self.bytes.iter().take(3).take_while(|byte| is_inner(**byte)).count() } else { 0 };
        let bytes: Vec<u8> = self.bytes.iter().skip(cut).copied().collect();
        (fitting(String::from_utf8_lossy(&bytes).into_owned(), self.limit), truncated)
    }

    /// What came after the first `seen` bytes, as far as it is kept, and how many there are by now.
    pub(super) fn since(&self, seen: u64) -> (Vec<u8>, u64) {
        let new = usize::try_from(self.total.saturating_sub(seen)).unwrap_or(usize::MAX);
        let skip = self.bytes.len().saturating_sub(new);
        (self.bytes.iter().skip(skip).copied().collect(), self.total)
    }
}

/// Replacement characters are longer than what they stand for.
fn fitting(text: String, limit: usize) -> String {
    if text.len() <= limit {
        return text;
    }
    let from = text.ceil_char_boundary(text.len() - limit);
    text[from..].to_owned()
}

/// Whether a byte continues a character.
fn is_inner(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_kept_from_a_characters_beginning_on() {
        let mut tail = Tail::new(4);
        tail.push(b"ab");
        assert_eq!(tail.text(), ("ab".to_owned(), false));
        tail.push("cä".as_bytes());
        assert_eq!(tail.text(), ("bcä".to_owned(), true));
        tail.push("ö€".as_bytes());
        assert_eq!(tail.text(), ("€".to_owned(), true), "half of the other one is left out");
        let mut none = Tail::new(0);
        none.push(b"x");
        assert_eq!(none.text(), (String::new(), true));
        let mut odd = Tail::new(4);
        odd.push(b"\xff\xff");
        assert!(odd.text().0.len() <= 4, "{:?}", odd.text());
    }

    #[test]
    fn what_is_new_is_told_once() {
        let mut tail = Tail::new(4);
        tail.push(b"ab");
        assert_eq!(tail.since(0), (b"ab".to_vec(), 2));
        tail.push(b"c");
        assert_eq!(tail.since(2), (b"c".to_vec(), 3));
        tail.push(b"defgh");
        assert_eq!(tail.since(3), (b"efgh".to_vec(), 8));
        assert_eq!(tail.since(8), (Vec::new(), 8));
    }
}
