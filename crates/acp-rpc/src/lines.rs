//! Bytes to lines: any pieces in, whole lines out, an overlong one skipped without being kept.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;

use tokio::io::{AsyncRead, AsyncReadExt};

/// How much is asked of the reader at once.
const CHUNK: usize = 64 << 10;

/// A buffer that has grown beyond this shrinks once the long line is gone.
const KEPT_CAPACITY: usize = 1 << 20;

/// One piece of input that a line feed or the end completed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// A line without its ending.
    Whole(&'a [u8]),
    /// The first part of a line beyond the limit; the rest is skipped.
    Overlong(&'a [u8]),
}

/// What one read came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Filled {
    /// More input, which was there already.
    AtOnce,
    /// More input, which had to be waited for.
    AfterWaiting,
    /// The input has ended.
    End,
}

#[derive(Debug)]
pub(crate) struct Lines {
    buffer: Vec<u8>,
    /// The next line starts here.
    start: usize,
    /// No line feed between `start` and here.
    searched: usize,
    max_line: usize,
    /// The rest of an overlong line is still to come.
    skipping: bool,
}

impl Lines {
    pub(crate) fn new(max_line: usize) -> Self {
        Self { buffer: Vec::new(), start: 0, searched: 0, max_line, skipping: false }
    }

    /// Reads once. All lines must have been taken before.
    pub(crate) async fn fill<R: AsyncRead + Unpin>(&mut self, reader: &mut R) -> io::Result<Filled> {
        self.compact();
        self.buffer.reserve(CHUNK);
        let mut waited = false;
        let mut read = pin!(reader.read_buf(&mut self.buffer));
        let count = poll_fn(|cx| {
            let poll = read.as_mut().poll(cx);
            waited |= poll.is_pending();
            poll
        });
        Ok(match (count.await?, waited) {
            (0, _) => Filled::End,
            (_, true) => Filled::AfterWaiting,
            (_, false) => Filled::AtOnce,
        })
    }

    /// The next line in the buffer, if it holds one.
    pub(crate) fn next(&mut self) -> Option<Line<'_>> {
        loop {
            let found = memchr::memchr(b'\n', &self.buffer[self.searched..]);
            let Some(found) = found else {
                self.searched = self.buffer.len();
                return self.cut_overlong();
            };
            let (start, end) = (self.start, self.searched + found);
            self.start = end + 1;
            self.searched = self.start;
            if std::mem::replace(&mut self.skipping, false) {
                continue;
            }
            return Some(self.measured(start, end));
        }
    }

    /// What is left at the end of input: a last line without its line feed.
    pub(crate) fn rest(&mut self) -> Option<Line<'_>> {
        let (start, end) = (self.start, self.buffer.len());
        self.start = end;
        self.searched = end;
        if std::mem::replace(&mut self.skipping, false) || start == end {
            return None;
        }
        Some(self.measured(start, end))
    }

    fn measured(&self, start: usize, end: usize) -> Line<'_> {
        let line = &self.buffer[start..end];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.len() > self.max_line { Line::Overlong(&line[..self.max_line]) } else { Line::Whole(line) }
    }

    /// No line feed in sight: beyond the limit (and a carriage return) the line is given up.
    fn cut_overlong(&mut self) -> Option<Line<'_>> {
        if self.skipping {
            self.start = self.buffer.len();
            return None;
        }
        let start = self.start;
        if self.buffer.len() - start <= self.max_line.saturating_add(1) {
            return None;
        }
        self.skipping = true;
        self.start = self.buffer.len();
        Some(Line::Overlong(&self.buffer[start..start + self.max_line]))
    }

    fn compact(&mut self) {
        self.buffer.drain(..self.start);
        self.searched -= self.start;
        self.start = 0;
        if self.buffer.capacity() > KEPT_CAPACITY && self.buffer.len() < CHUNK {
            self.buffer.shrink_to(CHUNK);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds `input` in pieces of `size` and shows each line, overlong ones with a bang.
    async fn split(input: &[u8], size: usize, max_line: usize) -> Vec<String> {
        let mut lines = Lines::new(max_line);
        let mut seen = Vec::new();
        let show = |line: Line<'_>| match line {
            Line::Whole(line) => String::from_utf8_lossy(line).into_owned(),
            Line::Overlong(line) => format!("!{}", String::from_utf8_lossy(line)),
        };
        for mut piece in input.chunks(size) {
            assert_eq!(lines.fill(&mut piece).await.unwrap(), Filled::AtOnce);
            while let Some(line) = lines.next() {
                seen.push(show(line));
            }
        }
        assert_eq!(lines.fill(&mut tokio::io::empty()).await.unwrap(), Filled::End);
        seen.extend(lines.rest().map(show));
        seen
    }

    #[tokio::test]
    async fn any_pieces_give_the_same_lines() {
        let input = b"one\r\n\n\r\ntwo\xc3\xa9\nlonger than ten\r\n1234567890\r\nlast";
        let expected = ["one", "", "", "two\u{e9}", "!longer tha", "1234567890", "last"];
        for size in 1..=input.len() {
            assert_eq!(split(input, size, 10).await, expected, "in pieces of {size}");
        }
    }

    #[tokio::test]
    async fn an_overlong_line_at_the_end_is_told_once() {
        for size in [1, 3, 100] {
            assert_eq!(split(b"a\n123456", size, 3).await, ["a", "!123"]);
        }
    }

    #[tokio::test]
    async fn an_overlong_line_is_not_kept() {
        let mut lines = Lines::new(1000);
        let chunk = vec![b'x'; CHUNK];
        for _ in 0..1000 {
            lines.fill(&mut &chunk[..]).await.unwrap();
            while lines.next().is_some() {}
            assert!(lines.buffer.capacity() <= 4 * CHUNK);
        }
        lines.fill(&mut &b"\nnext\n"[..]).await.unwrap();
        assert_eq!(lines.next(), Some(Line::Whole(b"next")));
    }
}
