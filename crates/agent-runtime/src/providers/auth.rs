//! Credentials for model APIs. A [`Secret`] prints as nothing, so that no log and no error can hold one.
//! Knows nothing of requests but the header a key becomes.

use std::fmt;
use std::path::Path;
use std::pin::pin;
use std::process::Stdio;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures::future;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;
use tokio::time::timeout;

use super::aws::{AwsAuth, AwsKeys};
use crate::process::{self, Leader};

/// How long a token command may run.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(30);

/// How long the output of a command that has ended is waited for.
const PIPE_PATIENCE: Duration = Duration::from_millis(200);

/// The most bytes read of a command's output; a token is far shorter.
const MAX_OUTPUT: u64 = 64 * 1024;

/// The most characters of a failed command's complaint that are passed on.
const MAX_COMPLAINT: usize = 200;

/// A value that must not be shown.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Secret(String);

impl Secret {
    /// Wraps a value; blanks and line ends around it (files have them) are no part of it.
    #[must_use]
    pub fn new(value: &str) -> Self {
        Self(value.trim().to_owned())
    }

    /// Whether there is nothing to keep.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value, for the one place that sends it.
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl From<&str> for Secret {
    fn from(value: &str) -> Self {
        Self::new(value)
    }
}

/// How an agent proves who it is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Auth {
    /// Not at all.
    #[default]
    None,
    /// With a key as bearer token; an empty one counts as none.
    Key(Secret),
    /// With what this shell command prints. Run once, and again when the server refuses the token.
    Command(String),
    /// By signatures, as Amazon has them.
    Aws(Box<AwsAuth>),
}

/// An agent's credentials with the token its command printed.
#[derive(Debug, Default)]
pub(super) struct Credentials {
    auth: Auth,
    cached: Mutex<Option<Secret>>,
    keys: Mutex<Keys>,
}

/// What is known of the keys that sign.
#[derive(Debug, Default)]
enum Keys {
    /// The configured ones are to be used.
    #[default]
    Configured,
    /// They were refused.
    Refused,
    /// A command printed these.
    Printed(AwsKeys),
}

impl Credentials {
    /// Nothing is run yet.
    pub(super) fn new(auth: Auth) -> Self {
        Self { auth, ..Self::default() }
    }

    /// The bearer token, if there is one.
    ///
    /// # Errors
    /// Why the command gave none, for the user.
    pub(super) async fn token(&self) -> Result<Option<Secret>, String> {
        let command = match &self.auth {
            Auth::None | Auth::Aws(_) => return Ok(None),
            Auth::Key(key) => return Ok(Some(key.clone()).filter(|key| !key.is_empty())),
            Auth::Command(command) => command,
        };
        if let Some(token) = self.cached().clone() {
            return Ok(Some(token));
        }
        let token = run("token_cmd", process::shell(command, Path::new("."))).await?;
        *self.cached() = Some(token.clone());
        Ok(Some(token))
    }

    /// The keys that sign, where something does.
    ///
    /// # Errors
    /// Why there are none, for the user.
    pub(super) async fn keys(&self) -> Result<Option<(&AwsAuth, AwsKeys)>, String> {
        let Auth::Aws(aws) = &self.auth else { return Ok(None) };
        let known = match &*self.known_keys() {
            Keys::Configured => aws.keys.clone(),
            Keys::Refused => None,
            Keys::Printed(keys) => Some(keys.clone()),
        };
        if let Some(keys) = known {
            return Ok(Some((aws, keys)));
        }
        let command = aws.refresh.as_deref().unwrap_or_default();
        let mut words = command.split_whitespace();
        let program = words.next().ok_or("there are no keys; set `aws_key_id` and `aws_secret`")?;
        let mut command = process::command(program, Path::new("."));
        command.args(words);
        let keys = AwsKeys::printed(run("aws_refresh_cmd", command).await?.reveal())?;
        *self.known_keys() = Keys::Printed(keys.clone());
        Ok(Some((aws, keys)))
    }

