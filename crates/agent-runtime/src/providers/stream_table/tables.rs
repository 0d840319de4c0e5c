//! The tables of `rows`: streams that only one API has, and texts within chat completions.
//!
//! A row of a file is a name (`# …`), the data of one event a line, and the meaning (`= …`). A line with `~` holds the
//! bytes of the stream as a JSON string, a line in quotes a text that comes in deltas.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::framing::{Event, characters, plain, spellings};
use super::{SEEDS, ids, offered, reads_as};
use crate::providers::anthropic::MessagesAnswer;
use crate::providers::openai_chat::ChatAnswer;
use crate::providers::openai_responses::ResponseAnswer;
use crate::providers::reader::Answer;

/// The table of that name.
macro_rules! table {
    ($name:literal) => {
        include_str!(concat!("rows/", $name, ".txt"))
    };
}

/// What a row feeds.
#[derive(Debug)]
enum Input {
    Events(Vec<Event>),
    Bytes(String),
    Text(String),
}

#[derive(Debug)]
struct Row<'t> {
    name: &'t str,
    input: Input,
    expected: &'t str,
}

fn rows(table: &str) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    let mut names = BTreeSet::new();
    for block in table.split("\n\n").map(str::trim_end) {
        let mut lines = block.lines();
        let name = lines.next().and_then(|line| line.strip_prefix("# ")).expect(block);
        assert!(names.insert(name), "two rows are called {name}");
        let (expected, data) = lines.clone().next_back().map(|last| (last, lines)).expect(block);
        let expected = expected.strip_prefix("= ").expect(block);
        let mut data: Vec<&str> = data.collect();
        data.pop();
        let unquoted = |text: &str| serde_json::from_str(text).expect(block);
        let input = match data.as_slice() {
            [bytes] if bytes.starts_with('~') => Input::Bytes(unquoted(&bytes[1..])),
            [text] if text.starts_with('"') => Input::Text(unquoted(text)),
            data => Input::Events(data.iter().map(|data| ("", (*data).to_owned())).collect()),
        };
        rows.push(Row { name, input, expected });
    }
    assert!(rows.len() > 3, "the table is not read");
    rows
}

/// Reads every row in every way of cutting it; rows of events also in other spellings.
fn check<A: Answer>(new: impl Fn() -> A, table: &str) {
    let mut wrong = String::new();
    for Row { name, input, expected } in rows(table) {
        let result = match input {
            Input::Bytes(bytes) => reads_as(&new, bytes.as_bytes(), expected, SEEDS),
            Input::Text(text) => check_text(&new, &text, expected),
            Input::Events(events) => check_events(&new, &events, expected),
        };
        if let Err(difference) = result {
            writeln!(wrong, "\n{name}: {difference}").unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

fn check_events<A: Answer>(new: &impl Fn() -> A, events: &[Event], expected: &str) -> Result<(), String> {
    reads_as(new, plain(events).as_bytes(), expected, SEEDS)?;
    // Printing for people would change arguments that come as JSON.
    let skipped = ["data printed for people", "more after the end"];
    for (way, stream) in spellings(events).into_iter().filter(|(way, _)| !skipped.contains(way)) {
        reads_as(new, stream.as_bytes(), expected, 0..1)
            .map_err(|difference| format!("{way}, {difference}"))?;
    }
    Ok(())
}

/// The text as one delta, as one delta a character, and in random deltas, for tokens end anywhere.
fn check_text<A: Answer>(new: &impl Fn() -> A, text: &str, expected: &str) -> Result<(), String> {
    let reason = if expected.ends_with("finish Length") { "length" } else { "stop" };
    let delta = |content: &String| json!({"choices": [{"index": 0, "delta": {"content": content}}]});
    let single = characters(text, 0, 1);
    let random = SEEDS.map(|seed| characters(text, seed, 12));
    for deltas in [vec![text.to_owned()], single].into_iter().chain(random) {
        let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]});
        let chunks: Vec<Value> = deltas.iter().map(delta).chain([end]).collect();
        let events: Vec<Event> = chunks.iter().map(|chunk| ("", chunk.to_string())).collect();
        reads_as(new, plain(&events).as_bytes(), expected, 0..1)
            .map_err(|difference| format!("{deltas:?}, {difference}"))?;
    }
    Ok(())
}

