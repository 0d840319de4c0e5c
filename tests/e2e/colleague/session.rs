//! Another agent's session: what it is told at its beginning, and how it is taken up again.

use milk_tests::client::Client;
use milk_tests::mock_openai::{MockOpenAi, Reply};
use milk_tests::schema::Version;
use serde_json::{Value, json};

use super::{Scene, ended};

/// All the text of a prompt, a block each.
fn blocks(prompt: &Value) -> Vec<&str> {
    let blocks = prompt["prompt"].as_array().map(Vec::as_slice).unwrap_or_default();
    blocks.iter().filter_map(|block| block["text"].as_str()).collect()
}

async fn say(client: &mut Client, session: &str, text: &str) {
    let prompt = client.prompt(session, text).await;
    ended(client, &prompt).await.expect("answered");
}

/// The session after a restart.
async fn reopened(scene: &Scene, version: Version, session: &str) -> (milk_tests::rig::Rig, Client) {
    let rig = scene.again();
    let mut client = rig.connect(version).await;
    let params = json!({"sessionId": session, "cwd": scene.rig.cwd(), "mcpServers": []});
    client.call("session/resume", params).await.expect("it is there");
    (rig, client)
}

#[tokio::test]
async fn the_users_instructions_come_first_and_once() {
    for version in Version::BOTH {
        let scene =
            Scene::with(&json!({"prompts": [[{"say": "Yes."}]]}), json!({"prompt": "Be kind."}), json!({}));
        let (mut client, session) = scene.rig.session(version).await;
        say(&mut client, &session, "one").await;
        say(&mut client, &session, "two").await;
        let prompts = scene.requests("session/prompt");
        let instructions = "[The user's instructions for all of this conversation:]\n\nBe kind.\n\n[End of the instructions]\n\n";
        assert_eq!(blocks(&prompts[0]), [instructions, "one"]);
        assert_eq!(blocks(&prompts[1]), ["two"]);
        client.finish().await;
    }
}

#[tokio::test]
async fn the_session_is_taken_up_after_a_restart_where_the_agent_can() {
    let v1 = |capabilities: Value| json!({"agentCapabilities": capabilities});
    let rows = [
        (1, v1(json!({"loadSession": true})), Some("session/load")),
        (1, v1(json!({"loadSession": true, "sessionCapabilities": {"resume": {}}})), Some("session/resume")),
        (1, v1(json!({})), None),
        (
            2,
            json!({"info": {"name": "m", "version": "1"}, "capabilities": {"session": {}}}),
            Some("session/resume"),
        ),
    ];
    for (number, hello, method) in rows {
        for version in Version::BOTH {
            let mut hello = hello.clone();
            hello["protocolVersion"] = json!(number);
            let replay: Vec<Value> = (0..400)
                .map(|_| json!({"sessionUpdate": "agent_message_chunk", "messageId": "old", "content": {"type": "text", "text": "old"}}))
                .collect();
            let script = json!({"hello": hello, "sessions": {"session/load": {"updates": replay}},
                "prompts": [[{"say": "Sure."}]]});
            let scene = Scene::with(&script, json!({"prompt": "Be kind."}), json!({}));
            let (mut client, session) = scene.rig.session(version).await;
            say(&mut client, &session, "one").await;
            client.finish().await;
            let (_rig, mut client) = reopened(&scene, version, &session).await;
            say(&mut client, &session, "two").await;
            let prompts = scene.requests("session/prompt");
            let told = blocks(&prompts[1]);
            let opened = |method: &str| scene.requests(method);
            if let Some(method) = method {
                assert_eq!(opened(method).len(), 1, "{method}");
                assert_eq!(opened(method)[0]["sessionId"], "inner");
                assert_eq!((opened("session/new").len(), told), (1, vec!["two"]));
            } else {
                assert_eq!(opened("session/new").len(), 2);
                assert!(told[0].contains("Be kind.") && told[1].contains("USER: one"), "{told:?}");
                let notice = "other: its earlier conversation is gone";
                assert!(client.transcript().contains(notice), "{}", client.transcript());
            }
            let transcript = client.finish().await;
            assert!(
                !transcript.contains("\"text\":\"old\""),
                "a history that is told again is not shown again"
            );
        }
    }
}

#[tokio::test]
async fn a_session_that_the_agent_does_not_know_any_more_is_begun_anew_with_what_was_said() {
    let hello = json!({"agentCapabilities": {"loadSession": true}});
    let gone = json!({"session/load": {"code": -32002, "message": "no such session"}});
    let script = json!({"hello": hello, "sessions": gone, "prompts": [[{"say": "Sure."}]]});
    for version in Version::BOTH {
        let scene = Scene::new(&script);
        let (mut client, session) = scene.rig.session(version).await;
        say(&mut client, &session, "one").await;
        client.finish().await;
        let (_rig, mut client) = reopened(&scene, version, &session).await;
        say(&mut client, &session, "two").await;
        let prompts = scene.requests("session/prompt");
        let told = blocks(&prompts[1]);
        assert!(told[0].contains("USER: one\n\nAGENT: Sure."), "{told:?}");
        assert_eq!(told.last(), Some(&"two"));
        let transcript = client.finish().await;
        assert!(transcript.contains("its earlier conversation is gone"), "{transcript}");
    }
}

