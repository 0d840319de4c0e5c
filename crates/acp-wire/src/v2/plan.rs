//! Plans: what the agent is going to do.

use super::session::AbsolutePath;
use crate::macros::{from_variants, object, string_type, strings, tagged};

string_type! {
    /// Names a plan within its session.
    pub struct PlanId;
}

object! {
    /// One plan: creates it or replaces it. Protocol: Agent Plan.
    pub struct PlanUpdate {
        /// The plan.
        req plan: PlanUpdateContent,
        meta
    }
}

tagged! {
    /// What a plan holds. Protocol: Agent Plan.
    pub enum PlanUpdateContent: "type" {
        /// A list of tasks.
        Items(PlanItems) = "items",
        /// A text.
        Markdown(PlanMarkdown) = "markdown",
        ; else Other requires ["planId"]
    }
}

from_variants! {
    PlanUpdateContent:
    Items(PlanItems), Markdown(PlanMarkdown),
}

object! {
    /// A plan as a list of tasks. Protocol: Agent Plan.
    pub struct PlanItems {
        /// The plan.
        req plan_id: PlanId,
        /// The tasks, all of them.
        req_items entries: PlanEntry,
        meta
    }
}

object! {
    /// A plan as a text. Protocol: Agent Plan.
    pub struct PlanMarkdown {
        /// The plan.
        req plan_id: PlanId,
        /// The plan in Markdown.
        req content: String,
        /// The file that holds the plan, absolute.
        soft path: AbsolutePath,
        meta
    }
}

object! {
    /// A plan is gone. Protocol: Agent Plan.
    pub struct PlanRemoved {
        /// The plan.
        req plan_id: PlanId,
        meta
    }
}

object! {
    /// One task of a plan. Protocol: Agent Plan.
    pub struct PlanEntry {
        /// What is to be done.
        req content: String,
        /// How important it is.
        req priority: PlanEntryPriority,
        /// How far it is.
        req status: PlanEntryStatus,
        meta
    }
}

strings! {
    /// How important a task is. Protocol: Agent Plan.
    pub enum PlanEntryPriority {
        /// High.
        High = "high",
        /// Medium.
        Medium = "medium",
        /// Low.
        Low = "low",
        ; else Other
    }
}

strings! {
    /// How far a task is. Protocol: Agent Plan.
    pub enum PlanEntryStatus {
        /// It is still to be done.
        Pending = "pending",
        /// It is being done.
        InProgress = "in_progress",
        /// It is done.
        Completed = "completed",
        /// It won't be done.
        Cancelled = "cancelled",
        ; else Other
    }
}
