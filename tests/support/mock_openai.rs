//! A server of the Chat Completions API whose bytes a test scripts: each reply is a row of exact pieces with
//! gates between them, ending whole, cut or held open. Speaks just enough HTTP/1.1, and records what it was asked.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{Duration, Instant, sleep_until};

use super::{mock_rules, rules_messages, rules_responses};

/// The largest request it takes.
const MAX_REQUEST: usize = 64 * 1024 * 1024;

/// A running server; dropping it closes its port and all connections.
#[derive(Debug)]
pub struct MockOpenAi {
    url: String,
    state: Arc<State>,
    _server: JoinSet<()>,
}

/// One request as it came.
#[derive(Debug, Clone)]
pub struct Request {
    /// `GET` or `POST`.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// By lower-case name.
    pub headers: BTreeMap<String, String>,
    /// The JSON body; null when there is none.
    pub body: Value,
}

impl Request {
    /// The text of the last user message.
    #[must_use]
    pub fn last_user_text(&self) -> String {
        let messages = self.body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
        let last = messages.iter().rev().find(|message| message["role"] == "user");
        match last.map(|message| &message["content"]) {
            Some(Value::Array(parts)) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
            Some(content) => content.as_str().unwrap_or_default().to_owned(),
            None => String::new(),
        }
    }
}

/// Holds a reply until the test opens it.
#[derive(Debug, Clone)]
pub struct Gate(Arc<Semaphore>);

impl Default for Gate {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(0)))
    }
}

impl Gate {
    /// Lets one waiting reply go on.
    pub fn open(&self) {
        self.0.add_permits(1);
    }

    async fn pass(&self) {
        if let Ok(permit) = self.0.acquire().await {
            permit.forget();
        }
    }
}

/// One step of a reply's body.
#[derive(Debug, Clone)]
enum Step {
    Bytes(Vec<u8>),
    Wait(Gate),
}

/// How a reply ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// As HTTP has it; the connection can be used again.
    Whole,
    /// The connection is closed within the body.
    Cut,
    /// Nothing more comes, but the connection stays.
    HeldOpen,
}

/// What is answered to one chat request.
#[derive(Debug, Clone)]
pub struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    steps: Vec<Step>,
    pace: Duration,
    ending: Ending,
}

impl Reply {
    /// A body in exactly these pieces, with a content type.
    pub fn raw<P: AsRef<[u8]>>(status: u16, content_type: &str, pieces: impl IntoIterator<Item = P>) -> Self {
        let steps = pieces.into_iter().map(|piece| Step::Bytes(piece.as_ref().to_vec())).collect();
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        Self { status, headers, steps, pace: Duration::ZERO, ending: Ending::Whole }
    }

    /// An event stream in exactly these pieces.
    pub fn pieces<P: AsRef<[u8]>>(pieces: impl IntoIterator<Item = P>) -> Self {
        Self::raw(200, "text/event-stream", pieces)
    }

    /// An event stream of these chunks and `[DONE]`, each in a piece of its own.
    pub fn chunks(chunks: impl IntoIterator<Item = Value>) -> Self {
        let events = chunks.into_iter().map(|chunk| event(&chunk)).chain([DONE.to_owned()]);
        Self::pieces(events)
    }

    /// Says `words`, one a chunk, with token counts.
    #[must_use]
    pub fn say(words: &[&str]) -> Self {
        let said = words.iter().map(|word| text_chunk(word));
        Self::chunks(said.chain([finish_chunk("stop"), usage_chunk(10, 2)]))
    }

    /// Calls a tool.
    #[must_use]
    pub fn call(name: &str, arguments: &Value) -> Self {
        let call = call_chunk(0, "call_0", name, &arguments.to_string());
        Self::chunks([call, finish_chunk("tool_calls"), usage_chunk(10, 2)])
    }

    /// An error with a JSON body.
    #[must_use]
    pub fn error(status: u16, body: &Value) -> Self {
        Self::raw(status, "application/json", [body.to_string()])
    }

    /// With a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Waits for `gate` before the piece number `at`.
    #[must_use]
    pub fn gate(mut self, at: usize, gate: &Gate) -> Self {
        let mut pieces = 0;
        let place = self.steps.iter().position(|step| {
            let here = pieces == at;
            pieces += usize::from(matches!(step, Step::Bytes(_)));
            here
        });
        self.steps.insert(place.unwrap_or(self.steps.len()), Step::Wait(gate.clone()));
        self
    }

    /// Sends the pieces this far apart, on average where the clock is coarser.
    #[must_use]
    pub fn paced(mut self, pace: Duration) -> Self {
        self.pace = pace;
        self
    }

