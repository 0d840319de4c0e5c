//! Runs the program in a home of its own, cut off from this machine's environment and model servers.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A home folder and a folder to work in.
pub(crate) struct Home {
    root: TempDir,
}

/// What a run of the program left.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Outcome {
    /// Asserts the exit code.
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{}", self.out, self.err);
        self
    }

    /// Standard output as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).expect("standard output is JSON")
    }

    /// Every line of standard output as JSON.
    #[track_caller]
    pub(crate) fn lines(&self) -> Vec<Value> {
        self.out.lines().map(|line| serde_json::from_str(line).expect("every line is JSON")).collect()
    }
}

impl Home {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir_all(root.path().join("work")).expect("a folder to work in");
        fs::write(root.path().join("work/README.md"), "# Demo\n\nA demonstration.\n").expect("a file");
        Self { root }
    }

    /// With this configuration.
    pub(crate) fn with_config(config: &Value) -> Self {
        let home = Self::new();
        fs::create_dir_all(home.path(".milk")).expect("a folder");
        fs::write(home.path(".milk/config.json"), config.to_string()).expect("a configuration");
        home
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// The folder the program works in, by its real path.
    pub(crate) fn work(&self) -> PathBuf {
        self.path("work").canonicalize().expect("the folder is there")
    }

    /// The program, ready to be started.
    #[expect(clippy::disallowed_methods, reason = "the harness is what starts the program")]
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_milk"));
        command.args(arguments).current_dir(self.path("work")).env_clear();
        command.env("HOME", self.root.path()).env("MILK_DETECT", "off");
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        command
    }

    /// Runs it to its end without input.
    pub(crate) fn milk(&self, arguments: &[&str]) -> Outcome {
        self.feed(arguments, "")
    }

    /// Runs it to its end with this input.
    pub(crate) fn feed(&self, arguments: &[&str], input: &str) -> Outcome {
        finish(self.command(arguments), input)
    }
}

/// Runs a command to its end.
pub(crate) fn finish(mut command: Command, input: &str) -> Outcome {
    let mut child = start(&mut command);
    let mut stdin = child.stdin.take().expect("a pipe");
    // A program that does not read its input may be gone already.
    drop(stdin.write_all(input.as_bytes()));
    drop(stdin);
    let output = child.wait_with_output().expect("the program ends");
    Outcome {
        code: output.status.code(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Starts a command with pipes.
pub(crate) fn start(command: &mut Command) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the program starts")
}

/// The text of a file.
pub(crate) fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("the file is there")
}
