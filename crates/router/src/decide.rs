//! The order in which the rules are asked.

use session_model::{AgentId, Route};

use crate::{Classifier, Fallback, RouteInput, Rules, Signal, Target};

/// Who gets the prompt, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Who.
    pub target: Target,
    /// Which rule said so.
    pub rule: Rule,
    /// Why, in words.
    pub reason: String,
}

/// The rule behind a decision, in the order in which they are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// The user wants it for this turn.
    Forced,
    /// The user wants it until further notice.
    Pinned,
    /// The escalation agent waits for an answer.
    Waiting,
    /// An earlier turn was escalated.
    Sticky,
    /// The prompt is long.
    Long,
    /// A keyword.
    Keyword,
    /// The prompt is short.
    Short,
    /// The signals' score.
    Score,
    /// The configured fallback.
    Fallback,
    /// The classifier.
    Classifier,
    /// Nothing said anything.
    Default,
    /// The user asks the same again and again.
    Repeated,
    /// The primary asked for it.
    HandedOver,
    /// The agent chosen is not available.
    Unavailable,
}

impl Rule {
    /// The word under which decisions are counted.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Forced | Self::Pinned => "explicit",
            Self::Waiting | Self::Sticky => "state",
            Self::Long | Self::Keyword | Self::Short => "hard_threshold",
            Self::Score => "soft_score",
            Self::Fallback | Self::Classifier => "classifier",
            Self::Default => "default",
            Self::Repeated | Self::HandedOver => "self_escalation",
            Self::Unavailable => "unavailable",
        }
    }

    /// Whether the rules themselves came to a conclusion.
    #[must_use]
    pub fn conclusive(self) -> bool {
        match self {
            Self::Forced
            | Self::Pinned
            | Self::Waiting
            | Self::Sticky
            | Self::Long
            | Self::Keyword
            | Self::Short
            | Self::Score
            | Self::Repeated
            | Self::HandedOver
            | Self::Unavailable => true,
            Self::Fallback | Self::Classifier | Self::Default => false,
        }
    }
}

/// Neither agent can take the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("neither a primary nor an escalation agent is available; configure one")]
pub struct NoAgent;

impl Rules {
    /// What the rules say by themselves; `None` when they come to no conclusion.
    #[must_use]
    pub fn decide(&self, input: &RouteInput<'_>) -> Option<Decision> {
        wish(input).or_else(|| state(input)).or_else(|| self.hard(input)).or_else(|| self.soft(input))
    }

    /// The decision, asking `classifier` where the rules come to none.
    pub async fn route(&self, input: &RouteInput<'_>, classifier: Option<&dyn Classifier>) -> Decision {
        match self.decide(input) {
            Some(decision) => decision,
            None => self.undecided(input.prompt, classifier).await,
        }
    }

    /// The decision on a prompt about which [`Self::decide`] came to none.
    pub async fn undecided(&self, prompt: &str, classifier: Option<&dyn Classifier>) -> Decision {
        let answer = match classifier {
            Some(classifier) => classifier.classify(prompt).await,
            None => None,
        };
        match answer {
            Some(target) => decision(target, Rule::Classifier, "model classifier"),
            None => decision(Target::Primary, Rule::Default, "default"),
        }
    }

    fn hard(&self, input: &RouteInput<'_>) -> Option<Decision> {
        let tokens = estimated_tokens(input.prompt);
        if self.escalate_above_tokens >= 0 && tokens > self.escalate_above_tokens {
            return Some(decision(Target::Escalation, Rule::Long, "prompt exceeds token threshold"));
        }
        if let Some(keyword) = self.keyword(input.prompt) {
            let reason = format!("escalate keyword: {keyword}");
            return Some(decision(Target::Escalation, Rule::Keyword, reason));
        }
        let short = self.local_below_tokens > 0 && tokens <= self.local_below_tokens;
        short.then(|| decision(Target::Primary, Rule::Short, "short prompt (local)"))
    }

