//! A session's settings as options a client can show and set: their list, their order, and what a value means.
//!
//! Knows no protocol version. `routing` is shown here and kept by the view's desk; it is never stored.

use agent_runtime::mode::Mode;
use agent_runtime::provider::Effort;
use router::Target;
use serde_json::{Map, Value};
use session_model::{Choice, ConfigOption, OptionCategory, OptionInput, OptionKind};

use crate::drivers::{Routing, SessionSettings};
use crate::error::ServerError;

const MODE: &str = "mode";
const MODEL: &str = "model";
const THOUGHT_LEVEL: &str = "thought_level";
const THINK: &str = "think";
/// Who answers: `auto`, `primary` or `escalation`.
pub(crate) const ROUTING: &str = "routing";
const AUTO: &str = "auto";

/// The value that leaves it to the configuration.
const DEFAULT: &str = "default";

/// The levels on offer; all providers have words for them.
const LEVELS: [Effort; 5] = [Effort::None, Effort::Minimal, Effort::Low, Effort::Medium, Effort::High];

/// The present values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Options {
    mode: Mode,
    /// The mode to return to when permissions are no longer skipped.
    before_skipping: Option<Mode>,
    models: Vec<Choice>,
    model: Option<String>,
    /// The names of the two agents, where there are two, and the one the user wants.
    routing: Option<RoutingChoice>,
    /// The agents that one can tell how hard to think.
    thinkers: Vec<String>,
    /// How hard the model should think. Not stored, and gone with the model it was said to.
    effort: Option<Effort>,
    think: bool,
    /// What the user set, as stored; defaults are left out so that they can change.
    stored: Map<String, Value>,
}

/// Which of two agents.
#[derive(Debug, Clone, PartialEq, Eq)]
struct RoutingChoice {
    primary: String,
    escalation: String,
    wanted: Option<Target>,
}

impl RoutingChoice {
    fn new(routing: &Routing) -> Self {
        Self { primary: routing.primary.clone(), escalation: routing.escalation.clone(), wanted: None }
    }
}

impl Options {
    /// The configured values, with those stored with the session laid over them.
    pub(crate) fn new(settings: &SessionSettings, stored: &Map<String, Value>) -> Self {
        let known = |name: &str| settings.models.iter().any(|choice| choice.value == name);
        let model = stored.get(MODEL).and_then(Value::as_str).filter(|name| known(name)).map(str::to_owned);
        let think = stored.get(THINK).and_then(Value::as_bool).unwrap_or(settings.show_thoughts);
        let mode = stored.get(MODE).and_then(Value::as_str).and_then(Mode::from_id);
        let configured = if settings.skip_permissions { Mode::Autonomous } else { Mode::Default };
        Self {
            mode: mode.unwrap_or(configured),
            before_skipping: None,
            models: settings.models.clone(),
            model: model.or_else(|| settings.model.clone()),
            routing: settings.routing.as_ref().map(RoutingChoice::new),
            thinkers: settings.thinkers.clone(),
            effort: None,
            think,
            stored: stored.clone(),
        }
    }

    /// Takes up changed settings. What the user set stays, as far as it is still there to be set.
    pub(crate) fn refresh(&mut self, settings: &SessionSettings) {
        let (mode, before_skipping) = (self.mode, self.before_skipping);
        let wanted = self.routing();
        let (before, effort) = (self.model.clone(), self.effort);
        *self = Self { mode, before_skipping, ..Self::new(settings, &self.stored) };
        self.effort = effort.filter(|_| self.model == before && self.thinker().is_some());
        self.show_routing(wanted);
    }

    /// Whom the user wants; `None` leaves it to the rules.
    pub(crate) fn routing(&self) -> Option<Target> {
        self.routing.as_ref().and_then(|routing| routing.wanted)
    }

    /// Shows whom the user wants; `true` when that is something else than before.
    pub(crate) fn show_routing(&mut self, wanted: Option<Target>) -> bool {
        let Some(routing) = &mut self.routing else { return false };
        std::mem::replace(&mut routing.wanted, wanted) != wanted
    }

