//! What a client is told when something fails: the one place that chooses JSON-RPC codes.
//!
//! `-32601` unknown method, `-32602` bad parameters, `-32002` unknown session, `-32022` unsupported version, `-32800`
//! cancelled, `-32603` all else. `-32000` means "authentication required" to editors, which answer it with a sign-in,
//! so nothing here uses it.

use acp_rpc::RpcError;
use serde_json::json;
use session_model::{SessionId, TurnFailure};
use session_store::StoreError;

/// "Resource not found" (ACP, error codes).
pub const NOT_FOUND: i64 = -32002;

/// "Unsupported protocol version" (ACP v2, version negotiation).
pub const UNSUPPORTED_VERSION: i64 = -32022;

/// Why a request is answered with an error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ServerError {
    /// The parameters are well-formed and yet wrong; the text names the member and the remedy.
    #[error("{0}")]
    InvalidParams(String),
    /// The session is neither open nor stored.
    #[error("session not found: {0}; session/list names the sessions there are")]
    UnknownSession(SessionId),
    /// The request was withdrawn, or its session closed, before its work began.
    #[error("request cancelled")]
    Cancelled,
    /// Anything else, the failure of a turn included.
    #[error("{}", .failure.message)]
    Failed {
        /// The session it concerns.
        session: Option<SessionId>,
        /// What went wrong.
        failure: TurnFailure,
    },
}

impl ServerError {
    /// Wrong parameters; `message` names the member and the remedy.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::InvalidParams(message.into())
    }

    /// A failure with a stable word for programs and a sentence for people.
    pub fn failed(session: Option<SessionId>, code: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Failed { session, failure: TurnFailure { code: code.into(), message: message.into() } }
    }
}

impl From<StoreError> for ServerError {
    fn from(error: StoreError) -> Self {
        let message = error.to_string();
        match error {
            StoreError::NotFound(id) => Self::UnknownSession(id),
            StoreError::Ambiguous(_) => Self::InvalidParams(message),
            StoreError::Exists(id) => Self::failed(Some(id), "session_exists", message),
            StoreError::Leased { id, .. } => Self::failed(Some(id), "session_leased", message),
            StoreError::Unavailable { .. } => Self::failed(None, "store_unavailable", message),
            StoreError::Failed(_) => Self::failed(None, "store_failed", message),
        }
    }
}

impl From<&ServerError> for RpcError {
    fn from(error: &ServerError) -> Self {
        let message = error.to_string();
        match error {
            ServerError::InvalidParams(_) => Self::invalid_params(message),
            ServerError::UnknownSession(session) => {
                Self::new(NOT_FOUND, message).with_data(json!({"sessionId": session}))
            }
            ServerError::Cancelled => Self::cancelled(),
            ServerError::Failed { session, failure } => {
                let mut data = json!({"runtimeCode": failure.code, "error": failure.message});
                if let Some(session) = session {
                    data["sessionId"] = json!(session);
                }
                Self::internal(message).with_data(data)
            }
        }
    }
}

impl From<ServerError> for RpcError {
    fn from(error: ServerError) -> Self {
        Self::from(&error)
    }
}

/// `-32022`: `requested` is older than every version we speak.
pub(crate) fn unsupported_version(requested: u64, supported: &[u16]) -> RpcError {
    RpcError::new(
        UNSUPPORTED_VERSION,
        format!("unsupported protocolVersion {requested}; send one of {supported:?}"),
    )
    .with_data(json!({"requested": requested, "supported": supported}))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wire(error: ServerError) -> serde_json::Value {
        serde_json::to_value(RpcError::from(error)).unwrap()
    }

    #[test]
    fn wrong_parameters_are_invalid_params() {
        assert_eq!(
            wire(ServerError::invalid("`cwd` is relative; send an absolute path")),
            json!({"code": -32602, "message": "`cwd` is relative; send an absolute path"})
        );
    }

    #[test]
    fn an_unknown_session_is_named_in_the_data() {
        assert_eq!(
            wire(ServerError::UnknownSession("s1".into())),
            json!({
                "code": -32002,
                "message": "session not found: s1; session/list names the sessions there are",
                "data": {"sessionId": "s1"},
            })
        );
    }

    #[test]
    fn a_withdrawn_request_is_cancelled() {
        assert_eq!(wire(ServerError::Cancelled)["code"], -32800);
    }

    #[test]
    fn every_other_failure_is_internal_and_says_which() {
        assert_eq!(
            wire(ServerError::failed(Some("s1".into()), "provider_unreachable", "no server at 127.0.0.1:1")),
            json!({
                "code": -32603,
                "message": "no server at 127.0.0.1:1",
                "data": {
                    "runtimeCode": "provider_unreachable",
                    "error": "no server at 127.0.0.1:1",
                    "sessionId": "s1",
                },
            })
        );
        assert_eq!(
            wire(ServerError::failed(None, "store", "disk full"))["data"],
            json!({"runtimeCode": "store", "error": "disk full"})
        );
    }

    #[test]
    fn an_unsupported_version_lists_the_supported_ones() {
        let error = serde_json::to_value(unsupported_version(0, &[1, 2])).unwrap();
        assert_eq!(
            error,
            json!({
                "code": -32022,
                "message": "unsupported protocolVersion 0; send one of [1, 2]",
                "data": {"requested": 0, "supported": [1, 2]},
            })
        );
    }
}
