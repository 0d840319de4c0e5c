//! Reads an agent's updates and questions.

use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde_json::Value;
use session_model::{
    ContextUsage, EmbeddedResource, FileChange, FileOp, Location, MessageId, Notice, OptionId, Plan,
    PlanEntry, PlanId, PlanPriority, PlanStatus, ResourceBody, ResourceLink, Role, Severity, TerminalId,
    TerminalOwner, TerminalView, ToolCallUpdate, ToolContent, ToolKind, ToolStatus,
};

use super::{AskOption, AskOptionKind, Content, ElicitAsk, Event, PermissionAsk, Told, ToolCallId, stop};

/// What a `session/update` tells; `None` for what is of no use here.
pub(crate) fn told(params: &Value) -> Option<Told> {
    let update = &params["update"];
    let event = match update["sessionUpdate"].as_str()? {
        "agent_message_chunk" => delta(update, Role::Agent)?,
        "agent_thought_chunk" => delta(update, Role::Thought)?,
        "agent_message" => message(update, Role::Agent)?,
        "agent_thought" => message(update, Role::Thought)?,
        "tool_call" | "tool_call_update" => Event::ToolCall(call(update)?),
        "tool_call_content_chunk" => Event::ToolOutput {
            id: ToolCallId::from(update["toolCallId"].as_str()?),
            chunk: shown(&update["content"])?,
        },
        "plan" => Event::Plan(plan("plan", &update["entries"])),
        "plan_update" => Event::Plan(plan(text(&update["plan"]["planId"]), &update["plan"]["entries"])),
        "usage_update" => {
            let (used, size) = (update["used"].as_u64()?, update["size"].as_u64()?);
            Event::Usage(ContextUsage { used, size, cost: None })
        }
        "notice" => Event::Notice(notice(update)),
        "state_update" => return state(update),
        _ => return None,
    };
    Some(Told::Event(Box::new(event)))
}

fn state(update: &Value) -> Option<Told> {
    match update["state"].as_str()? {
        "idle" => {
            let error = update["error"]["message"].as_str().map(str::to_owned);
            Some(Told::Idle(update["stopReason"].as_str().map(stop), error))
        }
        "running" | "requires_action" => Some(Told::Running),
        _ => None,
    }
}

/// What an agent wants leave for; `None` when it offers nothing that can be chosen.
pub(crate) fn asked(params: &Value) -> Option<PermissionAsk> {
    let subject = &params["subject"];
    let call_of = [&params["toolCall"], &subject["toolCall"]].into_iter().find(|call| call.is_object());
    let command = subject["command"].as_str();
    let tool_call = call_of.and_then(call).or_else(|| {
        let mut row =
            ToolCallUpdate::new(ToolCallId::from(subject["toolCallId"].as_str().unwrap_or_default()));
        row.title = command.map(str::to_owned);
        if let Some(command) = command {
            row.kind = Some(ToolKind::Execute);
            row.raw_input = Some(serde_json::json!({ "command": command }));
        }
        Some(row)
    })?;
    let title = [params["title"].as_str(), tool_call.title.as_deref(), command];
    let title = title.into_iter().flatten().next().unwrap_or("a tool").to_owned();
    let options: Vec<AskOption> = list(&params["options"]).iter().filter_map(option).collect();
    let description = params["description"].as_str().map(str::to_owned);
    (!options.is_empty()).then_some(PermissionAsk { tool_call, title, description, options })
}

/// An option of a kind we do not know is left out: choosing it could mean anything.
fn option(option: &Value) -> Option<AskOption> {
    let kind = match option["kind"].as_str()? {
        "allow_once" => AskOptionKind::AllowOnce,
        "allow_always" => AskOptionKind::AllowAlways,
        "reject_once" => AskOptionKind::RejectOnce,
        "reject_always" => AskOptionKind::RejectAlways,
        _ => return None,
    };
    Some(AskOption {
        id: OptionId::from(option["optionId"].as_str()?),
        name: text(&option["name"]).to_owned(),
        kind,
    })
}

/// A form to be filled in; `None` for anything else that is wanted of the user.
pub(crate) fn form(params: &Value) -> Option<ElicitAsk> {
    if params["mode"].as_str() != Some("form") {
        return None;
    }
    Some(ElicitAsk {
        message: text(&params["message"]).to_owned(),
        tool_call: params["toolCallId"].as_str().map(ToolCallId::from),
        schema: params["requestedSchema"].clone(),
    })
}

