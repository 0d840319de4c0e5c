//! Reasoning: shown once, and given back to the servers that demand it, also after a restart.

use milk_tests::mock_openai::{Reply, Request, call_chunk, delta_chunk, finish_chunk, text_chunk};
use milk_tests::schema::Version;
use serde_json::{Value, json};

use super::{Scene, ask, told};

/// `DeepSeek` refuses a conversation whose tool-using turns lack their reasoning; others refuse it when it is there.
fn refusal(request: &Request, wants: bool) -> Option<Reply> {
    let messages = request.body["messages"].as_array().expect("messages");
    let uses_tools = messages.iter().any(|message| message["role"] == "tool");
    let lacks = |message: &&Value| {
        message["role"] == "assistant"
            && message["reasoning_content"].as_str().is_none_or(|text| uses_tools && text.is_empty())
    };
    let words = if wants && messages.iter().any(|message| lacks(&message)) {
        "The `reasoning_content` in the thinking mode must be passed back to the API."
    } else if !wants && messages.iter().any(|message| message.get("reasoning_content").is_some()) {
        "messages.1.reasoning_content: Extra inputs are not permitted"
    } else {
        return None;
    };
    Some(Reply::error(400, &json!({ "error": { "message": words } })))
}

/// Thinks, then looks once, then answers.
fn thinker(wants: bool) -> impl Fn(&Request) -> Reply + Send + Sync {
    move |request| {
        if let Some(refusal) = refusal(request, wants) {
            return refusal;
        }
        let messages = request.body["messages"].as_array().expect("messages");
        let said = messages.iter().filter(|message| message["role"] == "assistant").count();
        let thought = delta_chunk(&json!({ "reasoning_content": format!("thought {said}") }));
        let looks = messages.last().expect("a message")["role"] == "user";
        if looks {
            let call = call_chunk(0, "a", "list_dir", r#"{"path":"."}"#);
            return Reply::chunks([thought, call, finish_chunk("tool_calls")]);
        }
        Reply::chunks([thought, text_chunk("done"), finish_chunk("stop")])
    }
}

#[tokio::test]
async fn reasoning_goes_back_in_the_tool_loop_and_after_a_restart_to_servers_that_want_it_and_to_no_other() {
    for version in Version::BOTH {
        for wants in [true, false] {
            let scene = Scene::new("chat_completions").await;
            scene.mock.respond(thinker(wants));
            let (mut client, session) = scene.session(version).await;
            for prompt in ["look", "again"] {
                assert_eq!(ask(&mut client, &session, prompt).await, Ok("end_turn".to_owned()));
            }
            client.finish().await;
            let (_next, mut later) = scene.reopened(version, &session).await;
            assert_eq!(ask(&mut later, &session, "once more").await, Ok("end_turn".to_owned()));
            later.finish().await;
            let sent = scene.mock.chats();
            // One refusal a process tells what the server wants.
            assert_eq!(sent.len(), if wants { 8 } else { 6 });
            let last = sent.last().expect("asked").body["messages"].as_array().expect("messages").clone();
            let said = last.iter().filter(|message| message["role"] == "assistant");
            let thoughts: Vec<Option<&str>> = said.map(|said| said["reasoning_content"].as_str()).collect();
            let expected: Vec<String> = (0..5).map(|n| format!("thought {n}")).collect();
            let expected: Vec<Option<&str>> =
                expected.iter().map(|text| wants.then_some(text.as_str())).collect();
            assert_eq!(thoughts, expected);
        }
    }
}

#[tokio::test]
async fn reasoning_is_told_once_and_in_order_whatever_member_carries_it() {
    let table: [(&[Value], &[&str]); 5] = [
        (&[json!({ "reasoning_content": "hm" }), json!({ "content": "Hi" })], &["thought hm", "text Hi"]),
        (
            &[json!({ "reasoning": "hm" }), json!({ "content": "Hi", "reasoning": "" })],
            &["thought hm", "text Hi"],
        ),
        (
            &[
                json!({ "reasoning": "hm", "reasoning_content": "hm", "content": null }),
                json!({ "content": "Hi" }),
            ],
            &["thought hm", "text Hi"],
        ),
        (
            &[
                json!({ "reasoning_details": [{ "type": "reasoning.text", "text": "hm" }] }),
                json!({ "content": "Hi", "reasoning_content": null }),
            ],
            &["thought hm", "text Hi"],
        ),
        (&[json!({ "reasoning_content": null, "content": "Hi" }), json!({ "reasoning": "" })], &["text Hi"]),
    ];
    for version in Version::BOTH {
        let scene = Scene::new("chat_completions").await;
        let (mut client, session) = scene.session(version).await;
        for (deltas, expected) in &table {
            scene.mock.reply(Reply::chunks(deltas.iter().map(delta_chunk).chain([finish_chunk("stop")])));
            told(&mut client);
            ask(&mut client, &session, "hi").await.expect("answered");
            assert_eq!(told(&mut client), *expected, "{deltas:?}");
        }
        client.finish().await;
    }
}

#[tokio::test]
async fn what_a_server_signed_goes_back_with_the_results_of_the_calls() {
    let signed = json!({ "google": { "thought_signature": "sig" } });
    let details = json!([{ "type": "reasoning.encrypted", "data": "xyz", "index": 0 }]);
    for version in Version::BOTH {
        let scene = Scene::new("chat_completions").await;
        let function = json!({ "name": "list_dir", "arguments": "{}" });
        let calls = json!([
            { "index": 0, "id": "a", "function": function, "extra_content": signed },
            { "index": 1, "id": "b", "function": function }
        ]);
        let delta = json!({ "tool_calls": calls, "reasoning_details": details });
        scene.mock.script([
            Reply::chunks([delta_chunk(&delta), finish_chunk("tool_calls")]),
            Reply::say(&["ok"]),
            Reply::say(&["ok"]),
        ]);
        let (mut client, session) = scene.session(version).await;
        for prompt in ["look", "and?"] {
            ask(&mut client, &session, prompt).await.expect("answered");
        }
        client.finish().await;
        let sent = scene.mock.chats();
        let said = |at: usize| {
            let messages = sent[at].body["messages"].as_array().expect("messages");
            messages.iter().find(|message| message["role"] == "assistant").expect("one").clone()
        };
        assert_eq!(said(1)["reasoning_details"], details);
        assert_eq!(said(1)["tool_calls"][0]["extra_content"], signed);
        assert!(said(1)["tool_calls"][1].get("extra_content").is_none());
        assert!(!said(2).to_string().contains("sig"), "a later turn does without");
    }
}
