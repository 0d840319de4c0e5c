//! Reads the designer's answer: questions or a plan, and in the plan its limits and sprints.

/// Passes per sprint where the plan does not say.
const PASSES: u32 = 5;
/// More than this is taken for a mistake: a machine that never agrees with itself should stop some time.
const PASSES_MAX: u32 = 50;
/// The same for sprints.
const SPRINTS_MAX: usize = 50;

const NO_QUESTIONS: &str = "NO_QUESTIONS";

/// What a designer's first answer is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Design {
    /// Questions to the user, with their defaults.
    Questions(String),
    /// The plan.
    Plan(String),
}

/// Reads a first answer. The marker alone on a line begins the plan; what precedes it is dropped.
pub(crate) fn read(answer: &str) -> Design {
    let bare = |line: &str| line.trim().trim_matches(|c| "*`#: ".contains(c)) == NO_QUESTIONS;
    let mut lines = answer.lines();
    if lines.any(bare) {
        return Design::Plan(lines.collect::<Vec<_>>().join("\n").trim().to_owned());
    }
    let asks = answer.lines().any(|line| heading(line).is_some_and(|(_, title)| is_word(title, "questions")));
    if asks { Design::Questions(answer.trim().to_owned()) } else { Design::Plan(answer.trim().to_owned()) }
}

/// The plan's `max_passes`, within reason.
pub(crate) fn passes(plan: &str) -> u32 {
    scalar(plan, "max_passes").unwrap_or(PASSES).clamp(1, PASSES_MAX)
}

/// The sections of the sprints; a plan without any is one sprint.
pub(crate) fn sprints(plan: &str) -> Vec<String> {
    let limit = scalar(plan, "max_sprints").and_then(|n| usize::try_from(n).ok()).unwrap_or(SPRINTS_MAX);
    let mut sections: Vec<(usize, Vec<&str>)> = Vec::new();
    let (mut open, mut fenced) = (false, false);
    for line in plan.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if let Some((level, title)) = heading(line).filter(|_| !fenced) {
            if is_sprint(title) {
                sections.push((level, Vec::new()));
                open = true;
            } else if sections.last().is_some_and(|(sprint, _)| level <= *sprint) {
                open = false;
            }
        }
        if let Some((_, lines)) = sections.last_mut().filter(|_| open) {
            lines.push(line);
        }
    }
    if sections.is_empty() {
        return vec![plan.to_owned()];
    }
    let texts = sections.into_iter().map(|(_, lines)| lines.join("\n").trim_end().to_owned());
    texts.take(limit.clamp(1, SPRINTS_MAX)).collect()
}

/// A heading of level 2 to 6.
fn heading(line: &str) -> Option<(usize, &str)> {
    let title = line.trim_start_matches('#');
    let level = line.len() - title.len();
    ((2..=6).contains(&level) && title.starts_with([' ', '\t'])).then(|| (level, title.trim()))
}

fn is_word(title: &str, word: &str) -> bool {
    title.trim_end_matches(':').eq_ignore_ascii_case(word)
}

/// `Sprint 3`, with or without more behind it.
fn is_sprint(title: &str) -> bool {
    let mut words = title.split_whitespace();
    let named = words.next().is_some_and(|word| word.eq_ignore_ascii_case("sprint"));
    named && words.next().is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()))
}

/// The number in a line `name: 3`, Markdown around it or not.
fn scalar(plan: &str, name: &str) -> Option<u32> {
    plan.lines().find_map(|line| {
        let bare: String = line.chars().filter(|c| !"*`- \t".contains(*c)).collect();
        let (key, value) = bare.split_once(':')?;
        let digits: String = value.chars().take_while(char::is_ascii_digit).collect();
        if key.eq_ignore_ascii_case(name) { digits.parse().ok() } else { None }
    })
}

#[cfg(test)]
mod tests {
    use super::{Design, passes, read, sprints};

    #[test]
    fn an_answer_is_a_plan_or_questions() {
        let plan = |text: &str| Design::Plan(text.to_owned());
        for (answer, design) in [
            ("NO_QUESTIONS\n## Spec\nx", plan("## Spec\nx")),
            ("I have thought.\n\n**NO_QUESTIONS**\n\nthe plan\n", plan("the plan")),
            ("## Questions\n- Q1: which?\n", Design::Questions("## Questions\n- Q1: which?".to_owned())),
            ("## questions:\n- Q1", Design::Questions("## questions:\n- Q1".to_owned())),
            ("## Questions\nnone\nNO_QUESTIONS\nthe plan", plan("the plan")),
            ("I say NO_QUESTIONS here", plan("I say NO_QUESTIONS here")),
            ("  ", plan("")),
        ] {
            assert_eq!(read(answer), design, "{answer:?}");
        }
    }

    #[test]
    fn limits_are_read_from_their_lines() {
        for (plan, limit) in [
            ("max_passes: 3", 3),
            ("- **max_passes**: 7 (complex)", 7),
            ("Max_Passes:2", 2),
            ("max_passes: many", 5),
            ("max_passes: 0", 1),
            ("max_passes: 9999", 50),
            ("the max_passes line is missing", 5),
        ] {
            assert_eq!(passes(plan), limit, "{plan:?}");
        }
    }

    #[test]
    fn sprints_are_sections_of_their_own() {
        let plan = "# Plan\nmax_sprints: 2\n## Sprint 1: core\na\n### Files\nb\n```\n## Sprint 9\n```\n\
            ## SPRINT 2\nc\n## Notes\nd\n## Sprint 3\ne";
        let expected = ["## Sprint 1: core\na\n### Files\nb\n```\n## Sprint 9\n```", "## SPRINT 2\nc"];
        assert_eq!(sprints(plan), expected);
        assert_eq!(sprints("just do it"), ["just do it"]);
        assert_eq!(sprints("## Sprints\nnone\n## Sprinting 1"), ["## Sprints\nnone\n## Sprinting 1"]);
    }
}
