//! Earlier turns of the conversation, told to the model that asks for them. Pure.

use std::collections::HashMap;
use std::fmt::Write as _;

use session_model::{Entry, Item, TurnId, text_of};

use super::past::{PastTurn, turns};

/// The most that is told, in bytes.
const MOST: usize = 8_000;
/// The most turns of a range that are told whole.
const RANGE: usize = 5;
/// Characters of a tool's result.
const RESULT: usize = 300;
/// Characters of a turn that is only mentioned.
const MENTION: usize = 80;

/// Which turns are wanted. They are numbered from 1, the oldest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// How many of the newest are told whole, where there is no range.
    pub(crate) last: usize,
    /// A text they have in them, in whatever case.
    pub(crate) pattern: Option<String>,
    /// The role of the agent that answered them.
    pub(crate) agent: Option<String>,
    /// The first and the last of them.
    pub(crate) range: Option<(usize, usize)>,
}

/// The turns of `history` that are wanted.
pub(crate) fn told(history: &[Entry], wanted: &Wanted) -> String {
    let (all, roles) = (turns(history), roles(history));
    let pattern = wanted.pattern.as_ref().map(|pattern| pattern.to_lowercase());
    let (first, last) = wanted.range.unwrap_or((1, usize::MAX));
    let mut found = Vec::new();
    for (number, turn) in (1..).zip(&all) {
        let role = roles.get(&turn.id).copied();
        let text = whole(number, turn, role);
        let matches = pattern.as_ref().is_none_or(|pattern| text.to_lowercase().contains(pattern));
        let theirs = wanted.agent.as_deref().is_none_or(|agent| role == Some(agent));
        if (first..=last).contains(&number) && matches && theirs {
            found.push((mention(number, turn), text));
        }
    }
    if found.is_empty() {
        return format!("No such turn; {} turns were before this one.", all.len());
    }
    let (mentioned, whole) = if wanted.range.is_some() {
        (found.split_off(found.len().min(RANGE)), found)
    } else {
        let newest = found.split_off(found.len().saturating_sub(wanted.last));
        (found, newest)
    };
    let mut text = String::new();
    if !mentioned.is_empty() {
        text.push_str("Further turns, in short (turn_from and turn_to show them):\n");
        text.extend(mentioned.into_iter().map(|(line, _)| line));
        text.push('\n');
    }
    text.extend(whole.into_iter().map(|(_, text)| text));
    bounded(text)
}

/// How much there is: turns, calls and characters.
pub(crate) fn counted(history: &[Entry]) -> String {
    let all = turns(history);
    let calls: usize = all.iter().map(|turn| turn.calls().count()).sum();
    let texts = |turn: &PastTurn| -> usize {
        let steps: usize = turn.steps.iter().map(|step| step.text.chars().count()).sum();
        let calls: usize =
            turn.calls().map(|call| call.call.arguments.chars().count() + call.output.chars().count()).sum();
        text_of(&turn.user).chars().count() + steps + calls
    };
    let characters: usize = all.iter().map(texts).sum();
    format!(
        "turns before this one: {}\ntool calls in them: {calls}\ncharacters in them: {characters}",
        all.len()
    )
}

/// Who answered which turn.
fn roles(history: &[Entry]) -> HashMap<&TurnId, &str> {
    let mut roles = HashMap::new();
    for entry in history {
        if let Item::TurnEnd { route: Some(route), .. } = &entry.item {
            roles.insert(&entry.turn, route.target.as_str());
        }
    }
    roles
}

fn mention(number: usize, turn: &PastTurn) -> String {
    let words = text_of(&turn.user).split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{number}. {}\n", beginning(&words, MENTION))
}

fn whole(number: usize, turn: &PastTurn, role: Option<&str>) -> String {
    let who = role.map(|role| format!(" ({role})")).unwrap_or_default();
    let mut text = format!("Turn {number}{who}\nUser: {}\n", text_of(&turn.user).trim());
    // Writing to a string cannot fail.
    for step in &turn.steps {
        if !step.text.is_empty() {
            writeln!(text, "Agent: {}", step.text.trim()).unwrap_or_default();
        }
        for past in &step.calls {
            let (given, gave) = (beginning(&past.call.arguments, RESULT), beginning(&past.output, RESULT));
            writeln!(text, "Tool {}({given}): {gave}", past.call.name).unwrap_or_default();
        }
    }
    if let Some(note) = turn.note {
        writeln!(text, "{note}").unwrap_or_default();
    }
    text.push('\n');
    text
}