    /// Closes the connection after the last piece, in the middle of the body.
    #[must_use]
    pub fn cut(mut self) -> Self {
        self.ending = Ending::Cut;
        self
    }

    /// Leaves the connection open after the last piece without ending the body.
    #[must_use]
    pub fn held_open(mut self) -> Self {
        self.ending = Ending::HeldOpen;
        self
    }
}

/// The event that ends a stream.
pub const DONE: &str = "data: [DONE]\n\n";

/// `chunk` as an event.
#[must_use]
pub fn event(chunk: &Value) -> String {
    format!("data: {chunk}\n\n")
}

/// A chunk with one choice of this delta.
#[must_use]
pub fn delta_chunk(delta: &Value) -> Value {
    json!({"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

/// A piece of text.
#[must_use]
pub fn text_chunk(text: &str) -> Value {
    delta_chunk(&json!({"content": text}))
}

/// A whole call.
#[must_use]
pub fn call_chunk(index: usize, id: &str, name: &str, arguments: &str) -> Value {
    let function = json!({"name": name, "arguments": arguments});
    delta_chunk(
        &json!({"tool_calls": [{"index": index, "id": id, "type": "function", "function": function}]}),
    )
}

/// The finish reason.
#[must_use]
pub fn finish_chunk(reason: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

/// Token counts.
#[must_use]
pub fn usage_chunk(prompt: u64, completion: u64) -> Value {
    let total = prompt + completion;
    json!({"choices": [], "usage": {
        "prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": total,
    }})
}

/// Words a reply from a request, for servers that are not scripted.
pub type Responder = Box<dyn Fn(&Request) -> Reply + Send + Sync>;

struct State {
    script: Mutex<Script>,
    requests: watch::Sender<Vec<Request>>,
    open: watch::Sender<usize>,
    accepted: AtomicUsize,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").field("requests", &self.requests.borrow().len()).finish_non_exhaustive()
    }
}

struct Script {
    replies: VecDeque<Reply>,
    responder: Option<Responder>,
    pages: BTreeMap<String, Reply>,
    is_strict: bool,
    is_forgetful: bool,
    broken: Vec<String>,
}

impl State {
    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reply_to(&self, request: &Request) -> Reply {
        let mut script = self.script();
        let path = request.path.split('?').next().unwrap_or_default();
        if request.method == "GET" {
            let page = script.pages.get(path).cloned();
            return page.unwrap_or_else(|| Reply::error(404, &json!({"error": {"message": "not found"}})));
        }
        if script.is_strict
            && let Err(broken) = rules(path)(&request.body)
        {
            script.broken.push(broken.clone());
            return Reply::error(
                400,
                &json!({"error": {"message": broken, "type": "invalid_request_error"}}),
            );
        }
        if let Some(reply) = script.replies.pop_front() {
            return reply;
        }
        let none = || Reply::error(418, &json!({"error": {"message": "the script has no reply left"}}));
        script.responder.as_ref().map_or_else(none, |responder| responder(request))
    }
}

/// What the API at `path` demands.
fn rules(path: &str) -> fn(&Value) -> Result<(), String> {
    if path.ends_with("/messages") {
        rules_messages::check
    } else if path.ends_with("/responses") {
        rules_responses::check
    } else {
        mock_rules::check
    }
}

impl MockOpenAi {
    /// A server on a free loopback port.
    ///
    /// # Errors
    /// There is no port to be had.
    pub async fn start() -> io::Result<Self> {
        Self::start_on(0).await
    }

    /// A server on this loopback port.
    ///
    /// # Errors
    /// The port is taken.
    pub async fn start_on(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        let url = format!("http://{}", listener.local_addr()?);
        let models = json!({"object": "list", "data": [{"id": "mock-model", "object": "model"}]});
        let pages = BTreeMap::from([("/v1/models".to_owned(), Reply::error(200, &models))]);
        let script = Script {
            replies: VecDeque::new(),
            responder: None,
            pages,
            is_strict: false,
            is_forgetful: false,
            broken: Vec::new(),
        };
        let state = Arc::new(State {
            script: Mutex::new(script),
            requests: watch::Sender::default(),
            open: watch::Sender::default(),
            accepted: AtomicUsize::default(),
        });
        let mut server = JoinSet::new();
        server.spawn(accept(listener, Arc::clone(&state)));
        Ok(Self { url, state, _server: server })
    }

    /// Where it is, without a path.
    #[must_use]
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// Answers the next unanswered chat request with `reply`.
    pub fn reply(&self, reply: Reply) {
        self.script([reply]);
    }

    /// Answers the next unanswered chat requests with `replies` in turn.
    pub fn script(&self, replies: impl IntoIterator<Item = Reply>) {
        self.state.script().replies.extend(replies);
    }

    /// Answers requests beyond the script.
    pub fn respond(&self, responder: impl Fn(&Request) -> Reply + Send + Sync + 'static) {
        self.state.script().responder = Some(Box::new(responder));
    }

    /// Answers `GET path`.
    pub fn page(&self, path: &str, reply: Reply) {
        self.state.script().pages.insert(path.to_owned(), reply);
    }

    /// Refuses from now on what strict servers refuse.
    pub fn strict(&self) {
        self.state.script().is_strict = true;
    }

    /// The rules that requests broke, while it was strict.
    #[must_use]
    pub fn broken_rules(&self) -> Vec<String> {
        self.state.script().broken.clone()
    }

    /// Records no request from now on, for servers that run for long.
    pub fn forget_requests(&self) {
        self.state.script().is_forgetful = true;
    }

    /// All requests so far.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.state.requests.borrow().clone()
    }

    /// All chat requests so far.
    #[must_use]
    pub fn chats(&self) -> Vec<Request> {
        self.requests().into_iter().filter(|request| request.method == "POST").collect()
    }

    /// How many connections were made.
    #[must_use]
    pub fn connections_so_far(&self) -> usize {
        self.state.accepted.load(Ordering::Relaxed)
    }

    /// Waits until there were `count` requests.
    pub async fn wait_for_requests(&self, count: usize) {
        // The sender lives as long as `self`.
        drop(self.state.requests.subscribe().wait_for(|all| all.len() >= count).await);
    }

    /// Waits until `count` connections are open.
    pub async fn wait_for_connections(&self, count: usize) {
        drop(self.state.open.subscribe().wait_for(|open| *open == count).await);
    }
}

async fn accept(listener: TcpListener, state: Arc<State>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let state = Arc::clone(&state);
        state.accepted.fetch_add(1, Ordering::Relaxed);
        state.open.send_modify(|open| *open += 1);
        connections.spawn(async move {
            // A client that goes away is no failure of the server's.
            drop(serve(stream, &state).await);
            state.open.send_modify(|open| *open -= 1);
        });
        while connections.try_join_next().is_some() {}
    }
}

async fn serve(stream: TcpStream, state: &State) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut stream = BufReader::new(stream);
    while let Some(request) = read_request(&mut stream).await? {
        let reply = state.reply_to(&request);
        if !state.script().is_forgetful {
            state.requests.send_modify(|all| all.push(request));
        }
        if !answer(&mut stream, reply).await? {
            break;
        }
    }
    Ok(())
}

