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

/// Without the crates for it no message is read.
#[cfg(not(feature = "bedrock"))]
#[derive(Debug, Default)]
pub(super) struct FrameDecoder;

#[cfg(not(feature = "bedrock"))]
impl FrameDecoder {
    pub(super) fn push(&mut self, _: &[u8]) -> Result<Vec<Frame>, String> {
        Err(super::bedrock::MISSING.to_owned())
    }

    pub(super) fn waiting(&self) -> usize {
        0
    }
}