#[tokio::test]
async fn why_and_with_what_it_takes_over_is_told_before_the_prompt() {
    for version in Version::BOTH {
        let model = MockOpenAi::start().await.expect("a loopback port");
        model.reply(Reply::call("read_file", &json!({"path": "none.txt"})));
        model.reply(Reply::call("escalate", &json!({"reason": "too deep for me"})));
        let small = json!({"name": "small", "url": model.url(), "model": "mock-model"});
        let scene = Scene::beside(&json!({"prompts": [[{"say": "Let me."}]]}), &small);
        let (mut client, session) = scene.rig.session(version).await;
        say(&mut client, &session, "What holds the world together?").await;
        let prompts = scene.requests("session/prompt");
        let told = blocks(&prompts[0]);
        assert!(told[0].contains("[Handed over to you, because: too deep for me]"), "{told:?}");
        assert!(told[0].contains("read_file"), "what was done in this turn: {told:?}");
        assert_eq!(told.last(), Some(&"What holds the world together?"));
        let transcript = client.finish().await;
        assert!(transcript.contains("Let me."), "{transcript}");
    }
}

#[tokio::test]
async fn an_agent_hands_over_by_a_tag_that_it_is_told_of_once_and_nobody_sees() {
    for version in Version::BOTH {
        let model = MockOpenAi::start().await.expect("a loopback port");
        model.reply(Reply::say(&["I can."]));
        let big = json!({"name": "big", "url": model.url(), "model": "mock-model"});
        let hands_over = json!([{"say": "Hm. "}, {"say": "$open"}, {"say": "too deep$close"}]);
        let script = json!({"prompts": [[{"say": "Hello."}], hands_over]});
        let scene = Scene::build(
            &script,
            |agent| json!({"agent": "other", "escalation_agent": "big", "agents": [agent, big]}),
        );
        let (mut client, session) = scene.rig.session(version).await;
        say(&mut client, &session, "Hello there.").await;
        say(&mut client, &session, "What holds the world together?").await;
        let prompts = scene.requests("session/prompt");
        assert_eq!(blocks(&prompts[1]), ["What holds the world together?"], "it was told before");
        let transcript = client.finish().await;
        assert!(!transcript.contains("milk:escalate"), "{transcript}");
        for text in ["Hm. ", "I can.", "now handled by big (escalation): "] {
            assert!(transcript.contains(text), "{text}: {transcript}");
        }
        assert!(model.chats()[0].body.to_string().contains("too deep"), "it is told why");
    }
}

#[tokio::test]
async fn the_tokens_it_tells_count_for_the_turn_and_the_session() {
    let usage = json!({"totalTokens": 30, "inputTokens": 20, "outputTokens": 10});
    let scene = Scene::new(&json!({"prompts": [[{"say": "Done."}, {"usage": usage}]]}));
    for version in Version::BOTH {
        let (mut client, session) = scene.rig.session(version).await;
        say(&mut client, &session, "/new").await;
        let prompt = client.prompt(&session, "one").await;
        let result = client.response(&prompt).await.expect("answered");
        if version == Version::V1 {
            assert_eq!(result["usage"]["outputTokens"], 10, "{result}");
        }
        say(&mut client, &session, "/usage").await;
        let transcript = client.finish().await;
        assert!(transcript.contains("tokens: 20 in, 10 out"), "{transcript}");
    }
}

#[tokio::test]
async fn further_folders_are_passed_on_to_an_agent_that_takes_them() {
    let more = tempfile::tempdir().expect("a folder");
    let root = more.path().canonicalize().expect("a folder");
    for takes in [true, false] {
        let capabilities = if takes { json!({"additionalDirectories": {}}) } else { json!({}) };
        let hello = json!({"agentCapabilities": {"sessionCapabilities": capabilities}});
        let scene = Scene::new(&json!({"hello": hello, "prompts": [[]]}));
        let mut client = scene.rig.connect(Version::V1).await;
        let params = json!({"cwd": scene.rig.cwd(), "mcpServers": [], "additionalDirectories": [root]});
        let session = client.call("session/new", params).await.expect("a session");
        say(&mut client, session["sessionId"].as_str().expect("an id"), "one").await;
        let opened = &scene.requests("session/new")[0]["additionalDirectories"];
        assert_eq!(*opened, if takes { json!([root]) } else { Value::Null });
        client.finish().await;
    }
}
