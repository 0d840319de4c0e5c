//! Everything that can go wrong with a workflow.

use crate::RoleName;

/// Why a workflow ended without a report.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorkflowError {
    /// It was cancelled; resuming goes on from the last checkpoint.
    #[error("the workflow was cancelled; resume it to go on from the last checkpoint")]
    Cancelled,
    /// A role's turn failed.
    #[error("the {role}'s turn failed: {reason}; resume the workflow to try it again")]
    Stage {
        /// Whose turn.
        role: RoleName,
        /// Why.
        reason: String,
    },
    /// The designer gave no plan.
    #[error("the designer gave no plan; resume the workflow to ask again")]
    NoPlan,
    /// A sprint did not pass within its limit.
    #[error(
        "sprint {sprint} did not pass its evaluation within {limit} passes; resume the workflow to allow as many again"
    )]
    Exhausted {
        /// Which sprint, from 1.
        sprint: u32,
        /// How many passes it had.
        limit: u32,
    },
    /// A checkpoint of a later milk.
    #[error("the workflow was saved by a newer milk (format {found}, this one knows {known})")]
    Newer {
        /// Its format.
        found: u32,
        /// The last format this build knows.
        known: u32,
    },
    /// Nothing is left to do.
    #[error("the workflow is complete; clear it to start another")]
    Complete,
}

/// Why a role's turn gave no reply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StageError {
    /// The user cancelled.
    #[error("cancelled")]
    Cancelled,
    /// Anything else, a role that asks to escalate included.
    #[error("{0}")]
    Failed(String),
}

/// A checkpoint that could not be kept; the workflow goes on without.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the workflow's progress could not be saved: {0}")]
pub struct CheckpointError(pub String);
