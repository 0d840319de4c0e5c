//! Which agents an agent may ask as tools.

use agent_runtime::tools::peer::tool_name;

use super::agent::{AgentSettings, PeerSettings};
use super::view::Settings;

impl Settings {
    /// The agents that `caller` may ask, with what each is good for: the root's `agent_tools`, in which entries of the
    /// caller's own `tools` take the place of those of the same name. Left out are the caller itself, agents that are not
    /// there or cannot answer, disabled entries, and all but the first of those whose tools would have one name.
    #[must_use]
    pub fn peers(&self, caller: &str) -> Vec<(&AgentSettings, &str)> {
        let mut entries: Vec<&PeerSettings> = self.agent_tools.iter().collect();
        for own in self.find(caller).map(|caller| caller.tools.as_slice()).unwrap_or_default() {
            match entries.iter_mut().find(|entry| is_named(&entry.agent, &own.agent)) {
                Some(entry) => *entry = own,
                None => entries.push(own),
            }
        }
        let mut peers: Vec<(&AgentSettings, &str)> = Vec::new();
        for entry in entries {
            let Some(agent) = self.find(&entry.agent) else { continue };
            let named = !agent.name.trim().is_empty();
            let usable = named && !is_named(&agent.name, caller);
            let taken = peers.iter().any(|(peer, _)| tool_name(&peer.name) == tool_name(&agent.name));
            if usable && !taken && entry.enabled != Some(false) {
                peers.push((agent, entry.description.as_str()));
            }
        }
        peers
    }
}

fn is_named(name: &str, other: &str) -> bool {
    name.trim().to_lowercase() == other.trim().to_lowercase()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn peers(root: &Value, own: &Value, caller: &str) -> Vec<(String, String)> {
        let document = json!({
            "agent_tools": root,
            "agents": [
                {"name": "a", "tools": own},
                {"name": "My-B"},
                {"name": "my_b"},
                {"name": "c", "provider": "acp"},
                {"name": "old", "provider": "bedrock"},
                {"name": ""},
            ],
        });
        let settings = Settings::from_document(document.as_object().unwrap().clone()).unwrap();
        let found = settings.peers(caller);
        found.into_iter().map(|(agent, about)| (agent.name.clone(), about.to_owned())).collect()
    }

    fn named(names: &[(&str, &str)]) -> Vec<(String, String)> {
        names.iter().map(|(name, about)| ((*name).to_owned(), (*about).to_owned())).collect()
    }

    #[test]
    fn own_entries_replace_the_roots_and_add_to_them() {
        let root = json!([{"agent": "C", "description": "root"}, {"agent": "my-b"}]);
        assert_eq!(peers(&root, &json!([]), "a"), named(&[("c", "root"), ("My-B", "")]));
        let own = json!([{"agent": "c", "description": "own"}, {"agent": "claude"}]);
        assert_eq!(peers(&root, &own, "A "), named(&[("c", "own"), ("My-B", ""), ("claude", "")]));
        assert_eq!(peers(&root, &own, "c"), named(&[("My-B", "")]), "others have their own");
        assert_eq!(peers(&root, &own, "found on this machine"), named(&[("c", "root"), ("My-B", "")]));
    }

    #[test]
    fn what_is_itself_unknown_disabled_or_of_a_taken_name_is_left_out() {
        let root = json!([{"agent": "a"}, {"agent": "nobody"}, {"agent": "old"}, {"agent": ""},
            {"agent": "c", "enabled": false}, {"agent": "my_b", "enabled": null}, {"agent": "My-B"}]);
        assert_eq!(peers(&root, &json!([]), "a"), named(&[("old", ""), ("my_b", "")]));
        let own = json!([{"agent": "c"}, {"agent": "my_b", "enabled": false}]);
        assert_eq!(peers(&root, &own, "a"), named(&[("old", ""), ("c", ""), ("My-B", "")]));
    }
}
