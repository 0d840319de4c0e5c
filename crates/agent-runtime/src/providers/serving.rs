//! Starts the model servers that somebody wants started: asks whether one answers, runs its command if not, and waits
//! until it does. A server started here ends with the last clone of its [`Servers`]. Knows no configuration.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::{Method, StatusCode, Url};
use serde_json::Value;
use tokio::time::{Instant, interval, timeout};

use super::http::{HttpClients, TlsOptions};
use crate::process::{self, Leader};

/// How long one question whether a server is there may take.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);
/// How often a server that starts is asked.
const PROBE_EVERY: Duration = Duration::from_secs(1);
/// How long a server may take to start: large models are read from disk in this time.
const START_TIMEOUT: Duration = Duration::from_mins(1);

/// A server that is to be there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// Whose server it is, for messages.
    pub agent: String,
    /// Its base URL.
    pub url: String,
    /// How its certificate is judged.
    pub tls: TlsOptions,
    /// The shell command that starts it.
    pub command: String,
    /// Where the command runs, absolute.
    pub cwd: PathBuf,
    /// The file its output is added to; made when needed, readable by the user alone. Without one it is dropped.
    pub log: Option<PathBuf>,
}

/// Why a server is not there.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// Its command could not be run.
    #[error("{agent}: cannot run `run_cmd`: {error}")]
    Command {
        /// Whose server it is.
        agent: String,
        /// Why.
        error: io::Error,
    },
    /// Its command failed.
    #[error("{agent}: `run_cmd` ended with {status} before {url} answered{log}")]
    Ended {
        /// Whose server it is.
        agent: String,
        /// How it ended.
        status: ExitStatus,
        /// Where it was expected.
        url: String,
        /// Where its output is, as a clause.
        log: String,
    },
    /// It did not answer in time. It is left running.
    #[error("{agent}: {url} did not answer within {} s of `run_cmd`{log}; ask again once it does", START_TIMEOUT.as_secs())]
    Slow {
        /// Whose server it is.
        agent: String,
        /// Where it was expected.
        url: String,
        /// Where its output is, as a clause.
        log: String,
    },
}

/// The servers started here. Clones share them; dropping the last one ends them.
#[derive(Debug, Clone, Default)]
pub struct Servers(Arc<Mutex<Vec<(Launch, Leader)>>>);

impl Servers {
    /// Sees to it that a server answers. May be dropped at any time: a server under way goes on starting, and is not
    /// started again by the next call.
    ///
    /// # Errors
    /// What to tell the user.
    pub async fn ready(&self, clients: &HttpClients, launch: &Launch) -> Result<(), LaunchError> {
        if answers(clients, launch).await {
            return Ok(());
        }
        self.start(launch).map_err(|error| LaunchError::Command { agent: launch.agent.clone(), error })?;
        let until = Instant::now() + START_TIMEOUT;
        let mut beat = interval(PROBE_EVERY);
        while Instant::now() < until {
            beat.tick().await;
            if answers(clients, launch).await {
                return Ok(());
            }
            // A command that succeeded has left a server behind, or will be found out by the time.
            if let Some(status) = self.ended(launch).filter(|status| !status.success()) {
                let (agent, url) = (launch.agent.clone(), launch.url.clone());
                return Err(LaunchError::Ended { agent, status, url, log: launch.log_clause() });
            }
        }
        let (agent, url) = (launch.agent.clone(), launch.url.clone());
        Err(LaunchError::Slow { agent, url, log: launch.log_clause() })
    }

    /// Runs the command, unless it runs.
    fn start(&self, launch: &Launch) -> io::Result<()> {
        let mut servers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = servers.iter().position(|(known, _)| known == launch);
        if let Some(at) = at {
            if matches!(servers[at].1.child_mut().try_wait(), Ok(None)) {
                return Ok(());
            }
            servers.swap_remove(at);
        }
        let mut command = process::shell(&launch.command, &launch.cwd);
        if let Some(log) = &launch.log {
            let file = open_log(log)?;
            command.stdout(file.try_clone()?).stderr(file);
        }
        tracing::info!(agent = %launch.agent, "starting its model server");
        servers.push((launch.clone(), Leader::spawn(&mut command)?));
        Ok(())
    }

    /// How the command ended, once it has.
    fn ended(&self, launch: &Launch) -> Option<ExitStatus> {
        let mut servers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, leader) = servers.iter_mut().find(|(known, _)| known == launch)?;
        leader.child_mut().try_wait().ok()?
    }
}

