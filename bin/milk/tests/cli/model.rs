//! A model server on loopback that gives scripted answers, one per request, and the words for them.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

/// A running server. Its thread ends with the test's process.
pub(crate) struct Model {
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<Value>>>,
}

/// One answer.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    /// Text, chunk by chunk.
    Say(&'static [&'static str]),
    /// A call of a tool.
    Call(&'static str, Value),
    /// An HTTP error.
    Error(u16, &'static str),
    /// The beginning of an answer that never goes on.
    Hang(&'static str),
}

impl Model {
    /// Serves these answers, then says "ok" to everything.
    pub(crate) fn start(answers: impl IntoIterator<Item = Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let answers = Arc::new(Mutex::new(answers.into_iter().collect::<VecDeque<_>>()));
        let seen = Arc::new(Mutex::new(Vec::new()));
        let requests = Arc::clone(&seen);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answers, requests) = (Arc::clone(&answers), Arc::clone(&requests));
                // A client that goes away in the middle is what some tests are about.
                std::thread::spawn(move || drop(serve(stream, &answers, &requests)));
            }
        });
        Self { url, seen }
    }

    /// The chat requests so far.
    pub(crate) fn seen(&self) -> Vec<Value> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A configuration with this server as its only agent.
    pub(crate) fn config(&self) -> Value {
        json!({"agents": [{"name": "mock", "url": self.url, "model": "m"}]})
    }
}

fn serve(
    stream: TcpStream,
    answers: &Mutex<VecDeque<Answer>>,
    requests: &Mutex<Vec<Value>>,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let line = line.trim().to_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    if !first.starts_with("POST") {
        return reply(stream, 200, "application/json", &json!({"data": [{"id": "m"}]}).to_string());
    }
    requests
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(serde_json::from_slice(&body).unwrap_or_default());
    let answer = answers.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    match answer.unwrap_or(Answer::Say(&["ok"])) {
        Answer::Say(chunks) => {
            let deltas = chunks.iter().map(|text| json!({"content": text}));
            reply(stream, 200, "text/event-stream", &events(deltas, "stop"))
        }
        Answer::Call(name, arguments) => {
            let function = json!({"name": name, "arguments": arguments.to_string()});
            let call = json!({"index": 0, "id": "c1", "type": "function", "function": function});
            let deltas = [json!({"tool_calls": [call]})];
            reply(stream, 200, "text/event-stream", &events(deltas.into_iter(), "tool_calls"))
        }
        Answer::Error(status, message) => {
            let error = json!({"error": {"message": message}}).to_string();
            reply(stream, status, "application/json", &error)
        }
        Answer::Hang(text) => hang(stream, text),
    }
}

fn events(deltas: impl Iterator<Item = Value>, finish: &str) -> String {
    let mut text: String = deltas.map(|delta| event(&delta, &Value::Null)).collect();
    text.push_str(&event(&json!({}), &json!(finish)));
    text.push_str("data: [DONE]\n\n");
    text
}

fn event(delta: &Value, finish: &Value) -> String {
    format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}))
}

fn reply(mut stream: TcpStream, status: u16, kind: &str, body: &str) -> std::io::Result<()> {
    let length = body.len();
    write!(stream, "HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n")?;
    write!(stream, "connection: close\r\n\r\n{body}")?;
    stream.flush()
}

/// Says something, then nothing until the client goes away.
fn hang(mut stream: TcpStream, text: &str) -> std::io::Result<()> {
    let body = event(&json!({"content": text}), &Value::Null);
    write!(stream, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{body}")?;
    stream.flush()?;
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).map(drop)
}
