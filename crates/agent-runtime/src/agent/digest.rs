//! What a turn did with its tools, in a few lines: the answer when the model gives none.

use crate::provider::ModelCall;

const ARGUMENT_CHARS: usize = 200;
const RESULT_CHARS: usize = 300;

/// The calls of a turn so far.
#[derive(Debug, Default)]
pub(super) struct Digest(Vec<String>);

impl Digest {
    pub(super) fn add(&mut self, call: &ModelCall, output: &str) {
        let arguments = cut(&call.arguments, ARGUMENT_CHARS);
        self.0.push(format!("- {}({arguments})\n  → {}", call.name, cut(output, RESULT_CHARS)));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The calls under a heading.
    pub(super) fn under(&self, heading: &str) -> String {
        if self.is_empty() {
            return heading.to_owned();
        }
        format!("{heading}\n\n{}", self.0.join("\n"))
    }
}

/// The answer that stands in for an empty one; `None` when there is nothing to show at all.
pub(super) fn stand_in(digest: &Digest, reasoning: &str) -> Option<String> {
    let reasoning = reasoning.trim();
    match (digest.is_empty(), reasoning.is_empty()) {
        (true, true) => None,
        (true, false) => Some(reasoning.to_owned()),
        (false, true) => Some(digest.under(NO_SUMMARY)),
        (false, false) => Some(format!("{}\n\nIts reasoning was:\n\n{reasoning}", digest.under(NO_SUMMARY))),
    }
}

const NO_SUMMARY: &str = "The model ended its turn without a summary. It did this:";

fn cut(text: &str, chars: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
