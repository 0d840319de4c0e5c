//! request_id

use serde::{Deserialize, Serialize};

use crate::macros::object;

object! {
    /// Cancel request notification.
    pub struct CancelRequestNotification {
        /// Request id.
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
