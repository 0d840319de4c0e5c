//! Finds what comes inside the text however it is cut into pieces: reasoning (`<think>…</think>` and its kin)
//! and, by way of `text_calls`, tool calls. Holds back nothing but what may yet turn out to be one of them.
//! Knows nothing of JSON or HTTP.
//!
//! Marks of reasoning count only at the start of a line (marks of channels anywhere, once there was one), and none
//! counts in code, so that an answer *about* such marks stays text.

use std::sync::Arc;

use super::marks::{self, Closer, FENCE, Mark};
use super::text_calls::{self, TextCall, Verdict};
use crate::provider::ToolSchema;

/// A stretch of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Segment {
    /// For the user.
    Text(String),
    /// Reasoning.
    Thought(String),
    /// A tool call.
    Call(TextCall),
}

/// Tells text from reasoning.
#[derive(Debug, Default)]
pub(super) struct Inline {
    /// The tools whose calls are looked for.
    tools: Arc<[ToolSchema]>,
    /// What may be the start of a marker or of a call.
    held: String,
    /// How much of it was looked at in vain.
    seen: usize,
    /// The marks that end the reasoning we are in.
    closers: Option<&'static [Closer]>,
    /// The answer is made of channels.
    has_channels: bool,
    /// Blanks before the first word; shown only if a word follows.
    blanks: String,
    line: Line,
    in_fence: bool,
    said: Said,
}

/// What the current line holds so far.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Line {
    #[default]
    Blank,
    Written,
    /// Words, the last of them between backticks.
    Code,
}

/// What the answer holds so far.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Said {
    #[default]
    Nothing,
    Thought,
    Text,
}

impl Inline {
    /// Looks for calls of `tools`; for none when there are none.
    pub(super) fn new(tools: Arc<[ToolSchema]>) -> Self {
        Self { tools, ..Self::default() }
    }

    /// Takes more of the answer and appends what is certain.
    pub(super) fn push(&mut self, piece: &str, out: &mut Vec<Segment>) {
        if self.held.is_empty() {
            let left = self.advance(piece, out);
            piece[piece.len() - left..].clone_into(&mut self.held);
            return;
        }
        let mut input = std::mem::take(&mut self.held);
        self.seen = input.len();
        input.push_str(piece);
        let left = self.advance(&input, out);
        input.drain(..input.len() - left);
        self.held = input;
    }

    /// Ends the answer: what was held back is what it looks like. With `cut`, a call that was not closed is
    /// left out.
    pub(super) fn end(&mut self, cut: bool, out: &mut Vec<Segment>) {
        let held = std::mem::take(&mut self.held);
        let calls =
            if cut { None } else { text_calls::conclude(&held, self.said != Said::Text, &self.tools) };
        match calls {
            _ if self.closers.is_some() => think(&held, out),
            Some(calls) => out.extend(calls.into_iter().map(Segment::Call)),
            None if cut && text_calls::is_opened(&held) => {}
            None => self.show(&held, out),
        }
        self.blanks.clear();
    }

    /// Consumes `input` but for the returned number of bytes at its end.
    fn advance(&mut self, input: &str, out: &mut Vec<Segment>) -> usize {
        let mut rest = input;
        while !rest.is_empty() {
            let step = match self.closers {
                Some(closers) => self.think_on(closers, rest, out),
                None => self.write_on(rest, out),
            };
            match step {
                Some(used) => {
                    rest = &rest[used..];
                    self.seen = 0;
                }
                None => return self.undecided(rest, out),
            }
        }
        0
    }

    /// Passes on what precedes an undecided marker; returns the marker's length.
    fn undecided(&mut self, rest: &str, out: &mut Vec<Segment>) -> usize {
        let at = match self.closers {
            Some(closers) => rest.len() - marks::partial_suffix(rest, closers),
            None => 0,
        };
        think(&rest[..at], out);
        rest.len() - at
    }

    /// One step within reasoning; `None` when only a possible end mark is left.
    fn think_on(&mut self, closers: &'static [Closer], rest: &str, out: &mut Vec<Segment>) -> Option<usize> {
        let end =
            closers.iter().filter_map(|closer| rest.find(closer.mark).map(|at| (at, closer.taken()))).min();
        if let Some((at, length)) = end {
            think(&rest[..at], out);
            self.closers = None;
            self.line = Line::Blank;
            return Some(at + length);
        }
        if marks::partial_suffix(rest, closers) > 0 {
            return None;
        }
        think(rest, out);
        Some(rest.len())
    }

