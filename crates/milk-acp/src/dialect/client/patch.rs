//! Reads git patches as agents of version 2 tell changes: absolute paths, no `a/` and `b/`. A patch holds no whole files,
//! so that a changed one is known by the lines around its changes.
//!
//! Pure.

use std::path::{Path, PathBuf};

use serde_json::Value;
use session_model::{FileChange, FileOp};

/// What a diff tells: each file that changes, with both sides as far as its patch has them.
pub(super) fn changes(diff: &Value) -> Vec<FileChange> {
    let sections = sections(diff["patch"]["text"].as_str().unwrap_or_default());
    let told = diff["changes"].as_array().map(Vec::as_slice).unwrap_or_default();
    told.iter().filter_map(|change| one(change, &sections)).collect()
}

fn one(change: &Value, sections: &[Section]) -> Option<FileChange> {
    let path = PathBuf::from(change["path"].as_str()?);
    let op = match change["operation"].as_str()? {
        "add" | "copy" => FileOp::Add,
        "delete" => FileOp::Delete,
        "modify" => FileOp::Modify,
        "move" => FileOp::Move { from: PathBuf::from(change["oldPath"].as_str()?) },
        _ => return None,
    };
    let section = sections.iter().find(|section| section.is_about(&path));
    let sides =
        section.filter(|section| section.has_hunks).map(|section| (section.old.clone(), section.new.clone()));
    let (before, after) = match (&op, sides) {
        (FileOp::Add, sides) => (None, sides.map(|(_, new)| new)),
        (FileOp::Delete, sides) => (sides.map(|(old, _)| old), None),
        (FileOp::Modify | FileOp::Move { .. }, Some((old, new))) => (Some(old), Some(new)),
        (FileOp::Modify | FileOp::Move { .. }, None) => (None, None),
    };
    Some(FileChange { path, op, before, after })
}

/// One file's part of a patch.
#[derive(Debug, Default)]
struct Section {
    names: Vec<String>,
    old: String,
    new: String,
    has_hunks: bool,
    /// Whether the last line was of the old side, and of the new one.
    last: (bool, bool),
}

impl Section {
    fn is_about(&self, path: &Path) -> bool {
        self.names.iter().any(|name| Path::new(name) == path)
    }
}

fn sections(patch: &str) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    let mut left = (0, 0);
    for line in patch.split_inclusive('\n') {
        let bare = line.trim_end_matches(['\n', '\r']);
        if left == (0, 0) {
            if bare.starts_with("diff --git ") {
                sections.push(Section::default());
            } else if let Some(name) =
                ["--- ", "+++ ", "rename to ", "rename from "].iter().find_map(|mark| bare.strip_prefix(mark))
            {
                // Some leave the first line out.
                if bare.starts_with("--- ") && sections.last().is_none_or(|section| section.has_hunks) {
                    sections.push(Section::default());
                }
                if let Some(section) = sections.last_mut() {
                    section.names.push(unquoted(name));
                }
                continue;
            }
        }
        let Some(section) = sections.last_mut() else { continue };
        if left == (0, 0) {
            if let Some(lengths) = hunk(bare) {
                section.has_hunks = true;
                left = lengths;
            } else if bare.starts_with('\\') {
                section.without_end();
            }
            continue;
        }
        section.take(line, &mut left);
    }
    sections
}

impl Section {
    fn take(&mut self, line: &str, left: &mut (usize, usize)) {
        let (mark, text) = line.split_at_checked(1).unwrap_or((" ", ""));
        self.last = match mark {
            "\\" => return self.without_end(),
            "-" => (true, false),
            "+" => (false, true),
            _ => (true, true),
        };
        // An empty line of context may have lost its space.
        let text = if mark == "\n" { "\n" } else { text };
        if self.last.0 {
            self.old.push_str(text);
            left.0 = left.0.saturating_sub(1);
        }
        if self.last.1 {
            self.new.push_str(text);
            left.1 = left.1.saturating_sub(1);
        }
    }

    /// The last line that was told has no end.
    fn without_end(&mut self) {
        let sides = [(self.last.0, &mut self.old), (self.last.1, &mut self.new)];
        for (is_its, side) in sides {
            if is_its && side.ends_with('\n') {
                side.pop();
            }
        }
        self.last = (false, false);
    }
}

