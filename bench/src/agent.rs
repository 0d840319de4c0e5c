//! An agent's process, spoken to over its pipes in lines.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How many files of 40 lines each home has.
pub const FILES: usize = 200;
const LINE: &str = "a line of a file that a model has read\n";

/// How an agent is started.
pub struct Command {
    pub name: String,
    pub program: PathBuf,
    pub arguments: Vec<String>,
    pub version: u16,
    /// Whether it runs tools.
    pub tools: bool,
}

/// A running agent.
pub struct Agent {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    home: PathBuf,
    version: u16,
    next: i64,
}

impl Agent {
    /// Starts it in an empty home with the model server configured, and says hello: the time from spawn to answer.
    pub fn spawn(command: &Command, url: &str) -> (Self, Duration) {
        static HOMES: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        let number = HOMES.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let home = std::env::temp_dir().join(format!("milk-bench-{}-{number}", std::process::id()));
        std::fs::create_dir_all(home.join(".milk")).expect("a home");
        let agent =
            json!({ "name": "mock", "url": url, "model": "m", "limits": { "max_tool_iterations": -1 } });
        let config = json!({ "agents": [agent], "acp_resume": false, "dangerously_skip_permissions": true });
        std::fs::write(home.join(".milk/config.json"), config.to_string()).expect("a configuration");
        for file in 0..FILES {
            std::fs::write(home.join(format!("file-{file}")), LINE.repeat(40)).expect("a file");
        }
        let start = Instant::now();
        let mut child = std::process::Command::new(&command.program)
            .args(&command.arguments)
            .env("HOME", &home)
            .env("MILK_HOME", home.join(".milk"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("the agent starts");
        let input = child.stdin.take();
        let output = BufReader::with_capacity(1 << 20, child.stdout.take().expect("a pipe"));
        let mut agent = Self { child, input, output, home, version: command.version, next: 0 };
        let hello = if command.version == 1 {
            json!({ "protocolVersion": 1, "clientCapabilities": {} })
        } else {
            json!({ "protocolVersion": 2, "info": { "name": "bench", "version": "1" }, "capabilities": {} })
        };
        let id = agent.send("initialize", &hello);
        agent.answer(id);
        (agent, start.elapsed())
    }

    pub fn new_session(&mut self) -> String {
        let params = json!({ "cwd": self.home, "mcpServers": [] });
        let id = self.send("session/new", &params);
        let result = self.answer(id);
        result["sessionId"].as_str().expect("a session").to_owned()
    }

    /// One turn of `chunks` chunks: until its end, and until its first chunk.
    pub fn prompt(&mut self, session: &str, chunks: usize) -> (Duration, Duration) {
        let start = Instant::now();
        let id = self.send_prompt(session, &format!("{chunks} chunks"));
        let mut first = None;
        loop {
            let line = self.line();
            if first.is_none() && line.contains("agent_message_chunk") {
                first = Some(start.elapsed());
            }
            if is_answer(&line, id) {
                return (start.elapsed(), first.expect("the agent said something"));
            }
        }
    }

    /// One turn with tool calls, until its end; at least `rows` of them have to be told as completed.
    pub fn work(&mut self, session: &str, task: &str, rows: usize) -> Duration {
        let start = Instant::now();
        let id = self.send_prompt(session, task);
        let mut completed = 0;
        loop {
            let line = self.line();
            completed += usize::from(line.contains("\"status\":\"completed\""));
            if is_answer(&line, id) {
                let took = start.elapsed();
                assert!(completed >= rows, "{completed} of {rows} calls were completed");
                return took;
            }
        }
    }

    /// A turn of one chunk in each session, all at once.
    pub fn prompt_all(&mut self, sessions: &[String]) -> Duration {
        let start = Instant::now();
        let mut open: Vec<i64> =
            sessions.iter().map(|session| self.send_prompt(session, "1 chunks")).collect();
        while !open.is_empty() {
            let line = self.line();
            open.retain(|id| !is_answer(&line, *id));
        }
        start.elapsed()
    }

    /// Closes its input: the time until it has exited.
    pub fn end(mut self) -> Duration {
        let start = Instant::now();
        self.input = None;
        self.child.wait().expect("the agent exits");
        let ended = start.elapsed();
        std::fs::remove_dir_all(&self.home).expect("the home can be removed");
        ended
    }

    /// Resident memory, MiB.
    pub fn resident(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("/proc");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("VmRSS");
        let kib: f64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
        kib / 1024.0
    }

    /// CPU used so far, ms (the kernel counts hundredths of a second).
    pub fn cpu(&self) -> f64 {
        let schedstat = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).expect("/proc");
        let mut nanoseconds = 0.0;
        for task in schedstat.flatten() {
            let text = std::fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
            let first: f64 = text.split(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0.0);
            nanoseconds += first;
        }
        nanoseconds / 1e6
    }

    fn send_prompt(&mut self, session: &str, text: &str) -> i64 {
        let params = json!({ "sessionId": session, "prompt": [{ "type": "text", "text": text }] });
        self.send("session/prompt", &params)
    }

    fn send(&mut self, method: &str, params: &Value) -> i64 {
        self.next += 1;
        let line = json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params });
        let input = self.input.as_mut().expect("the input is open");
        input.write_all(format!("{line}\n").as_bytes()).expect("the agent reads");
        self.next
    }

    fn answer(&mut self, id: i64) -> Value {
        loop {
            let line = self.line();
            if is_answer(&line, id) {
                let answer: Value = serde_json::from_str(&line).expect("JSON");
                assert!(answer.get("error").is_none(), "version {}: {line}", self.version);
                return answer["result"].clone();
            }
        }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        let read = self.output.read_line(&mut line).expect("output");
        assert!(read > 0, "the agent ended");
        line
    }
}

/// Whether a line answers this request, without parsing the many that do not.
fn is_answer(line: &str, id: i64) -> bool {
    if line.contains("\"method\"") {
        return false;
    }
    let value: Value = serde_json::from_str(line).expect("JSON");
    value["id"] == id
}
