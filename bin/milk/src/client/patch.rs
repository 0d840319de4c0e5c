//! A change to a file, for a terminal.

use std::fmt::Write as _;

use similar::TextDiff;

use super::update::Patch;
use crate::output::{Style, harmless};

/// How many lines of one change are shown.
const MAX_LINES: usize = 80;
/// How many unchanged lines are shown around a change.
const CONTEXT: usize = 3;

/// The change as indented lines, each with its line end.
pub(super) fn render(patch: &Patch, style: Style) -> String {
    let text = match patch {
        Patch::Text(text) => text.clone(),
        Patch::Sides { path, before, after } => {
            let old = before.as_deref().unwrap_or("");
            let from = if before.is_some() { format!("a{path}") } else { "/dev/null".to_owned() };
            TextDiff::from_lines(old, after.as_str())
                .unified_diff()
                .context_radius(CONTEXT)
                .header(&from, &format!("b{path}"))
                .to_string()
        }
    };
    let lines: Vec<_> = text.lines().filter(|line| !is_bookkeeping(line)).collect();
    let mut out = String::new();
    for line in lines.iter().take(MAX_LINES) {
        let _ = writeln!(out, "  {}", paint(&harmless(line), style));
    }
    if lines.len() > MAX_LINES {
        let more = format!("… {} more lines", lines.len() - MAX_LINES);
        let _ = writeln!(out, "  {}", style.dim(&more));
    }
    out
}

/// What a person need not see of a git patch.
fn is_bookkeeping(line: &str) -> bool {
    ["diff --git ", "index ", "new file mode ", "deleted file mode "]
        .iter()
        .any(|start| line.starts_with(start))
}

fn paint(line: &str, style: Style) -> String {
    if line.starts_with("+++ ") || line.starts_with("--- ") {
        style.bold(line)
    } else if line.starts_with('+') {
        style.green(line)
    } else if line.starts_with('-') {
        style.red(line)
    } else if line.starts_with("@@") {
        style.cyan(line)
    } else {
        line.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_texts_become_a_patch() {
        let patch =
            Patch::Sides { path: "/w/a".into(), before: Some("one\ntwo\n".into()), after: "one\n2\n".into() };
        assert_eq!(
            render(&patch, Style::PLAIN),
            "  --- a/w/a\n  +++ b/w/a\n  @@ -1,2 +1,2 @@\n   one\n  -two\n  +2\n"
        );
    }

    #[test]
    fn a_patch_is_coloured_by_line_and_loses_its_bookkeeping() {
        let text =
            "diff --git a/x b/x\nindex 1..2\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\u{1b}[2J\n+b\n".to_owned();
        assert_eq!(
            render(&Patch::Text(text), Style::COLOURED),
            "  \u{1b}[1m--- a/x\u{1b}[0m\n  \u{1b}[1m+++ b/x\u{1b}[0m\n  \u{1b}[36m@@ -1 +1 @@\u{1b}[0m\n  \
             \u{1b}[31m-a\u{fffd}[2J\u{1b}[0m\n  \u{1b}[32m+b\u{1b}[0m\n"
        );
    }

    #[test]
    fn a_long_change_is_cut() {
        let patch = Patch::Sides { path: "/a".into(), before: None, after: "x\n".repeat(200) };
        let shown = render(&patch, Style::PLAIN);
        assert_eq!(shown.lines().count(), MAX_LINES + 1);
        assert!(shown.ends_with("  … 123 more lines\n"), "{}", shown.lines().last().unwrap());
    }
}
