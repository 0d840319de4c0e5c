//! A conversation about one session, and what its updates add up to.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use milk_tests::client::Client;
use milk_tests::schema::Version;
use serde_json::{Value, json};

use crate::program::{Home, Program, in_time};

/// A client, its session and the updates it saw.
pub(crate) struct Talk {
    pub(crate) client: Client,
    pub(crate) session: String,
    /// In the order they came.
    pub(crate) seen: Vec<Value>,
    /// What else came and nobody waited for.
    pub(crate) rest: Vec<Value>,
}

/// Starts `milk serve` and says hello.
pub(crate) async fn connect(home: &Home, version: Version) -> (Program, Client) {
    let (program, stdout, stdin) = Program::start(home.serve());
    let mut client = Client::new(version, stdout, stdin);
    in_time(client.initialize()).await;
    (program, client)
}

impl Talk {
    /// With a new session in a new process.
    pub(crate) async fn start(home: &Home, version: Version) -> (Program, Self) {
        let (program, mut client) = connect(home, version).await;
        let session = in_time(client.new_session(&home.work())).await;
        (program, Self { client, session, seen: Vec::new(), rest: Vec::new() })
    }

    /// With a stored session in a new process; `seen` is the replay.
    pub(crate) async fn reopen(home: &Home, version: Version, session: &str) -> (Program, Self) {
        let (program, client) = connect(home, version).await;
        let mut talk = Self { client, session: session.to_owned(), seen: Vec::new(), rest: Vec::new() };
        talk.replay(home).await.expect("it opens");
        (program, talk)
    }

    /// Asks for the whole history; `seen` is it.
    pub(crate) async fn replay(&mut self, home: &Home) -> Result<Value, Value> {
        let (method, mut params) = match self.client.version() {
            Version::V1 => ("session/load", json!({ "mcpServers": [] })),
            Version::V2 => ("session/resume", json!({ "replayFrom": { "type": "start" } })),
        };
        params["sessionId"] = json!(self.session);
        params["cwd"] = json!(home.work());
        self.client.take_unclaimed();
        let result = in_time(self.client.call(method, params)).await;
        self.seen.clear();
        self.collect();
        result
    }

    /// Sends a prompt and waits for its answer.
    pub(crate) async fn ask(&mut self, text: &str) -> Value {
        let id = self.client.prompt(&self.session, text).await;
        let answer = in_time(self.client.response(&id)).await.expect("answered");
        self.collect();
        answer
    }

    /// Waits for an update like this; keeps those before it.
    pub(crate) async fn see(&mut self, wanted: impl Fn(&[Value]) -> bool) {
        while !wanted(&self.seen) {
            let mut params = in_time(self.client.notification("session/update")).await;
            self.seen.push(params["update"].take());
        }
    }

    /// Waits until the agent's text so far ends so.
    pub(crate) async fn see_text(&mut self, wanted: &str) {
        self.see(|seen| {
            let said: String =
                items(seen).iter().filter(|item| item.role == "agent").map(|i| &*i.text).collect();
            said.ends_with(wanted)
        })
        .await;
    }

    /// Waits for the next request for permission and grants it once.
    pub(crate) async fn allow(&mut self) {
        let (id, _) = in_time(self.client.request("session/request_permission")).await;
        self.client.choose(&id, "allow").await;
    }

    /// Waits until the running tool wrote `pid=<n>`: the n.
    pub(crate) async fn tool_pid(&mut self) -> i32 {
        self.see(|seen| seen.iter().any(|update| printed_pid(update).is_some())).await;
        self.seen.iter().find_map(printed_pid).expect("it was there")
    }

    /// How many answers came that nobody waited for.
    pub(crate) fn answers_left(&self) -> usize {
        self.rest.iter().filter(|line| line.get("method").is_none() && line.get("result").is_some()).count()
    }

    /// Adds the updates that came meanwhile to `seen`.
    pub(crate) fn collect(&mut self) {
        for mut line in self.client.take_unclaimed() {
            if line["method"] == "session/update" {
                self.seen.push(line["params"]["update"].take());
            } else {
                self.rest.push(line);
            }
        }
    }
}

fn printed_pid(update: &Value) -> Option<i32> {
    let output = update["data"].as_str().and_then(|data| BASE64_STANDARD.decode(data).ok());
    let text = match output {
        Some(output) => String::from_utf8_lossy(&output).into_owned(),
        None => update.to_string(),
    };
    let digits = text.split("pid=").filter_map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        rest[..end].parse().ok()
    });
    digits.into_iter().next()
}

/// A message or tool row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) id: String,
    /// `user`, `agent`, `thought` or `tool`.
    pub(crate) role: &'static str,
    /// A message's text, a row's title.
    pub(crate) text: String,
    /// A row's status.
    pub(crate) status: String,
}

impl Item {
    /// Whether a row is as it will stay.
    pub(crate) fn is_final(&self) -> bool {
        ["completed", "failed", "cancelled"].contains(&&*self.status)
    }
}

/// What updates add up to, in the order of first mention.
pub(crate) fn items(updates: &[Value]) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    for update in updates {
        let kind = update["sessionUpdate"].as_str().unwrap_or_default();
        let (role, id) = match kind {
            "user_message" | "user_message_chunk" => ("user", &update["messageId"]),
            "agent_message" | "agent_message_chunk" => ("agent", &update["messageId"]),
            "agent_thought" | "agent_thought_chunk" => ("thought", &update["messageId"]),
            "tool_call" | "tool_call_update" => ("tool", &update["toolCallId"]),
            _ => continue,
        };
        let id = id.as_str().expect("an id");
        let at = items.iter().position(|item| item.id == id && item.role == role).unwrap_or_else(|| {
            let new = Item { id: id.to_owned(), role, text: String::new(), status: String::new() };
            items.push(new);
            items.len() - 1
        });
        let item = &mut items[at];
        if role == "tool" {
            let known = |name: &str, old: &str| update[name].as_str().unwrap_or(old).to_owned();
            (item.text, item.status) = (known("title", &item.text), known("status", &item.status));
        } else if let Some(text) = update["content"]["text"].as_str() {
            item.text.push_str(text);
        } else if let Some(blocks) = update["content"].as_array() {
            item.text = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
        }
    }
    items
}
