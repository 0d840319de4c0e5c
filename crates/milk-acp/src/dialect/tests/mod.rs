//! What each version makes of every event, request, reply, question and answer. Every line written is held against
//! the official schema of its version.

mod asks;
mod compaction;
mod events;
mod limits;
mod negotiation;
mod replies;
mod requests;
mod tools;

use acp_rpc::Params;
use serde_json::Value;
use serde_json::value::RawValue;
use session_model::Event;

use super::conformance::assert_outgoing;
use super::{Dialect, Outgoing, View};
use crate::negotiate::{PromptFeatures, ServerInfo, negotiate};

fn params(text: &str) -> Params {
    Params::from(RawValue::from_string(text.to_owned()).unwrap())
}

fn server() -> ServerInfo {
    ServerInfo::new("milk", "0.1.0")
}

/// A connection of version 1 with a client that advertises nothing.
fn v1() -> Dialect {
    dialect(r#"{"protocolVersion":1}"#)
}

/// A connection of version 1 with a client that knows all of it.
fn v1_full() -> Dialect {
    dialect(
        r#"{"protocolVersion":1,"clientCapabilities":{"session":{"configOptions":{"boolean":{}},"notices":{},"compaction":{}},
            "elicitation":{"form":{}}}}"#,
    )
}

fn v2() -> Dialect {
    dialect(
        r#"{"protocolVersion":2,"info":{"name":"t","version":"1"},"capabilities":{"elicitation":{"form":{}}}}"#,
    )
}

fn dialect(initialize: &str) -> Dialect {
    negotiate(&params(initialize), &server()).unwrap().dialect
}

/// A connection whose prompts may hold everything.
fn rich(version: u8) -> Dialect {
    let prompt = PromptFeatures { image: true, audio: true, embedded_context: true };
    let server = ServerInfo { prompt, ..server() };
    negotiate(&params(&format!(r#"{{"protocolVersion":{version}}}"#)), &server).unwrap().dialect
}

/// What `dialect` says of `events`, one line a message: the update of a `session/update`, or method and parameters.
fn said(dialect: &Dialect, events: &[Event]) -> String {
    let mut view = dialect.view("s1".into());
    lines(dialect, &mut view, events)
}

fn lines(dialect: &Dialect, view: &mut View, events: &[Event]) -> String {
    let said: Vec<String> =
        events.iter().flat_map(|event| view.update(event)).map(|outgoing| line(dialect, &outgoing)).collect();
    said.join("\n")
}

fn line(dialect: &Dialect, outgoing: &Outgoing) -> String {
    let params = assert_outgoing(dialect, outgoing);
    assert_eq!(params["sessionId"], "s1");
    match outgoing.method {
        "session/update" => params["update"].to_string(),
        method => format!("{method} {params}"),
    }
}

fn update(outgoing: &Outgoing) -> Value {
    serde_json::from_str::<Value>(outgoing.params.get()).unwrap()["update"].clone()
}
