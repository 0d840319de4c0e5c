//! Server-sent events out of bytes (WHATWG HTML, "Server-sent events"), cut anywhere: in a line end, in a
//! character, in the byte order mark. Knows nothing of what the events carry.
//!
//! Two things differ from a browser: an event that the end of the stream cut off from its blank line still
//! counts (model servers forget that line), and `id` and `retry` are ignored, for nothing here reconnects.

/// One event, borrowed from the decoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SseEvent<'a> {
    /// The `event` field; empty when there was none.
    pub name: &'a [u8],
    /// The `data` lines, joined by line feeds.
    pub data: &'a [u8],
}

/// A line or an event grew past the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event of more than {limit} bytes")]
pub struct SseOverflow {
    /// The limit, in bytes.
    pub limit: usize,
}

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Collects bytes and hands out whole events.
#[derive(Debug)]
pub struct SseDecoder {
    limit: usize,
    line: Vec<u8>,
    data: Vec<u8>,
    name: Vec<u8>,
    has_data: bool,
    after_cr: bool,
    first_line: bool,
}

impl SseDecoder {
    /// A decoder that refuses lines and events of more than `limit` bytes.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            data: Vec::new(),
            name: Vec::new(),
            has_data: false,
            after_cr: false,
            first_line: true,
        }
    }

    /// Takes more bytes and calls `on_event` for each event they complete.
    ///
    /// # Errors
    /// [`SseOverflow`]; the decoder is of no use afterwards.
    pub fn push(&mut self, bytes: &[u8], mut on_event: impl FnMut(SseEvent<'_>)) -> Result<(), SseOverflow> {
        let mut rest = bytes;
        if self.after_cr && !rest.is_empty() {
            self.after_cr = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (line, after) = (&rest[..end], &rest[end + 1..]);
            let is_cr = rest[end] == b'\r';
            self.after_cr = is_cr && after.is_empty();
            rest = if is_cr { after.strip_prefix(b"\n").unwrap_or(after) } else { after };
            if self.line.is_empty() {
                self.take_line(line, &mut on_event)?;
            } else {
                let mut whole = std::mem::take(&mut self.line);
                whole.extend_from_slice(line);
                self.take_line(&whole, &mut on_event)?;
                whole.clear();
                self.line = whole;
            }
        }
        self.check(self.line.len() + rest.len())?;
        self.line.extend_from_slice(rest);
        Ok(())
    }

    /// Ends the stream: hands out what lacks only its line end or its blank line.
    ///
    /// # Errors
    /// [`SseOverflow`].
    pub fn end(&mut self, mut on_event: impl FnMut(SseEvent<'_>)) -> Result<(), SseOverflow> {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.take_line(&line, &mut on_event)?;
        }
        self.dispatch(&mut on_event);
        Ok(())
    }

    fn check(&self, size: usize) -> Result<(), SseOverflow> {
        if size > self.limit { Err(SseOverflow { limit: self.limit }) } else { Ok(()) }
    }

    fn take_line(
        &mut self,
        mut line: &[u8],
        on_event: &mut impl FnMut(SseEvent<'_>),
    ) -> Result<(), SseOverflow> {
        if std::mem::take(&mut self.first_line) {
            line = line.strip_prefix(BOM).unwrap_or(line);
        }
        if line.is_empty() {
            self.dispatch(on_event);
            return Ok(());
        }
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &line[line.len()..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                self.check(self.data.len() + value.len())?;
                if std::mem::replace(&mut self.has_data, true) {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
            }
            b"event" => {
                self.name.clear();
                self.name.extend_from_slice(value);
            }
            _ => {}
        }
        Ok(())
    }

    fn dispatch(&mut self, on_event: &mut impl FnMut(SseEvent<'_>)) {
        if std::mem::take(&mut self.has_data) {
            on_event(SseEvent { name: &self.name, data: &self.data });
        }
        self.data.clear();
        self.name.clear();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Owned = (String, String);

    fn decode<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Owned> {
        let mut decoder = SseDecoder::new(1024);
        let mut events = Vec::new();
        let mut keep = |event: SseEvent<'_>| {
            events.push((
                String::from_utf8(event.name.to_vec()).unwrap(),
                String::from_utf8(event.data.to_vec()).unwrap(),
            ));
        };
        for piece in pieces {
            decoder.push(piece, &mut keep).unwrap();
        }
        decoder.end(&mut keep).unwrap();
        events
    }

    fn data(events: &[&str]) -> Vec<Owned> {
        events.iter().map(|text| (String::new(), (*text).to_owned())).collect()
    }

    #[test]
    fn every_spelling_of_a_stream_means_the_same() {
        let table: &[(&str, &[&str])] = &[
            ("data: a\n\ndata: b\n\n", &["a", "b"]),
            ("data:a\n\ndata:b\n\n", &["a", "b"]),
            ("data: a\r\n\r\ndata: b\r\n\r\n", &["a", "b"]),
            ("data: a\r\rdata: b\r\r", &["a", "b"]),
            ("\u{feff}data: a\n\n", &["a"]),
            ("data: a\n\n\n\n\ndata: b", &["a", "b"]),
            ("data: {\ndata: }\n\n", &["{\n}"]),
            ("data:  two spaces\n\n", &[" two spaces"]),
            (": comment\n:\nid: 7\nretry: 100\ndata: a\n\n: tail\n", &["a"]),
            ("data\n\n", &[""]),
            ("data:\n\n", &[""]),
            ("data: : keepalive\n\n", &[": keepalive"]),
            ("event: ping\n\n", &[]),
            ("database: x\n\n", &[]),
            ("data: 那个🦀é\n\n", &["那个🦀é"]),
            ("", &[]),
        ];
        for (stream, expected) in table {
            let bytes = stream.as_bytes();
            assert_eq!(decode([bytes]), data(expected), "whole {stream:?}");
            assert_eq!(decode(bytes.chunks(1)), data(expected), "bytes of {stream:?}");
        }
    }

    #[test]
    fn event_names_last_for_one_event() {
        let events = decode([b"event: error\ndata: x\n\ndata: y\n\n".as_slice()]);
        assert_eq!(events, [("error".to_owned(), "x".to_owned()), (String::new(), "y".to_owned())]);
    }

    #[test]
    fn too_long_a_line_or_event_is_refused() {
        let mut decoder = SseDecoder::new(8);
        assert_eq!(decoder.push(b"data: 0123456789", |_| ()), Err(SseOverflow { limit: 8 }));
        let mut decoder = SseDecoder::new(16);
        decoder.push(b"data: 0123456789\n", |_| ()).unwrap();
        assert_eq!(decoder.push(b"data: 0123456789\n", |_| ()), Err(SseOverflow { limit: 16 }));
    }

    proptest! {
        #[test]
        fn cuts_do_not_matter(
            stream in "(data: [a-z🦀é:]{0,6}|data:x|: c|event: e|id: 1|\u{feff})?(\r\n|\n|\r){1,2}(data: [a-zé]{0,6}(\r\n|\n|\r){1,2}){0,6}",
            cuts in proptest::collection::vec(0usize..120, 0..12),
        ) {
            let bytes = stream.as_bytes();
            let whole = decode([bytes]);
            let mut cuts: Vec<usize> = cuts.into_iter().filter(|cut| *cut <= bytes.len()).collect();
            cuts.sort_unstable();
            let mut pieces = Vec::new();
            let mut from = 0;
            for cut in cuts.into_iter().chain([bytes.len()]) {
                pieces.push(&bytes[from..cut]);
                from = cut;
            }
            prop_assert_eq!(decode(pieces), whole.clone());
            prop_assert_eq!(decode(bytes.chunks(1)), whole);
        }
    }
}
