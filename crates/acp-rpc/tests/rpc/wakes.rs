//! What is queued while the connection's own task is at work leaves without another cause.

use std::time::Duration;

use acp_rpc::{Config, Notification, Peer, Request, Responder, Service, memory, serve};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

/// How long a line may take that was sent already.
const LIMIT: Duration = Duration::from_mins(1);

/// Hands each request to another thread, and returns only when that has sent everything.
#[derive(Debug)]
struct OnAnotherThread {
    peer: Peer,
}

impl Service for OnAnotherThread {
    fn request(&mut self, request: Request, responder: Responder) {
        let peer = self.peer.clone();
        let thread = std::thread::spawn(move || {
            assert_eq!(peer.try_notify("heard", &json!({"method": request.method})), Ok(true));
            responder.ok(&request.params.parse::<Value>().unwrap());
        });
        thread.join().unwrap();
    }

    fn notification(&mut self, _: Notification) {
        let peer = self.peer.clone();
        // Ends some time after the message has been handled.
        drop(std::thread::spawn(move || assert_eq!(peer.try_notify("late", &()), Ok(true))));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_another_thread_sends_leaves_without_more_input() {
    let (near, far) = memory();
    let mut reader = BufReader::new(near.reader).lines();
    let mut writer = near.writer;
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(serve(far.reader, far.writer, Config::default(), |peer| OnAnotherThread { peer }));
    for id in 0..500 {
        let lines = match id % 2 {
            0 => json!({"jsonrpc": "2.0", "id": id, "method": "ask", "params": {}}),
            _ => json!({"jsonrpc": "2.0", "method": "tell"}),
        };
        writer.write_all(format!("{lines}\n").as_bytes()).await.unwrap();
        let expected: &[&str] = if id % 2 == 0 { &["heard", "result"] } else { &["late"] };
        for word in expected {
            let line = tokio::time::timeout(LIMIT, reader.next_line()).await;
            let line = line.expect("it was left in the queue").unwrap().unwrap();
            assert!(line.contains(word), "{word} in {line}");
        }
    }
    writer.shutdown().await.unwrap();
    tasks.join_next().await.unwrap().unwrap().unwrap();
}
