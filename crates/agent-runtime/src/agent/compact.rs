//! Makes room in a conversation: by a summary of its oldest turns, or by leaving them out.

use session_model::source::IdKind;
use session_model::{Compaction, CompactionId, CompactionState, Event, Severity, Summary};

use super::overflow::Overflow;
use super::summary::{self, Written};
use super::turn::Turn;
use crate::context::{self, Budget, Outgrown};
use crate::driver::{Compacted, TurnError};

/// How many of the newest turns stay whole when the user asks for a summary.
const KEPT_TURNS: usize = 1;
/// The most of a summary that is kept, in bytes, and at least that much also in a small window: an eighth of it, for
/// what runs in a small window is slow as well.
const MOST: usize = 12_000;
const LEAST: usize = 1_000;
const SHARE: usize = 8;

impl Turn<'_> {
    /// Has all turns but the newest summarised, with `wish` (which may be empty) in mind.
    pub(super) async fn compact_now(mut self, wish: &str) -> Result<Compacted, TurnError> {
        let compacted = self.compact(self.budget, Some(wish.trim())).await?;
        if matches!(compacted, Compacted::Done { .. }) {
            self.gauge(self.estimate(&[])).await?;
        }
        Ok(compacted)
    }

    /// Has the turns summarised that do not fit into `budget`, or with a `wish` all but the newest.
    pub(super) async fn compact(
        &mut self,
        budget: Budget,
        wish: Option<&str>,
    ) -> Result<Compacted, TurnError> {
        if !self.agent.summarises {
            return Ok(Compacted::Unable);
        }
        let keep = wish.map(|_| KEPT_TURNS);
        let (history, prompt) = (super::turn::past(&self.input), &self.input.prompt);
        let outgrown = context::outgrown(history, prompt, budget, self.summary.as_ref(), keep);
        let Some(outgrown) = outgrown else { return Ok(Compacted::Nothing) };
        let learned = &self.agent.learned;
        if wish.is_none() && learned.is_unsummarised(&self.input.session, outgrown.turns) {
            return Ok(Compacted::Nothing);
        }
        let id = CompactionId::from(self.agent.ids.fresh(IdKind::Compaction));
        let requested = wish.is_some();
        let tell = |state| Event::Compaction(Compaction { id: id.clone(), requested, state });
        self.waits.emit(tell(CompactionState::Running)).await?;
        let most = MOST.min(budget.size() / SHARE).max(LEAST);
        let written = summary::write(&*self.agent.provider, &self.waits, &outgrown, (wish, most)).await?;
        let Written { text, usage } = written;
        if let Some(tokens) = usage {
            self.spend(tokens).await?;
        }
        let Outgrown { turns, last, .. } = outgrown;
        match text {
            Ok(text) => {
                let summary = Summary { turns, last, text };
                self.waits.emit(tell(CompactionState::Done(summary.clone()))).await?;
                self.summary = Some(summary);
                self.begin_again(budget);
                Ok(Compacted::Done { turns })
            }
            Err(why) => {
                learned.not_summarised(&self.input.session, turns);
                self.waits.emit(tell(CompactionState::Failed(why.clone()))).await?;
                Ok(Compacted::Failed(why))
            }
        }
    }

    /// Sends less, for this turn and all later ones, after the server said that it was too much; `false` when nothing
    /// could be left out.
    pub(super) async fn cut_down(&mut self, overflow: Overflow) -> Result<bool, TurnError> {
        let before = context::total_size(&self.messages);
        let budget = self.smaller(overflow, before);
        let own = context::total_size(&self.messages[self.own..]);
        self.budget = budget;
        let summarised = match self.compact(budget.less(own), None).await? {
            Compacted::Done { .. } => true,
            Compacted::Nothing | Compacted::Unable | Compacted::Failed(_) => {
                self.begin_again(budget.less(own));
                false
            }
        };
        context::shrink(&mut self.messages, budget);
        let smaller = context::total_size(&self.messages) < before;
        if smaller && self.agent.learned.window().is_none() {
            self.agent.learned.at_most(budget.size());
        }
        if smaller && !summarised {
            let title = "The conversation is longer than the model can hold: its older parts are left out.";
            self.notice(Severity::Warning, title.to_owned()).await?;
        }
        Ok(smaller)
    }

    /// What is sent instead: as much as the window holds, when the server has named it and that is less; else half.
    fn smaller(&self, overflow: Overflow, before: usize) -> Budget {
        let learned = &self.agent.learned;
        if let Some(sent) = overflow.sent {
            learned.counted(sent, self.estimated());
        }
        let half = Budget::bytes(before / 2);
        let Some(limit) = overflow.limit else { return half };
        learned.holds(limit);
        Some(self.window_budget()).filter(|budget| budget.size() < before).unwrap_or(half)
    }

    /// Puts what was before this turn's answers into `budget`.
    fn begin_again(&mut self, budget: Budget) {
        let own = self.messages.split_off(self.own);
        self.messages = super::turn::beginning(&self.input, budget, self.summary.as_ref());
        self.own = self.messages.len();
        self.messages.extend(own);
    }
}
