//! Aider's command line and environment. No key is an argument, and neither is the prompt unless that is wished.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use tokio::process::Command;

use crate::external::ProgramConfig;
use crate::external::program::KEYS;
use crate::process;

/// Settings that keep a run from asking the network for more than the model, from changing what it was not asked to,
/// and from running what it suggests. The user's own `env` may say otherwise.
const QUIET: [(&str, &str); 8] = [
    ("AIDER_ANALYTICS", "false"),
    ("AIDER_CHECK_UPDATE", "false"),
    ("AIDER_DETECT_URLS", "false"),
    ("AIDER_GITIGNORE", "false"),
    ("AIDER_SHOW_RELEASE_NOTES", "false"),
    ("AIDER_SUGGEST_SHELL_COMMANDS", "false"),
    ("LITELLM_LOCAL_MODEL_COST_MAP", "True"),
    ("PYTHONUNBUFFERED", "1"),
];

/// What one run is about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run<'a> {
    pub(super) cwd: &'a Path,
    pub(super) in_git: bool,
    /// The file with what it is told beside the prompt.
    pub(super) context: &'a Path,
    /// A folder that goes with the run, for what it writes about itself.
    pub(super) scratch: &'a Path,
    /// The files that the prompt names.
    pub(super) files: &'a [PathBuf],
    pub(super) prompt: &'a str,
    /// The file with the prompt.
    pub(super) message: &'a Path,
}

/// The whole command.
pub(super) fn command(config: &ProgramConfig, run: Run<'_>) -> Command {
    let mut command = process::command(&config.bin, run.cwd);
    for name in KEYS {
        command.env_remove(name);
    }
    command.envs(QUIET);
    command.env("AIDER_CHAT_HISTORY_FILE", run.scratch.join("chat.md"));
    command.env("AIDER_INPUT_HISTORY_FILE", run.scratch.join("input"));
    command.envs(config.env.iter());
    command.args(arguments(config, run));
    command
}

fn arguments(config: &ProgramConfig, run: Run<'_>) -> Vec<OsString> {
    let mut all: Vec<OsString> =
        ["--yes-always", "--no-pretty", "--no-auto-commits", "--edit-format", "diff"]
            .map(OsString::from)
            .into();
    for (name, value) in [("--model", &config.model), ("--openai-api-base", &config.api_base)] {
        if !value.is_empty() {
            all.extend([OsString::from(name), value.into()]);
        }
    }
    if !run.in_git {
        all.push("--no-git".into());
    }
    let limits = [
        "--map-tokens",
        "2048",
        "--max-chat-history-tokens",
        "4096",
        "--map-refresh",
        "files",
        "--no-show-model-warnings",
    ];
    all.extend(limits.map(OsString::from));
    all.extend(config.extra_args.iter().map(OsString::from));
    all.extend([OsString::from("--read"), run.context.into()]);
    for file in run.files {
        all.extend([OsString::from("--file"), file.into()]);
    }
    all.extend(if config.prompt_argument {
        [OsString::from("--message"), run.prompt.into()]
    } else {
        [OsString::from("--message-file"), run.message.into()]
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::external::Variables;

    fn run() -> Run<'static> {
        Run {
            cwd: Path::new("/w"),
            in_git: true,
            context: Path::new("/tmp/c.md"),
            scratch: Path::new("/tmp/s"),
            files: &[],
            prompt: "do it",
            message: Path::new("/tmp/m"),
        }
    }

    fn words(command: &Command) -> String {
        let words: Vec<_> = command.as_std().get_args().map(|word| word.to_str().unwrap()).collect();
        words.join(" ")
    }

    #[test]
    fn a_run_has_the_published_arguments_and_no_word_of_the_prompt() {
        let config = ProgramConfig::new("aider", "aider");
        assert_eq!(
            words(&command(&config, run())),
            "--yes-always --no-pretty --no-auto-commits --edit-format diff --map-tokens 2048 \
             --max-chat-history-tokens 4096 --map-refresh files --no-show-model-warnings --read /tmp/c.md \
             --message-file /tmp/m"
        );
        let config = ProgramConfig {
            model: "openai/m".to_owned(),
            api_base: "http://h/v1".to_owned(),
            extra_args: vec!["--no-stream".to_owned()],
            prompt_argument: true,
            ..config
        };
        let files = [PathBuf::from("/w/a"), PathBuf::from("/w/b")];
        assert_eq!(
            words(&command(&config, Run { in_git: false, files: &files, ..run() })),
            "--yes-always --no-pretty --no-auto-commits --edit-format diff --model openai/m --openai-api-base \
             http://h/v1 --no-git --map-tokens 2048 --max-chat-history-tokens 4096 --map-refresh files \
             --no-show-model-warnings --no-stream --read /tmp/c.md --file /w/a --file /w/b --message do it"
        );
    }

    #[test]
    fn keys_are_those_of_the_configuration() {
        let env = [("OPENAI_API_KEY", "sk-secret"), ("AIDER_ANALYTICS", "true")];
        let env = env.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let config = ProgramConfig { env: Variables(env), ..ProgramConfig::new("aider", "aider") };
        let command = command(&config, run());
        let variable =
            |wanted: &str| command.as_std().get_envs().find(|(name, _)| *name == wanted).unwrap().1;
        assert_eq!(variable("OPENAI_API_KEY").unwrap(), "sk-secret");
        assert_eq!(variable("ANTHROPIC_API_KEY"), None, "the user's own is none of its business");
        assert_eq!(variable("AIDER_CHECK_UPDATE").unwrap(), "false");
        assert_eq!(variable("AIDER_ANALYTICS").unwrap(), "true", "what is configured wins");
    }
}
