//! A raw client on one end of an in-memory stream, a connection under test on the other.

use std::time::Duration;

use acp_rpc::{
    CancelMethod, Config, ConnectionError, Notification, Peer, Request, Responder, RpcError, Service,
    memory_with_capacity, serve,
};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// A protocol's way to withdraw requests.
pub(crate) fn cancelling() -> Config {
    Config::default().cancel(CancelMethod {
        method: "stop",
        params: |id| json!({"which": id}),
        target: |params| serde_json::from_value(params["which"].clone()).ok(),
    })
}

/// What happened at the service.
#[derive(Debug)]
pub(crate) enum Event {
    Request(Request, Responder),
    Notification(Notification),
    Closing,
}

/// Passes everything on to the test.
#[derive(Debug)]
pub(crate) struct Probe {
    events: mpsc::Sender<Event>,
}

impl Probe {
    fn tell(&self, event: Event) {
        assert!(self.events.try_send(event).is_ok(), "the test lets events pile up");
    }
}

impl Service for Probe {
    fn request(&mut self, request: Request, responder: Responder) {
        match request.method.as_str() {
            "echo" => responder.finish(&request.params.parse::<Value>()),
            "panic" => panic!("a handler's bug"),
            "drop" => drop(responder),
            "wait" => self.tell(Event::Request(request, responder)),
            other => responder.err(&RpcError::method_not_found(other)),
        }
    }

    fn notification(&mut self, notification: Notification) {
        assert!(notification.method != "panic", "a handler's bug");
        self.tell(Event::Notification(notification));
    }

    async fn closing(&mut self) {
        self.tell(Event::Closing);
    }
}

/// The test's end of a connection, and the connection.
pub(crate) struct Rig {
    pub(crate) reader: BufReader<ReadHalf<DuplexStream>>,
    pub(crate) writer: WriteHalf<DuplexStream>,
    pub(crate) events: mpsc::Receiver<Event>,
    pub(crate) peer: Peer,
    tasks: JoinSet<Result<(), ConnectionError>>,
}

/// Runs `connection` with [`Probe`] as its service.
pub(crate) async fn rig(config: Config) -> Rig {
    rig_with_capacity(config, 1 << 20).await
}

pub(crate) async fn rig_with_capacity(config: Config, capacity: usize) -> Rig {
    let (near, far) = memory_with_capacity(capacity);
    let (events, inbox) = mpsc::channel(100_000);
    let (handle, peer) = tokio::sync::oneshot::channel();
    let mut tasks = JoinSet::new();
    tasks.spawn(serve(far.reader, far.writer, config, move |peer| {
        handle.send(peer).unwrap();
        Probe { events }
    }));
    let peer = peer.await.unwrap();
    Rig { reader: BufReader::new(near.reader), writer: near.writer, events: inbox, peer, tasks }
}

impl Rig {
    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.writer.write_all(bytes.as_ref()).await.unwrap();
    }

    pub(crate) async fn send_line(&mut self, line: &Value) {
        self.send(format!("{line}\n")).await;
    }

    /// The next line, exactly as it was written; `None` at the end.
    pub(crate) async fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let limit = Duration::from_secs(500);
        let read = tokio::time::timeout(limit, self.reader.read_line(&mut line)).await.expect("no line came");
        if read.unwrap() == 0 {
            return None;
        }
        assert!(line.ends_with('\n'), "a line is whole: {line}");
        line.pop();
        Some(line)
    }

    pub(crate) async fn recv(&mut self) -> Value {
        serde_json::from_str(&self.line().await.expect("the connection ended")).unwrap()
    }

    /// Sends `input` and an `echo` after it; the lines written before the echo's answer.
    pub(crate) async fn says(&mut self, input: impl AsRef<[u8]>) -> Vec<String> {
        self.send(input).await;
        self.send_line(&json!({"jsonrpc": "2.0", "id": "fence", "method": "echo"})).await;
        let mut lines = Vec::new();
        loop {
            let line = self.line().await.expect("the connection ended");
            if line == r#"{"jsonrpc":"2.0","id":"fence","result":{}}"# {
                return lines;
            }
            lines.push(line);
        }
    }

    pub(crate) async fn event(&mut self) -> Event {
        tokio::time::timeout(Duration::from_secs(500), self.events.recv())
            .await
            .unwrap()
            .expect("service is gone")
    }

    /// The next request the service was given, with its responder.
    pub(crate) async fn request(&mut self) -> (Request, Responder) {
        match self.event().await {
            Event::Request(request, responder) => (request, responder),
            other @ (Event::Notification(_) | Event::Closing) => panic!("not a request: {other:?}"),
        }
    }

    /// Asks for something that the service will answer when the test wants it to.
    pub(crate) async fn ask(&mut self, id: i64) -> Responder {
        self.send_line(&json!({"jsonrpc": "2.0", "id": id, "method": "wait"})).await;
        self.request().await.1
    }

    /// Ends our side; everything written until the connection's end, and how it ended.
    pub(crate) async fn end(mut self) -> (Vec<String>, Result<(), ConnectionError>) {
        self.writer.shutdown().await.unwrap();
        let mut lines = Vec::new();
        while let Some(line) = self.line().await {
            lines.push(line);
        }
        (lines, self.outcome().await)
    }

    pub(crate) async fn outcome(&mut self) -> Result<(), ConnectionError> {
        self.tasks.join_next().await.unwrap().unwrap()
    }
}

/// Lets every task run until all of them wait.
pub(crate) async fn settle() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}

/// A service that is never called.
pub(crate) struct Silent;

impl Service for Silent {
    fn request(&mut self, _: Request, _: Responder) {}

    fn notification(&mut self, _: Notification) {}
}
