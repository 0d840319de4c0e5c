//! Reasoning in parts (`reasoning_details`), signed or encrypted: put together as it has to go back. Knows nothing of
//! what is shown of it but its words.

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::providers::surrogates::{self, Joiner};

/// Members that come in pieces.
const PIECES: &[&str] = &["text", "summary", "data"];

/// The parts of one answer.
#[derive(Debug, Default)]
pub(super) struct Details {
    parts: Vec<Map<String, Value>>,
    /// Of the last part.
    joiner: Joiner,
}

impl Details {
    /// Takes what one delta has of them; their words, and whether halves of characters had to be marked in these.
    pub(super) fn take(&mut self, raw: Option<&RawValue>) -> (String, bool) {
        let read = raw.and_then(|raw| surrogates::read(raw.get().as_bytes()).ok());
        let Some((Value::Array(parts), marked)) = read else { return (String::new(), false) };
        let mut words = String::new();
        for part in parts {
            let Value::Object(part) = part else { continue };
            for member in ["text", "summary"] {
                words.push_str(part.get(member).and_then(Value::as_str).unwrap_or_default());
            }
            self.add(part, marked);
        }
        (words, marked)
    }

    /// All parts, whole.
    pub(super) fn finish(&mut self) -> Option<Value> {
        let parts = std::mem::take(&mut self.parts);
        (!parts.is_empty()).then(|| parts.into_iter().map(Value::Object).collect())
    }

    fn add(&mut self, mut part: Map<String, Value>, marked: bool) {
        let same = |last: &Map<String, Value>, member| last.get(member) == part.get(member);
        let continues = self.parts.last().is_some_and(|last| same(last, "type") && same(last, "index"));
        if !continues {
            self.joiner = Joiner::default();
            self.parts.push(Map::new());
        }
        let Some(last) = self.parts.last_mut() else { return };
        for member in PIECES {
            if let Some(Value::String(piece)) = part.get_mut(*member) {
                let so_far = last.get(*member).and_then(Value::as_str).unwrap_or_default();
                *piece = format!("{so_far}{}", self.joiner.add(piece, marked));
            }
        }
        last.extend(part.into_iter().filter(|(_, value)| !value.is_null()));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(deltas: &[Value]) -> (String, Option<Value>) {
        let mut details = Details::default();
        let mut words = String::new();
        for delta in deltas {
            let raw = RawValue::from_string(delta.to_string()).unwrap();
            words.push_str(&details.take(Some(&raw)).0);
        }
        (words, details.finish())
    }

    #[test]
    fn parts_come_in_pieces_and_go_back_whole() {
        let text =
            |text: &str| json!([{"type": "reasoning.text", "index": 0, "text": text, "signature": null}]);
        let (words, whole) = read(&[
            text("let "),
            text("me"),
            json!([{"type": "reasoning.text", "index": 0, "signature": "s"}]),
            json!([{"type": "reasoning.encrypted", "index": 1, "data": "ab"}]),
            json!([{"type": "reasoning.encrypted", "index": 1, "data": "cd"}]),
        ]);
        assert_eq!(words, "let me");
        let expected = json!([
            {"type": "reasoning.text", "index": 0, "text": "let me", "signature": "s"},
            {"type": "reasoning.encrypted", "index": 1, "data": "abcd"},
        ]);
        assert_eq!(whole, Some(expected));
    }

    #[test]
    fn what_is_no_list_of_parts_is_nothing() {
        for odd in [json!(null), json!("hm"), json!({"text": "hm"}), json!([]), json!([1, "x"])] {
            assert_eq!(read(&[odd]), (String::new(), None));
        }
    }
}
