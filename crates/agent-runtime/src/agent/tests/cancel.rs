//! Cancellation at every wait, to the millisecond.

use std::time::Duration;

use serde_json::json;
use session_model::GrantScope;
use tokio::time::Instant;

use super::rig::{Behaviour, Diary, Fake, Rig};
use crate::agent::TOOL_GRACE;
use crate::driver::TurnError;
use crate::io::Interrupted;
use crate::scripted::Line;

fn assert_interrupted(end: &Result<crate::driver::TurnEnd, TurnError>) {
    assert!(matches!(end, Err(TurnError::Interrupted(Interrupted))), "{end:?}");
}

#[tokio::test(start_paused = true)]
async fn a_cancel_before_the_turn_begins_asks_no_model() {
    let rig = Rig::new(vec![vec![Line::say("never")]]);
    rig.cancel.cancel();
    let model = std::sync::Arc::clone(&rig.model);
    let outcome = rig.run().await;
    assert_interrupted(&outcome.end);
    assert!(outcome.log.is_empty());
    assert!(model.requests().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_cancel_while_the_model_is_silent_closes_its_stream_at_once() {
    let mut running = Rig::new(vec![vec![Line::say("so"), Line::Hang]]).start();
    running.until("so").await;
    let began = Instant::now();
    running.cancel.cancel();
    let outcome = running.finish().await;
    assert_interrupted(&outcome.end);
    assert_eq!(outcome.log, ["agent msg-1: so"]);
    assert_eq!(began.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_cancel_with_a_question_open_runs_nothing_and_asks_nothing_more() {
    let diary = Diary::default();
    let script = vec![vec![Line::call("edit", json!({ "n": 1 })), Line::call("edit", json!({ "n": 2 }))]];
    let edit = Fake::new("edit", Behaviour::Say("x")).asks(vec![GrantScope::Tool]).noting(&diary);
    let mut running = Rig::new(script).tool(edit).start();
    running.until("ask call-1").await;
    running.cancel.cancel();
    let outcome = running.finish().await;
    assert_interrupted(&outcome.end);
    assert!(outcome.log.last().unwrap().starts_with("ask call-1"));
    assert!(diary.lock().unwrap().is_empty());
}

async fn cancelled_during(behaviour: Behaviour) -> (Duration, Vec<String>) {
    let diary = Diary::default();
    let tool = Fake::new("work", behaviour).noting(&diary);
    let mut running = Rig::new(vec![vec![Line::call("work", json!({}))]]).tool(tool).start();
    running.until("InProgress").await;
    let began = Instant::now();
    running.cancel.cancel();
    let outcome = running.finish().await;
    assert_interrupted(&outcome.end);
    assert_eq!(outcome.log.last().unwrap(), "call-1 InProgress", "nothing is said after a cancel");
    let diary = diary.lock().unwrap().clone();
    (began.elapsed(), diary)
}

#[tokio::test(start_paused = true)]
async fn a_deaf_tool_costs_exactly_the_grace() {
    let (took, diary) = cancelled_during(Behaviour::Deaf).await;
    assert_eq!(took, TOOL_GRACE);
    assert_eq!(took, Duration::from_millis(500));
    assert_eq!(diary, ["work begins"]);
}

#[tokio::test(start_paused = true)]
async fn a_tool_may_clean_up_within_the_grace() {
    let (took, diary) = cancelled_during(Behaviour::Tidy(Duration::from_millis(200))).await;
    assert_eq!(took, Duration::from_millis(200));
    assert_eq!(diary, ["work begins", "work is tidy", "work ends"]);
}

#[tokio::test(start_paused = true)]
async fn cleaning_up_for_too_long_is_cut_off() {
    let (took, diary) = cancelled_during(Behaviour::Tidy(Duration::from_secs(5))).await;
    assert_eq!(took, TOOL_GRACE);
    assert_eq!(diary, ["work begins"]);
}

#[tokio::test(start_paused = true)]
async fn one_grace_is_enough_for_a_whole_batch() {
    let script = vec![vec![
        Line::call("work", json!({ "n": 1 })),
        Line::call("work", json!({ "n": 2 })),
        Line::call("later", json!({})),
    ]];
    let diary = Diary::default();
    let mut running = Rig::new(script)
        .tool(Fake::new("work", Behaviour::Deaf).parallel())
        .tool(Fake::new("later", Behaviour::Say("x")).noting(&diary))
        .start();
    running.until("call-2 InProgress").await;
    let began = Instant::now();
    running.cancel.cancel();
    assert_interrupted(&running.finish().await.end);
    assert_eq!(began.elapsed(), TOOL_GRACE);
    assert!(diary.lock().unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_client_that_stops_reading_stops_the_model_and_a_cancel_still_works() {
    let pieces: Vec<_> = (0..1000).map(|n| format!("{n} ")).collect();
    let mut running = Rig::new(vec![vec![Line::Say(pieces)]]).start();
    running.until("agent msg-1: 0").await;
    tokio::time::sleep(Duration::from_mins(1)).await;
    running.cancel.cancel();
    let outcome = running.finish().await;
    assert_interrupted(&outcome.end);
    // What had been read, what waited in the queue, and nothing else.
    assert_eq!(outcome.log.len(), 1 + crate::io::SIGNAL_QUEUE);
}

#[tokio::test(start_paused = true)]
async fn a_listener_that_is_gone_interrupts_the_turn() {
    let rig = Rig::new(vec![vec![Line::say("a"), Line::say("b")]]);
    let running = rig.start();
    let outcome = running.hang_up().await;
    assert_interrupted(&outcome);
}