fn delta(update: &Value, role: Role) -> Option<Event> {
    let id = MessageId::from(text(&update["messageId"]));
    // Some begin with a piece that says nothing.
    let content = block(&update["content"]).filter(|content| content.as_text() != Some(""))?;
    Some(Event::MessageDelta { id, role, content })
}

fn message(update: &Value, role: Role) -> Option<Event> {
    let id = MessageId::from(update["messageId"].as_str()?);
    let content = list(&update["content"]).iter().filter_map(block).collect();
    Some(Event::Message { id, role, content })
}

fn call(update: &Value) -> Option<ToolCallUpdate> {
    let mut row = ToolCallUpdate::new(ToolCallId::from(update["toolCallId"].as_str()?));
    row.name = word(&update["name"]);
    row.title = word(&update["title"]);
    row.kind = word::<ToolKind>(&update["kind"]);
    row.status = word::<ToolStatus>(&update["status"]);
    let some = |value: &Value| value.as_array().is_some();
    row.content =
        some(&update["content"]).then(|| list(&update["content"]).iter().filter_map(shown).collect());
    row.locations =
        some(&update["locations"]).then(|| list(&update["locations"]).iter().filter_map(place).collect());
    row.raw_input = Some(update["rawInput"].clone()).filter(|value| !value.is_null());
    row.raw_output = Some(update["rawOutput"].clone()).filter(|value| !value.is_null());
    Some(row)
}

/// A member that is there and makes sense; our words for kinds and states are the protocol's.
fn word<T: DeserializeOwned>(value: &Value) -> Option<T> {
    serde_json::from_value(value.clone()).ok()
}

fn place(value: &Value) -> Option<Location> {
    let line = value["line"].as_u64().and_then(|line| u32::try_from(line).ok()).filter(|line| *line > 0);
    Some(Location { path: PathBuf::from(value["path"].as_str()?), line })
}

fn shown(value: &Value) -> Option<ToolContent> {
    match value["type"].as_str()? {
        "content" => block(&value["content"]).map(ToolContent::Content),
        "diff" if value["newText"].is_string() => {
            let before = value["oldText"].as_str().map(str::to_owned);
            let op = if before.is_some() { FileOp::Modify } else { FileOp::Add };
            let after = value["newText"].as_str().map(str::to_owned);
            Some(ToolContent::Change(FileChange {
                path: PathBuf::from(value["path"].as_str()?),
                op,
                before,
                after,
            }))
        }
        // Version 2 tells a patch and not the texts.
        "diff" => {
            let patch = value["patch"]["text"].as_str()?;
            Some(ToolContent::Content(Content::text(format!("```diff\n{patch}\n```"))))
        }
        "terminal" => {
            let id = TerminalId::from(value["terminalId"].as_str()?);
            let (owner, shown) = (TerminalOwner::Client, String::new());
            Some(ToolContent::Terminal(TerminalView { id, owner, shown, note: None }))
        }
        _ => None,
    }
}

fn block(value: &Value) -> Option<Content> {
    let optional = |name: &str| value[name].as_str().map(str::to_owned);
    Some(match value["type"].as_str()? {
        "text" => Content::text(value["text"].as_str()?),
        "image" => {
            Content::Image { data: optional("data")?, mime_type: optional("mimeType")?, uri: optional("uri") }
        }
        "audio" => Content::Audio { data: optional("data")?, mime_type: optional("mimeType")? },
        "resource_link" => Content::Link(ResourceLink {
            uri: optional("uri")?,
            name: optional("name").unwrap_or_default(),
            title: optional("title"),
            description: optional("description"),
            mime_type: optional("mimeType"),
            size: value["size"].as_i64(),
        }),
        "resource" => {
            let resource = &value["resource"];
            let body = match (resource["text"].as_str(), resource["blob"].as_str()) {
                (Some(text), _) => ResourceBody::Text(text.to_owned()),
                (None, blob) => ResourceBody::Blob(blob?.to_owned()),
            };
            let mime_type = resource["mimeType"].as_str().map(str::to_owned);
            Content::Resource(EmbeddedResource { uri: text(&resource["uri"]).to_owned(), mime_type, body })
        }
        _ => return None,
    })
}

