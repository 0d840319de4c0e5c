//! Programs that are run once a turn as agents, played by scripts: real processes behind the server and its
//! configuration, both protocol versions.

mod aider;
mod peer;
mod relief;
mod subprocess;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use milk_acp::settings::{ConfiguredDrivers, HttpDetector, Loader};
use milk_tests::client::Client;
use milk_tests::rig::Rig;
use milk_tests::schema::Version;
use serde_json::{Value, json};
use session_model::source::SequentialIds;

/// A server whose configured agents are stand-ins, and what those do and noted.
struct Scene {
    rig: Rig,
    folder: tempfile::TempDir,
}

impl Scene {
    /// A server with this configuration; `$SCENE` in an agent's `env` is the scene's folder. The stand-ins play `plays`,
    /// one a run, and the first one when there are no more.
    fn new(config: &Value, plays: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let place = folder.path().display().to_string();
        for (number, play) in plays.iter().enumerate() {
            fs::write(folder.path().join(format!("play{number}.sh")), play).expect("written");
        }
        let file = folder.path().join("config.json");
        fs::write(&file, config.to_string()).expect("written");
        let loader = Loader::new(Some(file), false, None);
        let lookup = move |name: &str| (name == "SCENE").then(|| place.clone());
        let detector = Arc::new(HttpDetector::new(Vec::new()));
        let drivers =
            ConfiguredDrivers::new(loader, Arc::new(lookup), detector, Arc::<SequentialIds>::default());
        Self { rig: Rig::served_by(Arc::new(drivers)), folder }
    }

    /// What run `number` noted under this name.
    fn noted(&self, number: usize, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(format!("run{number}")).join(name)).unwrap_or_default()
    }

    /// How many runs there were.
    fn runs(&self) -> usize {
        (0..100).take_while(|number| self.folder.path().join(format!("run{number}")).exists()).count()
    }

    /// Whether the process of a run is there.
    fn is_alive(&self, number: usize) -> bool {
        let pid = self.noted(number, "pid").trim().parse().expect("a process id");
        let pid = rustix::process::Pid::from_raw(pid).expect("a process id");
        rustix::process::test_kill_process(pid).is_ok()
    }
}

fn stand_in(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/programs").join(name)
}

/// A configuration with one agent that is the stand-in `script`, and further members of its entry.
fn only(name: &str, provider: &str, script: &str, more: &Value) -> Value {
    json!({ "agent": name, "agents": [entry(name, provider, script, more)], "permissions": {"allow": [name]} })
}

fn entry(name: &str, provider: &str, script: &str, more: &Value) -> Value {
    let mut entry =
        json!({"name": name, "provider": provider, "bin": stand_in(script), "env": {"SCENE": "$SCENE"}});
    for (member, value) in more.as_object().into_iter().flatten() {
        match (entry.get_mut(member), value) {
            (Some(Value::Object(known)), Value::Object(more)) => known.extend(more.clone()),
            _ => entry[member] = value.clone(),
        }
    }
    entry
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

/// What a turn's error says.
fn cause(error: &Value) -> (String, String) {
    let text = |name: &str| error["data"][name].as_str().unwrap_or_default().to_owned();
    (text("runtimeCode"), text("error"))
}

/// The rows that were told, each with the newest of its members, in order.
fn rows(lines: &[Value]) -> Vec<Value> {
    let mut rows: Vec<Value> = Vec::new();
    for update in lines.iter().map(|line| &line["params"]["update"]) {
        if !update["sessionUpdate"].as_str().is_some_and(|kind| kind.starts_with("tool_call")) {
            continue;
        }
        let known = rows.iter_mut().find(|row| row["toolCallId"] == update["toolCallId"]);
        match known {
            Some(row) => {
                for (member, value) in update.as_object().into_iter().flatten() {
                    row[member] = value.clone();
                }
            }
            None => rows.push(update.clone()),
        }
    }
    rows
}
