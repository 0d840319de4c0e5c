//! A protocol in the manner of the Language Server Protocol, on a hand-written service: a lifecycle, documents
//! that change in order, diagnostics pushed to the client, and `$/cancelRequest`.
//!
//! The service's methods run in the order of arrival and never wait, so the documents need no lock. What waits
//! (sending diagnostics to a client that may not be reading) happens in a task with a queue of its own.

use std::collections::HashMap;
use std::io::Write;

use acp_rpc::{
    CancelMethod, Config, Handlers, Notification, Peer, Request, Responder, RpcError, Service, connect,
    memory,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::mpsc;

/// Changes whose diagnostics were not sent yet; more would only be out of date.
const DIAGNOSTICS_AHEAD: usize = 16;

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Document {
    uri: String,
    text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Fresh,
    Running,
    ShutDown,
}

struct LanguageServer {
    peer: Peer,
    stage: Stage,
    documents: HashMap<String, String>,
    changed: mpsc::Sender<Document>,
}

impl LanguageServer {
    fn answer(&mut self, request: &Request) -> Result<Value, RpcError> {
        match (self.stage, request.method.as_str()) {
            (Stage::Fresh, "initialize") => {
                self.stage = Stage::Running;
                Ok(json!({"capabilities": {"wordCountProvider": true}}))
            }
            (Stage::Fresh, _) => Err(RpcError::new(-32002, "server not initialized")),
            (Stage::ShutDown, _) => Err(RpcError::invalid_request("server is shut down")),
            (Stage::Running, "textDocument/wordCount") => {
                let params: Value = request.params.parse()?;
                let document = params["uri"].as_str().and_then(|uri| self.documents.get(uri));
                let text = document.ok_or_else(|| RpcError::invalid_params("no such document"))?;
                Ok(json!(text.split_whitespace().count()))
            }
            (Stage::Running, "shutdown") => {
                self.stage = Stage::ShutDown;
                Ok(Value::Null)
            }
            (Stage::Running, other) => Err(RpcError::method_not_found(other)),
        }
    }
}

impl Service for LanguageServer {
    fn request(&mut self, request: Request, responder: Responder) {
        responder.finish(&self.answer(&request));
    }

    fn notification(&mut self, notification: Notification) {
        match notification.method.as_str() {
            "textDocument/didChange" if self.stage == Stage::Running => {
                let Ok(document) = notification.params.parse::<Document>() else { return };
                self.documents.insert(document.uri.clone(), document.text.clone());
                // A full queue means that the client does not read: this round of diagnostics is left out.
                let _: Result<(), _> = self.changed.try_send(document).map_err(drop);
            }
            "exit" => self.peer.shutdown(),
            _ => {}
        }
    }
}

/// Sends the diagnostics of each change, at the pace at which the client reads.
async fn diagnose(peer: Peer, mut changed: mpsc::Receiver<Document>) {
    while let Some(document) = changed.recv().await {
        let lines = document.text.lines().enumerate();
        let todos: Vec<_> =
            lines.filter(|(_, line)| line.contains("TODO")).map(|(number, _)| number).collect();
        let params = json!({"uri": document.uri, "lines": todos});
        if peer.notify("textDocument/publishDiagnostics", &params).await.is_err() {
            return;
        }
    }
}

fn config() -> Config {
    Config::default().cancel(CancelMethod {
        method: "$/cancelRequest",
        params: |id| json!({"id": id}),
        target: |params| serde_json::from_value(params["id"].clone()).ok(),
    })
}

async fn edit(peer: Peer) -> Result<(), Box<dyn std::error::Error>> {
    let early = peer.request("textDocument/wordCount", &json!({"uri": "a"})).await;
    writeln!(std::io::stdout(), "too early: {early:?}")?;
    peer.request("initialize", &json!({})).await?;
    for text in ["one", "one two\nTODO: three"] {
        peer.notify("textDocument/didChange", &Document { uri: "a".to_owned(), text: text.to_owned() })
            .await?;
    }
    let words: u64 = peer.request("textDocument/wordCount", &json!({"uri": "a"})).typed().await?;
    writeln!(std::io::stdout(), "{words} words after both changes")?;
    peer.request("shutdown", &()).await?;
    peer.notify("exit", &()).await?;
    peer.closed().await;
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (near, far) = memory();
    let (changed, to_diagnose) = mpsc::channel(DIAGNOSTICS_AHEAD);
    let (to_client, server) = connect(far.reader, far.writer, config());
    let server = server.run(LanguageServer {
        peer: to_client.clone(),
        stage: Stage::Fresh,
        documents: HashMap::new(),
        changed,
    });
    let (to_server, client) = connect(near.reader, near.writer, config());
    let client = client.run(Handlers::new(to_server.clone()).receive(
        "textDocument/publishDiagnostics",
        |params: Value| {
            // Standard output failing is no reason to stop editing.
            drop(writeln!(std::io::stdout(), "diagnostics: {params}"));
        },
    ));
    let diagnostics = diagnose(to_client, to_diagnose);
    let (server, client, (), edits) = tokio::join!(server, client, diagnostics, edit(to_server));
    edits?;
    client?;
    server?;
    Ok(())
}
