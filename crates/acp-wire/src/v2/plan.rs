//! plan

use super::session::AbsolutePath;
use crate::macros::{object, string_type, strings, tagged};

string_type! {
    /// Plan id.
    pub struct PlanId;
}

object! {
    /// Plan update.
    pub struct PlanUpdate {
        /// Plan.
        req plan: PlanUpdateContent,
        meta
    }
}

tagged! {
    /// Plan update content.
    pub enum PlanUpdateContent: "type" {
        /// Items.
        Items(PlanItems) = "items",
        /// Markdown.
        Markdown(PlanMarkdown) = "markdown",
        ; else Other requires ["planId"]
    }
}

object! {
    /// Plan items.
    pub struct PlanItems {
        /// Plan id.
        req plan_id: PlanId,
        /// Entries.
        req_items entries: PlanEntry,
        meta
    }
}

object! {
    /// Plan markdown.
    pub struct PlanMarkdown {
        /// Plan id.
        req plan_id: PlanId,
        /// Content.
        req content: String,
        /// Path.
        soft path: AbsolutePath,
        meta
    }
}

object! {
    /// Plan removed.
    pub struct PlanRemoved {
        /// Plan id.
        req plan_id: PlanId,
        meta
    }
}

object! {
    /// Plan entry.
    pub struct PlanEntry {
        /// Content.
        req content: String,
        /// Priority.
        req priority: PlanEntryPriority,
        /// Status.
        req status: PlanEntryStatus,
        meta
    }
}

strings! {
    /// Plan entry priority.
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
    /// Plan entry status.
    pub enum PlanEntryStatus {
        /// Pending.
        Pending = "pending",
        /// In progress.
        InProgress = "in_progress",
        /// Completed.
        Completed = "completed",
        /// Cancelled.
        Cancelled = "cancelled",
        ; else Other
    }
}
