//! Small helpers for text of unknown size and origin: one-line titles, bounded middles, bytes that arrive in
//! pieces. Pure.

use std::collections::VecDeque;

/// Text on one line for a title: line ends shown as `⏎`, other control characters and those that reorder or
/// hide text as `\u{…}`, at most `max` characters.
pub(crate) fn one_line(text: &str, max: usize) -> String {
    let mut line = String::new();
    let mut chars = text.trim().chars().peekable();
    let mut count = 0;
    while let Some(c) = chars.next() {
        if count >= max {
            line.push('…');
            break;
        }
        count += 1;
        match c {
            '\r' if chars.peek() == Some(&'\n') => {}
            '\n' | '\r' => line.push_str(" ⏎ "),
            '\t' => line.push(' '),
            c if is_deceptive(c) => line.extend(c.escape_unicode()),
            c => line.push(c),
        }
    }
    line
}

/// Characters that are invisible, reorder what stands around them, or look like a space and are none.
pub(crate) fn is_deceptive(c: char) -> bool {
    c.is_control()
        || (c.is_whitespace() && c != ' ')
        || matches!(
            u32::from(c),
            0xAD | 0x34F | 0x61C | 0x115F | 0x1160 | 0x17B4 | 0x17B5 | 0x180B..=0x180F | 0x200B..=0x200F
                | 0x202A..=0x202E | 0x2060..=0x206F | 0x2800 | 0x3164 | 0xFE00..=0xFE0F | 0xFEFF | 0xFFA0
                | 0xFFF9..=0xFFFB | 0xE0000..=0xE0FFF
        )
}

/// The first `max` bytes or a little less, ending at a character.
pub(crate) fn head(text: &str, max: usize) -> &str {
    let mut end = max.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Keeps the beginning and the end of a stream of bytes, and counts what fell out between.
#[derive(Debug)]
pub(crate) struct Clip {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    half: usize,
    dropped: u64,
}

impl Clip {
    /// Keeps at most `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self { head: Vec::new(), tail: VecDeque::new(), half: limit / 2, dropped: 0 }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let room = self.half.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(&bytes[..room]);
        let rest = &bytes[room..];
        let kept = &rest[rest.len().saturating_sub(self.half)..];
        let excess = (self.tail.len() + kept.len()).saturating_sub(self.half);
        self.tail.drain(..excess);
        self.tail.extend(kept);
        self.dropped += (excess + rest.len() - kept.len()) as u64;
    }

    /// The text, with a note where bytes are missing. What is no UTF-8 becomes replacement characters.
    pub(crate) fn into_text(self) -> String {
        let (head, tail): (Vec<u8>, Vec<u8>) = (self.head, self.tail.into());
        if self.dropped == 0 {
            return String::from_utf8_lossy(&[head, tail].concat()).into_owned();
        }
        let (whole, cut) = complete(&head);
        let skip = tail.iter().take(3).take_while(|byte| **byte & 0xC0 == 0x80).count();
        let dropped = self.dropped + cut.len() as u64 + skip as u64;
        let (head, tail) = (String::from_utf8_lossy(whole), String::from_utf8_lossy(&tail[skip..]));
        format!("{head}\n[… {dropped} bytes left out …]\n{tail}")
    }
}

/// Bytes in pieces to text: a character cut in two waits for its rest.
#[derive(Debug, Default)]
pub(crate) struct Utf8Pieces {
    rest: Vec<u8>,
}

impl Utf8Pieces {
    /// What can be said so far. What is no UTF-8 becomes replacement characters.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> String {
        self.rest.extend_from_slice(bytes);
        let (whole, cut) = complete(&self.rest);
        let text = String::from_utf8_lossy(whole).into_owned();
        self.rest = cut.to_vec();
        text
    }
}

/// Splits off an unfinished character at the end.
fn complete(bytes: &[u8]) -> (&[u8], &[u8]) {
    for back in 1..=bytes.len().min(3) {
        let at = bytes.len() - back;
        let needed = match bytes[at] {
            0x80..=0xBF => continue,
            0xC2..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF4 => 4,
            _ => 1,
        };
        return bytes.split_at(if needed > back { at } else { bytes.len() });
    }
    (bytes, &[])
}

/// Removes terminal control sequences (colours, cursor movement, titles).
pub(crate) fn strip_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\u{1b}' {
            plain.push(c);
            continue;
        }
        match chars.next() {
            Some('[') => {
                // Parameters and intermediates, then one final character.
                while chars.next_if(|c| (' '..='?').contains(c)).is_some() {}
                let _ = chars.next_if(|c| ('@'..='~').contains(c));
            }
            Some(']') => {
                while let Some(c) = chars.next_if(|c| *c != '\n') {
                    if c == '\u{7}' || (c == '\u{1b}' && chars.next_if_eq(&'\\').is_some()) {
                        break;
                    }
                }
            }
            Some('(' | ')' | '#') => drop(chars.next()),
            Some(_) | None => {}
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_title_is_one_line_without_tricks() {
        assert_eq!(one_line("a\r\nb\tc\n", 20), "a ⏎ b c");
        assert_eq!(one_line("abcdef", 3), "abc…");
        assert_eq!(one_line("rm \u{202e}x", 20), "rm \\u{202e}x");
        assert_eq!(one_line("a\u{1b}[2Jb", 20), "a\\u{1b}[2Jb");
    }

    #[test]
    fn the_middle_of_a_long_text_is_left_out_with_a_note() {
        let mut clip = Clip::new(8);
        for byte in b"0123456789abcdef" {
            clip.push(&[*byte]);
        }
        assert_eq!(clip.into_text(), "0123\n[… 8 bytes left out …]\ncdef");
        let mut clip = Clip::new(8);
        clip.push(b"0123456789abcdef");
        assert_eq!(clip.into_text(), "0123\n[… 8 bytes left out …]\ncdef");
        let mut clip = Clip::new(8);
        clip.push(b"01234567");
        assert_eq!(clip.into_text(), "01234567");
    }

    #[test]
    fn a_cut_never_splits_a_character() {
        let mut clip = Clip::new(8);
        clip.push("abcé€€€ü-z".as_bytes());
        assert_eq!(clip.into_text(), "abc\n[… 11 bytes left out …]\nü-z");
    }

    #[test]
    fn escape_sequences_vanish() {
        assert_eq!(strip_escapes("\u{1b}[1;31mred\u{1b}[0m \u{1b}]0;title\u{7}x\u{1b}(B."), "red x.");
        assert_eq!(strip_escapes("\u{1b}]8;;http://h\u{1b}\\link"), "link");
        assert_eq!(strip_escapes("cut \u{1b}["), "cut ");
    }

    proptest! {
        #[test]
        fn pieces_of_text_join_to_the_text(text in ".{0,40}", cut in 0_usize..200) {
            let bytes = text.as_bytes();
            let cut = cut.min(bytes.len());
            let mut pieces = Utf8Pieces::default();
            let joined = pieces.push(&bytes[..cut]) + &pieces.push(&bytes[cut..]);
            prop_assert_eq!(joined, text);
        }

        #[test]
        fn a_clip_keeps_all_that_fits(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let mut clip = Clip::new(64);
            for piece in bytes.chunks(5) {
                clip.push(piece);
            }
            // Up to half at each end, whatever the pieces.
            prop_assert_eq!(clip.into_text(), String::from_utf8_lossy(&bytes));
        }
    }
}
