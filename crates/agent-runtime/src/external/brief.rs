//! What an external agent is told beside the prompt: where it is, what the user wants it to know, how it can be relieved,
//! and what happened in the conversation without it. The first part never changes, so that a prompt cache hits.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use tempfile::NamedTempFile;

const HOST: &str = "You are run by milk, which shows your answers in the user's editor. The conversation is shared: \
another agent may have answered earlier turns and may answer later ones, and both see the same history. Your \
process ends with your answer, so start nothing in the background that has to outlive it.";

/// What happened without it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Told<'a> {
    /// In words; may be empty.
    pub(super) text: &'a str,
    /// Whether it knows what was before.
    pub(super) resumed: bool,
}

/// The words of the brief.
pub(super) fn words(instructions: Option<&str>, relief: Option<&str>, told: &Told<'_>) -> String {
    let mut words = format!("{HOST}\n");
    for part in [instructions, relief].into_iter().flatten() {
        write!(words, "\n{}\n", part.trim()).unwrap_or_default();
    }
    let Told { text: told, resumed } = *told;
    if !told.is_empty() {
        let heading = if resumed { "Meanwhile, without you" } else { "The conversation so far" };
        write!(words, "\n# {heading}\n\n{told}\n").unwrap_or_default();
    }
    words
}

/// A file with this text, readable by nobody else; removed when dropped. Blocks.
pub(super) fn file(suffix: &str, text: &str) -> io::Result<NamedTempFile> {
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
        assert_eq!(words(None, None, &Told::default()), format!("{HOST}\n"));
        let so_far = Told { text: "USER: x", resumed: false };
        let told = words(Some("Be kind.\n"), Some("Say so."), &so_far);
        assert_eq!(told, format!("{HOST}\n\nBe kind.\n\nSay so.\n\n# The conversation so far\n\nUSER: x\n"));
        let meanwhile = Told { resumed: true, ..so_far };
        assert!(words(None, None, &meanwhile).contains("# Meanwhile, without you\n"));
    }
}
