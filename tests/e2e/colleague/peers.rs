//! Programs as tools of a model: another agent that speaks the protocol, and Claude Code, both played by stand-ins.

use milk_tests::client::Client;
use milk_tests::mock_openai::{MockOpenAi, Reply};
use milk_tests::schema::Version;
use rustix::process::{Pid, test_kill_process};
use serde_json::{Value, json};

use super::{Scene, ended, leave, soon, subject};

async fn model() -> MockOpenAi {
    MockOpenAi::start().await.expect("a loopback port")
}

/// A scene in which a model may ask the agent that follows the script, and `more` agents.
fn asked_by(model: &MockOpenAi, script: &Value, more: &Value) -> Scene {
    let small = json!({"name": "small", "url": model.url(), "model": "mock-model"});
    Scene::build(script, |agent| {
        let tools = json!([{"agent": "other"}, {"agent": "claude"}]);
        let mut agents = vec![small, agent.clone()];
        agents.extend(more.as_array().cloned().unwrap_or_default());
        json!({"agents": agents, "agent_tools": tools})
    })
}

/// Waits for a permission request and grants it once; the call it was about.
async fn allow(client: &mut Client, option: &str) -> Value {
    let (id, params) = client.request("session/request_permission").await;
    client.choose(&id, option).await;
    subject(&params).clone()
}

#[tokio::test]
async fn cancelling_reaches_an_agent_that_works_as_a_tool_and_ends_its_process() {
    for version in Version::BOTH {
        let model = model().await;
        model.reply(Reply::call("agent_other", &json!({"request": "Take your time."})));
        let scene = asked_by(&model, &json!({"prompts": [[{"say": "Hm."}, {"hang": true}]]}), &json!([]));
        let (mut client, session) = scene.rig.session(version).await;
        let prompt = client.prompt(&session, "go").await;
        allow(&mut client, "allow").await;
        scene.until(|heard| heard.iter().any(|line| line["method"] == "session/prompt")).await;
        client.cancel(&session).await;
        assert_eq!(ended(&mut client, &prompt).await.expect("no error"), "cancelled");
        assert_eq!(scene.requests("session/cancel").len(), 1);
        let pid = scene.heard()[0]["pid"].as_i64().and_then(|pid| i32::try_from(pid).ok());
        let pid = pid.and_then(Pid::from_raw).expect("a process");
        soon(|| test_kill_process(pid).is_err()).await;
        client.finish().await;
    }
}

#[tokio::test]
async fn cancelling_withdraws_what_an_agent_that_works_as_a_tool_asks() {
    for version in Version::BOTH {
        let model = model().await;
        model.reply(Reply::call("agent_other", &json!({"request": "Build it."})));
        let call = json!({"toolCallId": "t", "title": "Run make", "kind": "execute", "rawInput": {"command": "make"}});
        let scene = asked_by(&model, &json!({"prompts": [[leave(&call)]]}), &json!([]));
        let (mut client, session) = scene.rig.session(version).await;
        let prompt = client.prompt(&session, "go").await;
        allow(&mut client, "allow").await;
        let (id, params) = client.request("session/request_permission").await;
        assert_eq!(subject(&params)["title"], "other → Run make");
        client.cancel(&session).await;
        assert_eq!(ended(&mut client, &prompt).await.expect("no error"), "cancelled");
        client.answer(&id, json!({"outcome": {"outcome": "cancelled"}})).await;
        assert_eq!(scene.requests("session/cancel").len(), 1);
        client.finish().await;
    }
}

#[tokio::test]
async fn claude_code_works_as_a_tool_with_its_permissions_asked_under_the_call() {
    for version in Version::BOTH {
        for (option, written) in [("allow", true), ("reject", false)] {
            let model = model().await;
            model.reply(Reply::call("agent_claude", &json!({"request": "Write it."})));
            model.reply(Reply::say(&["Fine."]));
            let folder = tempfile::tempdir().expect("a folder");
            let claude = json!({"name": "claude", "provider": "claude-cli", "bin": env!("CARGO_BIN_EXE_mock_claude"),
                "env": {"MOCK_CLAUDE": folder.path()}});
            let scene = asked_by(&model, &json!({}), &json!([claude]));
            let file = scene.path("a.txt");
            let write =
                json!({"tool": {"name": "Write", "input": {"file_path": file, "content": "hello\n"}}});
            let script = json!([[{"say": "I write."}, write, {"say": "Claude is done."}]]);
            std::fs::write(folder.path().join("script.json"), script.to_string()).expect("a script");
            let (mut client, session) = scene.rig.session(version).await;
            let prompt = client.prompt(&session, "go").await;
            let outer = allow(&mut client, "allow").await;
            assert_eq!(outer["title"], "agent_claude: Write it.");
            let inner = allow(&mut client, option).await;
            assert_eq!(
                (&inner["title"], &inner["toolCallId"]),
                (&json!("claude → Write: a.txt"), &outer["toolCallId"])
            );
            assert_eq!(inner["content"][0]["type"], "diff");
            assert_eq!(ended(&mut client, &prompt).await.expect("answered"), "end_turn");
            assert_eq!(file.exists(), written);
            let result =
                model.chats().last().map(|chat| chat.body["messages"].to_string()).unwrap_or_default();
            assert!(result.contains("Claude is done."), "{result}");
            assert_eq!(client.take_text("agent_message_chunk"), "Fine.");
            client.finish().await;
        }
    }
}
