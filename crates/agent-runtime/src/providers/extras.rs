//! What an agent's configuration adds to every request, and which optional parts are left out because the server
//! refused them. Knows no API's words.

use std::collections::BTreeSet;

use serde::Serialize;
use serde::ser::SerializeMap;
use serde_json::{Map, Value, json};

use super::content::Part;
use super::history::Said;
use super::learn::{IMAGES, TOOLS};
use crate::provider::ToolSchema;

/// The name of the optional part.
pub(super) const TEMPERATURE: &str = "temperature";

/// What an agent adds to every request.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Extras {
    pub(super) model: Option<String>,
    pub(super) temperature: Option<f64>,
    /// Further members of the body.
    pub(super) members: Map<String, Value>,
}

impl Extras {
    /// The configured values; a blank model is none.
    pub(super) fn new(model: Option<&str>, temperature: Option<f64>, members: &Map<String, Value>) -> Self {
        let model = model.filter(|model| !model.trim().is_empty()).map(str::to_owned);
        Self { model, temperature, members: members.clone() }
    }
}

/// The optional side of one request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Options<'a> {
    pub(super) extras: &'a Extras,
    /// The parts that the server refuses.
    pub(super) without: &'a BTreeSet<String>,
    /// The members that no configuration may replace.
    pub(super) ours: &'a [&'a str],
}

impl<'a> Options<'a> {
    /// Whether a part of ours is sent: not refused, and not replaced by a configured member.
    pub(super) fn keeps(self, name: &str) -> bool {
        !self.without.contains(name) && !self.extras.members.contains_key(name)
    }

    /// The tools that are sent.
    pub(super) fn tools(self, tools: &'a [ToolSchema]) -> &'a [ToolSchema] {
        if self.without.contains(TOOLS) { &[] } else { tools }
    }

    /// The configured members that are sent.
    pub(super) fn members(self) -> impl Iterator<Item = (&'a String, &'a Value)> {
        let members = self.extras.members.iter();
        members.filter(move |(name, _)| !self.ours.contains(&name.as_str()) && !self.without.contains(*name))
    }

    /// The names of the optional parts that a request has; `own` are those of its API.
    pub(super) fn names(self, tools: &[ToolSchema], said: &[Said<'_>], own: &[&str]) -> Vec<String> {
        let has_image = |said: &Said<'_>| match said {
            Said::User(parts) => parts.iter().any(Part::is_image),
            Said::Model { .. } | Said::Result { .. } => false,
        };
        let has_temperature = self.extras.temperature.is_some();
        let parts = [
            (TOOLS, !tools.is_empty()),
            (IMAGES, said.iter().any(has_image)),
            (TEMPERATURE, has_temperature && self.keeps(TEMPERATURE)),
        ];
        let parts = parts.into_iter().filter(|(_, is_sent)| *is_sent).map(|(name, _)| name);
        let own = own.iter().copied().filter(|name| self.keeps(name));
        let members = self.members().map(|(name, _)| name.clone());
        parts.chain(own).map(str::to_owned).chain(members).collect()
    }

    /// Writes the temperature, where it `may_vary`, and configured members into a body.
    pub(super) fn write<M: SerializeMap>(self, body: &mut M, may_vary: bool) -> Result<(), M::Error> {
        let temperature = self.extras.temperature.filter(|_| may_vary && self.keeps(TEMPERATURE));
        if let Some(temperature) = temperature {
            body.serialize_entry(TEMPERATURE, &temperature)?;
        }
        self.members().try_for_each(|(name, value)| body.serialize_entry(name, value))
    }
}

/// A tool in the form of a function.
#[derive(Debug, Serialize)]
pub(super) struct Function<'a> {
    pub(super) name: &'a str,
    pub(super) description: &'a str,
    pub(super) parameters: Value,
}

impl<'a> Function<'a> {
    pub(super) fn new(tool: &'a ToolSchema) -> Self {
        Self { name: &tool.name, description: &tool.description, parameters: parameters(tool) }
    }
}

/// A tool's schema as an object with the members that servers' templates fail without.
pub(super) fn parameters(tool: &ToolSchema) -> Value {
    let mut parameters = tool.parameters.clone();
    if !parameters.is_object() {
        parameters = json!({});
    }
    if let Some(members) = parameters.as_object_mut() {
        members.entry("type").or_insert_with(|| "object".into());
        members.entry("properties").or_insert_with(|| json!({}));
    }
    parameters
}
