//! Errors: the error object of the wire, and the typed errors this crate returns.
//!
//! Knows the codes that JSON-RPC 2.0 §5.1 reserves and the customary one for cancellation, no others.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The error object of a response (JSON-RPC 2.0 §5.1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RpcError {
    /// What kind of error it is; see the constants for the reserved ones.
    pub code: i64,
    /// One short sentence.
    #[serde(default)]
    pub message: String,
    /// Anything more, in a shape the two sides agree on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl RpcError {
    /// The line was no JSON.
    pub const PARSE_ERROR: i64 = -32700;
    /// The JSON was no valid message.
    pub const INVALID_REQUEST: i64 = -32600;
    /// There is no such method.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The method does not take these parameters.
    pub const INVALID_PARAMS: i64 = -32602;
    /// The method failed.
    pub const INTERNAL_ERROR: i64 = -32603;
    /// The request was withdrawn by the side that made it (the Language Server Protocol's code).
    pub const CANCELLED: i64 = -32800;

    /// An error with a code of the embedder's own.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// `-32700`: the line was no JSON.
    #[must_use]
    pub fn parse_error() -> Self {
        Self::new(Self::PARSE_ERROR, "Parse error")
    }

    /// `-32600`: JSON, but no valid message.
    pub fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(Self::INVALID_REQUEST, message)
    }

    /// `-32601`: no method of this name.
    #[must_use]
    pub fn method_not_found(name: &str) -> Self {
        Self::new(Self::METHOD_NOT_FOUND, format!("Method not found: {name}"))
    }

    /// `-32602`: the parameters are not what the method takes.
    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(Self::INVALID_PARAMS, message)
    }

    /// `-32603`: the method failed.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(Self::INTERNAL_ERROR, message)
    }

    /// `-32800`: the request was withdrawn.
    #[must_use]
    pub fn cancelled() -> Self {
        Self::new(Self::CANCELLED, "Request cancelled")
    }

    /// The same error with `data`.
    #[must_use]
    pub fn with_data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }
}

impl fmt::Display for RpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

impl std::error::Error for RpcError {}

/// The connection is closed: nothing can be sent any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("connection is closed")]
pub struct Closed;

/// Why an outgoing request has no result.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The peer answered with an error.
    #[error("peer answered: {0}")]
    Rpc(#[from] RpcError),
    /// The connection was closed, or its input ended, before the answer came.
    #[error("connection closed before the answer came")]
    Closed,
    /// The deadline passed; the request was withdrawn.
    #[error("no answer before the deadline")]
    Deadline,
    /// The answer was no valid response.
    #[error("answer is no valid response")]
    Malformed,
    /// The answer was longer than the connection's line limit.
    #[error("answer is longer than the line limit")]
    TooLong,
    /// The parameters could not be written as JSON; nothing was sent.
    #[error("parameters cannot be written as JSON")]
    Encode,
    /// The result was not of the expected type; the text names the place, never the value.
    #[error("result is not of the expected type: {0}")]
    Decode(String),
}

impl RequestError {
    /// The code of the peer's error, if that is what it is.
    #[must_use]
    pub fn code(&self) -> Option<i64> {
        match self {
            Self::Rpc(error) => Some(error.code),
            Self::Closed
            | Self::Deadline
            | Self::Malformed
            | Self::TooLong
            | Self::Encode
            | Self::Decode(_) => None,
        }
    }
}

/// For a handler whose own request to the peer failed: the peer's error as it is, anything else as `-32603`.
impl From<RequestError> for RpcError {
    fn from(error: RequestError) -> Self {
        match error {
            RequestError::Rpc(error) => error,
            RequestError::Closed
            | RequestError::Deadline
            | RequestError::Malformed
            | RequestError::TooLong
            | RequestError::Encode
            | RequestError::Decode(_) => Self::internal(error.to_string()),
        }
    }
}

/// Why a connection ended other than by the peer's leaving or a shutdown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectionError {
    /// Reading failed.
    #[error("reading from the peer failed")]
    Read(#[source] std::io::Error),
    /// Writing failed, and not because the peer had closed its end.
    #[error("writing to the peer failed")]
    Write(#[source] std::io::Error),
}
