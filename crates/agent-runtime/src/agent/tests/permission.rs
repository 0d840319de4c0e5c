//! Questions: when they are asked, what they offer, and what counts as consent.

use serde_json::json;
use session_model::{Answer, Grant, GrantScope};

use super::rig::{Behaviour, Diary, Fake, Outcome, Rig, told};
use crate::mode::Mode;
use crate::scripted::Line;

fn one_call() -> Rig {
    Rig::new(vec![vec![Line::call("edit", json!({}))], vec![Line::say("ok")]])
        .tool(Fake::new("edit", Behaviour::Say("edited")).asks(vec![GrantScope::Tool]))
}

fn ran(outcome: &Outcome) -> bool {
    outcome.log.iter().any(|line| line.contains("InProgress"))
}

#[tokio::test(start_paused = true)]
async fn a_call_waits_for_leave_between_its_row_and_its_run() {
    let outcome = one_call().choose("allow").run().await;
    assert_eq!(
        outcome.log,
        [
            r#"call-1 Pending "edit: planned" step 0 in {}"#,
            r#"ask call-1 "edit: planned" [allow=Allow, allow_always=Always allow edit in this session, reject=Reject]"#,
            "call-1 InProgress",
            r#"call-1 Completed out {"output":"edited"}"#,
            "agent msg-2: ok",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn once_means_once() {
    let outcome = Rig::new(vec![
        vec![Line::call("edit", json!({ "n": 1 })), Line::call("edit", json!({ "n": 2 }))],
        vec![Line::call("edit", json!({ "n": 3 }))],
        vec![Line::say("ok")],
    ])
    .tool(Fake::new("edit", Behaviour::Say("x")).asks(vec![GrantScope::Tool]))
    .choose("allow")
    .choose("allow")
    .choose("allow")
    .run()
    .await;
    assert_eq!(outcome.log.iter().filter(|line| line.starts_with("ask")).count(), 3);
    assert!(!outcome.log.iter().any(|line| line.starts_with("granted")));
}

#[tokio::test(start_paused = true)]
async fn always_is_kept_and_holds_from_the_next_question_on() {
    let outcome = Rig::new(vec![
        vec![Line::call("edit", json!({ "n": 1 })), Line::call("edit", json!({ "n": 2 }))],
        vec![Line::call("edit", json!({ "n": 3 }))],
        vec![Line::say("ok")],
    ])
    .tool(Fake::new("edit", Behaviour::Say("x")).asks(vec![GrantScope::Tool]))
    .choose("allow_always")
    .run()
    .await;
    assert_eq!(outcome.log.iter().filter(|line| line.starts_with("ask")).count(), 1);
    let granted: Vec<_> = outcome.log.iter().filter(|line| line.starts_with("granted")).collect();
    assert_eq!(granted, ["granted edit Tool"]);
}

#[tokio::test(start_paused = true)]
async fn always_for_one_tool_is_nothing_for_another() {
    let outcome = Rig::new(vec![
        vec![Line::call("edit", json!({})), Line::call("shell", json!({}))],
        vec![Line::say("ok")],
    ])
    .tool(Fake::new("edit", Behaviour::Say("x")).asks(vec![GrantScope::Tool]))
    .tool(Fake::new("shell", Behaviour::Say("x")).asks(vec![GrantScope::CommandPrefix("ls".into())]))
    .choose("allow_always")
    .choose("reject")
    .run()
    .await;
    let asked: Vec<_> = outcome.log.iter().filter(|line| line.starts_with("ask")).collect();
    assert_eq!(asked.len(), 2);
    assert!(asked[1].contains("allow_always=Always allow `ls` … in this session"), "{}", asked[1]);
}

#[tokio::test(start_paused = true)]
async fn nothing_runs_before_the_last_question_and_questions_come_in_call_order() {
    let diary = Diary::default();
    let outcome = Rig::new(vec![
        vec![
            Line::call("free", json!({})),
            Line::call("edit", json!({ "n": 1 })),
            Line::call("edit", json!({ "n": 2 })),
        ],
        vec![Line::say("ok")],
    ])
    .tool(Fake::new("free", Behaviour::Say("x")).noting(&diary))
    .tool(Fake::new("edit", Behaviour::Say("x")).asks(vec![GrantScope::Tool]).noting(&diary))
    .choose("reject")
    .choose("allow")
    .run()
    .await;
    let order: Vec<_> = outcome.log.iter().map(|line| line.split(" \"").next().unwrap()).collect();
    assert_eq!(
        order,
        [
            "call-1 Pending",
            "call-2 Pending",
            "call-3 Pending",
            "ask call-2",
            "ask call-3",
            "call-1 InProgress",
            r#"call-1 Completed out {"output":"x"}"#,
            order[7],
            "call-3 InProgress",
            r#"call-3 Completed out {"output":"x"}"#,
            "agent msg-4: ok",
        ]
    );
    assert!(order[7].starts_with("call-2 Failed"), "{order:#?}");
    assert_eq!(*diary.lock().unwrap(), ["free begins", "edit begins"]);
}

#[tokio::test(start_paused = true)]
async fn a_denial_is_told_to_the_model_and_the_turn_goes_on() {
    for answer in [Answer::Selected("reject".into()), Answer::Declined, Answer::Cancelled] {
        let rig = one_call().answer(answer.clone());
        let model = std::sync::Arc::clone(&rig.model);
        let outcome = rig.run().await;
        assert!(!ran(&outcome), "{answer:?}");
        assert!(outcome.end.is_ok());
        let told = told(&model.requests());
        assert!(told[0].contains("the user denied this call"), "{answer:?}: {told:?}");
        assert!(!outcome.log.iter().any(|line| line.starts_with("notice")), "{answer:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_dismissed_keeps_the_later_calls_from_being_asked_about_and_run() {
    let call = |tool: &str, n: u32| Line::call(tool, json!({ "n": n }));
    let diary = Diary::default();
    let rig = Rig::new(vec![
        vec![call("edit", 1), call("edit", 2), call("free", 3), call("edit", 4)],
        vec![call("edit", 5)],
        vec![Line::say("ok")],
    ])
    .tool(Fake::new("free", Behaviour::Say("x")).noting(&diary))
    .tool(Fake::new("edit", Behaviour::Say("x")).asks(vec![GrantScope::Tool]).noting(&diary))
    .choose("allow")
    .answer(Answer::Cancelled)
    .choose("allow");
    let model = std::sync::Arc::clone(&rig.model);
    let outcome = rig.run().await;
    let asked: Vec<_> = outcome.log.iter().filter(|line| line.starts_with("ask")).collect();
    assert_eq!(asked.len(), 3, "the next answer's calls are asked about again: {asked:?}");
    assert_eq!(*diary.lock().unwrap(), ["edit begins", "free begins", "edit begins"]);
    let told = told(&model.requests());
    assert!(
        told[1].contains("the user denied this call") && told[3].contains("dismissed the question"),
        "{told:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_question_that_cannot_be_answered_is_a_denial_with_its_cause_for_both_sides() {
    for (answer, cause) in [
        (Answer::Unanswerable("the client has no such method".into()), "the client has no such method"),
        (Answer::Selected("yes_please".into()), "the client chose `yes_please`, which was not offered"),
        (Answer::Form(json!({ "allow": true })), "the client answered with a form"),
    ] {
        let rig = one_call().answer(answer);
        let model = std::sync::Arc::clone(&rig.model);
        let outcome = rig.run().await;
        assert!(!ran(&outcome), "{cause}");
        let told = told(&model.requests());
        assert!(told[0].contains("could not be asked") && told[0].contains(cause), "{told:?}");
        let notice = outcome.log.iter().find(|line| line.starts_with("notice Warning")).unwrap();
        assert!(notice.contains(cause) && notice.contains("/skip-permissions on"), "{notice}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_user_is_told_once_why_questions_cannot_be_asked() {
    let no = || Answer::Unanswerable("the client has no such method".into());
    let outcome = Rig::new(vec![
        vec![Line::call("edit", json!({ "n": 1 })), Line::call("edit", json!({ "n": 2 }))],
        vec![Line::call("edit", json!({ "n": 3 }))],
        vec![Line::say("ok")],
    ])
    .tool(Fake::new("edit", Behaviour::Say("x")).asks(vec![GrantScope::Tool]))
    .answer(no())
    .answer(no())
    .answer(no())
    .run()
    .await;
    assert_eq!(outcome.log.iter().filter(|line| line.starts_with("notice")).count(), 1);
    assert_eq!(outcome.log.iter().filter(|line| line.contains("Failed")).count(), 3);
}

#[tokio::test(start_paused = true)]
async fn always_cannot_be_chosen_where_it_was_not_offered() {
    let outcome = Rig::new(vec![vec![Line::call("edit", json!({}))], vec![Line::say("ok")]])
        .tool(Fake::new("edit", Behaviour::Say("x")).asks(Vec::new()))
        .choose("allow_always")
        .run()
        .await;
    assert!(!ran(&outcome));
    assert!(outcome.log[1].ends_with("[allow=Allow, reject=Reject]"), "{}", outcome.log[1]);
}

#[tokio::test(start_paused = true)]
async fn skipping_permissions_and_earlier_grants_ask_nothing() {
    let rig = one_call();
    rig.permissions.mode.set(Mode::Autonomous);
    assert!(ran(&rig.run().await));
    let mut rig = one_call();
    rig.permissions.grants.push(Grant { tool: "edit".into(), scope: GrantScope::Tool });
    let outcome = rig.run().await;
    assert!(ran(&outcome));
    assert!(!outcome.log.iter().any(|line| line.starts_with("ask")));
}
