//! Agents that crash, talk nonsense, end at once or say nothing; and what they take of a prompt.

use milk_tests::schema::Version;
use serde_json::{Value, json};

use super::{Scene, ended, leave, soon};

/// One pixel.
const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

fn code(error: &Value) -> &str {
    error["data"]["runtimeCode"].as_str().unwrap_or_default()
}

fn words(error: &Value) -> &str {
    error["data"]["error"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn one_that_crashes_while_the_user_is_asked_fails_the_turn_and_withdraws_the_question() {
    for version in Version::BOTH {
        let call =
            json!({"toolCallId": "t", "title": "Run", "kind": "execute", "rawInput": {"command": "make"}});
        let mut asked = leave(&call);
        let ask = asked["ask"].take();
        let script =
            json!({"prompts": [[{"send": ask}, {"wait": "asked"}, {"exit": 7}], [{"say": "Back."}]]});
        let scene = Scene::new(&script);
        let (mut client, session) = scene.rig.session(version).await;
        let prompt = client.prompt(&session, "go").await;
        let (id, _) = client.request("session/request_permission").await;
        scene.mark("asked");
        let error = ended(&mut client, &prompt).await.expect_err("it fails");
        assert_eq!(code(&error), "external_exited");
        assert!(words(&error).contains("exit status: 7"), "{error}");
        let withdrawn = client.notification("$/cancel_request").await;
        assert_eq!(withdrawn["requestId"], id);
        client.answer(&id, json!({"outcome": {"outcome": "cancelled"}})).await;
        scene.script(&json!({"prompts": [[{"say": "Back."}]]}));
        let prompt = client.prompt(&session, "again").await;
        assert_eq!(ended(&mut client, &prompt).await.expect("answered"), "end_turn");
        client.finish().await;
    }
}

#[tokio::test]
async fn nonsense_among_what_it_says_is_passed_over() {
    for version in Version::BOTH {
        let script = json!({
            "start": [{"raw": "Welcome to the mock!"}, {"raw": ""}],
            "prompts": [[
                {"raw": "{"},
                {"raw": "[1, 2"},
                {"raw": "{\"jsonrpc\": \"2.0\", \"id\": \"nobody asked\", \"result\": {}}"},
                {"raw": "\u{1b}[31mred\u{1b}[0m"},
                {"update": {"sessionUpdate": "from_the_future", "x": 1}},
                {"update": {"sessionUpdate": "tool_call_update"}},
                {"say": "Still here."},
            ]],
        });
        let scene = Scene::new(&script);
        let (mut client, session) = scene.rig.session(version).await;
        let prompt = client.prompt(&session, "go").await;
        assert_eq!(ended(&mut client, &prompt).await.expect("answered"), "end_turn");
        assert_eq!(client.take_text("agent_message_chunk"), "Still here.");
        client.finish().await;
    }
}

#[tokio::test]
async fn one_that_ends_at_once_fails_the_turn_with_how_it_ended() {
    for version in Version::BOTH {
        let scene = Scene::new(&json!({"start": [{"exit": 3}]}));
        let (mut client, session) = scene.rig.session(version).await;
        let prompt = client.prompt(&session, "go").await;
        let error = ended(&mut client, &prompt).await.expect_err("it fails");
        assert_eq!(code(&error), "external_exited");
        assert!(words(&error).contains("other: its process ended (exit status: 3)"), "{error}");
        client.finish().await;
    }
}

#[tokio::test]
async fn one_that_never_says_hello_can_be_cancelled() {
    for version in Version::BOTH {
        let scene = Scene::new(&json!({"start": [{"wait": "never"}]}));
        let (mut client, session) = scene.rig.session(version).await;
        let prompt = client.prompt(&session, "go").await;
        scene.until(|heard| !heard.is_empty()).await;
        client.cancel(&session).await;
        assert_eq!(ended(&mut client, &prompt).await.expect("no error"), "cancelled");
        let pid = scene.heard()[0]["pid"].as_i64().expect("a number");
        let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw).expect("a process");
        soon(|| rustix::process::test_kill_process(pid).is_err()).await;
        client.finish().await;
    }
}

#[tokio::test]
async fn a_question_between_turns_is_answered_at_once_and_holds_up_nothing() {
    for version in Version::BOTH {
        let call =
            json!({"toolCallId": "t", "title": "Late", "kind": "execute", "rawInput": {"command": "make"}});
        let mut late = leave(&call);
        let late = late["ask"].take();
        let send = |method: &str| json!({"send": {"method": method, "params": {"terminalId": "old"}}});
        let after = [
            json!({"send": late}),
            send("fs/read_text_file"),
            send("terminal/create"),
            send("terminal/output"),
            send("terminal/kill"),
            send("terminal/release"),
        ];
        let scene = Scene::new(&json!({"prompts": [[{"say": "One."}], [{"say": "Two."}]], "after": after}));
        let (mut client, session) = scene.rig.session(version).await;
        let prompt = client.prompt(&session, "one").await;
        ended(&mut client, &prompt).await.expect("answered");
        scene.until(|heard| heard.iter().any(|line| line["id"] == "ask-6")).await;
        let codes = [1, 2, 3, 4].map(|number| scene.answer(number)["error"]["code"].clone());
        assert_eq!(codes, [-32600, -32600, -32600, -32002]);
        // Commands end with their turn, and some agents only then let go of them.
        assert_eq!([5, 6].map(|number| scene.answer(number)["result"].clone()), [json!({}), json!({})]);
        let prompt = client.prompt(&session, "two").await;
        ended(&mut client, &prompt).await.expect("answered");
        client.finish().await;
    }
}

#[tokio::test]
async fn content_it_does_not_take_is_said_in_words() {
    let image = json!({"type": "image", "data": PNG, "mimeType": "image/png"});
    let text = json!({"type": "resource", "resource": {"uri": "file:///notes.txt", "text": "remember"}});
    let all = json!({"promptCapabilities": {"image": true, "embeddedContext": true}});
    for (capabilities, kinds) in [(all, ["image", "resource"]), (json!({}), ["text", "text"])] {
        let hello = json!({"agentCapabilities": capabilities});
        for version in Version::BOTH {
            let scene = Scene::new(&json!({"hello": hello, "prompts": [[{"say": "Seen."}]]})).taking_all();
            let (mut client, session) = scene.rig.session(version).await;
            let params = json!({"sessionId": session, "prompt": [image, text]});
            let prompt = client.send("session/prompt", params).await;
            ended(&mut client, &prompt).await.expect("answered");
            let prompts = scene.requests("session/prompt");
            let sent = &prompts.last().expect("a prompt")["prompt"];
            assert_eq!([&sent[0]["type"], &sent[1]["type"]], kinds, "{sent}");
            assert!(sent[1].to_string().contains("remember"), "{sent}");
            let transcript = client.finish().await;
            let told = "other does not take an image (image/png)";
            assert_eq!(transcript.contains(told), kinds[0] == "text", "{transcript}");
        }
    }
}
