//! What a program that is an agent of ours has us do in its place: read and write text files, run commands. All of it goes
//! through the checks of our own tools, and through the client's files and terminals where it offers its own. Leave that was
//! given for the program's call is not asked for again.
//!
//! Knows no protocol, and nothing of who the program is.

mod command;
mod files;
mod row;
mod running;
mod tail;
mod terminals;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use session_model::source::Ids;
use session_model::{Ask, Grant, ToolCallId};
use tokio_util::sync::CancellationToken;

use crate::driver::{Permissions, TurnInput};
use crate::gate::{self, Denial, Ruling, Verdict};
use crate::host::Host;
use crate::io::{Interrupted, TurnIo};
use crate::rules::Subject;
use crate::tools::support::blocking;
use crate::tools::{CallPlan, Tool, ToolCx, Workspace};
use crate::waits::Stopwatch;

pub use command::NewCommand;
pub use files::Excerpt;
use row::Row;
pub use tail::Output;
pub use terminals::{Shown, Terminals};

/// Why something was not done. The texts are for the program and its model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// What was asked makes no sense.
    #[error("{0}")]
    Invalid(String),
    /// There is no such file or terminal.
    #[error("{0}")]
    NotFound(String),
    /// It may not be done.
    #[error("{0}")]
    Denied(Denial),
    /// It could not be done.
    #[error("{0}")]
    Failed(String),
    /// The turn was cancelled.
    #[error("the turn was cancelled")]
    Interrupted,
}

impl From<Interrupted> for Refusal {
    fn from(_: Interrupted) -> Self {
        Self::Interrupted
    }
}

/// What may be done in one turn, and where. Clones share it.
#[derive(Debug, Clone)]
pub struct Servant(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    workspace: Workspace,
    permissions: Permissions,
    /// What "always" gave in this turn.
    grants: Mutex<Vec<Grant>>,
    input: TurnInput,
    io: TurnIo,
    ids: Arc<dyn Ids>,
    watch: Stopwatch,
}

impl Servant {
    /// Serves in the turn of `input`. `watch` stands still while the user is asked.
    #[must_use]
    pub fn new(input: &TurnInput, io: &TurnIo, ids: Arc<dyn Ids>, watch: Stopwatch) -> Self {
        let host = Host::client(input.host, io.clone());
        let (cwd, additional_roots) = (input.cwd.clone(), input.additional_roots.clone());
        Self(Arc::new(Shared {
            workspace: Workspace { cwd, additional_roots, host },
            permissions: input.permissions.clone(),
            grants: Mutex::default(),
            // The rest of the turn is not needed.
            input: TurnInput { history: Arc::new([]), prompt: Vec::new(), ..input.clone() },
            io: io.clone(),
            ids,
            watch,
        }))
    }

    /// Where it works.
    #[must_use]
    pub fn workspace(&self) -> &Workspace {
        &self.0.workspace
    }

    /// What may be done unasked by now.
    #[must_use]
    pub fn permissions(&self) -> Permissions {
        let mut permissions = self.0.permissions.clone();
        permissions.grants.extend(self.grants().iter().cloned());
        permissions
    }

    /// Minds what "always" gave, and has it kept.
    ///
    /// # Errors
    /// [`Interrupted`] once the turn is cancelled.
    pub async fn grant(&self, grants: impl IntoIterator<Item = Grant> + Send) -> Result<(), Interrupted> {
        let known = self.permissions().grants;
        let new: Vec<Grant> = grants.into_iter().filter(|grant| !known.contains(grant)).collect();
        self.grants().extend(new.iter().cloned());
        for grant in new {
            self.0.io.granted(grant).await?;
        }
        Ok(())
    }

    fn grants(&self) -> MutexGuard<'_, Vec<Grant>> {
        self.0.grants.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Settles whether a call of `tool` may run, which `plan` describes. When the user was asked there is a row for it.
    async fn settle(
        &self,
        tool: &Arc<dyn Tool>,
        args: &serde_json::Map<String, serde_json::Value>,
        (plan, workspace): (&CallPlan, &Workspace),
        given: bool,
    ) -> Result<Option<Row>, Refusal> {
        let subject = {
            let (tool, args) = (Arc::clone(tool), args.clone());
            let (plan, workspace) = (plan.clone(), workspace.clone());
            let look = move || Ok(Subject::look(&*tool, &args, &plan, &workspace));
            blocking(look).await.map_err(Refusal::Failed)?
        };
        let permissions = self.permissions();
        let ask = match gate::decide(&subject, &plan.approval, &permissions) {
            Verdict::Allowed => return Ok(None),
            Verdict::Denied(denial) => return Err(Refusal::Denied(denial)),
            Verdict::Ask(_) if given => return Ok(None),
            Verdict::Ask(ask) => ask.into_owned(),
        };
        let name = &tool.spec().schema.name;
        let row = Row::announce(self, tool.spec(), plan).await?;
        let question = gate::question(name, row.told(), &ask);
        let answer = {
            let _pause = self.0.watch.pause();
            self.0.io.ask(Ask::Permission(Box::new(question.clone()))).await?
        };
        match gate::ruling(&question, &answer) {
            Ruling::Once => {}
            Ruling::Always => self.grant(gate::grants(name, &ask).collect::<Vec<_>>()).await?,
            Ruling::Denied(denial) => {
                row.failed(&denial.to_string()).await?;
                return Err(Refusal::Denied(denial));
            }
        }
        row.started().await?;
        Ok(Some(row))
    }

    /// What a call in this turn may use.
    fn context(&self, call: ToolCallId, workspace: Workspace, cancel: CancellationToken) -> ToolCx {
        let TurnInput { session, turn, .. } = &self.0.input;
        ToolCx::new(workspace, call, cancel, Some(self.0.io.clone())).in_turn(
            session.clone(),
            turn.clone(),
            self.permissions(),
        )
    }
}
