//! Request identifiers: what may be one, and how it is echoed.
//!
//! Knows nothing of who issued an identifier; both directions of a connection number independently.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The identifier of a request, echoed in its response exactly as it was received.
///
/// JSON-RPC 2.0 §4 allows a string, a number or null and discourages fractions; numbers here are the integers
/// that fit an `i64`. Anything else (a fraction, an exponent, `-0`, a larger number, a boolean, an array, an
/// object) is no identifier, and the message that carries it is invalid.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RequestId {
    /// `null`: accepted or refused as the connection's [`IdPolicy`](crate::IdPolicy) says.
    Null,
    /// An integer.
    Number(i64),
    /// A string, which may be empty.
    String(String),
}

impl RequestId {
    /// Reads an identifier from the text of one JSON value; `None` if the value cannot be one.
    pub(crate) fn from_json(text: &str) -> Option<Self> {
        let text = text.trim_matches([' ', '\t', '\n', '\r']);
        match text.as_bytes().first()? {
            b'"' => serde_json::from_str(text).ok().map(Self::String),
            b'n' => (text == "null").then_some(Self::Null),
            // `i64` also reads `+1`, `01` and `-0`; the first two are no JSON, the last would come back as `0`.
            b'-' | b'0'..=b'9' if text != "-0" => text.parse().ok().map(Self::Number),
            _ => None,
        }
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Number(number) => write!(f, "{number}"),
            Self::String(text) => f.write_str(text),
        }
    }
}

impl Serialize for RequestId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Number(number) => serializer.serialize_i64(*number),
            Self::String(text) => serializer.serialize_str(text),
        }
    }
}

impl<'de> Deserialize<'de> for RequestId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(IdVisitor)
    }
}

struct IdVisitor;

impl serde::de::Visitor<'_> for IdVisitor {
    type Value = RequestId;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("null, an integer or a string")
    }

    fn visit_unit<E>(self) -> Result<RequestId, E> {
        Ok(RequestId::Null)
    }

    fn visit_i64<E>(self, number: i64) -> Result<RequestId, E> {
        Ok(RequestId::Number(number))
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<RequestId, E> {
        i64::try_from(number).map(RequestId::Number).map_err(|_| E::custom("integer out of range"))
    }

    fn visit_str<E>(self, text: &str) -> Result<RequestId, E> {
        Ok(RequestId::String(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<RequestId, E> {
        Ok(RequestId::String(text))
    }
}

impl From<i64> for RequestId {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for RequestId {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<String> for RequestId {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_strings_and_null_are_identifiers_and_come_back_as_they_went() {
        for text in
            ["null", "0", "-1", "7", "9007199254740992", "-9223372036854775808", "\"\"", "\"a b\"", "\"7\""]
        {
            let id = RequestId::from_json(text).unwrap();
            assert_eq!(serde_json::to_string(&id).unwrap(), text);
            assert_eq!(serde_json::from_str::<RequestId>(text).unwrap(), id);
        }
    }

    #[test]
    fn everything_else_is_no_identifier() {
        for text in
            ["1.5", "1.0", "1e3", "-0", "9223372036854775808", "true", "[]", "[1]", "{}", "+1", "\"\\ud800\""]
        {
            assert_eq!(RequestId::from_json(text), None, "{text}");
            assert!(text == "-0" || serde_json::from_str::<RequestId>(text).is_err(), "{text}");
        }
    }
}
