//! The physical limit: a bare agent of one file, standard library and `serde_json` alone. It really calls the model
//! server named by its argument over a kept connection, writes one update per piece of the answer, reads the files and
//! runs the commands that the answer asks for, one after another, and tells each twice; it keeps and asks nothing.

use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

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

    /// Asks; each piece of text goes to `piece`, the calls come back.
    fn ask(&mut self, messages: &[Value], mut piece: impl FnMut(&str, bool)) -> Vec<Value> {
        let body = json!({ "model": "m", "stream": true, "messages": messages }).to_string();
        let mut calls = Vec::new();
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
                    return calls;
                }
                continue;
            };
            if data == "[DONE]" {
                continue;
            }
            let chunk: Value = serde_json::from_str(data).expect("JSON");
            let delta = &chunk["choices"][0]["delta"];
            if let Some(text) = delta["content"].as_str() {
                piece(text, self.reader.buffer().is_empty());
            }
            calls.extend(delta["tool_calls"].as_array().into_iter().flatten().cloned());
        }
    }

    fn line<'a>(&mut self, line: &'a mut String) -> &'a str {
        line.clear();
        self.reader.read_line(line).expect("the model server answers");
        line.trim_end()
    }
}

/// Runs one turn; each update goes to `tell`, with whether it has to be written at once.
fn turn(model: &mut Model, text: &str, tell: &mut dyn FnMut(&Value, bool)) {
    let mut messages = vec![json!({ "role": "user", "content": text })];
    loop {
        let calls = model.ask(&messages, |text, last| {
            let content = json!({ "type": "text", "text": text });
            tell(&json!({ "sessionUpdate": "agent_message_chunk", "content": content }), last);
        });
        if calls.is_empty() {
            return;
        }
        messages.push(json!({ "role": "assistant", "content": null, "tool_calls": calls }));
        for call in calls {
            let (id, name) = (&call["id"], &call["function"]["name"]);
            let arguments = call["function"]["arguments"].as_str().expect("arguments");
            let arguments: Value = serde_json::from_str(arguments).expect("JSON");
            let row = json!({ "sessionUpdate": "tool_call", "toolCallId": id, "title": name, "status": "in_progress", "rawInput": arguments });
            tell(&row, true);
            let result = run(name, &arguments);
            let content = json!([{ "type": "content", "content": { "type": "text", "text": result } }]);
            let row = json!({ "sessionUpdate": "tool_call_update", "toolCallId": id, "status": "completed", "content": content });
            tell(&row, true);
            messages.push(json!({ "role": "tool", "tool_call_id": id, "content": result }));
        }
    }
}

/// A tool's result, whole up to 64 KiB.
fn run(tool: &Value, arguments: &Value) -> String {
    let bytes = if tool == "read_file" {
        std::fs::read(arguments["path"].as_str().expect("a path")).expect("a file")
    } else {
        let command = arguments["command"].as_str().expect("a command");
        let shell = Command::new("sh").args(["-c", command]).stdin(Stdio::null()).output();
        shell.expect("a shell").stdout
    };
    let mut text = String::from_utf8(bytes).expect("text");
    text.truncate(64 * 1024);
    text
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
                let folder = params["cwd"].as_str().expect("a folder");
                std::env::set_current_dir(folder).expect("a folder");
                sessions += 1;
                json!({ "sessionId": format!("session-{sessions}") })
            }
            "session/prompt" => {
                let session = params["sessionId"].as_str().unwrap_or_default().to_owned();
                let text = params["prompt"][0]["text"].as_str().unwrap_or_default();
                let model = model.get_or_insert_with(|| Model::connect(&url));
                turn(model, text, &mut |update, flush| {
                    let params = json!({ "sessionId": session, "update": update });
                    writeln!(
                        out,
                        "{}",
                        json!({ "jsonrpc": "2.0", "method": "session/update", "params": params })
                    )
                    .expect("written");
                    if flush {
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
