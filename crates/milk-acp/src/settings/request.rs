//! How an agent's model is asked: what is added to every request.

use agent_runtime::provider::{Effort, Thinking};
use agent_runtime::providers::Sampling;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

/// What is added to every request. What is not given is left to the server.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct RequestSettings {
    /// Tokens an answer may have; 0 when not given.
    pub max_tokens: i64,
    /// 0 is always the likeliest word.
    pub temperature: Option<f64>,
    /// The share of likely words that are chosen from.
    pub top_p: Option<f64>,
    /// How much the model thinks: a word or a number of tokens.
    #[serde(deserialize_with = "thinking")]
    pub thinking_budget: Option<Thinking>,
    /// Whether a server that has to be told keeps the beginnings of requests.
    pub prompt_caching: Option<bool>,
    /// Further members of a request's body; they win over milk's own where those are optional.
    pub extra: Map<String, Value>,
}

impl RequestSettings {
    /// Tokens an answer may have, when given.
    #[must_use]
    pub fn limit(&self) -> Option<u64> {
        u64::try_from(self.max_tokens).ok().filter(|tokens| *tokens > 0)
    }

    /// How words are chosen.
    #[must_use]
    pub fn sampling(&self) -> Sampling {
        Sampling { temperature: self.temperature, top_p: self.top_p }
    }
}

/// How much a model thinks, as `value` says it: a word, or tokens (negative is as much as it can, 0 not at all).
pub(super) fn thinking_of(value: &Value) -> Option<Thinking> {
    match value {
        Value::String(word) => Effort::from_id(word).map(Thinking::Effort),
        Value::Number(number) => {
            let tokens = number.as_i64()?;
            Some(u64::try_from(tokens).map_or(Thinking::Effort(Effort::Max), Thinking::Budget))
        }
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn thinking<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Thinking>, D::Error> {
    Ok(thinking_of(&Value::deserialize(deserializer)?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_thinking_budget_is_a_word_or_a_number() {
        let table = [
            (json!("Low"), Some(Thinking::Effort(Effort::Low))),
            (json!("none"), Some(Thinking::Effort(Effort::None))),
            (json!(2000), Some(Thinking::Budget(2000))),
            (json!(0), Some(Thinking::Budget(0))),
            (json!(-1), Some(Thinking::Effort(Effort::Max))),
            (json!("adaptable"), None),
            (json!(1.5), None),
        ];
        for (value, expected) in table {
            assert_eq!(thinking_of(&value), expected, "{value}");
            let read: RequestSettings = serde_json::from_value(json!({"thinking_budget": value})).unwrap();
            assert_eq!(read.thinking_budget, expected, "{value}");
        }
        assert_eq!(serde_json::from_value::<RequestSettings>(json!({})).unwrap(), RequestSettings::default());
    }
}
