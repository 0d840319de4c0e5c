//! A pair of connected in-memory streams, for tests and for two halves of one program.

use tokio::io::{DuplexStream, ReadHalf, WriteHalf};

/// One end of an in-memory stream: what the other end writes can be read here, and the reverse.
#[derive(Debug)]
pub struct End {
    /// Reads what the other end wrote; ends when that is shut down or dropped.
    pub reader: ReadHalf<DuplexStream>,
    /// Writes to the other end; waits while the other end has [`MEMORY_CAPACITY`] bytes unread.
    pub writer: WriteHalf<DuplexStream>,
}

/// How many unread bytes one direction of [`memory`] holds: as much as a pipe usually does.
pub const MEMORY_CAPACITY: usize = 64 << 10;

/// Two connected ends.
#[must_use]
pub fn memory() -> (End, End) {
    memory_with_capacity(MEMORY_CAPACITY)
}

/// Two connected ends that hold `capacity` unread bytes in each direction.
#[must_use]
pub fn memory_with_capacity(capacity: usize) -> (End, End) {
    let (left, right) = tokio::io::duplex(capacity.max(1));
    (End::new(left), End::new(right))
}

impl End {
    fn new(stream: DuplexStream) -> Self {
        let (reader, writer) = tokio::io::split(stream);
        Self { reader, writer }
    }
}
