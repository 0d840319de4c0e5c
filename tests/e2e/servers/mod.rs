//! Agents as they are configured, against servers that answer over HTTP as real ones do: each API, both versions, and
//! what another process makes of the conversation afterwards.

mod answers;
mod calls;
mod histories;
mod loading;
mod reasoning;
mod refusals;
mod windows;

use std::path::Path;
use std::sync::Arc;

use milk_acp::settings::{ConfiguredDrivers, HttpDetector, Loader};
use milk_tests::client::Client;
use milk_tests::mock_openai::{self, MockOpenAi, Reply};
use milk_tests::rig::Rig;
use milk_tests::schema::Version;
use serde_json::{Value, json};
use session_model::source::SequentialIds;

/// The APIs, as a configuration names them.
const APIS: [&str; 3] = ["chat_completions", "responses", "messages"];

/// A server, an agent that asks it, and a session's folder.
struct Scene {
    mock: MockOpenAi,
    rig: Rig,
    home: tempfile::TempDir,
}

impl Scene {
    /// An agent called `local` of this API.
    async fn new(api: &str) -> Self {
        Self::with(api, json!({})).await
    }

    /// The same with further members.
    async fn with(api: &str, members: Value) -> Self {
        let mock = MockOpenAi::start().await.expect("a server");
        let home = tempfile::tempdir().expect("a folder");
        let mut agent = json!({ "name": "local", "url": mock.url(), "model": "m", "api_format": api });
        let members = members.as_object().expect("members").clone();
        agent.as_object_mut().expect("an object").extend(members);
        let document = json!({ "agents": [agent] });
        std::fs::write(home.path().join("config.json"), document.to_string()).expect("written");
        let rig = Rig::served_by(drivers(home.path()));
        Self { mock, rig, home }
    }

    /// A client that is told everything its version has, with a new session.
    async fn session(&self, version: Version) -> (Client, String) {
        let mut client = hello(&self.rig, version).await;
        let session = client.new_session(&self.rig.cwd()).await;
        (client, session)
    }

    /// Another process shows the session to another client.
    async fn reopened(&self, version: Version, session: &str) -> (Rig, Client) {
        let next = self.rig.served_next(drivers(self.home.path()));
        let mut client = hello(&next, version).await;
        let (method, mut params) = match version {
            Version::V1 => ("session/load", json!({})),
            Version::V2 => ("session/resume", json!({ "replayFrom": { "type": "start" } })),
        };
        params["sessionId"] = json!(session);
        params["cwd"] = json!(self.rig.cwd());
        params["mcpServers"] = json!([]);
        client.call(method, params).await.expect("opened");
        (next, client)
    }
}

fn drivers(home: &Path) -> Arc<ConfiguredDrivers> {
    let loader = Loader::new(Some(home.join("config.json")), false, None);
    let detector = Arc::new(HttpDetector::new(Vec::new()));
    Arc::new(ConfiguredDrivers::new(
        loader,
        Arc::new(|_: &str| None),
        detector,
        Arc::<SequentialIds>::default(),
    ))
}

async fn hello(rig: &Rig, version: Version) -> Client {
    let mut client = rig.pipe(version);
    match version {
        Version::V1 => {
            let capabilities = json!({ "session": { "notices": {} } });
            client.initialize_with(json!({ "protocolVersion": 1, "clientCapabilities": capabilities })).await
        }
        Version::V2 => client.initialize().await,
    };
    client
}

/// Asks, allows whatever is asked about, and gives how the turn ended: its stop reason, or the error.
async fn ask(client: &mut Client, session: &str, prompt: &str) -> Result<String, Value> {
    let id = client.prompt(session, prompt).await;
    end(client, &id).await
}

/// How the turn of this prompt ends, when everything is allowed.
async fn end(client: &mut Client, id: &Value) -> Result<String, Value> {
    use milk_tests::client::Incoming;
    let result = loop {
        match client.incoming(id).await {
            Incoming::Request { id, .. } => client.choose(&id, "allow").await,
            Incoming::Response(result) => break result,
        }
    };
    let stop = match client.version() {
        Version::V1 => result.as_ref().map_or(Value::Null, |result| result["stopReason"].clone()),
        // An opened session is idle too, without a reason.
        Version::V2 => loop {
            let state = client.update("state_update").await;
            if state["state"] == "idle" && !state["stopReason"].is_null() {
                break state["stopReason"].clone();
            }
        },
    };
    result.map(|_| stop.as_str().unwrap_or_default().to_owned())
}

