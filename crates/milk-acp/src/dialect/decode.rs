//! What both versions read alike: folders, cursors, and milk's own members of `_meta`. An error names the member and
//! what to send instead. Knows no version.

use std::path::Path;

use acp_rpc::RpcError;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};
use session_model::SessionId;

use crate::command::{Ack, ListSessions};
use crate::error::ServerError;

/// Bad parameters.
pub(super) fn invalid(message: impl Into<String>) -> RpcError {
    ServerError::invalid(message).into()
}

/// The id of a session that is expected to exist.
pub(super) fn session(id: &str) -> Result<SessionId, RpcError> {
    if id.is_empty() {
        return Err(invalid("`sessionId` is empty; send the id that session/new returned"));
    }
    Ok(SessionId::new(id))
}

/// A session's folder. A relative one is against the protocol, but clients in use send `.`; the session resolves it.
pub(super) fn cwd(cwd: &str) -> Result<String, RpcError> {
    if cwd.is_empty() {
        return Err(invalid("`cwd` is empty; send the absolute path of an existing directory"));
    }
    Ok(cwd.to_owned())
}

/// A session's further folders.
pub(super) fn directories<'a>(list: impl Iterator<Item = &'a str>) -> Result<Vec<String>, RpcError> {
    list.enumerate()
        .map(|(index, path)| {
            if Path::new(path).is_absolute() {
                return Ok(path.to_owned());
            }
            Err(invalid(format!("`additionalDirectories[{index}]` is not an absolute path; send one")))
        })
        .collect()
}

/// A page of the list of sessions.
pub(super) fn list(cwd: Option<&str>, cursor: Option<&str>) -> Result<ListSessions, RpcError> {
    if cwd.is_some_and(|cwd| !Path::new(cwd).is_absolute()) {
        return Err(invalid("`cwd` is not an absolute path; send one, or leave it out to list every folder"));
    }
    let offset = match cursor {
        None => 0,
        Some(cursor) => offset(cursor).ok_or_else(|| {
            invalid("`cursor` is not one that session/list returned; leave it out to begin at the first page")
        })?,
    };
    Ok(ListSessions { cwd: cwd.map(Into::into), offset })
}

fn offset(cursor: &str) -> Option<usize> {
    let text = String::from_utf8(STANDARD.decode(cursor).ok()?).ok()?;
    let digits = text.strip_prefix("o:")?;
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}

/// The cursor of the page that begins at `offset`.
pub(super) fn cursor(offset: usize) -> String {
    STANDARD.encode(format!("o:{offset}"))
}

/// `_meta.milk.fresh`: whether `session/new` must not adopt an earlier session.
pub(super) fn fresh(meta: Option<&Map<String, Value>>) -> bool {
    milk(meta, "fresh").and_then(Value::as_bool).unwrap_or(false)
}

/// `_meta.milk.promptAck`: when prompts are answered. A word we do not know says nothing.
pub(super) fn ack(meta: Option<&Map<String, Value>>) -> Option<Ack> {
    match milk(meta, "promptAck")?.as_str()? {
        "turn_end" => Some(Ack::TurnEnd),
        "insertion" => Some(Ack::Insertion),
        _ => None,
    }
}

/// The word for `ack`.
pub(super) fn ack_word(ack: Ack) -> &'static str {
    match ack {
        Ack::TurnEnd => "turn_end",
        Ack::Insertion => "insertion",
    }
}

fn milk<'a>(meta: Option<&'a Map<String, Value>>, name: &str) -> Option<&'a Value> {
    meta?.get("milk")?.get(name)
}

/// A prompt without content.
pub(super) fn empty_prompt() -> RpcError {
    invalid("`prompt` is empty; send at least one content block")
}

/// A kind of content that `initialize` did not advertise.
pub(super) fn unadvertised(index: usize, kind: &str) -> RpcError {
    let kind = super::limit::head(kind, 80);
    invalid(format!(
        "`prompt[{index}]` is of type {kind}, which this agent does not advertise; send text or a resource_link"
    ))
}

/// An MCP server of a transport that `initialize` did not advertise.
pub(super) fn transport(index: usize, name: &str, transport: &str) -> RpcError {
    let (name, transport) = (super::limit::head(name, 80), super::limit::head(transport, 80));
    invalid(format!(
        "`mcpServers[{index}]` ({name}) uses the transport {transport}, which this agent does not advertise; \
         leave it out"
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn cursors_come_back_as_their_offsets() {
        for at in [0, 50, 12_345] {
            assert_eq!(offset(&cursor(at)), Some(at));
        }
        assert_eq!(cursor(50), "bzo1MA==");
    }

    #[test]
    fn foreign_cursors_are_refused() {
        for text in [
            "",
            "garbage",
            "bzo=",
            "bzotMQ==",
            "bzorNQ==",
            "MTA=",
            "/w==",
            "bzo5OTk5OTk5OTk5OTk5OTk5OTk5OTk=",
        ] {
            assert_eq!(list(None, Some(text)).unwrap_err().code, RpcError::INVALID_PARAMS, "{text}");
        }
    }

    #[test]
    fn words_and_switches_of_ours_are_read_and_others_ignored() {
        let meta = |value: Value| value.as_object().cloned();
        assert!(fresh(meta(json!({"milk": {"fresh": true}})).as_ref()));
        for other in
            [json!({}), json!({"milk": 1}), json!({"milk": {"fresh": "yes"}}), json!({"fresh": true})]
        {
            assert!(!fresh(meta(other.clone()).as_ref()), "{other}");
        }
        assert_eq!(ack(meta(json!({"milk": {"promptAck": "insertion"}})).as_ref()), Some(Ack::Insertion));
        assert_eq!(ack(meta(json!({"milk": {"promptAck": "turn_end"}})).as_ref()), Some(Ack::TurnEnd));
        assert_eq!(ack(meta(json!({"milk": {"promptAck": "later"}})).as_ref()), None);
        assert_eq!(ack(None), None);
    }
}
