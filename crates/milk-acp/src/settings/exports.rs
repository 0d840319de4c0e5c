//! What the `export_session` tool writes out: the store's conversations, without secrets.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use agent_runtime::redact::Redactor;
use agent_runtime::tools::export_session::{Form, Transcripts};
use async_trait::async_trait;
use session_model::SessionId;
use session_store::SessionStore;

use super::drivers::ConfiguredDrivers;
use crate::transcript;

/// The conversations of one session's store.
pub(super) struct StoredTranscripts {
    pub(super) store: Arc<dyn SessionStore>,
    pub(super) drivers: ConfiguredDrivers,
    pub(super) cwd: PathBuf,
    /// The session's own, so that its marks are those the model knows.
    pub(super) redactor: Arc<Redactor>,
}

impl fmt::Debug for StoredTranscripts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredTranscripts").field("cwd", &self.cwd).finish_non_exhaustive()
    }
}

#[async_trait]
impl Transcripts for StoredTranscripts {
    async fn document(&self, session: &SessionId, form: Form) -> Result<String, String> {
        let failed = |error| format!("the conversation cannot be exported: {error}");
        let stored = self.store.load(session).await.map_err(failed)?;
        let redactor = self.drivers.hiding_in(&self.cwd, &self.redactor);
        transcript::document(&stored, form, redactor.as_deref()).map_err(failed)
    }
}
