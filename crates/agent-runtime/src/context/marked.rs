//! A history as one of two agents reads it: what the other one said is marked as the other's, and what it called is
//! told instead of being put into the reader's mouth (its tools may not be the reader's).

use std::collections::HashMap;
use std::sync::Arc;

use session_model::{Entry, Item, MessageId, Route, StopReason, TurnId};

use crate::handover::{BRICK_CHARS, brick};
use crate::tools::escalate::ESCALATE;

/// The word for the primary agent in a [`Route`].
const PRIMARY: &str = "primary";

/// `history` for the agent with the role `me` (as [`Route::target`] names roles). Turns of which nobody knows who
/// answered them are the reader's own. The same list when there is nothing to mark.
#[must_use]
pub fn marked(history: Arc<[Entry]>, me: &str) -> Arc<[Entry]> {
    let routes: HashMap<&TurnId, &Route> = history
        .iter()
        .filter_map(|entry| match &entry.item {
            Item::TurnEnd { route: Some(route), .. } => Some((&entry.turn, route)),
            Item::TurnEnd { route: None, .. }
            | Item::User { .. }
            | Item::Agent { .. }
            | Item::Thought { .. }
            | Item::Tool { .. }
            | Item::Remark { .. }
            | Item::Compaction { .. } => None,
        })
        .collect();
    let mut turns: HashMap<&TurnId, Vec<&Entry>> = HashMap::new();
    for entry in history.iter().filter(|entry| routes.contains_key(&entry.turn)) {
        turns.entry(&entry.turn).or_default().push(entry);
    }
    let splits: HashMap<&TurnId, Split<'_>> = turns
        .iter()
        .filter_map(|(turn, entries)| Some((*turn, Split::of(entries, routes.get(turn)?, me)?)))
        .collect();
    if splits.is_empty() {
        drop((splits, turns));
        return history;
    }
    let mut told = Vec::with_capacity(history.len());
    let mut places: HashMap<&TurnId, usize> = HashMap::new();
    for entry in history.iter() {
        match splits.get(&entry.turn) {
            Some(split) => {
                let place = places.entry(&entry.turn).or_default();
                split.tell(*place, entry, &mut told);
                *place += 1;
            }
            None => told.push(entry.clone()),
        }
    }
    told.into()
}

/// Which entries of a turn are the other agent's.
struct Split<'a> {
    /// Places in the turn.
    theirs: std::ops::Range<usize>,
    /// All of theirs in words, told in place of the first of them.
    text: String,
    route: &'a Route,
}

impl<'a> Split<'a> {
    /// `None` when the whole turn is the reader's.
    fn of(entries: &[&Entry], route: &'a Route, me: &str) -> Option<Self> {
        let handed = entries.iter().rposition(|entry| is_handover(&entry.item)).map(|at| at + 1);
        // Only the primary hands over, and the turn's route is that of whoever ended it.
        let handed = handed.filter(|_| route.target != PRIMARY);
        let (theirs, who) = match handed {
            Some(at) if me == PRIMARY => (at..entries.len(), label(route)),
            Some(at) => (0..at, format!("[the {PRIMARY} agent]")),
            None if route.target == me => return None,
            None => (0..entries.len(), label(route)),
        };
        let part = entries.get(theirs.clone()).unwrap_or_default();
        let said = part.iter().copied().filter(|entry| !matches!(entry.item, Item::User { .. }));
        let text = brick(said, &who, BRICK_CHARS);
        Some(Self { theirs, text, route })
    }

    fn tell(&self, place: usize, entry: &Entry, told: &mut Vec<Entry>) {
        match &entry.item {
            Item::User { .. } | Item::Compaction { .. } => told.push(entry.clone()),
            Item::TurnEnd { .. } => {
                self.tell_theirs(entry, told);
                told.push(entry.clone());
            }
            Item::Agent { .. } | Item::Thought { .. } | Item::Tool { .. } | Item::Remark { .. } => {
                if !self.theirs.contains(&place) {
                    if place >= self.theirs.end {
                        self.tell_theirs(entry, told);
                    }
                    told.push(entry.clone());
                }
            }
        }
    }

    /// Once, where their part ends.
    fn tell_theirs(&self, entry: &Entry, told: &mut Vec<Entry>) {
        let id = MessageId::from(format!("{}-{}", entry.turn, self.route.target));
        let known = |entry: &Entry| matches!(&entry.item, Item::Agent { id: known, .. } if *known == id);
        let mut same_turn = told.iter().rev().take_while(|told| told.turn == entry.turn);
        if self.text.is_empty() || same_turn.any(known) {
            return;
        }
        let item = Item::Agent { id, step: 0, text: self.text.clone() };
        told.push(Entry { turn: entry.turn.clone(), at: entry.at, item });
    }
}

fn label(route: &Route) -> String {
    format!("[{} as {}]", route.agent, route.target)
}

fn is_handover(item: &Item) -> bool {
    match item {
        Item::Tool { call, .. } => call.name.as_deref() == Some(ESCALATE),
        Item::User { .. }
        | Item::Agent { .. }
        | Item::Thought { .. }
        | Item::Remark { .. }
        | Item::Compaction { .. }
        | Item::TurnEnd { .. } => false,
    }
}

/// The role of the agent that ended the last finished turn, and whether it ended by asking the user something.
#[must_use]
pub fn last_route(history: &[Entry]) -> Option<LastTurn<'_>> {
    history.iter().rev().find_map(|entry| match &entry.item {
        Item::TurnEnd { route: Some(route), stop, .. } => Some(LastTurn {
            route,
            asks: *stop == StopReason::EndTurn && ends_in_a_question(history, &entry.turn),
        }),
        Item::TurnEnd { route: None, .. }
        | Item::User { .. }
        | Item::Agent { .. }
        | Item::Thought { .. }
        | Item::Tool { .. }
        | Item::Remark { .. }
        | Item::Compaction { .. } => None,
    })
}

/// The last turn that a model answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastTurn<'a> {
    /// Who answered.
    pub route: &'a Route,
    /// Whether its last line is a question to the user.
    pub asks: bool,
}

fn ends_in_a_question(history: &[Entry], turn: &TurnId) -> bool {
    let mut text = String::new();
    for entry in history.iter().filter(|entry| entry.turn == *turn) {
        match &entry.item {
            Item::Agent { text: more, .. } => text.push_str(more),
            Item::Tool { .. } => text.clear(),
            Item::User { .. }
            | Item::Thought { .. }
            | Item::Remark { .. }
            | Item::Compaction { .. }
            | Item::TurnEnd { .. } => {}
        }
    }
    let last = text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
    last.trim_end_matches(['*', '_', '`', '"', '\'', ')', '»', '”']).ends_with(['?', '？', '؟'])
}

#[cfg(test)]
#[path = "marked_tests.rs"]
mod tests;
