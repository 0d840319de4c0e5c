//! Which agent answers a session's turns. The server asks; the configuration (or a test) decides.
//!
//! Knows nothing of the protocol.

mod briefing;
mod fixed;
pub(crate) mod routed;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent_runtime::driver::TurnDriver;
use agent_runtime::handover::{BRICK_CHARS, HandoverSlot};
use agent_runtime::redact::Redactor;
use agent_runtime::rules::Rules as CallRules;
use async_trait::async_trait;
use router::{Classifier, Rules, Target};
use session_model::{Choice, Route, Spent, TurnFailure};

use crate::command::Ack;

pub use self::fixed::FixedDriver;

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

    /// The driver of the next turn, or of the rest of one. May probe servers; is dropped when the turn is cancelled.
    ///
    /// # Errors
    /// A sentence for the user when no agent can be made from the configuration.
    async fn driver(&self, wanted: Wanted<'_>) -> Result<Driver, TurnFailure>;

    /// Who is asked which agent a prompt is for, where the rules do not say. Asked only where the rules want it.
    async fn classifier(&self, model: Option<&str>) -> Option<Arc<dyn Judge>>;

    /// What hides secrets in what leaves the session; `None` where that is turned off.
    fn redactor(&self) -> Option<Arc<Redactor>>;
}

/// A classifier that says what it took.
pub trait Judge: Classifier {
    /// What its requests took so far, where the server said.
    fn spent(&self) -> Option<Spent>;
}

/// Which driver is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted<'a> {
    /// In which role.
    pub target: Target,
    /// The user's choice of the primary agent.
    pub model: Option<&'a str>,
    /// Whether it may hand the turn over.
    pub may_hand_over: bool,
}

impl Wanted<'_> {
    /// The usual primary agent, with nobody to hand over to.
    pub const PRIMARY: Self = Self { target: Target::Primary, model: None, may_hand_over: false };
}

/// Who answers a turn.
#[derive(Clone)]
pub struct Driver {
    /// What runs it.
    pub driver: Arc<dyn TurnDriver>,
    /// Who that is, and why.
    pub route: Route,
    /// Where it asks to be relieved, if it does.
    pub slot: HandoverSlot,
}

/// A second agent, and when it answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Routing {
    /// Which prompts go to it.
    pub rules: Rules,
    /// Whether what follows a turn that the rules sent there goes there too.
    pub sticky: bool,
    /// What the primary agent is called.
    pub primary: String,
    /// What the other one is called.
    pub escalation: String,
    /// What `~` in a prompt stands for.
    pub home: Option<PathBuf>,
    /// How much an agent is told of what the other one did, in characters.
    pub brick_chars: usize,
    /// After so many answers of the primary the escalation agent begins anew.
    pub fresh_after: usize,
}

impl Routing {
    /// A pair of these names with the usual rules.
    #[must_use]
    pub fn new(primary: impl Into<String>, escalation: impl Into<String>) -> Self {
        Self {
            rules: Rules::default(),
            sticky: true,
            primary: primary.into(),
            escalation: escalation.into(),
            home: None,
            brick_chars: BRICK_CHARS,
            fresh_after: FRESH_AFTER,
        }
    }

    /// The name of the agent in this role.
    #[must_use]
    pub fn name(&self, target: Target) -> &str {
        match target {
            Target::Primary => &self.primary,
            Target::Escalation => &self.escalation,
        }
    }
}

/// After so many answers of the primary the escalation agent begins anew, unless the configuration says otherwise.
pub const FRESH_AFTER: usize = 8;

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
    pub rules: CallRules,
    /// The agents one can choose from; empty when there is no choice.
    pub models: Vec<Choice>,
    /// The one that answers unless the user chooses.
    pub model: Option<String>,
    /// The second agent, where there is one.
    pub routing: Option<Routing>,
    /// The agents whose models are known to think, so that one can say how hard.
    pub thinkers: Vec<String>,
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
            rules: CallRules::default(),
            models: Vec::new(),
            model: None,
            routing: None,
            thinkers: Vec::new(),
            warnings: Vec::new(),
        }
    }
}
