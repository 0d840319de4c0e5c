//! Commands, rules and decisions, written by somebody who wants more than was allowed.
#![cfg(unix)]

use std::path::Path;
use std::process::Stdio;

use proptest::prelude::*;

use super::super::command_prefix::prefix_of;
use super::super::shell::{covers, matches_pattern, words};

#[test]
fn a_prefix_covers_its_command_with_further_arguments() {
    for (prefix, command) in [
        ("git status", "git status"),
        ("git status", "git status -s"),
        ("git status", "  git   status\t--short  "),
        ("git status", "git status\n"),
        ("git status", "git status \\\n-s"),
        ("git status", "git status src/main.rs 'a b' \"c d\""),
        ("git status", "git 'status'"),
        ("git status", "g\\it status"),
        ("git status", "git status \"a;b\" '$(rm)' '`rm`' 'a|b' '>f' '&'"),
        ("git status", "git status \\; \\& \\| \\>"),
        ("git status", "git status \"\\$x \\` \\\" \\\\\""),
        ("git", "git status"),
        ("git commit", "git commit -m 'a: b (c) * ? [d] {e}'"),
        ("cargo test", "cargo test --package=x -- --nocapture"),
        ("ls", "ls ~/x"),
        ("git show", "git show HEAD^ HEAD~1 a#b k=v"),
        ("echo", "echo Grüße 日本"),
    ] {
        assert!(covers(prefix, command), "{prefix:?} should cover {command:?}");
    }
}

/// Commands that leave for `git status` must not let through.
const NOT_GIT_STATUS: &[&str] = &[
    "git status && rm -rf x",
    "git status&&rm -rf x",
    "git status || rm x",
    "git status ; rm x",
    "git status;rm x",
    "git status; ",
    "git status;",
    "git status & rm x",
    "git status &",
    "git status&",
    "git status | sh",
    "git status|sh",
    "git status |& sh",
    "git status\nrm x",
    "git status\r\nrm x",
    "git status\rrm x",
    "git status \\\n; rm x",
    "git status > f",
    "git status >f",
    "git status >> f",
    "git status 2>f",
    "git status &> f",
    "git status >& f",
    "git status >| f",
    "git status < f",
    "git status <<EOF\nx\nEOF",
    "git status << 'EOF'",
    "git status <<< x",
    "git status <(rm x)",
    "git status >(rm x)",
    "git status $(rm x)",
    "git status \"$(rm x)\"",
    "git status `rm x`",
    "git status \"`rm x`\"",
    "git status $x",
    "git status ${x}",
    "git status \"${x:-$(rm x)}\"",
    "git status $((x=1))",
    "git status $'\\'; rm x #'",
    "git status $\"x\"",
    "git status 'a'\"$(rm x)\"",
    "git status 'a\\'; rm x; 'b'",
    "git status \"a\\\\\"; rm x; \"b\"",
    "git status '",
    "git status \"",
    "git status \\",
    "git status 'a'$(rm x)'b'",
    "git status (rm x)",
    "git status )",
    "(git status)",
    "{ git status; }",
    "git status {a,b}",
    "git status *",
    "git status ?",
    "git status [a-z]",
    "git status # x",
    "#git status",
    "! git status",
    "X=1 git status",
    "PATH=. git status",
    "GIT_DIR=x git status",
    "env X=1 git status",
    "if git status",
    "while git status",
    "time git status",
    "exec git status",
    "eval git status",
    "command git status",
    "git statusx",
    "git statu",
    "git",
    "git  'status x'",
    "'git status'",
    "git\\ status",
    "git\u{a0}status",
    "git\u{2003}status",
    "git status\u{a0}x",
    "git status \u{2028}rm x",
    "git status \u{85}rm",
    "git status \u{202e}x",
    "git status '\u{202e}x'",
    "git status \u{200b}",
    "git status \0",
    "git status \u{b}rm x",
    "git status \u{1b}[2K",
    "git -C /x status",
    "git -c alias.status='!rm x' status",
    "./git status",
    "/tmp/git status",
    "~/git status",
    "GIT status",
    "git STATUS",
    "status git",
    "rm git status",
    "",
    " ",
    "\n",
];

#[test]
fn nothing_rides_along_with_a_covered_command() {
    for command in NOT_GIT_STATUS {
        assert!(!covers("git status", command), "git status must not cover {command:?}");
    }
}

