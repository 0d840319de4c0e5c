//! Turns: what a client sees, in which order, in its version's words.

use agent_runtime::scripted::{Latch, Line};
use insta::assert_snapshot;
use milk_tests::client::Client;
use milk_tests::rig::{Rig, redacted};
use milk_tests::schema::Version;
use serde_json::{Value, json};

/// Runs `script` against a fresh server in both versions and holds each transcript against its snapshot.
macro_rules! in_both {
    ($name:literal, $rig:expr, $script:expr) => {
        for version in Version::BOTH {
            let rig: Rig = $rig;
            let (client, session) = rig.session(version).await;
            let client: Client = $script(&rig, client, session).await;
            let transcript = client.finish().await;
            assert_snapshot!(format!("{}_v{}", $name, version.number()), redacted(&transcript, &rig));
        }
    };
}

#[tokio::test(start_paused = true)]
async fn a_prompt_is_answered_with_a_stream() {
    let answers = || vec![vec![Line::pieces(&["Hel", "lo"])]];
    in_both!("stream", Rig::new(answers()), async |_: &Rig, mut client: Client, session: String| {
        let id = client.prompt(&session, "hi").await;
        client.response(&id).await.expect("answered");
        client
    });
}

/// Reads a file, asks, edits it and reports.
fn edit_answers() -> Vec<Vec<Line>> {
    vec![
        vec![Line::say("Let me look."), Line::call("read_file", json!({ "path": "a.txt" }))],
        vec![Line::call("edit_file", json!({ "path": "a.txt", "old_string": "one", "new_string": "two" }))],
        vec![Line::say("Changed one to two.")],
    ]
}

#[tokio::test(start_paused = true)]
async fn a_file_is_read_edited_with_leave_and_reported() {
    let rig = || {
        let rig = Rig::new(edit_answers());
        rig.file("a.txt", "zero\none\n");
        rig
    };
    in_both!("edit", rig(), async |rig: &Rig, mut client: Client, session: String| {
        let id = client.prompt(&session, "change one to two in a.txt").await;
        let (question, asked) = client.request("session/request_permission").await;
        assert_eq!(rig.read("a.txt"), "zero\none\n", "nothing happens before the answer");
        let offered: Vec<&str> = asked["options"]
            .as_array()
            .expect("options")
            .iter()
            .map(|o| o["kind"].as_str().unwrap())
            .collect();
        assert_eq!(offered, ["allow_once", "allow_always", "reject_once"]);
        client.choose(&question, "allow").await;
        client.response(&id).await.expect("answered");
        assert_eq!(rig.read("a.txt"), "zero\ntwo\n");
        client
    });
}

