//! Text files that are the client's: which tools there are, whose text they see, and that a client that fails is not
//! passed by.

use std::collections::BTreeSet;

use agent_runtime::scripted::Line;
use milk_tests::client::Client;
use milk_tests::editor::Editor;
use milk_tests::rig::Rig;
use milk_tests::schema::Version;
use serde_json::{Value, json};

/// Everything a model can do to a file, and a command.
fn tour() -> Vec<Vec<Line>> {
    vec![
        vec![Line::call("read_file", json!({ "path": "a.txt" }))],
        vec![Line::call("read_multiple_files", json!({ "paths": ["a.txt", "a.txt"] }))],
        vec![Line::call("edit_file", json!({ "path": "a.txt", "old_string": "one", "new_string": "two" }))],
        vec![Line::call("write_file", json!({ "path": "b.txt", "content": "new\n" }))],
        vec![Line::call("bash", json!({ "command": "echo disk" }))],
        vec![Line::say("done")],
    ]
}

async fn connected(rig: &Rig, hello: Value) -> (Client, String) {
    let mut client = rig.pipe(Version::V1);
    client.initialize_with(hello).await;
    let session = client.new_session(&rig.cwd()).await;
    (client, session)
}

/// The editor has `a.txt` open with a text that is not saved.
fn editor(rig: &Rig) -> Editor {
    let mut editor = Editor::new();
    editor.files.insert(rig.cwd().join("a.txt").display().to_string(), "unsaved one\n".to_owned());
    "from the editor\n".clone_into(&mut editor.prints);
    editor
}

fn told(rig: &Rig) -> String {
    format!("{:?}", rig.model.requests().pop().expect("asked").messages)
}