/// What was told since the last time: thoughts, text, rows in their last state, notices, in order.
fn told(client: &mut Client) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    for line in client.take_unclaimed() {
        let update = &line["params"]["update"];
        let text = update["content"]["text"].as_str().unwrap_or_default();
        let (kind, text) = match update["sessionUpdate"].as_str().unwrap_or_default() {
            "agent_thought_chunk" => ("thought", text.to_owned()),
            "agent_message_chunk" => ("text", text.to_owned()),
            "notice" => ("notice", update["title"].as_str().unwrap_or_default().to_owned()),
            "tool_call" | "tool_call_update" => {
                let status = update["status"].as_str().unwrap_or_default();
                if !matches!(status, "completed" | "failed") {
                    continue;
                }
                ("row", status.to_owned())
            }
            _ => continue,
        };
        match told.last_mut() {
            Some(last) if matches!(kind, "text" | "thought") && last.starts_with(&format!("{kind} ")) => {
                last.push_str(&text);
            }
            Some(_) | None => told.push(format!("{kind} {text}")),
        }
    }
    told
}

/// One thing that a model says.
#[derive(Debug, Clone, Copy)]
enum Say<'t> {
    Text(&'t str),
    /// The server's id, the tool, the arguments.
    Call(&'t str, &'t str, &'t str),
}

/// How an answer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    Whole,
    Length,
}

/// An answer in the words of an API.
fn answer(api: &str, said: &[Say<'_>], stop: Stop) -> Reply {
    match api {
        "chat_completions" => chat(said, stop),
        "responses" => responses(said, stop),
        _ => messages(said, stop),
    }
}

fn chat(said: &[Say<'_>], stop: Stop) -> Reply {
    let mut calls = 0;
    let chunks: Vec<Value> = said
        .iter()
        .map(|say| match *say {
            Say::Text(text) => mock_openai::text_chunk(text),
            Say::Call(id, name, arguments) => {
                calls += 1;
                mock_openai::call_chunk(calls - 1, id, name, arguments)
            }
        })
        .collect();
    let reason = match stop {
        Stop::Length => "length",
        Stop::Whole if calls > 0 => "tool_calls",
        Stop::Whole => "stop",
    };
    let end = [mock_openai::finish_chunk(reason), mock_openai::usage_chunk(10, 2)];
    Reply::chunks(chunks.into_iter().chain(end))
}

fn responses(said: &[Say<'_>], stop: Stop) -> Reply {
    let mut events = Vec::new();
    for (at, say) in said.iter().enumerate() {
        match *say {
            Say::Text(text) => {
                events
                    .push(json!({ "type": "response.output_text.delta", "output_index": at, "delta": text }));
            }
            Say::Call(id, name, arguments) => {
                let item = json!({ "type": "function_call", "call_id": id, "name": name, "arguments": "" });
                events
                    .push(json!({ "type": "response.output_item.added", "output_index": at, "item": item }));
                let kind = "response.function_call_arguments.delta";
                events.push(json!({ "type": kind, "output_index": at, "delta": arguments }));
                let status = if stop == Stop::Length { "incomplete" } else { "completed" };
                let item = json!({ "type": "function_call", "call_id": id, "name": name, "arguments": arguments, "status": status });
                events.push(json!({ "type": "response.output_item.done", "output_index": at, "item": item }));
            }
        }
    }
    let (name, status) = match stop {
        Stop::Length => ("response.incomplete", "incomplete"),
        Stop::Whole => ("response.completed", "completed"),
    };
    let reason = json!({ "reason": "max_output_tokens" });
    let response = json!({ "status": status, "incomplete_details": reason, "usage": { "input_tokens": 10, "output_tokens": 2 } });
    events.push(json!({ "type": name, "response": response }));
    named(&events)
}

fn messages(said: &[Say<'_>], stop: Stop) -> Reply {
    let usage = json!({ "input_tokens": 10, "output_tokens": 1 });
    let mut events = vec![json!({ "type": "message_start", "message": { "usage": usage } })];
    for (at, say) in said.iter().enumerate() {
        let (block, delta) = match *say {
            Say::Text(text) => {
                (json!({ "type": "text", "text": "" }), json!({ "type": "text_delta", "text": text }))
            }
            Say::Call(id, name, arguments) => (
                json!({ "type": "tool_use", "id": id, "name": name, "input": {} }),
                json!({ "type": "input_json_delta", "partial_json": arguments }),
            ),
        };
        events.push(json!({ "type": "content_block_start", "index": at, "content_block": block }));
        events.push(json!({ "type": "content_block_delta", "index": at, "delta": delta }));
        events.push(json!({ "type": "content_block_stop", "index": at }));
    }
    let calls = said.iter().any(|say| matches!(say, Say::Call(..)));
    let reason = match stop {
        Stop::Length => "max_tokens",
        Stop::Whole if calls => "tool_use",
        Stop::Whole => "end_turn",
    };
    events.push(json!({ "type": "message_delta", "delta": { "stop_reason": reason }, "usage": { "output_tokens": 2 } }));
    events.push(json!({ "type": "message_stop" }));
    named(&events)
}

fn named(events: &[Value]) -> Reply {
    Reply::pieces(
        events
            .iter()
            .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default())),
    )
}
