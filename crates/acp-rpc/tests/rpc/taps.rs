//! Recordings, and their replay.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use acp_rpc::{Config, Direction, Handlers, MalformedPolicy, Recorder, Recording, serve};
use serde_json::Value;

/// A file of the test's.
#[derive(Debug, Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

async fn record(input: &[u8]) -> String {
    let file = Shared::default();
    let config = Config::default().malformed(MalformedPolicy::Reply).tap(Recorder::new(file.clone()));
    let service = |peer| Handlers::new(peer).answer("echo", |params: Value| Ok(params));
    serve(input, tokio::io::sink(), config, service).await.unwrap();
    let bytes = file.0.lock().unwrap().clone();
    String::from_utf8(bytes).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_recording_has_both_directions_and_replays_to_itself() {
    let input = concat!(
        r#"{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":"\u00e9"}}"#,
        "\r\ngarbage\n",
        r#"{"jsonrpc":"2.0","id":2,"method":"none"}"#,
        "\n",
    );
    let text = record(input.as_bytes()).await;
    let recording = Recording::parse(&text).unwrap();
    assert_eq!(recording.lines(Direction::In).nth(1), Some("garbage"));
    assert_eq!(
        recording.lines(Direction::Out).collect::<Vec<_>>(),
        [
            r#"{"jsonrpc":"2.0","id":1,"result":{"a":"é"}}"#,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#,
            r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"Method not found: none"}}"#,
        ]
    );
    assert_eq!(record(&recording.bytes(Direction::In)).await, text);
}

/// A disk that is full.
struct Full;

impl Write for Full {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::StorageFull.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn a_recording_that_fails_does_not_fail_the_connection() {
    let mut output = Vec::new();
    let input: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"echo\"}\n";
    let service = |peer| Handlers::new(peer).answer("echo", |params: Value| Ok(params));
    serve(input, &mut output, Config::default().tap(Recorder::new(Full)), service).await.unwrap();
    assert_eq!(output, b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
}
