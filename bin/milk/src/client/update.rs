//! What an update says, in either version's words. Anything else in it is none of a terminal's business.

use serde_json::Value;

/// What an update says.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Update {
    /// More of a message of the agent.
    Text { id: Option<String>, text: String },
    /// A whole message of the agent; replaces what its id said.
    Message { id: Option<String>, text: String },
    /// More of the reasoning.
    Thought(String),
    /// A tool row appears or changes.
    Tool(RowChange),
    /// The plan, whole: a mark and a text for each step.
    Plan(Vec<(String, String)>),
    /// A remark.
    Notice { severity: String, title: String },
    /// The turn has ended (version 2).
    Idle { stop: Option<String>, error: Option<String> },
    /// Nothing that is shown.
    Nothing,
}

/// What is new about a tool row.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct RowChange {
    pub(super) id: String,
    pub(super) title: Option<String>,
    pub(super) status: Option<String>,
    /// The changes to files it shows, as patches; replaces.
    pub(super) patches: Option<Vec<Patch>>,
    /// Why it failed, where it says so.
    pub(super) error: Option<String>,
}

/// One change to a file.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Patch {
    /// As a patch (version 2).
    Text(String),
    /// As two texts (version 1).
    Sides { path: String, before: Option<String>, after: String },
}

impl Update {
    /// Reads a `session/update`'s `update`.
    pub(super) fn read(update: &Value) -> Self {
        let text_of = |name: &str| update.get(name).and_then(Value::as_str).map(str::to_owned);
        match text_of("sessionUpdate").as_deref() {
            Some("agent_message_chunk") => {
                Self::Text { id: text_of("messageId"), text: block_text(&update["content"]) }
            }
            Some("agent_thought_chunk") => Self::Thought(block_text(&update["content"])),
            Some("agent_message") => Self::Message {
                id: text_of("messageId"),
                text: update["content"].as_array().into_iter().flatten().map(block_text).collect(),
            },
            Some("tool_call" | "tool_call_update") => row(update).map_or(Self::Nothing, Self::Tool),
            Some("plan") => Self::Plan(steps(&update["entries"])),
            Some("plan_update") => Self::Plan(steps(&update["plan"]["entries"])),
            Some("notice") => Self::Notice {
                severity: text_of("severity").unwrap_or_default(),
                title: text_of("title").unwrap_or_default(),
            },
            Some("compaction_update") if text_of("status").as_deref() == Some("completed") => Self::Notice {
                severity: "info".to_owned(),
                title: "Earlier turns were summarised to make room.".to_owned(),
            },
            Some("state_update") if text_of("state").as_deref() == Some("idle") => Self::Idle {
                stop: text_of("stopReason"),
                error: update["error"]["message"].as_str().map(str::to_owned),
            },
            Some(_) | None => Self::Nothing,
        }
    }
}

/// Reads a tool row, as it stands in an update or in a permission request.
pub(super) fn row(call: &Value) -> Option<RowChange> {
    let text_of = |name: &str| call.get(name).and_then(Value::as_str).map(str::to_owned);
    let content = call.get("content").and_then(Value::as_array);
    let failed = content.into_iter().flatten().find_map(|item| item["content"]["text"].as_str());
    let error = call["rawOutput"]["error"].as_str().or(failed);
    Some(RowChange {
        id: text_of("toolCallId")?,
        title: text_of("title").or_else(|| text_of("name")).filter(|title| !title.trim().is_empty()),
        status: text_of("status"),
        patches: content.map(|items| items.iter().filter_map(patch).collect()),
        error: error.map(str::to_owned),
    })
}

fn patch(item: &Value) -> Option<Patch> {
    if item["type"].as_str() != Some("diff") {
        return None;
    }
    if let Some(text) = item["patch"]["text"].as_str() {
        return Some(Patch::Text(text.to_owned()));
    }
    Some(Patch::Sides {
        path: item["path"].as_str()?.to_owned(),
        before: item["oldText"].as_str().map(str::to_owned),
        after: item["newText"].as_str()?.to_owned(),
    })
}

fn block_text(block: &Value) -> String {
    match block["type"].as_str() {
        Some("text") => block["text"].as_str().unwrap_or_default().to_owned(),
        Some("resource_link") => block["uri"].as_str().unwrap_or_default().to_owned(),
        Some(other) => format!("[{other}]"),
        None => String::new(),
    }
}

fn steps(entries: &Value) -> Vec<(String, String)> {
    let text = |entry: &Value, name: &str| entry[name].as_str().unwrap_or_default().to_owned();
    entries.as_array().into_iter().flatten().map(|e| (text(e, "status"), text(e, "content"))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_versions_say_the_same() {
        let table = [
            (
                json!({"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": {"type": "text", "text": "hi"}}),
                Update::Text { id: Some("m".into()), text: "hi".into() },
            ),
            (
                json!({"sessionUpdate": "agent_message", "messageId": "m", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}),
                Update::Message { id: Some("m".into()), text: "ab".into() },
            ),
            (
                json!({"sessionUpdate": "state_update", "state": "idle", "stopReason": "error", "error": {"message": "no"}}),
                Update::Idle { stop: Some("error".into()), error: Some("no".into()) },
            ),
            (json!({"sessionUpdate": "state_update", "state": "running"}), Update::Nothing),
            (
                json!({"sessionUpdate": "compaction_update", "compactionId": "c", "status": "in_progress"}),
                Update::Nothing,
            ),
            (
                json!({"sessionUpdate": "compaction_update", "compactionId": "c", "status": "completed", "summary": []}),
                Update::Notice {
                    severity: "info".into(),
                    title: "Earlier turns were summarised to make room.".into(),
                },
            ),
            (
                json!({"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "q"}}),
                Update::Nothing,
            ),
            (
                json!({"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": "p", "entries": [
                    {"content": "do", "status": "pending", "priority": "low"}]}}),
                Update::Plan(vec![("pending".into(), "do".into())]),
            ),
            (json!({"sessionUpdate": "from_the_future", "x": 1}), Update::Nothing),
            (json!([]), Update::Nothing),
        ];
        for (update, expected) in table {
            assert_eq!(Update::read(&update), expected, "{update}");
        }
    }

    #[test]
    fn a_row_carries_its_changes_in_either_form() {
        let v1 = json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "edit_file: a", "status": "completed",
            "content": [{"type": "diff", "path": "/a", "oldText": "x\n", "newText": "y\n"}]});
        let v2 = json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "name": "edit_file", "status": "failed",
            "content": [{"type": "diff", "changes": [], "patch": {"format": "git_patch", "text": "-x\n+y\n"}}],
            "rawOutput": {"error": "no such file"}});
        let sides = Patch::Sides { path: "/a".into(), before: Some("x\n".into()), after: "y\n".into() };
        assert_eq!(
            Update::read(&v1),
            Update::Tool(RowChange {
                id: "c".into(),
                title: Some("edit_file: a".into()),
                status: Some("completed".into()),
                patches: Some(vec![sides]),
                error: None,
            })
        );
        assert_eq!(
            Update::read(&v2),
            Update::Tool(RowChange {
                id: "c".into(),
                title: Some("edit_file".into()),
                status: Some("failed".into()),
                patches: Some(vec![Patch::Text("-x\n+y\n".into())]),
                error: Some("no such file".into()),
            })
        );
    }
}