#[test]
fn a_rule_that_is_no_simple_command_covers_nothing() {
    for prefix in ["", " ", "git status &&", "git *", "$(git)", "git status |", "X=1", "eval", "\"\"", "''"] {
        for command in ["git status", "git status && rm x", "git *", "", "'' x"] {
            assert!(!covers(prefix, command), "{prefix:?} covers {command:?}");
        }
    }
}

#[test]
fn words_are_read_as_the_shell_reads_them() {
    for command in [
        "echo a b  c",
        "echo 'a b' \"c d\" e\\ f",
        "echo 'a'\"b\"c\\d",
        "echo \"a\\b\\\\c\\\"d\\$e\"",
        "echo '' \"\" x",
        "echo a=b ~x x~ a#b %1 a,b @c +d ^e",
        "echo '\\' '\"' \"'\"",
        "echo Grüße",
    ] {
        let words = words(command).unwrap();
        let script = format!("for w in {}; do printf '%s\\0' \"$w\"; done", &command["echo ".len()..]);
        let read = printed(&script);
        let read: Vec<&str> = read.split_terminator('\0').collect();
        let ours: Vec<&str> = words[1..].iter().map(String::as_str).collect();
        assert_eq!(ours, read, "{command}");
    }
}

/// What the system's shell prints.
fn printed(script: &str) -> String {
    run("/bin/sh", script, Path::new("/")).0
}

/// What a shell prints, and whether it had nothing to complain about.
fn run(shell: &str, script: &str, cwd: &Path) -> (String, bool) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut command = crate::process::command(shell, cwd);
        command.arg("-c").arg(script).env("PATH", "/nowhere");
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let output = command.output().await.unwrap();
        let content = output.status.success() && output.stderr.is_empty();
        (String::from_utf8_lossy(&output.stdout).into_owned(), content)
    })
}

fn bracketed(words: &[String]) -> String {
    if words.is_empty() { String::new() } else { format!("<{}>", words.join("><")) }
}

/// The shells of this machine whose reading counts.
fn shells() -> impl Iterator<Item = &'static str> {
    ["/bin/sh", "/bin/bash", "/bin/dash", "/bin/zsh"].into_iter().filter(|shell| Path::new(shell).exists())
}

/// Text made of what shells care about; the letters name no program.
const NASTY: &str = "([ab]|[ab]|[ ]|[;&|<>()$`'\"\\\\*?\\[\\]#=%{}!^,:.\n\r\t-]|é|\u{a0}|\u{2028}){0,10}";

proptest! {
    #[test]
    fn a_simple_command_has_the_words_that_the_shells_see(text in NASTY) {
        let Some(words) = words(&format!("a {text}")) else { return Ok(()) };
        let folder = tempfile::tempdir().unwrap();
        for shell in shells() {
            let script = format!("printf '<%s>' x {text}");
            let (read, content) = run(shell, &script, folder.path());
            let expected = format!("<x>{}", bracketed(&words[1..]));
            prop_assert!(content, "{} complains about {:?}", shell, text);
            prop_assert_eq!(read, expected, "{} reads {:?}", shell, text);
        }
        prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{:?} wrote", text);
    }

    #[test]
    fn what_a_wildcard_matches_runs_nothing_else(text in NASTY) {
        let command = format!("echo {text}");
        if !matches_pattern("echo *", &command) {
            return Ok(());
        }
        let folder = tempfile::tempdir().unwrap();
        for shell in shells().filter(|shell| !shell.ends_with("zsh")) {
            // Anything but `echo` would be a program that is not there.
            let (_, content) = run(shell, &command, folder.path());
            prop_assert!(content, "{} complains about {:?}", shell, command);
        }
        prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{:?} wrote", command);
    }
}

#[test]
fn a_pattern_matches_whole_commands() {
    for (pattern, command) in [
        ("git status", "git status"),
        ("git status", "  git status\n"),
        ("git *", "git status -s"),
        ("git * --short", "git status --short"),
        ("cargo test*", "cargo test"),
        ("cargo test*", "cargo test -p x"),
        ("ls ?", "ls x"),
        ("*", "ls -la"),
        ("echo *", "echo 'a; b' \"c | d\" e\\;f"),
        ("cargo test | head *", "cargo test | head -5"),
        ("cd * && cargo test", "cd crates/x && cargo test"),
        ("echo $HOME", "echo $HOME"),
        ("make -C * *", "make -C a/b all"),
        ("a*b*c", "axxbxxbxc"),
        // The quote is quoted, and so the operator is text.
        ("git *", "git \"a\\\"; rm x\""),
    ] {
        assert!(matches_pattern(pattern, command), "{pattern:?} should match {command:?}");
    }
}

