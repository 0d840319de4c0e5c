//! Input that is no protocol, or barely: answered as it deserves, and the next request is served.

use std::collections::HashMap;

use milk_tests::mock_openai::{Gate, Reply};
use milk_tests::schema::Version;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{ChildStdin, ChildStdout};

use crate::program::{Home, Program, in_time, model};

const MIB: usize = 1 << 20;

/// Both ends of the pipes, bytes in and lines out.
struct Wire {
    version: Version,
    stdin: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
    asked: HashMap<String, &'static str>,
    next_id: u32,
}

impl Wire {
    fn start(home: &Home, version: Version) -> (Program, Self) {
        let (program, stdout, stdin) = Program::start(home.serve());
        let lines = BufReader::new(stdout).lines();
        (program, Self { version, stdin: Some(stdin), lines, asked: HashMap::new(), next_id: 1000 })
    }

    /// Started, and said hello.
    async fn greeted(home: &Home, version: Version) -> (Program, Self) {
        let (program, mut wire) = Self::start(home, version);
        wire.hello().await;
        (program, wire)
    }

    async fn hello(&mut self) {
        let client = json!({ "name": "t", "version": "1" });
        let params =
            json!({ "protocolVersion": self.version.number(), "info": client, "clientInfo": client });
        let id = self.ask("initialize", params).await;
        let answer = self.next().await;
        assert_eq!(
            (&answer["id"], answer["result"]["protocolVersion"].as_u64()),
            (&id, Some(self.version.number().into()))
        );
    }

    async fn bytes(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("the input is open");
        in_time(stdin.write_all(bytes)).await.expect("it reads");
        stdin.flush().await.expect("it reads");
    }

    fn request(&mut self, method: &'static str, params: &Value) -> (Value, String) {
        self.next_id += 1;
        let id = json!(self.next_id);
        self.asked.insert(id.to_string(), method);
        let line = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        (id, line.to_string())
    }

    async fn ask(&mut self, method: &'static str, params: Value) -> Value {
        let (id, line) = self.request(method, &params);
        self.bytes(format!("{line}\n").as_bytes()).await;
        id
    }

    /// The next line that is no notification.
    async fn next(&mut self) -> Value {
        loop {
            let text = in_time(self.lines.next_line()).await.expect("UTF-8").expect("it goes on");
            let line: Value = serde_json::from_str(&text).expect("JSON");
            let asked = self.asked.get(&line["id"].to_string()).copied();
            let checked = self.version.schema().check(&line, asked);
            assert_eq!(checked, Ok(()), "{text}");
            if line.get("id").is_some() {
                return line;
            }
        }
    }

    /// The next line answers this id with this error.
    async fn refused(&mut self, id: &Value, code: i64, context: &str) {
        let line = self.next().await;
        assert_eq!((&line["id"], &line["error"]["code"]), (id, &json!(code)), "{context}: {line}");
    }

    /// The next line answers a request sent now: nothing was left to be said before.
    async fn serves(&mut self, context: &str) {
        let id = self.ask("session/list", json!({})).await;
        let line = self.next().await;
        assert_eq!((&line["id"], line["result"].is_object()), (&id, true), "{context}: {line}");
    }

    async fn session(&mut self, home: &Home) -> String {
        self.ask("session/new", json!({ "cwd": home.work(), "mcpServers": [] })).await;
        let line = self.next().await;
        line["result"]["sessionId"].as_str().expect("a session").to_owned()
    }

    /// Ends the input; nothing more may come.
    async fn finish(mut self, program: Program) {
        self.stdin = None;
        let rest = in_time(self.lines.next_line()).await.expect("UTF-8");
        assert_eq!(rest, None);
        let end = program.ended().await;
        assert_eq!(end.code, Some(0), "{}", end.stderr);
        assert!(!end.stderr.contains("panic"), "{}", end.stderr);
    }
}

#[tokio::test]
async fn what_is_no_json_gets_no_answer() {
    let lines: [&[u8]; 9] = [
        b"hello",
        b"{",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/list\"",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/list\"}}",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/list\"} {}",
        b"\xff\xfe\x00",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/l\xffist\"}",
        b"Content-Length: 20",
        b"\x1b[31mred\x1b[0m",
    ];
    for version in Version::BOTH {
        let home = Home::new();
        let (program, mut wire) = Wire::greeted(&home, version).await;
        for line in lines {
            wire.bytes(line).await;
            wire.bytes(b"\n").await;
            wire.serves(&String::from_utf8_lossy(line)).await;
        }
        let deep = [vec![b'['; 100_000], vec![b'\n']].concat();
        wire.bytes(&deep).await;
        wire.serves("deep nesting without an end").await;
        wire.finish(program).await;
    }
}

