//! The error of a response.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::session::SessionId;
use crate::ProtocolVersion;
use crate::macros::object;

object! {
    /// The `data` of an error about the version. Protocol: Initialization.
    pub struct UnsupportedProtocolVersionErrorData {
        /// The version the client asked for.
        num requested: ProtocolVersion,
        /// The versions the agent speaks.
        req supported: Vec<ProtocolVersion>,
        meta
    }
}

object! {
    /// The `data` of an error about a session that isn't there. Protocol: Session Setup.
    pub struct SessionNotFoundErrorData {
        /// The session.
        req session_id: SessionId,
        meta
    }
}

/// The number that says what kind of error it is. Protocol: Overview.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "i32", into = "i32")]
pub enum ErrorCode {
    /// `-32700`: the line was no JSON.
    ParseError,
    /// `-32600`: the JSON was no valid request, or came at the wrong time.
    InvalidRequest,
    /// `-32601`: the method is unknown or was not advertised.
    MethodNotFound,
    /// `-32602`: the parameters are malformed or name something that does not exist.
    InvalidParams,
    /// `-32603`: anything else went wrong.
    InternalError,
    /// `-32800`: the request was withdrawn before it was done.
    RequestCancelled,
    /// `-32000`: the user must sign in first.
    AuthRequired,
    /// `-32002`: a session or file is not there.
    ResourceNotFound,
    /// `-32022`: no version of the protocol is spoken by both sides.
    UnsupportedProtocolVersion,
    /// A code without a meaning in the protocol.
    Other(i32),
}

impl From<i32> for ErrorCode {
    fn from(code: i32) -> Self {
        match code {
            -32_700 => Self::ParseError,
            -32_600 => Self::InvalidRequest,
            -32_601 => Self::MethodNotFound,
            -32_602 => Self::InvalidParams,
            -32_603 => Self::InternalError,
            -32_800 => Self::RequestCancelled,
            -32_000 => Self::AuthRequired,
            -32_002 => Self::ResourceNotFound,
            -32_022 => Self::UnsupportedProtocolVersion,
            other => Self::Other(other),
        }
    }
}

impl From<ErrorCode> for i32 {
    fn from(code: ErrorCode) -> Self {
        match code {
            ErrorCode::ParseError => -32_700,
            ErrorCode::InvalidRequest => -32_600,
            ErrorCode::MethodNotFound => -32_601,
            ErrorCode::InvalidParams => -32_602,
            ErrorCode::InternalError => -32_603,
            ErrorCode::RequestCancelled => -32_800,
            ErrorCode::AuthRequired => -32_000,
            ErrorCode::ResourceNotFound => -32_002,
            ErrorCode::UnsupportedProtocolVersion => -32_022,
            ErrorCode::Other(code) => code,
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ParseError => "parse error",
            Self::InvalidRequest => "invalid request",
            Self::MethodNotFound => "method not found",
            Self::InvalidParams => "invalid params",
            Self::InternalError => "internal error",
            Self::RequestCancelled => "request cancelled",
            Self::AuthRequired => "authentication required",
            Self::ResourceNotFound => "resource not found",
            Self::UnsupportedProtocolVersion => "unsupported protocol version",
            Self::Other(_) => "error",
        })
    }
}

object! {
    /// The error of a response. Protocol: Overview.
    pub struct Error {
        /// What kind of error it is.
        req code: ErrorCode,
        /// One sentence for people.
        req message: String,
        /// Particulars for programs.
        soft data: Value,
    }
}

impl From<ErrorCode> for Error {
    fn from(code: ErrorCode) -> Self {
        Self::new(code, code.to_string())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, i32::from(self.code))
    }
}

impl std::error::Error for Error {}
