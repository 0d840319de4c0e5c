//! The options of a session.

use serde::de::{Error, MapAccess};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::session::SessionId;
use crate::Other;
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
        req group_id: SessionConfigGroupId,
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
        ; else Other
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
        req config_id: SessionConfigId,
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
        req_items config_options: SessionConfigOption,
        meta
    }
}

object! {
    /// The options of a session, all of them, with their values. Protocol: Session Config Options.
    pub struct ConfigOptionUpdate {
        /// The session's options, in order of importance.
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
    const FALLS_BACK: bool = false;

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
