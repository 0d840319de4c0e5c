//! Holds what we write against the official JSON Schemas.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex};

use jsonschema::Validator;
use serde_json::{Value, json};

use super::{Dialect, Outgoing};

const V1: &str = include_str!("../../../../tests/fixtures/schema/schema-v1.json");
const V2: &str = include_str!("../../../../tests/fixtures/schema/schema-v2.json");

type Key = (u8, String);

static VALIDATORS: LazyLock<Mutex<BTreeMap<Key, Arc<Validator>>>> = LazyLock::new(Mutex::default);

fn version(dialect: &Dialect) -> u8 {
    match dialect {
        Dialect::V1(_) => 1,
        Dialect::V2(_) => 2,
    }
}

/// The validator of a definition that lets no member through which the schema does not name.
fn validator(version: u8, definition: &str) -> Arc<Validator> {
    let mut known = VALIDATORS.lock().unwrap();
    let key = (version, definition.to_owned());
    let make = || {
        let schema: Value = serde_json::from_str(if version == 1 { V1 } else { V2 }).unwrap();
        assert!(schema["$defs"].get(definition).is_some(), "version {version} has no {definition}");
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$ref": format!("#/$defs/{definition}"),
            "$defs": schema["$defs"],
            "unevaluatedProperties": false,
        });
        Arc::new(jsonschema::validator_for(&schema).unwrap())
    };
    Arc::clone(known.entry(key).or_insert_with(make))
}

/// Fails unless `value` is a valid `definition` of the version, without members of our own.
pub(super) fn assert_valid(dialect: &Dialect, definition: &str, value: &Value) {
    let validator = validator(version(dialect), definition);
    let errors: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "not a valid {definition}: {errors:#?}\n{value:#}");
}

/// Fails unless `outgoing` is a message the version knows, or one of our own that begins with `_`. Returns its
/// parameters.
pub(super) fn assert_outgoing(dialect: &Dialect, outgoing: &Outgoing) -> Value {
    let params: Value = serde_json::from_str(outgoing.params.get()).unwrap();
    match outgoing.method {
        "session/update" => {
            let notification = match dialect {
                Dialect::V1(_) => "SessionNotification",
                Dialect::V2(_) => "UpdateSessionNotification",
            };
            assert_valid(dialect, notification, &params);
            assert_valid(dialect, "SessionUpdate", &params["update"]);
        }
        "session/request_permission" => {
            assert_valid(dialect, "RequestPermissionRequest", &params);
            match dialect {
                Dialect::V1(_) => assert_valid(dialect, "ToolCallUpdate", &params["toolCall"]),
                Dialect::V2(_) => assert_valid(dialect, "RequestPermissionSubject", &params["subject"]),
            }
        }
        "elicitation/create" => assert_valid(dialect, "CreateElicitationRequest", &params),
        custom => assert!(custom.starts_with('_'), "unknown method {custom}"),
    }
    params
}