    /// Whether requests are signed.
    pub(super) fn signs(&self) -> bool {
        matches!(self.auth, Auth::Aws(_))
    }

    /// Forgets a token or keys that the server refused; whether others can be had.
    pub(super) fn forget(&self) -> bool {
        if let Auth::Aws(aws) = &self.auth {
            if aws.refresh.is_some() {
                *self.known_keys() = Keys::Refused;
            }
            return aws.refresh.is_some();
        }
        self.cached().take().is_some()
    }

    fn known_keys(&self) -> std::sync::MutexGuard<'_, Keys> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cached(&self) -> std::sync::MutexGuard<'_, Option<Secret>> {
        self.cached.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the command of the setting `key` prints.
async fn run(key: &str, mut command: Command) -> Result<Secret, String> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut leader =
        Leader::spawn(&mut command).map_err(|cause| format!("`{key}` cannot be run: {cause}"))?;
    let (stdout, stderr) = (leader.child_mut().stdout.take(), leader.child_mut().stderr.take());
    let (mut printed, mut complaint) = (Vec::new(), Vec::new());
    let ended = {
        let reading = future::join(read(stdout, &mut printed), read(stderr, &mut complaint));
        let mut reading = pin!(reading);
        let ending = async {
            tokio::select! {
                _ = &mut reading => leader.wait().await,
                // A background process may keep the pipes; what was printed by now is all there is.
                status = leader.wait() => {
                    drop(timeout(PIPE_PATIENCE, &mut reading).await);
                    status
                }
            }
        };
        timeout(COMMAND_TIMEOUT, ending).await
    };
    let status = match ended {
        Err(_) => return Err(format!("`{key}` took more than {} s", COMMAND_TIMEOUT.as_secs())),
        Ok(status) => status.map_err(|cause| format!("`{key}` was lost: {cause}"))?,
    };
    if !status.success() {
        let complaint: String =
            String::from_utf8_lossy(&complaint).trim().chars().take(MAX_COMPLAINT).collect();
        return Err(format!("`{key}` failed ({status}): {complaint}"));
    }
    let token = Secret::new(&String::from_utf8_lossy(&printed));
    if token.is_empty() { Err(format!("`{key}` printed nothing")) } else { Ok(token) }
}

async fn read(pipe: Option<impl AsyncRead + Unpin>, into: &mut Vec<u8>) {
    if let Some(pipe) = pipe {
        // What could be read before an error is what there is.
        drop(pipe.take(MAX_OUTPUT).read_to_end(into).await);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_do_not_print_and_lose_their_line_end() {
        let secret = Secret::new(" sk-1234\n");
        assert_eq!(secret.reveal(), "sk-1234");
        assert!(!format!("{:?}", Auth::Key(secret)).contains("1234"));
    }

    #[tokio::test]
    async fn an_empty_key_is_none() {
        let credentials = Credentials::new(Auth::Key("  ".into()));
        assert_eq!(credentials.token().await, Ok(None));
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_command_runs_once_until_its_token_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let count = dir.path().join("n");
        let command = format!("echo x >> {0}; wc -l < {0}", count.display());
        let credentials = Credentials::new(Auth::Command(command));
        for expected in ["1", "1"] {
            assert_eq!(credentials.token().await.unwrap().unwrap().reveal(), expected);
        }
        assert!(credentials.forget());
        assert_eq!(credentials.token().await.unwrap().unwrap().reveal(), "2");
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_failing_command_says_why() {
        let failure = Credentials::new(Auth::Command("echo not signed in >&2; exit 3".to_owned()));
        let error = failure.token().await.unwrap_err();
        assert!(error.contains("not signed in") && error.contains('3'), "{error}");
        let held = Credentials::new(Auth::Command("sleep 60 & echo token".to_owned()));
        assert_eq!(held.token().await.unwrap().unwrap().reveal(), "token");
        let silent = Credentials::new(Auth::Command("true".to_owned()));
        assert!(silent.token().await.unwrap_err().contains("printed nothing"));
    }
}
