//! Claude Code's command line and environment. Short, and without a word of the conversation: that goes by its input
//! and a file.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use tokio::process::Command;

use super::ClaudeConfig;
use crate::process;

/// Variables by which the program would take itself for a child of another one of its kind.
const NESTING: [&str; 6] = [
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_SSE_PORT",
    "CLAUDE_CODE_EXECPATH",
];

/// Which of its conversations a run belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Start {
    /// A new one under this id.
    Fresh(String),
    /// This one.
    Resume(String),
}

impl Start {
    /// The conversation's id.
    pub(super) fn id(&self) -> &str {
        match self {
            Self::Fresh(id) | Self::Resume(id) => id,
        }
    }
}

/// Where the program works and what it reads at its start.
#[derive(Debug, Clone, Copy)]
pub(super) struct Places<'a> {
    pub(super) cwd: &'a Path,
    pub(super) roots: &'a [PathBuf],
    /// The file with what it is told beside the prompt.
    pub(super) context: &'a Path,
    /// The file with its settings.
    pub(super) settings: Option<&'a Path>,
}

/// The whole command.
pub(super) fn command(config: &ClaudeConfig, start: &Start, places: Places<'_>) -> Command {
    let mut command = process::command(&config.bin, places.cwd);
    for name in NESTING {
        command.env_remove(name);
    }
    command.envs(config.env.iter());
    command.args(arguments(config, start, places));
    command
}

fn arguments(config: &ClaudeConfig, start: &Start, places: Places<'_>) -> Vec<OsString> {
    let mut all: Vec<OsString> = [
        "--print",
        "--output-format",
        "stream-json",
        "--input-format",
        "stream-json",
        "--verbose",
        "--include-partial-messages",
        "--permission-prompt-tool",
        "stdio",
    ]
    .map(OsString::from)
    .into();
    let mut option = |name: &str, value: OsString| all.extend([OsString::from(name), value]);
    if !config.model.is_empty() {
        option("--model", (&config.model).into());
    }
    if !config.allowed_tools.is_empty() {
        option("--allowedTools", config.allowed_tools.join(",").into());
    }
    for folder in places.roots.iter().chain(&config.add_dirs) {
        option("--add-dir", folder.into());
    }
    if let Some(settings) = places.settings {
        option("--settings", settings.into());
    }
    match start {
        Start::Fresh(id) => option("--session-id", id.into()),
        Start::Resume(id) => option("--resume", id.into()),
    }
    option("--append-system-prompt-file", places.context.into());
    all.extend(config.extra_args.iter().map(OsString::from));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::external::Variables;

    fn words(config: &ClaudeConfig, start: &Start) -> String {
        let places = Places {
            cwd: Path::new("/w"),
            roots: &[PathBuf::from("/more")],
            context: Path::new("/tmp/c.md"),
            settings: None,
        };
        let words: Vec<_> =
            arguments(config, start, places).into_iter().map(|word| word.into_string().unwrap()).collect();
        words.join(" ")
    }

    #[test]
    fn a_run_asks_for_leave_and_says_nothing_of_the_conversation() {
        let config = ClaudeConfig::new("claude");
        let always = "--print --output-format stream-json --input-format stream-json --verbose \
                      --include-partial-messages --permission-prompt-tool stdio";
        assert_eq!(
            words(&config, &Start::Fresh("new".to_owned())),
            format!("{always} --add-dir /more --session-id new --append-system-prompt-file /tmp/c.md")
        );
        let config = ClaudeConfig {
            model: "sonnet".to_owned(),
            allowed_tools: vec!["Read".to_owned(), "Bash(ls *)".to_owned()],
            add_dirs: vec![PathBuf::from("/extra")],
            extra_args: vec!["--effort".to_owned(), "low".to_owned()],
            ..config
        };
        assert_eq!(
            words(&config, &Start::Resume("old".to_owned())),
            format!(
                "{always} --model sonnet --allowedTools Read,Bash(ls *) --add-dir /more --add-dir /extra \
                 --resume old --append-system-prompt-file /tmp/c.md --effort low"
            )
        );
    }

    #[test]
    fn it_does_not_take_itself_for_a_child_of_its_kind() {
        let config = ClaudeConfig {
            env: Variables(vec![("CLAUDE_CODE_USE_BEDROCK".to_owned(), "1".to_owned())]),
            ..ClaudeConfig::new("c")
        };
        let places = Places { cwd: Path::new("/"), roots: &[], context: Path::new("/c"), settings: None };
        let command = command(&config, &Start::Fresh("x".to_owned()), places);
        let removed =
            |name: &str| command.as_std().get_envs().any(|(key, value)| key == name && value.is_none());
        assert!(NESTING.into_iter().all(removed));
        assert!(!removed("CLAUDE_CODE_USE_BEDROCK"));
    }

    #[test]
    fn a_description_in_a_log_names_variables_without_their_values() {
        let env = Variables(vec![("ANTHROPIC_API_KEY".to_owned(), "sk-secret".to_owned())]);
        let shown = format!("{:?}", ClaudeConfig { env, ..ClaudeConfig::new("claude") });
        assert!(shown.contains("ANTHROPIC_API_KEY") && !shown.contains("sk-secret"), "{shown}");
    }
}
