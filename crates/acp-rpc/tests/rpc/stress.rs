//! Many threads at one outbox, many answers at once.

use std::collections::HashMap;

use acp_rpc::{Config, Handlers, Peer, memory, serve};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::task::JoinSet;

const TASKS: u64 = 8;
const EACH: u64 = 2000;

async fn produce(peer: Peer, task: u64) {
    for number in 0..EACH {
        let params = json!({"task": task, "number": number});
        if number % 3 == 0 {
            let permit = peer.reserve().await.unwrap();
            peer.notify_reserved(permit, "n", &params).unwrap();
        } else {
            peer.notify("n", &params).await.unwrap();
        }
    }
}

/// A line of the peer's, and what it must be: the next of its task, or an answer not had before.
fn check(line: &Value, next: &mut HashMap<u64, u64>, answered: &mut [bool]) {
    if line["method"] == "n" {
        let expected = next.entry(line["params"]["task"].as_u64().unwrap()).or_default();
        assert_eq!(line["params"]["number"], *expected);
        *expected += 1;
    } else {
        let id = usize::try_from(line["id"].as_u64().unwrap()).unwrap();
        assert_eq!(line["result"]["id"], id);
        assert!(!std::mem::replace(&mut answered[id], true), "answered twice: {id}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_task_keeps_its_order_and_every_request_gets_one_answer() {
    let (near, far) = memory();
    let (handle, peer) = tokio::sync::oneshot::channel();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let service = |peer: Peer| {
            assert!(handle.send(peer.clone()).is_ok());
            Handlers::new(peer).request("echo", async |params: Value, _| {
                tokio::task::yield_now().await;
                Ok(params)
            })
        };
        serve(far.reader, far.writer, Config::default().max_in_flight(100_000), service).await.unwrap();
    });
    let peer = peer.await.unwrap();
    for task in 0..TASKS {
        tasks.spawn(produce(peer.clone(), task));
    }
    let mut writer = near.writer;
    tasks.spawn(async move {
        for id in 0..EACH {
            let request = json!({"jsonrpc": "2.0", "id": id, "method": "echo", "params": {"id": id}});
            writer.write_all(format!("{request}\n").as_bytes()).await.unwrap();
        }
        writer.flush().await.unwrap();
        // Kept open: the end of input is another test's matter.
        std::future::pending::<()>().await;
    });
    let mut lines = BufReader::new(near.reader).lines();
    let (mut next, mut answered) = (HashMap::new(), vec![false; usize::try_from(EACH).unwrap()]);
    for _ in 0..(TASKS + 1) * EACH {
        let line = lines.next_line().await.unwrap().unwrap();
        check(&serde_json::from_str(&line).unwrap(), &mut next, &mut answered);
    }
    assert!(next.values().all(|sent| *sent == EACH) && next.len() == 8);
    assert!(answered.iter().all(|answered| *answered));
    tasks.abort_all();
}
