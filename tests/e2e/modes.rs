//! How freely tools run: the mode as an option, as v1's own method, as a command, and in the middle of a turn.

use agent_runtime::scripted::{Latch, Line};
use milk_tests::client::Client;
use milk_tests::rig::Rig;
use milk_tests::schema::Version;
use serde_json::{Value, json};

async fn set_mode(client: &mut Client, session: &str, mode: &str) -> Result<Value, Value> {
    let (method, params) = match client.version() {
        Version::V1 => ("session/set_mode", json!({ "sessionId": session, "modeId": mode })),
        Version::V2 => (
            "session/set_config_option",
            json!({ "sessionId": session, "configId": "mode", "type": "id", "value": mode }),
        ),
    };
    client.call(method, params).await
}

/// The mode a client was told of last: by v1's own update, or among the options.
fn told_mode(client: &mut Client) -> Option<String> {
    let mut mode = None;
    for line in client.take_unclaimed() {
        let update = &line["params"]["update"];
        if let Some(id) = update["currentModeId"].as_str() {
            mode = Some(id.to_owned());
        }
        for option in update["configOptions"].as_array().into_iter().flatten() {
            if option["id"] == "mode" || option["configId"] == "mode" {
                mode = option["currentValue"].as_str().map(str::to_owned);
            }
        }
    }
    mode
}

#[tokio::test(start_paused = true)]
async fn where_tools_may_only_look_changes_are_refused_unasked_and_the_model_is_told() {
    for version in Version::BOTH {
        let write = Line::call("write_file", json!({ "path": "a.txt", "content": "new" }));
        let rig = Rig::new(vec![vec![write], vec![Line::say("I may not.")]]);
        let (mut client, session) = rig.session(version).await;
        set_mode(&mut client, &session, "restricted").await.expect("set");
        let id = client.prompt(&session, "write it").await;
        client.response(&id).await.expect("answered");
        assert!(!rig.dir.path().join("a.txt").exists());
        let heard = format!("{:?}", rig.model.requests().pop().expect("asked").messages);
        assert!(heard.contains("tools may only look"), "{heard}");
        client.finish().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_mode_set_during_a_turn_holds_from_the_next_call_on() {
    for version in Version::BOTH {
        let latch = Latch::new();
        let write = |name: &str| Line::call("write_file", json!({ "path": name, "content": "x" }));
        let rig = Rig::new(vec![
            vec![write("a.txt")],
            vec![Line::say("next"), Line::Wait(latch.clone()), write("b.txt")],
            vec![Line::say("done")],
        ]);
        let (mut client, session) = rig.session(version).await;
        let id = client.prompt(&session, "write both").await;
        let (ask, params) = client.request("session/request_permission").await;
        let options = params["options"].as_array().expect("options");
        let once = options.iter().find(|option| option["kind"] == "allow_once").expect("an option");
        client.choose(&ask, once["optionId"].as_str().expect("an id")).await;
        client.update("agent_message_chunk").await;
        set_mode(&mut client, &session, "autonomous").await.expect("set");
        latch.open();
        client.response(&id).await.expect("answered without another question");
        assert_eq!(rig.read("b.txt"), "x");
        client.finish().await;
    }
}

#[tokio::test(start_paused = true)]
async fn where_everything_is_asked_reading_is_too() {
    for version in Version::BOTH {
        let read = Line::call("read_file", json!({ "path": "a.txt" }));
        let rig = Rig::new(vec![vec![read], vec![Line::say("read")]]);
        rig.file("a.txt", "hello");
        let (mut client, session) = rig.session(version).await;
        set_mode(&mut client, &session, "strict").await.expect("set");
        let id = client.prompt(&session, "read it").await;
        let (ask, _) = client.request("session/request_permission").await;
        client.choose(&ask, "allow").await;
        client.response(&id).await.expect("answered");
        client.finish().await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_command_and_the_option_are_one_state_and_the_setter_is_not_told_back() {
    for version in Version::BOTH {
        let rig = Rig::new(Vec::new());
        let (mut client, session) = rig.session(version).await;
        client.settle().await;
        client.take_unclaimed();
        set_mode(&mut client, &session, "balanced").await.expect("set");
        client.settle().await;
        assert_eq!(told_mode(&mut client), None, "the answer has it");
        for (prompt, mode) in [("/skip-permissions on", "autonomous"), ("/skip-permissions off", "balanced")]
        {
            let id = client.prompt(&session, prompt).await;
            client.response(&id).await.expect("answered");
            client.settle().await;
            assert_eq!(told_mode(&mut client).as_deref(), Some(mode), "{prompt}");
        }
        let error = set_mode(&mut client, &session, "yolo").await.expect_err("no such mode");
        assert_eq!(error["code"], -32602);
        assert!(error["message"].as_str().expect("a message").contains("default, strict"), "{error}");
        client.finish().await;

        let mut client = rig.connect(version).await;
        let params = json!({ "sessionId": session, "cwd": rig.cwd(), "mcpServers": [] });
        let opened = client.call("session/resume", params).await.expect("opened");
        let options = opened["configOptions"].as_array().expect("options");
        assert_eq!(options[0]["currentValue"], "balanced", "the option is kept, the command is not");
        client.finish().await;
    }
}
