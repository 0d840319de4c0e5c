//! Every result in both versions.

use serde_json::{Value, json};
use session_model::{Choice, Command, ConfigOption, OptionCategory, OptionKind, StopReason, TokenUsage};
use time::macros::datetime;

use super::super::conformance::assert_valid;
use super::{Dialect, v1, v1_full, v2};
use crate::command::{Reply, SessionRow};

fn worded(dialect: &Dialect, definition: &str, reply: &Reply) -> Value {
    let result = serde_json::from_str(dialect.reply(reply).get()).unwrap();
    // Usage is not in the stable schema of version 1; clients that do not know it ignore it.
    let mut stable: Value = result;
    let usage = (definition == "PromptResponse").then(|| stable.as_object_mut()?.remove("usage")).flatten();
    assert_valid(dialect, definition, &stable);
    if let Some(usage) = usage {
        stable["usage"] = usage;
    }
    stable
}

fn options() -> Vec<ConfigOption> {
    let choice = |value: &str| Choice {
        value: value.to_owned(),
        name: value.to_uppercase(),
        description: Some("d".to_owned()),
    };
    let option = |id: &str, category, kind| ConfigOption {
        id: id.to_owned(),
        name: id.to_uppercase(),
        description: None,
        category,
        kind,
    };
    vec![
        option(
            "mode",
            Some(OptionCategory::Mode),
            OptionKind::Select { current: "ask".to_owned(), choices: vec![choice("ask")] },
        ),
        option(
            "model",
            Some(OptionCategory::Model),
            OptionKind::Select { current: "m".to_owned(), choices: vec![choice("m")] },
        ),
        option("think", Some(OptionCategory::ThoughtLevel), OptionKind::Toggle { current: false }),
    ]
}

fn commands() -> Vec<Command> {
    vec![Command { name: "help".to_owned(), description: "d".to_owned(), hint: Some("h".to_owned()) }]
}

