//! The lines of the stand-in: written at once, read by a thread of their own, so that an interruption is seen whatever
//! it does.

use std::io::{self, BufRead as _, Write as _};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

use serde_json::{Value, json};

pub(crate) struct Wire {
    lines: Receiver<Value>,
    id: String,
    requests: u32,
}

/// Somebody wants it to stop, or nobody is there any more.
pub(crate) enum Stopped {
    Interrupted,
    Alone,
}

impl Wire {
    pub(crate) fn start(id: &str) -> io::Result<Self> {
        // Each line is answered before the next one comes.
        let (sender, lines) = mpsc::sync_channel(64);
        std::thread::Builder::new().spawn(move || {
            for line in io::stdin().lock().lines().map_while(Result::ok) {
                let Ok(line) = serde_json::from_str(&line) else { continue };
                if sender.send(line).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { lines, id: id.to_owned(), requests: 0 })
    }

    /// Says a line; its conversation is added.
    pub(crate) fn say(&self, mut line: Value) -> io::Result<()> {
        line["session_id"] = self.id.as_str().into();
        Self::raw(&line.to_string())
    }

    pub(crate) fn raw(line: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(line.as_bytes())?;
        out.write_all(b"\n")?;
        out.flush()
    }

    pub(crate) fn delta(&self, event: &Value) -> io::Result<()> {
        self.say(json!({"type": "stream_event", "event": event, "parent_tool_use_id": null}))
    }

    /// Waits for the first request and the prompt, which it gives.
    pub(crate) fn greet(&mut self) -> io::Result<Value> {
        loop {
            let Ok(line) = self.lines.recv() else { return Ok(Value::Null) };
            match line["type"].as_str() {
                Some("control_request") => self.accept(&line)?,
                Some("user") => {
                    self.say(json!({"type": "system", "subtype": "init", "model": "mock", "tools": ["Write", "Bash"]}))?;
                    return Ok(line["message"]["content"].clone());
                }
                Some(_) | None => {}
            }
        }
    }

    fn accept(&self, line: &Value) -> io::Result<()> {
        let response =
            json!({"subtype": "success", "request_id": line["request_id"], "response": {"commands": []}});
        self.say(json!({"type": "control_response", "response": response}))
    }

    /// Asks for leave and waits for the answer.
    pub(crate) fn ask(
        &mut self,
        call: &str,
        name: &str,
        input: &Value,
    ) -> io::Result<Result<Value, Stopped>> {
        self.requests += 1;
        let request = format!("ask-{}", self.requests);
        let asked = json!({"subtype": "can_use_tool", "tool_name": name, "display_name": name, "input": input,
            "tool_use_id": call, "permission_suggestions": []});
        Self::raw(&json!({"type": "control_request", "request_id": request, "request": asked}).to_string())?;
        loop {
            match self.lines.recv() {
                Err(_) => return Ok(Err(Stopped::Alone)),
                Ok(line)
                    if line["type"] == "control_response" && line["response"]["request_id"] == request =>
                {
                    return Ok(Ok(line["response"]["response"].clone()));
                }
                Ok(line) => {
                    if let Some(stopped) = self.interruption(&line)? {
                        Self::raw(
                            &json!({"type": "control_cancel_request", "request_id": request}).to_string(),
                        )?;
                        return Ok(Err(stopped));
                    }
                }
            }
        }
    }

    /// Waits for a time, or for whoever wants it to stop.
    pub(crate) fn pause(&mut self, time: Duration) -> io::Result<Option<Stopped>> {
        match self.lines.recv_timeout(time) {
            Ok(line) => self.interruption(&line),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Ok(Some(Stopped::Alone)),
        }
    }

    fn interruption(&self, line: &Value) -> io::Result<Option<Stopped>> {
        if line["type"] != "control_request" || line["request"]["subtype"] != "interrupt" {
            return Ok(None);
        }
        let response = json!({"subtype": "success", "request_id": line["request_id"]});
        self.say(json!({"type": "control_response", "response": response}))?;
        Ok(Some(Stopped::Interrupted))
    }

    /// Waits until nobody writes any more.
    pub(crate) fn until_alone(&self) {
        while self.lines.recv().is_ok() {}
    }
}
