//! A client for tests: plain lines over a pipe, independent of the crate under test, suspicious of everything.
//!
//! Every line it reads is checked against the official schema of the version it speaks; each request must be
//! answered exactly once; [`Client::finish`] fails the test when a request of the agent was left unclaimed.

use std::collections::{HashMap, HashSet, VecDeque};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, Lines};

use crate::schema::Version;

type Reader = Lines<BufReader<Box<dyn AsyncRead + Send + Unpin>>>;

/// What the agent sent.
#[derive(Debug)]
pub enum Incoming {
    /// A request.
    Request {
        /// Its id.
        id: Value,
        /// Its method.
        method: String,
        /// Its params.
        params: Value,
    },
    /// The answer that was waited for.
    Response(Result<Value, Value>),
}

/// One side of a conversation, with its record.
pub struct Client {
    version: Version,
    reader: Reader,
    writer: Option<Box<dyn AsyncWrite + Send + Unpin>>,
    next_id: i64,
    asked: HashMap<String, String>,
    answered: HashSet<String>,
    unclaimed: VecDeque<Value>,
    transcript: Vec<String>,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("version", &self.version).finish_non_exhaustive()
    }
}

impl Client {
    /// A client on an open pipe; says nothing yet.
    pub fn new<R, W>(version: Version, reader: R, writer: W) -> Self
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let reader: Box<dyn AsyncRead + Send + Unpin> = Box::new(reader);
        Self {
            version,
            reader: BufReader::new(reader).lines(),
            writer: Some(Box::new(writer)),
            next_id: 0,
            asked: HashMap::new(),
            answered: HashSet::new(),
            unclaimed: VecDeque::new(),
            transcript: Vec::new(),
        }
    }

    /// The version it speaks.
    #[must_use]
    pub fn version(&self) -> Version {
        self.version
    }

    /// Says hello and checks the answer.
    pub async fn initialize(&mut self) -> Value {
        let params = match self.version {
            Version::V1 => {
                json!({ "protocolVersion": 1, "clientCapabilities": {}, "clientInfo": { "name": "test", "version": "1" } })
            }
            Version::V2 => {
                json!({ "protocolVersion": 2, "info": { "name": "test", "version": "1" }, "capabilities": {} })
            }
        };
        self.initialize_with(params).await
    }

    /// Says hello with these params.
    pub async fn initialize_with(&mut self, params: Value) -> Value {
        let result = self.call("initialize", params).await.expect("initialize succeeds");
        assert_eq!(result["protocolVersion"], self.version.number());
        result
    }

    /// A new session in `cwd`.
    pub async fn new_session(&mut self, cwd: &std::path::Path) -> String {
        let params = json!({ "cwd": cwd, "mcpServers": [] });
        let result = self.call("session/new", params).await.expect("a session");
        result["sessionId"].as_str().expect("a session id").to_owned()
    }

    /// Sends a prompt and returns the request's id.
    pub async fn prompt(&mut self, session: &str, text: &str) -> Value {
        self.send(
            "session/prompt",
            json!({ "sessionId": session, "prompt": [{ "type": "text", "text": text }] }),
        )
        .await
    }

    /// Cancels the session's turn.
    pub async fn cancel(&mut self, session: &str) {
        self.notify("session/cancel", json!({ "sessionId": session })).await;
    }

    /// Sends a request and returns its id.
    pub async fn send(&mut self, method: &str, params: Value) -> Value {
        self.next_id += 1;
        let id = json!(self.next_id);
        self.asked.insert(id.to_string(), method.to_owned());
        self.line(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        id
    }

    /// Sends a notification.
    pub async fn notify(&mut self, method: &str, params: Value) {
        self.line(json!({ "jsonrpc": "2.0", "method": method, "params": params })).await;
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Errors
    /// The error object.
    pub async fn call(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.send(method, params).await;
        self.response(&id).await
    }

    /// Waits for the answer to `id`; keeps everything that comes before it.
    ///
    /// # Errors
    /// The error object.
    pub async fn response(&mut self, id: &Value) -> Result<Value, Value> {
        let line = self.until(|line| line.get("method").is_none() && line["id"] == *id).await;
        match line.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(line["result"].clone()),
        }
    }

    /// Whether this request has been answered, as far as was read.
    #[must_use]
    pub fn is_answered(&self, id: &Value) -> bool {
        self.answered.contains(&id.to_string())
    }

    /// Waits for whichever comes first: the agent's next request, or the answer to `id`.
    pub async fn incoming(&mut self, id: &Value) -> Incoming {
        let asks = |line: &Value| line.get("method").is_some() && line.get("id").is_some();
        let line = self.until(|line| asks(line) || (line.get("method").is_none() && line["id"] == *id)).await;
        if asks(&line) {
            let method = line["method"].as_str().unwrap_or_default().to_owned();
            return Incoming::Request { id: line["id"].clone(), method, params: line["params"].clone() };
        }
        Incoming::Response(match line.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(line["result"].clone()),
        })
    }

    /// Waits for the agent's next request of this method: its id and params.
    pub async fn request(&mut self, method: &str) -> (Value, Value) {
        let line = self.until(|line| line["method"] == method && line.get("id").is_some()).await;
        (line["id"].clone(), line["params"].clone())
    }

    /// Answers the agent's request.
    pub async fn answer(&mut self, id: &Value, result: Value) {
        self.line(json!({ "jsonrpc": "2.0", "id": id, "result": result })).await;
    }

    /// Answers the agent's permission request with this option.
    pub async fn choose(&mut self, id: &Value, option: &str) {
        self.answer(id, json!({ "outcome": { "outcome": "selected", "optionId": option } })).await;
    }

    /// Refuses the agent's request.
    pub async fn refuse(&mut self, id: &Value, code: i64, message: &str) {
        self.line(json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })).await;
    }

    /// Waits for the next update of this kind: `params.update`.
    pub async fn update(&mut self, kind: &str) -> Value {
        let line = self.until(|line| line["params"]["update"]["sessionUpdate"] == kind).await;
        line["params"]["update"].clone()
    }

    /// Waits for the next notification of this method: its params.
    pub async fn notification(&mut self, method: &str) -> Value {
        let line = self.until(|line| line["method"] == method && line.get("id").is_none()).await;
        line["params"].clone()
    }

    /// All text of this kind of update that came so far and was not claimed; claims it.
    pub fn take_text(&mut self, kind: &str) -> String {
        let mut text = String::new();
        self.unclaimed.retain(|line| {
            let update = &line["params"]["update"];
            let claimed = update["sessionUpdate"] == kind;
            if claimed {
                text.push_str(update["content"]["text"].as_str().unwrap_or_default());
            }
            !claimed
        });
        text
    }

    /// Everything that came so far and was not claimed; claims it.
    pub fn take_unclaimed(&mut self) -> Vec<Value> {
        self.unclaimed.drain(..).collect()
    }

    /// Reads whatever is there without waiting for more (the paused clock advances only when all are idle).
    pub async fn settle(&mut self) {
        while let Ok(Ok(Some(text))) =
            tokio::time::timeout(std::time::Duration::from_millis(1), self.reader.next_line()).await
        {
            let line = self.check(&text);
            self.unclaimed.push_back(line);
        }
    }

    /// Sends a line as it is.
    pub async fn raw(&mut self, text: &str) {
        self.transcript.push(format!("→ {text}"));
        let writer = self.writer.as_mut().expect("the input is open");
        writer.write_all(text.as_bytes()).await.expect("the agent reads");
        writer.write_all(b"\n").await.expect("the agent reads");
        writer.flush().await.expect("the agent reads");
    }

    /// The conversation so far, one line each, `→` sent and `←` received.
    #[must_use]
    pub fn transcript(&self) -> String {
        self.transcript.join("\n")
    }

    /// A request with this id was sent by other means.
    pub fn expect_answer(&mut self, id: i64, method: &str) {
        self.asked.insert(id.to_string(), method.to_owned());
    }

    /// Closes the input, reads the rest, and checks that every request was answered once and that nothing the
    /// agent asked was left open.
    pub async fn finish(mut self) -> String {
        self.writer = None;
        while let Some(text) = self.reader.next_line().await.expect("lines") {
            let line = self.check(&text);
            self.unclaimed.push_back(line);
        }
        let open: Vec<&String> = self.asked.keys().filter(|id| !self.answered.contains(*id)).collect();
        assert!(open.is_empty(), "requests without a response: {open:?}\n{}", self.transcript());
        let ignored =
            self.unclaimed.iter().find(|line| line.get("id").is_some() && line.get("method").is_some());
        assert!(ignored.is_none(), "the agent's request was left unclaimed: {ignored:?}");
        self.transcript()
    }

    async fn line(&mut self, message: Value) {
        self.raw(&message.to_string()).await;
    }

    async fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.unclaimed.iter().position(&wanted) {
            return self.unclaimed.remove(at).expect("it was there");
        }
        loop {
            let text = self.reader.next_line().await.expect("a line");
            let text = text.unwrap_or_else(|| panic!("the agent ended too early\n{}", self.transcript()));
            let line = self.check(&text);
            if wanted(&line) {
                return line;
            }
            self.unclaimed.push_back(line);
        }
    }

    /// One line of the agent: valid, and a response only once and only to what was asked.
    fn check(&mut self, text: &str) -> Value {
        self.transcript.push(format!("← {text}"));
        let line: Value = serde_json::from_str(text).unwrap_or_else(|e| panic!("no JSON ({e}): {text}"));
        let id = line.get("id").map(Value::to_string);
        let response = line.get("method").is_none();
        let asked = id.as_ref().filter(|_| response).and_then(|id| self.asked.get(id)).cloned();
        if response && line["id"] != Value::Null {
            let id = id.unwrap_or_default();
            assert!(asked.is_some(), "answers what was not asked: {text}");
            assert!(self.answered.insert(id), "answered twice: {text}");
        }
        if let Err(error) = self.version.schema().check(&line, asked.as_deref()) {
            panic!("invalid in {:?}: {error}\n{text}", self.version);
        }
        line
    }
}
