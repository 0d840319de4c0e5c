//! Sizes, heads and habits of files.

use crate::{read, root, rust_files, shown, without_tests};

/// No file is longer, its inline tests left out.
const LONGEST: usize = 600;

#[test]
fn every_module_says_what_it_is() {
    for dir in ["crates", "bin", "tests", "examples"] {
        for path in rust_files(&root().join(dir)) {
            assert!(read(&path).starts_with("//!"), "{} opens without a word", shown(&path));
        }
    }
}

#[test]
fn no_file_is_longer_than_the_limit() {
    for dir in ["crates", "bin", "tests", "examples"] {
        for path in rust_files(&root().join(dir)) {
            let lines = without_tests(&read(&path)).lines().count();
            assert!(lines <= LONGEST, "{} has {lines} lines", shown(&path));
        }
    }
}

#[test]
fn lints_are_argued_with_and_not_switched_off() {
    let switched_off = [concat!("#[al", "low("), concat!("#![al", "low(")];
    for dir in ["crates", "bin", "tests", "examples"] {
        for path in rust_files(&root().join(dir)) {
            let text = read(&path);
            assert!(
                switched_off.iter().all(|attribute| !text.contains(attribute)),
                "{} switches a lint off",
                shown(&path)
            );
        }
    }
}

#[test]
fn tests_do_not_sleep_unless_the_clock_is_paused() {
    let sleep = concat!("time::", "sleep(");
    for dir in ["crates", "bin", "tests"] {
        for path in rust_files(&root().join(dir)) {
            let text = read(&path);
            let of_tests = shown(&path).contains("test");
            if of_tests && text.contains(sleep) {
                let all = text.matches("#[tokio::test").count();
                let paused = text.matches("start_paused = true").count();
                assert!(all == paused, "{} sleeps in real time", shown(&path));
            }
        }
    }
}

#[test]
fn every_snapshot_belongs_to_a_test() {
    let mut open = vec![root()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(&dir).expect("the folder can be read") {
            let path = entry.expect("the folder can be read").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() && !["target", ".git"].contains(&name.as_str()) {
                open.push(path);
            } else if let Some(name) = name.strip_suffix(".snap") {
                let text = read(&path);
                let source = text.lines().find_map(|line| line.strip_prefix("source: ")).expect("a source");
                let source = read(&root().join(source));
                let last = name.rsplit("__").next().unwrap_or_default();
                let base =
                    last.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-').trim_end_matches("_v");
                assert!(source.contains(base), "{} belongs to no test", shown(&path));
            }
        }
    }
}
