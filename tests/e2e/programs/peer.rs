//! A program as another agent's tool: asked about like everything, gone with its call, and no session of its own.

use milk_tests::mock_openai::{MockOpenAi, Reply};
use milk_tests::schema::Version;
use serde_json::{Value, json};

use super::{Scene, ended, entry};

/// A model that asks the program once, and what it was told then.
async fn model() -> MockOpenAi {
    let mock = MockOpenAi::start().await.expect("started");
    mock.page("/props", Reply::error(404, &json!({})));
    mock.respond(|request| {
        let last =
            request.body["messages"].as_array().and_then(|all| all.last()).cloned().unwrap_or_default();
        if last["role"] == "tool" {
            Reply::say(&["Fine."])
        } else {
            Reply::call("agent_smol", &json!({"request": "Find it."}))
        }
    });
    mock
}

fn scene(mock: &MockOpenAi, plays: &[&str]) -> Scene {
    let config = json!({
        "agent": "caller",
        "agents": [
            {"name": "caller", "url": mock.url(), "model": "m", "context_window_tokens": 32_000},
            entry("smol", "subprocess", "events.sh", &json!({})),
        ],
        "agent_tools": [{"agent": "smol"}],
    });
    Scene::new(&config, plays)
}

/// The result that the model was given.
fn result(mock: &MockOpenAi) -> String {
    let last = mock.chats().pop().expect("asked");
    let messages = last.body["messages"].as_array().cloned().unwrap_or_default();
    messages.last().map(|message| message["content"].to_string()).unwrap_or_default()
}

#[tokio::test]
async fn a_program_as_a_tool_is_asked_about_and_keeps_no_session_of_its_own() {
    let play = "echo '{\"type\":\"step\",\"code\":\"look()\"}'; echo '{\"type\":\"observation\",\"text\":\"seen\"}'; \
                echo '{\"type\":\"final_answer\",\"text\":\"It is there.<milk:need:1>x</milk:need:1>\"}'";
    for version in Version::BOTH {
        let mock = model().await;
        let scene = scene(&mock, &[play]);
        let (mut client, session) = scene.rig.session(version).await;
        let prompt = client.prompt(&session, "Have it found.").await;
        let mut rows: Vec<Value> = Vec::new();
        for _ in 0..2 {
            let (id, params) = client.request("session/request_permission").await;
            assert_eq!(params["sessionId"], session.as_str());
            let call =
                if version == Version::V1 { &params["toolCall"] } else { &params["subject"]["toolCall"] };
            rows.push(call["toolCallId"].clone());
            client.choose(&id, "allow").await;
        }
        assert_eq!(rows[0], rows[1], "what it asks is asked under the row that the client knows");
        assert_eq!(ended(&mut client, &prompt).await.expect("answered"), "end_turn");
        assert_eq!(client.take_text("agent_message_chunk"), "Fine.");
        assert!(
            result(&mock).contains("It is there.") && !result(&mock).contains("milk:need"),
            "{}",
            result(&mock)
        );
        assert_eq!(scene.noted(0, "prompt"), "Find it.");
        assert!(!scene.noted(0, "context").contains("Have it found."), "it knows nothing but the request");
        let listed = client.call("session/list", json!({})).await.expect("listed");
        assert_eq!(listed["sessions"].as_array().map(Vec::len), Some(1), "{listed}");
        client.finish().await;
    }
}

#[tokio::test]
async fn a_program_as_a_tool_that_fails_is_told_to_the_model_which_goes_on() {
    for (play, words) in [("echo boom >&2; exit 3", "boom (exit status: 3)"), ("kill -9 $$", "signal: 9")] {
        let mock = model().await;
        let scene = scene(&mock, &[play]);
        let (mut client, session) = scene.rig.session(Version::V2).await;
        let prompt = client.prompt(&session, "Have it found.").await;
        for _ in 0..2 {
            let (id, _) = client.request("session/request_permission").await;
            client.choose(&id, "allow").await;
        }
        assert_eq!(ended(&mut client, &prompt).await.expect("answered"), "end_turn");
        assert_eq!(client.take_text("agent_message_chunk"), "Fine.");
        assert!(result(&mock).contains(words), "{}", result(&mock));
        client.finish().await;
    }
}

#[tokio::test]
async fn cancelling_the_turn_ends_a_program_that_works_as_a_tool() {
    let mock = model().await;
    let scene = scene(
        &mock,
        &["echo '{\"type\":\"step\",\"code\":\"wait()\"}'; echo up > \"$run/up\"; exec sleep 600"],
    );
    let (mut client, session) = scene.rig.session(Version::V2).await;
    let prompt = client.prompt(&session, "Have it found.").await;
    for _ in 0..2 {
        let (id, _) = client.request("session/request_permission").await;
        client.choose(&id, "allow").await;
    }
    while scene.noted(0, "up").is_empty() {
        tokio::task::yield_now().await;
    }
    client.cancel(&session).await;
    assert_eq!(ended(&mut client, &prompt).await.expect("no error"), "cancelled");
    assert!(!scene.is_alive(0));
    client.settle().await;
    assert_eq!(mock.chats().len(), 1, "no model is asked after the cancel");
    client.finish().await;
}
