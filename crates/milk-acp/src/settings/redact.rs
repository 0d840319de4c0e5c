//! Takes secrets out of a document before it is shown. Works by the names of members, so it also covers members
//! this version does not know.

use serde_json::Value;

/// What stands for a secret.
const MASK: &str = "***";

/// Words in a member's name that make its text a secret.
const SECRET_WORDS: [&str; 9] =
    ["api_key", "apikey", "api-key", "token", "secret", "password", "authorization", "cookie", "key_id"];

/// Replaces every secret by `***`. References to variables (`$NAME`) stay: they name a secret but are none.
pub fn redact(value: &mut Value) {
    match value {
        Value::Object(map) => {
            for (name, member) in map.iter_mut() {
                redact_member(name, member);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(redact),
        Value::String(text) => *text = redact_url(text),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Headers that are known to carry no secret; any other may.
const PLAIN_HEADERS: [&str; 8] = [
    "accept",
    "content-type",
    "editor-version",
    "editor-plugin-version",
    "copilot-integration-id",
    "http-referer",
    "user-agent",
    "x-title",
];

fn redact_member(name: &str, member: &mut Value) {
    match member {
        Value::Object(headers) if name.eq_ignore_ascii_case("headers") => {
            for (header, value) in headers {
                if PLAIN_HEADERS.contains(&header.to_lowercase().as_str()) {
                    redact(value);
                } else {
                    mask(value);
                }
            }
        }
        Value::Object(members) if name == "redaction" => {
            for (_, value) in members {
                mask(value);
            }
        }
        Value::String(_) | Value::Array(_) if is_secret(name) => mask(member),
        Value::String(_) | Value::Object(_) | Value::Array(_) => redact(member),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn mask(value: &mut Value) {
    match value {
        Value::String(text) => {
            if !text.is_empty() && !is_reference(text) {
                MASK.clone_into(text);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(mask),
        Value::Object(_) | Value::Null | Value::Bool(_) | Value::Number(_) => redact(value),
    }
}

fn is_secret(name: &str) -> bool {
    let name = name.to_lowercase();
    // `token_cmd` says how to get a token; `…_tokens` counts them.
    if name.ends_with("_cmd") || name.ends_with("tokens") {
        return false;
    }
    name == "key"
        || name.ends_with("_key")
        || name.ends_with("-key")
        || SECRET_WORDS.iter().any(|word| name.contains(word))
}

/// Whether the text names a variable instead of holding a value.
pub(super) fn is_reference(text: &str) -> bool {
    variable_of(text).is_some()
}

/// The variable that `$NAME` or `${NAME}` names.
pub(super) fn variable_of(text: &str) -> Option<&str> {
    let rest = text.trim().strip_prefix('$')?;
    let name = rest.strip_prefix('{').map_or(Some(rest), |inner| inner.strip_suffix('}'))?;
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    (starts_well && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')).then_some(name)
}

/// Masks the credentials a URL may carry: user information and telling query members. Other text is unchanged.
#[must_use]
pub fn redact_url(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at(end);
    let host =
        authority.rsplit_once('@').map_or_else(|| authority.to_owned(), |(_, host)| format!("{MASK}@{host}"));
    let tail = tail.split_once('?').map_or_else(
        || tail.to_owned(),
        |(path, query)| {
            let members: Vec<_> = query.split('&').map(redact_query_member).collect();
            format!("{path}?{}", members.join("&"))
        },
    );
    format!("{scheme}://{host}{tail}")
}

fn redact_query_member(member: &str) -> String {
    match member.split_once('=') {
        Some((name, _)) if is_secret(name) => format!("{name}={MASK}"),
        Some(_) | None => member.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn secrets_are_masked_wherever_they_stand() {
        let mut document = json!({
            "agents": [{
                "name": "a", "api_key": "sk-1", "token_cmd": "gh auth token", "context_window_tokens": 8192,
                "url": "https://user:pw@host/v1?key=abc&api-version=2", "aws_secret": "s", "aws_key_id": "AK",
                "headers": {"Authorization": "Bearer x", "X-Title": "milk", "api-key": "k", "X-Auth-Token": "t",
                            "X-Key": "k", "Anything": "a", "Referenced": "$KEY"},
            }, {"name": "b", "api_key": "$OPENAI_API_KEY"}, {"name": "c", "api_key": ""}],
            "remote_oversight": {"telegram": {"token": "123:abc", "chat_id": 7}},
            "mcp_servers": [{"env": {"GITHUB_TOKEN": "t", "HOME": "/h"}}],
            "future": {"client_secrets": ["a", "b"]},
            "redaction": {"enabled": true, "values": ["word", "$NAME"]},
        });
        redact(&mut document);
        assert_eq!(
            document,
            json!({
                "agents": [{
                    "name": "a", "api_key": "***", "token_cmd": "gh auth token", "context_window_tokens": 8192,
                    "url": "https://***@host/v1?key=***&api-version=2", "aws_secret": "***", "aws_key_id": "***",
                    "headers": {"Authorization": "***", "X-Title": "milk", "api-key": "***", "X-Auth-Token": "***",
                                "X-Key": "***", "Anything": "***", "Referenced": "$KEY"},
                }, {"name": "b", "api_key": "$OPENAI_API_KEY"}, {"name": "c", "api_key": ""}],
                "remote_oversight": {"telegram": {"token": "***", "chat_id": 7}},
                "mcp_servers": [{"env": {"GITHUB_TOKEN": "***", "HOME": "/h"}}],
                "future": {"client_secrets": ["***", "***"]},
                "redaction": {"enabled": true, "values": ["***", "$NAME"]},
            })
        );
    }

    #[test]
    fn a_reference_names_a_variable_whole() {
        assert_eq!(variable_of("$KEY"), Some("KEY"));
        assert_eq!(variable_of(" ${MY_KEY1} "), Some("MY_KEY1"));
        for literal in ["KEY", "$", "${}", "${KEY", "$KEY-x", "$1", "a$KEY", "$sk-live"] {
            assert_eq!(variable_of(literal), None, "{literal}");
        }
    }
}
