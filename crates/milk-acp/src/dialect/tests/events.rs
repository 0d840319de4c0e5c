//! Messages, plans, settings and the session's state. (Tool calls: [`tools`](super::tools).)

use serde_json::json;
use session_model::{
    Choice, Command, ConfigOption, Content, ContextUsage, Cost, EmbeddedResource, Event, Foreground, Notice,
    OptionCategory, OptionKind, Plan, PlanEntry, PlanPriority, PlanStatus, ResourceBody, ResourceLink, Role,
    Route, Severity, StopReason, TurnFailure, Warning,
};

use super::{line, lines, said, update, v1, v1_full, v2};

fn delta(role: Role, id: &str, text: &str) -> Event {
    Event::MessageDelta { id: id.into(), role, content: Content::text(text) }
}

fn message(role: Role, id: &str, text: &str) -> Event {
    Event::Message { id: id.into(), role, content: vec![Content::text(text)] }
}

fn media() -> Vec<Content> {
    vec![
        Content::Image {
            data: "AA==".to_owned(),
            mime_type: "image/png".to_owned(),
            uri: Some("file:///p".to_owned()),
        },
        Content::Audio { data: "AA==".to_owned(), mime_type: "audio/wav".to_owned() },
        Content::Link(ResourceLink {
            uri: "file:///w/a".to_owned(),
            name: "a".to_owned(),
            title: Some("A".to_owned()),
            description: Some("d".to_owned()),
            mime_type: Some("text/plain".to_owned()),
            size: Some(3),
        }),
        Content::Resource(EmbeddedResource {
            uri: "file:///w/b".to_owned(),
            mime_type: Some("text/plain".to_owned()),
            body: ResourceBody::Text("b".to_owned()),
        }),
        Content::Resource(EmbeddedResource {
            uri: "file:///w/c".to_owned(),
            mime_type: None,
            body: ResourceBody::Blob("AA==".to_owned()),
        }),
    ]
}

