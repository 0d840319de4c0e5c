//! `escalate`: the agent has another one go on with the turn. Who that is, and whether it can, is not known here.

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use session_model::ToolKind;

use super::support::{spec, title};
use super::{Approval, Args, CallPlan, Tool, ToolCx, ToolOutput, ToolSpec, Workspace};
use crate::handover::HandoverSlot;

/// The tool's name; a call of it in a history is where one agent's part of a turn ends.
pub const ESCALATE: &str = "escalate";

/// The tool.
#[derive(Debug)]
pub struct Escalate {
    spec: ToolSpec,
    slot: HandoverSlot,
}

impl Escalate {
    /// Leaves the wish in `slot`.
    #[must_use]
    pub fn new(slot: HandoverSlot) -> Self {
        let spec = spec(
            ESCALATE,
            ToolKind::SwitchMode,
            false,
            "Hands this turn over to a stronger agent, which sees the whole conversation and answers the user in your \
             place. Your part of the turn ends with this call. Use it for design, wide refactoring, or when you are \
             stuck; not for what you can do yourself.",
            json!({
                "type": "object",
                "properties": {
                    "reason": {"type": "string", "description": "Why, and what the other agent should know, in a sentence or two."}
                },
                "required": ["reason"]
            }),
        );
        Self { spec, slot }
    }
}

fn reason(args: &Map<String, Value>) -> Result<String, String> {
    let reason = Args::new(args).string("reason")?.trim().to_owned();
    if reason.is_empty() { Err("`reason` is empty: say why".to_owned()) } else { Ok(reason) }
}

#[async_trait]
impl Tool for Escalate {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn plan(&self, args: &Map<String, Value>, _workspace: &Workspace) -> Result<CallPlan, String> {
        Ok(CallPlan {
            title: title(ESCALATE, &reason(args)?),
            locations: Vec::new(),
            approval: Approval::Free,
            preview: Vec::new(),
        })
    }

    async fn run(&self, args: Map<String, Value>, _cx: ToolCx) -> ToolOutput {
        match reason(&args) {
            Ok(reason) => {
                self.slot.ask(reason);
                ToolOutput { ends_turn: true, ..ToolOutput::ok("handed over") }
            }
            Err(error) => ToolOutput::failed(error),
        }
    }
}
