//! The `rules` of the configuration, with their defaults.

use serde::{Deserialize, Serialize};

/// Limits, lists and weights. Absent members have their defaults; a list that is given replaces its default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rules {
    /// Prompts of more tokens than this are escalated; a negative number switches the rule off.
    pub escalate_above_tokens: i64,
    /// Prompts of at most this many tokens stay with the primary; 0 or less switches the rule off.
    pub local_below_tokens: i64,
    /// Phrases that escalate whatever else is said.
    pub escalate_keywords: Vec<String>,
    /// A score of at least this escalates.
    pub escalate_threshold: i64,
    /// A score of at most this stays with the primary.
    pub local_threshold: i64,
    /// What a local verb adds.
    pub local_verb_weight: i64,
    /// What an escalation verb adds.
    pub escalate_verb_weight: i64,
    /// What a path that exists adds.
    pub path_ref_weight: i64,
    /// What a code fence adds.
    pub code_block_weight: i64,
    /// What an open question adds.
    pub open_question_weight: i64,
    /// What happens when the score says nothing.
    pub classifier_fallback: Fallback,
    /// Whether a model is asked then. It costs a request, so it has to be wanted.
    pub classifier: bool,
    /// Verbs of small jobs.
    pub local_verbs: Vec<String>,
    /// Verbs of large ones.
    pub escalate_verbs: Vec<String>,
    /// How open questions begin; an empty list means the defaults.
    pub open_question_prefixes: Vec<String>,
}

/// What happens when the rules come to no conclusion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fallback {
    /// The classifier is asked; without one, or without an answer, it is the primary.
    #[default]
    Local,
    /// It is escalated.
    #[serde(alias = "claude")]
    Escalation,
}

const ESCALATE_KEYWORDS: &[&str] = &["refactor entire", "context brick", "memory panel", "panel memory"];
const LOCAL_VERBS: &[&str] = &[
    "grep",
    "find",
    "list",
    "run",
    "read",
    "fix",
    "debug",
    "show",
    "cat",
    "ls",
    "check",
    "print",
    "count",
    "search",
    "add",
    "create",
    "write",
    "implement",
    "rename",
    "delete",
    "move",
    "aggiungi",
    "crea",
    "scrivi",
    "implementa",
    "rinomina",
    "elimina",
    "sposta",
    "cerca",
    "mostra",
    "controlla",
    "esegui",
    "leggi",
];
const ESCALATE_VERBS: &[&str] = &[
    "architect",
    "design",
    "refactor",
    "explain why",
    "compare",
    "evaluate",
    "plan",
    "propose",
    "summarize",
    "review",
    "analyze",
    "describe",
    "progetta",
    "refactorizza",
    "spiega perché",
    "confronta",
    "valuta",
    "pianifica",
    "proponi",
    "riassumi",
    "revisiona",
    "analizza",
    "descrivi",
];
const OPEN_QUESTIONS: &[&str] = &[
    "what",
    "why",
    "how",
    "when",
    "where",
    "who",
    "which",
    "could you",
    "can you",
    "would you",
    "should",
    "is it",
    "are there",
    "do you",
    "does",
    "cosa",
    "come",
    "perché",
    "quando",
    "dove",
    "chi",
    "quale",
    "quali",
    "potresti",
    "puoi",
    "dovresti",
    "è possibile",
    "ci sono",
    "sai",
];

impl Default for Rules {
    fn default() -> Self {
        Self {
            escalate_above_tokens: 2_000,
            local_below_tokens: 30,
            escalate_keywords: owned(ESCALATE_KEYWORDS),
            escalate_threshold: 6,
            local_threshold: -4,
            local_verb_weight: -3,
            escalate_verb_weight: 4,
            path_ref_weight: -2,
            code_block_weight: -2,
            open_question_weight: 3,
            classifier_fallback: Fallback::Local,
            classifier: false,
            local_verbs: owned(LOCAL_VERBS),
            escalate_verbs: owned(ESCALATE_VERBS),
            open_question_prefixes: owned(OPEN_QUESTIONS),
        }
    }
}

impl Rules {
    /// The prefixes in force.
    pub(crate) fn open_questions(&self) -> Vec<&str> {
        if self.open_question_prefixes.is_empty() {
            return OPEN_QUESTIONS.to_vec();
        }
        self.open_question_prefixes.iter().map(String::as_str).collect()
    }
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
