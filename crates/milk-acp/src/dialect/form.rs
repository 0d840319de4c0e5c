//! Checks a filled-in form against the flat schema it was asked with (ACP: Elicitation). A client may send anything;
//! what leaves here fits. Knows the schema's few keywords and nothing of the protocol around them.

use serde_json::{Map, Value};

/// Whether `content` fits `schema`; the error names the member and what it must be, never what it was.
pub(super) fn check(schema: &Value, content: &Value) -> Result<(), String> {
    let Value::Object(content) = content else {
        return Err("`content` must be an object".to_owned());
    };
    let empty = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    for name in texts(schema.get("required")) {
        if !content.contains_key(name) {
            return Err(format!("`{name}` is missing"));
        }
    }
    for (name, value) in content {
        let property = properties.get(name).ok_or_else(|| format!("`{name}` was not asked for"))?;
        check_value(property, value).map_err(|problem| format!("`{name}` {problem}"))?;
    }
    Ok(())
}

fn check_value(property: &Value, value: &Value) -> Result<(), String> {
    match property.get("type").and_then(Value::as_str) {
        Some("string") => check_string(property, value),
        Some("integer") if !is_integer(value) => Err("must be a whole number".to_owned()),
        Some("integer" | "number") => check_number(property, value),
        Some("boolean") if !value.is_boolean() => Err("must be true or false".to_owned()),
        Some("array") => check_choices(property, value),
        _ => Ok(()),
    }
}

fn check_string(property: &Value, value: &Value) -> Result<(), String> {
    let text = value.as_str().ok_or("must be a text")?;
    let length = text.chars().count() as u64;
    if property.get("minLength").and_then(Value::as_u64).is_some_and(|least| length < least) {
        return Err("is too short".to_owned());
    }
    if property.get("maxLength").and_then(Value::as_u64).is_some_and(|most| length > most) {
        return Err("is too long".to_owned());
    }
    one_of(property, "oneOf", text)
}

fn check_number(property: &Value, value: &Value) -> Result<(), String> {
    let number = value.as_f64().ok_or("must be a number")?;
    if property.get("minimum").and_then(Value::as_f64).is_some_and(|least| number < least) {
        return Err("is too small".to_owned());
    }
    if property.get("maximum").and_then(Value::as_f64).is_some_and(|most| number > most) {
        return Err("is too large".to_owned());
    }
    Ok(())
}

fn check_choices(property: &Value, value: &Value) -> Result<(), String> {
    let chosen = value.as_array().ok_or("must be a list")?;
    let count = chosen.len() as u64;
    if property.get("minItems").and_then(Value::as_u64).is_some_and(|least| count < least) {
        return Err("has too few entries".to_owned());
    }
    if property.get("maxItems").and_then(Value::as_u64).is_some_and(|most| count > most) {
        return Err("has too many entries".to_owned());
    }
    let items = property.get("items").unwrap_or(&Value::Null);
    chosen
        .iter()
        .try_for_each(|entry| one_of(items, "anyOf", entry.as_str().ok_or("must be a list of texts")?))
}

/// Whether `text` is among the allowed values, if there is a list of them: plain (`enum`) or titled (`titled`).
fn one_of(property: &Value, titled: &str, text: &str) -> Result<(), String> {
    let mut allowed: Vec<&str> = texts(property.get("enum")).collect();
    let entries = property.get(titled).and_then(Value::as_array);
    allowed.extend(entries.into_iter().flatten().filter_map(|entry| entry.get("const")?.as_str()));
    if allowed.is_empty() || allowed.contains(&text) {
        return Ok(());
    }
    Err(format!("must be one of {}", allowed.join(", ")))
}

fn is_integer(value: &Value) -> bool {
    value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0)
}

fn texts(list: Option<&Value>) -> impl Iterator<Item = &str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn problem(property: &Value, value: &Value) -> Option<String> {
        let schema = json!({"type": "object", "properties": {"x": property}});
        check(&schema, &json!({"x": value})).err()
    }

    #[test]
    fn values_that_fit_pass() {
        for (property, value) in [
            (json!({"type": "string"}), json!("")),
            (json!({"type": "string", "enum": ["a", "b"]}), json!("b")),
            (json!({"type": "string", "oneOf": [{"const": "a", "title": "A"}]}), json!("a")),
            (json!({"type": "integer", "minimum": 1, "maximum": 3}), json!(3)),
            (json!({"type": "integer"}), json!(2.0)),
            (json!({"type": "number"}), json!(2.5)),
            (json!({"type": "boolean"}), json!(false)),
            (json!({"type": "array", "items": {"type": "string", "enum": ["a"]}}), json!(["a"])),
            (json!({"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}}), json!(["a"])),
        ] {
            assert_eq!(problem(&property, &value), None, "{property}");
        }
    }

    #[test]
    fn values_that_do_not_fit_are_named_with_the_remedy() {
        for (property, value, expected) in [
            (json!({"type": "string"}), json!(1), "`x` must be a text"),
            (json!({"type": "string", "minLength": 2}), json!("é"), "`x` is too short"),
            (json!({"type": "string", "maxLength": 1}), json!("ab"), "`x` is too long"),
            (json!({"type": "string", "enum": ["a", "b"]}), json!("c"), "`x` must be one of a, b"),
            (json!({"type": "string", "oneOf": [{"const": "a"}]}), json!("A"), "`x` must be one of a"),
            (json!({"type": "integer"}), json!(1.5), "`x` must be a whole number"),
            (json!({"type": "integer", "minimum": 1}), json!(0), "`x` is too small"),
            (json!({"type": "number", "maximum": 1}), json!(1.5), "`x` is too large"),
            (json!({"type": "number"}), json!("1"), "`x` must be a number"),
            (json!({"type": "boolean"}), json!("true"), "`x` must be true or false"),
            (json!({"type": "array"}), json!("a"), "`x` must be a list"),
            (json!({"type": "array", "minItems": 1}), json!([]), "`x` has too few entries"),
            (json!({"type": "array", "maxItems": 0}), json!(["a"]), "`x` has too many entries"),
            (json!({"type": "array", "items": {"enum": ["a"]}}), json!(["b"]), "`x` must be one of a"),
            (json!({"type": "array"}), json!([1]), "`x` must be a list of texts"),
        ] {
            assert_eq!(problem(&property, &value).as_deref(), Some(expected), "{property}");
        }
    }

    #[test]
    fn missing_and_unasked_members_are_refused() {
        let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
        assert_eq!(check(&schema, &json!({})).unwrap_err(), "`a` is missing");
        assert_eq!(check(&schema, &json!({"a": "", "b": 1})).unwrap_err(), "`b` was not asked for");
    }
}
