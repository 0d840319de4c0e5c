//! Commands in the client's terminals (version 1) and in ours that the client watches (version 2): what is asked and
//! told in which order, and that no way out leaves a terminal behind.

use agent_runtime::scripted::Line;
use milk_acp::drivers::SessionSettings;
use milk_tests::client::Client;
use milk_tests::editor::Editor;
use milk_tests::rig::Rig;
use milk_tests::schema::Version;
use serde_json::{Value, json};

const ORDERLY: [&str; 4] =
    ["terminal/create", "terminal/wait_for_exit", "terminal/output", "terminal/release"];

/// A session in which commands run unasked, with a model that runs one.
async fn session(args: Value, version: Version) -> (Rig, Client, String) {
    let settings = SessionSettings { skip_permissions: true, ..SessionSettings::default() };
    let rig = Rig::with(
        vec![vec![Line::call("bash", args)], vec![Line::say("done")], vec![Line::say("more")]],
        settings,
    );
    let mut client = rig.pipe(version);
    match version {
        Version::V1 => drop(client.initialize_with(Editor::hello(false, false, true)).await),
        Version::V2 => drop(client.initialize().await),
    }
    let session = client.new_session(&rig.cwd()).await;
    (rig, client, session)
}

fn told(rig: &Rig) -> String {
    format!("{:?}", rig.model.requests().pop().expect("asked").messages)
}

#[tokio::test(start_paused = true)]
async fn a_command_runs_in_the_clients_terminal_which_its_row_shows_and_which_is_given_back() {
    let (rig, mut client, session) = session(json!({ "command": "make" }), Version::V1).await;
    let mut editor = Editor::new();
    "built\n".clone_into(&mut editor.prints);
    editor.exit = json!({ "exitCode": 2 });
    let id = client.prompt(&session, "build").await;
    editor.serve(&mut client, &id).await.expect("answered");
    assert_eq!(editor.methods(), ORDERLY);
    let params = editor.params("terminal/create").expect("created");
    let expected = json!({
        "sessionId": session, "command": "/bin/sh", "args": ["-c", "make"], "cwd": rig.cwd(),
        "outputByteLimit": 65536
    });
    assert_eq!(params, &expected);
    let rows: Vec<Value> =
        client.take_unclaimed().into_iter().map(|line| line["params"]["update"].clone()).collect();
    let shows = |row: &Value| row["content"][0] == json!({ "type": "terminal", "terminalId": "term-1" });
    let last = rows.iter().rev().find(|row| row["status"] == "failed").expect("a final row");
    assert!(shows(last), "{last}");
    assert!(rows.iter().any(|row| row["status"].is_null() && shows(row)), "shown while it runs");
    assert_eq!(last["rawOutput"]["exit_code"], 2);
    assert!(told(&rig).contains("built"), "{}", told(&rig));
    client.finish().await;
}

