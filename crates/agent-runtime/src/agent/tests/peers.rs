//! Another agent as a tool: what it knows, what is told of it, whose leave its calls need, and how it ends.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use session_model::source::SequentialIds;
use session_model::{GrantScope, TokenUsage};

use super::rig::{Behaviour, Diary, Fake, Rig, shown, told};
use crate::agent::{Agent, Limits};
use crate::driver::TurnError;
use crate::provider::{ModelMessage, ProviderError, ProviderInfo};
use crate::scripted::{Line, Scripted};
use crate::tools::peer::{Peer, tool_name};
use crate::tools::registry::ToolRegistry;
use crate::tools::{Tool as _, Workspace};

fn model(answers: Vec<Vec<Line>>) -> Arc<Scripted> {
    let info = ProviderInfo { agent: "helper".to_owned(), model: "script".to_owned(), context_window: None };
    Arc::new(Scripted::new(answers).with_info(info))
}

fn agent(model: &Arc<Scripted>, tools: ToolRegistry) -> Agent {
    Agent::new(Arc::<Scripted>::clone(model), tools, Arc::new(SequentialIds::default()))
}

fn peer(agent: Agent) -> Peer {
    Peer::new("helper", "Knows numbers.", Arc::new(agent))
}

/// A turn in which `helper` is asked once, and what comes of it is said.
fn asking(peer: Peer) -> Rig {
    let call = Line::call("agent_helper", json!({"request": "count"}));
    Rig::new(vec![vec![call], vec![Line::say("ok")]]).tools(ToolRegistry::new().with(peer))
}

fn used(output: u64) -> Line {
    Line::Usage(TokenUsage { output, ..TokenUsage::default() })
}

#[test]
fn names_are_lower_cased_with_one_underscore_for_each_run_of_anything_else() {
    let rows = [
        ("helper", "agent_helper"),
        ("My-Agent 2", "agent_my_agent_2"),
        ("a--b__c", "agent_a_b_c"),
        (" Ärger! ", "agent__rger_"),
    ];
    for (name, expected) in rows {
        assert_eq!(tool_name(name), expected);
    }
    assert_eq!(tool_name(&"x".repeat(100)).len(), 64);
}

