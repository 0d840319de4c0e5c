//! Commands run in the client's terminals.

use super::mcp::EnvVariable;
use super::session::SessionId;
use crate::macros::{object, string_type};

string_type! {
    /// Names a terminal within its session.
    pub struct TerminalId;
}

object! {
    /// Starts a command in the client's surroundings. Protocol: Terminals.
    pub struct CreateTerminalRequest {
        /// The session.
        req session_id: SessionId,
        /// The program.
        req command: String,
        /// The arguments.
        null_list args: String,
        /// Environment variables added to the process's own.
        null_list env: EnvVariable,
        /// The directory it is started in, absolute.
        opt cwd: String,
        /// The bytes of output to keep; the beginning is dropped first.
        opt output_byte_limit: u64,
        meta
    }
}

object! {
    /// Names the started command's terminal. Protocol: Terminals.
    pub struct CreateTerminalResponse {
        /// The terminal.
        req terminal_id: TerminalId,
        meta
    }
}

object! {
    /// Asks for what a command has written. Protocol: Terminals.
    pub struct TerminalOutputRequest {
        /// The session.
        req session_id: SessionId,
        /// The terminal.
        req terminal_id: TerminalId,
        meta
    }
}

object! {
    /// What a command has written so far. Protocol: Terminals.
    pub struct TerminalOutputResponse {
        /// The output, less what was dropped at its beginning.
        req output: String,
        /// Whether the beginning was dropped.
        num truncated: bool,
        /// How the process ended.
        soft exit_status: TerminalExitStatus,
        meta
    }
}

object! {
    /// Ends a command and frees its terminal. Protocol: Terminals.
    pub struct ReleaseTerminalRequest {
        /// The session.
        req session_id: SessionId,
        /// The terminal.
        req terminal_id: TerminalId,
        meta
    }
}

object! {
    /// Ends a command and keeps its output. Protocol: Terminals.
    pub struct KillTerminalRequest {
        /// The session.
        req session_id: SessionId,
        /// The terminal.
        req terminal_id: TerminalId,
        meta
    }
}

object! {
    /// Asks to be told when a command ends. Protocol: Terminals.
    pub struct WaitForTerminalExitRequest {
        /// The session.
        req session_id: SessionId,
        /// The terminal.
        req terminal_id: TerminalId,
        meta
    }
}

object! {
    /// How a command ended. Protocol: Terminals.
    pub struct TerminalExitStatus: Default {
        /// The process's exit code.
        soft exit_code: u32,
        /// The signal that ended the process.
        soft signal: String,
        meta
    }
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
    /// Says that the terminal is gone. Protocol: Terminals.
    pub struct ReleaseTerminalResponse: Nullable {
        meta
    }
}

object! {
    /// Says that the command was ended. Protocol: Terminals.
    pub struct KillTerminalResponse: Nullable {
        meta
    }
}

object! {
    /// How the command ended. Protocol: Terminals.
    pub struct WaitForTerminalExitResponse: Nullable {
        /// The process's exit code.
        soft exit_code: u32,
        /// The signal that ended the process.
        soft signal: String,
        meta
    }
}
