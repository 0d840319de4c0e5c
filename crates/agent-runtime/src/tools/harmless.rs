//! Tells commands that only look from those that might do more. In doubt a command might: it must be simple, its
//! program known, and no argument may make that program write or run anything. Pure; where its paths lead is judged
//! elsewhere.

/// Programs that only print, whatever their arguments.
const LOOKERS: &[&str] = &[
    "basename", "cat", "cmp", "cut", "df", "diff", "dirname", "du", "echo", "egrep", "false", "fgrep",
    "grep", "head", "id", "ls", "nl", "od", "pwd", "readlink", "realpath", "seq", "stat", "strings", "tail",
    "tr", "true", "uname", "wc", "which", "whoami",
];

/// Whether a command of these words can do no more than print something, or go to another folder.
#[must_use]
pub(crate) fn is_harmless(words: &[String]) -> bool {
    let Some((program, arguments)) = words.split_first() else { return false };
    match program.as_str() {
        "cd" => arguments.len() == 1 && !arguments[0].starts_with('-'),
        // `-s` and a bare date set the clock, `-f` reads dates from a file: only a format and the zone.
        "date" => arguments.iter().all(|word| word.starts_with('+') || word == "-u"),
        // `-C` writes a compiled table.
        "file" => arguments.iter().all(|word| !word.starts_with('-')),
        // `-o` writes; with other options it might stand in a bundle.
        "tree" => arguments.iter().all(|word| !word.starts_with('-') || word == "-a"),
        // A preprocessor is a program to run.
        "rg" => !arguments.iter().any(|word| word.starts_with("--pre") || word.starts_with("--hostname-bin")),
        // Assigns a variable, which may be one that decides what runs next.
        "printf" => !arguments.first().is_some_and(|word| word.starts_with("-v")),
        program => LOOKERS.contains(&program),
    }
}

#[cfg(test)]
mod tests {
    use crate::tools::shell::words;

    fn is_harmless(command: &str) -> bool {
        words(command).is_some_and(|words| super::is_harmless(&words))
    }

    #[test]
    #[cfg(unix)]
    fn only_what_can_do_nothing_but_print_is_harmless() {
        for command in [
            "ls",
            "ls -la src",
            "cat 'a b.txt'",
            "grep -rn \"fn main\" src",
            "wc -l Cargo.toml",
            "date +%F",
            "date -u",
            "file a.bin",
            "tree -a src",
            "rg -n todo",
            "  pwd  ",
            "printf '%s' x",
        ] {
            assert!(is_harmless(command), "{command}");
        }
        for command in [
            "",
            "rm -rf x",
            "./ls",
            "/bin/ls",
            "ls; rm x",
            "ls && rm x",
            "ls | sh",
            "ls > x",
            "cat $(rm x)",
            "cat `rm x`",
            "ls $HOME",
            "A=b ls",
            "ls\nrm x",
            "ls *",
            "date -s 2020-01-01",
            "date 01010000",
            "file -C -m x",
            "tree -o x",
            "tree -ao x",
            "printf -v PATH x",
            "printf -vPATH x",
            "rg --pre ./x todo",
            "rg --pre=./x todo",
            "sort -o x y",
            "find . -delete",
            "git status",
            "env ls",
            "xargs rm",
            "tee x",
            "sed -i s/a/b/ x",
            "ls \u{202e}",
        ] {
            assert!(!is_harmless(command), "{command}");
        }
    }
}
