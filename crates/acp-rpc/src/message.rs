//! The three kinds of message, and the entry that is none of them.

use serde_json::value::RawValue;

use crate::{Params, RequestId, RpcError};

/// A call that wants an answer.
#[derive(Debug, Clone)]
pub struct Request {
    /// What the answer must carry.
    pub id: RequestId,
    /// The method's name.
    pub method: String,
    /// The parameters, unread.
    pub params: Params,
}

/// A call that wants no answer.
#[derive(Debug, Clone)]
pub struct Notification {
    /// The method's name.
    pub method: String,
    /// The parameters, unread.
    pub params: Params,
}

/// An answer.
#[derive(Debug, Clone)]
pub struct Response {
    /// The identifier of the request it answers.
    pub id: RequestId,
    /// The unread result, or the error object.
    pub outcome: Result<Box<RawValue>, RpcError>,
}

/// One valid message.
#[derive(Debug, Clone)]
pub enum Message {
    /// See [`Request`].
    Request(Request),
    /// See [`Notification`].
    Notification(Notification),
    /// See [`Response`].
    Response(Response),
}

/// One entry of a frame that is no valid message, with what to say about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Malformed {
    /// The identifier to answer under: the entry's own where it was a request with a usable one, else null.
    pub id: RequestId,
    /// `-32700` where the line was no JSON, else `-32600`.
    pub error: RpcError,
    /// The outgoing request this would have answered, had it been a valid response.
    pub answers: Option<RequestId>,
}

impl Malformed {
    pub(crate) fn parse_error() -> Self {
        Self { id: RequestId::Null, error: RpcError::parse_error(), answers: None }
    }

    pub(crate) fn invalid(id: RequestId, message: &str) -> Self {
        Self { id, error: RpcError::invalid_request(message), answers: None }
    }
}
