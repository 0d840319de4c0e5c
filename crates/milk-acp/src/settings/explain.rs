//! Why a prompt goes to which agent: the decision, and everything in the prompt that it was made from.

use std::path::Path;

use router::{Classifier, Decision, RouteInput, Target, estimated_tokens};
use session_model::TurnFailure;

use super::drivers::ConfiguredDrivers;
use crate::drivers::routed::located;
use crate::drivers::{Drivers as _, Routing};

/// What becomes of a prompt in a new session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// The agent that would be asked.
    pub agent: String,
    /// Its role: `primary` or `escalation`.
    pub target: &'static str,
    /// Why, in words.
    pub reason: String,
    /// The sort of rule that decided; `None` where there is only one agent.
    pub rule: Option<&'static str>,
    /// The prompt's tokens, as the rules count them.
    pub tokens: i64,
    /// What was found in the prompt, and what each adds.
    pub signals: Vec<(String, i64)>,
    /// Their sum.
    pub score: i64,
    /// From this score on a prompt is escalated.
    pub escalate_threshold: i64,
    /// Down to this score it is the primary's.
    pub local_threshold: i64,
}

impl ConfiguredDrivers {
    /// Decides about `prompt` as for the first turn of a session in `cwd`. Asks a model only with `ask`, where the
    /// rules come to nothing and the configuration wants a classifier. Looks at the disk for the paths in the prompt.
    ///
    /// # Errors
    /// A sentence when the configuration cannot be used.
    pub async fn explain(&self, cwd: &Path, prompt: &str, ask: bool) -> Result<Explanation, TurnFailure> {
        let (routing, primary) = self.routing_in(cwd)?;
        let classifier = match &routing {
            Some(routing) if ask && routing.rules.classifier => self.open(cwd).classifier(None).await,
            Some(_) | None => None,
        };
        Ok(explained(
            routing,
            primary,
            cwd,
            prompt,
            classifier.as_deref().map(|judge| judge as &dyn Classifier),
        )
        .await)
    }
}

async fn explained(
    routing: Option<Routing>,
    primary: String,
    cwd: &Path,
    prompt: &str,
    classifier: Option<&dyn Classifier>,
) -> Explanation {
    let two = routing.is_some();
    let routing = routing.unwrap_or_else(|| Routing::new(primary, ""));
    let exists = |path: &str| located(path, cwd, routing.home.as_deref()).exists();
    let input = RouteInput { path_exists: &exists, ..RouteInput::new(prompt) };
    let rules = &routing.rules;
    let signals: Vec<_> =
        rules.signals(&input).into_iter().map(|signal| (signal.name, signal.weight)).collect();
    let decision = if two { Some(rules.route(&input, classifier).await) } else { None };
    let target = decision.as_ref().map_or(Target::Primary, |decision| decision.target);
    Explanation {
        agent: routing.name(target).to_owned(),
        target: target.as_str(),
        rule: decision.as_ref().map(|decision| decision.rule.label()),
        reason: decision.map_or_else(|| "it is the only agent".to_owned(), |Decision { reason, .. }| reason),
        tokens: estimated_tokens(prompt),
        score: signals.iter().map(|(_, weight)| weight).sum(),
        signals,
        escalate_threshold: rules.escalate_threshold,
        local_threshold: rules.local_threshold,
    }
}
