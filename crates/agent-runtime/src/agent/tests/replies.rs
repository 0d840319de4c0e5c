//! What the model says, and how turns end.

use serde_json::json;
use session_model::{StopReason, TokenUsage};

use super::rig::{Behaviour, Diary, Fake, Rig};
use crate::agent::Limits;
use crate::provider::{FinishReason, ModelMessage};
use crate::scripted::{Line, Scripted};

fn usage(input: u64, output: u64) -> TokenUsage {
    TokenUsage { input, output, ..TokenUsage::default() }
}

#[tokio::test(start_paused = true)]
async fn each_piece_is_said_as_it_comes_under_one_id() {
    let outcome = Rig::new(vec![vec![Line::pieces(&["Hel", "lo", "", " you"])]]).run().await;
    assert_eq!(outcome.log, ["agent msg-1: Hel", "agent msg-1: lo", "agent msg-1:  you"]);
    assert_eq!(outcome.end.unwrap().stop, StopReason::EndTurn);
}

#[tokio::test(start_paused = true)]
async fn thoughts_are_shown_on_request_under_ids_of_their_own() {
    let script = vec![vec![Line::think("hm"), Line::say("yes"), Line::think("m")]];
    let outcome = Rig::new(script.clone()).thoughts().run().await;
    assert_eq!(outcome.log, ["thought msg-1: hm", "agent msg-2: yes", "thought msg-1: m"]);
    let outcome = Rig::new(script).run().await;
    assert_eq!(outcome.log, ["agent msg-2: yes"]);
}

