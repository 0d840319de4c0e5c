//! What a view remembers between prompts.

use crate::{Decision, RouteInput, Rule, Target};

/// The user's wishes and the automatic stickiness of one view. Not persisted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pins {
    pinned: Option<Target>,
    once: Option<Target>,
    sticky: bool,
    /// The user has turned away from an agent that waits for an answer.
    left_waiting: bool,
}

impl Pins {
    /// Wants `target` until further notice; `None` is automatic routing. Forgets every other wish.
    pub fn pin(&mut self, target: Option<Target>) {
        let left_waiting = target != Some(Target::Escalation);
        *self = Self { pinned: target, once: None, sticky: false, left_waiting };
    }

    /// Wants `target` for the next turn alone. A pin to the other one is given up; wanting the primary also ends
    /// what else held the view to the escalation agent.
    pub fn force_once(&mut self, target: Target) {
        self.once = Some(target);
        self.pinned = self.pinned.filter(|pinned| *pinned == target);
        if target == Target::Primary {
            self.sticky = false;
            self.left_waiting = true;
        }
    }

    /// The pin, as the `routing` option shows it.
    #[must_use]
    pub fn pinned(&self) -> Option<Target> {
        self.pinned
    }

    /// Puts the wishes into `input`; the one for a single turn is used up.
    pub fn apply(&mut self, input: &mut RouteInput<'_>) {
        input.forced = self.once.take();
        input.pinned = self.pinned;
        input.sticky = self.sticky;
        input.awaiting_escalation &= !self.left_waiting;
    }

    /// A turn went as `decision` says and succeeded. Where the router itself escalated, follow-ups stay there, if
    /// `sticky_escalation` is on; a wish for one turn, a pin or an absent primary is no such reason.
    pub fn succeeded(&mut self, decision: &Decision, sticky_escalation: bool) {
        let by_the_router = match decision.rule {
            Rule::Forced | Rule::Pinned | Rule::Unavailable => false,
            Rule::Waiting
            | Rule::Sticky
            | Rule::Long
            | Rule::Keyword
            | Rule::Short
            | Rule::Score
            | Rule::Fallback
            | Rule::Classifier
            | Rule::Repeated
            | Rule::HandedOver
            | Rule::Default => true,
        };
        self.left_waiting = false;
        self.sticky |= by_the_router && sticky_escalation && decision.target == Target::Escalation;
    }
}
