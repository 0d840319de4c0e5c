//! What a prompt's text says about the size of its job.

use crate::words;
use crate::{RouteInput, Rules};

/// One thing found in a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signal {
    /// What it is: `local-verb:grep`, `escalate-verb:design`, `path-ref`, `code-block`, `open-question`.
    pub name: String,
    /// What it adds to the score.
    pub weight: i64,
}

impl Rules {
    /// Every signal in the prompt, in the order of the score.
    #[must_use]
    pub fn signals(&self, input: &RouteInput<'_>) -> Vec<Signal> {
        let text = input.prompt.to_lowercase();
        let verb = |kind: &str, verbs: &[String]| first_of(&text, verbs).map(|verb| format!("{kind}:{verb}"));
        let plain = |name: &str, found: bool| found.then(|| name.to_owned());
        let open =
            self.open_questions().iter().any(|prefix| words::begins_with(&text, &prefix.to_lowercase()));
        [
            (verb("local-verb", &self.local_verbs), self.local_verb_weight),
            (verb("escalate-verb", &self.escalate_verbs), self.escalate_verb_weight),
            (plain("path-ref", names_a_path(input)), self.path_ref_weight),
            (plain("code-block", text.contains("```")), self.code_block_weight),
            (plain("open-question", open), self.open_question_weight),
        ]
        .into_iter()
        .filter_map(|(name, weight)| Some(Signal { name: name?, weight }))
        .collect()
    }

    /// The first of the escalation keywords in the prompt.
    pub(crate) fn keyword(&self, prompt: &str) -> Option<&str> {
        first_of(&prompt.to_lowercase(), &self.escalate_keywords)
    }
}

/// The first of the phrases, in the list's order, that `text` contains.
fn first_of<'a>(text: &str, phrases: &'a [String]) -> Option<&'a str> {
    phrases.iter().find(|phrase| words::contains(text, &phrase.to_lowercase())).map(String::as_str)
}

fn names_a_path(input: &RouteInput<'_>) -> bool {
    input.prompt.split_whitespace().any(|word| {
        let quote = |c: char| "\"'`´‘’“”«»()[]{}<>,;:!?…".contains(c);
        let bare = word.trim_start_matches(quote).trim_end_matches(|c| quote(c) || c == '.');
        let looks = bare.len() > 1 && bare.contains(['/', '\\']);
        // Compilers and greps add a position: `src/main.rs:12:5`.
        let unplaced = bare.trim_end_matches(|c: char| c == ':' || c.is_ascii_digit());
        looks && ((input.path_exists)(bare) || unplaced != bare && (input.path_exists)(unplaced))
    })
}
