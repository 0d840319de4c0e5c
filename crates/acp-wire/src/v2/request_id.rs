//! Ids of requests, and withdrawing a request.

use serde::{Deserialize, Serialize};

use crate::macros::object;

object! {
    /// Withdraws a request that is still to be answered. Protocol: Cancellation.
    pub struct CancelRequestNotification {
        /// The id under which the request was sent.
        req request_id: RequestId,
        meta
    }
}

/// The id of a JSON-RPC request.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RequestId {
    /// A whole number.
    Number(i64),
    /// A string.
    Str(String),
}

impl From<i64> for RequestId {
    fn from(id: i64) -> Self {
        Self::Number(id)
    }
}

impl From<&str> for RequestId {
    fn from(id: &str) -> Self {
        Self::Str(id.to_owned())
    }
}

impl From<String> for RequestId {
    fn from(id: String) -> Self {
        Self::Str(id)
    }
}
