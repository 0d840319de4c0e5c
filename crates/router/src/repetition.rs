//! A user who asks the same again and again is not being helped.

use crate::words;

/// How many earlier prompts of the user are looked at.
pub const EARLIER_PROMPTS: usize = 10;
/// From this score on a prompt counts as repeated; a repetition at once scores 1.
const REPEATED: f64 = 0.9;
/// Shorter prompts are confirmations ("yes, continue please"), which may well repeat.
const CHARS_MIN: usize = 20;
const WORDS_MIN: usize = 4;

/// Whether `prompt` repeats the user's `earlier` ones (newest first), up to case and whitespace: each equal one
/// counts for one divided by its distance.
#[must_use]
pub fn is_repeated<'a>(prompt: &str, earlier: impl IntoIterator<Item = &'a str>) -> bool {
    let prompt = normal(prompt);
    if prompt.chars().count() < CHARS_MIN || words::count(&prompt) < WORDS_MIN {
        return false;
    }
    let distances = (1_u32..).zip(earlier.into_iter().take(EARLIER_PROMPTS));
    let score: f64 = distances
        .filter(|(_, earlier)| normal(earlier) == prompt)
        .map(|(distance, _)| 1.0 / f64::from(distance))
        .sum();
    score >= REPEATED
}

fn normal(prompt: &str) -> String {
    prompt.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}
