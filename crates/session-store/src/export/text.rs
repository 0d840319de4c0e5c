//! The text form.

use std::fmt::{self, Write as _};

use time::format_description::BorrowedFormatItem;
use time::macros::format_description;
use time::{OffsetDateTime, UtcOffset};

use super::json::STATE;
use super::turns::{self, GoTurn, TOOL_RESULT, USER};
use crate::meta::StoredSession;

const RULE_WIDTH: usize = 48;
const RESULT_CHARS: usize = 300;
const ELLIPSIS: &str = "...";
const TIME: &[BorrowedFormatItem<'_>] = format_description!("[year]-[month]-[day] [hour]:[minute]:[second]");

/// The session as plain text: a head, then every turn under a rule. Times are UTC; results of tools are shortened.
#[must_use]
pub fn text(session: &StoredSession) -> String {
    let mut out = String::new();
    // Writing into a string cannot fail.
    let _infallible = write_session(&mut out, session);
    out
}

fn write_session(out: &mut String, session: &StoredSession) -> fmt::Result {
    let meta = &session.meta;
    let turns = turns::turns(&session.entries);
    writeln!(out, "session: {}", meta.id)?;
    if let Some(name) = &meta.name {
        writeln!(out, "name: {name}")?;
    }
    writeln!(out, "cwd: {}", meta.cwd.display())?;
    writeln!(out, "created: {}", moment(meta.created_at))?;
    writeln!(out, "state: {STATE}")?;
    writeln!(out, "turns: {}", turns.len())?;
    for (index, turn) in turns.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        write_turn(out, turn)?;
    }
    Ok(())
}

fn write_turn(out: &mut String, turn: &GoTurn) -> fmt::Result {
    let who = match turn.role.as_str() {
        USER => "user",
        TOOL_RESULT => "tool result",
        turns::ASSISTANT => &turn.agent,
        other => other,
    };
    let when = turn.timestamp.map(moment).unwrap_or_default();
    writeln!(out, "{}\n{when}  ·  {who}", "━".repeat(RULE_WIDTH))?;
    if turn.role == TOOL_RESULT {
        return writeln!(out, "  → {}", shorten(&turn.content));
    }
    if !turn.content.is_empty() {
        writeln!(out, "{}", turn.content)?;
    }
    for call in &turn.tool_calls {
        writeln!(out, "  ⚙ {}: {}", call.name, call.arguments)?;
    }
    Ok(())
}

fn shorten(text: &str) -> String {
    if text.chars().nth(RESULT_CHARS).is_none() {
        return text.to_owned();
    }
    text.chars().take(RESULT_CHARS - ELLIPSIS.len()).chain(ELLIPSIS.chars()).collect()
}

fn moment(at: OffsetDateTime) -> String {
    at.to_offset(UtcOffset::UTC).format(TIME).unwrap_or_default()
}
