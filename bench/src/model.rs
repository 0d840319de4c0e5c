//! A model server on loopback that answers at once: a last user message "N chunks" gets N chunks, "N reads" has N files
//! read in batches, "N bytes" has a command print that much.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

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
        let answer = if first.starts_with("POST") { answer_to(&body) } else { models() };
        if writer.write_all(&answer).is_err() {
            return;
        }
    }
}

/// How many files one answer has read.
const BATCH: usize = 10;

fn answer_to(body: &[u8]) -> Vec<u8> {
    let body: Value = serde_json::from_slice(body).expect("JSON");
    let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
    let asked = messages.iter().rposition(|message| message["role"] == "user").expect("a question");
    let results = messages[asked..].iter().filter(|message| message["role"] == "tool").count();
    let content = &messages[asked]["content"];
    let text = content.as_str().or_else(|| content[0]["text"].as_str()).unwrap_or_default();
    let mut words = text.split(' ');
    let number: usize = words.next().and_then(|number| number.parse().ok()).unwrap_or(1);
    let calls = match words.next() {
        Some("reads") => (results..number.min(results + BATCH))
            .map(|file| call("read_file", &json!({ "path": format!("file-{file}") })))
            .collect(),
        Some("bytes") if results == 0 => {
            vec![call("bash", &json!({ "command": format!("head -c {number} /dev/zero | tr '\\0' x") }))]
        }
        None | Some(_) => Vec::new(),
    };
    let chunks = if text.ends_with("chunks") { number } else { usize::from(calls.is_empty()) };
    stream_of(chunks, &calls)
}

fn call(tool: &str, arguments: &Value) -> Value {
    json!({ "name": tool, "arguments": arguments.to_string() })
}

fn models() -> Vec<u8> {
    let body = r#"{"object":"list","data":[{"id":"m","object":"model"}]}"#;
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

fn stream_of(chunks: usize, calls: &[Value]) -> Vec<u8> {
    let mut out =
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    let mut event = |data: &str| {
        let text = format!("data: {data}\n\n");
        out.extend_from_slice(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes());
    };
    let chunk = |delta: Value, finish: Option<&str>| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
        json!({ "id": "c", "object": "chat.completion.chunk", "choices": [choice] }).to_string()
    };
    let word = chunk(json!({ "content": "word " }), None);
    for _ in 0..chunks {
        event(&word);
    }
    for (index, function) in calls.iter().enumerate() {
        static CALLS: AtomicU64 = AtomicU64::new(0);
        let id = format!("call-{}", CALLS.fetch_add(1, Ordering::Relaxed));
        let call = json!({ "index": index, "id": id, "type": "function", "function": function });
        event(&chunk(json!({ "tool_calls": [call] }), None));
    }
    event(&chunk(json!({}), Some(if calls.is_empty() { "stop" } else { "tool_calls" })));
    event("[DONE]");
    out.extend_from_slice(b"0\r\n\r\n");
    out
}