async fn read_request(stream: &mut BufReader<TcpStream>) -> io::Result<Option<Request>> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(end) if end.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let mut lines = head.lines();
    let mut words = lines.next().unwrap_or_default().split(' ').map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let fields = lines.filter_map(|line| line.split_once(':'));
    let headers: BTreeMap<String, String> =
        fields.map(|(name, value)| (name.to_lowercase(), value.trim().to_owned())).collect();
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    if length > MAX_REQUEST {
        return Err(io::Error::other("the request is too large"));
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    let body = serde_json::from_slice(&body).unwrap_or_default();
    Ok(Some(Request { method, path, headers, body }))
}

/// Writes `reply`; whether the connection can be used again. Ends early when the client goes away.
async fn answer(stream: &mut BufReader<TcpStream>, reply: Reply) -> io::Result<bool> {
    let mut head = format!("HTTP/1.1 {} Scripted\r\ntransfer-encoding: chunked\r\n", reply.status);
    for (name, value) in &reply.headers {
        head.extend([name, ": ", value, "\r\n"]);
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).await?;
    let mut due = Instant::now();
    for step in reply.steps {
        if !reply.pace.is_zero() {
            sleep_until(due).await;
            due += reply.pace;
        }
        match step {
            Step::Bytes(bytes) => write_chunk(stream, &bytes).await?,
            Step::Wait(gate) => tokio::select! {
                () = gate.pass() => {}
                _ = stream.read_u8() => return Ok(false),
            },
        }
    }
    match reply.ending {
        Ending::Whole => stream.write_all(b"0\r\n\r\n").await.map(|()| true),
        Ending::Cut => Ok(false),
        Ending::HeldOpen => {
            // Ends when the client leaves, whatever it sends before.
            while stream.read_u8().await.is_ok() {}
            Ok(false)
        }
    }
}

/// Head, bytes and tail in one write, so that a piece arrives as one.
async fn write_chunk(stream: &mut BufReader<TcpStream>, bytes: &[u8]) -> io::Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
    chunk.extend_from_slice(bytes);
    chunk.extend_from_slice(b"\r\n");
    stream.write_all(&chunk).await?;
    stream.flush().await
}