#[test]
fn deltas_are_chunks_with_the_messages_id() {
    let events = [delta(Role::Agent, "m1", "Hé\n"), delta(Role::Thought, "t1", "hm")];
    insta::assert_snapshot!(said(&v1(), &events), @r#"
    {"sessionUpdate":"agent_message_chunk","messageId":"m1","content":{"type":"text","text":"Hé\n"}}
    {"sessionUpdate":"agent_thought_chunk","messageId":"t1","content":{"type":"text","text":"hm"}}
    "#);
    assert_eq!(said(&v1(), &events), said(&v2(), &events));
}

#[test]
fn a_whole_message_is_an_upsert_in_version_2() {
    let events = [
        message(Role::User, "u1", "hi"),
        message(Role::Agent, "a1", "ho"),
        message(Role::Thought, "t1", "hm"),
    ];
    insta::assert_snapshot!(said(&v2(), &events), @r#"
    {"sessionUpdate":"user_message","messageId":"u1","content":[{"type":"text","text":"hi"}]}
    {"sessionUpdate":"agent_message","messageId":"a1","content":[{"type":"text","text":"ho"}]}
    {"sessionUpdate":"agent_thought","messageId":"t1","content":[{"type":"text","text":"hm"}]}
    "#);
}

#[test]
fn a_whole_message_is_chunks_in_version_1_and_the_users_is_not_echoed() {
    let events = [
        message(Role::User, "u1", "hi"),
        message(Role::Agent, "a1", "ho"),
        message(Role::Thought, "t1", "hm"),
    ];
    insta::assert_snapshot!(said(&v1(), &events), @r#"
    {"sessionUpdate":"agent_message_chunk","messageId":"a1","content":{"type":"text","text":"ho"}}
    {"sessionUpdate":"agent_thought_chunk","messageId":"t1","content":{"type":"text","text":"hm"}}
    "#);
}

#[test]
fn a_replay_says_the_users_message_in_version_1_too_every_time() {
    let dialect = v1();
    let mut view = dialect.view("s1".into());
    let events = [message(Role::User, "u1", "hi"), message(Role::Agent, "a1", "ho")];
    let mut replay = || -> Vec<String> {
        let said = events.iter().flat_map(|event| view.replay(event));
        said.map(|outgoing| line(&dialect, &outgoing)).collect()
    };
    let first = replay();
    insta::assert_snapshot!(first.join("\n"), @r#"
    {"sessionUpdate":"user_message_chunk","messageId":"u1","content":{"type":"text","text":"hi"}}
    {"sessionUpdate":"agent_message_chunk","messageId":"a1","content":{"type":"text","text":"ho"}}
    "#);
    assert_eq!(replay(), first);
}

#[test]
fn the_echo_of_the_users_message_can_be_switched_on_in_version_1() {
    let server = crate::negotiate::ServerInfo { echo_user_message: true, ..super::server() };
    let dialect =
        crate::negotiate::negotiate(&super::params(r#"{"protocolVersion":1}"#), &server).unwrap().dialect;
    assert_eq!(
        said(&dialect, &[message(Role::User, "u1", "hi")]),
        r#"{"sessionUpdate":"user_message_chunk","messageId":"u1","content":{"type":"text","text":"hi"}}"#
    );
}

#[test]
fn version_1_says_only_the_rest_of_a_message_that_was_streamed() {
    let events = [
        delta(Role::Agent, "a1", "one "),
        delta(Role::Agent, "a1", "two"),
        message(Role::Agent, "a1", "one two three"),
        message(Role::Agent, "a1", "one two three"),
    ];
    insta::assert_snapshot!(said(&v1(), &events), @r#"
    {"sessionUpdate":"agent_message_chunk","messageId":"a1","content":{"type":"text","text":"one "}}
    {"sessionUpdate":"agent_message_chunk","messageId":"a1","content":{"type":"text","text":"two"}}
    {"sessionUpdate":"agent_message_chunk","messageId":"a1","content":{"type":"text","text":" three"}}
    "#);
}

#[test]
fn media_travel_in_both_versions() {
    let events: Vec<Event> = media()
        .into_iter()
        .map(|content| Event::MessageDelta { id: "a1".into(), role: Role::Agent, content })
        .collect();
    insta::assert_snapshot!(said(&v1(), &events), @r#"
    {"sessionUpdate":"agent_message_chunk","content":{"type":"image","data":"AA==","mimeType":"image/png","uri":"file:///p"},"messageId":"a1"}
    {"sessionUpdate":"agent_message_chunk","content":{"type":"audio","data":"AA==","mimeType":"audio/wav"},"messageId":"a1"}
    {"sessionUpdate":"agent_message_chunk","content":{"type":"resource_link","description":"d","mimeType":"text/plain","name":"a","size":3,"title":"A","uri":"file:///w/a"},"messageId":"a1"}
    {"sessionUpdate":"agent_message_chunk","content":{"type":"resource","resource":{"mimeType":"text/plain","text":"b","uri":"file:///w/b"}},"messageId":"a1"}
    {"sessionUpdate":"agent_message_chunk","content":{"type":"resource","resource":{"blob":"AA==","uri":"file:///w/c"}},"messageId":"a1"}
    "#);
    assert_eq!(said(&v1(), &events).lines().count(), said(&v2(), &events).lines().count());
    let whole = [Event::Message { id: "u1".into(), role: Role::User, content: media() }];
    insta::assert_snapshot!(said(&v2(), &whole), @r#"{"sessionUpdate":"user_message","messageId":"u1","content":[{"type":"image","data":"AA==","mimeType":"image/png","uri":"file:///p"},{"type":"audio","data":"AA==","mimeType":"audio/wav"},{"type":"resource_link","name":"a","uri":"file:///w/a","title":"A","description":"d","mimeType":"text/plain","size":3},{"type":"resource","resource":{"text":"b","uri":"file:///w/b","mimeType":"text/plain"}},{"type":"resource","resource":{"blob":"AA==","uri":"file:///w/c"}}]}"#);
}

fn plan(id: &str, entries: &[(&str, PlanStatus)]) -> Event {
    let entry = |(content, status): &(&str, PlanStatus)| PlanEntry {
        content: (*content).to_owned(),
        priority: PlanPriority::Medium,
        status: *status,
    };
    Event::Plan(Plan { id: id.into(), entries: entries.iter().map(entry).collect() })
}

#[test]
fn version_1_has_one_plan_of_all_and_says_what_it_has_no_word_for() {
    let events = [
        plan(
            "tasks-s1",
            &[("a", PlanStatus::Blocked), ("b", PlanStatus::Cancelled), ("c", PlanStatus::InProgress)],
        ),
        plan("workflow-1", &[("w", PlanStatus::Pending)]),
        Event::PlanRemoved("tasks-s1".into()),
        Event::PlanRemoved("workflow-1".into()),
        Event::PlanRemoved("unknown".into()),
    ];
    insta::assert_snapshot!(said(&v1(), &events), @r#"
    {"sessionUpdate":"plan","entries":[{"content":"a (blocked)","priority":"medium","status":"pending","_meta":{"blocked":true}},{"content":"b (cancelled)","priority":"medium","status":"completed"},{"content":"c","priority":"medium","status":"in_progress"}]}
    {"sessionUpdate":"plan","entries":[{"content":"a (blocked)","priority":"medium","status":"pending","_meta":{"blocked":true}},{"content":"b (cancelled)","priority":"medium","status":"completed"},{"content":"c","priority":"medium","status":"in_progress"},{"content":"w","priority":"medium","status":"pending"}]}
    {"sessionUpdate":"plan","entries":[{"content":"w","priority":"medium","status":"pending"}]}
    {"sessionUpdate":"plan","entries":[]}
    "#);
}

#[test]
fn version_2_has_a_plan_for_each_id() {
    let events = [
        plan(
            "tasks-s1",
            &[("a", PlanStatus::Blocked), ("b", PlanStatus::Cancelled), ("c", PlanStatus::Completed)],
        ),
        Event::PlanRemoved("tasks-s1".into()),
    ];
    insta::assert_snapshot!(said(&v2(), &events), @r#"
    {"sessionUpdate":"plan_update","plan":{"type":"items","planId":"tasks-s1","entries":[{"content":"a (blocked)","priority":"medium","status":"pending","_meta":{"blocked":true}},{"content":"b","priority":"medium","status":"cancelled"},{"content":"c","priority":"medium","status":"completed"}]}}
    {"sessionUpdate":"plan_removed","planId":"tasks-s1"}
    "#);
}

fn usage(size: u64) -> Event {
    Event::Usage(ContextUsage {
        used: 10,
        size,
        cost: Some(Cost { amount: 0.5, currency: "USD".to_owned() }),
    })
}

#[test]
fn usage_goes_to_clients_that_survive_it_and_never_without_a_size() {
    assert_eq!(said(&v1(), &[usage(100)]), "");
    assert_eq!(
        said(&v1_full(), &[usage(100)]),
        r#"{"sessionUpdate":"usage_update","used":10,"size":100,"cost":{"amount":0.5,"currency":"USD"}}"#
    );
    assert_eq!(said(&v1_full(), &[usage(100)]), said(&v2(), &[usage(100)]));
    assert_eq!(said(&v1_full(), &[usage(0)]) + &said(&v2(), &[usage(0)]), "");
}

#[test]
fn commands_have_no_slash_and_each_versions_input() {
    let command = |name: &str, hint: Option<&str>| Command {
        name: name.to_owned(),
        description: "d".to_owned(),
        hint: hint.map(str::to_owned),
    };
    let events = [Event::Commands(vec![command("help", None), command("/export", Some("[path]"))])];
    insta::assert_snapshot!(said(&v1(), &events), @r#"{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"help","description":"d"},{"name":"export","description":"d","input":{"hint":"[path]"}}]}"#);
    insta::assert_snapshot!(said(&v2(), &events), @r#"{"sessionUpdate":"available_commands_update","availableCommands":[{"type":"command","name":"help","description":"d"},{"type":"command","name":"export","description":"d","input":{"type":"text","hint":"[path]"}}]}"#);
}

fn options(mode: &str) -> Event {
    let choice =
        |value: &str| Choice { value: value.to_owned(), name: value.to_uppercase(), description: None };
    Event::Options(vec![
        ConfigOption {
            id: "mode".to_owned(),
            name: "Mode".to_owned(),
            description: Some("How freely it acts".to_owned()),
            category: Some(OptionCategory::Mode),
            kind: OptionKind::Select {
                current: mode.to_owned(),
                choices: vec![choice("ask"), choice("auto")],
            },
        },
        ConfigOption {
            id: "think".to_owned(),
            name: "Think".to_owned(),
            description: None,
            category: Some(OptionCategory::Other("_milk".to_owned())),
            kind: OptionKind::Toggle { current: true },
        },
    ])
}

#[test]
fn settings_are_told_whole_and_version_1_mirrors_the_mode_when_it_moves() {
    let events = [options("ask"), options("ask"), options("auto")];
    insta::assert_snapshot!(said(&v1(), &events), @r#"
    {"sessionUpdate":"config_option_update","configOptions":[{"id":"mode","name":"Mode","description":"How freely it acts","category":"mode","type":"select","currentValue":"ask","options":[{"value":"ask","name":"ASK"},{"value":"auto","name":"AUTO"}]},{"id":"think","name":"Think","category":"_milk","type":"select","currentValue":"on","options":[{"value":"on","name":"On"},{"value":"off","name":"Off"}]}]}
    {"sessionUpdate":"current_mode_update","currentModeId":"ask"}
    {"sessionUpdate":"config_option_update","configOptions":[{"id":"mode","name":"Mode","description":"How freely it acts","category":"mode","type":"select","currentValue":"ask","options":[{"value":"ask","name":"ASK"},{"value":"auto","name":"AUTO"}]},{"id":"think","name":"Think","category":"_milk","type":"select","currentValue":"on","options":[{"value":"on","name":"On"},{"value":"off","name":"Off"}]}]}
    {"sessionUpdate":"config_option_update","configOptions":[{"id":"mode","name":"Mode","description":"How freely it acts","category":"mode","type":"select","currentValue":"auto","options":[{"value":"ask","name":"ASK"},{"value":"auto","name":"AUTO"}]},{"id":"think","name":"Think","category":"_milk","type":"select","currentValue":"on","options":[{"value":"on","name":"On"},{"value":"off","name":"Off"}]}]}
    {"sessionUpdate":"current_mode_update","currentModeId":"auto"}
    "#);
    insta::assert_snapshot!(said(&v1_full(), &[options("ask")]), @r#"
    {"sessionUpdate":"config_option_update","configOptions":[{"id":"mode","name":"Mode","description":"How freely it acts","category":"mode","type":"select","currentValue":"ask","options":[{"value":"ask","name":"ASK"},{"value":"auto","name":"AUTO"}]},{"id":"think","name":"Think","category":"_milk","type":"boolean","currentValue":true}]}
    {"sessionUpdate":"current_mode_update","currentModeId":"ask"}
    "#);
    insta::assert_snapshot!(said(&v2(), &[options("ask")]), @r#"{"sessionUpdate":"config_option_update","configOptions":[{"configId":"mode","name":"Mode","description":"How freely it acts","category":"mode","type":"select","currentValue":"ask","options":[{"value":"ask","name":"ASK"},{"value":"auto","name":"AUTO"}]},{"configId":"think","name":"Think","category":"_milk","type":"boolean","currentValue":true}]}"#);
}

#[test]
fn a_title_goes_to_clients_that_survive_it() {
    let events = [Event::Title(Some("T".to_owned())), Event::Title(None)];
    assert_eq!(said(&v1(), &events), "");
    insta::assert_snapshot!(said(&v2(), &events), @r#"
    {"sessionUpdate":"session_info_update","title":"T"}
    {"sessionUpdate":"session_info_update","title":null}
    "#);
    assert_eq!(said(&v1_full(), &events), said(&v2(), &events));
}

fn route() -> Route {
    Route {
        agent: "local".into(),
        target: "primary".to_owned(),
        reason: "default".to_owned(),
        conclusive: Some(true),
    }
}

#[test]
fn the_foreground_is_told_in_version_2_only() {
    let idle = |stop, error, route| Event::Foreground(Foreground::Idle { stop, error, route });
    let failure = TurnFailure { code: "provider_unreachable".to_owned(), message: "no server".to_owned() };
    let events = [
        Event::Foreground(Foreground::Running),
        Event::Foreground(Foreground::RequiresAction),
        idle(None, None, None),
        idle(Some(StopReason::EndTurn), None, Some(route())),
        idle(Some(StopReason::MaxTokens), None, None),
        idle(Some(StopReason::MaxTurnRequests), None, None),
        idle(Some(StopReason::Refusal), None, None),
        idle(Some(StopReason::Cancelled), None, None),
        idle(Some(StopReason::Error), Some(failure), Some(route())),
        idle(Some(StopReason::Error), None, None),
    ];
    assert_eq!(said(&v1_full(), &events), "");
    insta::assert_snapshot!(said(&v2(), &events), @r#"
    {"sessionUpdate":"state_update","state":"running"}
    {"sessionUpdate":"state_update","state":"requires_action"}
    {"sessionUpdate":"state_update","state":"idle"}
    {"sessionUpdate":"state_update","state":"idle","stopReason":"end_turn","_meta":{"milk/route":{"agent":"local","target":"primary","reason":"default"}}}
    {"sessionUpdate":"state_update","state":"idle","stopReason":"max_tokens"}
    {"sessionUpdate":"state_update","state":"idle","stopReason":"max_turn_requests"}
    {"sessionUpdate":"state_update","state":"idle","stopReason":"refusal"}
    {"sessionUpdate":"state_update","state":"idle","stopReason":"cancelled"}
    {"sessionUpdate":"state_update","state":"idle","stopReason":"error","error":{"code":-32603,"message":"no server","data":{"runtimeCode":"provider_unreachable","error":"no server"}},"_meta":{"milk/route":{"agent":"local","target":"primary","reason":"default"}}}
    {"sessionUpdate":"state_update","state":"idle","stopReason":"error"}
    "#);
}

#[test]
fn routes_and_warnings_are_notifications_of_our_own_in_both_versions() {
    let events = [
        Event::Routed(route()),
        Event::Warning(Warning {
            category: "loop/repetition".to_owned(),
            consumption: false,
            message: "the same call three times".to_owned(),
        }),
    ];
    insta::assert_snapshot!(said(&v2(), &events), @r#"
    _milk/route {"sessionId":"s1","agent":"local","target":"primary","reason":"default","conclusive":true}
    _milk/warning {"sessionId":"s1","category":"loop/repetition","consumption":false,"message":"the same call three times"}
    "#);
    assert_eq!(said(&v1(), &events), said(&v2(), &events));
}

#[test]
fn a_notice_is_a_message_to_clients_that_did_not_ask_for_notices() {
    let notice =
        |severity, title: &str| Event::Notice(Notice { id: "n1".into(), severity, title: title.to_owned() });
    let events = [
        notice(Severity::Info, "resumed"),
        notice(Severity::Warning, "not saved"),
        notice(Severity::Error, "failed"),
        notice(Severity::Info, ""),
    ];
    insta::assert_snapshot!(said(&v1(), &events), @r#"
    {"sessionUpdate":"agent_message_chunk","messageId":"n1","content":{"type":"text","text":"resumed\n\n"}}
    {"sessionUpdate":"agent_message_chunk","messageId":"n1","content":{"type":"text","text":"not saved\n\n"}}
    {"sessionUpdate":"agent_message_chunk","messageId":"n1","content":{"type":"text","text":"failed\n\n"}}
    "#);
    insta::assert_snapshot!(said(&v2(), &events), @r#"
    {"sessionUpdate":"notice","severity":"info","title":"resumed"}
    {"sessionUpdate":"notice","severity":"warning","title":"not saved"}
    {"sessionUpdate":"notice","severity":"error","title":"failed"}
    "#);
    assert_eq!(said(&v1_full(), &events), said(&v2(), &events));
}

#[test]
fn the_end_of_a_replay_is_told_in_version_2_only() {
    assert_eq!(said(&v1_full(), &[Event::ReplayComplete]), "");
    assert_eq!(said(&v2(), &[Event::ReplayComplete]), r#"{"sessionUpdate":"replay_complete"}"#);
}

#[test]
fn a_chunk_carries_any_text_unchanged() {
    let text = "\u{0}\u{1b}[31m\"\\\r\n\u{2028}\u{feff}🦀é";
    for dialect in [v1(), v2()] {
        let mut view = dialect.view("s1".into());
        let said = view.update(&delta(Role::Agent, "m", text));
        assert_eq!(update(&said[0])["content"], json!({"type": "text", "text": text}));
        assert!(!said[0].params.get().contains('\n'));
        assert!(!lines(&dialect, &mut view, &[delta(Role::Agent, "m", text)]).is_empty());
    }
}
