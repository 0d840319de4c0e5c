//! What an agent's configuration adds to every request, and which optional parts are left out because the server
//! refused them. Knows no API's words.

use std::collections::BTreeSet;

use serde::Serialize;
use serde::ser::SerializeMap;
use serde_json::{Map, Value, json};

use super::content::Part;
use super::history::{self, Abilities, Said};
use super::learn::{IMAGES, SOUNDS, TOOLS};
use crate::provider::{Effort, ModelRequest, ToolSchema};

/// The names of the optional parts.
pub(super) const TEMPERATURE: &str = "temperature";
pub(super) const TOP_P: &str = "top_p";

/// How a model chooses among likely words. Sent only as far as it is set; a model that refuses it is spared.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sampling {
    /// 0 is always the likeliest word.
    pub temperature: Option<f64>,
    /// The share of likely words that are chosen from.
    pub top_p: Option<f64>,
}

/// What an agent adds to every request.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Extras {
    pub(super) model: Option<String>,
    pub(super) temperature: Option<f64>,
    pub(super) top_p: Option<f64>,
    /// Further members of the body.
    pub(super) members: Map<String, Value>,
}

impl Extras {
    /// The configured values; a blank model is none.
    pub(super) fn new(model: Option<&str>, sampling: Sampling, members: &Map<String, Value>) -> Self {
        let model = model.filter(|model| !model.trim().is_empty()).map(str::to_owned);
        let Sampling { temperature, top_p } = sampling;
        Self { model, temperature, top_p, members: members.clone() }
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

    /// The conversation and the tools of a request to a server that may be told of calls only beside tools.
    pub(super) fn beside_tools(self, request: &'a ModelRequest) -> (Vec<Said<'a>>, &'a [ToolSchema]) {
        let tools = self.tools(&request.tools);
        let images = !self.without.contains(IMAGES);
        let can = Abilities { images, sounds: false, tools: !tools.is_empty() };
        (history::in_order(&request.messages, can), tools)
    }

    /// The configured members that are sent.
    pub(super) fn members(self) -> impl Iterator<Item = (&'a String, &'a Value)> {
        let members = self.extras.members.iter();
        members.filter(move |(name, _)| !self.ours.contains(&name.as_str()) && !self.without.contains(*name))
    }

    /// The names of the optional parts that a request has; `own` are those of its API.
    pub(super) fn names(self, tools: &[ToolSchema], said: &[Said<'_>], own: &[&str]) -> Vec<String> {
        let told = || {
            said.iter().flat_map(|said| match said {
                Said::User(parts) => parts.as_slice(),
                Said::Model { .. } | Said::Result { .. } => &[],
            })
        };
        let Extras { temperature, top_p, .. } = self.extras;
        let parts = [
            (TOOLS, !tools.is_empty()),
            // First, for who refuses a sound says that images are supported.
            (SOUNDS, told().any(Part::is_sound)),
            (IMAGES, told().any(Part::is_image)),
            (TEMPERATURE, temperature.is_some() && self.keeps(TEMPERATURE)),
            (TOP_P, top_p.is_some() && self.keeps(TOP_P)),
        ];
        let parts = parts.into_iter().filter(|(_, is_sent)| *is_sent).map(|(name, _)| name);
        let own = own.iter().copied().filter(|name| self.keeps(name));
        let members = self.members().map(|(name, _)| name.clone());
        parts.chain(own).map(str::to_owned).chain(members).collect()
    }

    /// Writes the sampling, where it `may_vary`, and configured members into a body.
    pub(super) fn write<M: SerializeMap>(self, body: &mut M, may_vary: bool) -> Result<(), M::Error> {
        for (name, value) in [(TEMPERATURE, self.extras.temperature), (TOP_P, self.extras.top_p)] {
            if let Some(value) = value.filter(|_| may_vary && self.keeps(name)) {
                body.serialize_entry(name, &value)?;
            }
        }
        self.members().try_for_each(|(name, value)| body.serialize_entry(name, value))
    }
}

/// The optional part `name` with this effort: a server may know the part and refuse the value.
pub(super) fn part_of(name: &str, effort: Effort) -> String {
    format!("{name}={}", effort.id())
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
