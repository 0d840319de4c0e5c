//! From the bytes of an answer to [`ModelDelta`]s: a state machine without sockets or clocks.
//!
//! The end of the bytes is not success. An answer counts as whole once the server said so, with a finish reason
//! or `[DONE]`; only then are calls handed out. Knows nothing of HTTP, retries or connections.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use serde_json::value::RawValue;

use super::calls::{Calls, Made};
use super::chunk::{self, Choice, Chunk, Message};
use super::details::Details;
use super::ending::{self, Ending, Word};
use super::inline::{Inline, Segment};
use super::request::{EXTRA_CONTENT, REASONING_DETAILS};
use super::text_calls::TextCall;
use super::usage;
use crate::provider::{FinishReason, ModelCall, ModelDelta, ToolSchema};
use crate::providers::arguments::CallIds;
use crate::providers::error::{self, Failure};
use crate::providers::reader::{Answer, Reader};
use crate::providers::surrogates::Joiner;
use session_model::TokenUsage;

/// Reads one answer.
#[derive(Debug)]
pub struct ChatStream(Reader<ChatAnswer>);

/// What has been understood.
#[derive(Debug)]
pub(in crate::providers) struct ChatAnswer {
    agent: String,
    ids: Arc<CallIds>,
    calls: Calls,
    inline: Inline,
    text_calls: Vec<TextCall>,
    content: Joiner,
    reasoning: Joiner,
    usage: Option<TokenUsage>,
    ending: Ending,
    is_done: bool,
    junk: Option<String>,
    segments: Vec<Segment>,
    details: Details,
    has_spoken: bool,
}

impl ChatStream {
    /// A reader of one answer for `agent`, which was offered these tools.
    #[must_use]
    pub fn new(agent: &str, offered: Arc<[ToolSchema]>) -> Self {
        Self(Reader::new(ChatAnswer::new(agent, offered, Arc::default())))
    }

    /// Takes bytes as they came and appends what they say; neighbouring pieces of text become one.
    ///
    /// # Errors
    /// The server reported an error or the bytes make no sense; what was appended before stands.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<ModelDelta>) -> Result<(), Failure> {
        self.0.push(bytes, out)
    }

    /// The bytes have ended.
    ///
    /// # Errors
    /// The answer is not whole, as in [`ChatStream::push`] otherwise.
    pub fn end(&mut self, out: &mut Vec<ModelDelta>) -> Result<(), Failure> {
        self.0.end(out)
    }

    /// The answer is whole and has been handed out.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.0.answer.is_done()
    }
}

impl Answer for ChatAnswer {
    fn take_data(&mut self, name: &[u8], data: &[u8], out: &mut Vec<ModelDelta>) -> Result<(), Failure> {
        match data.first() {
            // A line of several; the others count.
            None | Some(b':') => Ok(()),
            Some(b'{') => self.take_object(name, data, out),
            Some(_) if data == b"[DONE]" => {
                self.close(out);
                Ok(())
            }
            Some(_) if name == b"error" => Err(error::reported_text(&self.agent, data)),
            Some(_) => {
                self.junk.get_or_insert_with(|| error::excerpt(data));
                Ok(())
            }
        }
    }

    /// One object, or one a line.
    fn take_body(&mut self, body: &[u8], out: &mut Vec<ModelDelta>) -> Result<(), Failure> {
        let values = serde_json::Deserializer::from_slice(body).into_iter::<&RawValue>();
        let mut result = Ok(());
        for value in values {
            if let Ok(list) = &value
                && list.get().starts_with('[')
            {
                // One service puts its only error into a list.
                let told = serde_json::from_str(list.get()).unwrap_or_default();
                result = Err(error::reported_value(&self.agent, &told));
                break;
            }
            result = match value {
                Ok(value) if value.get().starts_with('{') => {
                    self.take_object(b"", value.get().as_bytes(), out)
                }
                Err(cause) if cause.is_eof() => Err(error::truncated(&self.agent, "half a JSON object")),
                Ok(_) | Err(_) => Err(error::malformed(&self.agent, &error::excerpt(body))),
            };
            if result.is_err() {
                break;
            }
        }
        self.hand_out(out);
        result
    }

    fn hand_out(&mut self, out: &mut Vec<ModelDelta>) {
        for segment in self.segments.drain(..) {
            match segment {
                Segment::Text(text) => out.push(ModelDelta::Text(text)),
                Segment::Thought(text) => out.push(ModelDelta::Thought(text)),
                Segment::Call(call) => self.text_calls.push(call),
            }
        }
    }

