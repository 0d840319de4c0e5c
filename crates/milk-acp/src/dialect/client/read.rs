//! Reads an agent's updates and questions.

use std::path::PathBuf;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::de::DeserializeOwned;
use serde_json::Value;
use session_model::{
    ContextUsage, Cost, EmbeddedResource, FileChange, FileOp, Location, MessageId, Notice, OptionId, Plan,
    PlanEntry, PlanId, PlanPriority, PlanStatus, ResourceBody, ResourceLink, Role, Severity, TerminalExit,
    TerminalId, TerminalOwner, TerminalView, TokenUsage, ToolCallUpdate, ToolContent, ToolKind, ToolStatus,
};

use super::{
    AskOption, AskOptionKind, Content, ElicitAsk, Event, PermissionAsk, Terminal, Told, ToolCallId, patch,
    stop,
};

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
            chunk: pieces(&update["content"]).into_iter().next()?,
        },
        "plan" => Event::Plan(plan("plan", &update["entries"])),
        "plan_update" => Event::Plan(plan_of(&update["plan"])),
        "plan_removed" => Event::PlanRemoved(PlanId::from(update["planId"].as_str()?)),
        "terminal_update" | "terminal_output_chunk" => return terminal(update),
        "usage_update" => {
            let (used, size) = (update["used"].as_u64()?, update["size"].as_u64()?);
            Event::Usage(ContextUsage { used, size, cost: cost(&update["cost"]) })
        }
        "notice" => Event::Notice(notice(update)),
        "state_update" => return state(update),
        _ => return None,
    };
    Some(Told::Event(Box::new(event)))
}

/// What an agent's answer to a prompt says of the tokens that went into it.
pub(crate) fn usage(answer: &Value) -> Option<TokenUsage> {
    let said = answer["usage"].as_object()?;
    let count = |name: &str| said.get(name).and_then(Value::as_u64).unwrap_or_default();
    Some(TokenUsage {
        input: count("inputTokens"),
        cached: count("cachedReadTokens"),
        output: count("outputTokens"),
        thought: count("thoughtTokens"),
        written: count("cachedWriteTokens"),
    })
}

fn cost(value: &Value) -> Option<Cost> {
    let amount = value["amount"].as_f64().filter(|amount| amount.is_finite() && *amount >= 0.0)?;
    Some(Cost { amount, currency: value["currency"].as_str()?.to_owned() })
}