#[test]
fn a_wildcard_never_stands_for_an_operator() {
    for (pattern, command) in [
        ("git status", "git status -s"),
        ("git status", "sudo git status"),
        ("git", "git status"),
        ("git *", "git"),
        ("git *", "gitx status"),
        ("git *", "git status; rm x"),
        ("git *", "git status && rm x"),
        ("git *", "git status & rm x"),
        ("git *", "git status | sh"),
        ("git *", "git status\nrm x"),
        ("git *", "git status \\\nrm x"),
        ("git *", "git status '\n'"),
        ("git *", "git status > f"),
        ("git *", "git status < f"),
        ("git *", "git $(rm x)"),
        ("git *", "git `rm x`"),
        ("git *", "git \"$(rm x)\""),
        ("git *", "git \"`rm x`\""),
        ("git *", "git $'\\'; rm x #'"),
        ("git *", "git 'a'; rm 'b'"),
        ("git *", "git \"a\\\\\"; rm x"),
        ("git *", "git \\'; rm x; echo \\'"),
        ("git *", "git 'unclosed"),
        ("git *", "git \"unclosed"),
        ("git *", "git \u{202e}x"),
        ("git *", "git \r rm"),
        ("*", "a; b"),
        ("*", "(a)"),
        ("?ls", ";ls"),
        ("git ?", "git ;"),
        ("cargo test | head *", "cargo test | head -5 | sh"),
        ("cargo test | head *", "cargo test | head -5; rm x"),
        ("cargo test | head *", "cargo test | head $(rm x)"),
        ("cargo test | head *", "cargo test ; head -5"),
        ("cd * && cargo test", "cd x; rm y && cargo test"),
        ("cd * && cargo test", "cd x && rm y && cargo test"),
        ("cd * && cargo test", "cd x & rm y & cargo test"),
        ("echo \"*;b\"", "echo \"\";b\"\""),
        ("echo 'a;b' *", "echo 'a;b' c; rm x"),
        ("echo '*", "echo 'x'"),
        ("", "ls"),
        ("a*b*c", "axxbxx"),
    ] {
        assert!(!matches_pattern(pattern, command), "{pattern:?} must not match {command:?}");
    }
}

#[test]
fn always_means_a_narrow_prefix_or_is_not_offered() {
    for (command, expected) in [
        ("git status", Some("git status")),
        ("git status -s src", Some("git status")),
        ("cargo test -p x", Some("cargo test")),
        ("cargo run --release", Some("cargo run")),
        ("npm run build -- --x", Some("npm run build")),
        ("npm test", Some("npm test")),
        ("python3 -m pytest tests", Some("python3 -m pytest")),
        ("python3 tools/gen.py --x", Some("python3 tools/gen.py")),
        ("ls -la", Some("ls")),
        ("cat README.md", Some("cat")),
        ("pytest tests/x.py", Some("pytest")),
        ("./build.sh release", Some("./build.sh release")),
        ("make -j4", Some("make")),
        ("npm run", None),
        ("git -C x status", None),
        ("git config alias.x '!rm'", None),
        ("cargo +nightly test", None),
        ("python3 -c 'print(1)'", None),
        ("python3", None),
        ("node -e 1", None),
        ("python3.12 -c 1", None),
        ("sh -c 'rm x'", None),
        ("bash x.sh", None),
        ("/bin/bash x.sh", None),
        ("sudo ls", None),
        ("env ls", None),
        ("xargs rm", None),
        ("find . -delete", None),
        ("rm x", None),
        ("/bin/rm x", None),
        ("curl http://x", None),
        ("git status && ls", None),
        ("git status | head", None),
        ("X=1 make", None),
        ("make *", None),
        ("'my tool' x", None),
        ("echo $(x)", None),
        ("docker run x", None),
        ("docker ps", Some("docker ps")),
    ] {
        assert_eq!(prefix_of(command).as_deref(), expected, "{command}");
        if let Some(prefix) = expected {
            assert!(covers(prefix, command), "{command}");
        }
    }
}
