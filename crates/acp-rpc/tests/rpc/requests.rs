//! Requests of ours: answered, failed, withdrawn.

use std::collections::BTreeMap;
use std::time::Duration;

use acp_rpc::{Config, RequestError, RequestId, RpcError};
use serde_json::json;
use tokio::time::Instant;

use crate::support::{cancelling, rig};

#[tokio::test(start_paused = true)]
async fn an_answer_finds_its_request_in_any_order() {
    let mut rig = rig(Config::default()).await;
    let first = rig.peer.request("a", &json!({"x": 1}));
    let second = rig.peer.request("b", &());
    assert_eq!(rig.line().await.unwrap(), r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":1}}"#);
    assert_eq!(rig.line().await.unwrap(), r#"{"jsonrpc":"2.0","id":2,"method":"b"}"#);
    assert_eq!(second.id(), RequestId::Number(2));
    rig.send("{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-5,\"message\":\"no\"}}\n").await;
    rig.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":[1]}\n").await;
    assert_eq!(first.typed::<Vec<u8>>().await, Ok(vec![1]));
    assert_eq!(second.await.unwrap_err(), RequestError::Rpc(RpcError::new(-5, "no")));
    assert_eq!(rig.peer.stats().pending, 0);
}

#[tokio::test(start_paused = true)]
async fn dropping_a_pending_response_withdraws_the_request() {
    let mut rig = rig(cancelling()).await;
    let pending = rig.peer.request("a", &());
    drop(pending);
    rig.line().await.unwrap();
    assert_eq!(rig.line().await.unwrap(), r#"{"jsonrpc":"2.0","method":"stop","params":{"which":1}}"#);
    assert!(rig.says("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}\n").await.is_empty());
    assert_eq!((rig.peer.stats().stray_responses, rig.peer.stats().pending), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn an_answered_request_is_not_withdrawn() {
    let mut rig = rig(cancelling()).await;
    let pending = rig.peer.request("a", &());
    rig.line().await.unwrap();
    assert!(rig.says("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}\n").await.is_empty());
    drop(pending);
    assert!(rig.says("\n").await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_detached_request_is_let_go_without_a_word() {
    let mut rig = rig(cancelling()).await;
    rig.peer.request("a", &()).detach();
    rig.line().await.unwrap();
    assert!(rig.says("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}\n").await.is_empty());
    assert_eq!(rig.peer.stats().stray_responses, 0, "the answer was expected");
}

#[tokio::test(start_paused = true)]
async fn a_deadline_withdraws_when_it_passes() {
    let mut rig = rig(cancelling()).await;
    let start = Instant::now();
    let pending = rig.peer.request("a", &()).with_deadline(Duration::from_secs(3));
    assert_eq!(pending.await.unwrap_err(), RequestError::Deadline);
    assert_eq!(start.elapsed(), Duration::from_secs(3));
    rig.line().await.unwrap();
    assert_eq!(rig.recv().await["method"], "stop");
}

#[tokio::test(start_paused = true)]
async fn cancelling_explicitly_still_waits_for_the_answer() {
    let mut rig = rig(cancelling()).await;
    let pending = rig.peer.request("a", &());
    pending.cancel();
    rig.line().await.unwrap();
    assert_eq!(rig.recv().await["method"], "stop");
    rig.send(
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32800,\"message\":\"Request cancelled\"}}\n",
    )
    .await;
    assert_eq!(pending.await.unwrap_err(), RequestError::Rpc(RpcError::cancelled()));
}

#[tokio::test(start_paused = true)]
async fn a_malformed_answer_fails_its_request_and_is_complained_about_under_null() {
    let mut rig = rig(Config::default()).await;
    for (number, rest) in [
        r#""result":1,"error":{"code":1,"message":""}"#,
        r#""error":{"message":"no code"}"#,
        r#""error":"words""#,
        r#""result":1,"result":2"#,
    ]
    .into_iter()
    .enumerate()
    {
        let pending = rig.peer.request("a", &());
        rig.line().await.unwrap();
        rig.send(format!("{{\"jsonrpc\":\"2.0\",\"id\":{},{rest}}}\n", number + 1)).await;
        assert_eq!(pending.await.unwrap_err(), RequestError::Malformed, "{rest}");
        let complaint = rig.recv().await;
        assert_eq!((&complaint["id"], &complaint["error"]["code"]), (&json!(null), &json!(-32600)));
    }
}

#[tokio::test(start_paused = true)]
async fn an_overlong_answer_fails_its_request() {
    let mut rig = rig(Config::default().max_line(100)).await;
    let pending = rig.peer.request("a", &());
    rig.line().await.unwrap();
    rig.send(format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"{}\"}}\n", "x".repeat(500))).await;
    assert_eq!(pending.await.unwrap_err(), RequestError::TooLong);
}

#[tokio::test(start_paused = true)]
async fn requests_fail_when_the_input_ends_and_after_it() {
    let mut rig = rig(Config::default()).await;
    let peer = rig.peer.clone();
    let pending = peer.request("a", &());
    let held = rig.ask(5).await;
    let ended = rig.end();
    let late = async {
        assert_eq!(pending.await.unwrap_err(), RequestError::Closed);
        assert_eq!(peer.request("b", &()).await.unwrap_err(), RequestError::Closed);
        held.ok(&"still answered");
    };
    let ((lines, outcome), ()) = tokio::join!(ended, late);
    outcome.unwrap();
    assert_eq!(lines[1..], [r#"{"jsonrpc":"2.0","id":5,"result":"still answered"}"#]);
}

#[tokio::test(start_paused = true)]
async fn parameters_without_a_json_form_send_nothing() {
    let mut rig = rig(cancelling()).await;
    let unwritable = BTreeMap::from([(vec![1], 1)]);
    assert_eq!(rig.peer.request("a", &unwritable).await.unwrap_err(), RequestError::Encode);
    rig.peer.notify("n", &unwritable).await.unwrap();
    let permit = rig.peer.reserve().await.unwrap();
    rig.peer.notify_reserved(permit, "n", &unwritable).unwrap();
    assert!(rig.says("\n").await.is_empty());
    assert_eq!(rig.peer.stats().pending, 0);
}

#[tokio::test(start_paused = true)]
async fn a_result_of_another_type_is_told_by_its_place_not_its_value() {
    let mut rig = rig(Config::default()).await;
    let pending = rig.peer.request("a", &());
    rig.line().await.unwrap();
    rig.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":[1,\"secret\"]}\n").await;
    assert_eq!(
        pending.typed::<Vec<u8>>().await.unwrap_err(),
        RequestError::Decode("[1]: expected u8".to_owned())
    );
}
