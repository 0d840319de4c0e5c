//! Reading and writing text files as the client's editor has them.

use super::session::SessionId;
use crate::macros::object;

object! {
    /// Writes a text file, creating it if need be. Protocol: File System.
    pub struct WriteTextFileRequest {
        /// The session.
        req session_id: SessionId,
        /// The file, absolute.
        req path: String,
        /// The whole new text.
        req content: String,
        meta
    }
}

object! {
    /// Asks for a text file as the editor has it. Protocol: File System.
    pub struct ReadTextFileRequest {
        /// The session.
        req session_id: SessionId,
        /// The file, absolute.
        req path: String,
        /// The first line to read, from 1.
        opt line: u32,
        /// The greatest number of lines.
        opt limit: u32,
        meta
    }
}

object! {
    /// The text of the file. Protocol: File System.
    pub struct ReadTextFileResponse {
        /// The lines asked for.
        req content: String,
        meta
    }
}

object! {
    /// Says that the file is written. Protocol: File System.
    pub struct WriteTextFileResponse: Nullable {
        meta
    }
}
