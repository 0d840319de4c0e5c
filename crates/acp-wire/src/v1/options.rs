//! The options of a session.

use serde::de::Error;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::session::SessionId;
use crate::macros::{from_variants, object, string_type, strings, tagged};

string_type! {
    /// Names an option within its session.
    pub struct SessionConfigId;
}

string_type! {
    /// Names a choice within its option.
    pub struct SessionConfigValueId;
}

string_type! {
    /// Names a group of choices.
    pub struct SessionConfigGroupId;
}

object! {
    /// One choice of an option. Protocol: Session Config Options.
    pub struct SessionConfigSelectOption {
        /// The value.
        req value: SessionConfigValueId,
        /// A name for people.
        req name: String,
        /// More words on it.
        soft description: String,
        meta
    }
}

object! {
    /// A named group of choices. Protocol: Session Config Options.
    pub struct SessionConfigSelectGroup {
        /// The group.
        req group: SessionConfigGroupId,
        /// A name for people.
        req name: String,
        /// The choices.
        req_list options: SessionConfigSelectOption,
        meta
    }
}

object! {
    /// An option with one of several values. Protocol: Session Config Options.
    pub struct SessionConfigSelect {
        /// The present value.
        req current_value: SessionConfigValueId,
        /// The choices.
        req options: SessionConfigSelectOptions,
    }
}

object! {
    /// An option that is on or off. Protocol: Session Config Options.
    pub struct SessionConfigBoolean {
        /// The present value.
        num current_value: bool,
    }
}

strings! {
    /// What an option is about, so that the client can place it. Protocol: Session Config Options.
    pub enum SessionConfigOptionCategory {
        /// The mode.
        Mode = "mode",
        /// The model.
        Model = "model",
        /// The model's settings.
        ModelConfig = "model_config",
        /// How much the model reasons.
        ThoughtLevel = "thought_level",
        ; else Other
    }
}

tagged! {
    /// What values an option has, and its present one. Protocol: Session Config Options.
    pub enum SessionConfigKind: "type" {
        /// One of several.
        Select(SessionConfigSelect) = "select",
        /// On or off.
        Boolean(SessionConfigBoolean) = "boolean",
    }
}

from_variants! {
    SessionConfigKind:
    Select(SessionConfigSelect), Boolean(SessionConfigBoolean),
}

object! {
    /// A setting of a session. Protocol: Session Config Options.
    pub struct SessionConfigOption {
        /// The option.
        req id: SessionConfigId,
        /// A name for people.
        req name: String,
        /// More words on it.
        soft description: String,
        /// What the option is about.
        soft category: SessionConfigOptionCategory,
        /// What values it has, and the present one.
        flat kind: SessionConfigKind,
        meta
    }
}

object! {
    /// Sets an option. Protocol: Session Config Options.
    pub struct SetSessionConfigOptionRequest {
        /// The session.
        req session_id: SessionId,
        /// The option.
        req config_id: SessionConfigId,
        /// The new value.
        flat value: SessionConfigOptionValue,
        meta
    }
}

object! {
    /// All options with their values after the change. Protocol: Session Config Options.
    pub struct SetSessionConfigOptionResponse {
        /// The session's options, in order of importance.
        req_list config_options: SessionConfigOption,
        meta
    }
}

object! {
    /// The options of a session, all of them, with their values. Protocol: Session Config Options.
    pub struct ConfigOptionUpdate {
        /// The session's options, in order of importance.
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
#[derive(Debug, Clone, PartialEq)]
pub enum SessionConfigOptionValue {
    /// A boolean, marked by `type: "boolean"`.
    Boolean(bool),
    /// The value of one of a select option's choices.
    ValueId(SessionConfigValueId),
}

impl Serialize for SessionConfigOptionValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self {
            Self::Boolean(value) => {
                map.serialize_entry("type", "boolean")?;
                map.serialize_entry("value", value)?;
            }
            Self::ValueId(value) => map.serialize_entry("value", value)?,
        }
        map.end()
    }
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
        let tagged = kind.as_ref().and_then(Value::as_str) == Some("boolean");
        if let (true, Some(value)) = (tagged, value.as_bool()) {
            return Ok(Self::Boolean(value));
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
