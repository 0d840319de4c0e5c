//! What is particular to agents that are any program (`subprocess`, `aider-cli`).

use serde::Deserialize;

/// How such a program is run. Texts are as written; empty means "not given".
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct ProgramSettings {
    /// How a smolagents agent acts.
    pub action_type: String,
    /// The class of its model.
    pub model_type: String,
    /// The tools it has.
    pub smolagent_tools: Vec<String>,
    /// Modules its code may import.
    pub authorized_imports: Vec<String>,
    /// Steps of one turn; negative is no limit, 0 the built-in one.
    pub max_steps: i64,
    /// Whether the prompt is an argument, for all on the machine to see.
    pub prompt_argument: bool,
}
