//! What prompts hold beside text: what of it reaches a model in which form, and that what does not is told to the user and
//! to the model.

use std::collections::BTreeSet;
use std::sync::Arc;

use agent_runtime::agent::Agent;
use agent_runtime::driver::TurnDriver;
use agent_runtime::provider::Provider;
use agent_runtime::providers::anthropic::{Anthropic, AnthropicConfig};
use agent_runtime::providers::link::ServerConfig;
use agent_runtime::providers::openai_chat::{OpenAiChat, OpenAiChatConfig};
use agent_runtime::providers::openai_responses::{OpenAiResponses, OpenAiResponsesConfig};
use agent_runtime::scripted::Line;
use agent_runtime::tools::ToolRegistry;
use milk_tests::client::Client;
use milk_tests::editor::Editor;
use milk_tests::mock_openai::{MockOpenAi, Reply};
use milk_tests::rig::Rig;
use milk_tests::schema::Version;
use serde_json::{Value, json};

/// One pixel.
const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

async fn ask(client: &mut Client, session: &str, prompt: Value) {
    let id = client.send("session/prompt", json!({ "sessionId": session, "prompt": prompt })).await;
    client.response(&id).await.expect("answered");
    if client.version() == Version::V2 {
        while client.update("state_update").await["state"] != "idle" {}
    }
}

fn see() -> Value {
    json!([
        { "type": "text", "text": "What is this?" },
        // The bytes decide what it is.
        { "type": "image", "data": PNG, "mimeType": "image/jpeg" }
    ])
}

/// What the user was told beside the answers.
fn notices(client: &mut Client) -> Vec<String> {
    let told = client.take_unclaimed();
    let told = told.iter().map(|line| &line["params"]["update"]);
    let notices = told.filter(|update| update["sessionUpdate"] == "notice");
    notices.map(|notice| notice["title"].as_str().unwrap_or_default().to_owned()).collect()
}

/// A session whose client knows notices in both versions.
async fn session(rig: &Rig, version: Version) -> (Client, String) {
    let mut client = rig.pipe(version);
    match version {
        Version::V1 => {
            let capabilities = json!({ "session": { "notices": {} } });
            let hello = json!({ "protocolVersion": 1, "clientCapabilities": capabilities });
            client.initialize_with(hello).await
        }
        Version::V2 => client.initialize().await,
    };
    let session = client.new_session(&rig.cwd()).await;
    (client, session)
}

/// A name, how a provider is made for a URL, and what a request with the image holds.
type Api = (&'static str, fn(&str) -> Arc<dyn Provider>, Value);

/// The three APIs.
fn apis() -> [Api; 3] {
    let data = format!("data:image/png;base64,{PNG}");
    [
        (
            "chat",
            |url| Arc::new(OpenAiChat::new(OpenAiChatConfig::new("seer", url))),
            json!({ "type": "image_url", "image_url": { "url": data } }),
        ),
        (
            "responses",
            |url| {
                let server = ServerConfig::new("seer", url);
                Arc::new(OpenAiResponses::new(OpenAiResponsesConfig::new(server)))
            },
            json!({ "type": "input_image", "image_url": data }),
        ),
        (
            "messages",
            |url| Arc::new(Anthropic::new(AnthropicConfig::new(ServerConfig::new("seer", url), "m"))),
            json!({ "type": "base64", "media_type": "image/png", "data": PNG }),
        ),
    ]
}

/// An answer of this API.
fn answer(api: &str) -> Reply {
    let events = match api {
        "chat" => return Reply::say(&["A dot."]),
        "responses" => vec![
            json!({ "type": "response.output_text.delta", "output_index": 0, "delta": "A dot." }),
            json!({ "type": "response.completed", "response": { "status": "completed" } }),
        ],
        _ => vec![
            json!({ "type": "message_start", "message": {} }),
            json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } }),
            json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": "A dot." } }),
            json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" } }),
            json!({ "type": "message_stop" }),
        ],
    };
    Reply::pieces(
        events
            .iter()
            .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default())),
    )
}

fn seer(model: Arc<dyn Provider>) -> Rig {
    Rig::driven("seer", |ids| {
        Arc::new(Agent::new(model, ToolRegistry::builtin(), ids as _)) as Arc<dyn TurnDriver>
    })
    .taking_all()
}