#[tokio::test]
async fn what_is_no_request_is_refused() {
    let refused = [
        (r"42", Value::Null),
        (r#""text""#, Value::Null),
        ("null", Value::Null),
        ("[]", Value::Null),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"session/list"}]"#, Value::Null),
        ("{}", Value::Null),
        (r#"{"id":5,"method":"session/list"}"#, Value::Null),
        (r#"{"jsonrpc":"1.0","id":5,"method":"session/list"}"#, Value::Null),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"session/list"}"#, Value::Null),
        (r#"{"jsonrpc":"2.0","id":[],"method":"session/list"}"#, Value::Null),
        (r#"{"jsonrpc":"2.0","id":"both","method":"session/list","result":{}}"#, json!("both")),
    ];
    for version in Version::BOTH {
        let home = Home::new();
        let (program, mut wire) = Wire::greeted(&home, version).await;
        for (line, id) in &refused {
            wire.bytes(format!("{line}\n").as_bytes()).await;
            wire.refused(id, -32600, line).await;
            wire.serves(line).await;
        }
        wire.bytes(b"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"session/list\"}\n").await;
        wire.asked.insert("null".to_owned(), "session/list");
        let line = wire.next().await;
        assert_eq!(line["id"], Value::Null);
        let is_refused = line["error"]["code"] == -32600;
        assert_eq!(is_refused, version == Version::V2, "only version 1 has null ids: {line}");
        wire.finish(program).await;
    }
}

#[tokio::test]
async fn what_answers_nothing_or_asks_for_nothing_is_ignored() {
    let ignored = [
        r#"{"jsonrpc":"2.0","id":777,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":777,"error":{"code":-1,"message":"no"}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"no"}}"#,
        r#"{"jsonrpc":"2.0","method":"_x/y"}"#,
        r#"{"jsonrpc":"2.0","method":"foo/bar","params":{}}"#,
        r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":99}}"#,
        r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"none"}}"#,
        r#"{"jsonrpc":"2.0","method":"session/cancel","params":[]}"#,
        "",
        "\r",
        "   ",
    ];
    for version in Version::BOTH {
        let home = Home::new();
        let (program, mut wire) = Wire::greeted(&home, version).await;
        for line in ignored {
            wire.bytes(format!("{line}\n").as_bytes()).await;
            wire.serves(line).await;
        }
        for (method, id) in [("_x/z", json!(9)), ("session/unknown", json!("")), ("$/x", json!(-1))] {
            let line = json!({ "jsonrpc": "2.0", "id": id, "method": method });
            wire.bytes(format!("{line}\n").as_bytes()).await;
            wire.refused(&id, -32601, method).await;
        }
        wire.finish(program).await;
    }
}

/// A request for the list, this many bytes long, its id before or after the bulk.
fn bulky(size: usize, id: u32, id_first: bool) -> Vec<u8> {
    let head = if id_first { format!(r#""id":{id},"#) } else { String::new() };
    let tail = if id_first { String::new() } else { format!(r#","id":{id}"#) };
    let open = format!(r#"{{"jsonrpc":"2.0",{head}"method":"session/list","params":{{"_meta":{{"x":""#);
    let close = format!(r#""}}}}{tail}}}"#);
    let mut line = open.into_bytes();
    line.resize(size - close.len(), b'x');
    line.extend_from_slice(close.as_bytes());
    line.push(b'\n');
    line
}

#[tokio::test]
async fn long_lines_are_served_and_too_long_ones_skipped() {
    for version in Version::BOTH {
        let home = Home::new();
        let (program, mut wire) = Wire::greeted(&home, version).await;
        for id_first in [true, false] {
            wire.asked.insert("1".to_owned(), "session/list");
            wire.bytes(&bulky(9 * MIB, 1, id_first)).await;
            let line = wire.next().await;
            assert_eq!((&line["id"], line["result"].is_object()), (&json!(1), true));
        }
        wire.bytes(&bulky(33 * MIB, 2, true)).await;
        wire.refused(&json!(2), -32600, "too long").await;
        wire.serves("after a line that is too long").await;
        wire.bytes(&bulky(33 * MIB, 3, false)).await;
        wire.serves("after a line that is too long and of unknown id").await;
        wire.finish(program).await;
    }
}

#[tokio::test]
async fn a_long_prompt_reaches_the_model_whole() {
    for version in Version::BOTH {
        let model = model().await;
        model.reply(Reply::say(&["Long", "."]));
        let home = Home::with(&model);
        let (program, mut wire) = Wire::greeted(&home, version).await;
        let session = wire.session(&home).await;
        let text = "ä€😀 ".repeat(20_000);
        let prompt = json!([{ "type": "text", "text": text }]);
        let id = wire.ask("session/prompt", json!({ "sessionId": session, "prompt": prompt })).await;
        let line = wire.next().await;
        assert_eq!((&line["id"], line["error"].is_null()), (&id, true), "{line}");
        let heard = model.chats().pop().expect("the model was asked").last_user_text();
        assert!(heard.contains(text.trim()), "{} of {} bytes", heard.len(), text.len());
        wire.finish(program).await;
    }
}

#[tokio::test]
async fn the_bounds_of_reads_do_not_matter() {
    for version in Version::BOTH {
        let model = model().await;
        model.reply(Reply::say(&["Yes", "."]));
        let home = Home::with(&model);
        let (program, mut wire) = Wire::greeted(&home, version).await;
        let session = wire.session(&home).await;
        let params = json!({ "sessionId": session, "prompt": [{ "type": "text", "text": "ä€😀" }] });
        let (id, line) = wire.request("session/prompt", &params);
        for byte in format!("\n\r\n{line}\r\n\n").as_bytes() {
            wire.bytes(&[*byte]).await;
            tokio::task::yield_now().await;
        }
        let answer = wire.next().await;
        assert_eq!((&answer["id"], answer["error"].is_null()), (&id, true), "{answer}");
        assert!(model.chats()[0].last_user_text().contains("ä€😀"));
        let (first, second) =
            (wire.request("session/list", &json!({})), wire.request("session/list", &json!({})));
        wire.bytes(format!("{}\n\n{}\r\n", first.1, second.1).as_bytes()).await;
        let mut answered = [wire.next().await["id"].clone(), wire.next().await["id"].clone()];
        answered.sort_by_key(Value::to_string);
        assert_eq!(answered, [first.0, second.0]);
        let (id, line) = wire.request("session/list", &json!({}));
        wire.bytes(line.as_bytes()).await;
        wire.stdin = None;
        assert_eq!(wire.next().await["id"], id, "the last line needs no end");
        wire.finish(program).await;
    }
}

#[tokio::test]
async fn nothing_is_served_before_the_versions_are_agreed() {
    for version in Version::BOTH {
        let home = Home::new();
        let (program, mut wire) = Wire::start(&home, version);
        let id = wire.ask("session/list", json!({})).await;
        wire.refused(&id, -32600, "too early").await;
        wire.bytes(b"{\"jsonrpc\":\"2.0\",\"method\":\"session/cancel\",\"params\":{\"sessionId\":\"s\"}}\n")
            .await;
        wire.hello().await;
        wire.serves("after the greeting").await;
        wire.finish(program).await;
    }
}

#[tokio::test]
async fn an_id_in_use_is_refused_and_its_first_user_answered_once() {
    for version in Version::BOTH {
        let (model, gate) = (model().await, Gate::default());
        model.reply(Reply::say(&["Once", "."]).gate(0, &gate));
        let home = Home::with(&model);
        let (program, mut wire) = Wire::greeted(&home, version).await;
        let session = wire.session(&home).await;
        let prompt = json!([{ "type": "text", "text": "hi" }]);
        let id = wire.ask("session/prompt", json!({ "sessionId": session, "prompt": prompt })).await;
        let line = json!({ "jsonrpc": "2.0", "id": id, "method": "session/list", "params": {} });
        wire.bytes(format!("{line}\n").as_bytes()).await;
        wire.refused(&id, -32600, "in use").await;
        wire.serves("beside a running turn").await;
        gate.open();
        let line = wire.next().await;
        assert_eq!((&line["id"], line["error"].is_null()), (&id, true), "{line}");
        wire.serves("after it").await;
        wire.finish(program).await;
    }
}
