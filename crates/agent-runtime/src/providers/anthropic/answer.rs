//! What the events of the Messages API mean. An answer is made of blocks (text, reasoning, calls), each with a
//! beginning, pieces and an end; it is whole once the server has given a stop reason and ended the message.

use std::sync::Arc;

use serde_json::{Value, json};
use session_model::TokenUsage;

use crate::provider::{FinishReason, ModelCall, ModelDelta};
use crate::providers::arguments::{CallIds, as_text, is_object, settle};
use crate::providers::error::{self, Failure};
use crate::providers::numbers::whole;
use crate::providers::objects::{self, Objects};
use crate::providers::reader::{Answer, push_text, push_thought};
use crate::providers::surrogates::Joiner;

/// What has been understood of one answer.
#[derive(Debug)]
pub(in crate::providers) struct MessagesAnswer {
    agent: String,
    ids: Arc<CallIds>,
    /// In the order they began.
    blocks: Vec<Block>,
    usage: Counts,
    finish: Option<FinishReason>,
    is_done: bool,
    junk: Option<String>,
}

/// One block of the answer.
#[derive(Debug, Default)]
struct Block {
    /// Its place as the server counts, which may be anybody's.
    place: Option<u64>,
    /// How it was told to begin.
    told: Value,
    kind: Kind,
    /// The text, the reasoning, or the arguments, as far as it is needed at the end.
    text: String,
    joiner: Joiner,
    is_ended: bool,
}

#[derive(Debug, Default)]
enum Kind {
    Text,
    Thinking {
        signature: String,
    },
    /// Reasoning that only the server can read; the whole block.
    Redacted(Value),
    Call {
        name: String,
        /// Arguments that came with the beginning of the block.
        input: Value,
    },
    /// What this reader knows nothing of, or has not been told yet.
    #[default]
    Other,
}

/// Token counts as far as they were told; later ones replace earlier ones.
#[derive(Debug, Default)]
struct Counts {
    input: u64,
    written: u64,
    cached: u64,
    output: u64,
    is_told: bool,
}

impl MessagesAnswer {
    /// An answer to `agent`; `ids` are unique among several answers.
    pub(in crate::providers) fn new(agent: &str, ids: Arc<CallIds>) -> Self {
        Self {
            agent: agent.to_owned(),
            ids,
            blocks: Vec::new(),
            usage: Counts::default(),
            finish: None,
            is_done: false,
            junk: None,
        }
    }

    fn reported(&self, event: &Value) -> Failure {
        let error = if event["error"].is_null() { event } else { &event["error"] };
        error::reported_value(&self.agent, error)
    }

    /// A whole message, as servers send it that did not stream.
    fn take_message(&mut self, message: &Value, marked: bool, out: &mut Vec<ModelDelta>) {
        let blocks = message["content"].as_array().map(Vec::as_slice).unwrap_or_default();
        for block in blocks {
            self.start(None, block, marked, out);
            self.stop(None, out);
        }
        self.usage.read(&message["usage"]);
        self.stop_reason(message);
    }

    fn stop_reason(&mut self, told: &Value) {
        let Some(reason) = told["stop_reason"].as_str() else { return };
        self.finish = Some(match reason {
            "max_tokens" | "model_context_window_exceeded" => FinishReason::Length,
            "refusal" => FinishReason::Refusal,
            _ => FinishReason::Stop,
        });
    }

