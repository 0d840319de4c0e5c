//! Remarks on a configuration whose members are well-formed but do not fit together. Never a refusal.

use super::agent::{AgentSettings, PeerSettings, ProviderKind};
use super::view::Settings;
use super::warning::Warning;

/// Everything that does not fit. The warnings name keys; which file they are in is the caller's to say.
pub(super) fn validate(settings: &Settings) -> Vec<Warning> {
    let mut found = Vec::new();
    for (key, name) in [("agent", &settings.agent), ("escalation_agent", &settings.escalation_agent)] {
        let name = name.trim();
        if !name.is_empty() && settings.find(name).is_none() {
            found.push(remark(key, format!("names `{name}`, which is not among `agents`")));
        }
    }
    validate_peers(settings, "agent_tools", &settings.agent_tools, &mut found);
    for (index, agent) in settings.agents.iter().enumerate() {
        let key = |member: &str| format!("agents[{index}].{member}");
        let label = agent.name.trim();
        if label.is_empty() {
            found.push(remark(&key("name"), "is missing; give the agent a name".into()));
        } else if settings.find(label).is_some_and(|first| !std::ptr::eq(first, agent)) {
            found.push(remark(&key("name"), format!("repeats `{label}`; only the first one can be chosen")));
        }
        validate_endpoint(agent, &key, &mut found);
        if agent.capabilities.audio && !agent.hears() {
            found.push(remark(
                &key("capabilities.audio"),
                "is not used: this API has no form for sounds".into(),
            ));
        }
        validate_peers(settings, &key("tools"), &agent.tools, &mut found);
        if !agent.prompt.is_empty() && !agent.prompt_file.is_empty() {
            found.push(remark(&key("prompt"), "is not used, since `prompt_file` is given too".into()));
        }
    }
    found
}

fn validate_peers(settings: &Settings, list: &str, peers: &[PeerSettings], found: &mut Vec<Warning>) {
    for (index, peer) in peers.iter().enumerate().filter(|(_, peer)| peer.enabled != Some(false)) {
        let key = format!("{list}[{index}].agent");
        let name = peer.agent.trim();
        if name.is_empty() {
            found.push(remark(&key, "is missing; name the agent".into()));
            continue;
        }
        if settings.find(name).is_none() {
            found.push(remark(&key, format!("names `{name}`, which is not among `agents`")));
        }
    }
}

fn validate_endpoint(agent: &AgentSettings, key: &dyn Fn(&str) -> String, found: &mut Vec<Warning>) {
    let kind = agent.kind();
    let has_default = matches!(kind, ProviderKind::Anthropic | ProviderKind::Bedrock);
    if kind.is_http() && !has_default && agent.url.trim().is_empty() {
        found.push(remark(&key("url"), "is missing; give the server's base URL".into()));
    }
    let authorized = |name: &String| {
        let name = name.to_lowercase();
        name == "authorization" || name == "api-key" || name == "x-api-key"
    };
    if kind == ProviderKind::Bearer
        && agent.api_key.is_empty()
        && agent.token_cmd.trim().is_empty()
        && !agent.headers.keys().any(authorized)
    {
        found.push(remark(&key("api_key"), "is missing; give `api_key` or `token_cmd`".into()));
    }
}

fn remark(key: &str, message: String) -> Warning {
    Warning { file: None, key: key.to_owned(), message }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn what_does_not_fit_together_is_named() {
        let document = json!({
            "agent": "nobody",
            "escalation_agent": "Claude",
            "agent_tools": [{"agent": "a"}, {"agent": "ghost"}, {"agent": "ghost", "enabled": false}],
            "agents": [
                {"name": "a", "url": "http://h", "prompt": "x", "prompt_file": "y"},
                {"name": "A", "provider": "bearer"},
                {"url": "http://h", "provider": "bearer", "headers": {"Api-Key": "k"}},
                {"name": "c", "provider": "claude-cli", "tools": [{"agent": "d"}, {}]},
                {"name": "d", "provider": "bedrock"},
                {"name": "e", "provider": "anthropic", "capabilities": {"audio": true}},
                {"name": "f", "url": "http://h", "capabilities": {"audio": true}},
            ],
        });
        let Value::Object(root) = document else { unreachable!() };
        let found: Vec<_> =
            validate(&Settings::from_document(root).unwrap()).iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "`agent` names `nobody`, which is not among `agents`",
                "`agent_tools[1].agent` names `ghost`, which is not among `agents`",
                "`agents[0].prompt` is not used, since `prompt_file` is given too",
                "`agents[1].name` repeats `A`; only the first one can be chosen",
                "`agents[1].url` is missing; give the server's base URL",
                "`agents[1].api_key` is missing; give `api_key` or `token_cmd`",
                "`agents[2].name` is missing; give the agent a name",
                "`agents[3].tools[1].agent` is missing; name the agent",
                "`agents[5].capabilities.audio` is not used: this API has no form for sounds",
            ]
        );
    }
}