#[tokio::test(start_paused = true)]
async fn whatever_is_no_consent_leaves_the_file_alone_and_the_model_is_told() {
    let answers: [(&str, Value); 6] = [
        ("rejected", json!({ "outcome": { "outcome": "selected", "optionId": "reject" } })),
        ("cancelled", json!({ "outcome": { "outcome": "cancelled" } })),
        (
            "an option that was not offered",
            json!({ "outcome": { "outcome": "selected", "optionId": "yes" } }),
        ),
        ("an unknown outcome", json!({ "outcome": { "outcome": "approved" } })),
        ("malformed", json!({ "outcome": "allow" })),
        ("null", Value::Null),
    ];
    for version in Version::BOTH {
        for (what, answer) in &answers {
            let rig = Rig::new(edit_answers());
            rig.file("a.txt", "one\n");
            let (mut client, session) = rig.session(version).await;
            let id = client.prompt(&session, "change it").await;
            let (question, _) = client.request("session/request_permission").await;
            client.answer(&question, answer.clone()).await;
            client.response(&id).await.expect("the turn goes on");
            assert_eq!(rig.read("a.txt"), "one\n", "{what} is not consent");
            let last = rig.model.requests().pop().expect("the model was asked");
            assert!(format!("{:?}", last.messages).contains("denied"), "{what}: the model is told");
            client.finish().await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_cannot_be_asked_is_told_why_nothing_was_done() {
    for version in Version::BOTH {
        let rig = Rig::new(edit_answers());
        rig.file("a.txt", "one\n");
        let (mut client, session) = rig.session(version).await;
        let id = client.prompt(&session, "change it").await;
        let (question, _) = client.request("session/request_permission").await;
        client.refuse(&question, -32601, "no such method").await;
        client.response(&id).await.expect("the turn goes on");
        assert_eq!(rig.read("a.txt"), "one\n");
        let transcript = client.finish().await;
        assert!(transcript.contains("/skip-permissions"), "the remedy is named\n{transcript}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_prompt_during_a_turn_waits_for_its_end() {
    for version in Version::BOTH {
        let gate = Latch::new();
        let rig = Rig::new(vec![vec![Line::Wait(gate.clone()), Line::say("one")], vec![Line::say("two")]]);
        let (mut client, session) = rig.session(version).await;
        let first = client.prompt(&session, "first").await;
        gate.reached().await;
        let second = client.prompt(&session, "second").await;
        client.settle().await;
        assert_eq!(rig.model.requests().len(), 1, "turns do not overlap");
        gate.open();
        client.response(&first).await.expect("answered");
        client.response(&second).await.expect("answered");
        assert_eq!(client.take_text("agent_message_chunk"), "onetwo");
        client.finish().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_turn_does_not_delay_another_session() {
    for version in Version::BOTH {
        let gate = Latch::new();
        let rig = Rig::new(vec![vec![Line::Wait(gate.clone()), Line::say("slow")], vec![Line::say("quick")]]);
        let (mut client, slow) = rig.session(version).await;
        let quick = client.new_session(&rig.cwd()).await;
        let waiting = client.prompt(&slow, "first").await;
        gate.reached().await;
        let id = client.prompt(&quick, "second").await;
        client.response(&id).await.expect("answered while the other waits");
        client.call("session/list", json!({})).await.expect("listed while the other waits");
        gate.open();
        client.response(&waiting).await.expect("answered");
        client.finish().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_failed_model_is_an_error_and_the_session_goes_on() {
    use agent_runtime::provider::ProviderError;
    let failure = ProviderError::Unreachable {
        agent: "scripted".to_owned(),
        url: "http://127.0.0.1:1".to_owned(),
        reason: "connection refused".to_owned(),
    };
    let answers = || vec![vec![Line::Fail(failure.clone())], vec![Line::say("back")]];
    in_both!("failure", Rig::new(answers()), async |_: &Rig, mut client: Client, session: String| {
        let id = client.prompt(&session, "hi").await;
        let error = client.response(&id).await.expect_err("the model failed");
        assert_eq!(error["code"], -32603);
        assert_eq!(error["data"]["runtimeCode"], "provider_unreachable");
        let id = client.prompt(&session, "again").await;
        client.response(&id).await.expect("the session goes on");
        client
    });
}

#[tokio::test(start_paused = true)]
async fn version_2_answers_early_where_asked_to() {
    let gate = Latch::new();
    let rig = Rig::new(vec![vec![Line::Wait(gate.clone()), Line::say("done")]]);
    let (mut client, session) = rig.session(Version::V2).await;
    let prompt = json!({
        "sessionId": session,
        "prompt": [{ "type": "text", "text": "hi" }],
        "idempotencyKey": "k1",
    });
    let first = client.call("session/prompt", prompt.clone()).await.expect("answered before the model spoke");
    let echo = client.update("user_message").await;
    assert_eq!(first["messageId"], echo["messageId"]);
    let retry = client.call("session/prompt", prompt).await.expect("answered");
    assert_eq!(retry["messageId"], first["messageId"], "a retry inserts nothing");
    gate.open();
    while client.update("state_update").await["state"] != "idle" {}
    assert_eq!(rig.model.requests().len(), 1);
    client.finish().await;
}

#[tokio::test(start_paused = true)]
async fn a_command_answers_by_itself_and_leaves_no_trace_with_the_model() {
    for version in Version::BOTH {
        let rig = Rig::new(vec![vec![Line::say("yes")]]);
        let (mut client, session) = rig.session(version).await;
        let commands = client.update("available_commands_update").await;
        assert!(commands["availableCommands"].as_array().is_some_and(|all| all.len() >= 5), "{commands}");
        for (prompt, said) in [
            ("/help", "/export"),
            ("/think off", "reasoning visibility: off"),
            ("/skip-permissions on", "ON"),
            ("/sessions", "(unnamed)"),
            ("/panel", "only available"),
        ] {
            let id = client.prompt(&session, prompt).await;
            client.response(&id).await.expect("answered");
            let text = client.take_text("agent_message_chunk");
            assert!(text.contains(said), "{prompt}: {text}");
        }
        client.update("config_option_update").await;
        assert!(rig.model.requests().is_empty(), "no model heard of it");
        let id = client.prompt(&session, "is /help a command?").await;
        client.response(&id).await.expect("answered");
        let heard = format!("{:?}", rig.model.requests());
        assert!(heard.contains("is /help a command?") && !heard.contains("/think"), "{heard}");
        client.finish().await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_with_many_calls_is_worked_off() {
    for version in Version::BOTH {
        let calls = (0..200).map(|_| Line::call("list_dir", json!({ "path": "." }))).collect();
        let rig = Rig::new(vec![calls, vec![Line::say("done")]]);
        let (mut client, session) = rig.session(version).await;
        let id = client.prompt(&session, "look hard").await;
        let answered = tokio::time::timeout(std::time::Duration::from_mins(1), client.response(&id)).await;
        answered.expect("it comes to an end").expect("answered");
        client.finish().await;
    }
}