    fn start(&mut self, place: Option<u64>, told: &Value, marked: bool, out: &mut Vec<ModelDelta>) {
        // Places are reused and missing in the wild: what begins is new, unless it is the last one once more.
        let again = self.blocks.last().is_some_and(|last| {
            last.place == place && last.told == *told && last.text.is_empty() && !last.is_ended
        });
        if again {
            return;
        }
        let word = |member: &str| told[member].as_str().unwrap_or_default();
        let (kind, first) = match word("type") {
            "text" => (Kind::Text, json!({"type": "text_delta", "text": word("text")})),
            "thinking" => {
                let kind = Kind::Thinking { signature: word("signature").to_owned() };
                (kind, json!({"type": "thinking_delta", "thinking": word("thinking")}))
            }
            "redacted_thinking" => (Kind::Redacted(told.clone()), Value::Null),
            "tool_use" => {
                (Kind::Call { name: word("name").to_owned(), input: told["input"].clone() }, Value::Null)
            }
            _ => (Kind::Other, Value::Null),
        };
        self.blocks.push(Block { place, told: told.clone(), kind, ..Block::default() });
        self.extend(place, &first, marked, out);
    }

    /// The block of that place; the last one when none is given.
    fn find(&mut self, place: Option<u64>) -> Option<&mut Block> {
        let mut latest = self.blocks.iter_mut().rev();
        latest.find(|block| place.is_none() || block.place == place)
    }

    fn extend(&mut self, place: Option<u64>, delta: &Value, marked: bool, out: &mut Vec<ModelDelta>) {
        if self.find(place).is_none() {
            self.blocks.push(Block { place, ..Block::default() });
        }
        let Some(block) = self.find(place) else { return };
        let word = |member: &str| delta[member].as_str().unwrap_or_default();
        match delta["type"].as_str().unwrap_or_default() {
            "text_delta" => {
                // Some servers forget to begin a block.
                if matches!(block.kind, Kind::Other) {
                    block.kind = Kind::Text;
                }
                push_text(out, &block.joiner.add(word("text"), marked));
            }
            "thinking_delta" => {
                if matches!(block.kind, Kind::Other) {
                    block.kind = Kind::Thinking { signature: String::new() };
                }
                let piece = block.joiner.add(word("thinking"), marked);
                push_thought(out, &piece);
                block.text.push_str(&piece);
            }
            "signature_delta" => {
                if let Kind::Thinking { signature } = &mut block.kind {
                    signature.push_str(word("signature"));
                }
            }
            "input_json_delta" => {
                let piece = as_text(&delta["partial_json"]);
                block.text.push_str(&block.joiner.add(&piece, marked));
            }
            _ => {}
        }
    }

    fn stop(&mut self, place: Option<u64>, out: &mut Vec<ModelDelta>) {
        let Some(block) = self.find(place) else { return };
        block.is_ended = true;
        block.release(out);
    }
}

impl Block {
    /// What was waiting for its other half.
    fn release(&mut self, out: &mut Vec<ModelDelta>) {
        let Some(last) = self.joiner.end() else { return };
        let mut buffer = [0; 4];
        let last = last.encode_utf8(&mut buffer);
        match self.kind {
            Kind::Text => push_text(out, last),
            Kind::Thinking { .. } => {
                push_thought(out, last);
                self.text.push_str(last);
            }
            Kind::Call { .. } => self.text.push_str(last),
            Kind::Redacted(_) | Kind::Other => {}
        }
    }

    /// What the server wants back.
    fn kept(&self) -> Option<Value> {
        match &self.kind {
            Kind::Thinking { signature } if !signature.is_empty() => {
                Some(json!({"type": "thinking", "thinking": self.text, "signature": signature}))
            }
            Kind::Redacted(block) => Some(block.clone()),
            Kind::Thinking { .. } | Kind::Text | Kind::Call { .. } | Kind::Other => None,
        }
    }

    /// The call, with its arguments as one text.
    fn call(&self) -> Option<(&str, String)> {
        let Kind::Call { name, input } = &self.kind else { return None };
        let arguments = if self.text.is_empty() { settle(&as_text(input)) } else { settle(&self.text) };
        (!name.is_empty()).then_some((name, arguments))
    }
}