    fn flush(&mut self, out: &mut Vec<ModelDelta>) {
        self.let_go(true, out);
    }

    fn close(&mut self, out: &mut Vec<ModelDelta>) {
        let finish = self.ending.reason.unwrap_or(FinishReason::Stop);
        let is_cut = finish == FinishReason::Length;
        self.let_go(is_cut, out);
        // Calls in the text repeat those that the server took out of it, where it did.
        let is_native = !self.calls.is_empty();
        let calls = self.calls.finish(is_cut, &self.ids);
        self.keep(&calls, out);
        let (cut, whole): (Vec<Made>, Vec<Made>) = calls.into_iter().partition(|made| made.is_cut);
        out.extend(whole.into_iter().map(|made| ModelDelta::Call(made.call)));
        out.extend(cut.into_iter().map(|made| ModelDelta::CutCall(made.call)));
        for (name, arguments) in self.text_calls.drain(..).filter(|_| !is_native) {
            out.push(ModelDelta::Call(ModelCall { id: self.ids.mint(), name, arguments }));
        }
        out.extend(self.usage.take().map(ModelDelta::Usage));
        out.push(ModelDelta::Finish(finish));
        self.is_done = true;
    }

    fn broken_off(&self) -> Failure {
        match &self.junk {
            Some(junk) => error::malformed(&self.agent, junk),
            None if self.calls.is_empty() => {
                error::truncated(&self.agent, "the connection ended before a finish reason")
            }
            None => error::truncated(&self.agent, "the connection ended within a tool call"),
        }
    }

    fn is_finished(&self) -> bool {
        self.ending.reason.is_some()
    }

    fn lingers(&self) -> Option<Duration> {
        self.ending.lingers()
    }

    fn is_done(&self) -> bool {
        self.is_done
    }

    fn agent(&self) -> &str {
        &self.agent
    }
}

impl ChatAnswer {
    /// An answer to `agent`; `ids` are unique among several answers.
    pub(in crate::providers) fn new(agent: &str, offered: Arc<[ToolSchema]>, ids: Arc<CallIds>) -> Self {
        Self {
            agent: agent.to_owned(),
            ids,
            calls: Calls::new(Arc::clone(&offered)),
            inline: Inline::new(offered),
            text_calls: Vec::new(),
            content: Joiner::default(),
            reasoning: Joiner::default(),
            usage: None,
            ending: Ending::default(),
            is_done: false,
            junk: None,
            segments: Vec::new(),
            details: Details::default(),
            has_spoken: false,
        }
    }

    /// Takes calls in the text for text.
    pub(super) fn ignore_text_calls(&mut self) {
        self.inline = Inline::default();
    }

    fn take_object(&mut self, name: &[u8], data: &[u8], out: &mut Vec<ModelDelta>) -> Result<(), Failure> {
        let mut scratch = Vec::new();
        match chunk::read(data, &mut scratch) {
            Ok((chunk, marked)) => {
                if name == b"error" && chunk.error.is_none() && chunk.choices.is_none() {
                    return Err(error::reported_text(&self.agent, data));
                }
                if chunk.is_error() {
                    let told = serde_json::from_slice(data).unwrap_or_default();
                    return Err(error::reported_value(&self.agent, &told));
                }
                self.take_chunk(&chunk, marked)
            }
            // A line end that got lost between two events.
            Err(_) if glued(data).is_some() => {
                let (first, rest) = glued(data).unwrap_or((data, &[]));
                self.take_data(name, first, out)?;
                self.take_data(name, rest, out)
            }
            // Servers that put no blank line between events make one event of all their lines.
            Err(_) if data.contains(&b'\n') => {
                let mut lines = data.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
                lines.try_for_each(|line| self.take_data(name, line, out))
            }
            Err(cause) => Err(error::unreadable(&self.agent, &cause, data)),
        }
    }

    fn take_chunk(&mut self, chunk: &Chunk<'_>, marked: bool) -> Result<(), Failure> {
        let choices = chunk.choices.as_deref().unwrap_or_default();
        let ours = choices.iter().filter(|choice| choice.index.0.unwrap_or(0) == 0);
        for choice in ours {
            self.take_choice(choice, marked)?;
        }
        let places = [chunk.usage, chunk.x_groq.as_ref().and_then(|vendor| vendor.usage)];
        let places = choices.iter().map(|choice| choice.usage).chain(places);
        self.usage = places.flatten().filter_map(usage::read).next_back().or(self.usage);
        if let Some(error) = chunk.error.filter(|raw| error::is_said(raw)) {
            return Err(error::reported(&self.agent, error));
        }
        if let Some(error) = chunk.own_error() {
            return Err(error::reported(&self.agent, error));
        }
        if choices.is_empty()
            && let Some(detail) = chunk.detail.filter(|raw| error::is_said(raw))
        {
            return Err(error::reported(&self.agent, detail));
        }
        Ok(())
    }

