//! The physical limit: a bare agent of one file, standard library and `serde_json` alone. It really calls the model
//! server named by its argument over a kept connection, and writes one update per piece of the answer; it keeps
//! nothing, asks nothing and has no tools.

use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

struct Model {
    reader: BufReader<TcpStream>,
    writer: TcpStream,
    host: String,
}

impl Model {
    fn connect(url: &str) -> Self {
        let host = url.trim_start_matches("http://").trim_end_matches('/').to_owned();
        let stream = TcpStream::connect(&host).expect("the model server answers");
        stream.set_nodelay(true).expect("a socket");
        let writer = stream.try_clone().expect("a socket");
        Self { reader: BufReader::with_capacity(64 * 1024, stream), writer, host }
    }

    fn ask(&mut self, text: &str, mut piece: impl FnMut(&str, bool)) {
        let body = json!({ "model": "m", "stream": true, "messages": [{ "role": "user", "content": text }] });
        let body = body.to_string();
        let head = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            self.host,
            body.len()
        );
        self.writer.write_all(format!("{head}{body}").as_bytes()).expect("written");
        let mut line = String::new();
        while self.line(&mut line) != "" {}
        // The body is chunked; each chunk's size line is skipped, its lines are read as they come.
        loop {
            let text = self.line(&mut line).to_owned();
            let Some(data) = text.strip_prefix("data: ") else {
                if text == "0" {
                    self.line(&mut line);
                    return;
                }
                continue;
            };
            if data == "[DONE]" {
                continue;
            }
            let chunk: Value = serde_json::from_str(data).expect("JSON");
            if let Some(text) = chunk["choices"][0]["delta"]["content"].as_str() {
                piece(text, self.reader.buffer().is_empty());
            }
        }
    }

    fn line<'a>(&mut self, line: &'a mut String) -> &'a str {
        line.clear();
        self.reader.read_line(line).expect("the model server answers");
        line.trim_end()
    }
}

fn main() {
    let url = std::env::args().nth(1).expect("usage: floor URL");
    let mut model = None;
    let mut sessions = 0;
    let mut out = BufWriter::with_capacity(64 * 1024, std::io::stdout().lock());
    let mut input = BufReader::with_capacity(64 * 1024, std::io::stdin().lock());
    let mut line = String::new();
    while input.by_ref().read_line(&mut line).expect("input") > 0 {
        let request: Value = serde_json::from_str(&line).expect("JSON");
        let params = &request["params"];
        let result = match request["method"].as_str().unwrap_or_default() {
            "initialize" => json!({ "protocolVersion": 1, "agentCapabilities": {} }),
            "session/new" => {
                sessions += 1;
                json!({ "sessionId": format!("session-{sessions}") })
            }
            "session/prompt" => {
                let session = params["sessionId"].as_str().unwrap_or_default().to_owned();
                let text = params["prompt"][0]["text"].as_str().unwrap_or_default();
                model.get_or_insert_with(|| Model::connect(&url)).ask(text, |text, last| {
                    let update = json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } });
                    let params = json!({ "sessionId": session, "update": update });
                    writeln!(out, "{}", json!({ "jsonrpc": "2.0", "method": "session/update", "params": params }))
                        .expect("written");
                    if last {
                        out.flush().expect("written");
                    }
                });
                json!({ "stopReason": "end_turn" })
            }
            _ => Value::Null,
        };
        if request.get("id").is_some() {
            writeln!(out, "{}", json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }))
                .expect("written");
        }
        out.flush().expect("written");
        line.clear();
    }
}
