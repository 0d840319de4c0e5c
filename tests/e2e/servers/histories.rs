//! Histories as cancels, denials and queued prompts leave them, held against what the strictest servers demand.

use milk_tests::client::Client;
use milk_tests::mock_openai::{Gate, Reply};
use milk_tests::schema::Version;
use serde_json::{Value, json};

use super::{APIS, Say, Scene, Stop, answer, ask, end};

async fn set_mode(client: &mut Client, session: &str, mode: &str) {
    let params = json!({ "sessionId": session, "configId": "mode", "value": mode });
    let params = match client.version() {
        Version::V1 => params,
        Version::V2 => {
            let mut params = params;
            params["type"] = json!("id");
            params
        }
    };
    client.call("session/set_config_option", params).await.expect("set");
}

#[tokio::test]
async fn whatever_became_of_earlier_turns_every_request_is_one_that_strict_servers_take() {
    for version in Version::BOTH {
        for api in APIS {
            let scene = Scene::new(api).await;
            scene.mock.strict();
            let gate = Gate::default();
            let say = |text: &'static str| answer(api, &[Say::Text(text)], Stop::Whole);
            let write =
                || answer(api, &[Say::Call("c", "write_file", r#"{"path":"a","content":"x"}"#)], Stop::Whole);
            let two = || {
                let sleep = |id| Say::Call(id, "bash", r#"{"command":"sleep 60"}"#);
                answer(api, &[sleep("c"), sleep("c")], Stop::Whole)
            };
            let (mut client, session) = scene.session(version).await;

            // Cancelled before a word was said.
            scene.mock.reply(say("never").gate(0, &gate));
            let id = client.prompt(&session, "first").await;
            scene.mock.wait_for_requests(scene.mock.requests().len().max(1)).await;
            while scene.mock.chats().is_empty() {
                tokio::task::yield_now().await;
            }
            client.cancel(&session).await;
            assert_eq!(end(&mut client, &id).await, Ok("cancelled".to_owned()), "{api}");

            // Denied.
            scene.mock.script([write(), say("as you wish")]);
            let id = client.prompt(&session, "write").await;
            let (question, _) = client.request("session/request_permission").await;
            client.choose(&question, "reject").await;
            assert_eq!(end(&mut client, &id).await, Ok("end_turn".to_owned()), "{api}");

            // Two calls, cancelled while the first runs.
            set_mode(&mut client, &session, "autonomous").await;
            scene.mock.reply(two());
            let id = client.prompt(&session, "run").await;
            while client.update("tool_call_update").await["status"] != "in_progress" {}
            client.cancel(&session).await;
            assert_eq!(end(&mut client, &id).await, Ok("cancelled".to_owned()), "{api}");

            // Two prompts at once, a command, another mode, a summary.
            scene.mock.script([say("one"), say("two"), say("in short"), say("three")]);
            let ids = [client.prompt(&session, "one").await, client.prompt(&session, "two").await];
            for id in ids {
                end(&mut client, &id).await.expect("answered");
            }
            for prompt in ["/think off", "/compact", "three"] {
                ask(&mut client, &session, prompt).await.unwrap_or_else(|error| panic!("{api}: {error}"));
            }
            client.finish().await;

            // Another process.
            let (_next, mut later) = scene.reopened(version, &session).await;
            scene.mock.reply(say("four"));
            ask(&mut later, &session, "four").await.expect("answered");
            later.finish().await;
            assert_eq!(scene.mock.broken_rules(), Vec::<String>::new(), "{api}");
            let systems = |body: &Value| {
                let messages = body["messages"].as_array().or(body["input"].as_array());
                messages.into_iter().flatten().filter(|message| message["role"] == "system").count()
            };
            assert!(scene.mock.chats().iter().all(|chat| systems(&chat.body) <= 1), "{api}");
        }
    }
}

#[tokio::test]
async fn a_model_that_calls_the_same_again_and_again_is_stopped_and_the_conversation_goes_on() {
    for version in Version::BOTH {
        for api in APIS {
            let scene = Scene::new(api).await;
            scene.mock.strict();
            scene.rig.file("a", "x");
            scene.mock.respond(move |_| {
                answer(api, &[Say::Call("c", "read_file", r#"{"path":"a"}"#)], Stop::Whole)
            });
            let (mut client, session) = scene.session(version).await;
            assert_eq!(ask(&mut client, &session, "read").await, Ok("max_turn_requests".to_owned()), "{api}");
            let sent = scene.mock.chats();
            assert_eq!(sent.len(), 5, "{api}");
            assert!(
                sent[4].body.to_string().contains("[reminder: you have now made exactly these calls"),
                "{api}"
            );
            scene.mock.reply(answer(api, &[Say::Text("sorry")], Stop::Whole));
            assert_eq!(ask(&mut client, &session, "enough").await, Ok("end_turn".to_owned()), "{api}");
            client.finish().await;
            assert_eq!(scene.mock.broken_rules(), Vec::<String>::new(), "{api}");
        }
    }
}

#[tokio::test]
async fn a_cancel_that_comes_with_the_prompt_is_applied_in_the_order_of_the_wire() {
    for version in Version::BOTH {
        let scene = Scene::new("chat_completions").await;
        scene.mock.respond(|_| Reply::say(&["ok"]));
        let (mut client, session) = scene.session(version).await;
        let rounds = [(901, true, "end_turn"), (902, false, "cancelled"), (903, true, "end_turn")];
        for (id, cancel_first, expected) in rounds {
            let prompt = json!({ "jsonrpc": "2.0", "id": id, "method": "session/prompt",
                "params": { "sessionId": session, "prompt": [{ "type": "text", "text": "hi" }] } });
            let cancel =
                json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": { "sessionId": session } });
            client.expect_answer(id, "session/prompt");
            let lines = if cancel_first { [cancel, prompt] } else { [prompt, cancel] };
            client.raw(&format!("{}\n{}", lines[0], lines[1])).await;
            assert_eq!(end(&mut client, &json!(id)).await, Ok(expected.to_owned()));
        }
        client.finish().await;
    }
}
