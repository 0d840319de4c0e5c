//! `get_session_context` and `get_context_stats`: what was before in this conversation, also what the model's window
//! has no room for.

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use session_model::ToolKind;

use super::support::spec;
use super::{Approval, Args, CallPlan, Tool, ToolCx, ToolOutput, ToolSpec, Workspace};
use crate::context::look_back::{self, Wanted};

const CONTEXT: &str = "get_session_context";
const STATS: &str = "get_context_stats";

/// How many turns are told whole where nothing else is asked for.
const LAST: u64 = 10;

/// Tells earlier turns.
#[derive(Debug)]
pub(crate) struct GetSessionContext(ToolSpec);

/// Counts them.
#[derive(Debug)]
pub(crate) struct GetContextStats(ToolSpec);

impl GetSessionContext {
    pub(crate) fn new() -> Self {
        Self(spec(
            CONTEXT,
            ToolKind::Other,
            true,
            "Shows earlier turns of this conversation, also those you no longer see: the newest whole, the others in a \
             line each. Turns are numbered from 1, the oldest.",
            json!({
                "type": "object",
                "properties": {
                    "last_n": {"type": "integer", "description": "How many of the newest to show whole. Default: 10."},
                    "pattern": {"type": "string", "description": "Only turns with this text in them, in any case."},
                    "agent": {"type": "string", "enum": ["primary", "escalation"], "description": "Only turns that this agent answered."},
                    "turn_from": {"type": "integer", "description": "The first turn to show; of a range at most 5 are shown whole."},
                    "turn_to": {"type": "integer", "description": "The last turn to show."}
                },
                "required": []
            }),
        ))
    }
}

impl GetContextStats {
    pub(crate) fn new() -> Self {
        Self(spec(
            STATS,
            ToolKind::Other,
            true,
            "Counts the earlier turns of this conversation, the tool calls in them and their characters.",
            json!({"type": "object", "properties": {}, "required": []}),
        ))
    }
}

fn wanted(args: &Map<String, Value>) -> Result<Wanted, String> {
    let args = Args::new(args);
    let number =
        |name| Ok::<_, String>(args.optional_count(name)?.map(|n| usize::try_from(n).unwrap_or(usize::MAX)));
    let word = |name| Ok::<_, String>(args.optional_string(name)?.filter(|text| !text.trim().is_empty()));
    let range = match (number("turn_from")?, number("turn_to")?) {
        (None, None) => None,
        (from, to) => Some((from.unwrap_or(1), to.unwrap_or(usize::MAX))),
    };
    let last = args.optional_count("last_n")?.unwrap_or(LAST);
    Ok(Wanted {
        last: usize::try_from(last).unwrap_or(usize::MAX),
        pattern: word("pattern")?,
        agent: word("agent")?,
        range,
    })
}

fn plan(name: &str) -> CallPlan {
    CallPlan { title: name.to_owned(), locations: Vec::new(), approval: Approval::Free, preview: Vec::new() }
}

#[async_trait]
impl Tool for GetSessionContext {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn plan(&self, args: &Map<String, Value>, _workspace: &Workspace) -> Result<CallPlan, String> {
        wanted(args).map(|_| plan(CONTEXT))
    }

    async fn run(&self, args: Map<String, Value>, cx: ToolCx) -> ToolOutput {
        match wanted(&args) {
            Ok(wanted) => ToolOutput::ok(look_back::told(cx.history(), &wanted)),
            Err(error) => ToolOutput::failed(error),
        }
    }
}

#[async_trait]
impl Tool for GetContextStats {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn plan(&self, _args: &Map<String, Value>, _workspace: &Workspace) -> Result<CallPlan, String> {
        Ok(plan(STATS))
    }

    async fn run(&self, _args: Map<String, Value>, cx: ToolCx) -> ToolOutput {
        ToolOutput::ok(look_back::counted(cx.history()))
    }
}
