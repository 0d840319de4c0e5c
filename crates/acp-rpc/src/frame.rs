//! One line of input, taken apart: a message or a batch of them, bad entries kept in their places.
//!
//! The text is read once. The envelope's members are told apart by hand; parameters and results stay unread
//! text. Knows nothing of the connection: which identifiers and batches are welcome is decided there.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::{Malformed, Message, Notification, Params, Request, RequestId, Response, RpcError};

/// One message, or what is wrong with it.
pub type Entry = Result<Message, Box<Malformed>>;

/// What one line held.
#[derive(Debug, Clone)]
pub enum Frame {
    /// One message, or something that is none.
    Single(Entry),
    /// A JSON array of entries (JSON-RPC 2.0 §6), possibly empty.
    Batch(Vec<Entry>),
}

impl Frame {
    /// Takes one line apart. The line ending may be there or not; a byte order mark is skipped.
    ///
    /// Never fails: what is no JSON (or no UTF-8) is a [`Malformed`] entry with `-32700`, JSON that is no valid
    /// message one with `-32600`.
    pub fn parse(line: impl AsRef<[u8]>) -> Self {
        let line = line.as_ref();
        let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        let parsed = std::str::from_utf8(line).ok().and_then(|text| {
            let mut reader = serde_json::Deserializer::from_str(text);
            let frame = Depth::Line.deserialize(&mut reader).ok()?;
            reader.end().ok()?;
            Some(frame)
        });
        parsed.unwrap_or_else(|| Self::Single(Err(Box::new(Malformed::parse_error()))))
    }
}

/// Where the reader is: an array is a batch on the line itself, and nonsense inside one.
#[derive(Clone, Copy)]
enum Depth {
    Line,
    InBatch,
}