#[test]
fn a_new_session_has_its_settings_and_where_there_is_a_place_its_commands() {
    let reply = Reply::NewSession { session: "s1".into(), options: options(), commands: commands() };
    insta::assert_snapshot!(worded(&v1(), "NewSessionResponse", &reply).to_string(), @r#"{"sessionId":"s1","modes":{"currentModeId":"ask","availableModes":[{"id":"ask","name":"ASK","description":"d"}]},"configOptions":[{"id":"mode","name":"MODE","category":"mode","type":"select","currentValue":"ask","options":[{"value":"ask","name":"ASK","description":"d"}]},{"id":"model","name":"MODEL","category":"model","type":"select","currentValue":"m","options":[{"value":"m","name":"M","description":"d"}]},{"id":"think","name":"THINK","category":"thought_level","type":"select","currentValue":"off","options":[{"value":"on","name":"On"},{"value":"off","name":"Off"}]}]}"#);
    insta::assert_snapshot!(worded(&v2(), "NewSessionResponse", &reply).to_string(), @r#"{"sessionId":"s1","configOptions":[{"configId":"mode","name":"MODE","category":"mode","type":"select","currentValue":"ask","options":[{"value":"ask","name":"ASK","description":"d"}]},{"configId":"model","name":"MODEL","category":"model","type":"select","currentValue":"m","options":[{"value":"m","name":"M","description":"d"}]},{"configId":"think","name":"THINK","category":"thought_level","type":"boolean","currentValue":false}],"availableCommands":[{"type":"command","name":"help","description":"d","input":{"type":"text","hint":"h"}}]}"#);
}

#[test]
fn an_opened_session_is_told_like_a_new_one_without_the_id() {
    let reply = Reply::OpenSession { options: options(), commands: commands() };
    insta::assert_snapshot!(worded(&v2(), "ResumeSessionResponse", &reply).to_string(), @r#"{"configOptions":[{"configId":"mode","name":"MODE","category":"mode","type":"select","currentValue":"ask","options":[{"value":"ask","name":"ASK","description":"d"}]},{"configId":"model","name":"MODEL","category":"model","type":"select","currentValue":"m","options":[{"value":"m","name":"M","description":"d"}]},{"configId":"think","name":"THINK","category":"thought_level","type":"boolean","currentValue":false}],"availableCommands":[{"type":"command","name":"help","description":"d","input":{"type":"text","hint":"h"}}]}"#);
    let loaded = worded(&v1(), "LoadSessionResponse", &reply);
    assert_valid(&v1(), "ResumeSessionResponse", &loaded);
    let new = Reply::NewSession { session: "s1".into(), options: options(), commands: commands() };
    let mut new = worded(&v1(), "NewSessionResponse", &new);
    new.as_object_mut().unwrap().remove("sessionId");
    assert_eq!(loaded, new);
}

#[test]
fn a_page_of_sessions_ends_with_a_cursor_only_when_there_is_more() {
    let rows = vec![
        SessionRow {
            id: "s1".into(),
            cwd: "/w".into(),
            additional_directories: vec!["/x".into()],
            title: Some("T".to_owned()),
            updated_at: datetime!(2026-09-28 09:30 UTC),
        },
        SessionRow {
            id: "s2".into(),
            cwd: "/w".into(),
            additional_directories: Vec::new(),
            title: None,
            updated_at: datetime!(2026-09-28 09:30:00.5 UTC),
        },
    ];
    let reply = Reply::ListSessions { sessions: rows, next: Some(50) };
    insta::assert_snapshot!(worded(&v1(), "ListSessionsResponse", &reply).to_string(), @r#"{"sessions":[{"sessionId":"s1","cwd":"/w","additionalDirectories":["/x"],"title":"T","updatedAt":"2026-09-28T09:30:00Z"},{"sessionId":"s2","cwd":"/w","updatedAt":"2026-09-28T09:30:00.5Z"}],"nextCursor":"bzo1MA=="}"#);
    assert_eq!(worded(&v1(), "ListSessionsResponse", &reply), worded(&v2(), "ListSessionsResponse", &reply));
    let empty = Reply::ListSessions { sessions: Vec::new(), next: None };
    for dialect in [v1(), v2()] {
        assert_eq!(worded(&dialect, "ListSessionsResponse", &empty), json!({"sessions": []}));
    }
}

#[test]
fn a_finished_turn_is_told_in_each_versions_way() {
    let usage = TokenUsage { input: 100, cached: 50, output: 20, thought: 5, written: 0 };
    let reply = |stop, usage| Reply::Prompted { message: "u1".into(), stop, usage };
    assert_eq!(
        worded(&v1(), "PromptResponse", &reply(Some(StopReason::EndTurn), Some(usage))),
        json!({"stopReason": "end_turn", "usage": {
            "totalTokens": 170, "inputTokens": 100, "outputTokens": 20, "thoughtTokens": 5, "cachedReadTokens": 50,
        }})
    );
    for (stop, word) in [
        (StopReason::MaxTokens, "max_tokens"),
        (StopReason::MaxTurnRequests, "max_turn_requests"),
        (StopReason::Refusal, "refusal"),
        (StopReason::Cancelled, "cancelled"),
    ] {
        let reply = reply(Some(stop), Some(TokenUsage::default()));
        assert_eq!(worded(&v1(), "PromptResponse", &reply), json!({"stopReason": word}));
        assert_eq!(worded(&v2(), "PromptResponse", &reply), json!({"messageId": "u1"}));
    }
    assert_ne!(
        worded(&v1(), "PromptResponse", &reply(Some(StopReason::Error), None))["stopReason"],
        "end_turn"
    );
    assert_eq!(worded(&v2(), "PromptResponse", &reply(None, None)), json!({"messageId": "u1"}));
}

#[test]
fn a_changed_setting_is_answered_with_all_of_them() {
    let reply = Reply::OptionSet { options: options() };
    insta::assert_snapshot!(worded(&v1_full(), "SetSessionConfigOptionResponse", &reply).to_string(), @r#"{"configOptions":[{"id":"mode","name":"MODE","category":"mode","type":"select","currentValue":"ask","options":[{"value":"ask","name":"ASK","description":"d"}]},{"id":"model","name":"MODEL","category":"model","type":"select","currentValue":"m","options":[{"value":"m","name":"M","description":"d"}]},{"id":"think","name":"THINK","category":"thought_level","type":"boolean","currentValue":false}]}"#);
    insta::assert_snapshot!(worded(&v2(), "SetSessionConfigOptionResponse", &reply).to_string(), @r#"{"configOptions":[{"configId":"mode","name":"MODE","category":"mode","type":"select","currentValue":"ask","options":[{"value":"ask","name":"ASK","description":"d"}]},{"configId":"model","name":"MODEL","category":"model","type":"select","currentValue":"m","options":[{"value":"m","name":"M","description":"d"}]},{"configId":"think","name":"THINK","category":"thought_level","type":"boolean","currentValue":false}]}"#);
}

#[test]
fn what_has_nothing_to_tell_is_an_empty_object() {
    assert_eq!(worded(&v1(), "SetSessionModeResponse", &Reply::Done), json!({}));
    for dialect in [v1(), v2()] {
        for definition in ["CloseSessionResponse", "DeleteSessionResponse"] {
            assert_eq!(worded(&dialect, definition, &Reply::Done), json!({}));
        }
    }
}
