//! What a script can have the stand-in do: one step is an object with one of the members below.

use std::fs;
use std::io::{self, Write as _};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use crate::wire::{Stopped, Wire};

pub(crate) struct Player<'a> {
    wire: &'a mut Wire,
    messages: u32,
    calls: u32,
    last: String,
    denials: Vec<Value>,
}

enum Flow {
    Go,
    Exit(u8),
}

impl<'a> Player<'a> {
    pub(crate) fn new(wire: &'a mut Wire) -> Self {
        Self { wire, messages: 0, calls: 0, last: String::new(), denials: Vec::new() }
    }

    /// Plays the steps, then says that all is done, unless a step has ended it.
    pub(crate) fn play(mut self, steps: &Value) -> io::Result<u8> {
        for step in steps.as_array().map(Vec::as_slice).unwrap_or_default() {
            if let Flow::Exit(code) = self.step(step)? {
                return Ok(code);
            }
        }
        self.result(&json!({}))?;
        self.wire.until_alone();
        Ok(0)
    }

    fn step(&mut self, step: &Value) -> io::Result<Flow> {
        let Some((name, value)) = step.as_object().and_then(|step| step.iter().next()) else {
            return Ok(Flow::Go);
        };
        match name.as_str() {
            // Text, one delta a piece.
            "say" => self.say(value, "text", "text_delta", "text")?,
            "think" => self.say(value, "thinking", "thinking_delta", "thinking")?,
            // Whole, without deltas.
            "whole" => {
                let content = json!([{"type": "text", "text": value}]);
                self.wire.say(json!({"type": "assistant", "parent_tool_use_id": null,
                    "message": {"id": "whole", "model": step["model"], "role": "assistant", "content": content}}))?;
            }
            "tool" => return self.tool(value),
            // A line as it is.
            "raw" => Wire::raw(value.as_str().unwrap_or(&value.to_string()))?,
            "noise" => io::stdout().lock().write_all(b"NOISE\x1b]0;t\x07 \xff\xfe\n")?,
            "stderr" => {
                let count = usize::try_from(step["times"].as_u64().unwrap_or(1)).unwrap_or(1);
                io::stderr().write_all(value.as_str().unwrap_or_default().repeat(count).as_bytes())?;
            }
            "result" => self.result(value)?,
            "exit" => return Ok(Flow::Exit(u8::try_from(value.as_u64().unwrap_or(0)).unwrap_or(0))),
            // Goes on for so many milliseconds unless it is interrupted.
            "pause" => {
                let time = Duration::from_millis(value.as_u64().unwrap_or(0));
                return match self.wire.pause(time)? {
                    Some(stopped) => self.stop(&stopped),
                    None => Ok(Flow::Go),
                };
            }
            // A line of so many bytes, which no reader has to keep.
            "long" => Self::long(value.as_u64().unwrap_or(0))?,
            // Closes its output, and goes on running.
            "mute" => return Err(Self::mute()),
            // A line with bytes that are no text, which otherwise is one of the protocol.
            "broken" => {
                let mut out = io::stdout().lock();
                out.write_all(b"{\"type\":\"stream_event\",\"event\":{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"caf\xe9\"}}}\n")?;
            }
            // Goes on whatever it is asked.
            "deaf" => std::thread::sleep(Duration::from_millis(value.as_u64().unwrap_or(0))),
            other => return Err(io::Error::other(format!("unknown step {other}"))),
        }
        Ok(Flow::Go)
    }

    /// Becomes a program that says nothing; comes back only where that fails.
    #[expect(clippy::disallowed_methods, reason = "a program of its own, which becomes another as it likes")]
    fn mute() -> io::Error {
        #[cfg(unix)]
        {
            use std::os::unix::process::CommandExt as _;
            std::process::Command::new("/bin/sh").args(["-c", "exec >/dev/null; sleep 600"]).exec()
        }
        #[cfg(not(unix))]
        {
            io::Error::other("this system cannot do that")
        }
    }

