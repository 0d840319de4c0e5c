//! The row of something that is done for a program, where the user was asked about it.

use serde_json::json;
use session_model::source::IdKind;
use session_model::{Content, Event, ToolCallId, ToolCallUpdate, ToolContent, ToolStatus};

use super::Servant;
use crate::io::{Interrupted, TurnIo};
use crate::tools::{CallPlan, ToolOutput, ToolSpec};

/// A row that was told.
#[derive(Debug, Clone)]
pub(super) struct Row {
    told: ToolCallUpdate,
    io: TurnIo,
}

impl Row {
    /// Tells a new row.
    pub(super) async fn announce(
        servant: &Servant,
        spec: &ToolSpec,
        plan: &CallPlan,
    ) -> Result<Self, Interrupted> {
        let mut row = ToolCallUpdate::new(ToolCallId::from(servant.0.ids.fresh(IdKind::ToolCall)));
        row.name = Some(spec.schema.name.clone());
        row.kind = Some(spec.kind);
        row.title = Some(plan.title.clone());
        row.status = Some(ToolStatus::Pending);
        row.locations = Some(plan.locations.clone()).filter(|places| !places.is_empty());
        row.content = Some(plan.preview.clone()).filter(|shown| !shown.is_empty());
        let io = servant.0.io.clone();
        io.emit(Event::ToolCall(row.clone())).await?;
        Ok(Self { told: row, io })
    }

    pub(super) fn told(&self) -> &ToolCallUpdate {
        &self.told
    }

    pub(super) fn id(&self) -> &ToolCallId {
        &self.told.id
    }

    pub(super) async fn started(&self) -> Result<(), Interrupted> {
        self.tell(ToolStatus::InProgress, None, Vec::new()).await
    }

    pub(super) async fn failed(&self, error: &str) -> Result<(), Interrupted> {
        self.tell(ToolStatus::Failed, Some(json!({ "error": error })), vec![text(error)]).await
    }

    /// It has come to this end.
    pub(super) async fn ended(&self, output: &ToolOutput) -> Result<(), Interrupted> {
        let status = if output.error.is_some() { ToolStatus::Failed } else { ToolStatus::Completed };
        let mut content = output.content.clone();
        if content.is_empty() {
            content.extend(output.error.as_deref().map(text));
        }
        self.tell(status, Some(output.to_value()), content).await
    }

    async fn tell(
        &self,
        status: ToolStatus,
        output: Option<serde_json::Value>,
        content: Vec<ToolContent>,
    ) -> Result<(), Interrupted> {
        let mut update = ToolCallUpdate::new(self.told.id.clone());
        update.status = Some(status);
        update.raw_output = output;
        update.content = Some(content).filter(|shown| !shown.is_empty());
        self.io.emit(Event::ToolCall(update)).await
    }
}

fn text(text: &str) -> ToolContent {
    ToolContent::Content(Content::text(text))
}
