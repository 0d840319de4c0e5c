//! terminal

use std::num::NonZeroU16;

use super::capabilities::TerminalCapabilities;
use super::session::{AbsolutePath, SessionId};
use crate::macros::{object, string_type};

object! {
    /// Cancel terminal request.
    pub struct CancelTerminalRequest {
        /// Session id.
        req session_id: SessionId,
        /// Terminal id.
        req terminal_id: TerminalId,
        meta
    }
}

string_type! {
    /// Terminal id.
    pub struct TerminalId;
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
    /// Terminal output.
    pub struct TerminalOutput {
        /// Data.
        req data: String,
        meta
    }
}

object! {
    /// Terminal exit status.
    pub struct TerminalExitStatus: Default {
        /// Exit code.
        soft exit_code: i64,
        /// Signal.
        soft signal: String,
        meta
    }
}

object! {
    /// Terminal update.
    pub struct TerminalUpdate {
        /// Terminal id.
        req terminal_id: TerminalId,
        /// Command.
        patch command: String,
        /// Cwd.
        patch cwd: AbsolutePath,
        /// Output.
        patch output: TerminalOutput,
        /// Exit status.
        patch exit_status: TerminalExitStatus,
        /// Size.
        patch size: TerminalSize,
        /// Capabilities.
        patch capabilities: TerminalCapabilities,
        patch_meta
    }
}

object! {
    /// Terminal size.
    pub struct TerminalSize {
        /// Cols.
        num cols: NonZeroU16,
        /// Rows.
        num rows: NonZeroU16,
        meta
    }
}

object! {
    /// Terminal output chunk.
    pub struct TerminalOutputChunk {
        /// Terminal id.
        req terminal_id: TerminalId,
        /// Data.
        req data: String,
        meta
    }
}

object! {
    /// Cancel terminal response.
    pub struct CancelTerminalResponse: Nullable {
        meta
    }
}
