//! What is kept from models: the switch, and the values that are secrets whatever they look like.

use agent_runtime::redact::Redactor;
use serde::Deserialize;

use super::Lookup;
use super::agent::Secret;
use super::redact::variable_of;
use super::view::Settings;

/// What is kept from models.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct RedactionSettings {
    /// Whether secrets are hidden from models at all.
    pub enabled: bool,
    /// Further secrets, or the variables that hold them (`$NAME`).
    pub values: Vec<Secret>,
}

impl Default for RedactionSettings {
    fn default() -> Self {
        Self { enabled: true, values: Vec::new() }
    }
}

/// Every secret that the configuration knows: the listed ones, and the agents' own keys.
pub(super) fn secrets(settings: &Settings, lookup: Lookup<'_>) -> Vec<String> {
    let keys = settings.agents.iter().map(|agent| &agent.api_key);
    let telling = |name: &str| {
        let name = name.to_lowercase();
        ["authorization", "key", "token", "secret", "cookie"].iter().any(|word| name.contains(word))
    };
    let headers = settings.agents.iter().flat_map(|agent| &agent.headers);
    let headers = headers.filter(|(name, _)| telling(name)).map(|(_, value)| value);
    let named = settings.redaction.values.iter().chain(keys).chain(headers);
    let value = |secret: &Secret| match variable_of(secret.expose()) {
        Some(variable) => lookup(variable),
        None => Some(secret.expose().to_owned()),
    };
    let bare = |value: String| value.trim().trim_start_matches("Bearer ").to_owned();
    named.filter_map(value).map(bare).filter(|value| !value.is_empty()).collect()
}

/// What hides secrets in documents that are given away; `None` where that is turned off. Its marks carry `nonce`.
#[must_use]
pub fn redactor(settings: &Settings, lookup: Lookup<'_>, nonce: &str) -> Option<Redactor> {
    settings.redaction.enabled.then(|| {
        let redactor = Redactor::new(nonce);
        redactor.know(secrets(settings, lookup));
        redactor
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn secrets_are_listed_named_by_variable_or_an_agents_own() {
        let document = json!({
            "redaction": {"values": ["one", "$TWO", "$MISSING"]},
            "agents": [{"name": "a", "api_key": "$KEY", "headers": {"Authorization": "Bearer four", "X-Title": "five"}}],
        });
        let settings = Settings::from_document(document.as_object().unwrap().clone()).unwrap();
        assert!(settings.redaction.enabled);
        let lookup = |name: &str| ["TWO", "KEY"].contains(&name).then(|| format!("value of {name}"));
        assert_eq!(secrets(&settings, &lookup), ["one", "value of TWO", "value of KEY", "four"]);
    }
}
