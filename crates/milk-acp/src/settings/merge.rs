//! Lays one layer of the configuration over another.
//!
//! Objects merge member by member; lists replace each other whole, except `mcp_servers`, which merge by name, and
//! the rules under `permissions`, which all hold.
//! Null never hides a wider value. In the folder's file neither do `0` and the empty string: there they mean
//! "as usual"; `false` does.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// Lists of which no layer takes anything away.
const RULES: [&str; 3] = ["permissions.deny", "permissions.ask", "permissions.allow"];

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// Built in.
    Default,
    /// The user's file.
    Global,
    /// The folder's file.
    Local,
}

impl Layer {
    /// One word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Global => "global",
            Self::Local => "local",
        }
    }
}

/// Which layer each value comes from, by dotted key.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sources(BTreeMap<String, Layer>);

impl Sources {
    /// The layer of a value, or of the list or object it stands in.
    #[must_use]
    pub fn of(&self, key: &str) -> Option<Layer> {
        let mut key = key;
        loop {
            if let Some(layer) = self.0.get(key) {
                return Some(*layer);
            }
            key = &key[..key.rfind(['.', '['])?];
        }
    }

    /// Takes over what `other` knows better.
    pub(super) fn refine(&mut self, other: &Self) {
        self.0.extend(other.0.iter().map(|(key, layer)| (key.clone(), *layer)));
    }
}

/// Lays `top` over `base`, recording what came from `layer`.
pub(super) fn overlay(
    base: &mut Map<String, Value>,
    top: &Map<String, Value>,
    layer: Layer,
    sources: &mut Sources,
) {
    overlay_object(base, top, "", &mut Overlay { layer, sources });
}

struct Overlay<'a> {
    layer: Layer,
    sources: &'a mut Sources,
}

fn overlay_object(
    base: &mut Map<String, Value>,
    top: &Map<String, Value>,
    prefix: &str,
    to: &mut Overlay<'_>,
) {
    for (name, value) in top {
        let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        if says_nothing(value, to.layer) {
            continue;
        }
        match (base.get_mut(name), value) {
            (Some(Value::Object(below)), Value::Object(above)) => overlay_object(below, above, &path, to),
            (Some(Value::Array(below)), Value::Array(above)) if path == "mcp_servers" => {
                overlay_named(below, above);
                to.sources.0.insert(path, to.layer);
            }
            (Some(Value::Array(below)), Value::Array(above)) if RULES.contains(&path.as_str()) => {
                below.extend(above.iter().filter(|rule| !below.contains(rule)).cloned().collect::<Vec<_>>());
                if !above.is_empty() {
                    to.sources.0.insert(path, to.layer);
                }
            }
            (None, Value::Object(above)) => {
                let mut fresh = Map::new();
                overlay_object(&mut fresh, above, &path, to);
                base.insert(name.clone(), Value::Object(fresh));
            }
            (None | Some(_), value) => {
                base.insert(name.clone(), value.clone());
                to.sources.0.insert(path, to.layer);
            }
        }
    }
}

fn overlay_named(base: &mut Vec<Value>, top: &[Value]) {
    for server in top {
        let name = server.get("name");
        match base.iter_mut().find(|old| name.is_some() && old.get("name") == name) {
            Some(old) => *old = server.clone(),
            None => base.push(server.clone()),
        }
    }
}

fn says_nothing(value: &Value, layer: Layer) -> bool {
    match value {
        Value::Null => true,
        Value::Number(number) => layer == Layer::Local && number.as_i64() == Some(0),
        Value::String(text) => layer == Layer::Local && text.is_empty(),
        Value::Bool(_) | Value::Array(_) | Value::Object(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn merged(layers: &[(Layer, Value)]) -> (Value, Sources) {
        let (mut base, mut sources) = (Map::new(), Sources::default());
        for (layer, document) in layers {
            overlay(&mut base, document.as_object().unwrap(), *layer, &mut sources);
        }
        (Value::Object(base), sources)
    }

    #[test]
    fn the_narrower_layer_wins_where_it_says_something() {
        let cases = [
            (json!({"agent": "g"}), json!({"agent": "l"}), json!({"agent": "l"})),
            (json!({"agent": "g"}), json!({"agent": ""}), json!({"agent": "g"})),
            (json!({"agent": "g"}), json!({"agent": null}), json!({"agent": "g"})),
            (json!({"n": 5}), json!({"n": 0}), json!({"n": 5})),
            (json!({"n": 5}), json!({"n": -1}), json!({"n": -1})),
            (json!({"b": true}), json!({"b": false}), json!({"b": false})),
            (
                json!({"agents": [{"name": "a"}]}),
                json!({"agents": [{"name": "b"}]}),
                json!({"agents": [{"name": "b"}]}),
            ),
            (json!({"agents": [{"name": "a"}]}), json!({"agents": []}), json!({"agents": []})),
            (
                json!({"permissions": {"deny": ["a", "b"], "ask": ["c"]}}),
                json!({"permissions": {"deny": ["d", "b"], "ask": [], "allow": ["e"]}}),
                json!({"permissions": {"deny": ["a", "b", "d"], "ask": ["c"], "allow": ["e"]}}),
            ),
            (
                json!({"rules": {"a": 1, "b": [1]}}),
                json!({"rules": {"b": [2]}}),
                json!({"rules": {"a": 1, "b": [2]}}),
            ),
            (
                json!({"mcp_servers": [{"name": "a", "url": "1"}, {"name": "b"}]}),
                json!({"mcp_servers": [{"name": "c"}, {"name": "a", "command": "x"}]}),
                json!({"mcp_servers": [{"name": "a", "command": "x"}, {"name": "b"}, {"name": "c"}]}),
            ),
        ];
        for (global, local, expected) in cases {
            let (got, _) = merged(&[(Layer::Global, global), (Layer::Local, local)]);
            assert_eq!(got, expected);
        }
    }

    #[test]
    fn an_explicit_empty_value_of_the_users_file_replaces_the_default() {
        let (got, _) = merged(&[
            (Layer::Default, json!({"list": ["a"], "text": "d", "n": 3})),
            (Layer::Global, json!({"list": [], "text": "", "n": 0})),
        ]);
        assert_eq!(got, json!({"list": [], "text": "", "n": 0}));
    }

    #[test]
    fn every_value_knows_its_layer() {
        let (_, sources) = merged(&[
            (Layer::Default, json!({"acp": {"stream": "token", "malformed": "silent"}})),
            (Layer::Global, json!({"agents": [{"url": "u"}]})),
            (Layer::Local, json!({"acp": {"stream": "segment"}})),
        ]);
        assert_eq!(sources.of("acp.stream"), Some(Layer::Local));
        assert_eq!(sources.of("acp.malformed"), Some(Layer::Default));
        assert_eq!(sources.of("agents[0].url"), Some(Layer::Global));
        assert_eq!(sources.of("nothing"), None);
    }
}
