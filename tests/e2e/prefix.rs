//! What is sent to a model begins as the request before did, so that servers find it in their caches: over several
//! turns with tools, in another process that knows the session from the store alone, for every API.

use agent_runtime::provider::{ModelRequest, Provider};
use agent_runtime::providers::anthropic::{Anthropic, AnthropicConfig};
use agent_runtime::providers::link::ServerConfig;
use agent_runtime::providers::openai_chat::{OpenAiChat, OpenAiChatConfig};
use agent_runtime::providers::openai_responses::{OpenAiResponses, OpenAiResponsesConfig};
use agent_runtime::scripted::Line;
use milk_tests::client::Client;
use milk_tests::mock_openai::{MockOpenAi, Reply};
use milk_tests::rig::Rig;
use milk_tests::schema::Version;
use serde_json::{Value, json};

async fn say(client: &mut Client, session: &str, prompt: &str) {
    let id = client.prompt(session, prompt).await;
    client.response(&id).await.expect("answered");
}

/// What a model was asked in a conversation of three turns, and then by a server that knows it from the store.
async fn asked() -> Vec<ModelRequest> {
    let read = |arguments: &str| Line::call_raw("read_file", arguments);
    let first = vec![
        vec![
            Line::think("hm"),
            Line::say("  I look.\n"),
            read("{ \"path\" : \"a.txt\" }"),
            read("{\"path\":\"no\"}"),
        ],
        vec![Line::say("It says "), Line::say("é and 那.\n\n")],
        vec![Line::say("second")],
        vec![read("{}")],
        vec![Line::say("third")],
        vec![Line::say("fourth")],
        vec![Line::say("fifth")],
    ];
    let rig = Rig::new(first);
    rig.file("a.txt", "é\tand \"那\"\nline 2");
    let (mut client, session) = rig.session(Version::V2).await;
    for prompt in ["look at a.txt", "go\non", "and now?"] {
        say(&mut client, &session, prompt).await;
    }
    client.finish().await;
    let mut later = rig.connect(Version::V1).await;
    let params = json!({ "sessionId": session, "cwd": rig.cwd(), "mcpServers": [] });
    later.call("session/load", params).await.expect("loaded");
    for prompt in ["are you still there?", "good"] {
        say(&mut later, &session, prompt).await;
    }
    later.finish().await;
    let requests = rig.model.requests();
    assert_eq!(requests.len(), 7);
    requests
}

/// Each request as it goes over the wire.
async fn sent(requests: &[ModelRequest], mock: &MockOpenAi, provider: &dyn Provider) -> Vec<Value> {
    let earlier = mock.requests().len();
    mock.respond(|_| Reply::error(400, &json!({ "error": { "message": "not now" } })));
    for request in requests {
        let answer = provider.stream(request.clone()).await.err().expect("the mock answers nothing");
        assert!(answer.to_string().contains("not now"), "{answer}");
    }
    let bodies: Vec<Value> = mock.requests()[earlier..].iter().map(|sent| sent.body.clone()).collect();
    assert_eq!(bodies.len(), requests.len());
    bodies
}

/// The conversation in a body, message by message, as written. Where the cache is to be cut is no part of it.
fn conversation(body: &Value) -> Vec<String> {
    let list =
        body.get("messages").or_else(|| body.get("input")).and_then(Value::as_array).expect("messages");
    list.iter().map(|message| without_marks(message).to_string()).collect()
}

fn without_marks(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let rest = members.iter().filter(|(name, _)| *name != "cache_control");
            Value::Object(rest.map(|(name, value)| (name.clone(), without_marks(value))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(without_marks).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// The rest of a body, as written.
fn fixed(body: &Value) -> String {
    let mut rest = without_marks(body);
    let members = rest.as_object_mut().expect("an object");
    for name in ["messages", "input", "seed"] {
        members.remove(name);
    }
    rest.to_string()
}

#[tokio::test]
async fn every_request_begins_with_all_of_the_one_before_in_every_api_and_after_a_reload() {
    let requests = asked().await;
    let mock = MockOpenAi::start().await.expect("a free port");
    let server = || ServerConfig::new("a", mock.url());
    let chat = OpenAiChat::new(OpenAiChatConfig::new("a", mock.url()));
    let responses = OpenAiResponses::new(OpenAiResponsesConfig::new(server()));
    let anthropic = Anthropic::new(AnthropicConfig::new(server(), "m"));
    let providers: [(&str, &dyn Provider); 3] =
        [("chat", &chat), ("responses", &responses), ("anthropic", &anthropic)];
    for (name, provider) in providers {
        let bodies = sent(&requests, &mock, provider).await;
        for (nth, pair) in bodies.windows(2).enumerate() {
            let [before, after] = pair else { panic!("a pair") };
            assert_eq!(fixed(before), fixed(after), "{name}, after request {nth}");
            let (before, after) = (conversation(before), conversation(after));
            assert!(before.len() < after.len(), "{name}, after request {nth}");
            assert_eq!(before, after[..before.len()], "{name}, after request {nth}");
        }
    }
}