impl<'de> DeserializeSeed<'de> for Depth {
    type Value = Frame;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Frame, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Depth {
    type Value = Frame;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Frame, A::Error> {
        let mut envelope = Envelope::default();
        while let Some(member) = map.next_key_seed(MemberSeed)? {
            envelope.take(member, &mut map)?;
        }
        Ok(Frame::Single(envelope.classify()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Frame, A::Error> {
        match self {
            Self::Line => {
                let mut entries = Vec::new();
                while let Some(entry) = seq.next_element_seed(Self::InBatch)? {
                    match entry {
                        Frame::Single(entry) => entries.push(entry),
                        Frame::Batch(nested) => entries.extend(nested),
                    }
                }
                Ok(Frame::Batch(entries))
            }
            Self::InBatch => {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(no_object())
            }
        }
    }

    fn visit_bool<E>(self, _: bool) -> Result<Frame, E> {
        Ok(no_object())
    }

    fn visit_i64<E>(self, _: i64) -> Result<Frame, E> {
        Ok(no_object())
    }

    fn visit_u64<E>(self, _: u64) -> Result<Frame, E> {
        Ok(no_object())
    }

    fn visit_f64<E>(self, _: f64) -> Result<Frame, E> {
        Ok(no_object())
    }

    fn visit_str<E>(self, _: &str) -> Result<Frame, E> {
        Ok(no_object())
    }

    fn visit_unit<E>(self) -> Result<Frame, E> {
        Ok(no_object())
    }
}

fn no_object() -> Frame {
    Frame::Single(Err(Box::new(Malformed::invalid(RequestId::Null, "Invalid request: not an object"))))
}

/// The members that matter; all others are skipped, as §4 leaves them to extensions.
#[derive(Clone, Copy)]
enum Member {
    Version,
    Id,
    Method,
    Params,
    Result,
    Error,
    Other,
}

struct MemberSeed;

impl<'de> DeserializeSeed<'de> for MemberSeed {
    type Value = Member;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Member, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for MemberSeed {
    type Value = Member;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a member name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Member, E> {
        Ok(match name {
            "jsonrpc" => Member::Version,
            "id" => Member::Id,
            "method" => Member::Method,
            "params" => Member::Params,
            "result" => Member::Result,
            "error" => Member::Error,
            _ => Member::Other,
        })
    }
}

#[derive(Default)]
struct Envelope<'de> {
    version: Option<&'de RawValue>,
    id: Option<&'de RawValue>,
    method: Option<&'de RawValue>,
    params: Option<&'de RawValue>,
    result: Option<&'de RawValue>,
    error: Option<&'de RawValue>,
    repeated: bool,
    repeated_id: bool,
}

impl<'de> Envelope<'de> {
    fn take<A: MapAccess<'de>>(&mut self, member: Member, map: &mut A) -> Result<(), A::Error> {
        let place = match member {
            Member::Version => &mut self.version,
            Member::Id => &mut self.id,
            Member::Method => &mut self.method,
            Member::Params => &mut self.params,
            Member::Result => &mut self.result,
            Member::Error => &mut self.error,
            Member::Other => return map.next_value::<IgnoredAny>().map(|_| ()),
        };
        if place.replace(map.next_value()?).is_some() {
            self.repeated = true;
            self.repeated_id |= matches!(member, Member::Id);
        }
        Ok(())
    }

    fn classify(self) -> Entry {
        if self.version.is_none_or(|version| version.get() != "\"2.0\"") {
            return Err(self.malformed(false, "Invalid request: jsonrpc must be \"2.0\""));
        }
        if self.repeated {
            return Err(self.malformed(true, "Invalid request: a member occurs twice"));
        }
        if self.method.is_some() { self.call() } else { self.answer() }
    }

    fn call(self) -> Entry {
        if self.result.is_some() || self.error.is_some() {
            return Err(self.malformed(true, "Invalid request: both a call and an answer"));
        }
        let Some(method) = self.method.and_then(|raw| text(raw.get())) else {
            return Err(self.malformed(true, "Invalid request: method must be a string"));
        };
        let method = method.into_owned();
        let params = || self.params.map_or_else(Params::none, |raw| Params::from(raw.to_owned()));
        let Some(id) = self.id else {
            return Ok(Message::Notification(Notification { method, params: params() }));
        };
        match RequestId::from_json(id.get()) {
            Some(id) => Ok(Message::Request(Request { id, method, params: params() })),
            None => Err(self.malformed(false, "Invalid request: id must be a string or an integer")),
        }
    }

    fn answer(self) -> Entry {
        let outcome = match (self.result, self.error) {
            (Some(_), Some(_)) => return Err(self.malformed(false, "Invalid response: result and error")),
            (None, None) => return Err(self.malformed(true, "Invalid request: no method")),
            (Some(result), None) => Ok(result),
            (None, Some(error)) => Err(error),
        };
        let Some(id) = self.id.and_then(|raw| RequestId::from_json(raw.get())) else {
            return Err(self.malformed(false, "Invalid response: no usable id"));
        };
        let outcome = match outcome {
            Ok(result) => Ok(result.to_owned()),
            Err(error) => match serde_json::from_str::<RpcError>(error.get()) {
                Ok(error) => Err(error),
                Err(_) => return Err(self.malformed(false, "Invalid response: error has no integer code")),
            },
        };
        Ok(Message::Response(Response { id, outcome }))
    }

    /// An answer is never complained about under its own identifier: that one is ours, and the peer may be
    /// waiting for the answer to a request of its own with the same.
    fn malformed(&self, may_name_id: bool, message: &str) -> Box<Malformed> {
        let id = self.id.filter(|_| !self.repeated_id).and_then(|raw| RequestId::from_json(raw.get()));
        let is_answer = self.method.is_none() && (self.result.is_some() || self.error.is_some());
        let named = if may_name_id && !is_answer { id.clone() } else { None };
        Box::new(Malformed {
            answers: id.filter(|_| is_answer),
            ..Malformed::invalid(named.unwrap_or(RequestId::Null), message)
        })
    }
}

/// The content of a JSON string's text; `None` if it is another value.
fn text(raw: &str) -> Option<Cow<'_, str>> {
    let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Some(Cow::Borrowed(inner));
    }
    serde_json::from_str(raw).ok().map(Cow::Owned)
}
