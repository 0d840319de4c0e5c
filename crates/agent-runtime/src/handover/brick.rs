//! A stretch of conversation in few words, for an agent that was not there.

use std::collections::HashMap;
use std::fmt::Write as _;

use session_model::{Entry, Item, ToolCallUpdate, text_of};

/// How large one may be unless the configuration says otherwise (`context_budget_chars`), in characters.
pub const BRICK_CHARS: usize = 12_000;
/// Of a tool's result, so many characters are told.
const RESULT_CHARS: usize = 500;
/// And of its arguments.
const ARGUMENT_CHARS: usize = 200;

/// `entries`, oldest first, as lines of at most `budget` characters; `speaker` is what the agent's own text is put
/// under. Whole turns are left out, oldest first, until the rest fits; one that does not fit alone leaves nothing.
#[must_use]
pub fn brick<'a>(entries: impl IntoIterator<Item = &'a Entry>, speaker: &str, budget: usize) -> String {
    let mut turns: Vec<String> = Vec::new();
    let mut places = HashMap::new();
    let mut runs: Vec<Run> = Vec::new();
    for entry in entries {
        let at = *places.entry(&entry.turn).or_insert_with(|| {
            turns.push(String::new());
            runs.push(Run::default());
            turns.len() - 1
        });
        add(&mut turns[at], &mut runs[at], &entry.item, speaker);
    }
    for (turn, run) in turns.iter_mut().zip(&mut runs) {
        run.end(turn);
    }
    let mut room = budget;
    let mut kept: Vec<&str> = Vec::new();
    for turn in turns.iter().rev().map(|turn| turn.trim_end()).filter(|turn| !turn.is_empty()) {
        let Some(left) = room.checked_sub(turn.chars().count() + 1) else { break };
        room = left;
        kept.push(turn);
    }
    kept.reverse();
    kept.join("\n")
}

/// Calls of one tool in a row, told as one line.
#[derive(Default)]
struct Run {
    name: String,
    count: usize,
    lines: String,
}

impl Run {
    fn add(&mut self, call: &ToolCallUpdate, text: &mut String) {
        let name = call.name.as_deref().unwrap_or("tool");
        if self.name != name {
            self.end(text);
            name.clone_into(&mut self.name);
        }
        self.count += 1;
        if self.count == 1 {
            self.lines = told(name, call);
        }
    }

    fn end(&mut self, text: &mut String) {
        match self.count {
            0 => {}
            1 => text.push_str(&self.lines),
            count => writeln!(text, "[Tool: {} ×{count}]", self.name).unwrap_or_default(),
        }
        *self = Self::default();
    }
}

fn add(text: &mut String, run: &mut Run, item: &Item, speaker: &str) {
    match item {
        Item::User { content, .. } => {
            run.end(text);
            writeln!(text, "User: {}", text_of(content).trim()).unwrap_or_default();
        }
        Item::Agent { text: said, .. } if !said.trim().is_empty() => {
            run.end(text);
            writeln!(text, "{speaker}: {}", said.trim()).unwrap_or_default();
        }
        Item::Tool { call, .. } => run.add(call, text),
        Item::Agent { .. }
        | Item::Thought { .. }
        | Item::Remark { .. }
        | Item::Compaction { .. }
        | Item::TurnEnd { .. } => {}
    }
}

/// One call and what it gave.
fn told(name: &str, call: &ToolCallUpdate) -> String {
    let arguments = call.raw_input.as_ref().map(ToString::to_string).unwrap_or_default();
    let mut text = format!("[Tool: {name}] {}\n", cut(&arguments, ARGUMENT_CHARS));
    if let Some(output) = &call.raw_output {
        let said = output.get("output").and_then(|output| output.as_str()).map(str::to_owned);
        let said = said.unwrap_or_else(|| output.to_string());
        writeln!(text, "[Tool result] {}", cut(said.trim(), RESULT_CHARS)).unwrap_or_default();
    }
    text
}

fn cut(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use session_model::{Content, MessageId, ToolCallId, TurnId};
    use time::OffsetDateTime;

    use super::*;

    fn entry(turn: &str, item: Item) -> Entry {
        Entry { turn: TurnId::from(turn), at: OffsetDateTime::UNIX_EPOCH, item }
    }

    fn user(turn: &str, text: &str) -> Entry {
        entry(turn, Item::User { id: MessageId::from("u"), content: vec![Content::text(text)], key: None })
    }

    fn agent(turn: &str, text: &str) -> Entry {
        entry(turn, Item::Agent { id: MessageId::from("a"), step: 0, text: text.to_owned() })
    }

    fn call(turn: &str, name: &str, output: &str) -> Entry {
        let mut call = ToolCallUpdate::new(ToolCallId::from("c"));
        call.name = Some(name.to_owned());
        call.raw_input = Some(json!({"path": "a"}));
        call.raw_output = Some(json!({ "output": output }));
        entry(turn, Item::Tool { step: 0, call })
    }

    #[test]
    fn a_turn_is_told_in_its_order_and_runs_of_a_tool_in_one_line() {
        let entries = [
            user("1", "why?"),
            call("1", "grep", "found"),
            call("1", "read_file", "x"),
            call("1", "read_file", "y"),
            agent("1", "because"),
        ];
        insta::assert_snapshot!(brick(&entries, "Assistant (primary)", BRICK_CHARS), @r#"
        User: why?
        [Tool: grep] {"path":"a"}
        [Tool result] found
        [Tool: read_file ×2]
        Assistant (primary): because
        "#);
    }

    #[test]
    fn results_are_cut_and_the_oldest_turns_go_first() {
        let long = "é".repeat(900);
        let told = brick(&[call("1", "bash", &long)], "A", BRICK_CHARS);
        assert!(told.ends_with(&format!("{}…", "é".repeat(RESULT_CHARS))), "{told}");
        let entries = [user("1", "first"), agent("1", "one"), user("2", "second"), agent("2", "two")];
        assert_eq!(brick(&entries, "A", 24), "User: second\nA: two");
        assert_eq!(brick(&entries, "A", 19), "", "one turn alone is over the budget");
        assert_eq!(brick(&entries, "A", 100).lines().count(), 4);
    }
}