#[tokio::test(start_paused = true)]
async fn a_command_that_takes_too_long_is_killed_and_what_it_printed_kept() {
    let args = json!({ "command": "sleep 99", "timeout_seconds": 5 });
    let (rig, mut client, session) = session(args, Version::V1).await;
    let mut editor = Editor::new();
    "half\n".clone_into(&mut editor.prints);
    editor.script("terminal/wait_for_exit", Value::Null);
    let id = client.prompt(&session, "wait").await;
    editor.serve(&mut client, &id).await.expect("answered");
    assert_eq!(
        editor.methods(),
        ["terminal/create", "terminal/wait_for_exit", "terminal/kill", "terminal/output", "terminal/release"]
    );
    let told = told(&rig);
    assert!(told.contains("timed out after 5 s") && told.contains("half"), "{told}");
    client.finish().await;
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_command_is_killed_and_its_terminal_given_back() {
    let (_rig, mut client, session) = session(json!({ "command": "sleep 99" }), Version::V1).await;
    let mut editor = Editor::new();
    let id = client.prompt(&session, "wait").await;
    editor.serve_up_to(&mut client, &id, "terminal/wait_for_exit").await;
    client.cancel(&session).await;
    let (kill, _) = client.request("terminal/kill").await;
    client.refuse(&kill, -32603, "it would not die").await;
    let (release, params) = client.request("terminal/release").await;
    assert_eq!(params["terminalId"], "term-1");
    client.answer(&release, json!({})).await;
    assert_eq!(client.response(&id).await.expect("answered")["stopReason"], "cancelled");
    let id = client.prompt(&session, "again").await;
    editor.serve(&mut client, &id).await.expect("the session goes on");
    client.finish().await;
}

#[tokio::test(start_paused = true)]
async fn a_terminal_that_is_named_only_after_the_cancel_is_ended_all_the_same() {
    let (_rig, mut client, session) = session(json!({ "command": "sleep 99" }), Version::V1).await;
    let mut editor = Editor::new();
    let id = client.prompt(&session, "wait").await;
    let (create, _) = editor.serve_up_to(&mut client, &id, "terminal/create").await;
    client.cancel(&session).await;
    assert_eq!(client.response(&id).await.expect("answered")["stopReason"], "cancelled");
    client.answer(&create, json!({ "terminalId": "late" })).await;
    for method in ["terminal/kill", "terminal/release"] {
        let (request, params) = client.request(method).await;
        assert_eq!(params["terminalId"], "late", "{method}");
        client.answer(&request, json!({})).await;
    }
    client.finish().await;
}

#[tokio::test(start_paused = true)]
async fn only_a_clear_refusal_to_create_leaves_the_session_usable() {
    for (answer, usable) in [
        (json!({ "code": -32602, "message": "no shell" }), true),
        (json!({ "code": -32601, "message": "no shell" }), true),
        (json!({ "code": -32603, "message": "no shell" }), false),
        (Value::Null, false),
    ] {
        let (rig, mut client, session) = session(json!({ "command": "ls" }), Version::V1).await;
        let mut editor = Editor::new();
        editor.script("terminal/create", answer.clone());
        let id = client.prompt(&session, "list").await;
        editor.serve(&mut client, &id).await.expect("the turn goes on");
        assert_eq!(
            editor.methods(),
            ["terminal/create"],
            "no other attempt, and no command of ours: {answer}"
        );
        assert!(told(&rig).contains("the client"), "{}", told(&rig));
        let id = client.prompt(&session, "more").await;
        let next = editor.serve(&mut client, &id).await;
        assert_eq!(next.is_ok(), usable, "{answer}: {next:?}");
        if let Err(error) = next {
            assert_eq!(error["data"]["runtimeCode"], "terminal_unresolved");
            let refused = client.call("session/delete", json!({ "sessionId": session })).await;
            assert_eq!(refused.expect_err("kept")["data"]["runtimeCode"], "terminal_unresolved");
        }
        client.take_unclaimed();
        client.finish().await;
    }
}

#[tokio::test(start_paused = true)]
async fn closing_a_session_waits_for_its_terminals() {
    let (_rig, mut client, session) = session(json!({ "command": "sleep 99" }), Version::V1).await;
    let mut editor = Editor::new();
    let id = client.prompt(&session, "wait").await;
    editor.serve_up_to(&mut client, &id, "terminal/wait_for_exit").await;
    let close = client.send("session/close", json!({ "sessionId": session })).await;
    for method in ["terminal/kill", "terminal/release"] {
        let (request, _) = client.request(method).await;
        client.settle().await;
        assert!(!client.is_answered(&close), "closed before {method} was answered");
        client.answer(&request, json!({})).await;
    }
    client.response(&close).await.expect("closed");
    client.finish().await;
}

// A real command takes real time, which a clock that skips idle time would count as minutes.
#[tokio::test]
async fn version_2_watches_a_terminal_of_ours_and_may_end_its_command_alone() {
    for (method, name) in [("tool_call/cancel", "toolCallId"), ("terminal/cancel", "terminalId")] {
        let args = json!({ "command": "echo begun; exec sleep 600" });
        let (rig, mut client, session) = session(args, Version::V2).await;
        let id = client.prompt(&session, "wait").await;
        let opened = client.update("terminal_update").await;
        assert_eq!(opened["command"], "echo begun; exec sleep 600");
        assert_eq!(opened["capabilities"], json!({ "cancel": {} }));
        let shown = client.update("tool_call_content_chunk").await;
        assert_eq!(shown["content"], json!({ "type": "terminal", "terminalId": opened["terminalId"] }));
        // "begun\n" in base64.
        assert_eq!(client.update("terminal_output_chunk").await["data"], "YmVndW4K");
        let call = json!({ "sessionId": session, name: shown["toolCallId"] });
        client.call(method, call.clone()).await.expect("cancelled");
        let ended = client.update("terminal_update").await;
        assert!(ended["exitStatus"].is_object() && ended["capabilities"].is_null(), "{ended}");
        client.response(&id).await.expect("the turn goes on to its end");
        let rows = client.take_unclaimed();
        let cancelled = rows.iter().any(|line| line["params"]["update"]["status"] == "cancelled");
        assert!(cancelled, "{rows:#?}");
        assert!(told(&rig).contains("the user cancelled this call"), "{}", told(&rig));
        assert_eq!(client.call(method, call).await.expect_err("it is over")["code"], -32602);
        client.finish().await;
    }
}
