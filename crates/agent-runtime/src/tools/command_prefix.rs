//! Chooses what "always" may mean for a command: a prefix narrow enough to be understood from its label, or
//! nothing, where a prefix would allow about anything. Pure.

use super::shell::words;

/// Programs that run what their arguments say, or whose harm lies in their arguments: never for always.
const NEVER: &[&str] = &[
    // run other commands
    "ash",
    "at",
    "awk",
    "bash",
    "batch",
    "busybox",
    "cmd",
    "crontab",
    "csh",
    "dash",
    "doas",
    "ed",
    "emacs",
    "entr",
    "env",
    "ex",
    "expect",
    "find",
    "fish",
    "flock",
    "gawk",
    "gdb",
    "ionice",
    "ksh",
    "launchctl",
    "less",
    "lldb",
    "ltrace",
    "m4",
    "man",
    "mawk",
    "more",
    "nice",
    "nohup",
    "nsenter",
    "osascript",
    "parallel",
    "perl",
    "pkexec",
    "powershell",
    "pwsh",
    "rlwrap",
    "rsync",
    "runuser",
    "scp",
    "screen",
    "script",
    "sed",
    "setsid",
    "sftp",
    "sh",
    "ssh",
    "stdbuf",
    "strace",
    "su",
    "sudo",
    "systemctl",
    "systemd-run",
    "tar",
    "taskset",
    "tclsh",
    "time",
    "timeout",
    "tmux",
    "unshare",
    "vi",
    "view",
    "vim",
    "nvim",
    "watch",
    "xargs",
    "zsh",
    // destroy or send
    "chgrp",
    "chmod",
    "chown",
    "cp",
    "curl",
    "dd",
    "halt",
    "install",
    "kill",
    "killall",
    "ln",
    "mkfs",
    "mount",
    "mv",
    "nc",
    "ncat",
    "netcat",
    "pkill",
    "poweroff",
    "reboot",
    "rm",
    "rmdir",
    "shred",
    "shutdown",
    "socat",
    "tee",
    "truncate",
    "umount",
    "unlink",
    "wget",
];

/// Programs that only look, whatever their arguments: the program alone is narrow enough.
const LOOKERS: &[&str] = &[
    "basename", "cat", "cmp", "cut", "date", "df", "dirname", "du", "echo", "egrep", "fgrep", "file", "grep",
    "head", "id", "ls", "nl", "od", "printf", "pwd", "readlink", "realpath", "seq", "stat", "strings",
    "tail", "tr", "tree", "uname", "wc", "which", "whoami", "xxd",
];

/// Programs that do nothing without a subcommand: an option before it hides what is meant.
const WITH_SUBCOMMANDS: &[&str] = &[
    "apt",
    "apt-get",
    "aws",
    "az",
    "brew",
    "bun",
    "cargo",
    "dnf",
    "docker",
    "docker-compose",
    "dotnet",
    "gcloud",
    "gh",
    "git",
    "go",
    "gradle",
    "helm",
    "hg",
    "jj",
    "kubectl",
    "mvn",
    "npm",
    "npx",
    "pip",
    "pip3",
    "pipx",
    "pnpm",
    "podman",
    "poetry",
    "rustup",
    "svn",
    "terraform",
    "uv",
    "uvx",
    "yarn",
    "bunx",
    "gradlew",
];

/// Subcommands that run what their arguments say.
const NEVER_SUBCOMMANDS: &[(&str, &[&str])] = &[
    ("git", &["bisect", "config", "difftool", "filter-branch", "mergetool", "rebase", "submodule"]),
    ("docker", &["compose", "exec", "run"]),
    ("docker-compose", &["exec", "run"]),
    ("podman", &["exec", "run"]),
    ("kubectl", &["debug", "exec", "run"]),
    ("npm", &["config", "exec", "x"]),
    ("pnpm", &["dlx", "exec"]),
    ("yarn", &["dlx", "exec"]),
    ("bun", &["x"]),
    ("gh", &["alias", "extension"]),
    ("go", &["env", "tool"]),
];

/// Interpreters: a script's name is a command of its own, code in an argument is not.
const INTERPRETERS: &[&str] = &["deno", "node", "php", "pypy", "python", "ruby"];

/// The prefix that "always" would allow for `command`; none when it is not simple or no prefix is narrow.
#[must_use]
pub fn prefix_of(command: &str) -> Option<String> {
    prefix_of_words(&words(command)?)
}

/// The same, for a command's words.
pub(crate) fn prefix_of_words(words: &[String]) -> Option<String> {
    let count = prefix_words(words)?;
    let prefix = words.get(..count)?;
    prefix.iter().all(|word| is_label(word)).then(|| prefix.join(" "))
}

fn prefix_words(words: &[String]) -> Option<usize> {
    let program = words[0].rsplit('/').next().unwrap_or_default();
    if NEVER.contains(&program) {
        return None;
    }
    let second = words.get(1).map(String::as_str);
    if LOOKERS.contains(&program) {
        return Some(1);
    }
    if INTERPRETERS.contains(&program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')) {
        return match second? {
            "-m" => Some(3),
            script => (!script.starts_with('-')).then_some(2),
        };
    }
    let subcommand = second.filter(|word| is_subcommand(word));
    if !WITH_SUBCOMMANDS.contains(&program) {
        return Some(if subcommand.is_some() { 2 } else { 1 });
    }
    let subcommand = subcommand?;
    let never = |(name, subcommands): &(&str, &[&str])| *name == program && subcommands.contains(&subcommand);
    if NEVER_SUBCOMMANDS.iter().any(never) {
        return None;
    }
    // `npm run` says nothing: what runs is the third word.
    Some(if subcommand == "run" && program != "cargo" { 3 } else { 2 })
}

/// Looks like a subcommand rather than a file, an option or a value.
fn is_subcommand(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_:".contains(c))
}

/// Needs no quotes, so that the label and the stored prefix read back as the same words.
fn is_label(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "_-./:@+,".contains(c))
}
