//! The end of a run: what it means, what of it is told, and how a run is broken off.

use std::time::Duration;

use session_model::{ContextUsage, Event, Spent, TokenUsage};
use tokio::time::{Instant, timeout_at};

use super::line::{self, End, Told};
use super::outcome::{self, Verdict};
use super::run::{Ended, Run};
use crate::agent::reply::message;
use crate::driver::{TurnEnd, TurnError};
use crate::external::child::LineChild;
use crate::external::failure::Failure;
use crate::io::Interrupted;

/// How long the program may take to stop by itself when the turn is cancelled; less than the turn's own grace.
const STOP_GRACE: Duration = Duration::from_millis(1_200);
/// How long it may take to end once it has said its last word.
const EXIT_GRACE: Duration = Duration::from_secs(2);

impl Run<'_> {
    /// What the end means, once the program is gone.
    pub(super) async fn conclude(
        mut self,
        child: &mut LineChild,
        end: Option<End>,
    ) -> Result<Ended, TurnError> {
        let status = self.waits.io().or_cancelled(child.end(EXIT_GRACE)).await?;
        child.settle_stderr().await;
        let Some(end) = end else {
            let said = format!("{}\n{}", child.stderr(), self.odd);
            if !self.spoke && outcome::is_taken(&said) {
                return Ok(Ended::Taken);
            }
            if !self.spoke && outcome::is_unknown(&said) {
                return Ok(Ended::Unknown);
            }
            let Failure { code, reason } = outcome::unexpected(status, &said);
            return Err(self.agent.failed(code, reason));
        };
        self.account(&end).await?;
        match outcome::of(&end) {
            Verdict::Unknown if !self.spoke => Ok(Ended::Unknown),
            Verdict::Unknown => Err(self.agent.failed("external_failed", "its conversation is gone")),
            Verdict::Failed(Failure { code, reason }) => Err(self.agent.failed(code, reason)),
            Verdict::Whole(stop) => {
                if !status.is_some_and(|status| status.success()) {
                    tracing::warn!(
                        agent = self.agent.config.name,
                        ?status,
                        "it answered, but did not end well"
                    );
                }
                self.speak_up(&end).await?;
                let end_of_turn = TurnEnd { stop, usage: end.usage };
                Ok(Ended::Whole { end: end_of_turn, session: end.session.or(self.session) })
            }
        }
    }

    /// Words that were not streamed: the program's own, or those of an answer of which nothing else was seen.
    async fn speak_up(&mut self, end: &End) -> Result<(), Interrupted> {
        let words = if self.held.is_empty() { &end.text } else { &self.held };
        if !words.trim().is_empty() && (!self.spoke || !self.held.is_empty()) {
            self.waits.emit(message(words.clone(), &*self.agent.ids)).await?;
        }
        Ok(())
    }

    /// What the run took, also where it failed.
    async fn account(&self, end: &End) -> Result<(), Interrupted> {
        if let Some(tokens) = end.usage.filter(|tokens| tokens.total() > 0) {
            let (agent, model) = (self.agent.agent.clone(), end.model.clone());
            let dollars = (end.cost > 0.0).then_some(end.cost);
            self.waits.emit(Event::Spent(Spent { agent, model, tokens, dollars })).await?;
        }
        let Some(size) = end.window else { return Ok(()) };
        let used = match self.context {
            0 => end.usage.map_or(0, TokenUsage::total),
            used => used,
        };
        self.waits.emit(Event::Usage(ContextUsage { used, size, cost: None })).await
    }

    /// Has the program stop: first by its own word for it, then by force. Takes less than the turn's grace.
    pub(super) async fn stop(&mut self, child: &mut LineChild) {
        let deadline = Instant::now() + STOP_GRACE;
        let request = self.request();
        let stopped = async {
            child.send(line::interrupt(&request)).await;
            while let Ok(Some(text)) = child.line().await {
                if let Ok(Some(Told::End(_))) = line::read(&text) {
                    break;
                }
            }
        };
        drop(timeout_at(deadline, stopped).await);
        child.end(deadline.saturating_duration_since(Instant::now())).await;
    }
}
