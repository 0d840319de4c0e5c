//! The arguments of calls as models write them, and ids for calls. Knows nothing of streams or of tools.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;

/// Mints the ids of calls; one a provider.
#[derive(Debug, Default)]
pub(super) struct CallIds(AtomicU64);

impl CallIds {
    /// The next id.
    pub(super) fn mint(&self) -> String {
        format!("call_{}", self.0.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

/// What the arguments were meant to be, where that is beyond doubt; otherwise as they are.
pub(super) fn settle(arguments: &str) -> String {
    let text = arguments.trim();
    if text.is_empty() || text == "null" {
        return "{}".to_owned();
    }
    if is_object(text) {
        return text.to_owned();
    }
    if let Ok(inner) = serde_json::from_str::<String>(text)
        && (inner.trim().is_empty() || is_object(&inner))
    {
        return settle(&inner);
    }
    // The same object twice, or an empty one before or after the real one.
    let values = serde_json::Deserializer::from_str(text).into_iter::<Value>().collect::<Result<Vec<_>, _>>();
    let Ok(mut values) = values else { return arguments.to_owned() };
    if !values.iter().all(Value::is_object) {
        return arguments.to_owned();
    }
    values.retain(|value| value.as_object().is_some_and(|members| !members.is_empty()));
    values.dedup();
    match values.as_slice() {
        [] => "{}".to_owned(),
        [one] => one.to_string(),
        _ => arguments.to_owned(),
    }
}

/// Arguments, or a piece of them, as text, whether they came as a string or as the JSON itself.
pub(super) fn as_text(told: &Value) -> Cow<'_, str> {
    match told {
        Value::Null => Cow::Borrowed(""),
        Value::String(text) => Cow::Borrowed(text),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            Cow::Owned(told.to_string())
        }
    }
}

/// Whether `text` is one JSON object and nothing else.
pub(super) fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{') && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}
