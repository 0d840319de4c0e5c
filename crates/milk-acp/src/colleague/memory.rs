//! Which session of another agent belongs to which of ours, kept in the folder that goes with ours: so that it can be taken
//! up after a restart.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde_json::{Value, json};
use session_model::{AgentId, SessionId, TurnId};

/// Where it is kept; nowhere when there is no folder.
#[derive(Debug, Clone, Default)]
pub(crate) struct Memory(Option<PathBuf>);

/// A session of another agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Remembered {
    /// The agent's own name for it.
    pub(super) id: String,
    /// The last turn of ours that it knows.
    pub(super) turn: TurnId,
}

impl Memory {
    /// Kept below `folder`, which holds a folder for each session.
    pub(crate) fn new(folder: Option<&Path>) -> Self {
        Self(folder.map(Path::to_owned))
    }

    fn file(&self, session: &SessionId, agent: &AgentId) -> Option<PathBuf> {
        // Whatever stands in a name must not lead elsewhere, and two names must not meet.
        let name = agent.as_str().bytes().take(100).fold(String::new(), |mut name, byte| {
            // Writing to a string cannot fail.
            let _ = write!(name, "{byte:02x}");
            name
        });
        Some(self.0.as_ref()?.join(session.file_name()).join(format!("agent-{name}.json")))
    }

    /// The session of `agent` in ours, if one is remembered.
    pub(super) async fn recall(&self, session: &SessionId, agent: &AgentId) -> Option<Remembered> {
        let file = self.file(session, agent)?;
        let text = tokio::task::spawn_blocking(move || fs::read_to_string(file)).await.ok()?.ok()?;
        let kept: Value = serde_json::from_str(&text).ok()?;
        Some(Remembered { id: kept["session"].as_str()?.to_owned(), turn: kept["turn"].as_str()?.into() })
    }

    /// Remembers a session. That it cannot be costs no more than a new one after a restart.
    pub(super) async fn keep(&self, session: &SessionId, agent: &AgentId, kept: Remembered) {
        let Some(file) = self.file(session, agent) else { return };
        let text = json!({"session": kept.id, "turn": kept.turn.as_str()}).to_string();
        let written = tokio::task::spawn_blocking(move || write(&file, &text)).await;
        if let Ok(Err(error)) = written {
            tracing::warn!(%error, "another agent's session could not be remembered");
        }
    }
}

/// Replaces the file whole, so that no crash leaves half of it.
fn write(file: &Path, text: &str) -> io::Result<()> {
    let folder = file.parent().unwrap_or(file);
    fs::create_dir_all(folder)?;
    let new = file.with_extension("new");
    fs::write(&new, text)?;
    fs::rename(&new, file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn each_agent_of_each_session_has_its_own_whatever_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let memory = Memory::new(Some(folder.path()));
        let of = |id: &str| Remembered { id: id.to_owned(), turn: TurnId::from("t") };
        let (session, other) = (SessionId::from("s"), SessionId::from("s2"));
        let (agent, odd) = (AgentId::from("a"), AgentId::from("../../a"));
        assert_eq!(memory.recall(&session, &agent).await, None);
        memory.keep(&session, &agent, of("1")).await;
        memory.keep(&session, &odd, of("2")).await;
        memory.keep(&session, &agent, of("3")).await;
        let clone = memory.clone();
        assert_eq!(clone.recall(&session, &agent).await, Some(of("3")));
        assert_eq!(clone.recall(&session, &odd).await, Some(of("2")));
        assert_eq!(clone.recall(&other, &agent).await, None);
        let inside: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(inside.len(), 1, "{inside:?}");
        Memory::new(None).keep(&session, &agent, of("4")).await;
    }

    #[tokio::test]
    async fn what_is_no_record_is_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let memory = Memory::new(Some(folder.path()));
        let (session, agent) = (SessionId::from("s"), AgentId::from("a"));
        let file = memory.file(&session, &agent).unwrap();
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        for text in ["", "{}", "[1]", "{\"session\": 3}"] {
            fs::write(&file, text).unwrap();
            assert_eq!(memory.recall(&session, &agent).await, None, "{text}");
        }
    }
}