    fn soft(&self, input: &RouteInput<'_>) -> Option<Decision> {
        let signals = self.signals(input);
        let score: i64 = signals.iter().map(|signal| signal.weight).sum();
        let target = match score {
            _ if score >= self.escalate_threshold => Target::Escalation,
            _ if score <= self.local_threshold => Target::Primary,
            _ => {
                let reason = "classifier-fallback=escalation";
                return (self.classifier_fallback == Fallback::Escalation)
                    .then(|| decision(Target::Escalation, Rule::Fallback, reason));
            }
        };
        Some(decision(target, Rule::Score, format!("signals: {}", names(&signals))))
    }
}

impl Decision {
    /// What becomes of a decision for the primary when the user keeps asking the same.
    #[must_use]
    pub fn repeated() -> Self {
        let reason = "the question was asked before, and is asked again";
        decision(Target::Escalation, Rule::Repeated, reason)
    }

    /// What becomes of it when the primary hands the turn over, and why it does.
    #[must_use]
    pub fn handed_over(reason: &str) -> Self {
        decision(Target::Escalation, Rule::HandedOver, format!("handed over: {reason}"))
    }

    /// Whether the user wanted this agent, and no other is to take the turn because of what it says.
    #[must_use]
    pub fn is_wished(&self) -> bool {
        match self.rule {
            Rule::Forced | Rule::Pinned => true,
            Rule::Waiting
            | Rule::Sticky
            | Rule::Long
            | Rule::Keyword
            | Rule::Short
            | Rule::Score
            | Rule::Fallback
            | Rule::Classifier
            | Rule::Default
            | Rule::Repeated
            | Rule::HandedOver
            | Rule::Unavailable => false,
        }
    }

    /// The decision as it is told, with the agent that has the role.
    #[must_use]
    pub fn route(&self, agent: AgentId) -> Route {
        let (target, reason) = (self.target.to_string(), self.reason.clone());
        Route { agent, target, reason, conclusive: Some(self.rule.conclusive()) }
    }

    /// The decision with regard to who can take the prompt at all.
    ///
    /// # Errors
    /// [`NoAgent`] when neither can.
    pub fn among(self, primary: bool, escalation: bool) -> Result<Self, NoAgent> {
        let available = |target| match target {
            Target::Primary => primary,
            Target::Escalation => escalation,
        };
        if available(self.target) {
            return Ok(self);
        }
        if !available(self.target.other()) {
            return Err(NoAgent);
        }
        Ok(self.unavailable())
    }

    /// What becomes of it when the agent chosen cannot take the prompt: the other one does.
    #[must_use]
    pub fn unavailable(self) -> Self {
        let reason = format!("the {} agent is not available (chosen for: {})", self.target, self.reason);
        decision(self.target.other(), Rule::Unavailable, reason)
    }
}

fn wish(input: &RouteInput<'_>) -> Option<Decision> {
    let forced = input.forced.map(|target| (target, Rule::Forced, "was asked for in this turn"));
    let wished = forced.or_else(|| input.pinned.map(|target| (target, Rule::Pinned, "is pinned")));
    wished.map(|(target, rule, why)| decision(target, rule, format!("the {target} agent {why}")))
}

fn state(input: &RouteInput<'_>) -> Option<Decision> {
    if input.awaiting_escalation {
        return Some(decision(Target::Escalation, Rule::Waiting, "the escalation agent waits for an answer"));
    }
    input.sticky.then(|| decision(Target::Escalation, Rule::Sticky, "an earlier turn was escalated"))
}

/// A prompt's tokens as the rules count them: roughly, a quarter of its characters.
#[must_use]
pub fn estimated_tokens(prompt: &str) -> i64 {
    i64::try_from(prompt.chars().count() / 4).unwrap_or(i64::MAX)
}

fn names(signals: &[Signal]) -> String {
    signals.iter().map(|signal| signal.name.as_str()).collect::<Vec<_>>().join(", ")
}

fn decision(target: Target, rule: Rule, reason: impl Into<String>) -> Decision {
    Decision { target, rule, reason: reason.into() }
}
