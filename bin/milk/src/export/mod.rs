//! A stored session as people and other programs read it. Pure: no store, no files.

mod history;
mod json;
mod text;

pub(crate) use json::json;
pub(crate) use text::text;

#[cfg(test)]
mod tests {
    use serde_json::json as value;
    use session_model::{
        Content, Entry, Item, Route, StopReason, ToolCallUpdate, ToolStatus, TurnFailure, TurnId,
    };
    use session_store::{SessionMeta, StoredSession};
    use time::macros::datetime;

    use super::*;
    use crate::output::Style;

    fn entry(turn: &str, item: Item) -> Entry {
        Entry { turn: TurnId::from(turn), at: datetime!(2026-03-01 10:20:30 UTC), item }
    }

    fn agent(step: u32, text: &str) -> Item {
        Item::Agent { id: "m".into(), step, text: text.into() }
    }

    fn user(text: &str) -> Item {
        Item::User { id: "u".into(), content: vec![Content::text(text)], key: None }
    }

    fn session() -> StoredSession {
        let mut call = ToolCallUpdate::new("call-1".into());
        call.name = Some("grep".into());
        call.status = Some(ToolStatus::Completed);
        call.raw_input = Some(value!({"pattern": "x"}));
        call.raw_output = Some(value!({"output": format!("{}\u{1b}[2J", "r".repeat(400))}));
        let route = Route { agent: "lama".into(), target: "primary".into(), reason: "r".into() };
        let failure = TurnFailure { code: "provider_unreachable".into(), message: "no server".into() };
        let end = |stop, error| Item::TurnEnd { stop, error, route: Some(route.clone()) };
        StoredSession {
            meta: SessionMeta {
                id: "0123".into(),
                cwd: "/work".into(),
                additional_roots: vec![],
                name: None,
                title: Some("find x".into()),
                created_at: datetime!(2026-03-01 10:00:00 UTC),
                updated_at: datetime!(2026-03-01 11:00:00 UTC),
                grants: vec![],
                options: serde_json::Map::new(),
            },
            entries: vec![
                entry("t1", user("find x")),
                entry("t1", Item::Thought { id: "h".into(), step: 0, text: "hm".into() }),
                entry("t1", agent(0, "Looking.")),
                entry("t1", Item::Tool { step: 0, call }),
                entry("t1", agent(1, "Found.")),
                entry("t1", end(StopReason::EndTurn, None)),
                entry("t2", user("more")),
                entry("t2", end(StopReason::Error, Some(failure))),
                entry("t3", Item::Remark { id: "r".into(), text: "Carried on.".into() }),
            ],
            damaged: 0,
        }
    }

    #[test]
    fn the_text_form_shows_every_turn_and_shortens_results() {
        let expected = format!(
            "session: 0123\ncwd: /work\ncreated: 2026-03-01 10:00:00\nstate: ROUTING\nturns: 4\n\n\
             {rule}\n2026-03-01 10:20:30  ·  user\nfind x\n\n\
             {rule}\n2026-03-01 10:20:30  ·  primary\nLooking.\n  ⚙ grep: {{\"pattern\":\"x\"}}\n  → {result}...\nFound.\n\n\
             {rule}\n2026-03-01 10:20:30  ·  user\nmore\n\n\
             {rule}\n2026-03-01 10:20:30  ·  primary\n[failed: no server]\n\n\
             {rule}\n2026-03-01 10:20:30  ·  milk\nCarried on.\n",
            rule = "━".repeat(48),
            result = "r".repeat(297),
        );
        assert_eq!(text(&session(), Style::PLAIN), expected);
    }

    #[test]
    fn the_json_form_has_the_members_of_milks_session_files() {
        let result = format!("{}\u{1b}[2J", "r".repeat(400));
        assert_eq!(
            json(&session()),
            value!({
                "id": "0123", "cwd": "/work", "state": "ROUTING",
                "created_at": "2026-03-01T10:00:00Z", "last_used": "2026-03-01T11:00:00Z",
                "history": [
                    {"role": "user", "content": "find x", "timestamp": "2026-03-01T10:20:30Z"},
                    {"role": "assistant", "agent": "primary", "agent_name": "lama", "content": "Found.",
                     "thinking": "hm",
                     "steps": [{"text": "Looking.", "calls": [
                        {"id": "call-1", "name": "grep", "args": "{\"pattern\":\"x\"}", "result": result}]}],
                     "timestamp": "2026-03-01T10:20:30Z"},
                    {"role": "user", "content": "more", "timestamp": "2026-03-01T10:20:30Z"},
                    {"role": "assistant", "agent": "primary", "agent_name": "lama", "content": "",
                     "stop_reason": "error", "error": "no server", "timestamp": "2026-03-01T10:20:30Z"},
                ],
            })
        );
    }
}
