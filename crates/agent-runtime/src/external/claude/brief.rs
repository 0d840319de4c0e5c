//! What Claude Code is told beside the prompt: where it is, what the user wants it to know, and what happened in the
//! conversation without it. The first part never changes, so that a prompt cache hits.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use serde_json::{Map, Value};
use tempfile::NamedTempFile;

const HOST: &str = "You are run by milk, which shows your answers in the user's editor. The conversation is shared: \
another agent may have answered earlier turns and may answer later ones, and both see the same history. Your \
process ends with your answer, so start nothing in the background that has to outlive it.";

/// The words of the brief.
pub(super) fn words(instructions: Option<&str>, told: &str, resumed: bool) -> String {
    let mut words = format!("{HOST}\n");
    if let Some(instructions) = instructions {
        write!(words, "\n{}\n", instructions.trim()).unwrap_or_default();
    }
    if !told.is_empty() {
        let heading = if resumed { "Meanwhile, without you" } else { "The conversation so far" };
        write!(words, "\n# {heading}\n\n{told}\n").unwrap_or_default();
    }
    words
}

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

fn file(suffix: &str, text: &str) -> io::Result<NamedTempFile> {
    let mut file = tempfile::Builder::new().prefix("milk-").suffix(suffix).tempfile()?;
    file.write_all(text.as_bytes())?;
    file.flush()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_brief_begins_the_same_and_ends_in_what_is_new() {
        assert_eq!(words(None, "", false), format!("{HOST}\n"));
        let told = words(Some("Be kind.\n"), "USER: x", false);
        assert_eq!(told, format!("{HOST}\n\nBe kind.\n\n# The conversation so far\n\nUSER: x\n"));
        assert!(words(None, "USER: x", true).contains("# Meanwhile, without you\n"));
    }
}
