//! `agent_<name>`: another agent does a piece of work in a turn of its own, which knows nothing but the request. What it
//! asks is asked in the turn of whoever called it; its answer is the call's result.
//!
//! Knows neither which agents there are nor what runs them.

mod relay;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use session_model::{Content, GrantScope, ToolKind};

use self::relay::Relay;
use super::support::{spec, title};
use super::{
    Approval, ApprovalAsk, Args, CallPlan, Timing, Tool, ToolCx, ToolOutput, ToolSpec, Workspace, text,
};
use crate::calls::RunningCalls;
use crate::driver::{TurnDriver, TurnInput};
use crate::io::TurnIo;

/// What the names of these tools begin with.
pub const PREFIX: &str = "agent_";

/// How many characters a tool's name may have; some model servers take no more.
const NAME_CHARS: usize = 64;

/// How much of a request the user is shown with the question for leave, in bytes.
const SHOWN_REQUEST: usize = 4 * 1024;

/// How long an agent may take to stop: programs are asked before they are killed. Less than a turn's own grace.
const STOP_GRACE: Duration = Duration::from_millis(1_800);

/// The name of the tool that asks `agent`: in lower case, every run of anything but letters and digits (of ASCII, as
/// model servers want it) an underscore.
#[must_use]
pub fn tool_name(agent: &str) -> String {
    let mut name = PREFIX.to_owned();
    let mut in_run = false;
    for c in agent.trim().chars() {
        if name.len() == NAME_CHARS {
            break;
        }
        if c.is_ascii_alphanumeric() {
            name.push(c.to_ascii_lowercase());
        } else if !in_run {
            name.push('_');
        }
        in_run = !c.is_ascii_alphanumeric();
    }
    name
}

/// The tool.
pub struct Peer {
    spec: ToolSpec,
    agent: String,
    driver: Arc<dyn TurnDriver>,
}

impl std::fmt::Debug for Peer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Peer").field("agent", &self.agent).finish_non_exhaustive()
    }
}

impl Peer {
    /// Asks `agent`, whose turns `driver` runs. `about` says what it is good for, in the user's words; it may be empty.
    #[must_use]
    pub fn new(agent: &str, about: &str, driver: Arc<dyn TurnDriver>) -> Self {
        let about = about.trim();
        let gap = if about.is_empty() { "" } else { "\n\n" };
        let description = format!(
            "{about}{gap}Has the agent `{agent}` work on a request in this folder, and gives its answer. It knows \
             nothing of this conversation: put everything it needs into the request."
        );
        let parameters = json!({
            "type": "object",
            "properties": {
                "request": {"type": "string", "description": "The whole task, with all it has to know."}
            },
            "required": ["request"]
        });
        let spec = spec(&tool_name(agent), ToolKind::Other, false, &description, parameters);
        Self { spec, agent: agent.to_owned(), driver }
    }
}

fn request(args: &Map<String, Value>) -> Result<String, String> {
    let request = Args::new(args).string("request")?;
    if request.trim().is_empty() {
        return Err("`request` is empty: say what is to be done".to_owned());
    }
    Ok(request)
}

#[async_trait]
impl Tool for Peer {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// It has limits of its own.
    fn timing(&self) -> Timing {
        Timing::Own { grace: STOP_GRACE }
    }

    async fn plan(&self, args: &Map<String, Value>, _workspace: &Workspace) -> Result<CallPlan, String> {
        let request = request(args)?;
        let description = text::head(&request, SHOWN_REQUEST).to_owned();
        Ok(CallPlan {
            title: title(&self.spec.schema.name, &request),
            locations: Vec::new(),
            approval: Approval::Ask(ApprovalAsk { description, scopes: vec![GrantScope::Tool] }),
            preview: Vec::new(),
        })
    }

    async fn run(&self, args: Map<String, Value>, cx: ToolCx) -> ToolOutput {
        let request = match request(&args) {
            Ok(request) => request,
            Err(error) => return ToolOutput::failed(error),
        };
        let (Some(outer), Some((session, turn))) = (&cx.io, &cx.turn) else {
            return ToolOutput::failed("there is no turn in which another agent could work");
        };
        let input = TurnInput {
            session: session.clone(),
            turn: turn.clone(),
            prompt: vec![Content::text(request.clone())],
            cwd: cx.workspace.cwd.clone(),
            additional_roots: cx.workspace.additional_roots.clone(),
            history: Arc::new([]),
            permissions: cx.permissions.clone(),
            show_thoughts: false,
            handover: None,
            effort: None,
            host: cx.workspace.host.features(),
            // Its calls have no rows by which a client could end one of them.
            calls: RunningCalls::default(),
        };
        let (io, signals) = TurnIo::acknowledged(cx.cancel.clone());
        let row_title = title(&self.spec.schema.name, &request);
        let mut relay = Relay::new(&self.agent, cx.call.clone(), row_title, outer);
        let (ended, _told) = tokio::join!(self.driver.drive(input, io), relay.run(signals));
        relay.output(ended)
    }
}