#[tokio::test(start_paused = true)]
async fn every_answer_speaks_under_a_new_id_and_the_turn_goes_on_after_its_calls() {
    let rig = Rig::new(vec![
        vec![Line::say("let me see"), Line::call("look", json!({ "path": "a" }))],
        vec![Line::say("I see")],
    ])
    .tool(Fake::new("look", Behaviour::Say("a thing")));
    let model = std::sync::Arc::clone(&rig.model);
    let outcome = rig.run().await;
    assert_eq!(
        outcome.log,
        [
            "agent msg-1: let me see",
            r#"call-2 Pending "look: planned" step 0 in {"path":"a"}"#,
            "call-2 InProgress",
            r#"call-2 Completed out {"output":"a thing"}"#,
            "agent msg-3: I see",
        ]
    );
    let request = model.requests().remove(1);
    let expected = format!("{:?}", &request.messages[1..]);
    insta::assert_snapshot!(
        expected,
        @r#"[Assistant { text: "let me see", calls: [ModelCall { id: "call-2", name: "look", arguments: "{\"path\":\"a\"}" }], kept: [], reasoning: "" }, ToolResult { call_id: "call-2", name: "look", output: "{\"output\":\"a thing\"}" }]"#
    );
    assert!(request.system.ends_with("Working directory: /work"));
    assert_eq!(request.tools.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn white_space_alone_is_not_said() {
    let outcome = Rig::new(vec![vec![Line::pieces(&["\n", "\n", "hi", "\n"])]]).run().await;
    assert_eq!(outcome.log, ["agent msg-1: \n\nhi", "agent msg-1: \n"]);
    let outcome = Rig::new(vec![vec![Line::pieces(&["\n", " "])]]).run().await;
    assert_eq!(outcome.log, ["notice Info: The turn finished without a text reply."]);
}

#[tokio::test(start_paused = true)]
async fn reasoning_alone_becomes_the_answer() {
    let outcome = Rig::new(vec![vec![Line::think("it is "), Line::think("four")]]).run().await;
    assert_eq!(outcome.log, ["agent msg-2: it is four"]);
    assert_eq!(outcome.end.unwrap().stop, StopReason::EndTurn);
}

#[tokio::test(start_paused = true)]
async fn silence_after_calls_becomes_a_digest_of_them() {
    let outcome =
        Rig::new(vec![vec![Line::call("look", json!({ "path": "a" }))], vec![Line::think("enough")]])
            .tool(Fake::new("look", Behaviour::Say("a thing")))
            .run()
            .await;
    insta::assert_snapshot!(outcome.log.last().unwrap(), @r#"
    agent msg-3: The model ended its turn without a summary. It did this:

    - look({"path":"a"})
      → {"output":"a thing"}

    Its reasoning was:

    enough
    "#);
}

#[tokio::test(start_paused = true)]
async fn an_answer_with_neither_text_nor_call_is_not_asked_for_again() {
    let outcome = Rig::new(vec![vec![]]).run().await;
    assert_eq!(outcome.log, ["notice Info: The turn finished without a text reply."]);
    assert_eq!(outcome.end.unwrap().stop, StopReason::EndTurn);
}

#[tokio::test(start_paused = true)]
async fn the_output_limit_and_refusals_are_stop_reasons() {
    for (reason, stop) in
        [(FinishReason::Length, StopReason::MaxTokens), (FinishReason::Refusal, StopReason::Refusal)]
    {
        let outcome = Rig::new(vec![vec![Line::say("so"), Line::Finish(reason)]]).run().await;
        assert_eq!(outcome.log, ["agent msg-1: so"]);
        assert_eq!(outcome.end.unwrap().stop, stop);
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_refusal_is_told() {
    let outcome = Rig::new(vec![vec![Line::Finish(FinishReason::Refusal)]]).run().await;
    assert_eq!(outcome.log, ["notice Info: The model refused to answer."]);
}

#[tokio::test(start_paused = true)]
async fn whole_calls_before_the_output_limit_run_and_the_model_is_told_twice_at_most() {
    let cut = |n: u32| vec![Line::call("look", json!({ "n": n })), Line::Finish(FinishReason::Length)];
    let rig = Rig::new(vec![cut(1), cut(2), cut(3)]).tool(Fake::new("look", Behaviour::Say("x")));
    let model = std::sync::Arc::clone(&rig.model);
    let outcome = rig.run().await;
    assert_eq!(outcome.end.unwrap().stop, StopReason::MaxTokens);
    let results = super::rig::told(&model.requests());
    assert_eq!(results.len(), 2);
    assert!(results.iter().all(|result| result.contains("reached the output limit")), "{results:?}");
}

/// A call that writes half a file, as the server ends it.
async fn half_a_file(script: impl Fn() -> Vec<Line>) {
    let diary = Diary::default();
    let rig = Rig::new((0..3).map(|_| script()).collect())
        .tool(Fake::new("write", Behaviour::Say("written")).noting(&diary));
    let model = std::sync::Arc::clone(&rig.model);
    let outcome = rig.run().await;
    assert_eq!(outcome.end.unwrap().stop, StopReason::MaxTokens);
    assert!(diary.lock().unwrap().is_empty(), "nothing of it runs");
    let requests = model.requests();
    assert_eq!(requests.len(), 3, "two more tries");
    for (request, told) in requests[1..].iter().zip(super::rig::told(&requests)) {
        crate::context::check(&request.messages).unwrap();
        assert!(told.contains("in the middle") && told.contains("smaller pieces"), "{told}");
    }
    let failed = outcome.log.iter().filter(|line| line.contains(" Failed "));
    assert_eq!(failed.count(), 2, "{:?}", outcome.log);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_the_output_limit_cut_off_does_not_run_and_the_model_is_told_twice_at_most() {
    let half = r#"{"path":"a.txt","content":"abc"#;
    half_a_file(|| vec![Line::call_cut("write", half), Line::Finish(FinishReason::Length)]).await;
    // Cut right behind an object: nobody can tell what was to follow.
    half_a_file(|| vec![Line::call_cut("write", r#"{"path":"a"}"#), Line::Finish(FinishReason::Length)])
        .await;
    // Some servers do not say that it was cut.
    half_a_file(|| vec![Line::call_raw("write", half)]).await;
}

#[tokio::test(start_paused = true)]
async fn a_call_cut_off_and_made_again_in_pieces_runs() {
    let rig = Rig::new(vec![
        vec![
            Line::call("look", json!({})),
            Line::call_cut("look", "{\"a"),
            Line::Finish(FinishReason::Length),
        ],
        vec![Line::call("look", json!({ "again": true }))],
        vec![Line::say("done")],
    ])
    .tool(Fake::new("look", Behaviour::Say("seen")));
    let model = std::sync::Arc::clone(&rig.model);
    let outcome = rig.run().await;
    assert_eq!(outcome.end.unwrap().stop, StopReason::EndTurn);
    let told = super::rig::told(&model.requests());
    assert_eq!(told[0], r#"{"output":"seen"}"#, "the whole one ran");
    assert!(told[1].contains("reached the output limit in the middle of this call"), "{told:?}");
    assert_eq!(outcome.log.iter().filter(|line| line.contains("Completed")).count(), 2);
}

#[tokio::test(start_paused = true)]
async fn the_limit_of_requests_ends_the_turn_properly_with_what_was_done() {
    let calls = (0..3).map(|n| vec![Line::call("look", json!({ "n": n }))]).collect();
    let outcome = Rig::new(calls)
        .tool(Fake::new("look", Behaviour::Say("x")))
        .limits(Limits { max_requests: 3, ..Limits::default() })
        .run()
        .await;
    assert_eq!(outcome.end.unwrap().stop, StopReason::MaxTurnRequests);
    let last = outcome.log.last().unwrap();
    assert!(last.contains("[stopped after 3 requests to the model"), "{last}");
    assert!(last.contains(r#"- look({"n":2})"#), "{last}");
}

#[tokio::test(start_paused = true)]
async fn a_model_that_repeats_itself_is_reminded_and_then_stopped() {
    let model = Scripted::new(vec![vec![Line::call("look", json!({}))]]).looped();
    let rig = Rig::new(Vec::new()).model(model).tool(Fake::new("look", Behaviour::Say("x")));
    let model = std::sync::Arc::clone(&rig.model);
    let mut running = rig.start();
    running.until("[turn terminated: the model made the same calls 5 times in a row]").await;
    assert_eq!(model.requests().len(), 5);
    let results = super::rig::told(&model.requests());
    let reminded: Vec<_> = results.iter().map(|result| result.contains("[reminder:")).collect();
    assert_eq!(reminded, [false, false, true, true]);
    assert_eq!(running.log.iter().filter(|line| line.contains("Completed")).count(), 4);
}

#[tokio::test(start_paused = true)]
async fn tokens_are_summed_and_the_window_is_shown_when_known() {
    let script = vec![
        vec![Line::Usage(usage(1, 1)), Line::call("look", json!({})), Line::Usage(usage(100, 10))],
        vec![Line::say("ok"), Line::Usage(usage(150, 20))],
    ];
    let rig = Rig::new(Vec::new())
        .model(Scripted::new(script).with_context_window(4096))
        .tool(Fake::new("look", Behaviour::Say("x")));
    let outcome = rig.run().await;
    let gauges: Vec<_> = outcome.log.iter().filter(|line| line.starts_with("usage")).collect();
    assert_eq!(gauges, ["usage 110/4096", "usage 170/4096"]);
    assert_eq!(outcome.end.unwrap().usage, Some(usage(250, 30)));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_counts_nothing_is_estimated_and_claims_no_usage() {
    let script = vec![vec![Line::say("ok"), Line::Usage(usage(0, 0))]];
    let outcome = Rig::new(Vec::new()).model(Scripted::new(script).with_context_window(4096)).run().await;
    let gauge = outcome.log.last().unwrap().strip_prefix("usage ").unwrap();
    let used: u64 = gauge.strip_suffix("/4096").unwrap().parse().unwrap();
    assert!(used > 50, "{gauge}");

    let outcome = Rig::new(vec![vec![Line::say("ok")]]).run().await;
    assert_eq!(outcome.end.unwrap().usage, None);
    assert!(!outcome.log.iter().any(|line| line.starts_with("usage")));
}

#[tokio::test(start_paused = true)]
async fn the_call_ids_sent_are_ours_however_often_a_server_repeats_its_own() {
    let rig = Rig::new(vec![
        vec![Line::call("look", json!({ "n": 1 })), Line::call("look", json!({ "n": 2 }))],
        vec![Line::call("look", json!({ "n": 3 }))],
        vec![Line::say("done")],
    ])
    .tool(Fake::new("look", Behaviour::Say("x")).parallel());
    let model = std::sync::Arc::clone(&rig.model);
    assert!(rig.run().await.end.is_ok());
    let ids: Vec<_> = model.requests()[2]
        .messages
        .iter()
        .filter_map(|message| match message {
            ModelMessage::ToolResult { call_id, .. } => Some(call_id.clone()),
            ModelMessage::User(_) | ModelMessage::Assistant { .. } => None,
        })
        .collect();
    assert_eq!(ids, ["call-1", "call-2", "call-3"]);
}

#[tokio::test(start_paused = true)]
async fn what_a_provider_wants_back_goes_back_while_the_turn_goes_on() {
    let signed = json!({ "signature": "s" });
    let rig = Rig::new(vec![
        vec![Line::think("hm"), Line::Keep(signed.clone()), Line::call("look", json!({}))],
        vec![Line::call("look", json!({ "again": true }))],
        vec![Line::say("ok")],
    ])
    .tool(Fake::new("look", Behaviour::Say("a thing")));
    let model = std::sync::Arc::clone(&rig.model);
    rig.run().await;
    let kept = |message: &ModelMessage| match message {
        ModelMessage::Assistant { kept, .. } => Some(kept.clone()),
        ModelMessage::User(_) | ModelMessage::ToolResult { .. } => None,
    };
    let last: Vec<_> = model.requests()[2].messages.iter().filter_map(kept).collect();
    assert_eq!(last, [vec![signed], vec![]]);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_cuts_requests_without_a_word_is_noticed_once() {
    let answer = |text: &str| vec![Line::say(text), Line::Usage(usage(2_051, 5))];
    let model =
        Scripted::new(vec![vec![Line::call("look", json!({})), Line::Usage(usage(2_051, 5))], answer("ok")]);
    let prompt = "the parser reads the header first, then every record. ".repeat(1_500);
    let tool = Fake::new("look", Behaviour::Say("seen"));
    let outcome = Rig::new(Vec::new()).model(model).prompt(&prompt).tool(tool).run().await;
    let told: Vec<_> = outcome.log.iter().filter(|line| line.starts_with("notice")).collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].contains("counted 2051 tokens where about ") && told[0].contains("OLLAMA_CONTEXT_LENGTH")
    );
}
