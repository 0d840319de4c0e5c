//! The model's questions to the user under the engine: what it is told, what time they take, what they hide.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use session_model::{Answer, StopReason};

use super::rig::{Rig, told};
use crate::agent::Limits;
use crate::mode::Mode;
use crate::redact::Redactor;
use crate::scripted::Line;
use crate::tools::registry::ToolRegistry;

fn asking(args: Value) -> Rig {
    Rig::new(vec![vec![Line::call("ask_user", args)], vec![Line::say("done")]]).tools(ToolRegistry::builtin())
}

/// What the model is told of the only question.
async fn heard(rig: Rig) -> String {
    let model = Arc::clone(&rig.model);
    let outcome = rig.run().await;
    assert_eq!(outcome.end.unwrap().stop, StopReason::EndTurn);
    told(&model.requests()).concat()
}

#[tokio::test(start_paused = true)]
async fn every_outcome_is_told_in_words() {
    let choices = json!({"question": "Which?", "choices": ["Red", "Blue"]});
    let several = json!({"question": "Which?", "choices": ["Red", "Blue"], "multiple": true});
    let free = json!({"question": "Why?"});
    let form = |value: Value| Answer::Form(json!({"q1": value}));
    let none = || Answer::Unanswerable("the client shows no forms".to_owned());
    for (args, answers, expected) in [
        (&choices, vec![form(json!("Blue"))], "The user chose: Blue"),
        (&several, vec![form(json!(["Red", "Blue"]))], "The user chose: Red, Blue"),
        (&several, vec![form(json!([]))], "The user chose none of them."),
        (&free, vec![form(json!("because"))], "The user answered: because"),
        (&free, vec![Answer::Declined], "the user declined to answer"),
        (&free, vec![Answer::Cancelled], "dismissed the question"),
        (&choices, vec![none(), Answer::Selected("1".into())], "The user chose: Blue"),
        (&choices, vec![none(), Answer::Selected("decline".into())], "the user declined to answer"),
        (&choices, vec![none(), Answer::Cancelled], "dismissed the question"),
        (
            &choices,
            vec![none(), Answer::Unanswerable("the client is gone".to_owned())],
            "cannot be asked here: the client is gone. Or ask in your answer",
        ),
        (
            &free,
            vec![none()],
            "cannot be asked here: the client shows no forms; without forms only one choice",
        ),
        (
            &several,
            vec![none()],
            "cannot be asked here: the client shows no forms; without forms only one choice",
        ),
    ] {
        let rig = answers.into_iter().fold(asking(args.clone()), Rig::answer);
        let told = heard(rig).await;
        assert!(told.contains(expected), "{args}: {told}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_no_question_is_not_asked_and_the_model_learns_why() {
    for (args, expected) in [
        (json!({}), "`question` is missing"),
        (json!({"question": " "}), "`question` is empty"),
        (json!({"question": "?", "choices": ["a"]}), "one choice is none"),
        (json!({"question": "?", "choices": ["a", "a"]}), "one choice is none"),
        (json!({"question": "?", "choices": ["a", ""]}), "must be a list of texts"),
        (json!({"question": "?", "choices": "a or b"}), "must be a list of texts"),
        (json!({"question": "?", "choices": (0..31).collect::<Vec<_>>()}), "31 choices are too many"),
    ] {
        let told = heard(asking(args.clone())).await;
        assert!(told.contains(expected), "{args}: {told}");
    }
}

#[tokio::test(start_paused = true)]
async fn choices_are_understood_as_models_spell_them() {
    let objects = json!([{"label": "a", "description": "x"}, {"label": "b"}]);
    for choices in [objects, json!("[\"a\", \"b\"]"), json!(["a", " b ", "b"])] {
        let rig = asking(json!({"question": "?", "choices": choices}));
        let told = heard(rig.answer(Answer::Unanswerable(String::new())).choose("1")).await;
        assert!(told.contains("The user chose: b"), "{told}");
    }
}

#[tokio::test(start_paused = true)]
async fn no_mode_asks_for_leave_to_ask() {
    for mode in [Mode::Default, Mode::Strict, Mode::Balanced, Mode::Restricted, Mode::Autonomous] {
        let mut rig = asking(json!({"question": "Why?"})).answer(Answer::Form(json!({"q1": "so"})));
        rig.permissions.mode = mode.into();
        assert!(heard(rig).await.contains("The user answered: so"), "{mode:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_may_take_longer_than_a_tool_and_a_turn_may() {
    let limits = Limits { tool: Duration::from_secs(5), turn: Duration::from_mins(1), ..Limits::default() };
    let rig = asking(json!({"question": "Why?"})).limits(limits).answer(Answer::Form(json!({"q1": "so"})));
    let model = Arc::clone(&rig.model);
    let mut running = rig.start();
    running.until_asked_and_wait(Duration::from_hours(8)).await;
    let outcome = running.finish().await;
    assert_eq!(outcome.end.unwrap().stop, StopReason::EndTurn);
    assert!(told(&model.requests()).concat().contains("The user answered: so"));
}

#[tokio::test(start_paused = true)]
async fn a_secret_in_an_answer_is_kept_from_the_model() {
    let key = format!("ghp_{}", "a1B2c3".repeat(6));
    let rig = asking(json!({"question": "Why?"}))
        .redacting(Arc::new(Redactor::new("n0")))
        .answer(Answer::Form(json!({"q1": format!("use {key}")})));
    let model = Arc::clone(&rig.model);
    let told = heard(rig).await;
    assert!(told.contains("The user answered: use [redacted:github-token:n0-1]"), "{told}");
    assert!(!format!("{:?}", model.requests()).contains(&key));
}
