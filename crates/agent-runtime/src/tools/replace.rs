//! Replaces text in text the way a model means it: line ends are compared as line ends and kept as they are,
//! only the bytes that differ change, and a miss says how near it was. Pure.

use std::borrow::Cow;
use std::ops::Range;

/// Line numbers named when a text occurs several times.
const NAMED_LINES: usize = 10;
/// Characters of a line quoted in an explanation.
const QUOTED_CHARS: usize = 160;

/// A finished replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Replaced {
    /// The whole new text.
    pub(crate) text: String,
    /// How many places were replaced.
    pub(crate) count: usize,
    /// The first line that differs, from 1.
    pub(crate) line: u32,
}

/// Replaces `old` by `new` in `text`: its one occurrence, or `all`.
///
/// # Errors
/// A sentence for the model: nothing to do, not found and how near, or found too often.
pub(crate) fn replace(text: &str, old: &str, new: &str, all: bool) -> Result<Replaced, String> {
    if old.is_empty() {
        return Err("`old_string` is empty; use write_file to write a whole file".to_owned());
    }
    if old == new {
        return Err("`old_string` and `new_string` are the same; nothing to change".to_owned());
    }
    let ends = Ends::of(text);
    let (plain_old, plain_new) = (ends.plain(old), ends.plain(new));
    if plain_old == plain_new {
        // The model wants other line ends, so both sides are meant to the letter.
        let lines = Lines { plain: Cow::Borrowed(text), raw: text, pairs: Vec::new() };
        return lines.replace(old, new, all, |_, middle| middle.to_owned());
    }
    let lines = Lines::of(text, ends);
    let ends = |at: Range<usize>, middle: &str| lines.with_ends(at, middle);
    lines.replace(&plain_old, &plain_new, all, ends)
}

/// A text with every line end as a line feed, and the way back to the text as it was.
struct Lines<'a> {
    plain: Cow<'a, str>,
    raw: &'a str,
    /// Where in `plain` a line feed stands for two bytes, ascending.
    pairs: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn of(raw: &'a str, ends: Ends) -> Self {
        let plain = ends.plain(raw);
        let mut pairs = Vec::new();
        if plain.len() != raw.len() {
            let found = raw.match_indices("\r\n").enumerate();
            pairs = found.map(|(before, (at, _))| at - before).collect();
        }
        Self { plain, raw, pairs }
    }

    fn raw_at(&self, plain_at: usize) -> usize {
        plain_at + self.pairs.partition_point(|pair| *pair < plain_at)
    }

    /// The line end that the line feed at `plain_at` stands for.
    fn end_at(&self, plain_at: usize) -> &'a str {
        let at = self.raw_at(plain_at);
        let length = if self.pairs.binary_search(&plain_at).is_ok() { 2 } else { 1 };
        &self.raw[at..at + length]
    }

    fn line_at(&self, plain_at: usize) -> usize {
        self.plain[..plain_at].matches('\n').count() + 1
    }

    fn replace(
        &self,
        old: &str,
        new: &str,
        all: bool,
        ends: impl Fn(Range<usize>, &str) -> String,
    ) -> Result<Replaced, String> {
        let found: Vec<usize> = self.plain.match_indices(old).map(|(at, _)| at).collect();
        let Some(first) = found.first() else { return Err(super::nearest::explain(&self.plain, old)) };
        if found.len() > 1 && !all {
            return Err(self.ambiguous(&found));
        }
        let (head, tail) = common(old, new);
        let (mut text, mut copied) = (String::with_capacity(self.raw.len() + new.len()), 0);
        for at in &found {
            let middle = at + head..at + old.len() - tail;
            text.push_str(&self.raw[copied..self.raw_at(middle.start)]);
            copied = self.raw_at(middle.end);
            text.push_str(&ends(middle, &new[head..new.len() - tail]));
        }
        text.push_str(&self.raw[copied..]);
        let line = u32::try_from(self.line_at(first + head)).unwrap_or(u32::MAX);
        Ok(Replaced { text, count: found.len(), line })
    }

    fn ambiguous(&self, found: &[usize]) -> String {
        let named: Vec<_> = found.iter().take(NAMED_LINES).map(|at| self.line_at(*at).to_string()).collect();
        let more = if found.len() > named.len() { ", …" } else { "" };
        format!(
            "`old_string` occurs {} times (lines {}{more}); add the lines around the one that is meant, or set \
             `replace_all`",
            found.len(),
            named.join(", ")
        )
    }

    /// `middle`, which takes the place of `at`, with line ends: those of the lines it replaces, in order, and
    /// for further lines those of the neighbourhood.
    fn with_ends(&self, at: Range<usize>, middle: &str) -> String {
        if self.plain.len() == self.raw.len() && !self.raw.contains('\r') {
            return middle.to_owned();
        }
        let replaced: Vec<&str> =
            self.plain[at.clone()].match_indices('\n').map(|(i, _)| self.end_at(at.start + i)).collect();
        let before = || self.plain[..at.start].rfind('\n').map(|i| self.end_at(i));
        let after = || self.plain[at.end..].find('\n').map(|i| self.end_at(at.end + i));
        let usual = replaced.last().copied().or_else(before).or_else(after).unwrap_or("\n");
        let mut text = String::with_capacity(middle.len());
        for (i, line) in middle.split('\n').enumerate() {
            if i > 0 {
                text.push_str(replaced.get(i - 1).copied().unwrap_or(usual));
            }
            text.push_str(line);
        }
        text
    }
}

/// What ends a line in a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// A line feed, with or without a carriage return before it.
    LineFeed,
    /// A carriage return: it alone, in a file without any line feed.
    CarriageReturn,
}

impl Ends {
    fn of(text: &str) -> Self {
        let alone = text.contains('\r') && !text.contains('\n');
        if alone { Self::CarriageReturn } else { Self::LineFeed }
    }

    /// `text` with every line end as a line feed.
    fn plain(self, text: &str) -> Cow<'_, str> {
        if !text.contains('\r') {
            return Cow::Borrowed(text);
        }
        let plain = text.replace("\r\n", "\n");
        Cow::Owned(match self {
            Self::LineFeed => plain,
            Self::CarriageReturn => plain.replace('\r', "\n"),
        })
    }
}

/// How many bytes both begin with, and how many of the rest both end with; whole characters.
fn common(old: &str, new: &str) -> (usize, usize) {
    let head: usize =
        old.chars().zip(new.chars()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
    let (old, new) = (&old[head..], &new[head..]);
    let tail =
        old.chars().rev().zip(new.chars().rev()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
    (head, tail)
}

/// A line in quotes, bounded.
pub(crate) fn quoted(line: &str) -> String {
    let shown: String = line.chars().take(QUOTED_CHARS).collect();
    format!("{shown:?}{}", if shown.len() < line.len() { "…" } else { "" })
}
