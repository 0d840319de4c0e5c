//! An agent that speaks the protocol and says what a script has it say. For tests of the client's half.
//!
//! `MOCK_AGENT` names a folder. There, `script.json` holds an object: `hello`, the result of `initialize` (`version` is
//! enough); `start`, steps before anything is read; `sessions`, what is answered to a method that opens one, by method;
//! `prompts`, a list with the steps of each prompt, the last one repeated; `after`, steps once the first one was answered. `heard.jsonl` gets every line that came in, and
//! the number of each process that was started. See [`player`] for the steps.

mod player;

use std::fs;
use std::io::{self, BufRead as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, sync_channel};

use serde_json::{Value, json};

use player::Player;

/// The lines of the other side, and our own.
struct Wire {
    lines: Receiver<Value>,
    folder: PathBuf,
    session: String,
    requests: u32,
    /// The tag by which it may hand over, where a prompt named one.
    tag: String,
    /// The terminal that was named last.
    terminal: Value,
}

fn main() -> ExitCode {
    match run() {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            // Nobody is left to tell when this fails too.
            drop(writeln!(io::stderr(), "mock: {error}"));
            ExitCode::from(70)
        }
    }
}

fn run() -> io::Result<u8> {
    let folder =
        PathBuf::from(variable("MOCK_AGENT").ok_or_else(|| io::Error::other("MOCK_AGENT is not set"))?);
    let script: Value = serde_json::from_str(&fs::read_to_string(folder.join("script.json"))?)?;
    note(&folder, &json!({"pid": std::process::id()}))?;
    let mut wire = Wire {
        lines: listen(folder.clone())?,
        folder,
        session: String::new(),
        requests: 0,
        tag: String::new(),
        terminal: Value::Null,
    };
    if let Some(code) = Player::new(&mut wire, 0).play(&script["start"])?.code {
        return Ok(code);
    }
    let version = script["hello"]["protocolVersion"].as_u64().or(script["version"].as_u64()).unwrap_or(1);
    let mut prompts = 0;
    while let Ok(line) = wire.lines.recv() {
        let (id, params) = (&line["id"], &line["params"]);
        match line["method"].as_str() {
            Some("initialize") => Wire::hello(id, params, version, &script)?,
            Some(method @ ("session/new" | "session/load" | "session/resume")) => {
                wire.open(id, method, params, &script)?;
            }
            Some("session/prompt") => {
                let steps = step_list(&script["prompts"], prompts);
                wire.notice_tag(&params.to_string());
                prompts += 1;
                if let Some(code) = wire.prompt(id, version, &steps)? {
                    return Ok(code);
                }
                if prompts == 1 {
                    Player::new(&mut wire, version).play(&script["after"])?;
                }
            }
            Some(_) | None => {}
        }
    }
    Ok(0)
}

/// The steps of a prompt; the last ones are repeated.
fn step_list(prompts: &Value, at: usize) -> Value {
    let prompts = prompts.as_array().map(Vec::as_slice).unwrap_or_default();
    prompts.get(at).or(prompts.last()).cloned().unwrap_or_default()
}

/// Reads lines in a thread of its own and keeps a record of them.
fn listen(folder: PathBuf) -> io::Result<Receiver<Value>> {
    // More than any test sends at once.
    let (sender, lines) = sync_channel(64);
    std::thread::Builder::new().spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            let Ok(line) = serde_json::from_str::<Value>(&line) else { continue };
            if note(&folder, &line).is_err() || sender.send(line).is_err() {
                return;
            }
        }
    })?;
    Ok(lines)
}

impl Wire {
    fn hello(id: &Value, params: &Value, version: u64, script: &Value) -> io::Result<()> {
        if params["protocolVersion"].as_u64().is_some_and(|asked| asked < version) {
            return Self::fail(id, -32022, "unsupported version");
        }
        let mut result = script["hello"].clone();
        if !result.is_object() {
            result = json!({"info": {"name": "mock", "version": "1"}, "capabilities": {}});
        }
        result["protocolVersion"] = json!(version);
        Self::answer(id, &result)
    }

    fn open(&mut self, id: &Value, method: &str, params: &Value, script: &Value) -> io::Result<()> {
        let scripted = &script["sessions"][method];
        if let Some(code) = scripted["code"].as_i64() {
            return Self::fail(id, code, scripted["message"].as_str().unwrap_or_default());
        }
        params["sessionId"].as_str().unwrap_or("inner").clone_into(&mut self.session);
        for update in scripted["updates"].as_array().into_iter().flatten() {
            self.update(update)?;
        }
        let result = if method == "session/new" { json!({"sessionId": self.session}) } else { json!({}) };
        Self::answer(id, &result)
    }

    fn notice_tag(&mut self, told: &str) {
        let tag = told.split_once("<milk:escalate:").and_then(|(_, rest)| rest.split_once('>'));
        if let Some((word, _)) = tag {
            self.tag = format!("<milk:escalate:{word}>");
        }
    }

    /// Plays a prompt; gives the code to end with.
    fn prompt(&mut self, id: &Value, version: u64, steps: &Value) -> io::Result<Option<u8>> {
        if version > 1 {
            Self::answer(id, &json!({"messageId": "m"}))?;
            self.update(&json!({"sessionUpdate": "state_update", "state": "running"}))?;
        }
        let ended = Player::new(self, version).play(steps)?;
        if ended.code.is_some() {
            return Ok(ended.code);
        }
        if version > 1 {
            let idle = json!({"sessionUpdate": "state_update", "state": "idle", "stopReason": ended.stop});
            self.update(&idle)?;
        } else {
            let mut result = json!({"stopReason": ended.stop});
            if ended.usage.is_object() {
                result["usage"] = ended.usage;
            }
            Self::answer(id, &result)?;
        }
        Ok(None)
    }

    fn update(&self, update: &Value) -> io::Result<()> {
        Self::say(
            &json!({"method": "session/update", "params": {"sessionId": self.session, "update": update}}),
        )
    }

    fn answer(id: &Value, result: &Value) -> io::Result<()> {
        Self::say(&json!({"id": id, "result": result}))
    }

    fn fail(id: &Value, code: i64, message: &str) -> io::Result<()> {
        Self::say(&json!({"id": id, "error": {"code": code, "message": message}}))
    }

    fn say(line: &Value) -> io::Result<()> {
        let mut line = line.clone();
        line["jsonrpc"] = json!("2.0");
        Self::raw(&line.to_string())
    }

    fn raw(line: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(line.as_bytes())?;
        out.write_all(b"\n")?;
        out.flush()
    }
}

fn note(folder: &Path, line: &Value) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().create(true).append(true).open(folder.join("heard.jsonl"))?;
    writeln!(file, "{line}")
}

#[expect(
    clippy::disallowed_methods,
    reason = "a program of its own, which is told by its environment what to do"
)]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
