//! Which members there are and of what type. A member of another type is taken out with a warning before the
//! layers are merged, so that it cannot hide a good value of a wider layer.

use std::path::Path;

use agent_runtime::provider::Effort;
use serde_json::{Map, Value};

use super::request::thinking_of;
use super::warning::Warning;

/// The type of a member.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Bool,
    Int,
    Number,
    /// How much a model thinks: a word or a number of tokens.
    Thinking,
    Text,
    Texts,
    TextMap,
    /// One of these words, in any case.
    Word(&'static [&'static str]),
    Object(&'static [Key]),
    Objects(&'static [Key]),
    /// An object of objects.
    ObjectMap(&'static [Key]),
    /// A number that is not below zero.
    Amount,
}

type Key = (&'static str, Kind);

const AGENT: &[Key] = &[
    ("name", Kind::Text),
    ("provider", Kind::Text),
    ("url", Kind::Text),
    ("model", Kind::Text),
    ("chat_path", Kind::Text),
    ("api_format", Kind::Word(&["", "chat_completions", "responses", "messages"])),
    ("headers", Kind::TextMap),
    ("api_key", Kind::Text),
    ("token_cmd", Kind::Text),
    ("aws_region", Kind::Text),
    ("aws_key_id", Kind::Text),
    ("aws_secret", Kind::Text),
    ("aws_token", Kind::Text),
    ("aws_service", Kind::Text),
    ("aws_refresh_cmd", Kind::Text),
    ("tls_skip_verify", Kind::Bool),
    ("tls_ca_cert", Kind::Text),
    ("run_cmd", Kind::Text),
    ("context_window_tokens", Kind::Int),
    ("max_tokens", Kind::Int),
    ("temperature", Kind::Number),
    ("top_p", Kind::Number),
    ("thinking_budget", Kind::Thinking),
    ("prompt_caching", Kind::Bool),
    ("extra", Kind::Object(&[])),
    ("capabilities", Kind::Object(CAPABILITIES)),
    ("system_prompt_tier", Kind::Word(&["", "minimal", "standard", "full"])),
    ("prompt", Kind::Text),
    ("prompt_file", Kind::Text),
    ("mcp_servers", Kind::Texts),
    ("tools", Kind::Objects(PEER)),
    ("limits", Kind::Object(LIMITS)),
    ("bin", Kind::Text),
    ("command", Kind::Text),
    ("args", Kind::Texts),
    ("env", Kind::TextMap),
    ("settings", Kind::Object(&[])),
    ("dangerously_skip_permissions", Kind::Bool),
    ("allowed_tools", Kind::Texts),
    ("add_dirs", Kind::Texts),
    ("extra_args", Kind::Texts),
    ("action_type", Kind::Word(&["", "code", "tool_calling"])),
    ("model_type", Kind::Text),
    ("smolagent_tools", Kind::Texts),
    ("authorized_imports", Kind::Texts),
    ("max_steps", Kind::Int),
    ("prompt_argument", Kind::Bool),
    ("client_files", Kind::Bool),
    ("client_terminals", Kind::Bool),
];

const CAPABILITIES: &[Key] = &[("audio", Kind::Bool)];

const PEER: &[Key] = &[("agent", Kind::Text), ("description", Kind::Text), ("enabled", Kind::Bool)];

const LIMITS: &[Key] = &[
    ("context_budget_chars", Kind::Int),
    ("message_budget_chars", Kind::Int),
    ("max_tool_iterations", Kind::Int),
    ("turn_timeout_secs", Kind::Int),
    ("tool_timeout_secs", Kind::Int),
    ("included_tools", Kind::Texts),
    ("excluded_tools", Kind::Texts),
];

const ACP: &[Key] = &[
    ("stream", Kind::Word(&["token", "segment"])),
    ("prompt_ack", Kind::Word(&["turn_end", "insertion"])),
    ("malformed", Kind::Word(&["silent", "reply"])),
];

const RULES: &[Key] = &[
    ("escalate_above_tokens", Kind::Int),
    ("local_below_tokens", Kind::Int),
    ("escalate_keywords", Kind::Texts),
    ("escalate_threshold", Kind::Int),
    ("local_threshold", Kind::Int),
    ("local_verb_weight", Kind::Int),
    ("escalate_verb_weight", Kind::Int),
    ("path_ref_weight", Kind::Int),
    ("code_block_weight", Kind::Int),
    ("open_question_weight", Kind::Int),
    ("classifier_fallback", Kind::Word(&["local", "claude", "escalation"])),
    ("classifier", Kind::Bool),
    ("local_verbs", Kind::Texts),
    ("escalate_verbs", Kind::Texts),
    ("open_question_prefixes", Kind::Texts),
];

const PERMISSIONS: &[Key] = &[
    ("deny", Kind::Texts),
    ("ask", Kind::Texts),
    ("allow", Kind::Texts),
    ("background_timeout_secs", Kind::Int),
    ("background_default", Kind::Word(&["deny", "allow"])),
    ("safety_timeout_secs", Kind::Int),
    ("safety_default", Kind::Word(&["deny", "allow"])),
];

const REDACTION: &[Key] = &[("enabled", Kind::Bool), ("values", Kind::Texts)];
const PRICE: &[Key] =
    &[("input", Kind::Amount), ("cached", Kind::Amount), ("written", Kind::Amount), ("output", Kind::Amount)];

const MCP_SERVER: &[Key] = &[("name", Kind::Text), ("url", Kind::Text), ("command", Kind::Text)];

const ROOT: &[Key] = &[
    ("agent", Kind::Text),
    ("agents", Kind::Objects(AGENT)),
    ("escalation_agent", Kind::Text),
    ("agent_tools", Kind::Objects(PEER)),
    ("mcp_servers", Kind::Objects(MCP_SERVER)),
    ("mcp_connect_timeout_secs", Kind::Int),
    ("rules", Kind::Object(RULES)),
    ("show_reasoning", Kind::Bool),
    ("sticky_escalation", Kind::Bool),
    ("context_budget_chars", Kind::Int),
    ("returning_fresh_start_local_turns", Kind::Int),
    ("local_context_budget_chars", Kind::Int),
    ("local_max_tool_iterations", Kind::Int),
    ("acp_resume", Kind::Bool),
    ("bash_allowed_patterns", Kind::Texts),
    ("max_background_agents", Kind::Int),
    ("permissions", Kind::Object(PERMISSIONS)),
    ("redaction", Kind::Object(REDACTION)),
    ("dangerously_skip_permissions", Kind::Bool),
    ("trusted_folders", Kind::Texts),
    ("acp", Kind::Object(ACP)),
    ("prices", Kind::ObjectMap(PRICE)),
];

/// Takes members of a wrong type (and nulls, which mean "not said") out of one file's document.
pub(super) fn check(root: &mut Map<String, Value>, file: &Path) -> Vec<Warning> {
    let mut check = Check { file, warnings: Vec::new() };
    check.object(root, ROOT, "");
    check.warnings
}

struct Check<'a> {
    file: &'a Path,
    warnings: Vec<Warning>,
}

impl Check<'_> {
    fn object(&mut self, map: &mut Map<String, Value>, keys: &[Key], prefix: &str) {
        for (name, kind) in keys {
            let Some(value) = map.get_mut(*name) else { continue };
            let path = if prefix.is_empty() { (*name).to_owned() } else { format!("{prefix}.{name}") };
            if value.is_null() || !self.value(value, *kind, &path) {
                map.shift_remove(*name);
            }
        }
    }

    /// Whether the value can stay.
    fn value(&mut self, value: &mut Value, kind: Kind, path: &str) -> bool {
        match kind {
            Kind::Bool => self.expect(value.is_boolean(), value, "true or false", path),
            Kind::Int => self.expect(value.is_i64(), value, "a whole number", path),
            Kind::Number => self.expect(value.is_number(), value, "a number", path),
            Kind::Thinking => {
                let words = Effort::ALL.map(Effort::id).join(", ");
                let expected = format!("a number of tokens or one of {words}");
                self.expect(thinking_of(value).is_some(), value, &expected, path)
            }
            Kind::Text => self.expect(value.is_string(), value, "a string", path),
            Kind::Word(words) => self.word(value, words, path),
            Kind::Texts => self.list(value, Kind::Text, "a list of strings", path),
            Kind::Objects(keys) => self.list(value, Kind::Object(keys), "a list of objects", path),
            Kind::TextMap => self.map(value, Kind::Text, "an object of strings", path),
            Kind::ObjectMap(keys) => self.map(value, Kind::Object(keys), "an object of objects", path),
            Kind::Amount => {
                let good = value.as_f64().is_some_and(|amount| amount >= 0.0);
                self.expect(good, value, "a number that is not below zero", path)
            }
            Kind::Object(keys) => {
                if let Value::Object(map) = value {
                    self.object(map, keys, path);
                    return true;
                }
                self.expect(false, value, "an object", path)
            }
        }
    }

    fn list(&mut self, value: &mut Value, element: Kind, expected: &str, path: &str) -> bool {
        let Value::Array(items) = value else { return self.expect(false, value, expected, path) };
        let mut index = 0;
        items.retain_mut(|item| {
            let keep = self.value(item, element, &format!("{path}[{index}]"));
            index += 1;
            keep
        });
        true
    }

    fn map(&mut self, value: &mut Value, element: Kind, expected: &str, path: &str) -> bool {
        let Value::Object(map) = value else { return self.expect(false, value, expected, path) };
        map.retain(|name, value| self.value(value, element, &format!("{path}.{name}")));
        true
    }

    fn word(&mut self, value: &mut Value, words: &[&str], path: &str) -> bool {
        let given = value.as_str().map(|text| text.trim().to_lowercase());
        if let Some(word) = given.filter(|word| words.contains(&word.as_str())) {
            *value = Value::String(word);
            return true;
        }
        let offered: Vec<_> =
            words.iter().filter(|word| !word.is_empty()).map(|w| format!("\"{w}\"")).collect();
        self.warn(format!("should be {}; it is ignored", offered.join(" or ")), path);
        false
    }

    fn expect(&mut self, good: bool, value: &Value, expected: &str, path: &str) -> bool {
        if !good {
            self.warn(format!("should be {expected} but is {}; it is ignored", name_of(value)), path);
        }
        good
    }

    fn warn(&mut self, message: String, path: &str) {
        self.warnings.push(Warning { file: Some(self.file.to_owned()), key: path.to_owned(), message });
    }
}

/// What a value is, without showing it: it may be a secret in the wrong place.
fn name_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if number.is_i64() => "a number",
        Value::Number(_) => "a fraction or too large",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn checked(document: Value) -> (Value, Vec<String>) {
        let Value::Object(mut root) = document else { panic!("an object") };
        let warnings = check(&mut root, Path::new("/c.json"));
        (Value::Object(root), warnings.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn one_bad_member_leaves_the_others_standing() {
        let (left, warnings) = checked(json!({
            "agent": 5,
            "acp_resume": "no",
            "local_max_tool_iterations": 2.5,
            "agents": [
                "gone",
                {"name": "a", "url": ["x"], "model": "m", "headers": {"A": 1, "B": "2"},
                 "limits": {"max_tool_iterations": "9", "turn_timeout_secs": -1}},
            ],
            "acp": {"stream": "words", "malformed": "Reply"},
            "bash_allowed_patterns": ["ls", 3, "git status"],
            "mine": {"any": ["thing"]},
            "show_reasoning": null,
            "prices": {"m*": {"input": 1, "output": 2.5, "cached": -1}, "n": 3},
        }));
        assert_eq!(
            left,
            json!({
                "agents": [{"name": "a", "model": "m", "headers": {"B": "2"}, "limits": {"turn_timeout_secs": -1}}],
                "acp": {"malformed": "reply"},
                "bash_allowed_patterns": ["ls", "git status"],
                "mine": {"any": ["thing"]},
                "prices": {"m*": {"input": 1, "output": 2.5}},
            })
        );
        assert_eq!(
            warnings,
            [
                "/c.json: `agent` should be a string but is a number; it is ignored",
                "/c.json: `agents[0]` should be an object but is a string; it is ignored",
                "/c.json: `agents[1].url` should be a string but is a list; it is ignored",
                "/c.json: `agents[1].headers.A` should be a string but is a number; it is ignored",
                "/c.json: `agents[1].limits.max_tool_iterations` should be a whole number but is a string; it is ignored",
                "/c.json: `local_max_tool_iterations` should be a whole number but is a fraction or too large; it is ignored",
                "/c.json: `acp_resume` should be true or false but is a string; it is ignored",
                "/c.json: `bash_allowed_patterns[1]` should be a string but is a number; it is ignored",
                "/c.json: `acp.stream` should be \"token\" or \"segment\"; it is ignored",
                "/c.json: `prices.m*.cached` should be a number that is not below zero but is a number; it is ignored",
                "/c.json: `prices.n` should be an object but is a number; it is ignored",
            ]
        );
    }

    #[test]
    fn a_list_that_is_no_list_does_not_empty_the_wider_one() {
        let (left, warnings) = checked(json!({"agents": {"name": "a"}}));
        assert_eq!(left, json!({}));
        assert_eq!(
            warnings,
            ["/c.json: `agents` should be a list of objects but is an object; it is ignored"]
        );
    }
}