fn holds(body: &Value, wanted: &Value) -> bool {
    body == wanted
        || match body {
            Value::Array(members) => members.iter().any(|member| holds(member, wanted)),
            Value::Object(members) => members.values().any(|member| holds(member, wanted)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
        }
}

#[tokio::test]
async fn an_image_reaches_each_api_in_its_own_form() {
    for version in Version::BOTH {
        for (api, provider, image) in apis() {
            let mock = MockOpenAi::start().await.expect("a server");
            mock.strict();
            mock.reply(answer(api));
            let rig = seer(provider(&mock.url()));
            let (mut client, name) = session(&rig, version).await;
            ask(&mut client, &name, see()).await;
            assert_eq!(mock.broken_rules(), Vec::<String>::new(), "{api}");
            let sent = mock.chats();
            assert_eq!(sent.len(), 1, "{api}");
            assert!(holds(&sent[0].body, &image), "{api}: {}", sent[0].body);
            assert_eq!(notices(&mut client), Vec::<String>::new(), "{api}");
            client.finish().await;
        }
    }
}

#[tokio::test]
async fn a_model_that_refuses_images_is_asked_in_words_and_the_user_told_once() {
    for version in Version::BOTH {
        for (api, provider, image) in apis() {
            let mock = MockOpenAi::start().await.expect("a server");
            let refusal = json!({ "error": { "message": "this model does not support image input" } });
            mock.script([Reply::error(400, &refusal), answer(api), answer(api)]);
            let rig = seer(provider(&mock.url()));
            let (mut client, name) = session(&rig, version).await;
            ask(&mut client, &name, see()).await;
            let told = notices(&mut client);
            assert_eq!(told, ["seer: the server does not support `images`; going on without it"], "{api}");
            ask(&mut client, &name, see()).await;
            assert_eq!(notices(&mut client), Vec::<String>::new(), "{api}: once");
            let sent = mock.chats();
            let with_image: Vec<bool> = sent.iter().map(|request| holds(&request.body, &image)).collect();
            assert_eq!(with_image, [true, false, false], "{api}");
            for request in &sent[1..] {
                let body = request.body.to_string();
                assert!(body.contains("[an image of type image/png, which this model cannot see]"), "{body}");
            }
            client.finish().await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_broken_or_no_text_is_named_to_the_user_and_the_model() {
    for version in Version::BOTH {
        let rig = Rig::new(vec![vec![Line::say("ok")], vec![Line::say("ok")]]).taking_all();
        let (mut client, name) = session(&rig, version).await;
        let blob = |uri: &str, mime_type: &str, blob: &str| json!({ "type": "resource", "resource": { "uri": uri, "mimeType": mime_type, "blob": blob } });
        let prompt = json!([
            { "type": "text", "text": "Look." },
            { "type": "image", "data": "", "mimeType": "image/png" },
            { "type": "image", "data": "!", "mimeType": "image/png" },
            { "type": "image", "data": "aGVsbG8=", "mimeType": "image/png" },
            blob("file:///notes.json", "application/json", "eyJhIjoxfQ=="),
            blob("file:///a.pdf", "application/pdf", "JVBERi0="),
            { "type": "resource", "resource": { "uri": "file:///b.txt", "text": "bee" } }
        ]);
        ask(&mut client, &name, prompt).await;
        assert_eq!(
            notices(&mut client),
            [
                "not passed on: an image (image/png), which is empty; an image (image/png), which is no base64; an image \
                 (image/png), which is no whole PNG, JPEG, GIF, WebP or BMP",
                "scripted takes text and images only; it was told of, but not given: file:///a.pdf (application/pdf)",
            ]
        );
        ask(&mut client, &name, json!([{ "type": "text", "text": "And?" }])).await;
        assert_eq!(notices(&mut client), Vec::<String>::new(), "told once");
        for request in rig.model.requests() {
            let heard = format!("{:?}", request.messages);
            for words in ["but it is empty", "but it is no base64", "{\\\"a\\\":1}", "file:///a.pdf", "bee"] {
                assert!(heard.contains(words), "{words}: {heard}");
            }
        }
        client.finish().await;
    }
}

#[tokio::test(start_paused = true)]
async fn mentioned_files_become_links_and_are_not_read() {
    for version in Version::BOTH {
        let rig = Rig::new(vec![vec![Line::say("ok")]]);
        rig.file("a b.txt", "secret");
        rig.file("c.rs", "secret");
        let (mut client, name) = session(&rig, version).await;
        let text = "Compare @c.rs, @\"a b.txt\" and (@c.rs) with @none.rs, @../x and me@c.rs.";
        ask(&mut client, &name, json!([{ "type": "text", "text": text }])).await;
        let heard = format!("{:?}", rig.model.requests().pop().expect("asked").messages);
        let cwd = rig.cwd();
        let links: BTreeSet<&str> =
            heard.split("uri: \"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        let uri = |name: &str| format!("file://{}/{name}", cwd.display());
        let (c, ab) = (uri("c.rs"), uri("a%20b.txt"));
        assert_eq!(links, BTreeSet::from([c.as_str(), ab.as_str()]), "{heard}");
        assert!(!heard.contains("secret"), "{heard}");
        client.finish().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_linked_file_is_read_from_a_client_that_reads_and_only_named_elsewhere() {
    for reads in [true, false] {
        let rig = Rig::new(vec![vec![Line::say("ok")]]);
        rig.file("a b.txt", "saved\n");
        let mut client = rig.pipe(Version::V1);
        client.initialize_with(Editor::hello(reads, false, false)).await;
        let session = client.new_session(&rig.cwd()).await;
        let mut editor = Editor::new();
        editor.files.insert(rig.cwd().join("a b.txt").display().to_string(), "unsaved\n".to_owned());
        let link = |name: &str, uri: String| json!({ "type": "resource_link", "name": name, "uri": uri });
        let prompt = json!([
            { "type": "text", "text": "Look." },
            link("a", format!("file://{}/a%20b.txt", rig.cwd().display())),
            link("gone", rig.cwd().join("gone.txt").display().to_string()),
            link("outside", "file:///etc/hostname".to_owned()),
            link("page", "https://example.org/".to_owned())
        ]);
        let id = client.send("session/prompt", json!({ "sessionId": session, "prompt": prompt })).await;
        editor.serve(&mut client, &id).await.expect("answered");
        let asked: Vec<&str> =
            editor.asked.iter().filter_map(|(_, params)| params["path"].as_str()).collect();
        let heard = format!("{:?}", rig.model.requests().pop().expect("asked").messages);
        if reads {
            let cwd = rig.cwd();
            assert_eq!(
                asked,
                [cwd.join("a b.txt"), cwd.join("gone.txt")].map(|path| path.display().to_string())
            );
            assert!(heard.contains("could not be read: the editor says: no such buffer"), "{heard}");
        } else {
            assert_eq!(asked, Vec::<&str>::new());
        }
        assert_eq!(heard.contains("unsaved"), reads, "{heard}");
        for named in ["gone.txt", "file:///etc/hostname", "https://example.org/"] {
            assert!(heard.contains(named), "{named}: {heard}");
        }
        assert!(!heard.contains("saved\\n") || reads, "{heard}");
        client.finish().await;
    }
}
