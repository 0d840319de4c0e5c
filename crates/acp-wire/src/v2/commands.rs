//! Commands the user may begin a prompt with.

use crate::macros::{from_variants, object, tagged};

object! {
    /// The commands of a session, all of them. Protocol: Slash Commands.
    pub struct AvailableCommandsUpdate {
        /// The session's commands.
        req_items available_commands: AvailableCommand,
        meta
    }
}

tagged! {
    /// A command the user may begin a prompt with. Protocol: Slash Commands.
    pub enum AvailableCommand: "type" {
        /// A command.
        Command(Command) = "command",
        ; else Other requires ["name", "description"]
    }
}

from_variants! {
    AvailableCommand:
    Command(Command),
}

object! {
    /// A command with a name and maybe some input. Protocol: Slash Commands.
    pub struct Command {
        /// The command, without a slash and without spaces.
        req name: String,
        /// More words on it.
        req description: String,
        /// What may follow the name.
        soft input: AvailableCommandInput,
        meta
    }
}

tagged! {
    /// What may follow a command's name. Protocol: Slash Commands.
    pub enum AvailableCommandInput: "type" {
        /// Any text.
        Text(TextCommandInput) = "text",
        ; else Other
    }
}

from_variants! {
    AvailableCommandInput:
    Text(TextCommandInput),
}

object! {
    /// The whole text behind a command's name. Protocol: Slash Commands.
    pub struct TextCommandInput {
        /// What to show while nothing is typed.
        req hint: String,
        meta
    }
}
