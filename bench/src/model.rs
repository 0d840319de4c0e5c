//! A model server on loopback that answers at once: a last user message "N chunks" gets N chunks.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

use serde_json::Value;

/// Starts it; ends with this process.
pub fn serve() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || converse(&stream));
        }
    });
    url
}

fn converse(stream: &TcpStream) {
    stream.set_nodelay(true).expect("a socket");
    let mut reader = BufReader::new(stream);
    let mut writer = stream;
    loop {
        let mut length = 0;
        let mut first = String::new();
        let mut line = String::new();
        loop {
            line.clear();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if first.is_empty() {
                first.clone_from(&line);
            }
            let lower = line.to_lowercase();
            if let Some(value) = lower.strip_prefix("content-length:") {
                length = value.trim().parse().expect("a length");
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).expect("a body");
        let answer = if first.starts_with("POST") { stream_of(wanted(&body)) } else { models() };
        if writer.write_all(&answer).is_err() {
            return;
        }
    }
}

fn wanted(body: &[u8]) -> usize {
    let body: Value = serde_json::from_slice(body).expect("JSON");
    let last = body["messages"].as_array().and_then(|messages| messages.last());
    let content = last.map_or(&Value::Null, |message| &message["content"]);
    let text = content.as_str().or_else(|| content[0]["text"].as_str()).unwrap_or_default();
    text.split(' ').next().and_then(|number| number.parse().ok()).unwrap_or(1)
}

fn models() -> Vec<u8> {
    let body = r#"{"object":"list","data":[{"id":"m","object":"model"}]}"#;
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

fn stream_of(chunks: usize) -> Vec<u8> {
    let mut out =
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    let mut event = |data: &str| {
        let text = format!("data: {data}\n\n");
        out.extend_from_slice(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes());
    };
    for _ in 0..chunks {
        event(
            r#"{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"word "},"finish_reason":null}]}"#,
        );
    }
    event(
        r#"{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
    );
    event("[DONE]");
    out.extend_from_slice(b"0\r\n\r\n");
    out
}
