//! From the bytes of an answer to [`ModelDelta`]s: what is the same for every API. The bytes are server-sent
//! events, Amazon's frames, or one JSON body where a server did not stream. Knows nothing of what either says, nor of HTTP, retries
//! or connections.

use std::time::Duration;

use super::error::{self, Failure};
use super::frames::{Frame, FrameDecoder};
use super::sse::{SseDecoder, SseEvent, SseOverflow};
use crate::provider::ModelDelta;

/// The most bytes of one event, and of an answer that is no event stream.
pub(super) const MAX_EVENT: usize = 16 * 1024 * 1024;

/// How long the token counts may come after the finish reason.
pub(super) const LINGER: Duration = Duration::from_secs(1);

/// What one API makes of the events of an answer.
///
/// The end of the bytes is not success. An answer counts as whole once the server said so; only then are calls
/// handed out.
pub(super) trait Answer: Send + 'static {
    /// Takes the data of one event, without blanks around it and never empty.
    fn take_data(&mut self, name: &[u8], data: &[u8], out: &mut Vec<ModelDelta>) -> Result<(), Failure>;

    /// Takes a message that tells what went wrong, where the framing tells those from others.
    fn take_fault(&mut self, _name: &str, data: &[u8]) -> Failure {
        error::reported_text(self.agent(), data)
    }

    /// Takes a body that is no event stream, whole.
    fn take_body(&mut self, body: &[u8], out: &mut Vec<ModelDelta>) -> Result<(), Failure>;

    /// Appends what was held back for a moment only.
    fn hand_out(&mut self, _out: &mut Vec<ModelDelta>) {}

    /// Appends all text that was held back; nothing more will come.
    fn flush(&mut self, _out: &mut Vec<ModelDelta>) {}

    /// The answer is whole: appends the rest of it, calls included.
    fn close(&mut self, out: &mut Vec<ModelDelta>);

    /// Why an answer that ended here is not whole.
    fn broken_off(&self) -> Failure;

    /// The server said how the answer ended; little may follow.
    fn is_finished(&self) -> bool;

    /// How long more of an answer may take to come; as long as usual when there is nothing.
    fn lingers(&self) -> Option<Duration> {
        self.is_finished().then_some(LINGER)
    }

    /// The answer has been handed out whole.
    fn is_done(&self) -> bool;

    /// Who is asked, for errors.
    fn agent(&self) -> &str;
}

/// Reads one answer.
#[derive(Debug)]
pub(super) struct Reader<A> {
    body: Body,
    /// Events come in Amazon's frames.
    is_framed: bool,
    pub(super) answer: A,
}

/// What the bytes are.
#[derive(Debug)]
enum Body {
    /// Not a byte that would tell.
    Unknown,
    /// Server-sent events.
    Events(SseDecoder),
    /// Amazon's frames.
    Frames(FrameDecoder),
    /// JSON, read at the end.
    Json(Vec<u8>),
}

impl<A: Answer> Reader<A> {
    pub(super) fn new(answer: A) -> Self {
        Self { body: Body::Unknown, is_framed: false, answer }
    }

    /// Of an answer in Amazon's frames.
    pub(super) fn framed(answer: A) -> Self {
        Self { is_framed: true, ..Self::new(answer) }
    }

    /// Takes bytes as they came and appends what they say.
    ///
    /// # Errors
    /// The server reported an error or the bytes make no sense; what was appended before stands.
    pub(super) fn push(&mut self, bytes: &[u8], out: &mut Vec<ModelDelta>) -> Result<(), Failure> {
        if self.answer.is_done() {
            return Ok(());
        }
        let mut bytes = bytes;
        if let Body::Unknown = self.body {
            // A byte order mark may come in pieces too, and what was blank so far is gone.
            let Some(at) = bytes.iter().position(|byte| !is_blank(*byte)) else { return Ok(()) };
            bytes = &bytes[at..];
            self.body = match bytes[0] {
                b'{' | b'[' | b'<' => Body::Json(Vec::new()),
                _ if self.is_framed => Body::Frames(FrameDecoder::default()),
                _ => Body::Events(SseDecoder::new(MAX_EVENT)),
            };
        }
        let answer = &mut self.answer;
        match &mut self.body {
            Body::Unknown => Ok(()),
            Body::Json(body) => {
                let room = MAX_EVENT.saturating_sub(body.len());
                body.extend_from_slice(&bytes[..room.min(bytes.len())]);
                if bytes.len() > room { Err(overflow(answer.agent())) } else { Ok(()) }
            }
            Body::Frames(decoder) => {
                let result = take_frames(answer, decoder, bytes, out);
                after(answer, Ok(()), result, out)
            }
            Body::Events(decoder) => {
                let mut result = Ok(());
                let read = decoder.push(bytes, |event| take_event(answer, event, &mut result, out));
                after(answer, read, result, out)
            }
        }
    }

