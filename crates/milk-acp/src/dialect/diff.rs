//! Writes a file change as a git patch: absolute paths without the usual `a/` and `b/`, `/dev/null` for a missing
//! side. Knows neither version; where the patch goes is the caller's business.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use session_model::{FileChange, FileOp};
use similar::{Algorithm, TextDiff};

/// Lines of context around a change, as git has it.
const CONTEXT: usize = 3;

/// How long the search for a short diff may take; after that a longer but right one is written. Only texts that
/// share almost nothing come near it.
const EFFORT: Duration = Duration::from_millis(100);

/// The change as one section of a git patch; `None` when a side is not text, so that there are no lines to show.
pub(super) fn git_patch(change: &FileChange) -> Option<String> {
    let path = quoted(&change.path);
    let from = match &change.op {
        FileOp::Move { from } => quoted(from),
        FileOp::Add | FileOp::Modify | FileOp::Delete => path.clone(),
    };
    let mut section = format!("diff --git {from} {path}\n");
    let (old, new) = match &change.op {
        FileOp::Add => {
            section.push_str("new file mode 100644\n");
            ("", change.after.as_deref()?)
        }
        FileOp::Delete => {
            section.push_str("deleted file mode 100644\n");
            (change.before.as_deref()?, "")
        }
        FileOp::Modify => (change.before.as_deref()?, change.after.as_deref()?),
        FileOp::Move { .. } => {
            // Writing to a String cannot fail.
            let _ = write!(section, "rename from {from}\nrename to {path}\n");
            match (&change.before, &change.after) {
                (Some(before), Some(after)) => (before.as_str(), after.as_str()),
                // A file that moves unread keeps its content.
                (None, None) => ("", ""),
                (Some(_), None) | (None, Some(_)) => return None,
            }
        }
    };
    if old != new {
        let none = "/dev/null";
        let old_name = if change.op == FileOp::Add { none } else { &from };
        let new_name = if change.op == FileOp::Delete { none } else { &path };
        let _ = write!(section, "--- {}\n+++ {}\n", tabbed(old_name), tabbed(new_name));
        push_hunks(&mut section, old, new);
    }
    Some(section)
}

fn push_hunks(patch: &mut String, old: &str, new: &str) {
    // Split at line feeds only: a carriage return is part of its line, as it is for git.
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let diff = TextDiff::configure()
        .algorithm(Algorithm::Myers)
        .timeout(EFFORT)
        .newline_terminated(true)
        .diff_slices(&old, &new);
    for hunk in diff.unified_diff().context_radius(CONTEXT).iter_hunks() {
        let _ = writeln!(patch, "{}", hunk.header());
        for change in hunk.iter_changes() {
            let line = change.value();
            let _ = write!(patch, "{}{line}", change.tag());
            if !line.ends_with('\n') {
                patch.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
}

/// The path, in quotes and escaped where git does so (control characters, quotes, backslashes).
fn quoted(path: &Path) -> String {
    let path = path.to_string_lossy();
    if !path.chars().any(|c| c.is_control() || c == '"' || c == '\\') {
        return path.into_owned();
    }
    let mut out = String::from("\"");
    for c in path.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() => {
                let mut bytes = [0; 4];
                for byte in c.encode_utf8(&mut bytes).bytes() {
                    let _ = write!(out, "\\{byte:03o}");
                }
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// In the two lines that name the sides, a name with a space ends in a tab, so that its end is seen.
fn tabbed(name: &str) -> String {
    if name.contains(' ') && !name.starts_with('"') { format!("{name}\t") } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(op: FileOp, before: Option<&str>, after: Option<&str>) -> FileChange {
        FileChange {
            path: "/w/a.txt".into(),
            op,
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
        }
    }

    #[test]
    fn a_modification_names_both_sides_absolutely_and_without_prefixes() {
        let patch = git_patch(&change(FileOp::Modify, Some("one\ntwo\n"), Some("one\n2\n"))).unwrap();
        insta::assert_snapshot!(patch, @r"
        diff --git /w/a.txt /w/a.txt
        --- /w/a.txt
        +++ /w/a.txt
        @@ -1,2 +1,2 @@
         one
        -two
        +2
        ");
    }

    #[test]
    fn a_new_file_comes_from_dev_null() {
        let patch = git_patch(&change(FileOp::Add, None, Some("one\n"))).unwrap();
        insta::assert_snapshot!(patch, @r"
        diff --git /w/a.txt /w/a.txt
        new file mode 100644
        --- /dev/null
        +++ /w/a.txt
        @@ -0,0 +1 @@
        +one
        ");
    }

    #[test]
    fn a_deleted_file_goes_to_dev_null() {
        let patch = git_patch(&change(FileOp::Delete, Some("one\n"), None)).unwrap();
        insta::assert_snapshot!(patch, @r"
        diff --git /w/a.txt /w/a.txt
        deleted file mode 100644
        --- /w/a.txt
        +++ /dev/null
        @@ -1 +0,0 @@
        -one
        ");
    }

    #[test]
    fn a_move_is_a_rename_with_the_lines_that_changed() {
        let op = FileOp::Move { from: "/w/old.txt".into() };
        let patch = git_patch(&change(op, Some("one\n"), Some("two\n"))).unwrap();
        insta::assert_snapshot!(patch, @r"
        diff --git /w/old.txt /w/a.txt
        rename from /w/old.txt
        rename to /w/a.txt
        --- /w/old.txt
        +++ /w/a.txt
        @@ -1 +1 @@
        -one
        +two
        ");
    }

    #[test]
    fn a_missing_last_newline_is_said_on_the_side_that_misses_it() {
        let patch = git_patch(&change(FileOp::Modify, Some("one"), Some("one\n"))).unwrap();
        assert!(patch.ends_with("@@ -1 +1 @@\n-one\n\\ No newline at end of file\n+one\n"), "{patch}");
    }

    #[test]
    fn carriage_returns_stay_within_their_lines() {
        let patch = git_patch(&change(FileOp::Modify, Some("a\rb\r\n"), Some("a\rc\r\n"))).unwrap();
        assert!(patch.ends_with("@@ -1 +1 @@\n-a\rb\r\n+a\rc\r\n"), "{patch:?}");
    }

    #[test]
    fn an_empty_new_file_has_no_hunk() {
        let patch = git_patch(&change(FileOp::Add, None, Some(""))).unwrap();
        assert_eq!(patch, "diff --git /w/a.txt /w/a.txt\nnew file mode 100644\n");
    }

    #[test]
    fn what_is_no_text_has_no_patch() {
        assert_eq!(git_patch(&change(FileOp::Modify, Some("x"), None)), None);
        assert_eq!(git_patch(&change(FileOp::Add, None, None)), None);
    }

    #[test]
    fn odd_paths_are_quoted_as_git_quotes_them() {
        assert_eq!(quoted(Path::new("/w/a b")), "/w/a b");
        assert_eq!(quoted(Path::new("/w/\"x\"\n\u{1}é")), "\"/w/\\\"x\\\"\\n\\001é\"");
        assert_eq!(tabbed("/w/a b"), "/w/a b\t");
    }

    #[test]
    fn a_patch_of_unrelated_large_texts_is_made_in_bounded_time() {
        let old = "old\n".repeat(20_000);
        let new = "new\n".repeat(20_000);
        let patch = git_patch(&change(FileOp::Modify, Some(&old), Some(&new))).unwrap();
        let added = patch.lines().filter(|line| line.starts_with("+new")).count();
        assert_eq!(added, 20_000);
    }
}
