//! The host side of a client of version 1: files with unsaved text, terminals whose commands end as the test says, and a
//! user who allows everything. Keeps a record of what it was asked.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Value, json};

use crate::client::{Client, Incoming};

/// An editor.
#[derive(Debug, Default)]
pub struct Editor {
    /// Its files, by absolute path.
    pub files: BTreeMap<String, String>,
    /// What the next requests of a method are answered with instead; an error when it has a `code`, nothing at all when
    /// null.
    pub scripted: BTreeMap<&'static str, VecDeque<Value>>,
    /// What its commands print.
    pub prints: String,
    /// How its commands end.
    pub exit: Value,
    /// Everything it was asked, in order: the method, and its params.
    pub asked: Vec<(String, Value)>,
    terminals: usize,
}

impl Editor {
    /// An editor whose commands succeed.
    #[must_use]
    pub fn new() -> Self {
        Self { exit: json!({ "exitCode": 0 }), ..Self::default() }
    }

    /// What v1's `initialize` says of it.
    #[must_use]
    pub fn hello(read: bool, write: bool, terminal: bool) -> Value {
        json!({
            "protocolVersion": 1,
            "clientCapabilities": {
                "fs": { "readTextFile": read, "writeTextFile": write },
                "terminal": terminal
            }
        })
    }

    /// Answers a method's next request with this instead.
    pub fn script(&mut self, method: &'static str, answer: Value) {
        self.scripted.entry(method).or_default().push_back(answer);
    }

    /// The methods it was asked, without the permissions.
    #[must_use]
    pub fn methods(&self) -> Vec<&str> {
        let asked = self.asked.iter().map(|(method, _)| method.as_str());
        asked.filter(|method| *method != "session/request_permission").collect()
    }

    /// The params of the first request of this method.
    #[must_use]
    pub fn params(&self, method: &str) -> Option<&Value> {
        self.asked.iter().find(|(asked, _)| asked == method).map(|(_, params)| params)
    }

    /// Does what the agent asks until it has answered request `id`.
    ///
    /// # Errors
    /// The error object.
    pub async fn serve(&mut self, client: &mut Client, id: &Value) -> Result<Value, Value> {
        loop {
            match client.incoming(id).await {
                Incoming::Response(outcome) => return outcome,
                Incoming::Request { id, method, params } => self.answer(client, &id, &method, params).await,
            }
        }
    }

    /// Does what the agent asks until it asks for this method, which is left open: its id and params.
    pub async fn serve_up_to(&mut self, client: &mut Client, id: &Value, wanted: &str) -> (Value, Value) {
        loop {
            match client.incoming(id).await {
                Incoming::Response(outcome) => panic!("answered before {wanted}: {outcome:?}"),
                Incoming::Request { id, method, params } if method == wanted => {
                    self.asked.push((method, params.clone()));
                    return (id, params);
                }
                Incoming::Request { id, method, params } => self.answer(client, &id, &method, params).await,
            }
        }
    }

    async fn answer(&mut self, client: &mut Client, id: &Value, method: &str, params: Value) {
        let outcome = self.outcome(method, &params);
        self.asked.push((method.to_owned(), params));
        if outcome.is_null() {
            return;
        }
        match outcome["code"].as_i64() {
            Some(code) => client.refuse(id, code, outcome["message"].as_str().unwrap_or("no")).await,
            None => client.answer(id, outcome).await,
        }
    }

    fn outcome(&mut self, method: &str, params: &Value) -> Value {
        if let Some(scripted) = self.scripted.get_mut(method).and_then(VecDeque::pop_front) {
            return scripted;
        }
        let path = params["path"].as_str().unwrap_or_default();
        match method {
            "session/request_permission" => {
                json!({ "outcome": { "outcome": "selected", "optionId": "allow" } })
            }
            "fs/read_text_file" => match self.files.get(path) {
                Some(text) => json!({ "content": text }),
                None => json!({ "code": -32002, "message": "no such buffer" }),
            },
            "fs/write_text_file" => {
                let text = params["content"].as_str().unwrap_or_default();
                self.files.insert(path.to_owned(), text.to_owned());
                json!({})
            }
            "terminal/create" => {
                self.terminals += 1;
                json!({ "terminalId": format!("term-{}", self.terminals) })
            }
            "terminal/wait_for_exit" => self.exit.clone(),
            "terminal/output" => json!({ "output": self.prints, "truncated": false }),
            "terminal/kill" | "terminal/release" => json!({}),
            other => json!({ "code": -32601, "message": format!("unknown method {other}") }),
        }
    }
}
