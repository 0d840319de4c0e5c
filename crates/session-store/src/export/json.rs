//! The JSON form.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use session_model::SessionId;
use time::OffsetDateTime;

use super::turns::{self, GoTurn, MILK};
use crate::error::StoreError;
use crate::meta::{SessionMeta, StoredSession};

/// A session file of the Go milk, as far as it has a meaning here.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct GoSession {
    pub(super) id: SessionId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    pub(super) cwd: String,
    #[serde(with = "time::serde::rfc3339")]
    pub(super) created_at: OffsetDateTime,
    #[serde(with = "time::serde::rfc3339")]
    pub(super) last_used: OffsetDateTime,
    #[serde(default)]
    pub(super) state: String,
    #[serde(default)]
    pub(super) history: Vec<GoTurn>,
    /// Ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) milk_acp: Option<Whole>,
}

/// Everything, in our own terms.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Whole {
    pub(super) format: u32,
    pub(super) meta: SessionMeta,
    /// Read one by one: a bad entry costs itself.
    pub(super) entries: Vec<Value>,
}

/// The format of [`Whole`] this build writes.
pub(super) const FORMAT: u32 = 1;
/// No turn is under way in a session that is exported.
pub(super) const STATE: &str = "ROUTING";

/// The session as JSON, indented by two spaces: the Go milk's keys, and under `milk_acp` all of it.
///
/// # Errors
/// [`StoreError::Failed`] when the folder's name is not valid Unicode.
pub fn json(session: &StoredSession) -> Result<String, StoreError> {
    let meta = &session.meta;
    let failed =
        |error: serde_json::Error| StoreError::Failed(format!("the session cannot be exported: {error}"));
    let entries =
        session.entries.iter().map(serde_json::to_value).collect::<Result<_, _>>().map_err(failed)?;
    let mut history = turns::turns(&session.entries);
    history.retain(|turn| turn.role != MILK);
    let file = GoSession {
        id: meta.id.clone(),
        name: meta.name.clone(),
        cwd: meta.cwd.to_string_lossy().into_owned(),
        created_at: meta.created_at,
        last_used: meta.updated_at,
        state: STATE.to_owned(),
        history,
        milk_acp: Some(Whole { format: FORMAT, meta: meta.clone(), entries }),
    };
    serde_json::to_string_pretty(&file).map_err(failed)
}
