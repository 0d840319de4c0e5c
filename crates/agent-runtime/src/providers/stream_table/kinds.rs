//! What every API can say, once for all of them.

use std::fmt::Write as _;

use super::encode::{self, Step};
use super::framing::{Event, plain, spellings};
use super::kind_rows::{BROKEN, ENDED, INTERLEAVED, Kind};
use super::{ids, left_open, offered, reads_as};
use crate::providers::anthropic::MessagesAnswer;
use crate::providers::openai_chat::ChatAnswer;
use crate::providers::openai_responses::ResponseAnswer;
use crate::providers::reader::Answer;

/// The two halves of a crab, as escapes that no JSON reader takes alone.
const HALVES: [(char, &str); 2] = [('\u{e000}', r"\ud83e"), ('\u{e001}', r"\udd80")];

/// How a row ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
    /// The server said so.
    TheEnd,
    /// It did not.
    Nothing,
}

fn with_halves(events: Vec<Event>) -> Vec<Event> {
    let put = |data: String| HALVES.iter().fold(data, |data, (mark, half)| data.replace(*mark, half));
    events.into_iter().map(|(name, data)| (name, put(data))).collect()
}

fn check<A: Answer>(new: impl Fn() -> A, encode: fn(&[Step]) -> Vec<Event>, kinds: &[Kind], after: After) {
    let mut wrong = String::new();
    for (name, steps, expected) in kinds {
        let events = with_halves(encode(steps));
        let half = steps.iter().any(|step| matches!(step, Step::Half));
        for (way, stream) in spellings(&events) {
            // Junk behind an answer that did not end is part of it, and half an event cannot be put over lines.
            if (after == After::Nothing && way == "more after the end") || (half && way.starts_with("data "))
            {
                continue;
            }
            if let Err(difference) = reads_as(&new, stream.as_bytes(), expected, 0..2) {
                writeln!(wrong, "\n{name}, {way}: {difference}").unwrap();
            }
        }
        let (told, is_over) = left_open(&new, plain(&events).as_bytes());
        if after == After::TheEnd && (!is_over || told != *expected) {
            writeln!(wrong, "\n{name}, left open: {told}\nshould be {expected}").unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

fn chat() -> ChatAnswer {
    ChatAnswer::new("a", offered(), ids())
}

fn messages() -> MessagesAnswer {
    MessagesAnswer::new("a", ids())
}

fn responses() -> ResponseAnswer {
    ResponseAnswer::new("a", ids())
}

#[test]
fn chat_completions_mean_what_they_say() {
    check(chat, encode::chat, ENDED, After::TheEnd);
    check(chat, encode::chat, BROKEN, After::Nothing);
    check(chat, encode::chat, INTERLEAVED, After::TheEnd);
}

#[test]
fn messages_mean_what_they_say() {
    check(messages, encode::messages, ENDED, After::TheEnd);
    check(messages, encode::messages, BROKEN, After::Nothing);
}

#[test]
fn responses_mean_what_they_say() {
    check(responses, encode::responses, ENDED, After::TheEnd);
    check(responses, encode::responses, BROKEN, After::Nothing);
    check(responses, encode::responses, INTERLEAVED, After::TheEnd);
}
