//! Plans: the task list and the stages of a workflow.

use serde::{Deserialize, Serialize};

use crate::PlanId;

/// A whole plan; replaces the earlier one of its id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Which plan.
    pub id: PlanId,
    /// All its entries, in order.
    pub entries: Vec<PlanEntry>,
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanEntry {
    /// What is to be done.
    pub content: String,
    /// How much it matters.
    pub priority: PlanPriority,
    /// Where it stands.
    pub status: PlanStatus,
}

/// How much a step matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanPriority {
    /// First.
    High,
    /// As usual.
    Medium,
    /// When there is time.
    Low,
}

/// Where a step stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanStatus {
    /// Not begun.
    Pending,
    /// Waiting for something else; neither protocol version has a word for it.
    Blocked,
    /// Being done.
    InProgress,
    /// Done.
    Completed,
    /// Given up.
    Cancelled,
}
