//! The parameters of a request or notification, kept as text until the one who knows their type reads them.
//!
//! Knows no method: what the parameters mean is the reader's business.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use crate::RpcError;

/// Parameters as they came: absent, or the unread text of one JSON value.
#[derive(Debug, Clone, Default)]
pub struct Params(Option<Box<RawValue>>);

impl Params {
    /// No parameters.
    #[must_use]
    pub fn none() -> Self {
        Self(None)
    }

    /// Parameters from a value that serialises to a JSON object.
    ///
    /// # Errors
    /// When the value cannot be written as JSON.
    pub fn from_value<P: Serialize + ?Sized>(params: &P) -> Result<Self, serde_json::Error> {
        to_raw_value(params).map(Self::from)
    }

    /// The text as it came, if there was any.
    #[must_use]
    pub fn raw(&self) -> Option<&RawValue> {
        self.0.as_deref()
    }

    /// Reads the parameters into their type; absent (or null) parameters read as `{}`.
    ///
    /// # Errors
    /// `-32602` for an array, a scalar, or an object that does not fit. The text names the place and what was
    /// expected there, never the value that was found.
    pub fn parse<'a, T: Deserialize<'a>>(&'a self) -> Result<T, RpcError> {
        let text = self.0.as_ref().map_or("{}", |raw| raw.get());
        if !text.starts_with('{') {
            return Err(RpcError::invalid_params("Invalid params: expected an object"));
        }
        decode(text).map_err(|place| RpcError::invalid_params(format!("Invalid params: {place}")))
    }
}

impl From<Box<RawValue>> for Params {
    fn from(raw: Box<RawValue>) -> Self {
        Self((raw.get() != "null").then_some(raw))
    }
}

/// Reads `text`; the error says where and what was expected, and repeats nothing of the text but member names.
pub(crate) fn decode<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, String> {
    match serde_json::from_str(text) {
        Ok(value) => Ok(value),
        Err(error) => Err(describe::<T>(text, &error)),
    }
}

/// Only failures pay for the path: the text is read a second time with the place tracked.
fn describe<'a, T: Deserialize<'a>>(text: &'a str, error: &serde_json::Error) -> String {
    let mut reader = serde_json::Deserializer::from_str(text);
    let path = serde_path_to_error::deserialize::<_, T>(&mut reader)
        .err()
        .map(|error| error.path().to_string())
        .filter(|path| path != ".");
    let what = without_values(&error.to_string()).into_owned();
    path.map_or_else(|| what.clone(), |path| format!("{path}: {what}"))
}

/// Keeps of a decoder's message what comes from our types and drops what comes from the peer's data.
fn without_values(message: &str) -> Cow<'static, str> {
    let message = message.rsplit_once(" at line ").map_or(message, |(message, _)| message);
    if message.starts_with("missing field ") || message.starts_with("duplicate field ") {
        return Cow::Owned(message.to_owned());
    }
    match message.rsplit_once(", expected ") {
        Some((_, expected)) => Cow::Owned(format!("expected {expected}")),
        None => Cow::Borrowed("not a valid value"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Inner {
        size: u32,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Outer {
        #[serde(default)]
        name: String,
        inner: Option<Inner>,
    }

    fn params(text: &str) -> Params {
        Params::from(RawValue::from_string(text.to_owned()).unwrap())
    }

    #[test]
    fn absent_and_null_parameters_read_as_an_empty_object() {
        let empty = Outer { name: String::new(), inner: None };
        assert_eq!(Params::none().parse::<Outer>().unwrap(), empty);
        assert_eq!(params("null").parse::<Outer>().unwrap(), empty);
        assert!(params("null").raw().is_none());
    }

    #[test]
    fn arrays_and_scalars_are_invalid_params() {
        for text in ["[]", "[1]", "1", "\"x\"", "true"] {
            assert_eq!(params(text).parse::<Outer>().unwrap_err().code, RpcError::INVALID_PARAMS, "{text}");
        }
    }

    #[test]
    fn the_error_names_the_place_and_hides_the_value() {
        let error = params(r#"{"inner":{"size":"hunter2, expected secret"}}"#).parse::<Outer>().unwrap_err();
        assert_eq!(error.message, "Invalid params: inner.size: expected u32");
        let error = params(r#"{"inner":{}}"#).parse::<Outer>().unwrap_err();
        assert_eq!(error.message, "Invalid params: inner: missing field `size`");
    }
}
