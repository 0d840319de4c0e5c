//! What is told of turns that are left out: the task, what was asked since, and the files that were touched, always;
//! and a summary in a model's words where there is one.
//!
//! Pure. The same turns make the same words, so that a server's prompt cache hits.

use std::fmt::Write as _;

use session_model::{Summary, ToolKind, TurnId, text_of};

use super::Budget;
use super::past::PastTurn;

/// The task is told up to so many bytes.
const TASK: usize = 2_000;
/// Of what was asked and answered since, each up to so many.
const ASKED: usize = 240;
/// And so many files of a kind.
const FILES: usize = 40;
/// The most that a recap takes; less in a small window.
const MOST: usize = 8_192;
/// With less room nothing is told but that turns are left out.
const LEAST: usize = 256;
/// In a transcript for a summary: what was said, and what tools were given and gave.
const SAID: usize = 3_000;
const GIVEN: usize = 200;
const GAVE: usize = 500;

/// Turns that are to be summarised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgrown {
    /// How many turns the summary will cover.
    pub turns: usize,
    /// The last of them.
    pub last: TurnId,
    /// What they were, for whoever writes the summary: an earlier summary, and the turns since.
    pub transcript: String,
}

/// How many of these turns `summary` covers; none when all that it covers is before them.
pub(super) fn covered(turns: &[PastTurn], summary: Option<&Summary>) -> usize {
    let last = summary.and_then(|summary| turns.iter().rposition(|turn| turn.id == summary.last));
    last.map_or(0, |at| at + 1)
}

/// The room that a recap may take: an eighth to a quarter, in steps, so that it does not change with every prompt.
/// None where that is too little to say anything.
pub(super) fn room(budget: Budget, summary: Option<&Summary>) -> usize {
    facts_room(budget) + summary.map_or(0, |summary| summary.text.len())
}

/// The same without the summary's own words.
pub(super) fn facts_room(budget: Budget) -> usize {
    let room = ((budget.size() / 4).next_power_of_two() / 2).min(MOST);
    if room < LEAST { 0 } else { room }
}

/// The recap of `turns` and of what `summary` covers, in about `room` bytes and those of `summary`.
pub(super) fn recap(turns: &[PastTurn], summary: Option<&Summary>, room: usize) -> String {
    let before = summary.filter(|summary| covered(turns, Some(summary)) == 0);
    let count = turns.len() + before.map_or(0, |summary| summary.turns);
    let mut told = format!("[Turns before this one are left out to make room: {count}.");
    if room > 0 {
        told.push_str(&facts(turns, room));
    }
    if let Some(summary) = summary {
        write!(told, "\nSummary: {}", summary.text.trim()).unwrap_or_default();
    }
    told.push_str("]\n\n");
    told
}

/// What can be told without a model.
fn facts(turns: &[PastTurn], room: usize) -> String {
    let [first, rest @ ..] = turns else { return String::new() };
    let task = cut(text_of(&first.user).trim(), TASK.min(room / 3));
    let mut told = format!("\nThe task: {task}");
    let since = since(rest, room / 3);
    if !since.is_empty() {
        write!(told, "\nWhat was asked since, and answered:{since}").unwrap_or_default();
    }
    let files = files(turns, room / 3);
    if !files.is_empty() {
        write!(told, "\nFiles:{files}").unwrap_or_default();
    }
    told
}

/// The newest lines that fit.
fn since(turns: &[PastTurn], mut room: usize) -> String {
    let line = |turn: &PastTurn| {
        let answer =
            turn.steps.iter().rev().find(|step| !step.text.is_empty()).map(|step| step.text.as_str());
        let answer = answer.or(turn.note).unwrap_or("(no answer)");
        format!("\n- {} → {}", one_line(&text_of(&turn.user)), one_line(answer))
    };
    let mut lines: Vec<String> = Vec::new();
    for told in turns.iter().rev().map(line) {
        let Some(left) = room.checked_sub(told.len()) else { break };
        room = left;
        lines.push(told);
    }
    let missing = turns.len() - lines.len();
    if missing > 0 {
        lines.push(format!("\n- ({missing} earlier ones)"));
    }
    lines.reverse();
    lines.concat()
}

/// What was done to which files; what changed them counts most, and of that the newest.
fn files(turns: &[PastTurn], room: usize) -> String {
    let mut changed: Vec<String> = Vec::new();
    let mut seen: Vec<String> = Vec::new();
    for call in turns.iter().rev().flat_map(PastTurn::calls) {
        let list = match call.kind {
            ToolKind::Edit | ToolKind::Delete | ToolKind::Move => &mut changed,
            ToolKind::Read
            | ToolKind::Search
            | ToolKind::Execute
            | ToolKind::Think
            | ToolKind::Fetch
            | ToolKind::SwitchMode
            | ToolKind::Other => &mut seen,
        };
        for location in &call.locations {
            let path = location.path.display().to_string();
            if !list.contains(&path) {
                list.push(path);
            }
        }
    }
    seen.retain(|path| !changed.contains(path));
    let changed = listed("changed", &changed, room / 3 * 2);
    let seen = listed("looked at", &seen, room / 3);
    format!("{changed}{seen}")
}

fn listed(what: &str, paths: &[String], mut room: usize) -> String {
    let mut told = Vec::new();
    for path in paths.iter().take(FILES) {
        let Some(left) = room.checked_sub(path.len() + 2) else { break };
        room = left;
        told.push(path.as_str());
    }
    let more = paths.len() - told.len();
    match (told.is_empty(), more) {
        (true, 0) => String::new(),
        (true, more) => format!("\n- {what}: {more}"),
        (false, 0) => format!("\n- {what}: {}", told.join(", ")),
        (false, more) => format!("\n- {what}: {} and {more} more", told.join(", ")),
    }
}

/// The beginning and the end of a text that is longer than `keep` bytes.
fn cut(text: &str, keep: usize) -> String {
    if text.len() <= keep {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(keep / 3 * 2);
    let tail = text.ceil_char_boundary(text.len() - keep / 3);
    format!("{} […] {}", &text[..head], &text[tail..])
}

fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.len() <= ASKED {
        return line;
    }
    format!("{}…", &line[..line.floor_char_boundary(ASKED)])
}

/// What whoever summarises `turns` reads, in at most about `room` bytes.
pub(super) fn transcript(turns: &[PastTurn], before: Option<&Summary>, room: usize) -> String {
    let mut told = String::new();
    if let Some(before) = before {
        write!(told, "Summary of what was before:\n{}\n\n", before.text.trim()).unwrap_or_default();
    }
    for turn in turns {
        write!(told, "USER: {}\n\n", cut(text_of(&turn.user).trim(), SAID)).unwrap_or_default();
        for step in &turn.steps {
            if !step.text.is_empty() {
                write!(told, "AGENT: {}\n\n", cut(&step.text, SAID)).unwrap_or_default();
            }
            for past in &step.calls {
                let (given, gave) = (cut(&past.call.arguments, GIVEN), cut(&past.output, GAVE));
                write!(told, "TOOL {}({given}): {gave}\n\n", past.call.name).unwrap_or_default();
            }
        }
        if let Some(note) = turn.note {
            write!(told, "{note}\n\n").unwrap_or_default();
        }
    }
    cut(told.trim_end(), room)
}
