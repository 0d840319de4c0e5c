//! Claude Code as the agent, played by a stand-in that speaks its protocol: real processes behind the server, both
//! protocol versions.

mod permission;
mod questions;
mod trouble;
mod turns;

use std::path::PathBuf;
use std::sync::Arc;

use agent_runtime::external::claude::{ClaudeCli, ClaudeConfig};
use agent_runtime::external::{Conversations, Variables};
use milk_tests::client::Client;
use milk_tests::rig::Rig;
use milk_tests::schema::Version;
use serde_json::{Value, json};

/// A server whose agent is the stand-in, and what that one was told.
struct Scene {
    rig: Rig,
    folder: tempfile::TempDir,
}

impl Scene {
    /// The stand-in follows this script.
    fn new(script: &Value) -> Self {
        Self::with(script, |config| config)
    }

    fn with(script: &Value, change: impl FnOnce(ClaudeConfig) -> ClaudeConfig) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("script.json"), script.to_string()).expect("a script");
        let config = change(config(&folder));
        let rig =
            Rig::driven("claude", |ids| Arc::new(ClaudeCli::new(config, Conversations::default(), ids)));
        Self { rig, folder }
    }

    /// The server after a restart.
    fn again(&self) -> Rig {
        let config = config(&self.folder);
        self.rig.after("claude", |ids| Arc::new(ClaudeCli::new(config, Conversations::default(), ids)))
    }

    /// What each run of the stand-in was started with and told.
    fn runs(&self) -> Vec<Value> {
        let runs = std::fs::read_to_string(self.folder.path().join("runs.jsonl")).unwrap_or_default();
        runs.lines().map(|run| serde_json::from_str(run).expect("a record")).collect()
    }

    /// The stand-in remembers no conversation any more.
    fn forget(&self) {
        std::fs::remove_dir_all(self.folder.path().join("conversations")).expect("it had some");
    }

    fn path(&self, name: &str) -> PathBuf {
        self.rig.cwd().join(name)
    }

    /// A step: the stand-in writes a file, after asking.
    fn write(&self, name: &str, content: &str) -> Value {
        json!({"tool": {"name": "Write", "input": {"file_path": self.path(name), "content": content}}})
    }

    /// Has a script made that needs the session's folder.
    fn script(&self, script: &Value) {
        std::fs::write(self.folder.path().join("script.json"), script.to_string()).expect("a script");
    }
}

fn config(folder: &tempfile::TempDir) -> ClaudeConfig {
    ClaudeConfig {
        bin: env!("CARGO_BIN_EXE_mock_claude").to_owned(),
        env: Variables(vec![("MOCK_CLAUDE".to_owned(), folder.path().display().to_string())]),
        ..ClaudeConfig::new("claude")
    }
}

/// A step: the stand-in runs a command, after asking.
fn bash(command: &str) -> Value {
    json!({"tool": {"name": "Bash", "input": {"command": command, "description": "d"}}})
}

/// The argument after `name`.
fn option<'a>(run: &'a Value, name: &str) -> Option<&'a str> {
    let argv = run["argv"].as_array().expect("a list");
    let at = argv.iter().position(|argument| argument == name)?;
    argv[at + 1].as_str()
}

/// The tool call that a permission request is about.
fn subject(params: &Value) -> &Value {
    if params["toolCall"].is_object() { &params["toolCall"] } else { &params["subject"]["toolCall"] }
}

/// Prompts, and waits for a permission request: the prompt's id, the request's, and its params.
async fn asked(client: &mut Client, session: &str, text: &str) -> (Value, Value, Value) {
    let prompt = client.prompt(session, text).await;
    let (id, params) = client.request("session/request_permission").await;
    (prompt, id, params)
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

/// What the last update of a row with this status says, among all that came and was not claimed.
fn row(lines: &[Value], status: &str) -> Value {
    let updates = lines.iter().rev().map(|line| &line["params"]["update"]);
    updates.into_iter().find(|update| update["status"] == status).cloned().unwrap_or_default()
}
