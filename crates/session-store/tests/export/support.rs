//! A session with one of everything.

use serde_json::json;
use session_model::{
    Content, Entry, Grant, GrantScope, Item, Route, SessionUsage, Spent, StopReason, Summary, TokenUsage,
    ToolCallUpdate, ToolContent, ToolKind, ToolStatus, TurnFailure, TurnId,
};
use session_store::{SessionMeta, StoredSession};
use time::OffsetDateTime;
use time::macros::datetime;

const AT: OffsetDateTime = datetime!(2026-03-04 05:06:07 UTC);

pub(crate) fn session() -> StoredSession {
    let meta = SessionMeta {
        id: "5f0c".into(),
        cwd: "/work".into(),
        additional_roots: vec!["/other".into()],
        name: Some("parser".to_owned()),
        title: Some("find the bug".to_owned()),
        created_at: AT,
        updated_at: AT + time::Duration::seconds(9),
        grants: vec![Grant { tool: "bash".to_owned(), scope: GrantScope::CommandPrefix("ls".to_owned()) }],
        options: [("think".to_owned(), json!(true))].into_iter().collect(),
        usage: usage(),
    };
    let first = turn(
        "t1",
        [
            user("u1", "find the bug", Some("k")),
            Item::Thought { id: "th".into(), step: 0, text: "hm".to_owned() },
            Item::Agent { id: "a1".into(), step: 0, text: "let me look".to_owned() },
            tool("c1", "bash", &json!({"command": "ls"}), &"x".repeat(301)),
            tool("c2", "read_file", &json!("{broken"), "fn main"),
            Item::Agent { id: "a2".into(), step: 1, text: "found it".to_owned() },
            Item::Remark { id: "r".into(), text: "a remark".to_owned() },
            Item::Compaction { id: "comp".into(), summary: summary() },
            end(StopReason::EndTurn, None, "claude"),
        ],
    );
    let failure = TurnFailure { code: "provider_unreachable".to_owned(), message: "no answer".to_owned() };
    let second = turn("t2", [user("u2", "fix it", None), end(StopReason::Error, Some(failure), "local")]);
    StoredSession { meta, entries: [first, second].concat(), damaged: 0 }
}

fn summary() -> Summary {
    Summary { turns: 3, last: "t0".into(), text: "It began.\n".to_owned() }
}

fn usage() -> SessionUsage {
    let tokens = TokenUsage { input: 10, cached: 4, output: 2, thought: 1, written: 0 };
    let mut usage = SessionUsage::default();
    usage.add(&Spent { agent: "local".into(), model: "m".to_owned(), tokens, dollars: Some(0.25) });
    usage
}

fn turn<const N: usize>(id: &str, items: [Item; N]) -> Vec<Entry> {
    items.into_iter().map(|item| Entry { turn: TurnId::from(id), at: AT, item }).collect()
}

fn user(id: &str, text: &str, key: Option<&str>) -> Item {
    let image = Content::Image { data: "AAAA".to_owned(), mime_type: "image/png".to_owned(), uri: None };
    Item::User { id: id.into(), content: vec![Content::text(text), image], key: key.map(str::to_owned) }
}

fn tool(id: &str, name: &str, input: &serde_json::Value, output: &str) -> Item {
    let mut call = ToolCallUpdate::new(id.into());
    call.name = Some(name.to_owned());
    call.title = Some(name.to_owned());
    call.kind = Some(ToolKind::Other);
    call.status = Some(ToolStatus::Completed);
    call.raw_input = Some(input.clone());
    call.raw_output = Some(json!({"output": output}));
    call.content = Some(vec![ToolContent::Content(Content::text(output))]);
    Item::Tool { step: 0, call }
}

fn end(stop: StopReason, error: Option<TurnFailure>, agent: &str) -> Item {
    let target = if agent == "claude" { "escalation" } else { "primary" };
    let route = Route {
        agent: agent.into(),
        target: target.to_owned(),
        reason: "default".to_owned(),
        conclusive: None,
    };
    Item::TurnEnd { stop, error, route: Some(route) }
}
