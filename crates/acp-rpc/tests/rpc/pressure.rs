//! A peer that does not read, or asks without reading.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use acp_rpc::Config;
use serde_json::json;
use tokio::task::JoinSet;

use crate::support::{cancelling, rig_with_capacity, settle};

/// A minute and a second.
const MINUTE: Duration = Duration::from_secs(61);

#[tokio::test(start_paused = true)]
async fn a_client_that_stops_reading_for_a_minute_stops_the_producer_and_nothing_else() {
    let mut rig = rig_with_capacity(cancelling(), 4096).await;
    let responder = rig.ask(1).await;
    let sent = Arc::new(AtomicUsize::new(0));
    let mut producer = JoinSet::new();
    let (peer, count) = (rig.peer.clone(), Arc::clone(&sent));
    producer.spawn(async move {
        for number in 0..2000 {
            peer.notify("chunk", &json!({"number": number})).await.unwrap();
            count.store(number + 1, Ordering::Relaxed);
        }
    });
    settle().await;
    let stopped_at = sent.load(Ordering::Relaxed);
    assert!((256..600).contains(&stopped_at), "budget and pipe hold {stopped_at}");
    let backlog = rig.peer.stats().backlog;
    tokio::time::sleep(MINUTE).await;
    assert_eq!(sent.load(Ordering::Relaxed), stopped_at, "the producer stands still");
    assert_eq!(rig.peer.stats().backlog, backlog, "memory is flat");

    rig.send("{\"jsonrpc\":\"2.0\",\"method\":\"stop\",\"params\":{\"which\":1}}\n").await;
    responder.cancelled().cancelled().await;
    responder.ok(&"queued");
    assert!(rig.peer.stats().backlog > backlog, "an answer skips the budget");

    let mut next = 0;
    let mut answered_after = None;
    while next < 2000 {
        let line = rig.recv().await;
        if line["id"] == 1 {
            answered_after = Some(next);
        } else {
            assert_eq!(line["params"]["number"], next, "nothing lost, nothing out of order");
            next += 1;
        }
    }
    assert_eq!(answered_after, Some(stopped_at), "but not the order");
    producer.join_next().await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn large_notifications_are_bounded_by_bytes() {
    let mut rig = rig_with_capacity(Config::default().outbound(256, 1 << 20), 4096).await;
    let mut producer = JoinSet::new();
    let peer = rig.peer.clone();
    producer.spawn(async move {
        let text = "x".repeat(300_000);
        for _ in 0..20 {
            peer.notify("chunk", &text).await.unwrap();
        }
        // Larger than the whole budget: alone, but not refused.
        peer.notify("chunk", &"y".repeat(3 << 20)).await.unwrap();
    });
    tokio::time::sleep(MINUTE).await;
    assert!(rig.peer.stats().backlog <= 1 << 20, "{}", rig.peer.stats().backlog);
    for _ in 0..21 {
        assert_eq!(rig.recv().await["method"], "chunk");
    }
    producer.join_next().await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn reserved_places_are_counted_given_back_and_charged_for_what_they_carry() {
    let mut rig = rig_with_capacity(Config::default().outbound(2, 1000), 64).await;
    let first = rig.peer.reserve().await.unwrap();
    let second = rig.peer.reserve().await.unwrap();
    assert_eq!(rig.peer.try_notify("n", &()), Ok(false));
    assert!(tokio::time::timeout(MINUTE, rig.peer.reserve()).await.is_err());
    drop(second);
    let third = rig.peer.reserve().await.unwrap();
    drop(third);
    rig.peer.notify_reserved(first, "n", &"x".repeat(5000)).unwrap();
    settle().await;
    assert!(tokio::time::timeout(MINUTE, rig.peer.reserve()).await.is_err(), "the bytes are used up");
    rig.recv().await;
    settle().await;
    assert_eq!(rig.peer.try_notify("n", &()), Ok(true));
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_asks_without_reading_is_not_read_any_further() {
    let mut rig = rig_with_capacity(Config::default().backlog_limit(10_000), 4096).await;
    let request = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"echo\",\"params\":{{\"a\":\"{}\"}}}}\n",
        "x".repeat(900)
    );
    let flood = tokio::time::timeout(MINUTE, rig.send(request.repeat(1000))).await;
    assert!(flood.is_err(), "the writer is held back by the pipe");
    assert!(rig.peer.stats().backlog < 12_000, "{}", rig.peer.stats().backlog);
    for _ in 0..10 {
        rig.recv().await;
    }
}
