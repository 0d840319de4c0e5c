//! fs

use super::session::SessionId;
use crate::macros::object;

object! {
    /// Write text file request.
    pub struct WriteTextFileRequest {
        /// Session id.
        req session_id: SessionId,
        /// Path.
        req path: String,
        /// Content.
        req content: String,
        meta
    }
}

object! {
    /// Read text file request.
    pub struct ReadTextFileRequest {
        /// Session id.
        req session_id: SessionId,
        /// Path.
        req path: String,
        /// Line.
        opt line: u32,
        /// Limit.
        opt limit: u32,
        meta
    }
}

object! {
    /// Read text file response.
    pub struct ReadTextFileResponse {
        /// Content.
        req content: String,
        meta
    }
}

object! {
    /// Write text file response.
    pub struct WriteTextFileResponse: Nullable {
        meta
    }
}
