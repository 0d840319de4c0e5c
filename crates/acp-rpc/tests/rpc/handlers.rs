//! Typed handlers as a service.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use acp_rpc::{Call, Config, Handlers, Method, Peer, RequestError, RpcError, memory, serve};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::support::{Silent, cancelling};

#[derive(Debug, Serialize, Deserialize)]
struct Terms {
    a: i32,
    b: i32,
}

struct Add;

impl Method for Add {
    const NAME: &'static str = "add";
    type Params = Terms;
    type Result = i32;
}

/// A server of `handlers` and the handle with which a client calls it.
async fn client_of(
    config: Config,
    handlers: impl FnOnce(Handlers) -> Handlers + Send + 'static,
) -> (Peer, JoinSet<()>) {
    client_with(config.clone(), config, handlers, |_| Silent).await
}

async fn client_with<S: acp_rpc::Service + 'static>(
    ours: Config,
    theirs: Config,
    handlers: impl FnOnce(Handlers) -> Handlers + Send + 'static,
    client: impl FnOnce(Peer) -> S + Send + 'static,
) -> (Peer, JoinSet<()>) {
    let (near, far) = memory();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        serve(far.reader, far.writer, theirs, |peer| handlers(Handlers::new(peer))).await.unwrap();
    });
    let (handle, peer) = tokio::sync::oneshot::channel();
    tasks.spawn(async move {
        let build = |peer: Peer| {
            assert!(handle.send(peer.clone()).is_ok());
            client(peer)
        };
        serve(near.reader, near.writer, ours, build).await.unwrap();
    });
    (peer.await.unwrap(), tasks)
}

fn code(error: RequestError) -> i64 {
    let RequestError::Rpc(error) = error else { panic!("no answer: {error}") };
    error.code
}

#[tokio::test(start_paused = true)]
async fn a_method_is_called_by_its_types() {
    let (peer, _tasks) =
        client_of(Config::default(), |on| on.method::<Add, _, _>(async |terms, _| Ok(terms.a + terms.b)))
            .await;
    assert_eq!(peer.call::<Add>(&Terms { a: 2, b: 3 }).await, Ok(5));
    assert_eq!(code(peer.request("add", &json!({"a": 1})).await.unwrap_err()), -32602);
    assert_eq!(code(peer.request("sub", &()).await.unwrap_err()), -32601);
}

#[tokio::test(start_paused = true)]
async fn immediate_handlers_and_notifications_share_state_without_locks_of_ours() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let (peer, _tasks) = client_of(Config::default(), move |on| {
        let mut count = 0;
        on.receive("log", move |line: Value| log.lock().unwrap().push(line["n"].clone())).answer(
            "count",
            move |_: Value| {
                count += 1;
                Ok(count)
            },
        )
    })
    .await;
    for n in 0..3 {
        peer.notify("log", &json!({"n": n})).await.unwrap();
    }
    peer.notify("log", &[1]).await.unwrap();
    assert_eq!(peer.request("count", &()).typed::<u8>().await, Ok(1));
    assert_eq!(peer.request("count", &()).typed::<u8>().await, Ok(2));
    assert_eq!(*seen.lock().unwrap(), [json!(0), json!(1), json!(2)]);
}

#[tokio::test(start_paused = true)]
async fn a_handler_may_await_the_side_that_called_it() {
    let handlers = |on: Handlers| {
        on.request("twice", async |params: Value, call: Call| {
            let once = call.peer().request("double", &params).typed::<i64>().await.map_err(RpcError::from)?;
            call.peer().request("double", &json!({"n": once})).typed::<i64>().await.map_err(RpcError::from)
        })
    };
    let (peer, _tasks) = client_with(Config::default(), Config::default(), handlers, |peer| {
        Handlers::new(peer).answer("double", |params: Value| Ok(params["n"].as_i64().unwrap_or_default() * 2))
    })
    .await;
    assert_eq!(peer.request("twice", &json!({"n": 5})).typed::<i64>().await, Ok(20));
}

