//! The JSON of a chat completion, streamed or whole, as servers really write it. Reading borrows from the
//! bytes and tolerates odd types: one odd member never costs the others. Knows nothing of what is done with it.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::providers::{numbers, surrogates};

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
    #[serde(borrow)]
    pub(super) msg: Text<'a>,
    /// A status or a word, in the errors of some services.
    #[serde(borrow)]
    pub(super) code: Option<&'a RawValue>,
    /// Where one service says that something went wrong.
    #[serde(borrow)]
    pub(super) base_resp: Option<&'a RawValue>,
    /// Where one service keeps its token counts.
    #[serde(borrow)]
    pub(super) x_groq: Option<Vendor<'a>>,
}

/// A service's own member.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Vendor<'a> {
    #[serde(borrow)]
    pub(super) usage: Option<&'a RawValue>,
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
    /// Token counts, in answers of some services.
    #[serde(borrow)]
    pub(super) usage: Option<&'a RawValue>,
}

/// What the model said, or a piece of it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Message<'a> {
    #[serde(borrow)]
    pub(super) content: Content<'a>,
    #[serde(borrow)]
    pub(super) reasoning_content: Text<'a>,
    #[serde(borrow)]
    pub(super) reasoning: Text<'a>,
    #[serde(borrow)]
    pub(super) reasoning_text: Text<'a>,
    #[serde(borrow)]
    pub(super) thinking: Text<'a>,
    #[serde(borrow)]
    pub(super) reasoning_details: Option<&'a RawValue>,
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
    /// Wanted back with the call.
    #[serde(borrow)]
    pub(super) extra_content: Option<&'a RawValue>,
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
        let Content { text, thought } = Content::deserialize(deserializer)?;
        Ok(if text.0.is_empty() { thought } else { text })
    }
}

/// A string, or parts of text and of reasoning; anything else reads as nothing.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Content<'a> {
    pub(super) text: Text<'a>,
    pub(super) thought: Text<'a>,
}

impl<'a> Content<'a> {
    fn of(text: impl Into<Cow<'a, str>>) -> Self {
        Self { text: Text(text.into()), thought: Text::default() }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Content::of(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Content::of(text.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Content::default())
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Content::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Content::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(Content::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Content::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Self::Value, A::Error> {
        let mut joined = Content::default();
        while let Some(part) = parts.next_element::<Content<'de>>()? {
            for (whole, part) in [(&mut joined.text.0, part.text.0), (&mut joined.thought.0, part.thought.0)]
            {
                if whole.is_empty() {
                    *whole = part;
                } else {
                    whole.to_mut().push_str(&part);
                }
            }
        }
        Ok(joined)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut part: A) -> Result<Self::Value, A::Error> {
        let mut read = Content::default();
        while let Some(key) = part.next_key::<Text<'de>>()? {
            match key.0.as_ref() {
                "text" => read.text = part.next_value()?,
                "thinking" | "summary" => read.thought = part.next_value()?,
                _ => drop(part.next_value::<IgnoredAny>()?),
            }
        }
        Ok(read)
    }
}

/// A whole number of zero or more, also in a string; anything else reads as none.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Int(pub(super) Option<u64>);

impl<'de> Deserialize<'de> for Int {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?.get();
        Ok(Self(numbers::parse(raw.trim_matches('"'))))
    }
}

impl Chunk<'_> {
    /// Whether it is an error that has no `error` member: a message with a code, or with the word for it.
    pub(super) fn is_error(&self) -> bool {
        let says = self.message.some().or(self.msg.some()).is_some();
        let is_code = |code: &RawValue| !matches!(code.get().trim_matches('"'), "" | "null" | "0" | "200");
        let is_refused = self.code.is_some_and(is_code);
        self.choices.as_ref().is_none_or(Vec::is_empty)
            && self.usage.is_none()
            && (self.object.0 == "error" || (says && is_refused))
    }

    /// What a service says in its own place, where that is no success.
    pub(super) fn own_error(&self) -> Option<&RawValue> {
        let told: Value = serde_json::from_str(self.base_resp?.get()).ok()?;
        let failed = told.get("status_code").and_then(numbers::whole).is_some_and(|status| status != 0);
        self.base_resp.filter(|_| failed)
    }
}

impl Message<'_> {
    /// Whether it says or calls anything.
    pub(super) fn says_something(&self) -> bool {
        let thoughts = [&self.reasoning_content, &self.reasoning, &self.reasoning_text, &self.thinking];
        let words = [&self.content.text, &self.content.thought, &self.refusal];
        thoughts.into_iter().chain(words).any(|text| text.some().is_some())
            || self.tool_calls.as_ref().is_some_and(|calls| !calls.is_empty())
            || self.function_call.is_some()
    }
}

/// Reads a chunk. What the fast path refuses is put into shape in `scratch` and read from there: odd types, bytes that
/// are no characters. The flag says whether lone surrogates were marked (see [`surrogates`]).
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
    let (mut value, marked) = surrogates::read(data)?;
    straighten(&mut value);
    *scratch = serde_json::to_vec(&value)?;
    Ok((serde_json::from_slice(scratch)?, marked))
}

/// Removes members whose shape makes no sense where they stand.
fn straighten(chunk: &mut Value) {
    keep(chunk, "choices", Value::is_array);
    keep(chunk, "x_groq", Value::is_object);
    let Some(choices) = chunk.get_mut("choices").and_then(Value::as_array_mut) else { return };
    choices.retain(Value::is_object);
    for choice in choices {
        for member in ["delta", "message"] {
            keep(choice, member, Value::is_object);
            let Some(message) = choice.get_mut(member) else { continue };
            keep(message, "function_call", Value::is_object);
            // One server writes the only call without its list.
            if let Some(call) = message.get_mut("tool_calls").filter(|calls| calls.is_object()) {
                *call = Value::Array(vec![call.take()]);
            }
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