#[tokio::test(start_paused = true)]
async fn it_knows_the_request_alone_and_its_answer_is_the_result() {
    let helper = model(vec![vec![Line::say("three"), used(7)]]);
    let rig = asking(peer(agent(&helper, ToolRegistry::new()))).choose("allow");
    let caller = Arc::clone(&rig.model);
    let outcome = rig.run().await;
    assert_eq!(
        outcome.log,
        [
            r#"call-1 Pending "agent_helper: count" step 0 in {"request":"count"}"#,
            r#"ask call-1 "agent_helper: count" [allow=Allow, allow_always=Always allow agent_helper in this session, reject=Reject]"#,
            "call-1 InProgress",
            "spent 7 of helper",
            r#"call-1 Completed out {"output":"three"}"#,
            "agent msg-2: ok",
        ]
    );
    assert_eq!(told(&caller.requests()), [r#"{"output":"three"}"#]);
    let heard = helper.requests();
    assert!(
        matches!(&heard[0].messages[..], [ModelMessage::User(content)] if session_model::text_of(content) == "count")
    );
    assert_eq!(outcome.end.unwrap().usage, Some(TokenUsage { output: 7, ..TokenUsage::default() }));
}

#[tokio::test(start_paused = true)]
async fn a_blank_request_is_refused_before_anybody_is_asked() {
    let helper = peer(agent(&model(Vec::new()), ToolRegistry::new()));
    let workspace =
        Workspace { cwd: "/work".into(), additional_roots: Vec::new(), host: crate::host::Host::default() };
    for args in [json!({}), json!({"request": " \n"})] {
        helper.plan(args.as_object().unwrap(), &workspace).await.unwrap_err();
    }
}

fn editor(diary: &Diary) -> ToolRegistry {
    ToolRegistry::new()
        .with(Fake::new("edit", Behaviour::Say("edited")).asks(vec![GrantScope::Tool]).noting(diary))
}

fn two_edits() -> Arc<Scripted> {
    model(vec![
        vec![Line::say("let me see"), Line::call("edit", json!({"n": 1}))],
        vec![Line::call("edit", json!({"n": 2}))],
        vec![Line::say("done")],
    ])
}

#[tokio::test(start_paused = true)]
async fn its_calls_are_asked_about_under_its_row_and_leave_a_line_each() {
    let diary = Diary::default();
    let rig =
        asking(peer(agent(&two_edits(), editor(&diary)))).choose("allow").choose("allow").choose("reject");
    let outcome = rig.run().await;
    assert_eq!(
        outcome.log[2..],
        [
            "call-1 InProgress",
            r#"ask call-1 "helper → edit: planned" [allow=Allow, allow_always=Always allow edit in this session, reject=Reject]"#,
            r#"call-1 "agent_helper: count""#,
            "call-1 +✓ edit: planned\n",
            r#"ask call-1 "helper → edit: planned" [allow=Allow, allow_always=Always allow edit in this session, reject=Reject]"#,
            r#"call-1 "agent_helper: count""#,
            "call-1 +✗ edit: planned\n",
            r#"call-1 Completed out {"output":"done"}"#,
            "agent msg-2: ok",
        ]
    );
    assert_eq!(diary.lock().unwrap().iter().filter(|line| line.ends_with("begins")).count(), 1);
    let content = outcome.rows.last().unwrap().content.clone().unwrap();
    assert_eq!(shown(&content), "✓ edit: planned\n✗ edit: planned\ndone");
}

#[tokio::test(start_paused = true)]
async fn what_it_was_always_allowed_holds_for_its_caller_too() {
    let diary = Diary::default();
    let helper = peer(agent(&two_edits(), editor(&diary)));
    let tools = editor(&diary).with(helper);
    let rig = Rig::new(vec![
        vec![Line::call("agent_helper", json!({"request": "count"})), Line::call("edit", json!({"n": 3}))],
        vec![Line::say("ok")],
    ]);
    let outcome = rig.tools(tools).choose("allow").choose("allow_always").run().await;
    let asked: Vec<_> = outcome.log.iter().filter(|line| line.starts_with("ask")).collect();
    assert_eq!(asked.len(), 2, "{asked:?}");
    assert!(outcome.log.contains(&"granted edit Tool".to_owned()));
    assert_eq!(diary.lock().unwrap().iter().filter(|line| line.ends_with("begins")).count(), 3);
}

#[tokio::test(start_paused = true)]
async fn its_failure_is_the_calls_and_not_the_turns() {
    let helper = model(vec![vec![Line::Fail(ProviderError::Misconfigured {
        agent: "helper".to_owned(),
        reason: "no".to_owned(),
    })]]);
    let rig = asking(peer(agent(&helper, ToolRegistry::new()))).choose("allow");
    let caller = Arc::clone(&rig.model);
    rig.run().await.end.unwrap();
    assert_eq!(told(&caller.requests()), [r#"{"error":"helper: no"}"#]);
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_is_refused_does_not_begin() {
    let helper = model(Vec::new());
    let outcome = asking(peer(agent(&helper, ToolRegistry::new()))).choose("reject").run().await;
    assert!(helper.requests().is_empty());
    outcome.end.unwrap();
}

#[tokio::test(start_paused = true)]
async fn cancelling_reaches_the_tool_of_a_peer() {
    let diary = Diary::default();
    let tools = ToolRegistry::new()
        .with(Fake::new("work", Behaviour::Tidy(Duration::from_millis(100))).noting(&diary));
    let helper = model(vec![vec![Line::call("work", json!({}))]]);
    let mut running = asking(peer(agent(&helper, tools))).choose("allow").start();
    running.until("InProgress").await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    running.cancel.cancel();
    let outcome = running.finish().await;
    assert!(matches!(outcome.end, Err(TurnError::Interrupted(_))), "{:?}", outcome.end);
    assert_eq!(*diary.lock().unwrap(), ["work begins", "work is tidy", "work ends"]);
    assert_eq!(helper.streaming(), 0);
}

#[tokio::test(start_paused = true)]
async fn its_time_is_its_own() {
    let slow = ToolRegistry::new().with(Fake::new("work", Behaviour::Slow(Duration::from_secs(50))));
    let helper = model(vec![vec![Line::call("work", json!({}))], vec![Line::say("late")]]);
    let short = Limits { turn: Duration::from_secs(5), tool: Duration::from_secs(1), ..Limits::default() };
    let rig = asking(peer(agent(&helper, slow))).limits(short).choose("allow");
    let caller = Arc::clone(&rig.model);
    rig.run().await.end.unwrap();
    assert_eq!(told(&caller.requests()), [r#"{"output":"late"}"#]);

    let helper = model(vec![vec![Line::Hang]]);
    let rig = asking(peer(agent(&helper, ToolRegistry::new()).with_limits(short))).choose("allow");
    let caller = Arc::clone(&rig.model);
    rig.run().await.end.unwrap();
    assert!(told(&caller.requests())[0].contains("the turn took longer than 5 s"));
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_thinks_it_can_ask_back_is_told_that_it_cannot() {
    let helper = model(vec![
        vec![Line::call("agent_caller", json!({"request": "you do it"}))],
        vec![Line::say("alone then")],
    ]);
    let outcome = asking(peer(agent(&helper, ToolRegistry::new()))).choose("allow").run().await;
    assert!(outcome.log.contains(&"call-1 +✗ agent_caller\n".to_owned()), "{:#?}", outcome.log);
    assert!(told(&helper.requests())[0].contains("unknown tool: agent_caller"));
}

#[tokio::test(start_paused = true)]
async fn a_long_answer_is_bounded_and_put_aside() {
    let folder = tempfile::tempdir().unwrap();
    let helper = model(vec![vec![Line::say("x".repeat(200_000))]]);
    let rig = asking(peer(agent(&helper, ToolRegistry::new()))).spill(folder.path()).choose("allow");
    let caller = Arc::clone(&rig.model);
    rig.run().await.end.unwrap();
    let told = told(&caller.requests());
    assert!(told[0].len() < 30_000 && told[0].contains("all of it is in"), "{:.300}", told[0]);
    let (_, place) = told[0].split_once("all of it is in ").unwrap();
    let (place, _) = place.split_once(", which").unwrap();
    assert!(place.starts_with(folder.path().to_str().unwrap()), "{place}");
    assert_eq!(std::fs::read_to_string(place).unwrap(), "x".repeat(200_000));
}
