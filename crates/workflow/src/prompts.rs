//! What the roles are told. Long texts are cut in the middle, so that no prompt outgrows a small model.

use crate::Checkpoint;

/// The most characters of one text put into a prompt.
const TEXT_MAX: usize = 12_000;
/// The most characters of a whole prompt.
const PROMPT_MAX: usize = 30_000;

const PLAN_RULES: &str = "The plan has these parts:
- `## Spec`: what is to be built, with acceptance criteria that can be checked.
- `## Limits`: a line `max_passes: N` (1 or 2 for a trivial task, 3 to 5 for a moderate one, 6 to 10 for a complex \
one; rather too many) and a line `max_sprints: N`.
- `## Sprint Plan`, with one heading `## Sprint N` for each sprint: what it delivers, which files and tests, and how \
a person can check it. Use as few sprints as possible.";

/// The designer's first turn.
pub(crate) fn design(state: &Checkpoint) -> String {
    whole(format!(
        "You are the designer of a small team. Plan the task below; others will carry the plan out. Look at the \
         workspace first where that helps.\n\nIf something only the user can decide is open, answer with `## Questions` \
         (a list `- Q1: …`) and `## Defaults` (what you would assume for each), and nothing else. Otherwise write \
         NO_QUESTIONS on a line of its own, and after it the plan.\n\n{PLAN_RULES}\n\n# Task\n{}",
        cut(&state.task, TEXT_MAX)
    ))
}

/// The designer's second turn.
pub(crate) fn redesign(state: &Checkpoint, questions: &str, answers: &str) -> String {
    whole(format!(
        "You are the designer of a small team. You asked questions about the task below; here are the answers. Where \
         an answer only says to continue, your defaults hold. Write the plan now, and ask nothing more.\n\n\
         {PLAN_RULES}\n\n# Task\n{}\n\n# Your questions\n{}\n\n# The answers\n{}",
        cut(&state.task, TEXT_MAX),
        cut(questions, TEXT_MAX),
        cut(answers, TEXT_MAX)
    ))
}

/// The generator's turn.
pub(crate) fn generate(state: &Checkpoint, section: &str, limit: u32) -> String {
    let findings = match state.findings.as_str() {
        "" => String::new(),
        findings => {
            format!("\n\n# Findings of the last evaluation, to be answered\n{}", cut(findings, TEXT_MAX))
        }
    };
    whole(format!(
        "You are the generator of a small team: you do the work. This is sprint {}, pass {} of {limit}. Use your tools \
         to change the files and to run the tests. End with a written summary: which files you changed, what each \
         change does, and which acceptance criteria are met.\n\n# Task\n{}\n\n# This sprint\n{}{findings}",
        state.sprint,
        state.pass,
        cut(&state.task, TEXT_MAX),
        cut(section, TEXT_MAX)
    ))
}

/// The evaluator's turn.
pub(crate) fn evaluate(state: &Checkpoint, section: &str, limit: u32) -> String {
    let work = match state.summary.as_str() {
        "" => "The generator left no summary: inspect the files yourself.".to_owned(),
        summary => cut(summary, TEXT_MAX),
    };
    let verdicts = if state.pass >= limit {
        "This is the last pass, so further refinement cannot be asked for: `good_to_go` or `sprint_done`, with what \
         remains open among the findings."
    } else {
        "`good_to_go` or `sprint_done` when the sprint's criteria are met, else `needs_refinement`."
    };
    whole(format!(
        "You are the evaluator of a small team. This is sprint {}, pass {} of {limit}. Verify the work with your tools: \
         read the files, run the tests, believe nothing unseen. Write down your findings, and end with exactly one \
         line that is the verdict and nothing else: {verdicts}\n\n# This sprint\n{}\n\n# The generator's work\n{work}",
        state.sprint,
        state.pass,
        cut(section, TEXT_MAX)
    ))
}

/// The question after a pass (`pair`).
pub(crate) fn review(state: &Checkpoint, evaluation: &str) -> String {
    let evaluation = cut(evaluation, TEXT_MAX);
    format!(
        "Sprint {}, pass {} has been evaluated:\n\n{evaluation}\n\nSay `continue` to follow the verdict, or what is \
         still to be done.",
        state.sprint, state.pass
    )
}

fn whole(prompt: String) -> String {
    if prompt.chars().nth(PROMPT_MAX).is_none() { prompt } else { cut(&prompt, PROMPT_MAX) }
}

/// At most `max` characters of `text`, beginning and end, with a note in between.
fn cut(text: &str, max: usize) -> String {
    let length = text.chars().count();
    if length <= max {
        return text.to_owned();
    }
    let half = max / 2;
    let head: String = text.chars().take(half).collect();
    let tail: String = text.chars().skip(length - half).collect();
    format!("{head}\n[… {} characters left out …]\n{tail}", length - 2 * half)
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn long_texts_keep_both_ends() {
        assert_eq!(cut("éèê", 3), "éèê");
        assert_eq!(cut("éèêëe", 4), "éè\n[… 1 characters left out …]\nëe");
    }
}
