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

impl SessionId {
    /// A name for a file or a folder of the session's: no two sessions have the same, and it leads nowhere.
    #[must_use]
    pub fn file_name(&self) -> String {
        use fmt::Write as _;
        let mut name = String::with_capacity(self.0.len());
        for byte in self.0.bytes() {
            if byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' {
                name.push(char::from(byte));
            } else {
                // Writing into a string cannot fail. Capitals too: some file systems take them for small letters.
                let _infallible = write!(name, "_{byte:02x}");
            }
        }
        if name.is_empty() { "_".to_owned() } else { name }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sessions_file_name_is_its_own_and_leads_nowhere() {
        for (id, name) in [
            ("0f3c-9", "0f3c-9"),
            ("..", "_2e_2e"),
            ("a/b", "a_2fb"),
            ("a_2fb", "a_5f2fb"),
            ("A", "_41"),
            ("é", "_c3_a9"),
            ("", "_"),
        ] {
            assert_eq!(SessionId::from(id).file_name(), name, "{id}");
        }
    }
}
