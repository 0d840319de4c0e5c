//! The JSON form: members as the Go milk's session files have them, so that either's tools can read it.

use serde_json::{Map, Value, json};
use session_store::StoredSession;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::history::{AgentTurn, Side, Step, Turn, arguments, result, turns};

/// A session as one JSON object.
pub(crate) fn json(session: &StoredSession) -> Value {
    let meta = &session.meta;
    let mut root = Map::new();
    root.insert("id".into(), json!(meta.id.as_str()));
    if let Some(name) = &meta.name {
        root.insert("name".into(), json!(name));
    }
    root.insert("cwd".into(), json!(meta.cwd.to_string_lossy()));
    root.insert("created_at".into(), json!(stamp(meta.created_at)));
    root.insert("last_used".into(), json!(stamp(meta.updated_at)));
    root.insert("state".into(), json!("ROUTING"));
    root.insert("history".into(), turns(&session.entries).iter().filter_map(turn_json).collect());
    Value::Object(root)
}

/// A turn; `None` for what is no part of the conversation.
fn turn_json(turn: &Turn<'_>) -> Option<Value> {
    match &turn.side {
        Side::User(text) => Some(json!({"role": "user", "content": text, "timestamp": stamp(turn.at)})),
        Side::Agent(agent) => Some(agent_json(agent, turn.at)),
        Side::Remark(_) => None,
    }
}

fn agent_json(agent: &AgentTurn<'_>, at: OffsetDateTime) -> Value {
    let mut root = Map::new();
    root.insert("role".into(), json!("assistant"));
    root.insert("agent".into(), json!(agent.role()));
    if let Some(route) = agent.route {
        root.insert("agent_name".into(), json!(route.agent.as_str()));
    }
    root.insert("content".into(), json!(agent.answer()));
    if !agent.thoughts.is_empty() {
        root.insert("thinking".into(), json!(agent.thoughts.join("\n\n")));
    }
    let trail: Vec<_> = agent.steps.iter().filter(|step| !step.calls.is_empty()).map(step_json).collect();
    if !trail.is_empty() {
        root.insert("steps".into(), json!(trail));
    }
    if let Some((stop, failure)) = agent.trouble {
        root.insert("stop_reason".into(), json!(stop));
        if let Some(failure) = failure {
            root.insert("error".into(), json!(failure.message));
        }
    }
    root.insert("timestamp".into(), json!(stamp(at)));
    Value::Object(root)
}

fn step_json(step: &Step<'_>) -> Value {
    let calls: Vec<_> = step
        .calls
        .iter()
        .map(|call| {
            let name = call.name.as_deref().unwrap_or("tool");
            json!({"id": call.id.as_str(), "name": name, "args": arguments(call), "result": result(call)})
        })
        .collect();
    json!({"text": step.text, "calls": calls})
}

fn stamp(at: OffsetDateTime) -> String {
    at.format(&Rfc3339).unwrap_or_default()
}
