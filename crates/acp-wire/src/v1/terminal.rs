//! terminal

use super::mcp::EnvVariable;
use super::session::SessionId;
use crate::macros::{object, string_type};

string_type! {
    /// Terminal id.
    pub struct TerminalId;
}

object! {
    /// Create terminal request.
    pub struct CreateTerminalRequest {
        /// Session id.
        req session_id: SessionId,
        /// Command.
        req command: String,
        /// Args.
        null_list args: String,
        /// Env.
        null_list env: EnvVariable,
        /// Cwd.
        opt cwd: String,
        /// Output byte limit.
        opt output_byte_limit: u64,
        meta
    }
}

object! {
    /// Create terminal response.
    pub struct CreateTerminalResponse {
        /// Terminal id.
        req terminal_id: TerminalId,
        meta
    }
}

object! {
    /// Terminal output request.
    pub struct TerminalOutputRequest {
        /// Session id.
        req session_id: SessionId,
        /// Terminal id.
        req terminal_id: TerminalId,
        meta
    }
}

object! {
    /// Terminal output response.
    pub struct TerminalOutputResponse {
        /// Output.
        req output: String,
        /// Truncated.
        num truncated: bool,
        /// Exit status.
        soft exit_status: TerminalExitStatus,
        meta
    }
}

object! {
    /// Release terminal request.
    pub struct ReleaseTerminalRequest {
        /// Session id.
        req session_id: SessionId,
        /// Terminal id.
        req terminal_id: TerminalId,
        meta
    }
}

object! {
    /// Kill terminal request.
    pub struct KillTerminalRequest {
        /// Session id.
        req session_id: SessionId,
        /// Terminal id.
        req terminal_id: TerminalId,
        meta
    }
}

object! {
    /// Wait for terminal exit request.
    pub struct WaitForTerminalExitRequest {
        /// Session id.
        req session_id: SessionId,
        /// Terminal id.
        req terminal_id: TerminalId,
        meta
    }
}

object! {
    /// Terminal exit status.
    pub struct TerminalExitStatus: Default {
        /// Exit code.
        soft exit_code: u32,
        /// Signal.
        soft signal: String,
        meta
    }
}

object! {
    /// Terminal.
    pub struct Terminal {
        /// Terminal id.
        req terminal_id: TerminalId,
        meta
    }
}

object! {
    /// Release terminal response.
    pub struct ReleaseTerminalResponse: Nullable {
        meta
    }
}

object! {
    /// Kill terminal response.
    pub struct KillTerminalResponse: Nullable {
        meta
    }
}

object! {
    /// Wait for terminal exit response.
    pub struct WaitForTerminalExitResponse: Nullable {
        /// Exit code.
        soft exit_code: u32,
        /// Signal.
        soft signal: String,
        meta
    }
}
