//! Says what a command would run besides its own program: `sudo rm`, `sh -c 'rm'`, `find -exec rm`. Made for
//! refusing, so it errs on the side of finding too much: of a program that runs its arguments, any word may be where
//! the inner command begins. Pure; allows nothing.

use super::script::{MAX_DEPTH, Script};
use super::script_word::Word;

/// Programs that run the command their later words spell.
const RUNNERS: &[&str] = &[
    "ash",
    "bash",
    "builtin",
    "busybox",
    "chroot",
    "chrt",
    "command",
    "csh",
    "dash",
    "doas",
    "entr",
    "env",
    "eval",
    "exec",
    "fd",
    "fdfind",
    "find",
    "fish",
    "flock",
    "ionice",
    "ksh",
    "ltrace",
    "nice",
    "nohup",
    "nsenter",
    "parallel",
    "pkexec",
    "proot",
    "rlwrap",
    "runuser",
    "script",
    "setsid",
    "sh",
    "ssh",
    "stdbuf",
    "strace",
    "su",
    "sudo",
    "systemd-run",
    "taskset",
    "time",
    "timeout",
    "toybox",
    "trap",
    "unbuffer",
    "unshare",
    "watch",
    "xargs",
    "zsh",
];

/// Programs that run what they read from elsewhere: a file, standard input, or the shell's own settings.
const OPAQUE: &[&str] = &[".", "alias", "bind", "complete", "enable", "hash", "source"];

/// What a command would run.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Inner {
    /// The words of each command it may run, its own first.
    pub(crate) commands: Vec<Vec<Word>>,
    /// The words in texts that are handed to another shell, and the files these are connected with.
    pub(crate) files: Vec<Word>,
    /// Those of them that lead to somebody's home folder.
    pub(crate) homes: Vec<String>,
    /// Whether it may run something that cannot be told.
    pub(crate) unknown: bool,
}

/// What `words` may run, themselves included.
pub(crate) fn inner(words: &[Word]) -> Inner {
    let mut found = Inner::default();
    collect(words, 0, &mut found);
    found
}

/// The file name of a program's path, in lower case: some file systems ignore case.
pub(crate) fn program_of(word: &str) -> String {
    word.rsplit('/').next().unwrap_or_default().to_lowercase()
}

fn collect(words: &[Word], depth: usize, found: &mut Inner) {
    let Some(first) = words.first() else { return };
    found.commands.push(words.to_vec());
    let program = program_of(&first.text);
    let program = program.as_str();
    if !first.fixed || depth >= MAX_DEPTH || OPAQUE.contains(&program) {
        found.unknown = true;
        return;
    }
    // `git -c alias.x='!rm'` and its like hand text to a shell as well.
    let runs_text =
        RUNNERS.contains(&program) || (program == "git" && words.iter().any(|w| w.text.contains('!')));
    if !runs_text {
        return;
    }
    found.unknown |= words.iter().any(|word| !word.fixed);
    for (at, word) in words.iter().enumerate().skip(1) {
        found.commands.push(words[at..].to_vec());
        text_of(&word.text, depth, found);
    }
}

/// A word that may itself be a command's text: `-c 'rm x'`, `!rm x`, `--exec=rm x`.
fn text_of(word: &str, depth: usize, found: &mut Inner) {
    let texts =
        [Some(word), word.split_once('!').map(|(_, text)| text), word.split_once('=').map(|(_, t)| t)];
    for text in texts.into_iter().flatten() {
        if !text.contains(|c: char| c.is_whitespace() || ";&|<>()$`'\"\\".contains(c)) {
            if text.len() < word.len() && !text.is_empty() {
                found.commands.push(vec![Word::fixed(text)]);
            }
            continue;
        }
        match Script::read_at(text, depth + 1) {
            Ok(script) => {
                for command in script.commands {
                    found.files.extend(command.words.iter().cloned());
                    found.files.extend(command.redirects.iter().map(|redirect| redirect.to.clone()));
                    found.files.extend(command.assignments.iter().map(|text| Word::fixed(text)));
                    collect(&command.words, depth + 1, found);
                }
            }
            Err(_) => found.unknown = true,
        }
    }
}
