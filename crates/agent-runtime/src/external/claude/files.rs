//! The files that a run of Claude Code reads at its start.

use std::io;

use serde_json::{Map, Value};
use tempfile::NamedTempFile;

use crate::external::brief::file;

/// Files that a run reads at its start; removed when dropped.
#[derive(Debug)]
pub(super) struct Files {
    pub(super) context: NamedTempFile,
    pub(super) settings: Option<NamedTempFile>,
}

impl Files {
    /// Writes them, readable by nobody else. Blocks.
    pub(super) fn write(words: &str, settings: &Map<String, Value>) -> io::Result<Self> {
        let settings = if settings.is_empty() {
            None
        } else {
            Some(file(".json", &Value::Object(settings.clone()).to_string())?)
        };
        Ok(Self { context: file(".md", words)?, settings })
    }
}
