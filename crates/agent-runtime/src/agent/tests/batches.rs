//! Several calls at once: together or alone, in order, with results in order.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::rig::{Behaviour, Diary, Fake, Rig, told};
use crate::scripted::Line;

const SECOND: Duration = Duration::from_secs(1);

fn calls(names: &[&str]) -> Vec<Vec<Line>> {
    let calls = names.iter().map(|&name| Line::call(name, json!({}))).collect();
    vec![calls, vec![Line::say("ok")]]
}

#[tokio::test(start_paused = true)]
async fn reading_calls_run_together_and_report_in_call_order() {
    let diary = Diary::default();
    let began = Instant::now();
    let rig = Rig::new(calls(&["slow", "quick"]))
        .tool(Fake::new("slow", Behaviour::Slow(2 * SECOND)).parallel().noting(&diary))
        .tool(Fake::new("quick", Behaviour::Slow(SECOND)).parallel().noting(&diary));
    let outcome = rig.run().await;
    assert_eq!(began.elapsed(), 2 * SECOND);
    assert_eq!(*diary.lock().unwrap(), ["slow begins", "quick begins", "quick ends", "slow ends"]);
    let ends: Vec<_> = outcome.log.iter().filter(|line| line.contains("Completed")).collect();
    assert!(ends[0].starts_with("call-1") && ends[1].starts_with("call-2"), "{ends:?}");
}

#[tokio::test(start_paused = true)]
async fn other_calls_run_alone_in_their_place() {
    let diary = Diary::default();
    let began = Instant::now();
    let rig = Rig::new(calls(&["read", "write", "read", "read"]))
        .tool(Fake::new("read", Behaviour::Slow(SECOND)).parallel().noting(&diary))
        .tool(Fake::new("write", Behaviour::Slow(SECOND)).noting(&diary));
    rig.run().await;
    assert_eq!(began.elapsed(), 3 * SECOND);
    assert_eq!(
        *diary.lock().unwrap(),
        [
            "read begins",
            "read ends",
            "write begins",
            "write ends",
            "read begins",
            "read begins",
            "read ends",
            "read ends"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn what_cannot_run_fails_alone_and_the_model_is_told_why() {
    let rig = Rig::new(vec![
        vec![
            Line::call("nothing", json!({ "path": "a" })),
            Line::call_raw("look", r#"{"command": "cd /x"#),
            Line::call_raw("look", "[1]"),
            Line::call("look", json!({ "bad": true })),
            Line::call_raw("look", ""),
        ],
        vec![Line::say("ok")],
    ])
    .tool(Fake::new("look", Behaviour::Say("seen")));
    let model = std::sync::Arc::clone(&rig.model);
    let outcome = rig.run().await;
    insta::assert_snapshot!(outcome.log[..5].join("\n"), @r#"
    call-1 Pending "nothing: a" step 0 in {"path":"a"}
    call-2 Pending "look" step 0 in "{\"command\": \"cd /x"
    call-3 Pending "look" step 0 in "[1]"
    call-4 Pending "look" step 0 in {"bad":true}
    call-5 Pending "look: planned" step 0 in {}
    "#);
    let ends = outcome.log.iter().filter(|line| line.contains(" Failed ") || line.contains(" Completed "));
    let ends: Vec<_> = ends.filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(
        ends,
        ["call-1", "call-2", "call-3", "call-4", "call-5"],
        "they end in the order of the calls"
    );
    let told = told(&model.requests());
    assert!(told[0].contains("unknown tool: nothing; there are: look"), "{told:?}");
    assert!(told[1].contains("not valid JSON"), "{told:?}");
    assert!(told[2].contains("a JSON object is needed"), "{told:?}");
    assert!(told[3].contains("bad is not allowed"), "{told:?}");
    assert_eq!(told[4], r#"{"output":"seen"}"#);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_panics_fails_its_call_and_nothing_else() {
    let rig = Rig::new(calls(&["bomb", "look"]))
        .tool(Fake::new("bomb", Behaviour::Panic).parallel())
        .tool(Fake::new("look", Behaviour::Say("fine")).parallel());
    let model = std::sync::Arc::clone(&rig.model);
    let outcome = rig.run().await;
    assert!(outcome.end.is_ok());
    assert_eq!(told(&model.requests()), [r#"{"error":"the tool bomb broke: boom"}"#, r#"{"output":"fine"}"#]);
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_told_and_shown() {
    let rig = Rig::new(calls(&["look"])).tool(Fake::new("look", Behaviour::Fail("no such file")));
    let model = std::sync::Arc::clone(&rig.model);
    let outcome = rig.run().await;
    assert_eq!(outcome.log[2], r#"call-1 Failed out {"error":"no such file"}"#);
    assert_eq!(told(&model.requests()), [r#"{"error":"no such file"}"#]);
}

#[tokio::test(start_paused = true)]
async fn the_model_is_told_of_a_result_once_the_session_has_kept_it() {
    let rig = Rig::new(calls(&["look"])).tool(Fake::new("look", Behaviour::Say("seen")));
    let mut running = rig.start();
    running.until("call-1 Completed").await;
    tokio::time::sleep(SECOND).await;
    assert_eq!(running.model.requests().len(), 1, "the result is not kept yet");
    let model = std::sync::Arc::clone(&running.model);
    running.finish().await;
    assert_eq!(told(&model.requests()), [r#"{"output":"seen"}"#]);
}

#[tokio::test(start_paused = true)]
async fn a_result_too_long_for_the_model_is_told_in_part_and_kept_where_it_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let long: &'static str = "all of it\n".repeat(20_000).leak();
    let rig = Rig::new(calls(&["look"])).tool(Fake::new("look", Behaviour::Say(long)));
    let spill = folder.path().join("outputs");
    let mut rig = rig.spill(&spill);
    rig.cwd = folder.path().to_owned();
    let model = std::sync::Arc::clone(&rig.model);
    let outcome = rig.run().await;
    let told = &told(&model.requests())[0];
    assert!(
        told.len() < 40_000 && told.contains("call-1.txt, which read_file and grep can read"),
        "{told:.200}"
    );
    assert!(outcome.log[2].len() < 40_000);
    assert_eq!(std::fs::read_to_string(spill.join("s/call-1.txt")).unwrap(), long);
}
