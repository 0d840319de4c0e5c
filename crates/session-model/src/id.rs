//! Opaque identifiers. Each is a string newtype, so that one kind cannot be handed over for another.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Box<str>);

        impl $name {
            /// Wraps the given text unchanged.
            pub fn new(id: impl Into<Box<str>>) -> Self {
                Self(id.into())
            }

            /// The text of the id.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({:?})"), &*self.0)
            }
        }

        impl From<String> for $name {
            fn from(id: String) -> Self {
                Self(id.into_boxed_str())
            }
        }

        impl From<&str> for $name {
            fn from(id: &str) -> Self {
                Self(id.into())
            }
        }
    )*};
}

ids! {
    /// A stored session.
    SessionId;
    /// One prompt and everything done to answer it.
    TurnId;
    /// A user, agent or thought message; unique in its session per [`crate::Role`].
    MessageId;
    /// One call of one tool; unique in its session. Minted by us, never taken from a model server.
    ToolCallId;
    /// A terminal in which a command runs; ours are minted by us, a client's by it.
    TerminalId;
    /// A question to the user that is on its way.
    AskId;
    /// One of the answers offered with a question.
    OptionId;
    /// A configured agent, by its name.
    AgentId;
    /// A plan shown to the user.
    PlanId;
    /// One compaction of a session's history; unique in its session.
    CompactionId;
}