fn terminal(update: &Value) -> Option<Told> {
    let id = TerminalId::from(update["terminalId"].as_str()?);
    let bytes = |value: &Value| BASE64_STANDARD.decode(value.as_str()?).ok();
    let exit = update["exitStatus"].as_object().map(|status| TerminalExit {
        code: status.get("exitCode").and_then(Value::as_i64).and_then(|code| i32::try_from(code).ok()),
        signal: status.get("signal").and_then(Value::as_str).map(str::to_owned),
    });
    let told = Terminal {
        command: update["command"].as_str().map(str::to_owned),
        cwd: update["cwd"].as_str().map(PathBuf::from),
        output: bytes(&update["output"]["data"]),
        more: bytes(&update["data"]).unwrap_or_default(),
        exit,
    };
    Some(Told::Terminal(id, told))
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
        some(&update["content"]).then(|| list(&update["content"]).iter().flat_map(pieces).collect());
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

/// What a piece of a row's content shows. One of version 2 may tell the changes of several files.
fn pieces(value: &Value) -> Vec<ToolContent> {
    if value["type"] != "diff" || value["newText"].is_string() {
        return shown(value).into_iter().collect();
    }
    let changes = patch::changes(value);
    let is_told = |change: &FileChange| {
        change.before.is_some() || change.after.is_some() || change.op != FileOp::Modify
    };
    match value["patch"]["text"].as_str() {
        // What cannot be told by both sides is told as it came.
        Some(patch) if changes.is_empty() || !changes.iter().all(is_told) => {
            vec![ToolContent::Content(Content::text(format!("```diff\n{patch}\n```")))]
        }
        Some(_) | None => changes.into_iter().map(ToolContent::Change).collect(),
    }
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

/// A plan of version 2: tasks, or a text whose list of tasks is read, or which is one task.
fn plan_of(value: &Value) -> Plan {
    let id = text(&value["planId"]);
    let Some(content) = value["content"].as_str() else { return plan(id, &value["entries"]) };
    let task = |line: &str| {
        let item = line.trim_start().strip_prefix(['-', '*', '+'])?.trim_start();
        let (done, words) = item.strip_prefix('[')?.split_once(']')?;
        let status = if done.trim().is_empty() { PlanStatus::Pending } else { PlanStatus::Completed };
        Some(entry(words.trim(), status))
    };
    let mut entries: Vec<PlanEntry> = content.lines().filter_map(task).collect();
    if entries.is_empty() && !content.trim().is_empty() {
        entries.push(entry(content.trim(), PlanStatus::Pending));
    }
    Plan { id: PlanId::from(id), entries }
}

fn entry(content: &str, status: PlanStatus) -> PlanEntry {
    PlanEntry { content: content.to_owned(), priority: PlanPriority::Medium, status }
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
        let content = row.content.unwrap();
        let [ToolContent::Change(change), ToolContent::Terminal(terminal)] = &content[..] else {
            panic!("a change and a terminal: {content:?}")
        };
        assert_eq!((&change.op, terminal.id.as_str()), (&FileOp::Add, "1"));
    }

    #[test]
    fn a_change_of_version_2_is_one_with_both_its_sides_or_told_as_it_came() {
        let diff = |patch: Value| {
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "t",
                "content": [{"type": "diff", "changes": [{"operation": "modify", "path": "/a"}], "patch": patch}]})
        };
        let content = |patch: Value| {
            let Some(Told::Event(told)) = event(&diff(patch)) else { panic!("a row") };
            let Event::ToolCall(row) = *told else { panic!("a row") };
            row.content.unwrap()
        };
        let sides = content(json!({"text": "--- /a\n+++ /a\n@@ -1 +1 @@\n-x\n+y\n"}));
        assert!(matches!(&sides[..], [ToolContent::Change(change)]
            if change.before.as_deref() == Some("x\n") && change.after.as_deref() == Some("y\n")));
        let odd = content(json!({"text": "something else"}));
        assert!(
            matches!(&odd[..], [ToolContent::Content(text)] if text.as_text().unwrap().contains("something else"))
        );
    }

    #[test]
    fn plans_terminals_and_costs_of_version_2_are_read() {
        let markdown = json!({"sessionUpdate": "plan_update",
            "plan": {"type": "markdown", "planId": "p", "content": "# Plan\n- [x] one\n* [ ] two\n- three"}});
        let tasks = vec![entry("one", PlanStatus::Completed), entry("two", PlanStatus::Pending)];
        let plan =
            |entries| Some(Told::Event(Box::new(Event::Plan(Plan { id: PlanId::from("p"), entries }))));
        assert_eq!(event(&markdown), plan(tasks));
        let prose = json!({"sessionUpdate": "plan_update", "plan": {"type": "markdown", "planId": "p", "content": "Go.\n"}});
        assert_eq!(event(&prose), plan(vec![entry("Go.", PlanStatus::Pending)]));
        let removed = json!({"sessionUpdate": "plan_removed", "planId": "p"});
        assert_eq!(event(&removed), Some(Told::Event(Box::new(Event::PlanRemoved(PlanId::from("p"))))));
        let update = json!({"sessionUpdate": "terminal_update", "terminalId": "1", "command": "ls", "cwd": "/w",
            "output": {"data": "aGk="}, "exitStatus": {"exitCode": 2}});
        let exit = Some(TerminalExit { code: Some(2), signal: None });
        let (command, cwd) = (Some("ls".to_owned()), Some(PathBuf::from("/w")));
        let told = Terminal { command, cwd, output: Some(b"hi".to_vec()), exit, ..Terminal::default() };
        assert_eq!(event(&update), Some(Told::Terminal("1".into(), told)));
        let chunk = json!({"sessionUpdate": "terminal_output_chunk", "terminalId": "1", "data": "aGk="});
        let told = Terminal { more: b"hi".to_vec(), ..Terminal::default() };
        assert_eq!(event(&chunk), Some(Told::Terminal("1".into(), told)));
        let used = json!({"sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": {"amount": 0.5, "currency": "EUR"}});
        let cost = Some(Cost { amount: 0.5, currency: "EUR".to_owned() });
        let usage = Event::Usage(ContextUsage { used: 1, size: 2, cost });
        assert_eq!(event(&used), Some(Told::Event(Box::new(usage))));
        let answer = json!({"usage": {"inputTokens": 1, "outputTokens": 2, "cachedReadTokens": 3}});
        assert_eq!(
            super::usage(&answer),
            Some(TokenUsage { input: 1, output: 2, cached: 3, ..TokenUsage::default() })
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
