//! Requests of the peer's: one answer each, whatever happens.

use acp_rpc::{Config, RpcError};
use serde::ser::{Serialize, Serializer};
use serde_json::json;

use crate::support::{Event, cancelling, rig, settle};

#[tokio::test(start_paused = true)]
async fn a_panicking_handler_costs_its_request_only() {
    let mut rig = rig(Config::default()).await;
    let said = rig
        .says(concat!(
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"panic\"}\n",
            "{\"jsonrpc\":\"2.0\",\"method\":\"panic\"}\n",
            "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"drop\"}\n",
        ))
        .await;
    let internal =
        |id| format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32603,"message":"Internal error"}}}}"#);
    assert_eq!(said, [internal(1), internal(2)]);
    assert_eq!(rig.peer.stats().in_flight, 0);
}

struct Explosive;

impl Serialize for Explosive {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        panic!("a result's bug")
    }
}

struct Unwritable;

impl Serialize for Unwritable {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("no"))
    }
}

#[tokio::test(start_paused = true)]
async fn a_result_that_cannot_be_written_is_an_internal_error() {
    let mut rig = rig(Config::default()).await;
    let responder = rig.ask(1).await;
    responder.ok(&Unwritable);
    assert_eq!(rig.recv().await["error"]["code"], -32603);
    let responder = rig.ask(2).await;
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| responder.ok(&Explosive)));
    assert!(panicked.is_err());
    assert_eq!(rig.recv().await["error"]["code"], -32603);
}

#[tokio::test(start_paused = true)]
async fn a_withdrawn_request_hears_of_it_and_still_gets_its_answer() {
    let mut rig = rig(cancelling()).await;
    let finished = rig.ask(1).await;
    let forgotten = rig.ask(2).await;
    rig.send("{\"jsonrpc\":\"2.0\",\"method\":\"stop\",\"params\":{\"which\":1}}\n").await;
    rig.send("{\"jsonrpc\":\"2.0\",\"method\":\"stop\",\"params\":{\"which\":2}}\n").await;
    finished.cancelled().cancelled().await;
    finished.ok(&"done already");
    forgotten.cancelled().cancelled().await;
    drop(forgotten);
    assert_eq!(rig.line().await.unwrap(), r#"{"jsonrpc":"2.0","id":1,"result":"done already"}"#);
    let error = r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32800,"message":"Request cancelled"}}"#;
    assert_eq!(rig.line().await.unwrap(), error);
}

#[tokio::test(start_paused = true)]
async fn a_withdrawal_of_nothing_is_ignored_and_as_a_request_it_is_no_method() {
    let mut rig = rig(cancelling()).await;
    let said = rig
        .says(concat!(
            "{\"jsonrpc\":\"2.0\",\"method\":\"stop\",\"params\":{\"which\":99}}\n",
            "{\"jsonrpc\":\"2.0\",\"method\":\"stop\",\"params\":[1]}\n",
            "{\"jsonrpc\":\"2.0\",\"method\":\"stop\"}\n",
            "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"stop\"}\n",
        ))
        .await;
    assert_eq!(said.len(), 1);
    assert!(said[0].contains("-32601"), "{said:?}");
    assert!(rig.events.try_recv().is_err(), "withdrawals never reach the service");
}

#[tokio::test(start_paused = true)]
async fn a_second_request_with_a_running_id_is_refused_and_the_first_unharmed() {
    let mut rig = rig(Config::default()).await;
    let first = rig.ask(1).await;
    let said = rig.says("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"echo\"}\n").await;
    assert_eq!(
        said,
        [r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"Invalid request: id is in use"}}"#]
    );
    assert!(!first.cancelled().is_cancelled());
    first.ok(&1);
    assert_eq!(rig.line().await.unwrap(), r#"{"jsonrpc":"2.0","id":1,"result":1}"#);
    assert_eq!(rig.says("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"echo\"}\n").await.len(), 1, "free again");
}

#[tokio::test(start_paused = true)]
async fn requests_beyond_the_limit_are_refused_while_the_rest_goes_on() {
    let config = cancelling().max_in_flight(2).overload(RpcError::new(-1000, "busy"));
    let mut rig = rig(config).await;
    let first = rig.ask(1).await;
    let second = rig.ask(2).await;
    rig.send("{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"echo\"}\n").await;
    assert_eq!(
        rig.line().await.unwrap(),
        r#"{"jsonrpc":"2.0","id":3,"error":{"code":-1000,"message":"busy"}}"#
    );
    rig.send("{\"jsonrpc\":\"2.0\",\"method\":\"stop\",\"params\":{\"which\":1}}\n").await;
    first.cancelled().cancelled().await;
    drop(first);
    rig.line().await.unwrap();
    assert_eq!(rig.says("\n").await.len(), 0);
    second.ok(&());
}

#[tokio::test(start_paused = true)]
async fn written_resolves_once_the_answer_has_left_and_order_is_the_order_of_calls() {
    let mut rig = rig(Config::default()).await;
    let mut responder = rig.ask(1).await;
    assert_eq!((responder.method(), responder.id().to_string().as_str()), ("wait", "1"));
    let mut written = tokio_test_poll(responder.written());
    assert!(written.is_pending());
    rig.peer.notify("before", &()).await.unwrap();
    responder.ok(&());
    rig.peer.notify("after", &()).await.unwrap();
    written.ready().await.unwrap();
    rig.peer.flush().await.unwrap();
    let lines = [rig.recv().await, rig.recv().await, rig.recv().await];
    assert_eq!(lines[0]["method"], "before");
    assert_eq!(lines[1], json!({"jsonrpc": "2.0", "id": 1, "result": null}));
    assert_eq!(lines[2]["method"], "after");
}

#[tokio::test(start_paused = true)]
async fn notifications_arrive_in_order_with_requests() {
    let mut rig = rig(Config::default()).await;
    rig.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"wait\"}\n{\"jsonrpc\":\"2.0\",\"method\":\"n\"}\n")
        .await;
    settle().await;
    let (request, responder) = rig.request().await;
    assert_eq!(request.method, "wait");
    responder.ok(&());
    match rig.event().await {
        Event::Notification(notification) => assert_eq!(notification.method, "n"),
        other @ (Event::Request(..) | Event::Closing) => panic!("not the notification: {other:?}"),
    }
}

/// A future that can be looked at before it is awaited.
fn tokio_test_poll<F: Future + Unpin>(future: F) -> Looked<F> {
    Looked(future)
}

struct Looked<F>(F);

impl<F: Future + Unpin> Looked<F> {
    fn is_pending(&mut self) -> bool {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        std::pin::Pin::new(&mut self.0).poll(&mut context).is_pending()
    }

    async fn ready(self) -> F::Output {
        self.0.await
    }
}
