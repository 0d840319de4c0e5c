//! What a decision is made from.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Which of the two agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// The everyday one, usually local and cheap.
    Primary,
    /// The strong one.
    Escalation,
}

impl Target {
    /// The word for it in routes and options.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Primary => "primary",
            Self::Escalation => "escalation",
        }
    }

    /// The other one.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Primary => Self::Escalation,
            Self::Escalation => Self::Primary,
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One prompt and what the session knows.
#[derive(Clone, Copy)]
pub struct RouteInput<'a> {
    /// The user's text.
    pub prompt: &'a str,
    /// Whom the user wants for this turn alone.
    pub forced: Option<Target>,
    /// Whom the user wants until further notice.
    pub pinned: Option<Target>,
    /// The escalation agent asked something back.
    pub awaiting_escalation: bool,
    /// An earlier turn was escalated, and follow-ups stay there.
    pub sticky: bool,
    /// Whether a path in the prompt exists, as given or below the session's folder.
    pub path_exists: &'a (dyn Fn(&str) -> bool + Sync),
}

impl<'a> RouteInput<'a> {
    /// A prompt in a session without wishes, where no path exists.
    #[must_use]
    pub fn new(prompt: &'a str) -> Self {
        Self {
            prompt,
            forced: None,
            pinned: None,
            awaiting_escalation: false,
            sticky: false,
            path_exists: &|_| false,
        }
    }
}

impl fmt::Debug for RouteInput<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RouteInput")
            .field("prompt", &self.prompt)
            .field("forced", &self.forced)
            .field("pinned", &self.pinned)
            .field("awaiting_escalation", &self.awaiting_escalation)
            .field("sticky", &self.sticky)
            .finish_non_exhaustive()
    }
}
