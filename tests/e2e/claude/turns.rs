//! Turns: what is told and shown, and how the conversation goes on.

use milk_tests::schema::Version;
use serde_json::{Value, json};

use super::{Scene, ended, option};

#[tokio::test]
async fn text_and_thoughts_come_as_they_are_said() {
    for version in Version::BOTH {
        let scene = Scene::new(&json!([[{"think": "Hm."}, {"say": ["One, ", "two."]}]]));
        let (mut client, session) = scene.rig.session(version).await;
        let prompt = client.prompt(&session, "-- count \"up\"\n").await;
        assert_eq!(ended(&mut client, &prompt).await.expect("answered"), "end_turn");
        assert_eq!(client.take_text("agent_thought_chunk"), "Hm.");
        assert_eq!(client.take_text("agent_message_chunk"), "One, two.");
        if version == Version::V2 {
            let usage = client.update("usage_update").await;
            assert_eq!((&usage["used"], &usage["size"]), (&json!(22), &json!(200_000)));
            assert_eq!(usage["cost"], json!({"amount": 0.25, "currency": "USD"}));
        }
        assert_eq!(scene.runs()[0]["prompt"], json!([{"type": "text", "text": "-- count \"up\"\n"}]));
        client.finish().await;
    }
}

#[tokio::test]
async fn the_conversation_is_taken_up_and_its_cost_adds_up() {
    let scene = Scene::new(&json!([[{"say": "First."}], [{"say": "Second."}]]));
    let (mut client, session) = scene.rig.session(Version::V2).await;
    for text in ["one", "two"] {
        let prompt = client.prompt(&session, text).await;
        ended(&mut client, &prompt).await.expect("answered");
    }
    client.update("usage_update").await;
    assert_eq!(client.update("usage_update").await["cost"]["amount"], 0.5);
    let runs = scene.runs();
    assert_eq!(option(&runs[1], "--resume"), option(&runs[0], "--session-id"));
    let told = runs[1]["context"].as_str().expect("it is told something");
    assert!(!told.contains("USER:"), "it knows what it was told before: {told}");
    client.finish().await;
}

#[tokio::test]
async fn another_process_takes_the_conversation_up() {
    let scene = Scene::new(&json!([[{"say": "First."}]]));
    let (mut client, session) = scene.rig.session(Version::V2).await;
    let prompt = client.prompt(&session, "one").await;
    ended(&mut client, &prompt).await.expect("answered");
    client.finish().await;
    // A driver that remembers nothing, and the same store.
    let again = scene.again();
    let mut client = again.connect(Version::V2).await;
    let params = json!({"sessionId": session, "cwd": scene.rig.cwd(), "mcpServers": []});
    client.call("session/resume", params).await.expect("resumed");
    let prompt = client.prompt(&session, "two").await;
    ended(&mut client, &prompt).await.expect("answered");
    let runs = scene.runs();
    assert_eq!(option(&runs[1], "--resume"), option(&runs[0], "--session-id"));
    client.finish().await;
}

#[tokio::test]
async fn a_conversation_that_is_gone_is_begun_anew_with_what_was_said() {
    for version in Version::BOTH {
        let scene =
            Scene::new(&json!([[{"say": "The first answer."}], [{"say": "unused"}], [{"say": "Again."}]]));
        let (mut client, session) = scene.rig.session(version).await;
        let prompt = client.prompt(&session, "my first question").await;
        ended(&mut client, &prompt).await.expect("answered");
        client.take_text("agent_message_chunk");
        scene.forget();
        let prompt = client.prompt(&session, "my second question").await;
        assert_eq!(ended(&mut client, &prompt).await.expect("answered"), "end_turn");
        let said = client.transcript();
        assert_eq!(said.matches("its earlier conversation is gone").count(), 1, "{version:?}");
        assert!(client.take_text("agent_message_chunk").ends_with("Again."));
        let runs = scene.runs();
        assert_eq!((runs.len(), option(&runs[2], "--resume")), (3, None));
        let told = runs[2]["context"].as_str().expect("it is told something");
        assert!(told.contains("USER: my first question\n\nAGENT: The first answer."), "{told}");
        assert!(!told.contains("my second question"), "that is the prompt: {told}");
        client.finish().await;
    }
}

/// What this process has open, as far as it can be told.
fn descriptors() -> Vec<Value> {
    let open = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    open.filter_map(|entry| Some(json!(std::fs::read_link(entry.path()).ok()?))).collect()
}

#[tokio::test]
async fn a_long_prompt_travels_by_the_pipe_and_nothing_of_milk_does() {
    // Whatever started the test may have left something open.
    let before = descriptors();
    let scene = Scene::new(&json!([[{"stderr": "x", "times": 200_000}, {"say": "Long."}]]));
    let (mut client, session) = scene.rig.session(Version::V2).await;
    let text = format!("-- 'quoted' \"twice\"\n\\u0000 {}", "long ".repeat(80_000));
    let prompt = client.prompt(&session, &text).await;
    ended(&mut client, &prompt).await.expect("answered");
    let run = &scene.runs()[0];
    assert_eq!(run["prompt"][0]["text"].as_str().map(str::len), Some(text.len()));
    assert!(run["prompt"][0]["text"] == text.as_str(), "byte by byte");
    let argv: usize =
        run["argv"].as_array().expect("a list").iter().filter_map(Value::as_str).map(str::len).sum();
    assert!(argv < 4_096, "{argv}");
    let inherited = run["descriptors"].as_array().expect("a list");
    let of_ours: Vec<_> = inherited.iter().filter(|target| !before.contains(target)).collect();
    assert!(of_ours.is_empty(), "{of_ours:?}");
    client.finish().await;
}

#[tokio::test]
async fn a_task_list_is_shown_as_a_plan() {
    let todos = json!({"todos": [{"content": "Look", "status": "completed"}, {"content": "Do", "status": "pending"}]});
    let tool = json!({"name": "TodoWrite", "input": todos, "ask": false});
    let scene = Scene::new(&json!([[{"tool": tool}, {"say": "Planned."}]]));
    let (mut client, session) = scene.rig.session(Version::V1).await;
    let prompt = client.prompt(&session, "plan").await;
    ended(&mut client, &prompt).await.expect("answered");
    let plan = client.update("plan").await;
    assert_eq!(plan["entries"][0]["status"], "completed");
    client.finish().await;
}

#[tokio::test]
async fn work_in_the_background_is_waited_for() {
    let started = json!({"type": "system", "subtype": "task_started", "task_id": "t"}).to_string();
    let ended_line = json!({"type": "system", "subtype": "task_notification", "task_id": "t"}).to_string();
    let scene = Scene::new(&json!([[
        {"raw": started}, {"say": "It will report later."}, {"result": {}}, {"pause": 300}, {"raw": ended_line},
        {"say": "It reports."},
    ]]));
    let (mut client, session) = scene.rig.session(Version::V2).await;
    let prompt = client.prompt(&session, "go").await;
    ended(&mut client, &prompt).await.expect("answered");
    assert_eq!(client.take_text("agent_message_chunk"), "It will report later.It reports.");
    client.finish().await;
}
