//! Providers that fail, tools and turns that take too long.

use std::time::Duration;

use serde_json::json;
use session_model::{Content, Entry, GrantScope, Item, MessageId, StopReason, ToolKind, TurnId};
use time::OffsetDateTime;
use tokio::time::Instant;

use super::rig::{Behaviour, Diary, Fake, Rig, told};
use crate::agent::TOOL_GRACE;
use crate::driver::TurnError;
use crate::provider::ProviderError;
use crate::scripted::{Latch, Line, Scripted};

fn reported() -> ProviderError {
    ProviderError::Reported { agent: "scripted".to_owned(), message: "quota exceeded".to_owned() }
}

#[tokio::test(start_paused = true)]
async fn a_failure_before_the_answer_fails_the_turn_with_its_cause() {
    let outcome = Rig::new(vec![vec![Line::Fail(reported())]]).run().await;
    assert!(outcome.log.is_empty());
    let failure = outcome.end.unwrap_err().failure();
    assert_eq!(failure.code, "provider_reported");
    assert_eq!(failure.message, "scripted: the server reported: quota exceeded");
}

#[tokio::test(start_paused = true)]
async fn what_was_said_before_a_failure_stays_said() {
    let outcome = Rig::new(vec![vec![Line::say("half"), Line::Fail(reported())]]).run().await;
    assert_eq!(outcome.log, ["agent msg-1: half"]);
    assert!(matches!(outcome.end, Err(TurnError::Provider(ProviderError::Reported { .. }))));
}

#[tokio::test(start_paused = true)]
async fn what_a_provider_has_to_tell_is_told_before_its_answer() {
    let model = Scripted::new(vec![vec![Line::say("ok")]]).with_notice("tools are not supported");
    let outcome = Rig::new(Vec::new()).model(model).run().await;
    assert_eq!(outcome.log, ["notice Info: tools are not supported", "agent msg-2: ok"]);
}

pub(super) fn too_long() -> ProviderError {
    let message = "maximum context length is 100 tokens".to_owned();
    ProviderError::Status { agent: "scripted".to_owned(), status: 400, message }
}

fn with_history(mut rig: Rig, turns: usize) -> Rig {
    for n in 0..turns {
        let turn = TurnId::from(format!("t{n}"));
        let text = format!("{n} {}", "x".repeat(100));
        let items = [
            Item::User { id: MessageId::from("u"), content: vec![Content::text(text.clone())], key: None },
            Item::Agent { id: MessageId::from("a"), step: 0, text },
            Item::TurnEnd { stop: StopReason::EndTurn, error: None, route: None },
        ];
        let at = OffsetDateTime::UNIX_EPOCH;
        rig.history.extend(items.map(|item| Entry { turn: turn.clone(), at, item }));
    }
    rig
}