fn chat(table: &str) {
    check(|| ChatAnswer::new("a", offered(), ids()), table);
}

fn messages(table: &str) {
    check(|| MessagesAnswer::new("a", ids()), table);
}

fn responses(table: &str) {
    check(|| ResponseAnswer::new("a", ids()), table);
}

#[test]
fn chat_odd_chunks_cost_nothing() {
    chat(table!("chat_odd"));
}

#[test]
fn chat_reasoning_comes_once_from_whatever_member() {
    chat(table!("chat_reasoning"));
}

#[test]
fn chat_counts_are_taken_wherever_they_stand_and_the_last_ones_count() {
    chat(table!("chat_counts"));
}

#[test]
fn chat_ends_are_read_in_every_spelling() {
    chat(table!("chat_ends"));
}

#[test]
fn chat_errors_inside_an_answer_are_errors() {
    chat(table!("chat_errors"));
}

#[test]
fn what_single_servers_do_otherwise_is_understood() {
    chat(table!("chat_servers"));
}

#[test]
fn calls_in_the_forms_of_model_families_are_found() {
    chat(table!("text_families"));
}

#[test]
fn chat_bodies_that_are_no_stream_are_read_whole() {
    chat(table!("chat_bodies"));
}

#[test]
fn whole_calls_are_told_apart() {
    chat(table!("calls_whole"));
}

#[test]
fn pieces_find_their_calls() {
    chat(table!("calls_pieces"));
}

#[test]
fn names_are_read_in_every_form() {
    chat(table!("calls_names"));
}

#[test]
fn arguments_are_read_in_every_form() {
    chat(table!("calls_arguments"));
}

#[test]
fn reasoning_between_marks_is_told_from_text() {
    chat(table!("text_reasoning"));
}

#[test]
fn channels_are_told_apart() {
    chat(table!("text_channels"));
}

#[test]
fn calls_in_the_text_are_found_in_every_format() {
    chat(table!("text_calls"));
}

#[test]
fn calls_in_the_text_that_the_limit_cut_off_are_left_out() {
    chat(table!("text_cut"));
}

#[test]
fn text_about_marks_and_calls_stays_text() {
    chat(table!("text_plain"));
}

#[test]
fn blocks_are_told_apart_whatever_their_places_say() {
    messages(table!("messages_blocks"));
}

#[test]
fn inputs_are_read_in_every_form() {
    messages(table!("messages_arguments"));
}

#[test]
fn reasoning_is_kept_as_it_was_signed() {
    messages(table!("messages_reasoning"));
}

#[test]
fn counts_and_ends_of_a_message_are_what_the_server_says() {
    messages(table!("messages_ends"));
}

#[test]
fn items_are_found_whatever_names_them() {
    responses(table!("responses_items"));
}

#[test]
fn arguments_of_items_are_read_in_every_form() {
    responses(table!("responses_arguments"));
}

#[test]
fn nothing_is_told_twice_and_nothing_is_lost() {
    responses(table!("responses_once"));
}

#[test]
fn the_end_of_a_response_is_what_the_server_says() {
    responses(table!("responses_ends"));
}

#[test]
fn bytes_that_are_no_characters_are_replaced() {
    for bytes in [&b"\xFF"[..], b"\xF0\x9F", b"\xC3"] {
        let end: &[u8] = b"b\"}}]}\n\ndata: [DONE]\n\n";
        let stream = [b"data: {\"choices\":[{\"delta\":{\"content\":\"a", bytes, end].concat();
        let new = || ChatAnswer::new("a", offered(), ids());
        reads_as(&new, &stream, "text \"a\u{fffd}b\" | finish Stop", SEEDS).unwrap();
    }
}
