//! Another agent that speaks the protocol, played by a program that follows a script: real processes behind the server.

mod host;
mod peers;
mod permission;
mod second;
mod session;
mod trouble;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use milk_acp::drivers::Drivers;
use milk_acp::settings::{ConfiguredDrivers, HttpDetector, Loader};
use milk_tests::client::Client;
use milk_tests::rig::Rig;
use milk_tests::schema::Version;
use serde_json::{Value, json};
use session_model::source::SequentialIds;

/// A server whose agent follows a script, and what that one heard.
struct Scene {
    rig: Rig,
    folder: tempfile::TempDir,
}

impl Scene {
    /// The agent follows this script.
    fn new(script: &Value) -> Self {
        Self::with(script, json!({}), json!({}))
    }

    /// With further members of the agent's entry, and of the configuration.
    fn with(script: &Value, entry: Value, config: Value) -> Self {
        Self::build(script, |agent| {
            merge(agent, entry);
            let mut document = json!({"agent": "other", "agents": [agent]});
            merge(&mut document, config);
            document
        })
    }

    /// As the escalation agent of another one.
    fn beside(script: &Value, primary: &Value) -> Self {
        Self::build(
            script,
            |agent| json!({"agent": primary["name"], "escalation_agent": "other", "agents": [primary, agent]}),
        )
    }

    /// With the configuration that is made of the agent's entry.
    fn build(script: &Value, config: impl FnOnce(&mut Value) -> Value) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut agent = json!({"name": "other", "provider": "acp", "bin": env!("CARGO_BIN_EXE_mock_agent"),
            "env": {"MOCK_AGENT": folder.path()}});
        let document = config(&mut agent);
        std::fs::write(folder.path().join("config.json"), document.to_string()).expect("a configuration");
        let rig = Rig::served_by(drivers(folder.path()));
        let scene = Self { rig, folder };
        scene.script(script);
        scene
    }

    /// The server after a restart.
    fn again(&self) -> Rig {
        self.rig.served_next(drivers(self.folder.path()))
    }

    /// Has the agent follow this script from its next start on.
    fn script(&self, script: &Value) {
        std::fs::write(self.folder.path().join("script.json"), script.to_string()).expect("a script");
    }

    /// Everything the agent heard, in all its processes.
    fn heard(&self) -> Vec<Value> {
        let heard = std::fs::read_to_string(self.folder.path().join("heard.jsonl")).unwrap_or_default();
        heard.lines().map(|line| serde_json::from_str(line).expect("a record")).collect()
    }

    /// The params of all requests of this method that the agent heard.
    fn requests(&self, method: &str) -> Vec<Value> {
        let of = |line: Value| (line["method"] == method).then(|| line["params"].clone());
        self.heard().into_iter().filter_map(of).collect()
    }

    /// The answer to the agent's n-th question, from 1: its `result` or `error`.
    fn answer(&self, number: usize) -> Value {
        let id = format!("ask-{number}");
        let heard = self.heard();
        let line = heard.iter().find(|line| line["id"] == id.as_str() && line["method"].is_null());
        line.unwrap_or_else(|| panic!("no answer to {id}: {heard:?}")).clone()
    }

    /// The option that the n-th question was answered with, if any.
    fn chosen(&self, number: usize) -> Value {
        self.answer(number)["result"]["outcome"]["optionId"].clone()
    }

    /// The same server, whose prompts may hold all that the program's may.
    fn taking_all(self) -> Self {
        Self { rig: self.rig.taking_all(), ..self }
    }

    /// Has the agent's wait for this file end.
    fn mark(&self, name: &str) {
        std::fs::write(self.folder.path().join(name), "").expect("written");
    }

    /// Waits until the agent has heard this.
    async fn until(&self, heard: impl Fn(&[Value]) -> bool) {
        soon(|| heard(&self.heard())).await;
    }

    fn path(&self, name: &str) -> PathBuf {
        self.rig.cwd().join(name)
    }
}

/// Waits until something is so that no other wait tells of.
async fn soon(is_so: impl Fn() -> bool) {
    let mut beat = tokio::time::interval(Duration::from_millis(5));
    let wait = async {
        while !is_so() {
            beat.tick().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), wait).await.expect("in time");
}

/// What makes the agents that are configured in this folder.
fn drivers(folder: &Path) -> Arc<dyn Drivers> {
    let loader = Loader::new(Some(folder.join("config.json")), false, None);
    let detector = Arc::new(HttpDetector::new(Vec::new()));
    let ids = Arc::<SequentialIds>::default();
    let drivers = ConfiguredDrivers::new(loader, Arc::new(|_: &str| None), detector, ids);
    Arc::new(drivers.with_outputs(Some(folder.join("outputs"))))
}

/// Lays the members of `more` over those of `object`.
fn merge(object: &mut Value, more: Value) {
    if let (Some(object), Value::Object(more)) = (object.as_object_mut(), more) {
        object.extend(more);
    }
}

/// A step: leave is asked for this call, with the usual options.
fn leave(call: &Value) -> Value {
    let options = json!([
        {"optionId": "once", "name": "Yes", "kind": "allow_once"},
        {"optionId": "always", "name": "Yes, and do not ask me again", "kind": "allow_always"},
        {"optionId": "no", "name": "No", "kind": "reject_once"},
    ]);
    json!({"ask": {"method": "session/request_permission", "params": {"toolCall": call, "options": options}}})
}

/// The tool call that a permission request is about.
fn subject(params: &Value) -> &Value {
    if params["toolCall"].is_object() { &params["toolCall"] } else { &params["subject"]["toolCall"] }
}

/// Waits for the end of the turn: its stop reason, or the error.
async fn ended(client: &mut Client, prompt: &Value) -> Result<String, Value> {
    let result = client.response(prompt).await;
    if client.version() == Version::V1 {
        return Ok(result?["stopReason"].as_str().unwrap_or_default().to_owned());
    }
    loop {
        let state = client.update("state_update").await;
        if state["state"] == "idle" {
            return result.map(|_| state["stopReason"].as_str().unwrap_or_default().to_owned());
        }
    }
}
