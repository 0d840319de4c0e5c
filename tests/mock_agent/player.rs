//! What a script can have the agent do: one step is an object with one of the members below.
//!
//! `update` is told; `say` is a piece of an answer, in which `$open` and `$close` are the tag that a prompt named; `ask` (`{method, params}`) is asked and its answer waited for, which
//! the record of what was heard has; `send` is asked and not waited for; `raw` is a line as it is; `exit` ends the process with
//! this code; `hang` waits for a cancel; `wait` waits until this file is there; `stop` is the stop reason, `usage` what the turn took. In params, the
//! text `$terminal` is the name that `terminal/create` gave last.

use std::io;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::Wire;

/// How a prompt ended.
pub(crate) struct Ended {
    pub(crate) stop: String,
    /// What it took, if that is told.
    pub(crate) usage: Value,
    /// The code with which the process is to end.
    pub(crate) code: Option<u8>,
}

pub(crate) struct Player<'a> {
    wire: &'a mut Wire,
    version: u64,
}

impl<'a> Player<'a> {
    pub(crate) fn new(wire: &'a mut Wire, version: u64) -> Self {
        Self { wire, version }
    }

    pub(crate) fn play(mut self, steps: &Value) -> io::Result<Ended> {
        let mut ended = Ended { stop: "end_turn".to_owned(), usage: Value::Null, code: None };
        for step in steps.as_array().into_iter().flatten() {
            if let Some(stop) = step["stop"].as_str() {
                stop.clone_into(&mut ended.stop);
            } else if step["usage"].is_object() {
                ended.usage = step["usage"].clone();
            } else if let Some(code) = step["exit"].as_u64() {
                ended.code = Some(u8::try_from(code).unwrap_or(1));
                return Ok(ended);
            } else if !self.step(step)? {
                "cancelled".clone_into(&mut ended.stop);
                return Ok(ended);
            }
        }
        Ok(ended)
    }

    /// Does one step; whether to go on.
    fn step(&mut self, step: &Value) -> io::Result<bool> {
        if let Some(text) = step["say"].as_str() {
            let text =
                text.replace("$open", &self.wire.tag).replace("$close", &self.wire.tag.replace('<', "</"));
            let mut update =
                json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}});
            if self.version > 1 {
                update["messageId"] = json!("said");
            }
            self.wire.update(&update)?;
        } else if let Some(line) = step["raw"].as_str() {
            Wire::raw(line)?;
        } else if step["update"].is_object() {
            self.wire.update(&self.filled(&step["update"]))?;
        } else if step["send"].is_object() {
            self.request(&step["send"])?;
        } else if step["ask"].is_object() {
            return self.ask(&step["ask"]);
        } else if let Some(path) = step["wait"].as_str() {
            return Ok(self.wait(Path::new(path)));
        } else if step["hang"] == true {
            while let Ok(line) = self.wire.lines.recv() {
                if line["method"] == "session/cancel" {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    fn request(&mut self, asked: &Value) -> io::Result<String> {
        self.wire.requests += 1;
        let id = format!("ask-{}", self.wire.requests);
        let mut params = self.filled(&asked["params"]);
        if params["sessionId"].is_null() {
            params["sessionId"] = json!(self.wire.session);
        }
        Wire::say(&json!({"id": id, "method": asked["method"], "params": params}))?;
        Ok(id)
    }

    fn ask(&mut self, asked: &Value) -> io::Result<bool> {
        let id = self.request(asked)?;
        while let Ok(line) = self.wire.lines.recv() {
            if line["method"] == "session/cancel" {
                return Ok(false);
            }
            if line["id"] == id.as_str() {
                if line["result"]["terminalId"].is_string() {
                    self.wire.terminal = line["result"]["terminalId"].clone();
                }
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Waits for a file; a cancel ends the wait.
    fn wait(&mut self, path: &Path) -> bool {
        while !self.wire.folder.join(path).exists() {
            if let Ok(line) = self.wire.lines.recv_timeout(Duration::from_millis(5))
                && line["method"] == "session/cancel"
            {
                return false;
            }
        }
        true
    }

    fn filled(&self, value: &Value) -> Value {
        match value {
            Value::String(text) if text == "$terminal" => self.wire.terminal.clone(),
            Value::Array(items) => items.iter().map(|item| self.filled(item)).collect(),
            Value::Object(members) => {
                members.iter().map(|(name, value)| (name.clone(), self.filled(value))).collect()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
        }
    }
}