#[tokio::test(start_paused = true)]
async fn a_withdrawn_handler_is_dropped_and_answered() {
    let dropped = Arc::new(Mutex::new(()));
    let weak = Arc::downgrade(&dropped);
    let (peer, _tasks) = client_of(cancelling(), move |on| {
        let held = Mutex::new(Some(dropped));
        on.request("sleep", move |_: Value, _| {
            let held = held.lock().unwrap().take();
            async move {
                std::future::pending::<()>().await;
                drop(held);
                Ok(())
            }
        })
    })
    .await;
    let pending = peer.request("sleep", &());
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(weak.upgrade().is_some());
    pending.cancel();
    assert_eq!(code(pending.await.unwrap_err()), RpcError::CANCELLED);
    assert!(weak.upgrade().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_handler_to_the_end_decides_itself_what_a_withdrawal_means() {
    let (peer, _tasks) = client_of(cancelling(), |on| {
        on.request_to_end("sleep", async |_: Value, call: Call| {
            call.cancelled().cancelled().await;
            Ok("put away")
        })
    })
    .await;
    let pending = peer.request("sleep", &());
    pending.cancel();
    assert_eq!(pending.typed::<String>().await, Ok("put away".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_panicking_handler_is_answered_and_the_next_one_runs() {
    let (peer, _tasks) = client_of(Config::default(), |on| {
        on.request("bug", async |params: Value, _| {
            assert!(params["ok"] == true, "a handler's bug");
            Ok(1)
        })
    })
    .await;
    assert_eq!(code(peer.request("bug", &()).await.unwrap_err()), -32603);
    assert_eq!(peer.request("bug", &json!({"ok": true})).typed::<u8>().await, Ok(1));
}

#[tokio::test(start_paused = true)]
async fn keyed_messages_run_in_order_and_others_beside_them() {
    let log = Arc::new(Mutex::new(Vec::new()));
    let entries = Arc::clone(&log);
    let (peer, _tasks) = client_of(cancelling(), move |on| {
        on.keyed(|_, params| params.parse::<Value>().ok()?["key"].as_str().map(str::to_owned)).request(
            "work",
            move |params: Value, _| {
                let entries = Arc::clone(&entries);
                async move {
                    tokio::time::sleep(Duration::from_millis(params["ms"].as_u64().unwrap_or_default()))
                        .await;
                    entries.lock().unwrap().push(params["name"].clone());
                    Ok(())
                }
            },
        )
    })
    .await;
    let work =
        |key: &str, ms: u64, name: &str| peer.request("work", &json!({"key": key, "ms": ms, "name": name}));
    let slow = work("a", 100, "slow");
    let withdrawn = work("a", 10, "withdrawn");
    let quick = work("a", 1, "quick");
    let other = work("b", 50, "other");
    withdrawn.cancel();
    assert_eq!(code(withdrawn.await.unwrap_err()), RpcError::CANCELLED, "it does not wait for its turn");
    for pending in [slow, quick, other] {
        pending.await.unwrap();
    }
    assert_eq!(*log.lock().unwrap(), ["other", "slow", "quick"]);
}

#[tokio::test(start_paused = true)]
async fn running_handlers_finish_when_the_client_leaves() {
    let done = Arc::new(Mutex::new(false));
    let flag = Arc::clone(&done);
    let (peer, mut tasks) = client_of(Config::default(), move |on| {
        on.notification("save", move |_: Value, _| {
            let flag = Arc::clone(&flag);
            async move {
                tokio::time::sleep(Duration::from_secs(1)).await;
                *flag.lock().unwrap() = true;
            }
        })
    })
    .await;
    peer.notify("save", &()).await.unwrap();
    peer.flush().await.unwrap();
    tokio::time::sleep(Duration::from_millis(1)).await;
    peer.shutdown();
    while let Some(ended) = tasks.join_next().await {
        ended.unwrap();
    }
    assert!(*done.lock().unwrap());
}
