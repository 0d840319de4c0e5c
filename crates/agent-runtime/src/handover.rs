//! What one agent is told when it takes over from another, and how the first one asks for that.
//!
//! Pure. Knows nothing of who decides which agent answers, nor of how an agent is reached.

mod brick;

use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

pub use brick::{BRICK_CHARS, brick};

/// What an agent is told beside the conversation when a turn is handed to it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Handover {
    /// Why it is asked, in the words of whoever handed over.
    pub brief: Option<String>,
    /// What the other agent did in this very turn; no history has it yet.
    pub present: String,
    /// What this agent did before, for one that begins anew.
    pub earlier: String,
    /// Whether it is to begin anew: nothing it remembers of this conversation counts.
    pub fresh: bool,
    /// How it can ask for another agent in its turn, where it has no tool for that.
    pub relief: Option<String>,
}

impl Handover {
    /// What is told before the prompt; empty when there is nothing to say.
    #[must_use]
    pub fn preface(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        if let Some(brief) = &self.brief {
            writeln!(text, "[Handed over to you, because: {brief}]").unwrap_or_default();
        }
        for (label, part) in [
            ("What you did here before", &self.earlier),
            ("What the other agent did in this turn", &self.present),
        ] {
            if !part.is_empty() {
                writeln!(text, "[{label}:\n{part}]").unwrap_or_default();
            }
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text
    }
}

/// Where an agent leaves its wish that another one goes on. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct HandoverSlot(Arc<Mutex<Option<String>>>);

impl HandoverSlot {
    /// Asks for it, with the reason. The first wish of a turn counts.
    pub fn ask(&self, reason: impl Into<String>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| reason.into());
    }

    /// Takes the wish.
    #[must_use]
    pub fn take(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_told_and_nothing_else() {
        assert_eq!(Handover::default().preface(), "");
        let handover = Handover {
            brief: Some("too deep".to_owned()),
            present: "[Tool: grep] {}".to_owned(),
            earlier: "User: a".to_owned(),
            fresh: true,
            relief: None,
        };
        insta::assert_snapshot!(handover.preface(), @r"
        [Handed over to you, because: too deep]
        [What you did here before:
        User: a]
        [What the other agent did in this turn:
        [Tool: grep] {}]
        ");
    }

    #[test]
    fn the_first_wish_counts_and_is_taken_once() {
        let slot = HandoverSlot::default();
        assert_eq!(slot.take(), None);
        slot.clone().ask("one");
        slot.ask("two");
        assert_eq!(slot.take().as_deref(), Some("one"));
        assert_eq!(slot.take(), None);
    }
}