    /// One step within text; `None` when what is left may be a marker.
    fn write_on(&mut self, rest: &str, out: &mut Vec<Segment>) -> Option<usize> {
        if self.line == Line::Blank {
            let indent = rest.len() - rest.trim_start().len();
            if indent > 0 {
                self.show(&rest[..indent], out);
                return Some(indent);
            }
            let may_open = self.said != Said::Text && !self.in_fence && rest.starts_with(['`', '{']);
            if may_open && !self.tools.is_empty() {
                match text_calls::examine(rest, true, self.seen, &self.tools) {
                    Verdict::Undecided => return None,
                    Verdict::Calls(length, calls) => {
                        out.extend(calls.into_iter().map(Segment::Call));
                        return Some(length);
                    }
                    Verdict::Text(_) => {}
                }
            }
            match marks::look(rest, self.in_fence) {
                Mark::Thought(length, closers) => {
                    self.closers = Some(closers);
                    self.has_channels |= marks::is_channel(rest);
                    self.thought();
                    return Some(length);
                }
                Mark::End(length) => {
                    self.thought();
                    return Some(length);
                }
                Mark::Silent(length) => {
                    self.has_channels = true;
                    self.blanks.clear();
                    return Some(length);
                }
                Mark::Fence => {
                    self.in_fence = !self.in_fence;
                    self.show(FENCE, out);
                    return Some(FENCE.len());
                }
                Mark::Undecided => return None,
                Mark::None => {}
            }
        }
        self.write_line(rest, out)
    }

    /// There was reasoning, or its end; blanks around it are nobody's.
    fn thought(&mut self) {
        if self.said == Said::Nothing {
            self.said = Said::Thought;
        }
        self.blanks.clear();
    }

    /// The rest of a line, up to where a call may start.
    fn write_line(&mut self, rest: &str, out: &mut Vec<Segment>) -> Option<usize> {
        let line = rest.find('\n').map_or(rest.len(), |at| at + 1);
        let length = match self.next_mark(&rest[..line]) {
            None => line,
            Some(0) if self.has_channels && marks::may_end_channel(rest) => {
                let length = marks::channel_end(rest)?;
                self.line = Line::Blank;
                return Some(length);
            }
            Some(0) => match text_calls::examine(rest, false, self.seen, &self.tools) {
                Verdict::Undecided => return None,
                Verdict::Text(length) => length,
                Verdict::Calls(length, calls) => {
                    out.extend(calls.into_iter().map(Segment::Call));
                    return Some(length);
                }
            },
            Some(at) => at,
        };
        self.show(&rest[..length], out);
        Some(length)
    }

    /// Where in `line` a call may start.
    fn next_mark(&self, line: &str) -> Option<usize> {
        if self.in_fence || (self.tools.is_empty() && !self.has_channels) {
            return None;
        }
        let mut in_code = self.line == Line::Code;
        line.bytes().position(|byte| {
            in_code ^= byte == b'`';
            !in_code && matches!(byte, b'<' | b'[')
        })
    }

    fn show(&mut self, text: &str, out: &mut Vec<Segment>) {
        let Some(last) = text.rsplit('\n').next().filter(|_| !text.is_empty()) else { return };
        if !last.trim().is_empty() {
            let was_code = last.len() == text.len() && self.line == Line::Code;
            let is_odd = last.bytes().filter(|byte| *byte == b'`').count() % 2 == 1;
            self.line = if was_code ^ is_odd { Line::Code } else { Line::Written };
        } else if last.len() < text.len() {
            self.line = Line::Blank;
        }
        if self.said != Said::Text && text.trim().is_empty() {
            self.blanks.push_str(text);
            return;
        }
        let blanks = std::mem::take(&mut self.blanks);
        // The empty lines after reasoning belong to neither.
        let kept =
            if self.said == Said::Thought { blanks.rsplit('\n').next().unwrap_or_default() } else { &blanks };
        self.said = Said::Text;
        for part in [kept, text] {
            match out.last_mut() {
                Some(Segment::Text(shown)) => shown.push_str(part),
                _ if part.is_empty() => {}
                _ => out.push(Segment::Text(part.to_owned())),
            }
        }
    }
}

fn think(text: &str, out: &mut Vec<Segment>) {
    match out.last_mut() {
        Some(Segment::Thought(thought)) => thought.push_str(text),
        _ if text.is_empty() => {}
        _ => out.push(Segment::Thought(text.to_owned())),
    }
}