fn plan(id: &str, entries: &Value) -> Plan {
    let entry = |entry: &Value| PlanEntry {
        content: text(&entry["content"]).to_owned(),
        priority: word::<PlanPriority>(&entry["priority"]).unwrap_or(PlanPriority::Medium),
        status: word::<PlanStatus>(&entry["status"]).unwrap_or(PlanStatus::Pending),
    };
    Plan { id: PlanId::from(id), entries: list(entries).iter().map(entry).collect() }
}

fn notice(update: &Value) -> Notice {
    let severity = match update["severity"].as_str() {
        Some("warning") => Severity::Warning,
        Some("error") => Severity::Error,
        Some(_) | None => Severity::Info,
    };
    Notice { id: MessageId::from(""), severity, title: text(&update["title"]).to_owned() }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(update: &Value) -> Option<Told> {
        told(&json!({"sessionId": "s", "update": update}))
    }

    #[test]
    fn updates_of_both_versions_are_read_and_the_rest_is_nothing() {
        let text = |id: &str| Event::MessageDelta {
            id: MessageId::from(id),
            role: Role::Agent,
            content: Content::text("hi"),
        };
        let block = json!({"type": "text", "text": "hi"});
        let rows = [
            (
                json!({"sessionUpdate": "agent_message_chunk", "content": block}),
                Some(Told::Event(Box::new(text("")))),
            ),
            (
                json!({"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": block}),
                Some(Told::Event(Box::new(text("m")))),
            ),
            (json!({"sessionUpdate": "state_update", "state": "running"}), Some(Told::Running)),
            (
                json!({"sessionUpdate": "state_update", "state": "idle", "stopReason": "error", "error": {"message": "boom"}}),
                Some(Told::Idle(Some(session_model::StopReason::Error), Some("boom".to_owned()))),
            ),
            (json!({"sessionUpdate": "user_message_chunk", "content": block}), None),
            (json!({"sessionUpdate": "from_the_future"}), None),
            (json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "hologram"}}), None),
            (json!({}), None),
        ];
        for (update, expected) in rows {
            assert_eq!(event(&update), expected, "{update}");
        }
    }

    #[test]
    fn a_row_keeps_what_makes_sense_of_it() {
        let update = json!({"sessionUpdate": "tool_call", "toolCallId": "t", "title": "Edit", "kind": "edit", "status": "odd",
            "locations": [{"path": "/a", "line": 0}, {"line": 3}],
            "content": [{"type": "diff", "path": "/a", "oldText": null, "newText": "x"}, {"type": "terminal", "terminalId": "1"}]});
        let Some(Told::Event(told)) = event(&update) else { panic!("a row") };
        let Event::ToolCall(row) = *told else { panic!("a row") };
        assert_eq!((row.kind, row.status), (Some(ToolKind::Edit), None));
        assert_eq!(row.locations.unwrap(), [Location { path: PathBuf::from("/a"), line: None }]);
        assert!(
            matches!(&row.content.unwrap()[..], [ToolContent::Change(change)] if change.op == FileOp::Add)
        );
    }

    #[test]
    fn a_question_offers_only_what_is_understood() {
        let options = json!([{"optionId": "y", "name": "Yes", "kind": "allow_once"}, {"optionId": "x", "name": "?", "kind": "maybe"}]);
        let first =
            asked(&json!({"toolCall": {"toolCallId": "t", "title": "Run"}, "options": options})).unwrap();
        assert_eq!((first.title.as_str(), first.options.len()), ("Run", 1));
        let second = asked(
            &json!({"title": "Allow?", "subject": {"type": "command", "command": "ls"}, "options": options}),
        )
        .unwrap();
        assert_eq!((second.title.as_str(), second.tool_call.title.as_deref()), ("Allow?", Some("ls")));
        assert_eq!(
            asked(&json!({"toolCall": {"toolCallId": "t"}, "options": [{"optionId": "x", "kind": "maybe"}]})),
            None
        );
        assert_eq!(
            super::super::outcome(&session_model::Answer::Unanswerable(String::new()))["outcome"]["outcome"],
            "cancelled"
        );
    }
}
