//! What the events of the Responses API mean. The answer is whole once the server has said that the response is
//! completed or incomplete; only then are calls handed out.

use std::sync::Arc;

use serde_json::Value;
use session_model::TokenUsage;

use super::items::{Items, Kind, Name};
use crate::provider::{FinishReason, ModelCall, ModelDelta};
use crate::providers::arguments::{CallIds, as_text};
use crate::providers::error::{self, Failure};
use crate::providers::numbers::whole;
use crate::providers::objects::{self, Objects};
use crate::providers::reader::Answer;

/// What has been understood of one answer.
#[derive(Debug)]
pub(in crate::providers) struct ResponseAnswer {
    agent: String,
    ids: Arc<CallIds>,
    items: Items,
    usage: Option<TokenUsage>,
    finish: Option<FinishReason>,
    refused: bool,
    is_done: bool,
    junk: Option<String>,
}

impl ResponseAnswer {
    /// An answer to `agent`; `ids` are unique among several answers.
    pub(in crate::providers) fn new(agent: &str, ids: Arc<CallIds>) -> Self {
        Self {
            agent: agent.to_owned(),
            ids,
            items: Items::default(),
            usage: None,
            finish: None,
            refused: false,
            is_done: false,
            junk: None,
        }
    }

    fn reported(&self, event: &Value) -> Failure {
        let error = if event["error"].is_null() { event } else { &event["error"] };
        error::reported_value(&self.agent, error)
    }

    /// A whole response: what was not told in pieces, and how it ended (`status` where it does not say).
    fn take_response(
        &mut self,
        response: &Value,
        status: &str,
        marked: bool,
        out: &mut Vec<ModelDelta>,
    ) -> Result<(), Failure> {
        let output = response["output"].as_array().map(Vec::as_slice).unwrap_or_default();
        // What came in pieces is not told again. Whole kinds of items may have come only here.
        let news: Vec<_> = (0..).zip(output).filter(|(_, item)| !self.items.any(Kind::of(item))).collect();
        for (index, item) in news {
            let name = Name { index: Some(index), id: item["id"].as_str().unwrap_or_default() };
            self.refused |=
                item["content"].as_array().into_iter().flatten().any(|part| part["type"] == "refusal");
            self.items.end(name, item, marked, out);
        }
        self.usage = counts(&response["usage"]).or(self.usage);
        match response["status"].as_str().unwrap_or(status) {
            "failed" => Err(self.reported(response)),
            "cancelled" => Err(error::truncated(&self.agent, "the server cancelled it")),
            "incomplete" => {
                let reason = &response["incomplete_details"]["reason"];
                let refused = reason == "content_filter";
                self.finish = Some(if refused { FinishReason::Refusal } else { FinishReason::Length });
                Ok(())
            }
            "completed" => {
                self.finish = Some(FinishReason::Stop);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

impl Objects for ResponseAnswer {
    fn take_event(
        &mut self,
        name: &str,
        event: &Value,
        marked: bool,
        out: &mut Vec<ModelDelta>,
    ) -> Result<(), Failure> {
        let kind = event["type"].as_str().unwrap_or(name);
        let at = name_of(event);
        let piece = event["delta"].as_str().unwrap_or_default();
        match kind {
            "response.output_item.added" => self.items.begin(at, &event["item"]),
            "response.output_item.done" => self.items.end(at, &event["item"], marked, out),
            "response.output_text.delta" => self.items.find(at, Kind::Message).extend(piece, marked, out),
            "response.refusal.delta" => {
                self.refused = true;
                self.items.find(at, Kind::Message).extend(piece, marked, out);
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.items.find(at, Kind::Reasoning).extend(piece, marked, out);
            }
            "response.reasoning_summary_part.added" => {
                self.items.find(at, Kind::Reasoning).set_apart(out);
            }
            "response.function_call_arguments.delta" => {
                self.items.find(at, Kind::Call).extend(&as_text(&event["delta"]), marked, out);
            }
            "response.function_call_arguments.done" => {
                self.items.find(at, Kind::Call).arguments(&event["arguments"], marked);
            }
            "response.completed"
            | "response.incomplete"
            | "response.failed"
            | "response.cancelled"
            | "response.done" => {
                // A response without a status is what the event says.
                let by_name = kind.strip_prefix("response.").unwrap_or_default();
                self.take_response(&event["response"], by_name, marked, out)?;
                self.finish.get_or_insert(FinishReason::Stop);
                self.close(out);
            }
            "error" => return Err(self.reported(event)),
            _ if !event["error"].is_null() && event["object"] != "response" => {
                return Err(self.reported(event));
            }
            _ if event["object"] == "response" => self.take_response(event, "", marked, out)?,
            _ => {}
        }
        Ok(())
    }

    fn may_be_done(&self) -> bool {
        !self.items.is_empty()
    }

    fn junk(&mut self) -> &mut Option<String> {
        &mut self.junk
    }
}

impl Answer for ResponseAnswer {
    fn take_data(&mut self, name: &[u8], data: &[u8], out: &mut Vec<ModelDelta>) -> Result<(), Failure> {
        objects::take_data(self, name, data, out)
    }

    fn take_body(&mut self, body: &[u8], out: &mut Vec<ModelDelta>) -> Result<(), Failure> {
        objects::take_body(self, body, out)
    }

    fn flush(&mut self, out: &mut Vec<ModelDelta>) {
        self.items.release(out);
    }

    fn close(&mut self, out: &mut Vec<ModelDelta>) {
        let finish = match self.finish {
            Some(FinishReason::Stop) | None if self.refused => FinishReason::Refusal,
            Some(finish) => finish,
            None => FinishReason::Stop,
        };
        self.flush(out);
        out.extend(self.items.kept().map(ModelDelta::Kept));
        for (name, arguments, is_whole) in self.items.calls(finish == FinishReason::Length) {
            let (id, name) = (self.ids.mint(), name.to_owned());
            let said = if is_whole { ModelDelta::Call } else { ModelDelta::CutCall };
            out.push(said(ModelCall { id, name, arguments }));
        }
        out.extend(self.usage.map(ModelDelta::Usage));
        out.push(ModelDelta::Finish(finish));
        self.is_done = true;
    }

    fn broken_off(&self) -> Failure {
        match &self.junk {
            Some(junk) if self.items.is_empty() => error::malformed(&self.agent, junk),
            Some(_) | None if self.items.any(Kind::Call) => {
                error::truncated(&self.agent, "the connection ended within a tool call")
            }
            Some(_) | None => error::truncated(&self.agent, "the connection ended before the response did"),
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

/// The item that an event is about.
fn name_of(event: &Value) -> Name<'_> {
    let id = event["item_id"].as_str().or_else(|| event["item"]["id"].as_str());
    Name { index: whole(&event["output_index"]), id: id.unwrap_or_default() }
}

fn counts(usage: &Value) -> Option<TokenUsage> {
    let count = |path: &str| usage.pointer(path).and_then(whole);
    let (input, output) = (count("/input_tokens"), count("/output_tokens"));
    if input.is_none() && output.is_none() {
        return None;
    }
    let cached = count("/input_tokens_details/cached_tokens").unwrap_or(0);
    Some(TokenUsage {
        input: input.unwrap_or(0).saturating_sub(cached),
        cached,
        output: output.unwrap_or(0),
        thought: count("/output_tokens_details/reasoning_tokens").unwrap_or(0),
        written: 0,
    })
}
