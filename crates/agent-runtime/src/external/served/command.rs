//! A command that a program wants to run: how it is started, and as what it is judged.
//!
//! Pure.

use std::path::PathBuf;

use crate::tools::client_terminal::SHELL;
use crate::tools::paths::Place;
use crate::tools::shell::quoted;

/// A command that a program wants to run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NewCommand {
    /// The program; without arguments, a command for the shell.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Further variables.
    pub env: Vec<(String, String)>,
    /// Where it starts, absolute; in the session's folder when absent.
    pub cwd: Option<PathBuf>,
    /// How many bytes of output are to be kept, of its end.
    pub output_bytes: Option<u64>,
}

impl NewCommand {
    /// The command as it would be typed.
    pub(super) fn text(&self) -> String {
        let shell = |program: &str| {
            let name = program.rsplit('/').next().unwrap_or(program);
            ["sh", "bash", "zsh", "dash", "ksh"].contains(&name)
        };
        match &self.args[..] {
            [] => self.command.clone(),
            [option, text] if shell(&self.command) && option.starts_with('-') && option.ends_with('c') => {
                text.clone()
            }
            args => {
                let words = std::iter::once(&self.command).chain(args).map(|word| quoted(word));
                words.collect::<Vec<_>>().join(" ")
            }
        }
    }

    /// The program and its arguments; a shell for a command.
    pub(super) fn program(&self) -> (String, Vec<String>) {
        if !self.args.is_empty() {
            return (self.command.clone(), self.args.clone());
        }
        let (shell, args) = SHELL;
        let args = args.iter().copied().chain([self.command.as_str()]).map(str::to_owned).collect();
        (shell.to_owned(), args)
    }

    /// Whether a variable of its own decides what it does; leave for the command was none for that.
    pub(super) fn is_steered(&self) -> bool {
        self.env.iter().any(|(name, _)| steers(name))
    }

    /// What is judged: with all that decides what the command does.
    pub(super) fn judged(&self, place: &Place) -> String {
        let env = self.env.iter().map(|(name, value)| format!("{name}={} ", quoted(value)));
        let command: String = env.chain([self.text()]).collect();
        if place.inside {
            command
        } else {
            format!("cd {} && {command}", quoted(&place.shown.to_string_lossy()))
        }
    }
}

/// Whether a variable decides what a command does, more than by its own meaning: where programs are found, what is loaded
/// into them or run beside them. Leave for the command was none for that.
fn steers(name: &str) -> bool {
    const WHOLE: [&str; 10] =
        ["PATH", "ENV", "IFS", "PS4", "SHELLOPTS", "PROMPT_COMMAND", "EDITOR", "VISUAL", "PAGER", "BROWSER"];
    const BEGINNINGS: [&str; 10] =
        ["LD_", "DYLD_", "BASH_", "GIT_", "SSH_", "NODE_", "PYTHON", "PERL", "RUBY", "CARGO_"];
    let name = name.to_ascii_uppercase();
    WHOLE.contains(&name.as_str()) || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_told_as_it_would_be_typed() {
        let of = |command: &str, args: &[&str]| NewCommand {
            command: command.to_owned(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            ..NewCommand::default()
        };
        let rows = [
            (of("ls -l | wc", &[]), "ls -l | wc"),
            (of("git", &["commit", "-m", "it's"]), r"git commit -m 'it'\''s'"),
            (of("/bin/sh", &["-c", "ls; pwd"]), "ls; pwd"),
            (of("bash", &["-lc", "ls"]), "ls"),
            (of("python", &["-c", "ls"]), "python -c ls"),
        ];
        for (command, text) in rows {
            assert_eq!(command.text(), text);
        }
    }

    #[test]
    fn variables_that_decide_what_programs_do_are_known() {
        for (name, steering) in [
            ("PATH", true),
            ("LD_PRELOAD", true),
            ("git_dir", true),
            ("COLUMNS", false),
            ("CLAUDECODE", false),
        ] {
            let env = vec![(name.to_owned(), "x".to_owned())];
            assert_eq!(NewCommand { env, ..NewCommand::default() }.is_steered(), steering, "{name}");
        }
    }
}
