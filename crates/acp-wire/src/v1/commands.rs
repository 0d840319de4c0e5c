//! Commands the user may begin a prompt with.

use serde::{Deserialize, Serialize};

use crate::macros::object;

object! {
    /// The commands of a session, all of them. Protocol: Slash Commands.
    pub struct AvailableCommandsUpdate {
        /// The session's commands.
        req_list available_commands: AvailableCommand,
        meta
    }
}

object! {
    /// A command the user may begin a prompt with. Protocol: Slash Commands.
    pub struct AvailableCommand {
        /// The command without a slash.
        req name: String,
        /// More words on it.
        req description: String,
        /// What may follow the name.
        soft input: AvailableCommandInput,
        meta
    }
}

object! {
    /// The whole text behind a command's name. Protocol: Slash Commands.
    pub struct UnstructuredCommandInput {
        /// What to show while nothing is typed.
        req hint: String,
        meta
    }
}

/// What may follow a command's name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum AvailableCommandInput {
    /// All text behind the name.
    Unstructured(UnstructuredCommandInput),
}

impl From<UnstructuredCommandInput> for AvailableCommandInput {
    fn from(input: UnstructuredCommandInput) -> Self {
        Self::Unstructured(input)
    }
}