impl Counts {
    fn read(&mut self, usage: &Value) {
        let places = [
            ("input_tokens", &mut self.input),
            ("cache_creation_input_tokens", &mut self.written),
            ("cache_read_input_tokens", &mut self.cached),
            ("output_tokens", &mut self.output),
        ];
        for (member, place) in places {
            // Servers that imitate the API count a part at the beginning and say zero at the end.
            if let Some(count) = whole(&usage[member]) {
                *place = count.max(*place);
                self.is_told = true;
            }
        }
    }

    fn told(&self) -> Option<TokenUsage> {
        let (input, cached, output) = (self.input + self.written, self.cached, self.output);
        self.is_told.then_some(TokenUsage { input, cached, output, thought: 0, written: self.written })
    }
}

impl Objects for MessagesAnswer {
    fn take_event(
        &mut self,
        name: &str,
        event: &Value,
        marked: bool,
        out: &mut Vec<ModelDelta>,
    ) -> Result<(), Failure> {
        let place = whole(&event["index"]);
        match event["type"].as_str().unwrap_or(name) {
            "message_start" => self.usage.read(&event["message"]["usage"]),
            "content_block_start" => self.start(place, &event["content_block"], marked, out),
            "content_block_delta" => self.extend(place, &event["delta"], marked, out),
            "content_block_stop" => self.stop(place, out),
            "message_delta" => {
                self.usage.read(&event["usage"]);
                self.stop_reason(&event["delta"]);
            }
            "message_stop" => self.close(out),
            "message" => self.take_message(event, marked, out),
            "error" => return Err(self.reported(event)),
            _ if !event["error"].is_null() => return Err(self.reported(event)),
            _ => {}
        }
        Ok(())
    }

    fn may_be_done(&self) -> bool {
        self.finish.is_some()
    }

    fn junk(&mut self) -> &mut Option<String> {
        &mut self.junk
    }
}

impl Answer for MessagesAnswer {
    fn take_data(&mut self, name: &[u8], data: &[u8], out: &mut Vec<ModelDelta>) -> Result<(), Failure> {
        objects::take_data(self, name, data, out)
    }

    fn take_body(&mut self, body: &[u8], out: &mut Vec<ModelDelta>) -> Result<(), Failure> {
        objects::take_body(self, body, out)
    }

    fn flush(&mut self, out: &mut Vec<ModelDelta>) {
        for block in &mut self.blocks {
            block.release(out);
        }
    }

    fn close(&mut self, out: &mut Vec<ModelDelta>) {
        let finish = self.finish.unwrap_or(FinishReason::Stop);
        self.flush(out);
        out.extend(self.blocks.iter().filter_map(Block::kept).map(ModelDelta::Kept));
        // Nobody can tell whether the call that was being written at the limit is whole, though its block is ended.
        let cut = self.blocks.len().checked_sub(1).filter(|_| finish == FinishReason::Length);
        for (at, block) in self.blocks.iter().enumerate() {
            let Some((name, arguments)) = block.call() else { continue };
            let is_whole = Some(at) != cut && (block.is_ended || is_object(&arguments));
            let (id, name) = (self.ids.mint(), name.to_owned());
            let said = if is_whole { ModelDelta::Call } else { ModelDelta::CutCall };
            out.push(said(ModelCall { id, name, arguments }));
        }
        out.extend(self.usage.told().map(ModelDelta::Usage));
        out.push(ModelDelta::Finish(finish));
        self.is_done = true;
    }

    fn broken_off(&self) -> Failure {
        let in_call = self.blocks.iter().any(|block| block.call().is_some());
        match &self.junk {
            Some(junk) if self.blocks.is_empty() => error::malformed(&self.agent, junk),
            Some(_) | None if in_call => {
                error::truncated(&self.agent, "the connection ended within a tool call")
            }
            Some(_) | None => error::truncated(&self.agent, "the connection ended before a stop reason"),
        }
    }

    fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    fn is_done(&self) -> bool {
        self.is_done
    }

    fn agent(&self) -> &str {
        &self.agent
    }
}
