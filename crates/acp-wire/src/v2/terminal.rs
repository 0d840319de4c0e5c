//! The agent's terminals.

use std::num::NonZeroU16;

use super::capabilities::TerminalCapabilities;
use super::session::{AbsolutePath, SessionId};
use crate::macros::{object, string_type};

object! {
    /// Asks to end one terminal's process. Protocol: Terminals.
    pub struct CancelTerminalRequest {
        /// The session.
        req session_id: SessionId,
        /// The terminal.
        req terminal_id: TerminalId,
        meta
    }
}

string_type! {
    /// Names a terminal within its session.
    pub struct TerminalId;
}

object! {
    /// A terminal as the output of a tool. Protocol: Terminals.
    pub struct Terminal {
        /// The terminal.
        req terminal_id: TerminalId,
        meta
    }
}

object! {
    /// All output of a terminal so far. Protocol: Terminals.
    pub struct TerminalOutput {
        /// The data in Base64.
        req data: String,
        meta
    }
}

object! {
    /// How a command ended. Protocol: Terminals.
    pub struct TerminalExitStatus: Default {
        /// The process's exit code.
        soft exit_code: i64,
        /// The signal that ended the process.
        soft signal: String,
        meta
    }
}

object! {
    /// A terminal of the agent: creates or changes it. Protocol: Terminals.
    pub struct TerminalUpdate {
        /// The terminal.
        req terminal_id: TerminalId,
        /// The command as it was typed.
        patch command: String,
        /// The directory the command runs in, absolute.
        patch cwd: AbsolutePath,
        /// All output so far; replaces what chunks have added.
        patch output: TerminalOutput,
        /// How the process ended.
        patch exit_status: TerminalExitStatus,
        /// The terminal's size.
        patch size: TerminalSize,
        /// What the client may do with the terminal.
        patch capabilities: TerminalCapabilities,
        patch_meta
    }
}

object! {
    /// The size of a terminal. Protocol: Terminals.
    pub struct TerminalSize {
        /// The number of columns.
        num cols: NonZeroU16,
        /// The number of rows.
        num rows: NonZeroU16,
        meta
    }
}

object! {
    /// More output of a terminal. Protocol: Terminals.
    pub struct TerminalOutputChunk {
        /// The terminal.
        req terminal_id: TerminalId,
        /// The added bytes in Base64, encoded by themselves.
        req data: String,
        meta
    }
}

object! {
    /// Says that the process is being ended; its exit status follows as an update. Protocol: Terminals.
    pub struct CancelTerminalResponse: Nullable {
        meta
    }
}
