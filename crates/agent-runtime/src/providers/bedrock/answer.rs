//! What the events of a Converse stream mean. They tell the same as those of the Messages API in other words, and are put
//! into its words here; the token counts come after the stop reason.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::provider::ModelDelta;
use crate::providers::anthropic::MessagesAnswer;
use crate::providers::arguments::CallIds;
use crate::providers::error::{self, Failure};
use crate::providers::objects::Objects;
use crate::providers::reader::Answer;
use crate::providers::surrogates;

/// What has been understood of one answer.
#[derive(Debug)]
pub(in crate::providers) struct ConverseAnswer(MessagesAnswer);

impl ConverseAnswer {
    /// An answer to `agent`; `ids` are unique among several answers.
    pub(in crate::providers) fn new(agent: &str, ids: Arc<CallIds>) -> Self {
        Self(MessagesAnswer::new(agent, ids))
    }
}

/// The event in the words of the Messages API; none where it has none for it.
fn translated(name: &str, event: &Value) -> Option<Value> {
    let place = &event["contentBlockIndex"];
    let worded = match name {
        "contentBlockStart" => {
            let block = &event["start"]["toolUse"];
            let name = block["name"].as_str()?;
            let block = json!({"type": "tool_use", "id": block["toolUseId"], "name": name});
            json!({"type": "content_block_start", "index": place, "content_block": block})
        }
        "contentBlockDelta" => return delta(place, &event["delta"]),
        "contentBlockStop" => json!({"type": "content_block_stop", "index": place}),
        "messageStop" => {
            let reason = match event["stopReason"].as_str().unwrap_or_default() {
                "guardrail_intervened" | "content_filtered" => "refusal",
                reason => reason,
            };
            json!({"type": "message_delta", "delta": {"stop_reason": reason}})
        }
        "metadata" => json!({"type": "message_delta", "usage": usage(&event["usage"])}),
        _ => return None,
    };
    Some(worded)
}

fn delta(place: &Value, delta: &Value) -> Option<Value> {
    let reasoning = &delta["reasoningContent"];
    let piece = if let Some(text) = delta["text"].as_str() {
        json!({"type": "text_delta", "text": text})
    } else if let Some(input) = delta["toolUse"]["input"].as_str() {
        json!({"type": "input_json_delta", "partial_json": input})
    } else if let Some(text) = reasoning["text"].as_str() {
        json!({"type": "thinking_delta", "thinking": text})
    } else if let Some(signature) = reasoning["signature"].as_str() {
        json!({"type": "signature_delta", "signature": signature})
    } else {
        // It comes whole.
        let data = reasoning["redactedContent"].as_str()?;
        let block = json!({"type": "redacted_thinking", "data": data});
        return Some(json!({"type": "content_block_start", "index": place, "content_block": block}));
    };
    Some(json!({"type": "content_block_delta", "index": place, "delta": piece}))
}

fn usage(told: &Value) -> Value {
    json!({
        "input_tokens": told["inputTokens"],
        "output_tokens": told["outputTokens"],
        "cache_read_input_tokens": told["cacheReadInputTokens"],
        "cache_creation_input_tokens": told["cacheWriteInputTokens"],
    })
}

/// The status that a fault would have had before the answer began.
fn status_of(fault: &str) -> u16 {
    match fault.to_ascii_lowercase().trim_end_matches("exception") {
        "throttling" => 429,
        "internalserver" => 500,
        "serviceunavailable" => 503,
        "modeltimeout" => 408,
        // "The model is temporarily unable": its own words in the answer.
        "modelstreamerror" => 502,
        _ => 400,
    }
}

impl Answer for ConverseAnswer {
    fn take_data(&mut self, name: &[u8], data: &[u8], out: &mut Vec<ModelDelta>) -> Result<(), Failure> {
        let (event, marked) =
            surrogates::read(data).map_err(|cause| error::unreadable(self.agent(), &cause, data))?;
        let name = String::from_utf8_lossy(name);
        if let Some(worded) = translated(&name, &event) {
            self.0.take_event("", &worded, marked, out)?;
        }
        if name == "metadata" && self.is_finished() {
            self.close(out);
        }
        Ok(())
    }

    fn take_fault(&mut self, name: &str, data: &[u8]) -> Failure {
        let told = error::reported_text(self.agent(), data);
        let is_transient = error::is_transient(status_of(name), &told.error.to_string());
        Failure { is_transient, ..told }
    }

    fn take_body(&mut self, body: &[u8], _out: &mut Vec<ModelDelta>) -> Result<(), Failure> {
        Err(error::reported_text(self.agent(), body))
    }

    fn flush(&mut self, out: &mut Vec<ModelDelta>) {
        self.0.flush(out);
    }

    fn close(&mut self, out: &mut Vec<ModelDelta>) {
        self.0.close(out);
    }

    fn broken_off(&self) -> Failure {
        self.0.broken_off()
    }

    fn is_finished(&self) -> bool {
        self.0.is_finished()
    }

    fn is_done(&self) -> bool {
        self.0.is_done()
    }

    fn agent(&self) -> &str {
        self.0.agent()
    }
}
