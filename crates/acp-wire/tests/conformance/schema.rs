//! The official JSON Schema of one version.

use std::path::Path;

use serde_json::{Map, Value, json};

/// One schema file, and the means to validate against its definitions.
pub(crate) struct Schema {
    root: Value,
}

impl Schema {
    /// Reads `tests/fixtures/schema/<file>` of the workspace.
    pub(crate) fn read(file: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/schema").join(file);
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        Self { root: serde_json::from_str(&text).expect("a schema is JSON") }
    }

    pub(crate) fn definition(&self, name: &str) -> &Value {
        &self.root["$defs"][name]
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.root["$defs"].as_object().expect("definitions").keys().map(String::as_str)
    }

    /// A validator of the definition `name`, compiled with only what it refers to.
    pub(crate) fn validator(&self, name: &str) -> jsonschema::Validator {
        let mut definitions = Map::new();
        let mut wanted = vec![name.to_owned()];
        while let Some(name) = wanted.pop() {
            if !definitions.contains_key(&name) {
                let definition = self.definition(&name);
                references(definition, &mut wanted);
                definitions.insert(name, definition.clone());
            }
        }
        let schema = json!({ "$ref": format!("#/$defs/{name}"), "$defs": definitions });
        jsonschema::draft202012::new(&schema).expect("a valid schema")
    }
}

/// Collects the names of the definitions that `schema` refers to.
fn references(schema: &Value, names: &mut Vec<String>) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::String(reference)) = members.get("$ref") {
                names.extend(reference.rsplit('/').next().map(str::to_owned));
            }
            members.values().for_each(|member| references(member, names));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, names)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
