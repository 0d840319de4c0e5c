//! Where every stage stands, as a plan to be shown.

use session_model::{PlanEntry, PlanPriority, PlanStatus};

use crate::{Checkpoint, Phase, plan};

impl Checkpoint {
    /// One entry for the design, and for each sprint one with its two stages below it, indented.
    #[must_use]
    pub fn progress(&self) -> Vec<PlanEntry> {
        let (design, work) = self.active();
        let mut entries = vec![entry("designer".to_owned(), design)];
        let sprints = if self.plan.is_empty() { 1 } else { plan::sprints(&self.plan).len() };
        for sprint in 1..=u32::try_from(sprints).unwrap_or(u32::MAX) {
            let stages = match (design, work) {
                (PlanStatus::Completed, Some(work)) if sprint == self.sprint => work,
                (PlanStatus::Completed, Some(_)) if sprint > self.sprint => [PlanStatus::Pending; 2],
                (PlanStatus::Completed, _) => [PlanStatus::Completed; 2],
                (
                    PlanStatus::Pending
                    | PlanStatus::Blocked
                    | PlanStatus::InProgress
                    | PlanStatus::Cancelled,
                    _,
                ) => [PlanStatus::Pending; 2],
            };
            let whole = match stages {
                [PlanStatus::Pending, PlanStatus::Pending] => PlanStatus::Pending,
                [PlanStatus::Completed, PlanStatus::Completed] => PlanStatus::Completed,
                [_, _] => PlanStatus::InProgress,
            };
            let pass =
                if whole == PlanStatus::InProgress { format!(", pass {}", self.pass) } else { String::new() };
            entries.push(entry(format!("sprint {sprint}{pass}"), whole));
            entries.push(entry("  generator".to_owned(), stages[0]));
            entries.push(entry("  evaluator".to_owned(), stages[1]));
        }
        entries
    }

    /// How the design stands, and how the stages of the present sprint do (`None` when all are over).
    fn active(&self) -> (PlanStatus, Option<[PlanStatus; 2]>) {
        use PlanStatus::{Completed, InProgress, Pending};
        match self.phase {
            Phase::Design | Phase::Clarify { .. } | Phase::Redesign { .. } => (InProgress, None),
            Phase::Generate | Phase::Inspect => (Completed, Some([InProgress, Pending])),
            Phase::Evaluate | Phase::Review { .. } => (Completed, Some([Completed, InProgress])),
            Phase::Done => (Completed, None),
        }
    }
}

fn entry(content: String, status: PlanStatus) -> PlanEntry {
    let priority = match status {
        PlanStatus::InProgress => PlanPriority::High,
        PlanStatus::Pending | PlanStatus::Blocked => PlanPriority::Medium,
        PlanStatus::Completed | PlanStatus::Cancelled => PlanPriority::Low,
    };
    PlanEntry { content, priority, status }
}