// Without a terminal of the client's a real command runs, and takes real time, which a clock that skips idle time would
// count as minutes.
#[tokio::test]
async fn every_combination_of_capabilities_offers_and_uses_exactly_what_the_client_has() {
    for bits in 0_u8..32 {
        let [read, write, terminal, form, url] = [1, 2, 4, 8, 16].map(|bit| bits & bit != 0);
        let rig = Rig::new(tour());
        rig.file("a.txt", "saved one\n");
        let mut hello = Editor::hello(read, write, terminal);
        let mut elicitation = serde_json::Map::new();
        if form {
            elicitation.insert("form".to_owned(), json!({}));
        }
        if url {
            elicitation.insert("url".to_owned(), json!({}));
        }
        hello["clientCapabilities"]["elicitation"] = elicitation.into();
        let (mut client, session) = connected(&rig, hello).await;
        let mut editor = editor(&rig);
        let id = client.prompt(&session, "tour").await;
        editor.serve(&mut client, &id).await.expect("answered");

        let offered = rig.model.requests().remove(0).tools;
        let offered: BTreeSet<&str> = offered.iter().map(|tool| tool.name.as_str()).collect();
        let local = !read && !write;
        for (tool, there) in [
            ("read_file", local || read),
            ("read_multiple_files", local || read),
            ("write_file", local || write),
            ("edit_file", local || (read && write)),
            ("apply_patch", local),
            ("list_dir", true),
            ("grep", true),
            ("bash", true),
        ] {
            assert_eq!(offered.contains(tool), there, "{tool} with {bits:05b}");
        }
        let asked: BTreeSet<&str> = editor.methods().into_iter().collect();
        let mut expected = BTreeSet::new();
        expected.extend(read.then_some("fs/read_text_file"));
        expected.extend(write.then_some("fs/write_text_file"));
        if terminal {
            expected.extend([
                "terminal/create",
                "terminal/wait_for_exit",
                "terminal/output",
                "terminal/release",
            ]);
        }
        assert_eq!(asked, expected, "{bits:05b}");

        let told = told(&rig);
        assert_eq!(told.contains("unsaved"), read, "{bits:05b}: {told}");
        assert_eq!(told.contains("saved one") && !told.contains("unsaved"), local, "{bits:05b}: {told}");
        assert_eq!(told.contains("from the editor"), terminal, "{bits:05b}: {told}");
        let edited = if local { "saved two\n" } else { "saved one\n" };
        assert_eq!(rig.read("a.txt"), edited, "{bits:05b}");
        assert_eq!(rig.dir.path().join("b.txt").exists(), local, "{bits:05b}");
        client.finish().await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_edit_reads_and_writes_what_the_editor_holds_and_shows_the_diff_before_it_asks() {
    let rig = Rig::new(tour().into_iter().skip(2).take(1).chain([vec![Line::say("done")]]).collect());
    rig.file("a.txt", "saved one\n");
    let (mut client, session) = connected(&rig, Editor::hello(true, true, false)).await;
    let mut editor = editor(&rig);
    let id = client.prompt(&session, "edit").await;
    let (ask, params) = editor.serve_up_to(&mut client, &id, "session/request_permission").await;
    let diff = &params["toolCall"]["content"][0];
    assert_eq!((&diff["oldText"], &diff["newText"]), (&json!("unsaved one\n"), &json!("unsaved two\n")));
    assert_eq!(editor.methods(), ["fs/read_text_file"], "nothing is written before leave is given");
    client.choose(&ask, "allow").await;
    editor.serve(&mut client, &id).await.expect("answered");
    let path = rig.cwd().join("a.txt").display().to_string();
    assert_eq!(editor.files[&path], "unsaved two\n");
    assert_eq!(rig.read("a.txt"), "saved one\n");
    assert_eq!(editor.methods(), ["fs/read_text_file", "fs/read_text_file", "fs/write_text_file"]);
    for (_, params) in editor.asked.iter().filter(|(method, _)| method.starts_with("fs/")) {
        assert_eq!((params["path"].as_str(), &params["sessionId"]), (Some(path.as_str()), &json!(session)));
    }
    client.finish().await;
}

#[tokio::test(start_paused = true)]
async fn a_client_that_fails_is_not_passed_by_on_the_disk() {
    let error = |code: i64| json!({ "code": code, "message": "the buffer is gone" });
    for (method, code) in [
        ("fs/read_text_file", -32603),
        ("fs/read_text_file", -32002),
        ("fs/read_text_file", -32601),
        ("fs/write_text_file", -32603),
    ] {
        let rig = Rig::new(tour().into_iter().skip(2).take(1).chain([vec![Line::say("done")]]).collect());
        rig.file("a.txt", "saved one\n");
        let (mut client, session) = connected(&rig, Editor::hello(true, true, false)).await;
        let mut editor = editor(&rig);
        editor.script(method, error(code));
        let id = client.prompt(&session, "edit").await;
        editor.serve(&mut client, &id).await.expect("the turn goes on");
        let told = told(&rig);
        assert!(told.contains("the buffer is gone"), "{method} {code}: {told}");
        assert_eq!(rig.read("a.txt"), "saved one\n", "{method} {code}");
        client.finish().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_never_answers_fails_the_call_after_its_time_and_is_told_so() {
    let rig = Rig::new(tour().into_iter().take(1).chain([vec![Line::say("done")]]).collect());
    let (mut client, session) = connected(&rig, Editor::hello(true, false, false)).await;
    let mut editor = editor(&rig);
    editor.script("fs/read_text_file", Value::Null);
    let id = client.prompt(&session, "read").await;
    let result = editor.serve(&mut client, &id).await.expect("the turn goes on");
    assert_eq!(result["stopReason"], "end_turn");
    assert!(told(&rig).contains("timed out after 120 s"), "{}", told(&rig));
    client.notification("$/cancel_request").await;
    client.finish().await;
}

#[tokio::test(start_paused = true)]
async fn a_cancel_withdraws_what_the_client_was_asked_and_asks_nothing_more() {
    let rig = Rig::new(tour().into_iter().skip(1).take(1).chain([vec![Line::say("done")]]).collect());
    let (mut client, session) = connected(&rig, Editor::hello(true, true, false)).await;
    let mut editor = editor(&rig);
    let id = client.prompt(&session, "read both").await;
    let (asked, _) = editor.serve_up_to(&mut client, &id, "fs/read_text_file").await;
    client.cancel(&session).await;
    let result = editor.serve(&mut client, &id).await.expect("answered");
    assert_eq!(result["stopReason"], "cancelled");
    let withdrawn = client.notification("$/cancel_request").await;
    assert_eq!(withdrawn["requestId"], asked);
    assert_eq!(editor.methods(), ["fs/read_text_file"]);
    client.finish().await;
}

#[tokio::test(start_paused = true)]
async fn our_rules_for_paths_hold_before_the_client_is_asked() {
    let outside = json!({ "path": "/etc/hostname", "old_string": "a", "new_string": "b" });
    let rig = Rig::new(vec![vec![Line::call("edit_file", outside)], vec![Line::say("done")]]);
    let (mut client, session) = connected(&rig, Editor::hello(true, true, false)).await;
    let mut editor = editor(&rig);
    let id = client.prompt(&session, "edit").await;
    let (ask, _) = editor.serve_up_to(&mut client, &id, "session/request_permission").await;
    assert!(editor.methods().is_empty(), "not even read before leave is given");
    client.choose(&ask, "reject").await;
    editor.serve(&mut client, &id).await.expect("answered");
    assert!(editor.methods().is_empty());
    client.finish().await;
}

#[tokio::test(start_paused = true)]
async fn what_was_said_before_is_on_the_wire_before_the_client_is_asked() {
    let call = vec![Line::say("Let me look."), Line::call("read_file", json!({ "path": "a.txt" }))];
    let rig = Rig::new(vec![call, vec![Line::say("done")]]);
    let (mut client, session) = connected(&rig, Editor::hello(true, false, false)).await;
    let mut editor = editor(&rig);
    let id = client.prompt(&session, "read").await;
    let (asked, _) = editor.serve_up_to(&mut client, &id, "fs/read_text_file").await;
    assert_eq!(client.take_text("agent_message_chunk"), "Let me look.");
    assert_eq!(client.update("tool_call_update").await["status"], "in_progress");
    client.answer(&asked, json!({ "content": "x" })).await;
    editor.serve(&mut client, &id).await.expect("answered");
    client.finish().await;
}

#[tokio::test(start_paused = true)]
async fn a_new_file_is_shown_as_one_only_where_it_surely_is() {
    let missing = "ENOENT: no such file or directory, open 'b.txt'";
    for (code, message, on_disk, shown) in [
        (-32002, "no such buffer", false, true),
        (-32603, missing, false, true),
        (-32603, missing, true, false),
        (-32603, "the window was closed", false, false),
        (-32601, missing, false, false),
    ] {
        let rig = Rig::new(vec![
            vec![Line::call("write_file", json!({ "path": "b.txt", "content": "new\n" }))],
            vec![Line::say("done")],
        ]);
        if on_disk {
            rig.file("b.txt", "old\n");
        }
        let (mut client, session) = connected(&rig, Editor::hello(true, true, false)).await;
        let mut editor = Editor::new();
        editor.script("fs/read_text_file", json!({ "code": code, "message": message }));
        let id = client.prompt(&session, "write").await;
        let (ask, params) = editor.serve_up_to(&mut client, &id, "session/request_permission").await;
        let diff = &params["toolCall"]["content"][0];
        let case = format!("{code} {message} {on_disk}: {params}");
        assert_eq!(diff["type"] == "diff", shown, "{case}");
        assert!(diff["oldText"].is_null(), "{case}");
        client.choose(&ask, "allow").await;
        editor.serve(&mut client, &id).await.expect("answered");
        assert_eq!(editor.files[&rig.cwd().join("b.txt").display().to_string()], "new\n", "{case}");
        client.finish().await;
    }
}
