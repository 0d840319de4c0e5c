//! A session's settings as options a client can show and set: their list, their order, and what a value means.
//!
//! Knows no protocol version; `mode` and `routing` join when there is something for them to steer.

use serde_json::{Map, Value};
use session_model::{Choice, ConfigOption, OptionCategory, OptionInput, OptionKind};

use crate::drivers::SessionSettings;
use crate::error::ServerError;

const MODEL: &str = "model";
const THINK: &str = "think";

/// The present values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Options {
    models: Vec<Choice>,
    model: Option<String>,
    think: bool,
    /// What the user set, as stored; defaults are left out so that they can change.
    stored: Map<String, Value>,
}

impl Options {
    /// The configured values, with those stored with the session laid over them.
    pub(crate) fn new(settings: &SessionSettings, stored: &Map<String, Value>) -> Self {
        let known = |name: &str| settings.models.iter().any(|choice| choice.value == name);
        let model = stored.get(MODEL).and_then(Value::as_str).filter(|name| known(name)).map(str::to_owned);
        let think = stored.get(THINK).and_then(Value::as_bool).unwrap_or(settings.show_thoughts);
        Self {
            models: settings.models.clone(),
            model: model.or_else(|| settings.model.clone()),
            think,
            stored: stored.clone(),
        }
    }

    /// Whether reasoning is shown.
    pub(crate) fn think(&self) -> bool {
        self.think
    }

    /// The agent chosen to answer.
    pub(crate) fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// What the user set, as stored.
    pub(crate) fn stored(&self) -> &Map<String, Value> {
        &self.stored
    }

    /// The complete list, in order.
    pub(crate) fn list(&self) -> Vec<ConfigOption> {
        let model = (!self.models.is_empty()).then(|| ConfigOption {
            id: MODEL.to_owned(),
            name: "Model".to_owned(),
            description: Some("The agent that answers; takes effect with the next turn".to_owned()),
            category: Some(OptionCategory::Model),
            kind: OptionKind::Select {
                current: self.model.clone().unwrap_or_else(|| self.models[0].value.clone()),
                choices: self.models.clone(),
            },
        });
        let think = ConfigOption {
            id: THINK.to_owned(),
            name: "Show reasoning".to_owned(),
            description: Some("Whether the model's reasoning is shown".to_owned()),
            category: Some(OptionCategory::ThoughtLevel),
            kind: OptionKind::Toggle { current: self.think },
        };
        model.into_iter().chain([think]).collect()
    }

    /// Shows or hides reasoning and returns everything that is to be stored.
    pub(crate) fn set_think(&mut self, on: bool) -> Map<String, Value> {
        self.think = on;
        self.stored.insert(THINK.to_owned(), on.into());
        self.stored.clone()
    }

    /// Sets one option and returns everything that is to be stored.
    ///
    /// # Errors
    /// An unknown option or value, named together with what there is; nothing changes then.
    pub(crate) fn set(&mut self, id: &str, value: &OptionInput) -> Result<Map<String, Value>, ServerError> {
        match (id, value) {
            (THINK, OptionInput::Toggle(on)) => self.think = *on,
            (THINK, OptionInput::Choice(word)) => self.think = on_off(word)?,
            (MODEL, OptionInput::Choice(name)) if !self.models.is_empty() => {
                if !self.models.iter().any(|choice| choice.value == *name) {
                    let names: Vec<&str> = self.models.iter().map(|choice| choice.value.as_str()).collect();
                    return Err(bad(format!("value: no model `{name}`; there is {}", names.join(", "))));
                }
                self.model = Some(name.clone());
            }
            (MODEL, OptionInput::Toggle(_)) if !self.models.is_empty() => {
                return Err(bad("value: `model` takes one of its values, not true or false".to_owned()));
            }
            _ => return Err(bad(format!("configId: no option `{id}`; see the session's configOptions"))),
        }
        let value = if id == THINK { self.think.into() } else { self.model.clone().into() };
        self.stored.insert(id.to_owned(), value);
        Ok(self.stored.clone())
    }
}

fn on_off(word: &str) -> Result<bool, ServerError> {
    match word {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(bad(format!("value: `think` is `on` or `off`, not `{word}`"))),
    }
}

fn bad(message: String) -> ServerError {
    ServerError::InvalidParams(message)
}