/// How many lines of each side a hunk has, by its header.
fn hunk(line: &str) -> Option<(usize, usize)> {
    let ranges = line.strip_prefix("@@ -")?.split(" @@").next()?;
    let (old, new) = ranges.split_once(" +")?;
    let count = |range: &str| range.split_once(',').map_or(Some(1), |(_, count)| count.parse().ok());
    Some((count(old)?, count(new)?))
}

/// A name without the tab after it, and without quotes.
fn unquoted(name: &str) -> String {
    let name = name.split('\t').next().unwrap_or(name);
    let Some(inner) = name.strip_prefix('"').and_then(|name| name.strip_suffix('"')) else {
        return name.to_owned();
    };
    let mut bytes = Vec::new();
    let mut rest = inner.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(b'n') => bytes.push(b'\n'),
            Some(b't') => bytes.push(b'\t'),
            Some(b'r') => bytes.push(b'\r'),
            Some(digit @ b'0'..=b'3') => {
                let mut value = digit - b'0';
                for _ in 0..2 {
                    let Some(digit @ b'0'..=b'7') = rest.peek().copied() else { break };
                    value = value * 8 + (digit - b'0');
                    rest.next();
                }
                bytes.push(value);
            }
            Some(other) => bytes.push(other),
            None => {}
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::super::diff::git_patch;
    use super::*;

    fn change(path: &str, op: FileOp, before: Option<&str>, after: Option<&str>) -> FileChange {
        let text = |side: Option<&str>| side.map(str::to_owned);
        FileChange { path: path.into(), op, before: text(before), after: text(after) }
    }

    fn told(changes: &[FileChange]) -> Value {
        let patch: String = changes.iter().filter_map(git_patch).collect();
        let one = |change: &FileChange| match &change.op {
            FileOp::Add => json!({"operation": "add", "path": change.path}),
            FileOp::Modify => json!({"operation": "modify", "path": change.path}),
            FileOp::Delete => json!({"operation": "delete", "path": change.path}),
            FileOp::Move { from } => json!({"operation": "move", "oldPath": from, "path": change.path}),
        };
        let all: Vec<Value> = changes.iter().map(one).collect();
        json!({"type": "diff", "changes": all, "patch": {"format": "git_patch", "text": patch}})
    }

    #[test]
    fn what_we_tell_ourselves_is_read_back() {
        let moved = FileOp::Move { from: "/w/old name".into() };
        let all = [
            change("/w/new", FileOp::Add, None, Some("one\ntwo\n")),
            change("/w/gone", FileOp::Delete, Some("--- a\n+++ b\n"), None),
            change("/w/ä \"q\"\t", FileOp::Modify, Some("a\nb\nc\n"), Some("a\n\nc\n")),
            change("/w/a b", moved, Some("x\n"), Some("y\n")),
            change("/w/end", FileOp::Modify, Some("a\nb"), Some("a\nb\n")),
            change("/w/ends", FileOp::Modify, Some("a\nb"), Some("c\nb")),
        ];
        assert_eq!(changes(&told(&all)), all);
    }

    #[test]
    fn of_a_long_file_the_lines_around_the_change_are_known() {
        let old = (1..=40).map(|line| line.to_string()).collect::<Vec<_>>().join("\n") + "\n";
        let new = old.replace("20\n", "twenty\n");
        let read = changes(&told(&[change("/w/a", FileOp::Modify, Some(&old), Some(&new))]));
        let (before, after) = (read[0].before.as_deref(), read[0].after.as_deref());
        assert_eq!(before, Some("17\n18\n19\n20\n21\n22\n23\n"));
        assert_eq!(after, Some("17\n18\n19\ntwenty\n21\n22\n23\n"));
    }

    #[test]
    fn without_a_patch_the_files_are_known_and_what_makes_no_sense_is_left_out() {
        let diff = json!({"changes": [{"operation": "modify", "path": "/a"}, {"operation": "melt", "path": "/b"},
            {"operation": "move", "path": "/c"}, {"operation": "add"}]});
        assert_eq!(changes(&diff), [change("/a", FileOp::Modify, None, None)]);
        assert_eq!(changes(&json!({})), []);
        let odd = json!({"changes": [{"operation": "modify", "path": "/a"}],
            "patch": {"text": "@@ -1 +1 @@\n-x\n+++ /a\n@@ -x @@\n\\ nothing"}});
        assert_eq!(changes(&odd).len(), 1);
    }
}