    fn long(bytes: u64) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(b"{\"type\":\"user\",\"message\":{\"content\":\"")?;
        let block = vec![b'x'; 1024 * 1024];
        let mut left = usize::try_from(bytes).unwrap_or(0);
        while left > 0 {
            let now = left.min(block.len());
            out.write_all(&block[..now])?;
            left -= now;
        }
        out.write_all(b"\"}}\n")
    }

    fn begin(&mut self) -> io::Result<String> {
        self.messages += 1;
        let id = format!("msg_{}", self.messages);
        let usage = json!({"input_tokens": 10, "output_tokens": 1, "cache_read_input_tokens": 5});
        self.wire.delta(
            &json!({"type": "message_start", "message": {"id": id, "role": "assistant", "usage": usage}}),
        )?;
        Ok(id)
    }

    fn end(&self) -> io::Result<()> {
        self.wire.delta(&json!({"type": "message_delta", "delta": {}, "usage": {"output_tokens": 7}}))?;
        self.wire.delta(&json!({"type": "message_stop"}))
    }

    fn say(&mut self, pieces: &Value, block: &str, delta: &str, member: &str) -> io::Result<()> {
        let id = self.begin()?;
        let pieces: Vec<&str> = match pieces {
            Value::Array(pieces) => pieces.iter().filter_map(Value::as_str).collect(),
            Value::String(text) => vec![text],
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
        };
        self.wire.delta(
            &json!({"type": "content_block_start", "index": 0, "content_block": {"type": block, member: ""}}),
        )?;
        for piece in &pieces {
            self.wire.delta(
                &json!({"type": "content_block_delta", "index": 0, "delta": {"type": delta, member: piece}}),
            )?;
        }
        self.last = pieces.concat();
        self.whole(&id, &json!({"type": block, member: self.last}))?;
        self.wire.delta(&json!({"type": "content_block_stop", "index": 0}))?;
        self.end()
    }

    fn whole(&self, id: &str, block: &Value) -> io::Result<()> {
        let message = json!({"id": id, "model": "mock", "role": "assistant", "content": [block]});
        self.wire.say(json!({"type": "assistant", "message": message, "parent_tool_use_id": null}))
    }

    fn tool(&mut self, tool: &Value) -> io::Result<Flow> {
        let id = self.begin()?;
        self.calls += 1;
        let call = format!("toolu_{}", self.calls);
        let (name, input) = (tool["name"].as_str().unwrap_or_default(), &tool["input"]);
        let block = json!({"type": "tool_use", "id": call, "name": name, "input": {}});
        self.wire.delta(&json!({"type": "content_block_start", "index": 0, "content_block": block}))?;
        self.whole(&id, &json!({"type": "tool_use", "id": call, "name": name, "input": input}))?;
        self.wire.delta(&json!({"type": "content_block_stop", "index": 0}))?;
        self.end()?;
        let mut input = input.clone();
        if tool["ask"] == json!(false) {
            return self.done(&call, name, &input, tool);
        }
        match self.wire.ask(&call, name, &input)? {
            Ok(answer) if answer["behavior"] == "allow" => {
                input = answer["updatedInput"].clone();
                self.done(&call, name, &input, tool)
            }
            Ok(answer) => {
                self.denials.push(json!({"tool_name": name, "tool_use_id": call}));
                self.told(&call, answer["message"].as_str().unwrap_or("denied"), true)?;
                Ok(Flow::Go)
            }
            Err(stopped) => {
                self.told(&call, "The user doesn't want to proceed with this tool use.", true)?;
                self.stop(&stopped)
            }
        }
    }

    /// Does what the tool does.
    fn done(&mut self, call: &str, name: &str, input: &Value, tool: &Value) -> io::Result<Flow> {
        let text = |member: &str| input[member].as_str().unwrap_or_default();
        let (output, failed) = match (tool["result"].as_str(), name) {
            (Some(result), _) => (result.to_owned(), tool["failed"] == json!(true)),
            (None, "Write") => {
                fs::write(text("file_path"), text("content"))?;
                (format!("File created successfully at: {}", text("file_path")), false)
            }
            (None, "Bash") => return self.shell(call, text("command")),
            (None, "AskUserQuestion") => (format!("answers: {}", input["answers"]), false),
            (None, _) => ("ok".to_owned(), false),
        };
        self.told(call, &output, failed)?;
        Ok(Flow::Go)
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a program of its own, which starts its children as it likes"
    )]
    fn shell(&mut self, call: &str, command: &str) -> io::Result<Flow> {
        let mut child = std::process::Command::new("/bin/sh")
            .args(["-c", command])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()?;
        loop {
            if let Some(status) = child.try_wait()? {
                self.told(call, &format!("{status}"), !status.success())?;
                return Ok(Flow::Go);
            }
            if let Some(stopped) = self.wire.pause(Duration::from_millis(20))? {
                child.kill()?;
                child.wait()?;
                return self.stop(&stopped);
            }
        }
    }

    fn told(&self, call: &str, text: &str, failed: bool) -> io::Result<()> {
        let block = json!({"type": "tool_result", "tool_use_id": call, "content": text, "is_error": failed});
        self.wire.say(json!({"type": "user", "message": {"role": "user", "content": [block]}, "parent_tool_use_id": null}))
    }

    fn stop(&mut self, stopped: &Stopped) -> io::Result<Flow> {
        if let Stopped::Interrupted = stopped {
            let errors = ["[ede_diagnostic] interrupted"];
            self.result(&json!({"subtype": "error_during_execution", "is_error": true, "errors": errors}))?;
        }
        Ok(Flow::Exit(1))
    }

    fn result(&self, with: &Value) -> io::Result<()> {
        let usage = json!({"input_tokens": 10, "output_tokens": 7, "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 5});
        let mut result = json!({"type": "result", "subtype": "success", "is_error": false, "stop_reason": "end_turn",
            "result": self.last, "usage": usage, "total_cost_usd": 0.25,
            "modelUsage": {"mock": {"contextWindow": 200_000}}, "permission_denials": self.denials});
        for (name, value) in with.as_object().into_iter().flatten() {
            result[name] = value.clone();
        }
        self.wire.say(result)
    }
}
