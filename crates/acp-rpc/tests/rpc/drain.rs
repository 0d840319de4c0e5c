//! The end of a connection, by whichever side and whatever accident.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use acp_rpc::{CancellationToken, Closed, Config, ConnectionError, RequestError, serve};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::time::Instant;

use crate::support::{Event, Silent, rig, rig_with_capacity};

#[tokio::test(start_paused = true)]
async fn at_the_end_of_input_accepted_requests_are_finished_and_output_flushed() {
    let mut rig = rig(Config::default()).await;
    let peer = rig.peer.clone();
    let responder = rig.ask(1).await;
    rig.writer.shutdown().await.unwrap();
    assert!(matches!(rig.event().await, Event::Closing));
    assert!(!responder.cancelled().is_cancelled(), "it may finish");
    peer.notify("still", &()).await.unwrap();
    responder.ok(&1);
    let (lines, outcome) = rig.end().await;
    assert_eq!(lines, [r#"{"jsonrpc":"2.0","method":"still"}"#, r#"{"jsonrpc":"2.0","id":1,"result":1}"#]);
    outcome.unwrap();
    assert_eq!(peer.notify("late", &()).await, Err(Closed));
    peer.closed().await;
}

#[tokio::test(start_paused = true)]
async fn a_request_that_does_not_end_is_cancelled_after_the_grace_and_then_answered_for_it() {
    let mut rig = rig(Config::default()).await;
    let start = Instant::now();
    let responder = rig.ask(1).await;
    let token = responder.cancelled().clone();
    let (ended, cancelled) = tokio::join!(rig.end(), async {
        token.cancelled().await;
        start.elapsed()
    });
    assert_eq!(cancelled, Duration::from_secs(5));
    assert_eq!(start.elapsed(), Duration::from_millis(5500));
    let (lines, outcome) = ended;
    outcome.unwrap();
    assert_eq!(lines, [r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32800,"message":"Request cancelled"}}"#]);
    responder.ok(&"too late, and harmless");
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_from_either_side_of_the_embedder_drains() {
    let token = CancellationToken::new();
    let mut first = rig(Config::default().shutdown(token.clone())).await;
    let responder = first.ask(1).await;
    token.cancel();
    assert!(matches!(first.event().await, Event::Closing));
    responder.ok(&1);
    assert_eq!(first.line().await.unwrap(), r#"{"jsonrpc":"2.0","id":1,"result":1}"#);
    assert_eq!(first.line().await, None);
    first.outcome().await.unwrap();

    let mut second = rig(Config::default()).await;
    second.peer.shutdown();
    assert_eq!(second.line().await, None);
    second.outcome().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_never_reads_cannot_hold_the_end_up() {
    let mut rig = rig_with_capacity(Config::default(), 16).await;
    let start = Instant::now();
    rig.peer.notify("n", &"more than the pipe holds").await.unwrap();
    rig.writer.shutdown().await.unwrap();
    rig.outcome().await.unwrap();
    assert_eq!(start.elapsed(), Duration::from_secs(5));
}

/// A reader or writer that fails.
struct Broken(io::ErrorKind);

impl AsyncRead for Broken {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, _: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Err(self.0.into()))
    }
}

impl AsyncWrite for Broken {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Err(self.0.into()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Runs a connection whose input is open and silent and whose output fails once something is written.
async fn with_broken_writer(kind: io::ErrorKind) -> Result<(), ConnectionError> {
    let (_open, silent) = tokio::io::duplex(1);
    let (reader, _) = tokio::io::split(silent);
    let (handle, peer) = tokio::sync::oneshot::channel();
    let connection = serve(reader, Broken(kind), Config::default(), move |peer| {
        assert!(handle.send(peer).is_ok());
        Silent
    });
    let (outcome, ()) = tokio::join!(connection, async {
        let peer = peer.await.unwrap();
        let pending = peer.request("a", &());
        assert_eq!(pending.await.unwrap_err(), RequestError::Closed);
        peer.closed().await;
        assert_eq!(peer.flush().await, Err(Closed));
        assert_eq!(peer.try_notify("n", &()), Err(Closed));
        assert!(peer.reserve().await.is_err());
    });
    outcome
}

#[tokio::test(start_paused = true)]
async fn a_broken_pipe_is_a_quiet_end_and_another_failure_is_told() {
    with_broken_writer(io::ErrorKind::BrokenPipe).await.unwrap();
    with_broken_writer(io::ErrorKind::ConnectionReset).await.unwrap();
    let error = with_broken_writer(io::ErrorKind::StorageFull).await.unwrap_err();
    assert!(matches!(error, ConnectionError::Write(_)), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn a_failing_reader_drains_and_is_told_unless_the_peer_has_just_gone() {
    let run = async |kind| serve(Broken(kind), tokio::io::sink(), Config::default(), |_| Silent).await;
    run(io::ErrorKind::ConnectionReset).await.unwrap();
    let error = run(io::ErrorKind::PermissionDenied).await.unwrap_err();
    assert!(matches!(error, ConnectionError::Read(_)), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn dropping_the_connection_releases_everyone() {
    let mut rig = rig(Config::default()).await;
    let peer = rig.peer.clone();
    let responder = rig.ask(1).await;
    let pending = peer.request("a", &());
    drop(rig);
    assert_eq!(pending.await.unwrap_err(), RequestError::Closed);
    responder.cancelled().cancelled().await;
    responder.ok(&"nobody hears it");
    peer.closed().await;
    assert_eq!(peer.notify("n", &()).await, Err(Closed));
}
