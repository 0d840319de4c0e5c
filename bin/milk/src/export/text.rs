//! The text form: a head, then every turn under a rule.

use std::fmt::Write as _;

use session_model::{StopReason, ToolCallUpdate, TurnFailure};
use session_store::StoredSession;
use time::OffsetDateTime;
use time::macros::format_description;

use super::history::{AgentTurn, Side, Turn, arguments, result, turns};
use crate::output::{Style, harmless};

/// How much of a tool's result is shown, in characters.
const RESULT_CHARS: usize = 300;
/// How long the rule between turns is.
const RULE: usize = 48;

/// A session as text. With a style for a terminal, control characters are taken out as well.
pub(crate) fn text(session: &StoredSession, style: Style) -> String {
    let meta = &session.meta;
    let turns = turns(&session.entries);
    let mut out = String::new();
    let _ = writeln!(out, "session: {}", meta.id);
    if let Some(name) = &meta.name {
        let _ = writeln!(out, "name: {}", harmless(name));
    }
    let _ = writeln!(out, "cwd: {}", harmless(&meta.cwd.to_string_lossy()));
    let _ = writeln!(out, "created: {}", stamp(meta.created_at));
    let _ = writeln!(out, "state: ROUTING");
    let _ = writeln!(out, "turns: {}", turns.iter().filter(|t| !matches!(t.side, Side::Remark(_))).count());
    out.push('\n');
    for (index, turn) in turns.iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        write_turn(turn, style, &mut out);
    }
    out
}

fn write_turn(turn: &Turn<'_>, style: Style, out: &mut String) {
    let role = match &turn.side {
        Side::User(_) => "user",
        Side::Agent(agent) => agent.role(),
        Side::Remark(_) => "milk",
    };
    let _ = writeln!(out, "{}", style.dim(&"━".repeat(RULE)));
    let _ = writeln!(out, "{}  ·  {}", style.dim(&stamp(turn.at)), style.bold(role));
    match &turn.side {
        Side::User(text) => write_body(text, out),
        Side::Agent(agent) => write_agent(agent, style, out),
        Side::Remark(text) => write_body(text, out),
    }
}

fn write_body(text: &str, out: &mut String) {
    let _ = writeln!(out, "{}", harmless(text.trim_end()));
}

fn write_agent(agent: &AgentTurn<'_>, style: Style, out: &mut String) {
    for step in &agent.steps {
        if !step.text.trim().is_empty() {
            write_body(&step.text, out);
        }
        for call in &step.calls {
            write_call(call, style, out);
        }
    }
    if let Some((stop, failure)) = agent.trouble {
        let _ = writeln!(out, "{}", style.red(&harmless(&ending(stop, failure))));
    }
}

fn write_call(call: &ToolCallUpdate, style: Style, out: &mut String) {
    let name = call.name.as_deref().or(call.title.as_deref()).unwrap_or("tool");
    let _ = writeln!(out, "  {} {}: {}", style.cyan("⚙"), harmless(name), harmless(&arguments(call)));
    let result = result(call);
    if !result.trim().is_empty() {
        let _ = writeln!(out, "  → {}", style.dim(&harmless(&shortened(result.trim()))));
    }
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= RESULT_CHARS {
        return text.to_owned();
    }
    let kept: String = text.chars().take(RESULT_CHARS - 3).collect();
    format!("{kept}...")
}

fn ending(stop: StopReason, failure: Option<&TurnFailure>) -> String {
    match (stop, failure) {
        (StopReason::Error, Some(failure)) => format!("[failed: {}]", failure.message),
        (StopReason::Error, None) => "[failed]".to_owned(),
        (StopReason::Cancelled, _) => "[cancelled]".to_owned(),
        (StopReason::MaxTokens, _) => "[cut off by the model's output limit]".to_owned(),
        (StopReason::MaxTurnRequests, _) => "[ended by the limit of tool rounds]".to_owned(),
        (StopReason::Refusal, _) => "[refused]".to_owned(),
        (StopReason::EndTurn, _) => String::new(),
    }
}

fn stamp(at: OffsetDateTime) -> String {
    at.format(format_description!("[year]-[month]-[day] [hour]:[minute]:[second]")).unwrap_or_default()
}
