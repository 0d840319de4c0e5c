//! Checks every line an agent writes against the official JSON Schema of the negotiated version.
//!
//! Knows which definition a method's params and results have from the schema itself (`x-method`, `x-side`).

use std::collections::HashMap;
use std::sync::OnceLock;

use serde_json::{Value, json};

/// The protocol versions tests speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Version {
    /// Stable.
    V1,
    /// Preview.
    V2,
}

impl Version {
    /// Both, for tests that say the same to each.
    pub const BOTH: [Self; 2] = [Self::V1, Self::V2];

    /// Its number on the wire.
    #[must_use]
    pub fn number(self) -> u16 {
        match self {
            Self::V1 => 1,
            Self::V2 => 2,
        }
    }

    /// What its schema allows.
    #[must_use]
    pub fn schema(self) -> &'static Schema {
        static V1: OnceLock<Schema> = OnceLock::new();
        static V2: OnceLock<Schema> = OnceLock::new();
        match self {
            Self::V1 => V1.get_or_init(|| Schema::read(include_str!("../fixtures/schema/schema-v1.json"))),
            Self::V2 => V2.get_or_init(|| Schema::read(include_str!("../fixtures/schema/schema-v2.json"))),
        }
    }
}

/// One version's definitions, compiled on first use.
#[derive(Debug)]
pub struct Schema {
    validators: HashMap<String, jsonschema::Validator>,
    methods: Vec<(String, String, String)>,
}

impl Schema {
    fn read(text: &str) -> Self {
        let document: Value = serde_json::from_str(text).expect("the schema is JSON");
        let defs = document["$defs"].as_object().expect("the schema has definitions");
        let mut methods = Vec::new();
        let mut validators = HashMap::new();
        for (name, def) in defs {
            let (Some(method), Some(side)) = (def["x-method"].as_str(), def["x-side"].as_str()) else {
                continue;
            };
            methods.push((name.clone(), method.to_owned(), side.to_owned()));
            let root = json!({ "$ref": format!("#/$defs/{name}"), "$defs": defs });
            validators.insert(name.clone(), jsonschema::validator_for(&root).expect("a definition compiles"));
        }
        Self { validators, methods }
    }

    /// Checks a message an agent wrote. `asked` is the method of the request a response answers.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self, line: &Value, asked: Option<&str>) -> Result<(), String> {
        let object = line.as_object().ok_or("not an object")?;
        if object.get("jsonrpc") != Some(&json!("2.0")) {
            return Err("jsonrpc is not 2.0".to_owned());
        }
        match (object.get("method").and_then(Value::as_str), object.get("result"), object.get("error")) {
            (Some(method), None, None) if method.starts_with('_') => Ok(()),
            (Some(method), None, None) => {
                let suffix = if object.contains_key("id") { "Request" } else { "Notification" };
                self.matches(method, suffix, object.get("params").unwrap_or(&Value::Null))
            }
            (None, Some(result), None) => {
                let method = asked.ok_or("answers nothing that was asked")?;
                self.matches(method, "Response", result)
            }
            (None, None, Some(error)) => match (error["code"].as_i64(), error["message"].as_str()) {
                (Some(_), Some(_)) => Ok(()),
                _ => Err("the error has no code or message".to_owned()),
            },
            _ => Err("neither request, notification nor response".to_owned()),
        }
    }

    fn matches(&self, method: &str, suffix: &str, value: &Value) -> Result<(), String> {
        let def = self.methods.iter().find(|(name, named, _)| named == method && name.ends_with(suffix));
        let (name, ..) = def.ok_or_else(|| format!("the version has no {suffix} for {method}"))?;
        let errors: Vec<String> = self.validators[name].iter_errors(value).map(|e| e.to_string()).collect();
        if errors.is_empty() { Ok(()) } else { Err(format!("not a {name}: {}", errors.join("; "))) }
    }
}
