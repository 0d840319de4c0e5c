//! What the agent that takes a turn is told of the other one's work, and how much of the history it is sent.
//!
//! Pure.

use std::sync::Arc;

use agent_runtime::handover::{Handover, Need, brick};
use router::Target;
use session_model::{Entry, Item, TurnId, text_of};

use super::Routing;

/// A goal that was told so many entries ago may be reached by now.
const OLD: usize = 4;
/// A stretch of the escalation agent that says less than this, and did nothing, is not worth telling.
const LITTLE: usize = 200;

/// What `me` is told, and the history it is sent.
pub(super) fn briefing(
    history: &Arc<[Entry]>,
    me: Target,
    routing: &Routing,
    fresh: bool,
) -> (Handover, Arc<[Entry]>) {
    let turns = turns(history);
    let mine = turns.iter().rposition(|turn| turn.by == Some(me));
    let since = &turns[mine.map_or(0, |at| at + 1)..];
    let fresh = me == Target::Escalation && mine.is_some() && (fresh || since.len() >= routing.fresh_after);
    let label = |target: Target| format!("{} ({target})", routing.name(target));
    let worded = |turns: &[Turn<'_>], who: Target| {
        let entries = turns.iter().flat_map(|turn| turn.entries.iter().copied());
        brick(entries, &label(who), routing.brick_chars)
    };
    let recent = worded(since, me.other());
    let recent = if me == Target::Primary && !is_worth_telling(since) { String::new() } else { recent };
    let handover = Handover {
        brief: None,
        need: need(since, history.len()),
        recent,
        present: String::new(),
        earlier: if fresh { worded(last_stretch(&turns, me), me) } else { String::new() },
        fresh,
    };
    let sent = match mine {
        Some(at) if fresh => {
            turns[at + 1..].iter().flat_map(|turn| turn.entries.iter().copied().cloned()).collect()
        }
        Some(_) | None => Arc::clone(history),
    };
    (handover, sent)
}

/// One turn of a history.
struct Turn<'a> {
    id: &'a TurnId,
    entries: Vec<&'a Entry>,
    by: Option<Target>,
    /// Where its first entry stands.
    at: usize,
}

fn turns(history: &[Entry]) -> Vec<Turn<'_>> {
    let mut turns: Vec<Turn<'_>> = Vec::new();
    for (at, entry) in history.iter().enumerate() {
        if turns.last().is_none_or(|turn| *turn.id != entry.turn) {
            turns.push(Turn { id: &entry.turn, entries: Vec::new(), by: None, at });
        }
        let Some(turn) = turns.last_mut() else { continue };
        turn.entries.push(entry);
        if let Item::TurnEnd { route: Some(route), .. } = &entry.item {
            turn.by = [Target::Primary, Target::Escalation].into_iter().find(|t| t.as_str() == route.target);
        }
    }
    turns
}

/// The last turns in a row that `who` answered.
fn last_stretch<'t, 'a>(turns: &'t [Turn<'a>], who: Target) -> &'t [Turn<'a>] {
    let Some(last) = turns.iter().rposition(|turn| turn.by == Some(who)) else { return &[] };
    let first = turns[..last].iter().rposition(|turn| turn.by != Some(who)).map_or(0, |at| at + 1);
    &turns[first..=last]
}

/// What the user wanted when the stretch began that is handed over.
fn need(since: &[Turn<'_>], len: usize) -> Option<Need> {
    let first = since.first()?;
    let text = first.entries.iter().find_map(|entry| match &entry.item {
        Item::User { content, .. } => Some(text_of(content).trim().to_owned()),
        Item::Agent { .. }
        | Item::Thought { .. }
        | Item::Tool { .. }
        | Item::Remark { .. }
        | Item::Compaction { .. }
        | Item::TurnEnd { .. } => None,
    })?;
    Some(Need { text, old: len - first.at >= OLD }).filter(|need| !need.text.is_empty())
}

fn is_worth_telling(turns: &[Turn<'_>]) -> bool {
    let mut said = 0;
    for entry in turns.iter().flat_map(|turn| &turn.entries) {
        match &entry.item {
            Item::Tool { .. } => return true,
            Item::Agent { text, .. } => said += text.chars().count(),
            Item::User { .. }
            | Item::Thought { .. }
            | Item::Remark { .. }
            | Item::Compaction { .. }
            | Item::TurnEnd { .. } => {}
        }
    }
    said >= LITTLE
}
