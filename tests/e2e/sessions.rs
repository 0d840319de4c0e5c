//! Sessions over time: listed, opened again, replayed, closed, deleted.

use agent_runtime::scripted::Line;
use insta::assert_snapshot;
use milk_acp::drivers::SessionSettings;
use milk_tests::rig::{Rig, redacted};
use milk_tests::schema::Version;
use serde_json::{Value, json};

fn answers() -> Vec<Vec<Line>> {
    vec![
        vec![
            Line::think("A file is asked for."),
            Line::say("Looking."),
            Line::call("read_file", json!({ "path": "a.txt" })),
        ],
        vec![Line::say("It says hello.")],
        vec![Line::say("Welcome back.")],
    ]
}

/// One option of a result, whose id is spelled differently in the versions.
fn option(result: &Value, id: &str) -> Value {
    let options = result["configOptions"].as_array().expect("options");
    let named = |option: &&Value| option["id"] == id || option["configId"] == id;
    options.iter().find(named).expect("the option").clone()
}

#[tokio::test(start_paused = true)]
async fn a_later_connection_lists_opens_and_replays() {
    for version in Version::BOTH {
        let rig = Rig::new(answers());
        rig.file("a.txt", "hello\n");
        let (mut client, session) = rig.session(version).await;
        let id = client.prompt(&session, "what does a.txt say?").await;
        client.response(&id).await.expect("answered");
        client.finish().await;

        let mut client = rig.connect(version).await;
        let list = client.call("session/list", json!({ "cwd": rig.cwd() })).await.expect("listed");
        assert_eq!(list["sessions"][0]["sessionId"], session);
        assert_eq!(list["sessions"][0]["title"], "what does a.txt say?");
        let (method, params) = match version {
            Version::V1 => {
                ("session/load", json!({ "sessionId": session, "cwd": rig.cwd(), "mcpServers": [] }))
            }
            Version::V2 => (
                "session/resume",
                json!({ "sessionId": session, "cwd": rig.cwd(), "replayFrom": { "type": "start" } }),
            ),
        };
        client.call(method, params).await.expect("opened");
        let id = client.prompt(&session, "still there?").await;
        client.response(&id).await.expect("answered");
        let heard = rig.model.requests().pop().expect("the model was asked");
        assert!(
            format!("{:?}", heard.messages).contains("It says hello."),
            "the history is sent to the model"
        );
        let transcript = client.finish().await;
        assert_snapshot!(format!("replay_v{}", version.number()), redacted(&transcript, &rig));
    }
}

