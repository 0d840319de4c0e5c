//! commands

use serde::{Deserialize, Serialize};

use crate::macros::object;

object! {
    /// Available commands update.
    pub struct AvailableCommandsUpdate {
        /// Available commands.
        req_list available_commands: AvailableCommand,
        meta
    }
}

object! {
    /// Available command.
    pub struct AvailableCommand {
        /// Name.
        req name: String,
        /// Description.
        req description: String,
        /// Input.
        soft input: AvailableCommandInput,
        meta
    }
}

object! {
    /// Unstructured command input.
    pub struct UnstructuredCommandInput {
        /// Hint.
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
