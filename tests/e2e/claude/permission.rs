//! Leave for tools: asked in the client, granted, refused, cancelled.

use std::time::Duration;

use milk_tests::schema::Version;
use serde_json::json;
use tokio::time::Instant;

use super::{Scene, asked, bash, ended, row, subject};

#[tokio::test]
async fn a_tool_is_asked_about_with_its_change_and_runs_when_allowed() {
    for version in Version::BOTH {
        let scene = Scene::new(&json!([]));
        scene.script(&json!([[{"say": "I write."}, scene.write("a.txt", "hello\n"), {"say": "Done."}]]));
        let (mut client, session) = scene.rig.session(version).await;
        let (prompt, id, params) = asked(&mut client, &session, "write").await;
        let call = subject(&params);
        assert_eq!(call["title"], "Write: a.txt", "{params}");
        assert_eq!(call["content"][0]["type"], "diff", "{params}");
        let known = client.transcript().contains(&format!("\"toolCallId\":{}", call["toolCallId"]));
        assert!(known, "the row is shown before it is asked about");
        assert!(!scene.path("a.txt").exists());
        client.choose(&id, "allow").await;
        assert_eq!(ended(&mut client, &prompt).await.expect("answered"), "end_turn");
        assert_eq!(scene.rig.read("a.txt"), "hello\n");
        let lines = client.take_unclaimed();
        let done = row(&lines, "completed");
        assert_eq!(done["content"][0]["type"], "diff", "{done}");
        let described = row(&lines, "in_progress");
        assert_eq!(described["kind"].as_str().unwrap_or("edit"), "edit");
        assert_eq!(described["locations"][0]["path"], json!(scene.path("a.txt")));
        assert_eq!(described["rawInput"]["content"], "hello\n");
        client.finish().await;
    }
}

#[tokio::test]
async fn a_refused_tool_does_not_run_and_the_turn_goes_on() {
    for version in Version::BOTH {
        let scene = Scene::new(&json!([]));
        scene.script(&json!([[scene.write("a.txt", "x"), {"say": "Then not."}]]));
        let (mut client, session) = scene.rig.session(version).await;
        let (prompt, id, _) = asked(&mut client, &session, "write").await;
        client.choose(&id, "reject").await;
        assert_eq!(ended(&mut client, &prompt).await.expect("answered"), "end_turn");
        assert!(!scene.path("a.txt").exists());
        assert_eq!(client.take_text("agent_message_chunk"), "Then not.");
        let failed = row(&client.take_unclaimed(), "failed");
        assert!(
            failed["rawOutput"]["error"].as_str().is_some_and(|text| text.contains("the user denied")),
            "{failed}"
        );
        client.finish().await;
    }
}

#[tokio::test]
async fn what_is_always_allowed_is_not_asked_again() {
    for version in Version::BOTH {
        let scene = Scene::new(
            &json!([[bash("touch one"), bash("touch one two"), {"say": "Both."}], [bash("touch one three")]]),
        );
        let (mut client, session) = scene.rig.session(version).await;
        let (prompt, id, params) = asked(&mut client, &session, "touch").await;
        assert_eq!(params["options"][1]["name"], "Always allow `touch one` … in this session", "{params}");
        client.choose(&id, "allow_always").await;
        ended(&mut client, &prompt).await.expect("answered");
        let prompt = client.prompt(&session, "again").await;
        ended(&mut client, &prompt).await.expect("answered");
        for name in ["one", "two", "three"] {
            assert!(scene.path(name).exists(), "{name}");
        }
        client.finish().await;
    }
}

#[tokio::test]
async fn no_answer_is_no_leave_and_the_user_is_told_why() {
    for version in Version::BOTH {
        let scene = Scene::new(&json!([]));
        scene.script(&json!([[scene.write("a", "x"), scene.write("b", "x"), {"say": "No."}]]));
        let (mut client, session) = scene.rig.session(version).await;
        let (prompt, id, _) = asked(&mut client, &session, "write").await;
        client.refuse(&id, -32601, "no such method").await;
        let (id, _) = client.request("session/request_permission").await;
        client.refuse(&id, -32601, "no such method").await;
        ended(&mut client, &prompt).await.expect("answered");
        assert!(!scene.path("a").exists() && !scene.path("b").exists());
        assert_eq!(client.transcript().matches("Write was not run").count(), 1);
        client.finish().await;
    }
}

#[tokio::test]
async fn a_mode_that_only_looks_refuses_unasked_and_one_that_asks_nothing_allows() {
    for (mode, runs) in [("restricted", false), ("autonomous", true)] {
        let scene = Scene::new(&json!([]));
        scene.script(&json!([[scene.write("a.txt", "x"), {"say": "Over."}]]));
        let (mut client, session) = scene.rig.session(Version::V1).await;
        client.call("session/set_mode", json!({"sessionId": session, "modeId": mode})).await.expect("a mode");
        let prompt = client.prompt(&session, "write").await;
        ended(&mut client, &prompt).await.expect("answered");
        assert_eq!(scene.path("a.txt").exists(), runs, "{mode}");
        client.finish().await;
    }
}

#[tokio::test]
async fn a_cancel_while_it_asks_ends_the_question_and_the_turn() {
    for version in Version::BOTH {
        let scene = Scene::new(&json!([]));
        scene.script(&json!([[scene.write("a.txt", "x")], [{"say": "Next."}]]));
        let (mut client, session) = scene.rig.session(version).await;
        let (prompt, id, _) = asked(&mut client, &session, "write").await;
        let since = Instant::now();
        client.cancel(&session).await;
        assert_eq!(client.notification("$/cancel_request").await["requestId"], id);
        assert_eq!(ended(&mut client, &prompt).await.expect("no error"), "cancelled");
        assert!(since.elapsed() < Duration::from_secs(2), "{:?}", since.elapsed());
        client.choose(&id, "allow").await;
        let prompt = client.prompt(&session, "next").await;
        assert_eq!(ended(&mut client, &prompt).await.expect("answered"), "end_turn");
        assert_eq!(client.take_text("agent_message_chunk"), "Next.");
        assert!(!scene.path("a.txt").exists());
        client.finish().await;
    }
}

#[tokio::test]
async fn a_cancel_while_a_tool_runs_reaches_it() {
    for version in Version::BOTH {
        let scene = Scene::new(&json!([[bash("echo $$ > pid; exec sleep 600")], [{"say": "Next."}]]));
        let (mut client, session) = scene.rig.session(version).await;
        let (prompt, id, _) = asked(&mut client, &session, "sleep").await;
        client.choose(&id, "allow").await;
        let mut beat = tokio::time::interval(Duration::from_millis(5));
        while std::fs::read_to_string(scene.path("pid")).unwrap_or_default().is_empty() {
            beat.tick().await;
        }
        let since = Instant::now();
        client.cancel(&session).await;
        assert_eq!(ended(&mut client, &prompt).await.expect("no error"), "cancelled");
        assert!(since.elapsed() < Duration::from_secs(2), "{:?}", since.elapsed());
        let pid = scene.rig.read("pid");
        assert!(!std::path::Path::new(&format!("/proc/{}", pid.trim())).exists(), "it runs on");
        let prompt = client.prompt(&session, "next").await;
        ended(&mut client, &prompt).await.expect("answered");
        client.finish().await;
    }
}
