//! The decoder of messages.

use aws_smithy_eventstream::frame::{DecodedFrame, MessageFrameDecoder};
use aws_smithy_types::event_stream::Message;
use bytes::BytesMut;

use super::Frame;

/// Collects bytes and hands out whole messages.
#[derive(Debug, Default)]
pub(in super::super) struct FrameDecoder {
    decoder: MessageFrameDecoder,
    buffer: BytesMut,
}

impl FrameDecoder {
    /// Takes more bytes and returns the messages they complete.
    ///
    /// # Errors
    /// What makes no sense of them, checksums included; the decoder is of no use afterwards.
    pub(in super::super) fn push(&mut self, bytes: &[u8]) -> Result<Vec<Frame>, String> {
        self.buffer.extend_from_slice(bytes);
        let mut frames = Vec::new();
        loop {
            match self.decoder.decode_frame(&mut self.buffer) {
                Ok(DecodedFrame::Complete(message)) => frames.push(frame(&message)),
                Ok(DecodedFrame::Incomplete) => return Ok(frames),
                Err(cause) => return Err(cause.to_string()),
            }
        }
    }

    /// How many bytes wait for the rest of their message.
    pub(in super::super) fn waiting(&self) -> usize {
        self.buffer.len()
    }
}

fn frame(message: &Message) -> Frame {
    let told = |name: &str| {
        let header = message.headers().iter().find(|header| header.name().as_str() == name)?;
        header.value().as_string().ok().map(|value| value.as_str().to_owned())
    };
    if let Some(name) = told(":event-type") {
        return Frame { name, data: message.payload().to_vec(), is_fault: false };
    }
    let name = told(":exception-type").or_else(|| told(":error-code")).unwrap_or_default();
    // Of an error outside the model of the service, all is in the headers.
    let data = told(":error-message").map_or_else(|| message.payload().to_vec(), String::into_bytes);
    Frame { name, data, is_fault: true }
}