#[tokio::test(start_paused = true)]
async fn a_new_session_takes_the_folders_last_one_up_again_once() {
    for version in Version::BOTH {
        let rig = Rig::new(answers());
        rig.file("a.txt", "hello\n");
        let (mut client, session) = rig.session(version).await;
        let id = client.prompt(&session, "what does a.txt say?").await;
        client.response(&id).await.expect("answered");
        client.finish().await;

        let mut client = rig.connect(version).await;
        let fresh = json!({ "cwd": rig.cwd(), "mcpServers": [], "_meta": { "milk": { "fresh": true } } });
        let adopted = client.new_session(&rig.cwd()).await;
        assert_eq!(adopted, session);
        client.settle().await;
        let second = client.new_session(&rig.cwd()).await;
        assert_ne!(second, session, "the second new session of a folder is new");
        let transcript = client.finish().await;
        let response = transcript.find("\"sessionId\":\"session-").expect("a response");
        let notice = transcript.find("resumed session").expect("a notice");
        let replay = transcript.find("what does a.txt say?").expect("a replay");
        assert!(response < notice && notice < replay, "response, notice, replay\n{transcript}");

        let mut client = rig.connect(version).await;
        let result = client.call("session/new", fresh).await.expect("a session");
        assert_ne!(result["sessionId"], session, "fresh means fresh");
        client.finish().await;
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_is_taken_up_again_where_the_settings_say_so() {
    for version in Version::BOTH {
        let settings = SessionSettings { resume: false, ..SessionSettings::default() };
        let rig = Rig::with(vec![vec![Line::say("hi")]], settings);
        let (mut client, session) = rig.session(version).await;
        let id = client.prompt(&session, "hello").await;
        client.response(&id).await.expect("answered");
        client.finish().await;
        let mut client = rig.connect(version).await;
        assert_ne!(client.new_session(&rig.cwd()).await, session);
        client.finish().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_nobody_spoke_in_does_not_hide_the_last_conversation() {
    for version in Version::BOTH {
        let rig = Rig::new(vec![vec![Line::say("hi")]]);
        let (mut client, session) = rig.session(version).await;
        let id = client.prompt(&session, "hello").await;
        client.response(&id).await.expect("answered");
        let unused = client.new_session(&rig.cwd()).await;
        assert_ne!(unused, session);
        client.finish().await;
        let mut client = rig.connect(version).await;
        assert_eq!(client.new_session(&rig.cwd()).await, session);
        client.finish().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_connection_keeps_its_version() {
    let rig = Rig::new(Vec::new());
    let (mut client, _session) = rig.session(Version::V1).await;
    let hello = json!({ "protocolVersion": 2, "info": { "name": "t", "version": "1" }, "capabilities": {} });
    let error = client.call("initialize", hello).await.expect_err("another version");
    assert_eq!(error["code"], -32600, "{error}");
    client.initialize().await;
    client.finish().await;
}

#[tokio::test(start_paused = true)]
async fn an_export_makes_a_file_in_the_folder_and_touches_no_other() {
    for version in Version::BOTH {
        let rig = Rig::new(vec![vec![Line::say("hi")]]);
        rig.file("kept.txt", "mine");
        let outside = tempfile::tempdir().expect("a folder");
        let far = outside.path().join("far.txt");
        let (mut client, session) = rig.session(version).await;
        for (argument, words) in [
            ("new.txt".to_owned(), "wrote "),
            ("json new.json".to_owned(), "wrote "),
            ("kept.txt".to_owned(), "exists already"),
            ("../out.txt".to_owned(), "outside the session's folders"),
            (far.display().to_string(), "outside the session's folders"),
            ("missing/x.txt".to_owned(), "cannot write"),
        ] {
            let id = client.prompt(&session, &format!("/export {argument}")).await;
            client.response(&id).await.expect("answered");
            let said = client.take_text("agent_message_chunk");
            assert!(said.contains(words), "{argument}: {said}");
        }
        assert_eq!(rig.read("kept.txt"), "mine");
        assert!(!far.exists() && rig.read("new.txt").contains("session:"));
        client.finish().await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_export_has_marks_in_place_of_secrets() {
    let key = format!("ghp_{}", "a1B2".repeat(9));
    for version in Version::BOTH {
        let rig = Rig::new(vec![vec![Line::say("hi")]]);
        let (mut client, session) = rig.session(version).await;
        for prompt in
            [format!("my key is {key}"), "/export out.txt".to_owned(), "/export json out.json".to_owned()]
        {
            let id = client.prompt(&session, &prompt).await;
            client.response(&id).await.expect("answered");
        }
        for file in ["out.txt", "out.json"] {
            let text = rig.read(file);
            assert!(!text.contains(&key) && text.contains("my key is [redacted:github-token:"), "{text}");
        }
        client.finish().await;
    }
}

#[tokio::test(start_paused = true)]
async fn closing_keeps_deleting_drops() {
    for version in Version::BOTH {
        let rig = Rig::new(vec![vec![Line::say("hi")]]);
        let (mut client, session) = rig.session(version).await;
        let id = client.prompt(&session, "hello").await;
        client.response(&id).await.expect("answered");
        for _ in 0..2 {
            client.call("session/close", json!({ "sessionId": session })).await.expect("closing succeeds");
        }
        let id = client.prompt(&session, "hello").await;
        let error = client.response(&id).await.expect_err("it is closed");
        assert_eq!((&error["code"], &error["data"]["sessionId"]), (&json!(-32002), &json!(session)));
        let list = client.call("session/list", json!({})).await.expect("listed");
        assert_eq!(list["sessions"].as_array().map(Vec::len), Some(1), "it is kept");
        let next = client.new_session(&rig.cwd()).await;
        assert_ne!(next, session, "a closed session is not taken up again");
        client.call("session/delete", json!({ "sessionId": session })).await.expect("deleted");
        let list = client.call("session/list", json!({})).await.expect("listed");
        assert!(list["sessions"].as_array().expect("rows").iter().all(|row| row["sessionId"] != session));
        let again = client.call("session/delete", json!({ "sessionId": session })).await;
        match version {
            Version::V1 => assert_eq!(again, Ok(json!({}))),
            Version::V2 => assert_eq!(again.expect_err("it is gone")["code"], -32002),
        }
        client.finish().await;
    }
}

#[tokio::test(start_paused = true)]
async fn closing_during_a_turn_ends_it_first() {
    for version in Version::BOTH {
        let rig = Rig::new(vec![vec![Line::say("begun"), Line::Hang]]);
        let (mut client, session) = rig.session(version).await;
        let id = client.prompt(&session, "hello").await;
        client.update("agent_message_chunk").await;
        let closing = client.send("session/close", json!({ "sessionId": session })).await;
        client.response(&id).await.expect("answered as cancelled");
        client.response(&closing).await.expect("closed");
        client.finish().await;
    }
}

#[tokio::test(start_paused = true)]
async fn bad_requests_name_what_is_wrong_and_change_nothing() {
    for version in Version::BOTH {
        let rig = Rig::new(vec![vec![Line::say("hi")]]);
        let (mut client, session) = rig.session(version).await;
        let missing = rig.cwd().join("missing");
        let cases: Vec<(&str, Value, i64)> = vec![
            ("session/new", json!({ "cwd": missing, "mcpServers": [] }), -32602),
            ("session/new", json!({ "cwd": "", "mcpServers": [] }), -32602),
            ("session/new", json!({ "mcpServers": [] }), -32602),
            ("session/prompt", json!({ "sessionId": session, "prompt": [] }), -32602),
            ("session/prompt", json!({ "sessionId": session, "content": [] }), -32602),
            (
                "session/prompt",
                json!({ "sessionId": null, "prompt": [{ "type": "text", "text": "x" }] }),
                -32602,
            ),
            (
                "session/prompt",
                json!({ "sessionId": "nope", "prompt": [{ "type": "text", "text": "x" }] }),
                -32002,
            ),
            ("session/resume", json!({ "sessionId": "nope", "cwd": rig.cwd() }), -32002),
            ("session/resume", json!({ "sessionId": session, "cwd": "/" }), -32602),
            ("session/list", json!({ "cursor": "garbage" }), -32602),
            (
                "session/set_config_option",
                json!({ "sessionId": session, "configId": "nope", "type": "id", "value": "x" }),
                -32602,
            ),
            ("session/no_such_method", json!({}), -32601),
            ("_custom/thing", json!({}), -32601),
        ];
        for (method, params, code) in cases {
            let error = client.call(method, params.clone()).await.expect_err(method);
            assert_eq!(error["code"], code, "{method} {params}: {error}");
            assert!(!error["message"].as_str().unwrap_or_default().is_empty());
        }
        let id = client.prompt(&session, "hello").await;
        client.response(&id).await.expect("all is well");
        client.finish().await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_option_set_is_told_in_full_and_survives() {
    for version in Version::BOTH {
        let rig = Rig::new(answers());
        rig.file("a.txt", "hello\n");
        let (mut client, session) = rig.session(version).await;
        let set = match version {
            Version::V1 => json!({ "sessionId": session, "configId": "think", "value": "off" }),
            Version::V2 => {
                json!({ "sessionId": session, "configId": "think", "type": "boolean", "value": false })
            }
        };
        let result = client.call("session/set_config_option", set).await.expect("set");
        let off = if version == Version::V1 { json!("off") } else { json!(false) };
        assert_eq!(option(&result, "think")["currentValue"], off);
        let id = client.prompt(&session, "what does a.txt say?").await;
        client.response(&id).await.expect("answered");
        assert_eq!(client.take_text("agent_thought_chunk"), "", "thoughts are hidden");
        client.finish().await;

        let mut client = rig.connect(version).await;
        let params = json!({ "sessionId": session, "cwd": rig.cwd(), "mcpServers": [] });
        let opened = client.call("session/resume", params).await.expect("opened");
        assert_eq!(option(&opened, "think")["currentValue"], off, "the value was kept");
        client.finish().await;
    }
}
