//! commands

use crate::macros::{object, tagged};

object! {
    /// Available commands update.
    pub struct AvailableCommandsUpdate {
        /// Available commands.
        req_items available_commands: AvailableCommand,
        meta
    }
}

tagged! {
    /// Available command.
    pub enum AvailableCommand: "type" {
        /// Command.
        Command(Command) = "command",
        ; else Other requires ["name", "description"]
    }
}

object! {
    /// Command.
    pub struct Command {
        /// Name.
        req name: String,
        /// Description.
        req description: String,
        /// Input.
        soft input: AvailableCommandInput,
        meta
    }
}

tagged! {
    /// Available command input.
    pub enum AvailableCommandInput: "type" {
        /// Text.
        Text(TextCommandInput) = "text",
        ; else Other
    }
}

object! {
    /// Text command input.
    pub struct TextCommandInput {
        /// Hint.
        req hint: String,
        meta
    }
}
