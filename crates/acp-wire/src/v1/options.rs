//! options

use serde::de::Error;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::session::SessionId;
use crate::macros::{object, string_type, strings, tagged};

string_type! {
    /// Session config id.
    pub struct SessionConfigId;
}

string_type! {
    /// Session config value id.
    pub struct SessionConfigValueId;
}

string_type! {
    /// Session config group id.
    pub struct SessionConfigGroupId;
}

object! {
    /// Session config select option.
    pub struct SessionConfigSelectOption {
        /// Value.
        req value: SessionConfigValueId,
        /// Name.
        req name: String,
        /// Description.
        soft description: String,
        meta
    }
}

object! {
    /// Session config select group.
    pub struct SessionConfigSelectGroup {
        /// Group.
        req group: SessionConfigGroupId,
        /// Name.
        req name: String,
        /// Options.
        req_list options: SessionConfigSelectOption,
        meta
    }
}

object! {
    /// Session config select.
    pub struct SessionConfigSelect {
        /// Current value.
        req current_value: SessionConfigValueId,
        /// Options.
        req options: SessionConfigSelectOptions,
    }
}

object! {
    /// Session config boolean.
    pub struct SessionConfigBoolean {
        /// Current value.
        num current_value: bool,
    }
}

strings! {
    /// Session config option category.
    pub enum SessionConfigOptionCategory {
        /// Mode.
        Mode = "mode",
        /// Model.
        Model = "model",
        /// Model config.
        ModelConfig = "model_config",
        /// Thought level.
        ThoughtLevel = "thought_level",
        ; else Other
    }
}

tagged! {
    /// Session config kind.
    pub enum SessionConfigKind: "type" {
        /// Select.
        Select(SessionConfigSelect) = "select",
        /// Boolean.
        Boolean(SessionConfigBoolean) = "boolean",
    }
}

object! {
    /// Session config option.
    pub struct SessionConfigOption {
        /// Id.
        req id: SessionConfigId,
        /// Name.
        req name: String,
        /// Description.
        soft description: String,
        /// Category.
        soft category: SessionConfigOptionCategory,
        /// Kind.
        flat kind: SessionConfigKind,
        meta
    }
}

object! {
    /// Set session config option request.
    pub struct SetSessionConfigOptionRequest {
        /// Session id.
        req session_id: SessionId,
        /// Config id.
        req config_id: SessionConfigId,
        /// Value.
        flat value: SessionConfigOptionValue,
        meta
    }
}

object! {
    /// Set session config option response.
    pub struct SetSessionConfigOptionResponse {
        /// Config options.
        req_list config_options: SessionConfigOption,
        meta
    }
}

object! {
    /// Config option update.
    pub struct ConfigOptionUpdate {
        /// Config options.
        req_list config_options: SessionConfigOption,
        meta
    }
}

/// The choices of a select option: a flat list or a list of groups, never mixed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SessionConfigSelectOptions {
    /// A flat list.
    Ungrouped(Vec<SessionConfigSelectOption>),
    /// A list of named groups.
    Grouped(Vec<SessionConfigSelectGroup>),
}

impl From<Vec<SessionConfigSelectOption>> for SessionConfigSelectOptions {
    fn from(options: Vec<SessionConfigSelectOption>) -> Self {
        Self::Ungrouped(options)
    }
}

impl From<Vec<SessionConfigSelectGroup>> for SessionConfigSelectOptions {
    fn from(groups: Vec<SessionConfigSelectGroup>) -> Self {
        Self::Grouped(groups)
    }
}

/// The value an option is set to. Protocol: Session Config Options.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum SessionConfigOptionValue {
    /// A boolean, marked by `type: "boolean"`.
    Boolean(#[serde(serialize_with = "write_boolean")] bool),
    /// The value of one of a select option's choices.
    ValueId(#[serde(serialize_with = "write_value_id")] SessionConfigValueId),
}

fn write_boolean<S: Serializer>(value: &bool, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(2))?;
    map.serialize_entry("type", "boolean")?;
    map.serialize_entry("value", value)?;
    map.end()
}

fn write_value_id<S: Serializer>(value: &SessionConfigValueId, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(1))?;
    map.serialize_entry("value", value)?;
    map.end()
}

impl<'de> Deserialize<'de> for SessionConfigOptionValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Wire {
            #[serde(default, rename = "type")]
            kind: Option<Value>,
            value: Value,
        }
        let Wire { kind, value } = crate::lenient::object(deserializer)?;
        if kind.as_ref().and_then(Value::as_str) == Some("boolean") {
            return bool::deserialize(value).map(Self::Boolean).map_err(D::Error::custom);
        }
        SessionConfigValueId::deserialize(value).map(Self::ValueId).map_err(D::Error::custom)
    }
}

impl From<bool> for SessionConfigOptionValue {
    fn from(value: bool) -> Self {
        Self::Boolean(value)
    }
}

impl From<&str> for SessionConfigOptionValue {
    fn from(value: &str) -> Self {
        Self::ValueId(value.into())
    }
}

impl From<SessionConfigValueId> for SessionConfigOptionValue {
    fn from(value: SessionConfigValueId) -> Self {
        Self::ValueId(value)
    }
}
