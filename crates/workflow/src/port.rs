//! What a workflow needs from outside, and what it tells.

use std::borrow::Cow;
use std::fmt;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use session_model::PlanEntry;

use crate::{Checkpoint, CheckpointError, Judgement, StageError, Workflow};

/// Which part an agent plays.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RoleName(Cow<'static, str>);

impl RoleName {
    /// Plans.
    pub const DESIGNER: Self = Self(Cow::Borrowed("designer"));
    /// Does the work.
    pub const GENERATOR: Self = Self(Cow::Borrowed("generator"));
    /// Judges the work.
    pub const EVALUATOR: Self = Self(Cow::Borrowed("evaluator"));

    /// A role of another name.
    pub fn new(name: impl Into<String>) -> Self {
        Self(Cow::Owned(name.into()))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RoleName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One turn of one role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stage {
    /// Whose.
    pub role: RoleName,
    /// Which sprint, from 1; `None` while planning.
    pub sprint: Option<u32>,
    /// Which pass of the sprint, from 1; `None` while planning.
    pub pass: Option<u32>,
    /// What the role is told.
    pub prompt: String,
}

/// What a role's turn came to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StageReply {
    /// Its text, tool output excluded.
    pub text: String,
}

/// Runs the turns. Each role keeps a conversation of its own from turn to turn.
#[async_trait]
pub trait StageRunner: Send + Sync {
    /// Runs one turn of `role`.
    ///
    /// # Errors
    /// Fails when the turn was cancelled, or failed for good: what is worth another try is tried in here.
    async fn run(&self, role: &RoleName, prompt: String) -> Result<StageReply, StageError>;

    /// The changes made to the workspace so far, as a diff with its statistics; `None` when there is no telling.
    async fn changes(&self) -> Option<String> {
        None
    }

    /// Puts a question to the user. Where nobody can be asked the answer is to continue.
    ///
    /// # Errors
    /// Fails when the workflow was cancelled meanwhile.
    async fn answer(&self, question: &str) -> Result<String, StageError> {
        let _unasked = question;
        Ok(CONTINUE.to_owned())
    }
}

/// The answer that leaves everything to the workflow.
pub(crate) const CONTINUE: &str = "continue";

/// Keeps checkpoints; a later one replaces the earlier.
pub trait Checkpoints: Send + Sync {
    /// Keeps `checkpoint`.
    ///
    /// # Errors
    /// Fails when it could not be written; the workflow goes on.
    fn save(&self, checkpoint: &Checkpoint) -> Result<(), CheckpointError>;
}

/// What happens while a workflow runs.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// Where every stage stands, whole list.
    Progress(Vec<PlanEntry>),
    /// A role's turn begins.
    Started(Stage),
    /// A role's turn is over.
    Finished {
        /// Whose.
        role: RoleName,
        /// What it said.
        text: String,
    },
    /// A question was put, and answered.
    Answered {
        /// The question.
        question: String,
        /// The answer.
        answer: String,
    },
    /// A pass was judged.
    Judged(Judgement),
    /// Something is not as it should be, but the workflow goes on.
    Warning(String),
}

/// What a completed workflow came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Which workflow.
    pub workflow: Workflow,
    /// What was asked for.
    pub task: String,
    /// The designer's plan.
    pub plan: String,
    /// Every judgement, in order.
    pub judgements: Vec<Judgement>,
    /// The generator's last summary.
    pub summary: String,
}
