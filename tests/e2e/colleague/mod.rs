//! Another agent that speaks the protocol, played by a program that follows a script: real processes behind the server.

mod permission;

use std::sync::Arc;

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
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut agent = json!({"name": "other", "provider": "acp", "bin": env!("CARGO_BIN_EXE_mock_agent"),
            "env": {"MOCK_AGENT": folder.path()}});
        merge(&mut agent, entry);
        let mut document = json!({"agent": "other", "agents": [agent]});
        merge(&mut document, config);
        let file = folder.path().join("config.json");
        std::fs::write(&file, document.to_string()).expect("a configuration");
        let loader = Loader::new(Some(file), false, None);
        let detector = Arc::new(HttpDetector::new(Vec::new()));
        let ids = Arc::<SequentialIds>::default();
        let drivers = ConfiguredDrivers::new(loader, Arc::new(|_: &str| None), detector, ids);
        let scene = Self { rig: Rig::served_by(Arc::new(drivers)), folder };
        scene.script(script);
        scene
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