#[tokio::test(start_paused = true)]
async fn a_request_that_was_too_long_is_made_once_more_with_less() {
    let script = vec![vec![Line::Fail(too_long())], vec![Line::say("ok")]];
    let rig = with_history(Rig::new(script), 10);
    let model = std::sync::Arc::clone(&rig.model);
    let outcome = rig.run().await;
    assert_eq!(outcome.end.unwrap().stop, StopReason::EndTurn);
    assert!(outcome.log[0].starts_with("notice Warning: The conversation is longer"), "{:?}", outcome.log);
    let sizes: Vec<_> =
        model.requests().iter().map(|request| crate::context::total_size(&request.messages)).collect();
    assert!(sizes[1] <= sizes[0] / 2 && sizes[1] > 0, "{sizes:?}");
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_shortened_or_is_still_too_long_fails_with_the_servers_words() {
    for (turns, requests) in [(0, 1), (10, 2)] {
        let rig = with_history(Rig::new(vec![vec![Line::Fail(too_long())]; requests]), turns);
        let model = std::sync::Arc::clone(&rig.model);
        let outcome = rig.run().await;
        assert!(outcome.end.unwrap_err().to_string().contains("maximum context length"));
        assert_eq!(model.requests().len(), requests);
        assert_eq!(model.remaining(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_is_asked_again_once_something_was_said() {
    let rig = with_history(Rig::new(vec![vec![Line::say("so"), Line::Fail(too_long())]]), 10);
    let outcome = rig.run().await;
    assert_eq!(outcome.log, ["agent msg-1: so"]);
    assert!(outcome.end.is_err());
}

#[tokio::test(start_paused = true)]
async fn an_answer_cut_off_runs_none_of_its_calls() {
    let diary = Diary::default();
    let outcome = Rig::new(vec![vec![Line::call("work", json!({})), Line::Cut]])
        .tool(Fake::new("work", Behaviour::Say("x")).noting(&diary))
        .run()
        .await;
    assert!(matches!(outcome.end, Err(TurnError::Provider(ProviderError::Truncated { .. }))));
    assert!(outcome.log.is_empty());
    assert!(diary.lock().unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_takes_too_long_is_stopped_and_the_model_told() {
    for (behaviour, grace) in [
        (Behaviour::Deaf, TOOL_GRACE),
        (Behaviour::Tidy(Duration::from_millis(100)), Duration::from_millis(100)),
    ] {
        let began = Instant::now();
        let rig = Rig::new(vec![vec![Line::call("work", json!({}))], vec![Line::say("ok")]])
            .tool(Fake::new("work", behaviour));
        let model = std::sync::Arc::clone(&rig.model);
        let outcome = rig.run().await;
        assert_eq!(began.elapsed(), Duration::from_mins(2) + grace);
        assert!(outcome.end.is_ok());
        assert!(told(&model.requests())[0].contains(r#"tool \"work\" timed out after 120 s"#));
    }
}

#[tokio::test(start_paused = true)]
async fn commands_are_bound_by_the_turn_only() {
    let time = Duration::from_mins(5);
    let outcome = Rig::new(vec![vec![Line::call("bash", json!({}))], vec![Line::say("ok")]])
        .tool(Fake::new("bash", Behaviour::Slow(time)).kind(ToolKind::Execute))
        .run()
        .await;
    assert_eq!(outcome.end.unwrap().stop, StopReason::EndTurn);
    assert!(outcome.log.iter().any(|line| line.contains("Completed")));
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_takes_too_long_fails() {
    let began = Instant::now();
    let outcome = Rig::new(vec![vec![Line::say("so"), Line::Hang]]).run().await;
    assert_eq!(began.elapsed(), Duration::from_mins(10));
    assert!(matches!(outcome.end, Err(TurnError::TimedOut { seconds: 600 })));
    assert_eq!(outcome.end.unwrap_err().failure().code, "turn_timed_out");
}

#[tokio::test(start_paused = true)]
async fn the_users_time_is_not_the_turns() {
    let script = vec![
        vec![Line::Pause(Duration::from_secs(500)), Line::call("edit", json!({}))],
        vec![Line::Pause(Duration::from_secs(99)), Line::say("ok")],
    ];
    let rig = Rig::new(script)
        .tool(Fake::new("edit", Behaviour::Say("x")).asks(vec![GrantScope::Tool]))
        .choose("allow");
    let mut running = rig.start();
    running.until_asked_and_wait(Duration::from_hours(1)).await;
    let outcome = running.finish().await;
    assert_eq!(outcome.end.unwrap().stop, StopReason::EndTurn);
}

#[tokio::test(start_paused = true)]
async fn a_model_goes_on_when_the_test_says_so() {
    let latch = Latch::new();
    let rig = Rig::new(vec![vec![Line::say("a"), Line::Wait(latch.clone()), Line::say("b")]]);
    let mut running = rig.start();
    running.until("a").await;
    latch.reached().await;
    assert_eq!(running.model.streaming(), 1);
    latch.open();
    assert_eq!(running.finish().await.log, ["agent msg-1: a", "agent msg-1: b"]);
}
