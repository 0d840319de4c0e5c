//! Whole numbers as servers write them: also as a fraction of nothing (`12.0`) or in a string. Knows nothing of what
//! is counted.

use serde_json::Value;

/// A whole number of zero or more; anything else is none.
pub(super) fn whole(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64().or_else(|| whole_of(number.as_f64()?)),
        Value::String(text) => parse(text),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The same from text.
pub(super) fn parse(text: &str) -> Option<u64> {
    let text = text.trim();
    text.parse().ok().or_else(|| whole_of(text.parse().ok()?))
}

fn whole_of(number: f64) -> Option<u64> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked: a whole number below 2^53"
    )]
    (number >= 0.0 && number.fract() == 0.0 && number < 9.0e15).then_some(number as u64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_read_in_every_spelling() {
        let table = [
            (json!(12), Some(12)),
            (json!(12.0), Some(12)),
            (json!("12"), Some(12)),
            (json!(" 12.0 "), Some(12)),
            (json!(12.5), None),
            (json!(-1), None),
            (json!("n/a"), None),
            (json!(null), None),
            (json!(true), None),
            (json!([1]), None),
            (json!(1e300), None),
        ];
        for (value, expected) in table {
            assert_eq!(whole(&value), expected, "{value}");
        }
    }
}
