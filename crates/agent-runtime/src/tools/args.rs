//! Reads the members of a call's arguments as a model means them: numbers and flags may come as strings, `null`
//! is absence, unknown members are ignored. Knows no tool.

use serde_json::{Map, Value};

/// The arguments of one call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Args<'a>(&'a Map<String, Value>);

impl<'a> Args<'a> {
    pub(crate) fn new(members: &'a Map<String, Value>) -> Self {
        Self(members)
    }

    /// A string that must be there.
    pub(crate) fn string(self, name: &str) -> Result<String, String> {
        self.optional_string(name)?.ok_or_else(|| format!("`{name}` is missing: a string is expected"))
    }

    /// A string that may be absent. A number or flag stands for its spelling.
    pub(crate) fn optional_string(self, name: &str) -> Result<Option<String>, String> {
        match self.member(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            Some(Value::Bool(flag)) => Ok(Some(flag.to_string())),
            Some(other) => Err(wrong(name, "a string", other)),
        }
    }

    /// A list of strings that must be there. A single string stands for a list of one, or spells the list in JSON.
    pub(crate) fn strings(self, name: &str) -> Result<Vec<String>, String> {
        const EXPECTED: &str = "a list of strings";
        let list = match self.member(name) {
            None => return Err(format!("`{name}` is missing: {EXPECTED} is expected")),
            Some(Value::Array(items)) => items.clone(),
            Some(Value::String(text)) => match serde_json::from_str(text) {
                Ok(Value::Array(items)) => items,
                Ok(_) | Err(_) => vec![Value::String(text.clone())],
            },
            Some(other) => return Err(wrong(name, EXPECTED, other)),
        };
        let text = |item: Value| match item {
            Value::String(text) => Ok(text),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                Err(wrong(name, EXPECTED, &item))
            }
        };
        list.into_iter().map(text).collect()
    }

    /// A whole number that may be absent. `"12"` and `12.0` stand for 12; an empty string is absence.
    pub(crate) fn optional_count(self, name: &str) -> Result<Option<u64>, String> {
        const EXPECTED: &str = "a whole number, 0 or more";
        let spelled = match self.member(name) {
            None => return Ok(None),
            Some(Value::Number(number)) => number.to_string(),
            Some(Value::String(text)) => text.trim().to_owned(),
            Some(other) => return Err(wrong(name, EXPECTED, other)),
        };
        if spelled.is_empty() {
            return Ok(None);
        }
        let whole = spelled.strip_suffix(".0").unwrap_or(&spelled);
        whole.parse().map(Some).map_err(|_| format!("`{name}` must be {EXPECTED}, not {spelled}"))
    }

    /// A flag, absent meaning `default`. `"true"`, `"false"`, `1` and `0` are understood.
    pub(crate) fn flag(self, name: &str, default: bool) -> Result<bool, String> {
        let spelled = match self.member(name) {
            None => return Ok(default),
            Some(Value::Bool(flag)) => return Ok(*flag),
            Some(Value::String(text)) => text.trim().to_ascii_lowercase(),
            Some(Value::Number(number)) => number.to_string(),
            Some(other) => return Err(wrong(name, "true or false", other)),
        };
        match spelled.as_str() {
            "true" | "yes" | "1" => Ok(true),
            "false" | "no" | "0" => Ok(false),
            "" => Ok(default),
            _ => Err(format!("`{name}` must be true or false, not {spelled}")),
        }
    }

    fn member(self, name: &str) -> Option<&'a Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }
}

fn wrong(name: &str, expected: &str, found: &Value) -> String {
    let found = match found {
        Value::Null => "null",
        Value::Bool(_) => "a flag",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    format!("`{name}` must be {expected}, not {found}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read<T>(members: Value, of: impl Fn(Args<'_>) -> T) -> T {
        let Value::Object(members) = members else { panic!("an object") };
        of(Args::new(&members))
    }

    #[test]
    fn counts_come_in_many_spellings() {
        for (given, expected) in [
            (json!({"n": 12}), Ok(Some(12))),
            (json!({"n": "12"}), Ok(Some(12))),
            (json!({"n": " 12 "}), Ok(Some(12))),
            (json!({"n": 12.0}), Ok(Some(12))),
            (json!({"n": ""}), Ok(None)),
            (json!({"n": null}), Ok(None)),
            (json!({}), Ok(None)),
            (json!({"n": -1}), Err("`n` must be a whole number, 0 or more, not -1".to_owned())),
            (json!({"n": 1.5}), Err("`n` must be a whole number, 0 or more, not 1.5".to_owned())),
            (json!({"n": "many"}), Err("`n` must be a whole number, 0 or more, not many".to_owned())),
            (json!({"n": [1]}), Err("`n` must be a whole number, 0 or more, not an array".to_owned())),
        ] {
            assert_eq!(read(given.clone(), |args| args.optional_count("n")), expected, "{given}");
        }
    }

    #[test]
    fn flags_come_in_many_spellings() {
        for (given, expected) in [
            (json!({"f": true}), Ok(true)),
            (json!({"f": "True"}), Ok(true)),
            (json!({"f": 0}), Ok(false)),
            (json!({"f": null}), Ok(false)),
            (json!({}), Ok(false)),
            (json!({"f": "maybe"}), Err("`f` must be true or false, not maybe".to_owned())),
            (json!({"f": {}}), Err("`f` must be true or false, not an object".to_owned())),
        ] {
            assert_eq!(read(given.clone(), |args| args.flag("f", false)), expected, "{given}");
        }
    }

    #[test]
    fn lists_of_strings_come_in_several_spellings() {
        for (given, expected) in [
            (json!({"l": ["a", "b"]}), Ok(vec!["a", "b"])),
            (json!({"l": "a"}), Ok(vec!["a"])),
            (json!({"l": "[\"a\", \"b\"]"}), Ok(vec!["a", "b"])),
            (json!({"l": []}), Ok(vec![])),
            (json!({"l": [1]}), Err("`l` must be a list of strings, not a number")),
            (json!({"l": {}}), Err("`l` must be a list of strings, not an object")),
            (json!({}), Err("`l` is missing: a list of strings is expected")),
        ] {
            let expected = expected
                .map(|list| list.into_iter().map(str::to_owned).collect::<Vec<_>>())
                .map_err(str::to_owned);
            assert_eq!(read(given.clone(), |args| args.strings("l")), expected, "{given}");
        }
    }

    #[test]
    fn strings_are_named_when_missing_or_of_another_type() {
        assert_eq!(read(json!({"s": 3}), |args| args.string("s")), Ok("3".to_owned()));
        assert_eq!(
            read(json!({}), |args| args.string("s")),
            Err("`s` is missing: a string is expected".to_owned())
        );
        assert_eq!(
            read(json!({"s": ["a"]}), |args| args.string("s")),
            Err("`s` must be a string, not an array".to_owned())
        );
    }
}
