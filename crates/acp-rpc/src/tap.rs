//! A look at every line in both directions: for logs, recordings and replays.
//!
//! A tap sees payloads. Nothing else in this crate shows them to anyone.

use std::fmt;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use tokio::time::Instant;

/// Which way a line went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// From the peer.
    In,
    /// To the peer.
    Out,
}

/// Sees every line of a connection, without its ending: incoming ones before they are understood, outgoing ones
/// before they are written, in one order. Runs where the connection does and must not block for long.
pub trait Tap: Send + Sync + 'static {
    /// One line. Of an overlong one only the first part, which was read, is shown.
    fn line(&self, direction: Direction, line: &[u8]);
}

impl<F: Fn(Direction, &[u8]) + Send + Sync + 'static> Tap for F {
    fn line(&self, direction: Direction, line: &[u8]) {
        self(direction, line);
    }
}

#[derive(Clone)]
pub(crate) struct SharedTap(pub(crate) Arc<dyn Tap>);

impl SharedTap {
    pub(crate) fn line(&self, direction: Direction, line: &[u8]) {
        self.0.line(direction, line);
    }
}

impl fmt::Debug for SharedTap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tap")
    }
}

/// Calls `f` with each line of a buffer of finished lines.
pub(crate) fn each_line(buffer: &[u8], mut f: impl FnMut(&[u8])) {
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', buffer) {
        f(&buffer[start..end]);
        start = end + 1;
    }
}

/// One recorded line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    /// Which way it went.
    pub dir: Direction,
    /// Milliseconds since the recording began.
    #[serde(default)]
    pub at_ms: u64,
    /// The line; bytes that are no UTF-8 are replaced.
    pub line: String,
}

/// A tap that writes one JSON object a line: `{"dir":"in","at_ms":12,"line":"…"}`.
///
/// Each is written through at once, so that a recording is complete up to a crash. A writer that fails ends the
/// recording, not the connection.
pub struct Recorder<W> {
    begun: Instant,
    writer: Mutex<Option<W>>,
}

impl<W: Write + Send + 'static> Recorder<W> {
    /// Records into `writer`, a file for example.
    pub fn new(writer: W) -> Self {
        Self { begun: Instant::now(), writer: Mutex::new(Some(writer)) }
    }

    fn record(&self, writer: &mut W, dir: Direction, line: &[u8]) -> io::Result<()> {
        let at_ms = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let mut text =
            serde_json::to_vec(&Recorded { dir, at_ms, line: String::from_utf8_lossy(line).into() })?;
        text.push(b'\n');
        writer.write_all(&text)?;
        writer.flush()
    }
}

impl<W: Write + Send + 'static> Tap for Recorder<W> {
    fn line(&self, direction: Direction, line: &[u8]) {
        let mut place = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(writer) = place.as_mut() else { return };
        if let Err(error) = self.record(writer, direction, line) {
            tracing::warn!(%error, "recording ended");
            *place = None;
        }
    }
}

impl<W> fmt::Debug for Recorder<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").finish_non_exhaustive()
    }
}

/// A recording read back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recording {
    /// Its lines, in their order.
    pub lines: Vec<Recorded>,
}

impl Recording {
    /// Reads what a [`Recorder`] wrote. A last line cut short by a crash is left out.
    ///
    /// # Errors
    /// When another line is no recorded line.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        let mut lines = Vec::new();
        for piece in text.split_inclusive('\n').filter(|piece| !piece.trim().is_empty()) {
            match serde_json::from_str(piece) {
                Ok(line) => lines.push(line),
                Err(error) if piece.ends_with('\n') => return Err(error),
                Err(_) => {}
            }
        }
        Ok(Self { lines })
    }

    /// The lines of one direction.
    pub fn lines(&self, direction: Direction) -> impl Iterator<Item = &str> {
        self.lines.iter().filter(move |line| line.dir == direction).map(|line| line.line.as_str())
    }

    /// The bytes of one direction. Those of [`Direction::In`], given to [`serve`](crate::serve) as its reader,
    /// replay the peer.
    #[must_use]
    pub fn bytes(&self, direction: Direction) -> Vec<u8> {
        self.lines(direction).flat_map(|line| line.bytes().chain([b'\n'])).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_survives_a_cut_last_line() {
        let text =
            "{\"dir\":\"in\",\"at_ms\":3,\"line\":\"{}\"}\n{\"dir\":\"out\",\"line\":\"x\"}\n{\"dir\":\"ou";
        let recording = Recording::parse(text).unwrap();
        assert_eq!(recording.bytes(Direction::In), b"{}\n");
        assert_eq!(recording.lines(Direction::Out).collect::<Vec<_>>(), ["x"]);
        assert!(Recording::parse("nonsense\n").is_err());
    }
}
