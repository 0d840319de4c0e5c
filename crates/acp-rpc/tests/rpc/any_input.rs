//! What must hold for any input at all: the bodies of the fuzz targets, and their run over the seeds.

use std::time::Duration;

use acp_rpc::{
    BatchPolicy, CancelMethod, Config, Frame, Handlers, IdPolicy, MalformedPolicy, Message, Policy, RpcError,
    memory, serve,
};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// One line: parsing it never panics, and calls no JSON garbage.
pub(crate) fn frame_parse(line: &[u8]) {
    let entries = match Frame::parse(line) {
        Frame::Single(entry) => vec![entry],
        Frame::Batch(entries) => entries,
    };
    let is_json = serde_json::from_slice::<Value>(line).is_ok();
    for entry in entries {
        match entry {
            Ok(Message::Request(request)) => {
                let id = serde_json::to_string(&request.id).unwrap();
                assert_eq!(serde_json::from_str::<acp_rpc::RequestId>(&id).unwrap(), request.id);
                let read = request.params.parse::<Value>();
                assert!(read.is_ok() || !is_json || !is_object(&request.params));
            }
            Ok(Message::Notification(_) | Message::Response(_)) => {}
            Err(malformed) => {
                let is_parse_error = malformed.error.code == RpcError::PARSE_ERROR;
                assert!(!(is_json && is_parse_error));
            }
        }
    }
}

fn is_object(params: &acp_rpc::Params) -> bool {
    params.raw().is_none_or(|raw| raw.get().starts_with('{'))
}

/// A whole connection: it ends, and writes nothing but messages, one answer a line (or a batch of them).
pub(crate) fn connection(bytes: &[u8]) {
    let [policies, size, input @ ..] = bytes else { return };
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    let output = runtime.block_on(async {
        let (mut near, far) = memory();
        let connection = serve(far.reader, far.writer, config(*policies), service);
        let client = async {
            for piece in input.chunks(usize::from(*size).max(1)) {
                if near.writer.write_all(piece).await.is_err() {
                    break;
                }
                tokio::task::yield_now().await;
            }
            // Fails only when the connection has ended by itself.
            drop(near.writer.shutdown().await);
        };
        let mut output = Vec::new();
        let both = async { tokio::join!(connection, client, near.reader.read_to_end(&mut output)) };
        let (outcome, (), _) = tokio::time::timeout(Duration::from_secs(61), both).await.expect("it hangs");
        outcome.unwrap();
        output
    });
    assert!(output.is_empty() || output.ends_with(b"\n"));
    for line in std::str::from_utf8(&output).unwrap().lines() {
        let message: Value = serde_json::from_str(line).unwrap();
        match message.as_array() {
            Some(answers) => answers.iter().for_each(check),
            None => check(&message),
        }
    }
}

fn check(message: &Value) {
    assert_eq!(message["jsonrpc"], "2.0");
    let is_answer = message.get("result").is_some() != message.get("error").is_some();
    assert!(is_answer != message.get("method").is_some());
    assert!(message.get("id").is_some() || message.get("method").is_some());
}

fn config(policies: u8) -> Config {
    let bit = |bit: u8| policies & (1 << bit) != 0;
    let policy = Policy {
        malformed: if bit(0) { MalformedPolicy::Reply } else { MalformedPolicy::Silent },
        batches: if bit(1) { BatchPolicy::Expand } else { BatchPolicy::Reject },
        ids: if bit(2) { IdPolicy::RefuseNull } else { IdPolicy::AllowNull },
    };
    Config::default()
        .policy(policy)
        .max_line(if bit(3) { 64 } else { 1 << 20 })
        .max_in_flight(if bit(4) { 2 } else { 100 })
        .outbound(if bit(5) { 1 } else { 16 }, 256)
        .backlog_limit(if bit(6) { 128 } else { 1 << 20 })
        .cancel(CancelMethod {
            method: "stop",
            params: |id| json!({"id": id}),
            target: |params| serde_json::from_value(params["id"].clone()).ok(),
        })
}

fn service(peer: acp_rpc::Peer) -> Handlers {
    Handlers::new(peer)
        .keyed(|_, params| params.parse::<Value>().ok()?["key"].as_str().map(str::to_owned))
        .answer("e", |params: Value| Ok(params))
        .answer("f", |_: Value| Err::<(), _>(RpcError::new(1, "failed")))
        .request("w", async |params: Value, _| {
            tokio::time::sleep(Duration::from_millis(10)).await;
            Ok(params)
        })
        .request("p", async |_: Value, _| std::future::pending::<Result<(), RpcError>>().await)
        .request("a", async |params: Value, call: acp_rpc::Call| {
            let asked = call.peer().request("q", &params).with_deadline(Duration::from_secs(1));
            asked.typed::<Value>().await.map_err(RpcError::from)
        })
        .notification("n", async |params: Value, peer: acp_rpc::Peer| {
            // The connection may be closing.
            let _: Result<(), acp_rpc::Closed> = peer.notify("n", &params).await;
        })
}