impl Launch {
    fn log_clause(&self) -> String {
        self.log.as_ref().map_or_else(String::new, |log| format!("; its output is in {}", log.display()))
    }
}

/// Whether a server is there and has loaded its model, as far as it tells: `/health` is what llama.cpp, vLLM and their
/// like have; others merely answer.
async fn answers(clients: &HttpClients, launch: &Launch) -> bool {
    let ask = async {
        let base = Url::parse(&launch.url).ok()?;
        let client = clients.client(&base, &launch.tls, PROBE_TIMEOUT).await.ok()?;
        let health = format!("{}/health", launch.url.trim_end_matches('/'));
        let mut answer = client.get(health).send().await.ok()?;
        match answer.status() {
            StatusCode::OK => {
                // A word or two; whatever else comes is somebody else's page.
                let body = answer.chunk().await.ok().flatten();
                let body: Option<Value> = body.and_then(|body| serde_json::from_slice(&body).ok());
                Some(body.is_none_or(|body| body.get("status").is_none_or(|status| status == "ok")))
            }
            StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => {
                Some(client.request(Method::HEAD, base).send().await.is_ok())
            }
            StatusCode::SERVICE_UNAVAILABLE | StatusCode::BAD_GATEWAY => Some(false),
            _ => Some(true),
        }
    };
    timeout(PROBE_TIMEOUT, ask).await.ok().flatten().unwrap_or(false)
}

fn open_log(path: &std::path::Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(all(test, unix))]
mod tests {
    use std::net::TcpListener;

    use tempfile::TempDir;

    use super::*;

    /// A server in the shell's own means would need a tool that not every machine has; so the command only notes that it
    /// ran, and the server is in this process.
    fn launch(folder: &TempDir, url: String, command: &str) -> Launch {
        Launch {
            agent: "local".to_owned(),
            url,
            tls: TlsOptions::default(),
            command: command.to_owned(),
            cwd: folder.path().to_owned(),
            log: Some(folder.path().join("logs/local.log")),
        }
    }

    /// Nobody listens there.
    fn free_url() -> io::Result<String> {
        Ok(format!("http://{}", TcpListener::bind("127.0.0.1:0")?.local_addr()?))
    }

    #[tokio::test]
    async fn a_server_that_answers_is_not_started() {
        let mock = super::super::mock_openai::MockOpenAi::start().await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let launch = launch(&folder, mock.url().clone(), "touch started");
        Servers::default().ready(&HttpClients::default(), &launch).await.unwrap();
        assert!(!folder.path().join("started").exists());
    }

    #[tokio::test]
    async fn a_command_that_fails_is_told_with_where_its_output_is() {
        let folder = tempfile::tempdir().unwrap();
        let launch = launch(&folder, free_url().unwrap(), "echo no such model; exit 3");
        let error = Servers::default().ready(&HttpClients::default(), &launch).await.unwrap_err();
        let log = folder.path().join("logs/local.log");
        let expected = format!(
            "local: `run_cmd` ended with exit status: 3 before {} answered; its output is in {}",
            launch.url,
            log.display()
        );
        assert_eq!(error.to_string(), expected);
        assert_eq!(fs::read_to_string(log).unwrap(), "no such model\n");
    }

    #[tokio::test]
    async fn a_server_that_is_starting_is_waited_for_and_not_started_again() {
        let folder = tempfile::tempdir().unwrap();
        let (servers, clients) = (Servers::default(), HttpClients::default());
        let launch = launch(&folder, free_url().unwrap(), "echo started >> count; exec sleep 600");
        // Given up by whoever waited: it goes on.
        assert!(timeout(Duration::from_millis(300), servers.ready(&clients, &launch)).await.is_err());
        let address = launch.url.trim_start_matches("http://").to_owned();
        let listener = tokio::net::TcpListener::bind(address).await.unwrap();
        let serve = async {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let answer =
                    b"HTTP/1.1 200 OK\r\ncontent-length: 15\r\nconnection: close\r\n\r\n{\"status\":\"ok\"}";
                let mut request = [0; 1024];
                tokio::io::AsyncReadExt::read(&mut stream, &mut request).await.unwrap();
                tokio::io::AsyncWriteExt::write_all(&mut stream, answer).await.unwrap();
            }
        };
        tokio::select! {
            ready = servers.ready(&clients, &launch) => ready.unwrap(),
            () = serve => {}
        }
        assert_eq!(fs::read_to_string(folder.path().join("count")).unwrap(), "started\n");
    }
}
