//! The program's command line and environment. No key is an argument, and neither is the prompt unless that is wished:
//! arguments are seen by everyone on the machine.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use tokio::process::Command;

use super::SubprocessConfig;
use crate::external::program::KEYS;
use crate::process;

/// What one run is about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run<'a> {
    pub(super) cwd: &'a Path,
    pub(super) roots: &'a [PathBuf],
    /// The built-in script, where that is run.
    pub(super) script: Option<&'a Path>,
    pub(super) session: &'a str,
    /// The file with what it is told beside the prompt.
    pub(super) context: &'a Path,
    pub(super) prompt: &'a str,
}

/// The whole command.
pub(super) fn command(config: &SubprocessConfig, run: Run<'_>) -> Command {
    let mut command = process::command(&config.program.bin, run.cwd);
    for name in KEYS {
        command.env_remove(name);
    }
    if let Ok(roots) = std::env::join_paths(run.roots) {
        command.env("MILK_ADDITIONAL_ROOTS", roots);
    }
    // What it prints is heard at once.
    command.env("PYTHONUNBUFFERED", "1").env("PYTHONIOENCODING", "utf-8");
    command.envs(config.program.env.iter());
    command.args(arguments(config, run));
    command
}

fn arguments(config: &SubprocessConfig, run: Run<'_>) -> Vec<OsString> {
    let mut all: Vec<OsString> = run.script.map(OsString::from).into_iter().collect();
    all.extend(config.args.iter().map(OsString::from));
    let mut option = |name: &str, value: OsString| {
        if !value.is_empty() {
            all.extend([OsString::from(name), value]);
        }
    };
    option("--model-type", (&config.model_type).into());
    option("--model-id", (&config.program.model).into());
    option("--api-base", (&config.program.api_base).into());
    option("--action-type", (&config.action_type).into());
    option("--tools", config.tools.join(",").into());
    option("--authorized-imports", config.authorized_imports.join(",").into());
    option("--max-steps", config.max_steps.to_string().into());
    option("--session-id", run.session.into());
    option("--append-system-prompt-file", run.context.into());
    all.extend(config.program.extra_args.iter().map(OsString::from));
    let prompt = if config.program.prompt_argument { run.prompt } else { "-" };
    all.extend(["--", prompt].map(OsString::from));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::external::{ProgramConfig, Variables};

    fn words(command: &Command) -> String {
        let words: Vec<_> = command.as_std().get_args().map(|word| word.to_str().unwrap()).collect();
        words.join(" ")
    }

    fn run() -> Run<'static> {
        Run {
            cwd: Path::new("/w"),
            roots: &[],
            script: None,
            session: "s",
            context: Path::new("/tmp/c.md"),
            prompt: "do it",
        }
    }

    #[test]
    fn the_arguments_are_those_of_the_published_script() {
        let config = SubprocessConfig::new(ProgramConfig::new("smol", "milk-smolagent"));
        assert_eq!(
            words(&command(&config, run())),
            "--model-type OpenAIModel --action-type code --max-steps 15 --session-id s \
             --append-system-prompt-file /tmp/c.md -- -"
        );
        let program = ProgramConfig {
            model: "m".to_owned(),
            api_base: "http://h/v1".to_owned(),
            extra_args: vec!["--more".to_owned()],
            prompt_argument: true,
            ..ProgramConfig::new("smol", "x")
        };
        let config = SubprocessConfig {
            args: vec!["first".to_owned()],
            tools: vec!["a".to_owned(), "b".to_owned()],
            authorized_imports: vec!["json".to_owned()],
            max_steps: 3,
            ..SubprocessConfig::new(program)
        };
        assert_eq!(
            words(&command(&config, Run { script: Some(Path::new("/s")), ..run() })),
            "/s first --model-type OpenAIModel --model-id m --api-base http://h/v1 --action-type code --tools a,b \
             --authorized-imports json --max-steps 3 --session-id s --append-system-prompt-file /tmp/c.md --more -- do it"
        );
    }

    #[test]
    fn keys_travel_by_the_environment_and_only_those_that_are_configured() {
        let key = ("OPENAI_API_KEY".to_owned(), "sk-secret".to_owned());
        let program =
            ProgramConfig { env: Variables(vec![key]), ..ProgramConfig::new("smol", "milk-smolagent") };
        let config = SubprocessConfig::new(program);
        let command = command(&config, run());
        assert!(!words(&command).contains("secret"));
        let variable =
            |wanted: &str| command.as_std().get_envs().find(|(name, _)| *name == wanted).unwrap().1;
        assert_eq!(variable("OPENAI_API_KEY").unwrap(), "sk-secret");
        assert_eq!(variable("ANTHROPIC_API_KEY"), None);
        assert!(!format!("{config:?}").contains("secret"));
    }
}
