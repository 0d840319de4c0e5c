//! The JSON of a chat completion, streamed or whole, as servers really write it. Reading borrows from the
//! bytes and tolerates odd types: one odd member never costs the others. Knows nothing of what is done with it.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::providers::surrogates;

/// `chat.completion.chunk`, `chat.completion`, or an error object.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Chunk<'a> {
    #[serde(borrow)]
    pub(super) choices: Option<Vec<Choice<'a>>>,
    #[serde(borrow)]
    pub(super) usage: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
    /// `"error"` in the errors of some servers that have no `error` member.
    #[serde(borrow)]
    pub(super) object: Text<'a>,
    #[serde(borrow)]
    pub(super) message: Text<'a>,
    #[serde(borrow)]
    pub(super) detail: Option<&'a RawValue>,
}

/// One choice; `delta` when streamed, `message` when whole.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Choice<'a> {
    pub(super) index: Int,
    #[serde(borrow)]
    pub(super) delta: Option<Message<'a>>,
    #[serde(borrow)]
    pub(super) message: Option<Message<'a>>,
    #[serde(borrow)]
    pub(super) finish_reason: Text<'a>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
}

/// What the model said, or a piece of it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Message<'a> {
    #[serde(borrow)]
    pub(super) content: Text<'a>,
    #[serde(borrow)]
    pub(super) reasoning_content: Text<'a>,
    #[serde(borrow)]
    pub(super) reasoning: Text<'a>,
    #[serde(borrow)]
    pub(super) reasoning_details: Text<'a>,
    #[serde(borrow)]
    pub(super) refusal: Text<'a>,
    #[serde(borrow)]
    pub(super) tool_calls: Option<Vec<CallPiece<'a>>>,
    #[serde(borrow)]
    pub(super) function_call: Option<FunctionPiece<'a>>,
}

/// A call or a piece of one.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CallPiece<'a> {
    pub(super) index: Int,
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    #[serde(borrow)]
    pub(super) function: Option<FunctionPiece<'a>>,
}

/// The function of a call.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct FunctionPiece<'a> {
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    /// A string of JSON, or the JSON itself.
    #[serde(borrow)]
    pub(super) arguments: Option<&'a RawValue>,
}

/// A string; anything else reads as none. A list of content parts reads as their texts joined.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Text<'a>(pub(super) Cow<'a, str>);

impl Text<'_> {
    /// The text, when there is any.
    pub(super) fn some(&self) -> Option<&str> {
        if self.0.is_empty() { None } else { Some(&self.0) }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor).map(Text)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(""))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(""))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(""))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(""))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(""))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Self::Value, A::Error> {
        let mut joined = Cow::Borrowed("");
        while let Some(Text(part)) = parts.next_element()? {
            if joined.is_empty() {
                joined = part;
            } else {
                joined.to_mut().push_str(&part);
            }
        }
        Ok(joined)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut part: A) -> Result<Self::Value, A::Error> {
        let mut text = Cow::Borrowed("");
        while let Some(key) = part.next_key::<Text<'de>>()? {
            match key.0.as_ref() {
                "text" => text = part.next_value::<Text<'de>>()?.0,
                _ => drop(part.next_value::<IgnoredAny>()?),
            }
        }
        Ok(text)
    }
}

/// A whole number of zero or more, also in a string; anything else reads as none.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Int(pub(super) Option<u64>);

impl<'de> Deserialize<'de> for Int {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?.get();
        let number = raw.trim_matches('"');
        Ok(Self(number.parse().ok().or_else(|| whole(number.parse().ok()?))))
    }
}

/// `12.0` as 12.
fn whole(number: f64) -> Option<u64> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked: a whole number below 2^53"
    )]
    (number >= 0.0 && number.fract() == 0.0 && number < 9.0e15).then_some(number as u64)
}

/// Reads a chunk. What the fast path refuses is put into shape in `scratch` and read from there; the flag says
/// whether lone surrogates were marked (see [`surrogates`]).
///
/// # Errors
/// `data` is no JSON object at all.
pub(super) fn read<'a>(
    data: &'a [u8],
    scratch: &'a mut Vec<u8>,
) -> Result<(Chunk<'a>, bool), serde_json::Error> {
    if let Ok(chunk) = serde_json::from_slice(data) {
        return Ok((chunk, false));
    }
    let marked = surrogates::mark(data);
    let mut value: Value = serde_json::from_slice(marked.as_deref().unwrap_or(data))?;
    straighten(&mut value);
    *scratch = serde_json::to_vec(&value)?;
    Ok((serde_json::from_slice(scratch)?, marked.is_some()))
}

/// Removes members whose shape makes no sense where they stand.
fn straighten(chunk: &mut Value) {
    keep(chunk, "choices", Value::is_array);
    let Some(choices) = chunk.get_mut("choices").and_then(Value::as_array_mut) else { return };
    choices.retain(Value::is_object);
    for choice in choices {
        for member in ["delta", "message"] {
            keep(choice, member, Value::is_object);
            let Some(message) = choice.get_mut(member) else { continue };
            keep(message, "function_call", Value::is_object);
            keep(message, "tool_calls", Value::is_array);
            let Some(calls) = message.get_mut("tool_calls").and_then(Value::as_array_mut) else { continue };
            calls.retain(Value::is_object);
            for call in calls {
                keep(call, "function", Value::is_object);
            }
        }
    }
}

fn keep(object: &mut Value, member: &str, fits: impl Fn(&Value) -> bool) {
    if let Some(members) = object.as_object_mut()
        && members.get(member).is_some_and(|value| !fits(value))
    {
        members.remove(member);
    }
}