    /// The bytes have ended.
    ///
    /// # Errors
    /// The answer is not whole, as in [`Reader::push`] otherwise.
    pub(super) fn end(&mut self, out: &mut Vec<ModelDelta>) -> Result<(), Failure> {
        let answer = &mut self.answer;
        if answer.is_done() {
            return Ok(());
        }
        match std::mem::replace(&mut self.body, Body::Unknown) {
            // Half a frame is nothing.
            Body::Unknown | Body::Frames(_) => {}
            Body::Json(body) => answer.take_body(String::from_utf8_lossy(&body).as_bytes(), out)?,
            Body::Events(mut decoder) => {
                let mut result = Ok(());
                let read = decoder.end(|event| take_event(answer, event, &mut result, out));
                after(answer, read, result, out)?;
            }
        }
        if answer.is_done() {
            return Ok(());
        }
        if answer.is_finished() {
            answer.close(out);
            return Ok(());
        }
        answer.flush(out);
        Err(answer.broken_off())
    }

    /// What came is an event stream; not so before the first byte that tells.
    pub(super) fn is_event_stream(&self) -> bool {
        matches!(self.body, Body::Events(_) | Body::Frames(_))
    }
}

/// More text, in one delta with what came just before.
pub(super) fn push_text(out: &mut Vec<ModelDelta>, piece: &str) {
    match out.last_mut() {
        _ if piece.is_empty() => {}
        Some(ModelDelta::Text(text)) => text.push_str(piece),
        Some(_) | None => out.push(ModelDelta::Text(piece.to_owned())),
    }
}

/// More reasoning, likewise.
pub(super) fn push_thought(out: &mut Vec<ModelDelta>, piece: &str) {
    match out.last_mut() {
        _ if piece.is_empty() => {}
        Some(ModelDelta::Thought(text)) => text.push_str(piece),
        Some(_) | None => out.push(ModelDelta::Thought(piece.to_owned())),
    }
}

fn take_event<A: Answer>(
    answer: &mut A,
    event: SseEvent<'_>,
    result: &mut Result<(), Failure>,
    out: &mut Vec<ModelDelta>,
) {
    if result.is_err() || answer.is_done() {
        return;
    }
    let mut data = event.data.trim_ascii();
    // Some proxies pass on an event within an event.
    while let Some(rest) = data.strip_prefix(b"data:") {
        data = rest.trim_ascii();
    }
    // Some servers put their keep-alive comments into the data.
    if data.first().is_some_and(|first| *first != b':') {
        *result = answer.take_data(event.name, data, out);
    }
}

fn take_frames<A: Answer>(
    answer: &mut A,
    decoder: &mut FrameDecoder,
    bytes: &[u8],
    out: &mut Vec<ModelDelta>,
) -> Result<(), Failure> {
    let frames = decoder.push(bytes).map_err(|cause| error::malformed(answer.agent(), &cause))?;
    if decoder.waiting() > MAX_EVENT {
        return Err(overflow(answer.agent()));
    }
    for Frame { name, data, is_fault } in frames {
        if answer.is_done() {
            break;
        }
        if is_fault {
            return Err(answer.take_fault(&name, &data));
        }
        answer.take_data(name.as_bytes(), data.trim_ascii(), out)?;
    }
    Ok(())
}

/// Passes on the text of what was read, then the first thing that went wrong.
fn after<A: Answer>(
    answer: &mut A,
    read: Result<(), SseOverflow>,
    result: Result<(), Failure>,
    out: &mut Vec<ModelDelta>,
) -> Result<(), Failure> {
    let result = match read {
        Ok(()) => result,
        Err(SseOverflow { .. }) => result.and(Err(overflow(answer.agent()))),
    };
    if result.is_err() {
        answer.flush(out);
    } else {
        answer.hand_out(out);
    }
    result
}

fn overflow(agent: &str) -> Failure {
    error::malformed(agent, &format!("more than {MAX_EVENT} bytes in one piece"))
}

fn is_blank(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, 0xEF | 0xBB | 0xBF)
}
