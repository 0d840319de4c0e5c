//! Starts the program in a home of its own and waits for its end.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use milk_tests::mock_openai::MockOpenAi;
use serde_json::json;
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::task::JoinSet;
use tokio::time::timeout;

/// The key of the configured agent; it may show up nowhere.
pub(crate) const KEY: &str = "sk-secret-123";

/// Far longer than anything takes on a busy machine, so that a hang fails the test and nothing else does.
const PATIENCE: Duration = Duration::from_secs(40);

/// A home folder, a data folder and a folder to work in.
pub(crate) struct Home {
    root: TempDir,
}

impl Home {
    /// With nothing in it but the folder to work in.
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().expect("a temporary folder");
        for folder in ["work", "milk"] {
            std::fs::create_dir(root.path().join(folder)).expect("a folder");
        }
        std::fs::write(root.path().join("work/answer.txt"), "forty-two\n").expect("a file");
        Self { root }
    }

    /// With this model as its only agent.
    pub(crate) fn with(model: &MockOpenAi) -> Self {
        let home = Self::new();
        home.use_model(model);
        home
    }

    /// Makes this model the only agent of programs started from now on.
    pub(crate) fn use_model(&self, model: &MockOpenAi) {
        let agent = json!({ "name": "mock", "url": model.url(), "model": "mock-model", "api_key": KEY });
        let config = json!({ "agents": [agent] }).to_string();
        std::fs::write(self.path("milk/config.json"), config).expect("a configuration");
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// What SQLite finds wrong with the sessions' database; `ok` when nothing.
    pub(crate) fn integrity(&self) -> String {
        let database = rusqlite::Connection::open(self.path("milk/sessions.db")).expect("it opens");
        database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("it can be checked")
    }

    /// The folder the program works in, by its real path.
    pub(crate) fn work(&self) -> PathBuf {
        self.path("work").canonicalize().expect("the folder is there")
    }

    /// The program with these arguments, in an environment of nothing but the search path and this home.
    pub(crate) fn command<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_milk"));
        command.args(arguments);
        self.surround(command)
    }

    /// A shell with this script, to which `$0` is the program.
    #[cfg(target_os = "linux")]
    pub(crate) fn shell(&self, script: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script, env!("CARGO_BIN_EXE_milk")]);
        self.surround(command)
    }

    fn surround(&self, mut command: Command) -> Command {
        command.current_dir(self.path("work")).env_clear().kill_on_drop(true);
        command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        command.env("HOME", self.root.path()).env("MILK_HOME", self.path("milk")).env("MILK_DETECT", "off");
        command
    }

    /// `milk serve --acp`.
    pub(crate) fn serve(&self) -> Command {
        self.command(["serve", "--acp"])
    }
}

/// A running program.
pub(crate) struct Program {
    child: Child,
    stderr: JoinSet<String>,
}

/// How a program ended.
pub(crate) struct End {
    /// The exit code; none after a signal.
    pub(crate) code: Option<i32>,
    /// Everything on standard error.
    pub(crate) stderr: String,
}

impl Program {
    /// Starts it with pipes: the program, its standard output and its standard input.
    pub(crate) fn start(mut command: Command) -> (Self, ChildStdout, ChildStdin) {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let (stdout, stdin) = (child.stdout.take().expect("a pipe"), child.stdin.take().expect("a pipe"));
        let mut stderr = JoinSet::new();
        stderr.spawn(text(child.stderr.take().expect("a pipe")));
        (Self { child, stderr }, stdout, stdin)
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id().expect("it runs")
    }

    /// Ends it without its having a say, as a crash would.
    pub(crate) async fn kill(mut self) {
        self.child.start_kill().expect("it runs");
        self.ended().await;
    }

    /// Waits for its end.
    pub(crate) async fn ended(mut self) -> End {
        let status =
            timeout(PATIENCE, self.child.wait()).await.expect("it ends").expect("it can be waited for");
        let stderr = timeout(PATIENCE, self.stderr.join_next()).await.expect("nobody else holds its pipe");
        End { code: status.code(), stderr: stderr.expect("a task").expect("no panic") }
    }
}

/// Everything that comes until the end.
pub(crate) async fn text(mut reader: impl AsyncRead + Unpin) -> String {
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).await.expect("a pipe can be read");
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Fails a test that hangs.
pub(crate) async fn in_time<T>(work: impl Future<Output = T>) -> T {
    timeout(PATIENCE, work).await.expect("in time")
}

/// A model server.
pub(crate) async fn model() -> MockOpenAi {
    let model = MockOpenAi::start().await.expect("a loopback port");
    model.strict();
    model
}

/// Waits until the model was asked for this many answers.
pub(crate) async fn asked(model: &MockOpenAi, count: usize) {
    while model.chats().len() < count {
        let so_far = model.requests().len();
        if model.chats().len() < count {
            model.wait_for_requests(so_far + 1).await;
        }
    }
}
