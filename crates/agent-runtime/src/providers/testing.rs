//! What the tests of all APIs share: answers read in pieces, and histories that strict servers must be spared.

use std::fmt::Write as _;

use futures::StreamExt;
use serde_json::json;
use session_model::Content;

use super::error::Failure;
use super::reader::{Answer, Reader};
use crate::provider::{
    ModelCall, ModelDelta, ModelMessage, ModelRequest, Provider, ProviderError, ToolSchema,
};

/// Feeds `pieces`; text in one row a stretch, whatever the pieces.
pub(super) fn read<'a, A: Answer>(
    answer: A,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<ModelDelta>, Result<(), Failure>) {
    let mut reader = Reader::new(answer);
    let mut deltas = Vec::new();
    let mut result = Ok(());
    for piece in pieces {
        result = reader.push(piece, &mut deltas);
        if result.is_err() {
            break;
        }
    }
    if result.is_ok() {
        result = reader.end(&mut deltas);
    }
    (merged(deltas), result)
}

/// With neighbouring texts in one.
pub(super) fn merged(deltas: Vec<ModelDelta>) -> Vec<ModelDelta> {
    let mut all: Vec<ModelDelta> = Vec::new();
    for delta in deltas {
        match (all.last_mut(), delta) {
            (Some(ModelDelta::Text(before)), ModelDelta::Text(more))
            | (Some(ModelDelta::Thought(before)), ModelDelta::Thought(more)) => before.push_str(&more),
            (_, delta) => all.push(delta),
        }
    }
    all
}

/// What `stream` means to the answers that `new` makes, after checking that cuts do not change it.
pub(super) fn meaning<A: Answer>(new: impl Fn() -> A, stream: &str) -> String {
    let bytes = stream.as_bytes();
    let whole = read(new(), [bytes]);
    assert_eq!(read(new(), bytes.chunks(1)), whole, "byte by byte: {stream}");
    assert_eq!(read(new(), bytes.chunks(7)), whole, "by seven: {stream}");
    let mut told = String::new();
    for delta in &whole.0 {
        match delta {
            ModelDelta::Text(text) => writeln!(told, "text {text:?}"),
            ModelDelta::Thought(text) => writeln!(told, "thought {text:?}"),
            ModelDelta::Kept(kept) => writeln!(told, "kept {kept}"),
            ModelDelta::Call(call) => writeln!(told, "{} {} {}", call.id, call.name, call.arguments),
            ModelDelta::CutCall(call) => writeln!(told, "cut {} {}", call.name, call.arguments),
            ModelDelta::Usage(usage) => {
                writeln!(told, "usage {}+{} {} {}", usage.input, usage.cached, usage.output, usage.thought)
            }
            ModelDelta::Finish(reason) => writeln!(told, "finish {reason:?}"),
        }
        .unwrap();
    }
    if let Err(failure) = whole.1 {
        let again = if failure.is_transient { " (transient)" } else { "" };
        writeln!(told, "error {}{again}", failure.error).unwrap();
    }
    told
}

/// The same events with other line ends and company mean the same.
pub(super) fn assert_spellings_mean_the_same<A: Answer>(new: impl Fn() -> A + Copy, stream: &str) {
    let expected = meaning(new, stream);
    let spellings = [
        stream.replace('\n', "\r\n"),
        stream.replace('\n', "\r"),
        stream.replace("data: ", "data:"),
        stream.replace("\n\n", "\n\n: keep-alive\n\nretry: 100\nid: 7\n\n"),
        format!("\u{feff}{stream}"),
        stream.trim_end().to_owned(),
    ];
    for spelled in spellings {
        assert_eq!(meaning(new, &spelled), expected, "{spelled}");
    }
}

pub(super) fn user(text: &str) -> ModelMessage {
    ModelMessage::User(vec![Content::text(text)])
}

pub(super) fn said(text: &str, calls: Vec<ModelCall>) -> ModelMessage {
    ModelMessage::assistant(text, calls)
}

pub(super) fn call(id: &str, name: &str, arguments: &str) -> ModelCall {
    ModelCall { id: id.to_owned(), name: name.to_owned(), arguments: arguments.to_owned() }
}

pub(super) fn result(id: &str, output: &str) -> ModelMessage {
    ModelMessage::ToolResult { call_id: id.to_owned(), name: "read".to_owned(), output: output.to_owned() }
}

pub(super) fn tool(name: &str) -> ToolSchema {
    let parameters =
        json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    ToolSchema { name: name.to_owned(), description: format!("The tool {name}."), parameters }
}

pub(super) fn ask(text: &str) -> ModelRequest {
    ModelRequest { system: "Be brief.".to_owned(), messages: vec![user(text)], ..ModelRequest::default() }
}

pub(super) async fn all(
    provider: &dyn Provider,
    request: ModelRequest,
) -> Result<Vec<ModelDelta>, ProviderError> {
    let mut deltas = Vec::new();
    let mut stream = provider.stream(request).await?;
    while let Some(delta) = stream.next().await {
        deltas.push(delta?);
    }
    Ok(deltas)
}

/// Histories as cancels, failures and reloads leave them.
pub(super) fn odd_histories() -> Vec<Vec<ModelMessage>> {
    let read = |id: &str| call(id, "read", r#"{"path":"a"}"#);
    vec![
        vec![],
        vec![user("a"), user("b"), user(""), user("c")],
        vec![user("a"), said("", vec![]), user("b")],
        vec![user("a"), said(" \n", vec![]), user("b")],
        vec![user("a"), said("one", vec![]), said("two", vec![]), user("b")],
        vec![user("a"), said("one", vec![])],
        vec![said("first", vec![]), user("a")],
        vec![user("a"), said("", vec![read("x"), read("y")]), result("y", "only this"), user("b")],
        vec![user("a"), said("", vec![read("x")]), user("cancelled, go on")],
        vec![user("a"), said("", vec![read("x"), read("x")]), result("x", "1"), result("x", "2")],
        vec![
            user("a"),
            said("", vec![read("x")]),
            result("x", "1"),
            said("", vec![read("x")]),
            result("x", "2"),
        ],
        vec![
            user("a"),
            said("", vec![call("x", "read", r#"{"path": "cd /x"#)]),
            result("x", "bad arguments"),
        ],
        vec![user("a"), said("", vec![call("x", "read", "")]), result("x", "")],
        vec![user("a"), result("ghost", "no call"), user("b")],
        vec![user("a"), said("one", vec![]), said("", vec![read("x")]), result("x", "1")],
    ]
}
