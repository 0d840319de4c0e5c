//! The same protocol over a web socket: one message a text frame. A server and a client in one run, over loopback.
//!
//! A bridge carries the messages between a socket and the end of an in-memory stream that a connection reads its lines
//! from. Both sides of it wait while their reader does, so the bounds of the connection hold for the socket, too.

use std::io::Write;

use acp_rpc::{Call, Config, End, Handlers, RpcError, connect, memory, serve};
use futures::{Sink, SinkExt, Stream, StreamExt};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::tungstenite::{self, Message};
use tokio_tungstenite::{WebSocketStream, accept_async, client_async};

type Error = Box<dyn std::error::Error + Send + Sync>;

/// Carries messages both ways until both have said that no more will come.
async fn bridge(socket: WebSocketStream<TcpStream>, end: End) -> Result<(), Error> {
    let (sink, stream) = socket.split();
    let (sent, received) = tokio::join!(send(end.reader, sink), receive(stream, end.writer));
    sent.and(received)
}

/// Lines from the connection, each to a text frame.
async fn send<S>(lines: impl tokio::io::AsyncRead + Unpin, mut sink: S) -> Result<(), Error>
where
    S: Sink<Message, Error = tungstenite::Error> + Unpin,
{
    let mut lines = BufReader::new(lines).lines();
    while let Some(line) = lines.next_line().await? {
        sink.send(Message::text(line)).await?;
    }
    // Says goodbye; the other side may have been first.
    Ok(sink.close().await?)
}

/// Text frames, each to a line for the connection. A line break inside one can only be space between two tokens.
async fn receive<S>(mut stream: S, mut lines: impl tokio::io::AsyncWrite + Unpin) -> Result<(), Error>
where
    S: Stream<Item = Result<Message, tungstenite::Error>> + Unpin,
{
    while let Some(message) = stream.next().await {
        if let Message::Text(text) = message? {
            let mut line = text.replace(['\n', '\r'], " ");
            line.push('\n');
            lines.write_all(line.as_bytes()).await?;
        }
    }
    Ok(lines.shutdown().await?)
}

/// Adds up what it is given, and tells the client how far it is.
async fn sum(numbers: Value, call: Call) -> Result<i64, RpcError> {
    let numbers = numbers["numbers"].as_array().ok_or_else(|| RpcError::invalid_params("no numbers"))?;
    let mut sum = 0;
    for number in numbers {
        sum += number.as_i64().ok_or_else(|| RpcError::invalid_params("not a number"))?;
        call.peer().notify("so far", &json!({"sum": sum})).await.map_err(|_| RpcError::cancelled())?;
    }
    Ok(sum)
}

/// Serves one client.
async fn server(listener: TcpListener) -> Result<(), Error> {
    let (stream, _) = listener.accept().await?;
    let (near, far) = memory();
    let connection =
        serve(near.reader, near.writer, Config::default(), |peer| Handlers::new(peer).request("sum", sum));
    let socket = accept_async(stream).await?;
    let (served, bridged) = tokio::join!(connection, bridge(socket, far));
    served?;
    bridged
}

async fn client(address: std::net::SocketAddr) -> Result<(), Error> {
    let stream = TcpStream::connect(address).await?;
    let (socket, _) = client_async(format!("ws://{address}/"), stream).await?;
    let (near, far) = memory();
    let (peer, connection) = connect(near.reader, near.writer, Config::default());
    let connection = connection.run(Handlers::new(peer.clone()).receive("so far", |params: Value| {
        // Standard output failing is no reason to stop.
        drop(writeln!(std::io::stdout(), "so far: {}", params["sum"]));
    }));
    let calls = async {
        let sum: i64 = peer.request("sum", &json!({"numbers": [1, 20, 300]})).typed().await?;
        writeln!(std::io::stdout(), "the sum is {sum}")?;
        peer.shutdown();
        Ok::<_, Error>(())
    };
    let (ran, bridged, called) = tokio::join!(connection, bridge(socket, far), calls);
    called?;
    ran?;
    bridged
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::try_join!(server(listener), client(address))?;
    Ok(())
}
