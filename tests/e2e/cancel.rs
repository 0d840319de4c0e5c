//! Cancelling: whatever the turn is at, it ends as cancelled, once, and the next prompt works.

use std::time::Duration;

use agent_runtime::scripted::{Latch, Line};
use milk_tests::client::Client;
use milk_tests::rig::Rig;
use milk_tests::schema::Version;
use serde_json::{Value, json};
use tokio::time::Instant;

/// Waits for the prompt's answer and checks that it says "cancelled", in time.
pub(crate) async fn cancelled(client: &mut Client, id: &Value, since: Instant) {
    let result = client.response(id).await.expect("a cancelled turn is no error");
    assert!(since.elapsed() <= Duration::from_secs(2), "took {:?}", since.elapsed());
    match client.version() {
        Version::V1 => assert_eq!(result["stopReason"], "cancelled"),
        Version::V2 => loop {
            let state = client.update("state_update").await;
            if state["state"] == "idle" {
                assert_eq!(state["stopReason"], "cancelled");
                break;
            }
        },
    }
}

pub(crate) async fn next_prompt_works(client: &mut Client, session: &str) {
    client.take_text("agent_message_chunk");
    let id = client.prompt(session, "next").await;
    client.response(&id).await.expect("answered");
    assert_eq!(client.take_text("agent_message_chunk"), "next");
}

#[tokio::test(start_paused = true)]
async fn during_a_stream() {
    for version in Version::BOTH {
        let rig = Rig::new(vec![vec![Line::say("begun"), Line::Hang], vec![Line::say("next")]]);
        let (mut client, session) = rig.session(version).await;
        let id = client.prompt(&session, "hi").await;
        client.update("agent_message_chunk").await;
        let since = Instant::now();
        client.cancel(&session).await;
        cancelled(&mut client, &id, since).await;
        assert_eq!(rig.model.streaming(), 0, "the model's stream is closed");
        next_prompt_works(&mut client, &session).await;
        client.finish().await;
    }
}

#[tokio::test(start_paused = true)]
async fn before_the_model_answers() {
    for version in Version::BOTH {
        let gate = Latch::new();
        let rig = Rig::new(vec![vec![Line::Wait(gate.clone())], vec![Line::say("next")]]);
        let (mut client, session) = rig.session(version).await;
        let id = client.prompt(&session, "hi").await;
        gate.reached().await;
        let since = Instant::now();
        client.cancel(&session).await;
        cancelled(&mut client, &id, since).await;
        next_prompt_works(&mut client, &session).await;
        client.finish().await;
    }
}

#[cfg(unix)]
#[tokio::test]
async fn during_a_tool() {
    use milk_acp::drivers::SessionSettings;
    for version in Version::BOTH {
        let command = json!({ "command": "echo started; exec sleep 600" });
        let settings = SessionSettings { skip_permissions: true, ..SessionSettings::default() };
        let rig = Rig::with(vec![vec![Line::call("bash", command)], vec![Line::say("next")]], settings);
        let (mut client, session) = rig.session(version).await;
        let id = client.prompt(&session, "hi").await;
        let (output, started) = match version {
            Version::V1 => ("tool_call_update", "started"),
            // "started\n" in base64.
            Version::V2 => ("terminal_output_chunk", "c3RhcnRlZAo="),
        };
        while !client.update(output).await.to_string().contains(started) {}
        let since = Instant::now();
        client.cancel(&session).await;
        cancelled(&mut client, &id, since).await;
        let last = client.take_unclaimed();
        let status =
            last.iter().rev().find_map(|line| line["params"]["update"]["status"].as_str().map(str::to_owned));
        let expected = if version == Version::V1 { "failed" } else { "cancelled" };
        assert_eq!(status.as_deref(), Some(expected), "the tool's row is final");
        let ended = |line: &Value| line["params"]["update"]["exitStatus"].is_object();
        assert_eq!(last.iter().any(ended), version == Version::V2, "no terminal stays open");
        next_prompt_works(&mut client, &session).await;
        client.finish().await;
    }
}

#[tokio::test(start_paused = true)]
async fn during_a_pending_permission() {
    for version in Version::BOTH {
        let write = json!({ "path": "a.txt", "content": "x" });
        let rig = Rig::new(vec![vec![Line::call("write_file", write)], vec![Line::say("next")]]);
        let (mut client, session) = rig.session(version).await;
        let id = client.prompt(&session, "hi").await;
        let (question, _) = client.request("session/request_permission").await;
        let since = Instant::now();
        client.cancel(&session).await;
        let withdrawn = client.notification("$/cancel_request").await;
        assert_eq!(withdrawn["requestId"], question);
        cancelled(&mut client, &id, since).await;
        // The answer comes too late and is ignored.
        client.choose(&question, "allow").await;
        next_prompt_works(&mut client, &session).await;
        assert!(!rig.dir.path().join("a.txt").exists());
        client.finish().await;
    }
}

#[tokio::test(start_paused = true)]
async fn held_prompts_are_refused_and_later_ones_run() {
    for version in Version::BOTH {
        let gate = Latch::new();
        let rig = Rig::new(vec![vec![Line::Wait(gate.clone())], vec![Line::say("next")]]);
        let (mut client, session) = rig.session(version).await;
        let running = client.prompt(&session, "first").await;
        gate.reached().await;
        let held = client.prompt(&session, "second").await;
        let since = Instant::now();
        client.cancel(&session).await;
        let refused = client.response(&held).await.expect_err("it was never inserted");
        assert_eq!(refused["code"], -32800);
        cancelled(&mut client, &running, since).await;
        next_prompt_works(&mut client, &session).await;
        client.finish().await;
    }
}

#[tokio::test(start_paused = true)]
async fn by_request_the_way_the_version_has_it() {
    for version in Version::BOTH {
        let gate = Latch::new();
        let rig = Rig::new(vec![vec![Line::Wait(gate.clone()), Line::say("first")], vec![Line::say("next")]]);
        let (mut client, session) = rig.session(version).await;
        let running = client.prompt(&session, "first").await;
        gate.reached().await;
        let held = client.prompt(&session, "second").await;
        client.notify("$/cancel_request", json!({ "requestId": held })).await;
        let refused = client.response(&held).await.expect_err("it was never inserted");
        assert_eq!(refused["code"], -32800);
        client.notify("$/cancel_request", json!({ "requestId": running })).await;
        client.settle().await;
        gate.open();
        let result = client.response(&running).await.expect("no error after insertion");
        if version == Version::V1 {
            assert_eq!(result["stopReason"], "cancelled");
        }
        next_prompt_works(&mut client, &session).await;
        client.finish().await;
    }
}

#[tokio::test(start_paused = true)]
async fn of_nothing_is_ignored() {
    for version in Version::BOTH {
        let rig = Rig::new(vec![vec![Line::say("next")]]);
        let (mut client, session) = rig.session(version).await;
        client.cancel(&session).await;
        client.cancel("no-such-session").await;
        client.notify("session/cancel", json!({ "session": 7 })).await;
        client.notify("$/cancel_request", json!({ "requestId": 99 })).await;
        next_prompt_works(&mut client, &session).await;
        client.finish().await;
    }
}
