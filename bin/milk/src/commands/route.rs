//! `milk route`: which agent a prompt would go to, and why. Asks no model unless told to.

use std::fmt::Write as _;
use std::sync::Arc;

use milk_acp::settings::Explanation;
use serde_json::{Value, json};
use session_model::source::RandomIds;

use super::run::prompt;
use crate::args::RouteArgs;
use crate::assemble;
use crate::error::CliError;
use crate::output;
use crate::places::Places;
use crate::store::block_on;

/// Decides, and tells.
pub(crate) fn run(args: RouteArgs, places: &Places) -> Result<(), CliError> {
    let RouteArgs { prompt: words, cwd, ask, json } = args;
    let cwd = places.folder(cwd.as_deref())?;
    let prompt = prompt(&words)?;
    let drivers = assemble::drivers(places, Arc::new(RandomIds::new()), None, None);
    let explanation = block_on(async {
        let explained = drivers.explain(&cwd, &prompt, ask).await;
        explained.map_err(|failure| CliError::Undone(failure.message))
    })?;
    if json {
        output::print(format_args!("{:#}\n", value(&explanation)))?;
    } else {
        output::print(text(&explanation))?;
    }
    Ok(())
}

fn value(explanation: &Explanation) -> Value {
    let Explanation { agent, target, reason, rule, tokens, signals, score, .. } = explanation;
    let signals: Vec<_> =
        signals.iter().map(|(name, weight)| json!({ "name": name, "weight": weight })).collect();
    json!({
        "agent": agent,
        "target": target,
        "reason": reason,
        "rule": rule,
        "tokens": tokens,
        "signals": signals,
        "score": score,
        "escalateThreshold": explanation.escalate_threshold,
        "localThreshold": explanation.local_threshold,
    })
}

fn text(explanation: &Explanation) -> String {
    let Explanation { agent, target, reason, rule, tokens, signals, score, .. } = explanation;
    let mut text = format!("{agent} ({target}): {reason}\n");
    if let Some(rule) = rule {
        // Writing to a String does not fail.
        let _ = writeln!(text, "decided by: {rule}");
    }
    let _ = writeln!(text, "tokens: about {tokens}");
    for (name, weight) in signals {
        let _ = writeln!(text, "signal: {name} {weight:+}");
    }
    let (escalate, local) = (explanation.escalate_threshold, explanation.local_threshold);
    let _ = writeln!(text, "score: {score} (escalated from {escalate}, the primary's down to {local})");
    text
}
