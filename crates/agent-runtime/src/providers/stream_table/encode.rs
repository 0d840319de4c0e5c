//! Neutral steps of an answer in the words of each API, as its own server would send them.

use serde_json::{Value, json};

use super::framing::Event;

/// One step of an answer.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    Text(&'static str),
    Thought(&'static str),
    /// A call begins; its number among the calls, and its name.
    Call(u64, &'static str),
    /// A piece of its arguments.
    Args(u64, &'static str),
    /// How the answer ends and what it took: fresh and cached tokens of the prompt, tokens of the answer.
    End(Stop, Option<(u64, u64, u64)>),
    /// An error inside the answer, with a word for programs.
    Error(&'static str, &'static str),
    /// The reasoning before it has to come back, with this proof.
    Sign(&'static str),
    /// What a server sends while it thinks.
    Ping,
    /// Half an event; the connection ends.
    Half,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    Said,
    Calls,
    Length,
    Refusal,
}

/// What is between quotes in JSON, also of halves of characters (written `\u` escapes stay as they are).
fn quoted(text: &str) -> Value {
    Value::from(text)
}

fn unnamed(value: &Value) -> Event {
    ("", value.to_string())
}

/// As a Chat Completions server says it.
pub(crate) fn chat(steps: &[Step]) -> Vec<Event> {
    let delta = |delta: Value| {
        unnamed(&json!({"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]}))
    };
    let mut events = Vec::new();
    for step in steps {
        match *step {
            Step::Text(text) => events.push(delta(json!({"content": quoted(text)}))),
            Step::Thought(text) => events.push(delta(json!({"reasoning_content": quoted(text)}))),
            Step::Call(at, name) => events.push(delta(json!({"tool_calls": [
                {"index": at, "id": format!("s{at}"), "type": "function", "function": {"name": name, "arguments": ""}}
            ]}))),
            Step::Args(at, piece) => events.push(delta(json!({"tool_calls": [
                {"index": at, "function": {"arguments": piece}}
            ]}))),
            Step::End(stop, usage) => {
                let reason = match stop {
                    Stop::Said => "stop",
                    Stop::Calls => "tool_calls",
                    Stop::Length => "length",
                    Stop::Refusal => "content_filter",
                };
                events.push(unnamed(&json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})));
                events.extend(usage.map(|(fresh, cached, output)| {
                    unnamed(&json!({"choices": [], "usage": {
                        "prompt_tokens": fresh + cached, "completion_tokens": output,
                        "prompt_tokens_details": {"cached_tokens": cached},
                    }}))
                }));
                events.push(("", "[DONE]".to_owned()));
            }
            Step::Error(word, message) => {
                events.push(unnamed(&json!({"error": {"type": word, "message": message}})));
            }
            Step::Sign(_) => {}
            Step::Ping => events.push(unnamed(&json!({"choices": []}))),
            Step::Half => events.push(("", r#"{"choices":[{"index":0,"delta":{"content":"lo"#.to_owned())),
        }
    }
    events
}

/// As a Messages server says it.
pub(crate) fn messages(steps: &[Step]) -> Vec<Event> {
    let mut said = Blocks { events: Vec::new(), open: None, next: 0 };
    let usage = steps.iter().find_map(|step| if let Step::End(_, usage) = step { *usage } else { None });
    let counts = usage.map_or(Value::Null, |(fresh, cached, output)| {
        json!({"input_tokens": fresh, "cache_read_input_tokens": cached, "output_tokens": output.min(1)})
    });
    said.push(
        &json!({"type": "message_start", "message": {"id": "m", "role": "assistant", "usage": counts}}),
    );
    for step in steps {
        said.step(*step);
    }
    said.events
}

/// The blocks of a message as they come.
struct Blocks {
    events: Vec<Event>,
    /// The open block, by what is in it.
    open: Option<(Value, u64)>,
    next: u64,
}

impl Blocks {
    fn push(&mut self, event: &Value) {
        let name = match event["type"].as_str().unwrap() {
            "message_start" => "message_start",
            "content_block_start" => "content_block_start",
            "content_block_delta" => "content_block_delta",
            "content_block_stop" => "content_block_stop",
            "message_delta" => "message_delta",
            "message_stop" => "message_stop",
            "ping" => "ping",
            other => panic!("{other}"),
        };
        self.events.push((name, event.to_string()));
    }

    /// The place of a block that is `what`; begun with `block` unless it is open.
    fn block(&mut self, what: &Value, block: &Value) -> u64 {
        if let Some((open, at)) = &self.open
            && open == what
        {
            return *at;
        }
        self.close();
        let at = self.next;
        self.next += 1;
        self.open = Some((what.clone(), at));
        self.push(&json!({"type": "content_block_start", "index": at, "content_block": block}));
        at
    }

    fn close(&mut self) {
        if let Some((_, at)) = self.open.take() {
            self.push(&json!({"type": "content_block_stop", "index": at}));
        }
    }

    fn delta(&mut self, at: u64, delta: &Value) {
        self.push(&json!({"type": "content_block_delta", "index": at, "delta": delta}));
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Text(text) => {
                let at = self.block(&json!("text"), &json!({"type": "text", "text": ""}));
                self.delta(at, &json!({"type": "text_delta", "text": quoted(text)}));
            }
            Step::Thought(text) => {
                let block = json!({"type": "thinking", "thinking": "", "signature": ""});
                let at = self.block(&json!("thinking"), &block);
                self.delta(at, &json!({"type": "thinking_delta", "thinking": quoted(text)}));
            }
            Step::Call(number, name) => {
                let block =
                    json!({"type": "tool_use", "id": format!("toolu_{number}"), "name": name, "input": {}});
                let at = self.block(&json!(number), &block);
                self.delta(at, &json!({"type": "input_json_delta", "partial_json": ""}));
            }
            Step::Args(number, piece) => {
                // Calls come one after the other here; a piece belongs to the block that is open.
                let (open, at) = self.open.clone().unwrap();
                assert_eq!(open, json!(number), "the calls of a message do not interleave");
                self.delta(at, &json!({"type": "input_json_delta", "partial_json": piece}));
            }
            Step::End(how, usage) => {
                self.close();
                let reason = match how {
                    Stop::Said => "end_turn",
                    Stop::Calls => "tool_use",
                    Stop::Length => "max_tokens",
                    Stop::Refusal => "refusal",
                };
                let usage = usage.map_or(Value::Null, |(_, _, output)| json!({"output_tokens": output}));
                self.push(
                    &json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}),
                );
                self.push(&json!({"type": "message_stop"}));
            }
            Step::Error(word, message) => {
                let error = json!({"type": "error", "error": {"type": word, "message": message}});
                self.events.push(("error", error.to_string()));
            }
            Step::Sign(proof) => {
                let block = json!({"type": "thinking", "thinking": "", "signature": ""});
                let at = self.block(&json!("thinking"), &block);
                self.delta(at, &json!({"type": "signature_delta", "signature": proof}));
            }
            Step::Ping => self.push(&json!({"type": "ping"})),
            Step::Half => {
                self.events.push(("content_block_delta", r#"{"type":"content_block_delta","ind"#.to_owned()));
            }
        }
    }
}

/// As a Responses server says it.
pub(crate) fn responses(steps: &[Step]) -> Vec<Event> {
    let mut said = Items { events: Vec::new(), held: Vec::new(), open: None };
    said.events.push((
        "response.created",
        json!({"type": "response.created", "response": {"status": "in_progress"}}).to_string(),
    ));
    for step in steps {
        said.step(*step);
    }
    said.events
}

/// The items of a response as they come.
struct Items {
    events: Vec<Event>,
    /// What is in each item, and the item so far.
    held: Vec<(Value, Value)>,
    open: Option<usize>,
}

impl Items {
    /// The place of an item that is `what`; begun unless it is there.
    fn item(&mut self, what: &Value, item: &Value) -> usize {
        if let Some(open) = self.open
            && self.held[open].0 == *what
        {
            return open;
        }
        let known = self.held.iter().position(|(held, _)| held == what && what.is_u64());
        if let Some(at) = known {
            return at;
        }
        let at = self.held.len();
        let mut item = item.clone();
        item["id"] = json!(format!("item_{at}"));
        self.held.push((what.clone(), item.clone()));
        self.open = Some(at);
        let added = json!({"type": "response.output_item.added", "output_index": at, "item": item});
        self.events.push(("response.output_item.added", added.to_string()));
        at
    }

    fn delta(&mut self, name: &'static str, at: usize, delta: &Value) {
        let event =
            json!({"type": name, "output_index": at, "item_id": format!("item_{at}"), "delta": delta});
        self.events.push((name, event.to_string()));
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Text(text) => {
                let at = self
                    .item(&json!("text"), &json!({"type": "message", "role": "assistant", "content": []}));
                self.delta("response.output_text.delta", at, &quoted(text));
            }
            Step::Thought(text) => {
                let at = self.item(&json!("thought"), &json!({"type": "reasoning", "summary": []}));
                self.delta("response.reasoning_summary_text.delta", at, &quoted(text));
            }
            Step::Call(number, name) => {
                let call = json!({"type": "function_call", "call_id": format!("fc_{number}"), "name": name, "arguments": ""});
                self.item(&json!(number), &call);
            }
            Step::Args(number, piece) => {
                let at = self.item(&json!(number), &Value::Null);
                let so_far = self.held[at].1["arguments"].as_str().unwrap_or_default().to_owned();
                self.held[at].1["arguments"] = json!(so_far + piece);
                self.delta("response.function_call_arguments.delta", at, &json!(piece));
            }
            Step::End(how, usage) => self.end(how, usage),
            Step::Error(word, message) => {
                let error = json!({"type": "error", "code": word, "message": message});
                self.events.push(("error", error.to_string()));
            }
            Step::Sign(proof) => {
                let at = self.item(&json!("thought"), &json!({"type": "reasoning", "summary": []}));
                let mut item = self.held[at].1.clone();
                item["encrypted_content"] = json!(proof);
                let done = json!({"type": "response.output_item.done", "output_index": at, "item": item});
                self.events.push(("response.output_item.done", done.to_string()));
                self.open = None;
            }
            Step::Ping => {
                self.events
                    .push(("response.in_progress", json!({"type": "response.in_progress"}).to_string()));
            }
            Step::Half => {
                self.events.push(("response.output_text.delta", r#"{"type":"response.output_te"#.to_owned()));
            }
        }
    }

    fn end(&mut self, stop: Stop, usage: Option<(u64, u64, u64)>) {
        let last = self.held.len().saturating_sub(1);
        for (at, (what, mut item)) in self.held.clone().into_iter().enumerate() {
            if !what.is_u64() {
                continue;
            }
            item["status"] =
                json!(if stop == Stop::Length && at == last { "incomplete" } else { "completed" });
            let done = json!({"type": "response.output_item.done", "output_index": at, "item": item});
            self.events.push(("response.output_item.done", done.to_string()));
        }
        let (name, status, details) = match stop {
            Stop::Said | Stop::Calls => ("response.completed", "completed", Value::Null),
            Stop::Length => ("response.incomplete", "incomplete", json!({"reason": "max_output_tokens"})),
            Stop::Refusal => ("response.incomplete", "incomplete", json!({"reason": "content_filter"})),
        };
        let usage = usage.map_or(Value::Null, |(fresh, cached, output)| {
            json!({"input_tokens": fresh + cached, "output_tokens": output, "input_tokens_details": {"cached_tokens": cached}})
        });
        let response = json!({"status": status, "incomplete_details": details, "usage": usage});
        self.events.push((name, json!({"type": name, "response": response}).to_string()));
    }
}
