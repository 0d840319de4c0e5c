//! What a view remembers of who answers: the user's wishes, what holds it to the escalation agent, and what the user
//! was told. It belongs to the view, survives a change of the session shown, and is kept nowhere.

use router::{Pins, RouteInput, Target};
use session_model::TurnId;

use crate::commands::Forced;
use crate::drivers::Routing;
use crate::drivers::routed::{Cooling, Desk, Learned, Warned};

/// The memory of one view.
#[derive(Debug, Default)]
pub(crate) struct ViewDesk {
    pins: Pins,
    /// A pin that was set while a turn ran; it holds from the turn's end on.
    queued: Option<Queued>,
    /// Whether the escalation agent begins anew with its next turn.
    fresh: bool,
    /// The last turn before the primary was asked for.
    baseline: Option<TurnId>,
    last_turn: Option<TurnId>,
    warned: Warned,
    cooling: Cooling,
}

/// What was wanted while a turn ran; `None` leaves it to the rules.
#[derive(Debug, Clone, Copy)]
struct Queued(Option<Target>);

impl ViewDesk {
    /// The pin as it is shown.
    pub(crate) fn shown(&self) -> Option<Target> {
        self.queued.map_or_else(|| self.pins.pinned(), |Queued(target)| target)
    }

    /// Wants `target` until further notice; while a turn runs, from its end on.
    pub(crate) fn pin(&mut self, target: Option<Target>, running: bool) {
        if running {
            self.queued = Some(Queued(target));
            return;
        }
        self.queued = None;
        self.pins.pin(target);
        if target == Some(Target::Primary) {
            self.baseline.clone_from(&self.last_turn);
        }
    }

    /// Has the escalation agent begin anew with its next turn.
    pub(crate) fn begin_anew(&mut self) {
        self.fresh = true;
    }

    /// What the next turn starts from; a wish for it alone is used up.
    pub(crate) fn begin(&mut self, routing: Routing, forced: Option<&Forced>) -> Desk {
        if let Some(forced) = forced {
            self.pins.force_once(forced.target);
            self.fresh |= forced.fresh;
            if forced.target == Target::Primary {
                self.baseline.clone_from(&self.last_turn);
            }
        }
        let pins = self.pins;
        self.pins.apply(&mut RouteInput::new(""));
        Desk {
            routing,
            pins,
            baseline: self.baseline.clone(),
            fresh: self.fresh,
            warned: self.warned.clone(),
            cooling: self.cooling.clone(),
        }
    }

    /// A turn between the two has ended.
    pub(crate) fn learn(&mut self, learned: Learned, sticky: bool) {
        self.warned = learned.warned;
        self.cooling = learned.cooling;
        let Some(decision) = learned.answered else { return };
        self.pins.succeeded(&decision, sticky);
        if decision.target == Target::Escalation {
            self.fresh = false;
        }
    }

    /// A turn of a model has ended, however; what was wanted meanwhile holds now.
    pub(crate) fn ended(&mut self, turn: Option<TurnId>) {
        self.last_turn = turn.or_else(|| self.last_turn.take());
        if let Some(Queued(target)) = self.queued.take() {
            self.pin(target, false);
        }
    }
}
