//! Makes room: first the details of older tool use go, then old outputs, then the oldest turns.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use session_model::{Summary, ToolKind};

use super::past::{PastCall, PastTurn};
use super::recap;
use super::shrink::short_arguments;
use super::size;
use crate::provider::ModelMessage;

/// How many of the newest tool-using turns stay whole as long as there is room at all.
const WHOLE_TOOL_TURNS: usize = 2;
/// Turns are left out by so many at a time: a beginning that moved with every turn would defeat every cache.
const DROP_BLOCK: usize = 4;
/// How many files a reduced turn names.
const MANIFEST_FILES: usize = 12;
/// Tokens of a window that nobody knows: what most servers hold today.
const UNKNOWN_WINDOW: u64 = 100_000;
/// What is always left for the conversation, however small the window or large the system prompt.
const LEAST: usize = 4_000;

pub(super) const CLEARED: &str =
    r#"{"output":"[cleared to save room; call the tool again if it is needed]"}"#;

/// How much text a request's messages may hold, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Budget(usize);

impl Budget {
    /// So many bytes.
    #[must_use]
    pub fn bytes(bytes: usize) -> Self {
        Self(bytes)
    }

    /// So many bytes, or as few as make sense.
    #[must_use]
    pub fn at_least(bytes: usize) -> Self {
        Self(bytes.max(LEAST))
    }

    /// What a window of so many tokens leaves: a quarter of it is for the answer, `fixed` tokens for what is sent
    /// anyway (system prompt and tools).
    #[must_use]
    pub fn for_window(tokens: Option<u64>, fixed: u64, density: Density) -> Self {
        let room = (tokens.unwrap_or(UNKNOWN_WINDOW) / 4).saturating_mul(3).saturating_sub(fixed);
        Self(density.bytes(room).max(LEAST))
    }

    /// The size in bytes.
    #[must_use]
    pub fn size(self) -> usize {
        self.0
    }

    /// What is left of it.
    #[must_use]
    pub fn less(self, bytes: usize) -> Self {
        Self(self.0.saturating_sub(bytes))
    }
}

/// How many bytes of text a token stands for, in quarters: coarse, or every answer would move the beginning of the
/// next request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Density(u64);

impl Density {
    /// Of a text of so many bytes and tokens; a usual one where there is too little text to tell.
    #[must_use]
    pub fn of(bytes: usize, tokens: u64) -> Self {
        const USUAL: u64 = 12;
        const TELLING: usize = 2_000;
        if bytes < TELLING || tokens == 0 {
            return Self(USUAL);
        }
        // No text is so regular that it would be safe to count on more than four bytes.
        Self((bytes as u64 * 4 / tokens).clamp(4, 16))
    }

    fn bytes(self, tokens: u64) -> usize {
        usize::try_from(tokens.saturating_mul(self.0) / 4).unwrap_or(usize::MAX)
    }
}

/// The messages of all turns that fit beside the recap of the others, and how many of the oldest do not: at least
/// those that `summary` covers are left out.
pub(super) fn fit(
    turns: &[PastTurn],
    summary: Option<&Summary>,
    budget: Budget,
) -> (Vec<ModelMessage>, usize) {
    let covered = recap::covered(turns, summary);
    let (_, rest) = turns.split_at(covered);
    let room = if summary.is_some() { budget.less(recap::room(budget, summary)) } else { budget };
    let whole: Vec<_> = rest.iter().map(|turn| worded(turn, |_| true)).collect();
    let mut kept = if total(&whole) <= room.0 { whole } else { reduced(rest, room) };
    let mut left_out = overflow(&kept, room);
    if left_out > 0 && summary.is_none() {
        left_out = overflow(&kept, budget.less(recap::room(budget, None)));
    }
    kept.drain(..left_out);
    (kept.into_iter().flatten().collect(), covered + left_out)
}

/// Older tool-using turns in a line each; of the newest, as many outputs as half the room holds, newest first.
fn reduced(turns: &[PastTurn], budget: Budget) -> Vec<Vec<ModelMessage>> {
    let mut detailed = WHOLE_TOOL_TURNS;
    let mut room = budget.0 / 2;
    let mut worded_turns: Vec<_> = turns
        .iter()
        .rev()
        .map(|turn| {
            let uses_tools = turn.calls().next().is_some();
            if uses_tools && detailed == 0 {
                return manifest(turn);
            }
            detailed -= usize::from(uses_tools);
            let newest_first: Vec<_> = turn.calls().collect();
            let mut shown = newest_first.len();
            for past in newest_first.iter().rev() {
                let Some(left) = room.checked_sub(past.output.len()) else {
                    room = 0;
                    break;
                };
                room = left;
                shown -= 1;
            }
            worded(turn, |at| at >= shown)
        })
        .collect();
    worded_turns.reverse();
    worded_turns
}

