//! options

use serde::de::{Error, MapAccess};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::session::SessionId;
use crate::Other;
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
        /// Group id.
        req group_id: SessionConfigGroupId,
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
        ; else Other
    }
}

object! {
    /// Session config option.
    pub struct SessionConfigOption {
        /// Config id.
        req config_id: SessionConfigId,
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
        req_items config_options: SessionConfigOption,
        meta
    }
}

object! {
    /// Config option update.
    pub struct ConfigOptionUpdate {
        /// Config options.
        req_items config_options: SessionConfigOption,
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

/// The value an option is set to, told apart by `type`. Protocol: Session Config Options.
#[derive(Debug, Clone, PartialEq)]
pub enum SessionConfigOptionValue {
    /// The value of one of a select option's choices (`id`).
    Id(SessionConfigValueId),
    /// A boolean (`boolean`).
    Boolean(bool),
    /// A type this version of the protocol doesn't define, with its `value`.
    Other(Other),
}

impl Serialize for SessionConfigOptionValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = match self {
            Self::Other(other) => return other.serialize(serializer),
            Self::Id(_) | Self::Boolean(_) => serializer.serialize_map(Some(2))?,
        };
        match self {
            Self::Id(value) => {
                map.serialize_entry("type", "id")?;
                map.serialize_entry("value", value)?;
            }
            Self::Boolean(value) => {
                map.serialize_entry("type", "boolean")?;
                map.serialize_entry("value", value)?;
            }
            Self::Other(_) => {}
        }
        map.end()
    }
}

impl crate::open::Union for SessionConfigOptionValue {
    const TAG: &'static str = "type";

    fn build<'de, A: MapAccess<'de>>(
        tag: Option<String>,
        members: &mut crate::open::Members<A>,
    ) -> Result<Self, A::Error> {
        #[derive(Deserialize)]
        struct Wire<T> {
            value: T,
        }
        match tag.as_deref() {
            Some("id") => members.read::<Wire<_>>().map(|wire| Self::Id(wire.value)),
            Some("boolean") => members.read::<Wire<_>>().map(|wire| Self::Boolean(wire.value)),
            Some(tag) => {
                let other = members.other(Self::TAG, tag, &[])?;
                if other.fields().contains_key("value") {
                    Ok(Self::Other(other))
                } else {
                    Err(A::Error::missing_field("value"))
                }
            }
            None => Err(A::Error::missing_field(Self::TAG)),
        }
    }
}

impl<'de> Deserialize<'de> for SessionConfigOptionValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        crate::open::union(deserializer)
    }
}

impl From<bool> for SessionConfigOptionValue {
    fn from(value: bool) -> Self {
        Self::Boolean(value)
    }
}

impl From<&str> for SessionConfigOptionValue {
    fn from(value: &str) -> Self {
        Self::Id(value.into())
    }
}

impl From<SessionConfigValueId> for SessionConfigOptionValue {
    fn from(value: SessionConfigValueId) -> Self {
        Self::Id(value)
    }
}