    fn take_choice(&mut self, choice: &Choice<'_>, marked: bool) -> Result<(), Failure> {
        // Some services repeat all that was said so far beside each piece.
        let whole = choice.message.as_ref().filter(|_| choice.delta.is_none() || !self.has_spoken);
        let delta = choice.delta.as_ref().filter(|delta| whole.is_none() || delta.says_something());
        let message = delta.or(whole);
        let speaks = message.is_some_and(Message::says_something);
        self.has_spoken |= speaks;
        if speaks {
            self.ending.words_come();
        }
        if let Some(message) = message {
            self.take_message(message, marked);
        }
        if let Some(error) = choice.error.filter(|raw| error::is_said(raw)) {
            return Err(error::reported(&self.agent, error));
        }
        let Some(reason) = choice.finish_reason.some() else {
            if choice.message.is_some() && choice.delta.is_none() && self.ending.reason.is_none() {
                self.ending.reason = Some(FinishReason::Stop);
            }
            return Ok(());
        };
        let reason = match ending::read(reason) {
            Word::Reason(FinishReason::Stop) if self.ending.reason == Some(FinishReason::Refusal) => {
                FinishReason::Refusal
            }
            Word::Reason(reason) => reason,
            Word::Error => return Err(error::reported_text(&self.agent, b"an error without a description")),
            Word::Aborted => return Err(error::truncated(&self.agent, "the server aborted it")),
            Word::Garbled => return Err(error::truncated(&self.agent, "the model garbled its call")),
        };
        self.ending.come(reason, speaks);
        Ok(())
    }

    fn take_message(&mut self, message: &Message<'_>, marked: bool) {
        let Message { reasoning_content, reasoning, reasoning_text, thinking, content, .. } = message;
        let (detailed, is_marked) = self.details.take(message.reasoning_details);
        let thoughts = [reasoning_content, reasoning, reasoning_text, thinking, &content.thought];
        let thoughts = thoughts.into_iter().find_map(|text| text.some());
        if let Some(thought) = thoughts.or(Some(&detailed)).filter(|text| !text.is_empty()) {
            let thought = self.reasoning.add(thought, marked || is_marked);
            push_thought(&mut self.segments, &thought);
        }
        if let Some(text) = content.text.some() {
            let text = self.content.add(text, marked);
            self.inline.push(&text, &mut self.segments);
        }
        if let Some(refusal) = message.refusal.some() {
            self.inline.push(refusal, &mut self.segments);
            self.ending.reason = Some(FinishReason::Refusal);
        }
        if let Some(pieces) = &message.tool_calls {
            self.calls.push(pieces, marked);
        }
        if let Some(function) = &message.function_call {
            self.calls.push_legacy(function, marked);
        }
    }

    /// What the server wants back with the results of these calls.
    fn keep(&mut self, calls: &[Made], out: &mut Vec<ModelDelta>) {
        let details = self.details.finish();
        if calls.is_empty() {
            return;
        }
        out.extend(details.map(|details| ModelDelta::Kept(json!({ REASONING_DETAILS: details }))));
        if calls.iter().any(|made| made.extra.is_some()) {
            let extras: Vec<_> = calls.iter().map(|made| &made.extra).collect();
            out.push(ModelDelta::Kept(json!({ EXTRA_CONTENT: extras })));
        }
    }

    /// Hands out all text, also what was held back as a possible marker.
    fn let_go(&mut self, is_cut: bool, out: &mut Vec<ModelDelta>) {
        if let Some(last) = self.content.end() {
            self.inline.push(last.encode_utf8(&mut [0; 4]), &mut self.segments);
        }
        self.inline.end(is_cut, &mut self.segments);
        self.hand_out(out);
    }
}

fn push_thought(segments: &mut Vec<Segment>, text: &str) {
    match segments.last_mut() {
        Some(Segment::Thought(thought)) => thought.push_str(text),
        _ if text.is_empty() => {}
        _ => segments.push(Segment::Thought(text.to_owned())),
    }
}

/// Two events on one line, apart.
fn glued(data: &[u8]) -> Option<(&[u8], &[u8])> {
    const SEAM: &[u8] = b"}data:";
    let at = data.windows(SEAM.len()).position(|window| window == SEAM)?;
    Some((&data[..=at], data[at + SEAM.len()..].trim_ascii()))
}
