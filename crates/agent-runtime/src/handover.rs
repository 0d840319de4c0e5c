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
    /// What the user is after, where that is not simply the prompt. For agents that are not sent the conversation.
    pub need: Option<Need>,
    /// What the other agent did since this one spoke last, this turn included. For agents that are not sent the
    /// conversation itself.
    pub recent: String,
    /// What the other agent did in this very turn; no history has it yet.
    pub present: String,
    /// What this agent did before, for one that begins anew.
    pub earlier: String,
    /// Whether it is to begin anew: nothing it remembers of this conversation counts.
    pub fresh: bool,
}

/// What the user is after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Need {
    /// In the user's words.
    pub text: String,
    /// Whether it was said a while ago, and may be done by now.
    pub old: bool,
}

impl Handover {
    /// What stands before the prompt of an agent that is sent the conversation itself; empty when there is nothing
    /// to say.
    #[must_use]
    pub fn preface(&self) -> String {
        self.worded(None, &self.present)
    }

    /// The same for an agent that is sent nothing but its prompt.
    #[must_use]
    pub fn whole(&self) -> String {
        self.worded(self.need.as_ref(), &self.recent)
    }

    fn worded(&self, need: Option<&Need>, done: &str) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        if let Some(brief) = &self.brief {
            writeln!(text, "[Handed over to you, because: {brief}]").unwrap_or_default();
        }
        match need {
            Some(Need { text: need, old: false }) => {
                writeln!(text, "[The user's present goal: {need}]").unwrap_or_default();
            }
            Some(Need { text: need, old: true }) => {
                writeln!(
                    text,
                    "[The user's goal as last known, perhaps done by now; check before you act on it: {need}]"
                )
                .unwrap_or_default();
            }
            None => {}
        }
        for (label, part) in
            [("What you did here before", self.earlier.as_str()), ("What the other agent did", done)]
        {
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
    fn nothing_to_say_says_nothing() {
        assert_eq!(Handover::default().preface(), "");
        assert_eq!(Handover::default().whole(), "");
    }

    #[test]
    fn an_agent_that_has_the_history_is_told_of_this_turn_only() {
        let need = Some(Need { text: "a faster parser".to_owned(), old: false });
        let handover = Handover {
            brief: Some("too deep".to_owned()),
            need,
            recent: "User: a\nUser: b".to_owned(),
            present: "User: b".to_owned(),
            ..Handover::default()
        };
        insta::assert_snapshot!(handover.preface(), @r"
        [Handed over to you, because: too deep]
        [What the other agent did:
        User: b]
        ");
        insta::assert_snapshot!(handover.whole(), @r"
        [Handed over to you, because: too deep]
        [The user's present goal: a faster parser]
        [What the other agent did:
        User: a
        User: b]
        ");
    }

    #[test]
    fn an_old_goal_is_called_old() {
        let need = Some(Need { text: "x".to_owned(), old: true });
        assert!(Handover { need, ..Handover::default() }.whole().contains("perhaps done by now"));
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
