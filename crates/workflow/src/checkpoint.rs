//! The whole state of a workflow, as it is kept.

use serde::{Deserialize, Serialize};

use crate::Verdict;

/// The format this build writes.
pub(crate) const FORMAT: u32 = 1;

/// A built-in workflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Workflow {
    /// A designer plans; per sprint a generator works and an evaluator judges until it passes.
    Dev,
    /// The same, and the user is asked after each pass.
    Pair,
}

impl Workflow {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Dev => "dev",
            Self::Pair => "pair",
        }
    }
}

/// Where a workflow stands: enough to go on after the process has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The format of this record.
    pub format: u32,
    /// Which workflow.
    pub workflow: Workflow,
    /// What was asked for.
    pub task: String,
    /// What comes next.
    pub phase: Phase,
    /// The designer's plan; empty until there is one.
    #[serde(default)]
    pub plan: String,
    /// The sprint under way, from 1.
    pub sprint: u32,
    /// The pass under way, from 1.
    pub pass: u32,
    /// How many passes a sprint has; `None` until the plan says.
    #[serde(default)]
    pub passes: Option<u32>,
    /// The evaluator's findings that the next pass has to answer; empty in a first pass.
    #[serde(default)]
    pub findings: String,
    /// The generator's last summary.
    #[serde(default)]
    pub summary: String,
    /// Every judgement so far.
    #[serde(default)]
    pub judgements: Vec<Judgement>,
}

/// What comes next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// The designer plans, or asks.
    Design,
    /// The user answers the designer.
    Clarify {
        /// The designer's questions and defaults.
        questions: String,
    },
    /// The designer plans with the answers.
    Redesign {
        /// The designer's questions and defaults.
        questions: String,
        /// The user's answers.
        answers: String,
    },
    /// The generator works.
    Generate,
    /// The generator said nothing; the changes are to speak for it.
    Inspect,
    /// The evaluator judges.
    Evaluate,
    /// The user is asked about the pass (`pair`).
    Review {
        /// What the evaluator said.
        evaluation: String,
    },
    /// Nothing is left.
    Done,
}

/// One judgement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    /// The sprint, from 1.
    pub sprint: u32,
    /// The pass, from 1.
    pub pass: u32,
    /// How it was judged; `None` when the evaluator gave no verdict, which counts as a need for refinement.
    pub verdict: Option<Verdict>,
}