/// How many of the oldest turns have to go.
fn overflow(turns: &[Vec<ModelMessage>], budget: Budget) -> usize {
    let mut room = budget.0;
    let fitting = turns
        .iter()
        .rev()
        .take_while(|turn| {
            let size: usize = turn.iter().map(size).sum();
            let fits = size <= room;
            room = room.saturating_sub(size);
            fits
        })
        .count();
    let excess = turns.len() - fitting;
    if fitting <= 1 {
        return excess;
    }
    excess.next_multiple_of(DROP_BLOCK).min(turns.len() - 1)
}

fn total(turns: &[Vec<ModelMessage>]) -> usize {
    turns.iter().flatten().map(size).sum()
}

/// A turn call by call; `shows` says whether the output of the call of that place in the turn is sent.
fn worded(turn: &PastTurn, shows: impl Fn(usize) -> bool) -> Vec<ModelMessage> {
    let mut messages = vec![ModelMessage::User(turn.user.clone())];
    let uses_tools = turn.calls().next().is_some();
    let mut place = 0;
    for step in &turn.steps {
        let first = place;
        let call = |(at, past): (usize, &PastCall)| {
            let mut call = past.call.clone();
            if !shows(first + at) {
                call.arguments = short_arguments(&call.arguments);
            }
            call
        };
        let calls = step.calls.iter().enumerate().map(call).collect();
        // The same as while the turn ran, or no server would find it in its cache.
        let reasoning = if uses_tools { step.reasoning.clone() } else { String::new() };
        let (text, kept) = (step.text.clone(), Vec::new());
        messages.push(ModelMessage::Assistant { text, calls, kept, reasoning });
        for PastCall { call, output, .. } in &step.calls {
            let output = if shows(place) { output.clone() } else { CLEARED.to_owned() };
            let (call_id, name) = (call.id.clone(), call.name.clone());
            messages.push(ModelMessage::ToolResult { call_id, name, output });
            place += 1;
        }
    }
    conclude(&mut messages, turn.note);
    messages
}

/// A turn without its calls: what was used and touched, and what was said.
fn manifest(turn: &PastTurn) -> Vec<ModelMessage> {
    let said: Vec<&str> =
        turn.steps.iter().map(|step| step.text.as_str()).filter(|text| !text.is_empty()).collect();
    let text = [manifest_line(turn)].iter().map(String::as_str).chain(said).collect::<Vec<_>>().join("\n\n");
    let mut messages = vec![ModelMessage::User(turn.user.clone()), ModelMessage::assistant(text, Vec::new())];
    conclude(&mut messages, turn.note);
    messages
}

fn manifest_line(turn: &PastTurn) -> String {
    let mut tools: BTreeMap<&str, usize> = BTreeMap::new();
    let mut files: Vec<String> = Vec::new();
    for past in turn.calls() {
        *tools.entry(&past.call.name).or_default() += 1;
        for location in &past.locations {
            let file = format!("{} {}", action(past.kind), location.path.display());
            if !files.contains(&file) {
                files.push(file);
            }
        }
    }
    let tools: Vec<String> = tools.iter().map(|(name, count)| format!("{name} ×{count}")).collect();
    let mut line = format!("[tools used: {}", tools.join(", "));
    if !files.is_empty() {
        let more = files.len().saturating_sub(MANIFEST_FILES);
        files.truncate(MANIFEST_FILES);
        line.push_str("; files: ");
        line.push_str(&files.join(", "));
        if more > 0 {
            // Writing to a string cannot fail.
            write!(line, " and {more} more").unwrap_or_default();
        }
    }
    line.push(']');
    line
}

fn action(kind: ToolKind) -> &'static str {
    match kind {
        ToolKind::Edit => "changed",
        ToolKind::Delete => "deleted",
        ToolKind::Move => "moved",
        ToolKind::Read => "read",
        ToolKind::Search => "searched",
        ToolKind::Execute | ToolKind::Think | ToolKind::Fetch | ToolKind::SwitchMode | ToolKind::Other => {
            "used"
        }
    }
}

/// A turn always ends in the model's words, so that the next one can begin with the user's.
fn conclude(messages: &mut Vec<ModelMessage>, note: Option<&'static str>) {
    let Some(note) = note else { return };
    match messages.last_mut() {
        Some(ModelMessage::Assistant { text, calls, .. }) if calls.is_empty() => {
            text.push_str("\n\n");
            text.push_str(note);
        }
        Some(_) | None => {
            messages.push(ModelMessage::assistant(note, Vec::new()));
        }
    }
}