fn beginning(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The newest is at the end, and kept.
fn bounded(text: String) -> String {
    if text.len() <= MOST {
        return text;
    }
    let head = text.floor_char_boundary(MOST / 4);
    let tail = text.ceil_char_boundary(text.len() - MOST / 4 * 3);
    let left_out = tail - head;
    format!("{}\n[… {left_out} bytes left out; ask for fewer turns …]\n{}", &text[..head], &text[tail..])
}

#[cfg(test)]
mod tests {
    use session_model::{Content, MessageId, Route, StopReason};
    use time::macros::datetime;

    use super::*;

    /// Turn `n` asks "ask n" and is answered "answer n", by the escalation agent where `n` is even.
    fn history(turns: u32, answer: &str) -> Vec<Entry> {
        let entries = |n: u32| {
            let target = if n.is_multiple_of(2) { "escalation" } else { "primary" }.to_owned();
            let route = Some(Route { agent: "a".into(), target, reason: String::new(), conclusive: None });
            let user = vec![Content::text(format!("ask {n}"))];
            [
                Item::User { id: MessageId::from(format!("u{n}")), content: user, key: None },
                Item::Agent { id: MessageId::from(format!("a{n}")), step: 0, text: format!("{answer} {n}") },
                Item::TurnEnd { stop: StopReason::EndTurn, error: None, route },
            ]
            .map(|item| Entry {
                turn: TurnId::from(format!("t{n}")),
                at: datetime!(2026-01-02 03:04:05 UTC),
                item,
            })
        };
        (1..=turns).flat_map(entries).collect()
    }

    fn all(last: usize) -> Wanted {
        Wanted { last, pattern: None, agent: None, range: None }
    }

    #[test]
    fn the_newest_turns_are_told_whole_and_older_ones_in_a_line() {
        insta::assert_snapshot!(told(&history(3, "answer"), &all(1)), @r"
        Further turns, in short (turn_from and turn_to show them):
        1. ask 1
        2. ask 2

        Turn 3 (primary)
        User: ask 3
        Agent: answer 3
        ");
    }

    #[test]
    fn turns_are_found_by_text_by_agent_and_by_number() {
        let history = history(12, "Answer");
        let numbers = |wanted: &Wanted| -> Vec<String> {
            told(&history, wanted)
                .lines()
                .filter_map(|line| Some(line.strip_prefix("Turn ")?.to_owned()))
                .collect()
        };
        let by_text = Wanted { pattern: Some("aNSWER 12".to_owned()), ..all(10) };
        assert_eq!(numbers(&by_text), ["12 (escalation)"]);
        let by_agent = Wanted { agent: Some("primary".to_owned()), ..all(2) };
        assert_eq!(numbers(&by_agent), ["9 (primary)", "11 (primary)"]);
        let by_number = Wanted { range: Some((2, 8)), ..all(10) };
        assert_eq!(numbers(&by_number).len(), RANGE);
        assert!(told(&history, &by_number).contains("7. ask 7\n8. ask 8\n"));
        let none = Wanted { range: Some((13, 20)), ..all(10) };
        assert_eq!(told(&history, &none), "No such turn; 12 turns were before this one.");
    }

    #[test]
    fn much_is_cut_in_the_middle_and_the_newest_kept() {
        let told = told(&history(10, &"é".repeat(1_000)), &all(10));
        assert!(told.len() < MOST + 100, "{}", told.len());
        assert!(told.contains("bytes left out; ask for fewer turns") && told.ends_with("é 10\n\n"), "{told}");
    }

    #[test]
    fn turns_calls_and_characters_are_counted() {
        let expected = "turns before this one: 2\ntool calls in them: 0\ncharacters in them: 16";
        assert_eq!(counted(&history(2, "é")), expected);
        assert_eq!(counted(&[]), "turns before this one: 0\ntool calls in them: 0\ncharacters in them: 0");
    }
}
