//! Which agent answers a session's turns. The server asks; the configuration (or a test) decides.
//!
//! Knows nothing of the protocol.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use agent_runtime::driver::TurnDriver;
use agent_runtime::rules::Rules;
use async_trait::async_trait;
use session_model::{AgentId, Choice, Route, TurnFailure};

use crate::command::Ack;

/// Chooses drivers.
pub trait Drivers: fmt::Debug + Send + Sync + 'static {
    /// When `session/prompt` is answered unless the client says otherwise. Asked once, at `initialize`.
    fn default_ack(&self) -> Ack;

    /// The drivers of one session in this folder. Dropping them ends whatever they left running.
    fn open(&self, cwd: &Path) -> Arc<dyn SessionDrivers>;
}

/// Chooses one session's drivers.
#[async_trait]
pub trait SessionDrivers: fmt::Debug + Send + Sync + 'static {
    /// The session's settings, read anew. Quick: a file or two, no network.
    fn settings(&self) -> SessionSettings;

    /// The driver of the next turn. May probe servers; is dropped when the turn is cancelled.
    ///
    /// # Errors
    /// A sentence for the user when no agent can be made from the configuration.
    async fn driver(&self, model: Option<&str>) -> Result<Driver, TurnFailure>;
}

/// Who answers a turn.
#[derive(Clone)]
pub struct Driver {
    /// What runs it.
    pub driver: Arc<dyn TurnDriver>,
    /// Who that is, and why.
    pub route: Route,
}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driver").field("route", &self.route).finish_non_exhaustive()
    }
}

/// A session's settings as the configuration has them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is one key of the configuration")]
pub struct SessionSettings {
    /// Whether `session/new` adopts the folder's last session.
    pub resume: bool,
    /// Whether reasoning is shown.
    pub show_thoughts: bool,
    /// Whether nothing is asked.
    pub skip_permissions: bool,
    /// Whether text is sent by segment instead of by token.
    pub by_segment: bool,
    /// Commands `bash` may run unasked.
    pub bash_patterns: Vec<String>,
    /// What the configuration denies, has asked and allows.
    pub rules: Rules,
    /// The agents one can choose from; empty when there is no choice.
    pub models: Vec<Choice>,
    /// The one that answers unless the user chooses.
    pub model: Option<String>,
    /// What is wrong with the configuration; shown once.
    pub warnings: Vec<String>,
}

impl Default for SessionSettings {
    fn default() -> Self {
        Self {
            resume: true,
            show_thoughts: true,
            skip_permissions: false,
            by_segment: false,
            bash_patterns: Vec::new(),
            rules: Rules::default(),
            models: Vec::new(),
            model: None,
            warnings: Vec::new(),
        }
    }
}

/// Always the same driver, for tests and for embedders with one agent.
#[derive(Debug, Clone)]
pub struct FixedDriver {
    driver: Driver,
    settings: SessionSettings,
    ack: Ack,
}

impl FixedDriver {
    /// Answers every turn with `driver`, under the name `agent`.
    #[must_use]
    pub fn new(agent: &str, driver: Arc<dyn TurnDriver>) -> Self {
        let route = Route {
            agent: AgentId::new(agent),
            target: "primary".to_owned(),
            reason: "the only agent".to_owned(),
        };
        Self { driver: Driver { driver, route }, settings: SessionSettings::default(), ack: Ack::TurnEnd }
    }

    /// With these settings for every session.
    #[must_use]
    pub fn with_settings(mut self, settings: SessionSettings) -> Self {
        self.settings = settings;
        self
    }
}

impl Drivers for FixedDriver {
    fn default_ack(&self) -> Ack {
        self.ack
    }

    fn open(&self, _cwd: &Path) -> Arc<dyn SessionDrivers> {
        Arc::new(self.clone())
    }
}

#[async_trait]
impl SessionDrivers for FixedDriver {
    fn settings(&self) -> SessionSettings {
        self.settings.clone()
    }

    async fn driver(&self, _model: Option<&str>) -> Result<Driver, TurnFailure> {
        Ok(self.driver.clone())
    }
}
