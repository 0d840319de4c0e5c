//! The hot path: one piece of a message's text. Both versions word it alike, so it is written straight from borrowed
//! text, without a value in between; the tests hold it against both schemas.

use serde::Serialize;
use session_model::{Content, MessageId, Role, SessionId};

use super::{Outgoing, UPDATE, limit};

/// A piece of a message that fits one update.
pub(super) enum Part<'a> {
    /// Text of at most [`limit::MAX_TEXT`] bytes.
    Text(&'a str),
    /// Anything but text.
    Media(&'a Content),
}

impl Part<'_> {
    /// About how many bytes it takes on the wire.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Media(content) => limit::size(content),
        }
    }
}

/// The pieces of a message: long text is split, never cut.
pub(super) fn parts(content: &[Content]) -> impl Iterator<Item = Part<'_>> {
    content.iter().flat_map(part)
}

/// The pieces of one content.
pub(super) fn part(content: &Content) -> Box<dyn Iterator<Item = Part<'_>> + '_> {
    match content {
        Content::Text { text } => Box::new(limit::pieces(text).map(Part::Text)),
        Content::Image { .. } | Content::Audio { .. } | Content::Link(_) | Content::Resource(_) => {
            Box::new(std::iter::once(Part::Media(content)))
        }
    }
}

/// The kind of update that appends to a message of `role`.
pub(super) fn kind(role: Role) -> &'static str {
    match role {
        Role::User => "user_message_chunk",
        Role::Agent => "agent_message_chunk",
        Role::Thought => "agent_thought_chunk",
    }
}

/// Words `text` as more of the message `id`.
pub(super) fn text(session: &SessionId, role: Role, id: &MessageId, text: &str) -> Option<Outgoing> {
    let content = Text { kind: "text", text };
    let update = Update { kind: kind(role), message_id: id.as_str(), content };
    Outgoing::new(UPDATE, &Params { session_id: session.as_str(), update })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Params<'a> {
    session_id: &'a str,
    update: Update<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Update<'a> {
    #[serde(rename = "sessionUpdate")]
    kind: &'static str,
    message_id: &'a str,
    content: Text<'a>,
}

#[derive(Serialize)]
struct Text<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    text: &'a str,
}
