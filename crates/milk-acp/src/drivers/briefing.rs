//! What the agent that takes a turn is told of the other one's work, and how much of the history it is sent.
//!
//! Pure.

use std::sync::Arc;

use agent_runtime::handover::{Handover, brick};
use router::Target;
use session_model::{Entry, Item, TurnId};

use super::Routing;

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
    let handover = Handover {
        earlier: if fresh { worded(last_stretch(&turns, me), me) } else { String::new() },
        fresh,
        ..Handover::default()
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
}

fn turns(history: &[Entry]) -> Vec<Turn<'_>> {
    let mut turns: Vec<Turn<'_>> = Vec::new();
    for entry in history {
        if turns.last().is_none_or(|turn| *turn.id != entry.turn) {
            turns.push(Turn { id: &entry.turn, entries: Vec::new(), by: None });
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
