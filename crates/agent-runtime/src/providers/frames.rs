//! Messages of Amazon's event streams (`application/vnd.amazon.eventstream`) out of bytes, cut anywhere. Knows nothing of
//! what they carry.

#[cfg(feature = "bedrock")]
mod decoder;

#[cfg(feature = "bedrock")]
pub(super) use decoder::FrameDecoder;

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frame {
    /// What kind of event or fault it is.
    pub(super) name: String,
    /// Its payload.
    pub(super) data: Vec<u8>,
    /// It tells what went wrong.
    pub(super) is_fault: bool,
}

/// Without the crates for it no message is read, and all bytes wait.
#[cfg(not(feature = "bedrock"))]
#[derive(Debug, Default)]
pub(super) struct FrameDecoder {
    waiting: usize,
}

#[cfg(not(feature = "bedrock"))]
impl FrameDecoder {
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<Vec<Frame>, String> {
        self.waiting += bytes.len();
        Err(super::bedrock::MISSING.to_owned())
    }

    pub(super) fn waiting(&self) -> usize {
        self.waiting
    }
}