    /// Whether there is a second agent.
    pub(crate) fn has_routing(&self) -> bool {
        self.routing.is_some()
    }

    /// The agents one can choose from; empty where there is no choice.
    pub(crate) fn models(&self) -> &[Choice] {
        &self.models
    }

    /// How freely tools run.
    pub(crate) fn mode(&self) -> Mode {
        self.mode
    }

    /// Asks nothing any more, or again as before. Not stored: it is for as long as the view lasts.
    pub(crate) fn skip_permissions(&mut self, on: bool) {
        if on && self.mode != Mode::Autonomous {
            self.before_skipping = Some(std::mem::replace(&mut self.mode, Mode::Autonomous));
        } else if !on && self.mode == Mode::Autonomous {
            self.mode = self.before_skipping.take().unwrap_or_default();
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

    /// How hard the model should think, where the user has said so.
    pub(crate) fn effort(&self) -> Option<Effort> {
        self.effort
    }

    /// The agent that can be told how hard to think, if the one that answers can.
    fn thinker(&self) -> Option<&str> {
        self.model().filter(|model| self.thinkers.iter().any(|thinker| thinker == model))
    }

    /// What the user set, as stored.
    pub(crate) fn stored(&self) -> &Map<String, Value> {
        &self.stored
    }

    /// The complete list, in order.
    pub(crate) fn list(&self) -> Vec<ConfigOption> {
        let mode = ConfigOption {
            id: MODE.to_owned(),
            name: "Permissions".to_owned(),
            description: Some("How freely tools run; takes effect at once".to_owned()),
            category: Some(OptionCategory::Mode),
            kind: OptionKind::Select {
                current: self.mode.id().to_owned(),
                choices: Mode::ALL.map(choice).to_vec(),
            },
        };
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
        let routing = self.routing.as_ref().map(routing_option);
        let level = self.thinker().map(|agent| ConfigOption {
            id: THOUGHT_LEVEL.to_owned(),
            name: format!("Reasoning · {agent}"),
            description: Some("How hard the model thinks; takes effect with the next turn".to_owned()),
            category: Some(OptionCategory::ThoughtLevel),
            kind: OptionKind::Select {
                current: self.effort.map_or(DEFAULT, Effort::id).to_owned(),
                choices: levels(),
            },
        });
        let think = ConfigOption {
            id: THINK.to_owned(),
            name: "Show reasoning".to_owned(),
            description: Some("Whether the model's reasoning is shown".to_owned()),
            category: Some(OptionCategory::ThoughtLevel),
            kind: OptionKind::Toggle { current: self.think },
        };
        [Some(mode), model, level, routing, Some(think)].into_iter().flatten().collect()
    }

    /// Shows or hides reasoning and returns everything that is to be stored.
    pub(crate) fn set_think(&mut self, on: bool) -> Map<String, Value> {
        self.think = on;
        self.stored.insert(THINK.to_owned(), on.into());
        self.stored.clone()
    }

    /// Chooses the agent that answers and returns everything that is to be stored.
    pub(crate) fn set_model(&mut self, name: String) -> Map<String, Value> {
        self.stored.insert(MODEL.to_owned(), name.clone().into());
        if self.model.as_ref() != Some(&name) {
            self.effort = None;
        }
        self.model = Some(name);
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
            (MODE, OptionInput::Choice(id)) => self.mode = mode(id)?,
            (MODE, OptionInput::Toggle(_)) => {
                return Err(bad("value: `mode` takes one of its values, not true or false".to_owned()));
            }
            (MODEL, OptionInput::Choice(name)) if !self.models.is_empty() => {
                if !self.models.iter().any(|choice| choice.value == *name) {
                    let names: Vec<&str> = self.models.iter().map(|choice| choice.value.as_str()).collect();
                    return Err(bad(format!("value: no model `{name}`; there is {}", names.join(", "))));
                }
                if self.model.as_ref() != Some(name) {
                    self.effort = None;
                }
                self.model = Some(name.clone());
            }
            (THOUGHT_LEVEL, OptionInput::Choice(word)) if self.thinker().is_some() => {
                self.effort = level(word)?;
                return Ok(self.stored.clone());
            }
            (THOUGHT_LEVEL, OptionInput::Toggle(_)) if self.thinker().is_some() => {
                let message = "value: `thought_level` takes one of its values, not true or false";
                return Err(bad(message.to_owned()));
            }
            (MODEL, OptionInput::Toggle(_)) if !self.models.is_empty() => {
                return Err(bad("value: `model` takes one of its values, not true or false".to_owned()));
            }
            (ROUTING, input) if self.routing.is_some() => {
                let wanted = wanted(input)?;
                self.show_routing(wanted);
                return Ok(self.stored.clone());
            }
            _ => return Err(bad(format!("configId: no option `{id}`; see the session's configOptions"))),
        }
        let value = match id {
            THINK => self.think.into(),
            MODE => self.mode.id().into(),
            _ => self.model.clone().into(),
        };
        self.stored.insert(id.to_owned(), value);
        Ok(self.stored.clone())
    }
}

fn choice(mode: Mode) -> Choice {
    Choice {
        value: mode.id().to_owned(),
        name: mode.name().to_owned(),
        description: Some(mode.description().to_owned()),
    }
}

fn routing_option(routing: &RoutingChoice) -> ConfigOption {
    let choice = |target: Option<Target>, name: String, description: &str| Choice {
        value: target.map_or(AUTO, Target::as_str).to_owned(),
        name,
        description: Some(description.to_owned()),
    };
    let RoutingChoice { primary, escalation, wanted } = routing;
    ConfigOption {
        id: ROUTING.to_owned(),
        name: "Routing".to_owned(),
        description: Some("Which of the two agents answers; takes effect with the next turn".to_owned()),
        category: Some(OptionCategory::Other("_routing".to_owned())),
        kind: OptionKind::Select {
            current: wanted.map_or(AUTO, Target::as_str).to_owned(),
            choices: vec![
                choice(None, "Automatic".to_owned(), "The rules decide for each prompt"),
                choice(
                    Some(Target::Primary),
                    format!("Primary ({primary})"),
                    "Every prompt goes to the primary agent",
                ),
                choice(
                    Some(Target::Escalation),
                    format!("Escalation ({escalation})"),
                    "Every prompt goes to the escalation agent",
                ),
            ],
        },
    }
}

fn wanted(input: &OptionInput) -> Result<Option<Target>, ServerError> {
    let OptionInput::Choice(word) = input else {
        return Err(bad("value: `routing` takes one of its values, not true or false".to_owned()));
    };
    let targets = [None, Some(Target::Primary), Some(Target::Escalation)];
    let found = targets.into_iter().find(|target| target.map_or(AUTO, Target::as_str) == word);
    found.ok_or_else(|| bad(format!("value: `routing` is auto, primary or escalation, not `{word}`")))
}

/// The values of `thought_level`.
fn levels() -> Vec<Choice> {
    let default = Choice {
        value: DEFAULT.to_owned(),
        name: "Default".to_owned(),
        description: Some("As configured, else as the model does".to_owned()),
    };
    let level = |level: Effort| Choice {
        value: level.id().to_owned(),
        name: match level {
            Effort::None => "None",
            Effort::Minimal => "Minimal",
            Effort::Low => "Low",
            Effort::Medium => "Medium",
            Effort::High => "High",
            Effort::XHigh => "Very high",
            Effort::Max => "Maximum",
        }
        .to_owned(),
        description: None,
    };
    std::iter::once(default).chain(LEVELS.map(level)).collect()
}

fn level(word: &str) -> Result<Option<Effort>, ServerError> {
    if word == DEFAULT {
        return Ok(None);
    }
    let level = LEVELS.into_iter().find(|level| level.id() == word);
    level.map(Some).ok_or_else(|| {
        let words = LEVELS.map(Effort::id).join(", ");
        bad(format!("value: no thought level `{word}`; there is {DEFAULT}, {words}"))
    })
}

fn mode(id: &str) -> Result<Mode, ServerError> {
    Mode::from_id(id).ok_or_else(|| {
        let ids = Mode::ALL.map(Mode::id).join(", ");
        bad(format!("mode: there is no mode `{id}`; there is {ids}"))
    })
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
