//! Reads the evaluator's verdict.

use serde::{Deserialize, Serialize};

/// What an evaluator may say of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The sprint passes.
    GoodToGo,
    /// The sprint passes.
    SprintDone,
    /// Another pass is needed.
    NeedsRefinement,
}

const WORDS: [(&str, Verdict); 3] = [
    ("good_to_go", Verdict::GoodToGo),
    ("sprint_done", Verdict::SprintDone),
    ("needs_refinement", Verdict::NeedsRefinement),
];

impl Verdict {
    /// Whether the sprint is over.
    #[must_use]
    pub fn passes(self) -> bool {
        match self {
            Self::GoodToGo | Self::SprintDone => true,
            Self::NeedsRefinement => false,
        }
    }

    /// The last verdict line of `text`. The line says nothing but the verdict, except for Markdown around it, a
    /// label before it and a remark set off by punctuation: "not good to go" is no verdict.
    pub(crate) fn find(text: &str) -> Option<Self> {
        text.lines().rev().find_map(of_line)
    }
}

fn of_line(line: &str) -> Option<Verdict> {
    let plain: String = line.to_lowercase().chars().filter(|c| !"*`#>\"“”".contains(*c)).collect();
    let mut said = plain.trim_start_matches(|c: char| c.is_whitespace() || c == '-');
    for label in ["final verdict", "verdict"] {
        if let Some(rest) = said.strip_prefix(label) {
            said = rest.trim_start_matches(|c: char| c.is_whitespace() || ":=-–—".contains(c));
            break;
        }
    }
    let said = said.replace(' ', "_");
    WORDS.into_iter().find_map(|(word, verdict)| {
        let rest = said.strip_prefix(word)?.trim_start_matches('_');
        let set_off = rest.is_empty() || rest.starts_with(['.', '!', ':', ';', '-', '–', '—', '(']);
        set_off.then_some(verdict)
    })
}

#[cfg(test)]
mod tests {
    use super::Verdict;

    #[test]
    fn the_last_line_that_is_a_verdict_counts() {
        use Verdict::{GoodToGo, NeedsRefinement, SprintDone};
        for (text, verdict) in [
            ("good_to_go", Some(GoodToGo)),
            ("All fine.\n\n**GOOD TO GO**\n", Some(GoodToGo)),
            ("Verdict: `sprint_done`", Some(SprintDone)),
            ("## Final verdict — Sprint done.", Some(SprintDone)),
            ("- needs_refinement: the tests fail", Some(NeedsRefinement)),
            ("needs refinement", Some(NeedsRefinement)),
            ("needs_refinement\nfixed meanwhile\ngood_to_go", Some(GoodToGo)),
            ("good_to_go\nneeds_refinement", Some(NeedsRefinement)),
            ("This is not good to go", None),
            ("not_good_to_go", None),
            ("good to go once the tests pass", None),
            ("goods", None),
            ("It needs refinement, I think", None),
            ("answer good_to_go or needs_refinement", None),
            ("", None),
        ] {
            assert_eq!(Verdict::find(text), verdict, "{text:?}");
        }
    }
}
