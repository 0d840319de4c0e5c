//! Refusals: told in the server's words with what to do, and learned from.

use milk_tests::mock_openai::{MockOpenAi, Reply, Request};
use milk_tests::schema::Version;
use serde_json::json;

use super::{APIS, Say, Scene, Stop, answer, ask, told};

#[tokio::test]
async fn a_model_without_tools_is_asked_without_them_from_then_on_and_the_user_told_once() {
    for version in Version::BOTH {
        for api in APIS {
            let scene = Scene::new(api).await;
            scene.mock.respond(move |request: &Request| {
                if request.body.get("tools").is_some() {
                    let words = json!({ "error": { "message": "registry.ollama.ai/library/x does not support tools" } });
                    return Reply::error(400, &words);
                }
                answer(api, &[Say::Text("ok")], Stop::Whole)
            });
            let (mut client, session) = scene.session(version).await;
            told(&mut client);
            assert_eq!(ask(&mut client, &session, "hi").await, Ok("end_turn".to_owned()), "{api}");
            let notice = "notice local: the server does not support `tools`; going on without it";
            assert_eq!(told(&mut client), [notice, "text ok"], "{api}");
            assert_eq!(scene.mock.chats().len(), 2, "{api}");
            ask(&mut client, &session, "and?").await.expect("answered");
            assert_eq!(told(&mut client), ["text ok"], "{api}");
            assert_eq!(scene.mock.chats().len(), 3, "{api}");
            client.finish().await;
        }
    }
}

#[tokio::test]
async fn another_refusal_is_told_as_it_is() {
    for version in Version::BOTH {
        for api in APIS {
            let scene = Scene::new(api).await;
            scene.mock.respond(|_| {
                let words = "invalid model: no such context or tool template";
                Reply::error(400, &json!({ "error": { "message": words, "type": "invalid_request_error" } }))
            });
            let (mut client, session) = scene.session(version).await;
            let error = ask(&mut client, &session, "hi").await.expect_err("refused");
            let told = error["data"]["error"].as_str().expect("words");
            assert!(
                told.contains("HTTP 400: invalid model: no such context or tool template"),
                "{api}: {told}"
            );
            client.finish().await;
            assert_eq!(scene.mock.chats().len(), 1, "{api}: nothing is summarised or tried again");
        }
    }
}

#[tokio::test]
async fn credentials_and_credit_are_told_with_the_remedy_and_without_the_key() {
    let said = |message: &str| json!({ "error": { "message": format!("{message} for sk-abc123") } });
    for version in Version::BOTH {
        for (status, message, remedy) in [
            (401, "Invalid key", "check the agent's `api_key`"),
            (403, "Forbidden", "check the agent's `api_key`"),
            (402, "Insufficient Balance", "check its plan"),
            (429, "You exceeded your current quota", "check its plan"),
        ] {
            let scene =
                Scene::with("chat_completions", json!({ "provider": "openai", "api_key": "sk-abc123" }))
                    .await;
            scene.mock.respond(move |_| Reply::error(status, &said(message)));
            let (mut client, session) = scene.session(version).await;
            let error = ask(&mut client, &session, "hi").await.expect_err("refused");
            assert_eq!(error["code"], -32603);
            let told = error["data"]["error"].as_str().expect("words");
            assert!(told.contains("local") && told.contains(&status.to_string()), "{told}");
            assert!(told.contains(remedy), "{told}");
            let transcript = client.finish().await;
            assert!(!transcript.contains("abc123"), "{transcript}");
            assert_eq!(scene.mock.chats().len(), 1, "asked again after {status}");
            assert_eq!(scene.mock.chats()[0].headers["authorization"], "Bearer sk-abc123");
        }
    }
}

#[tokio::test]
async fn a_server_that_fails_or_is_gone_fails_the_turn_and_not_the_session() {
    for version in Version::BOTH {
        let scene = Scene::new("chat_completions").await;
        let failed = json!({ "error": { "message": "model name=m failed to load" } });
        scene.mock.script([Reply::error(500, &failed)]);
        scene.mock.script(
            (0..3).map(|_| Reply::raw(500, "text/html", ["<h1>oops</h1>"]).header("retry-after-ms", "1")),
        );
        scene.mock.script([Reply::say(&["back"])]);
        let (mut client, session) = scene.session(version).await;
        let error = ask(&mut client, &session, "hi").await.expect_err("failed");
        let told = error["message"].as_str().expect("words");
        for part in ["model name=m failed to load", "(model m at ", &scene.mock.url()] {
            assert!(told.contains(part), "{part}: {told}");
        }
        assert_eq!(scene.mock.chats().len(), 1, "it does not load the second time either");
        let error = ask(&mut client, &session, "hi").await.expect_err("failed");
        assert!(error["message"].as_str().expect("words").contains("HTTP 500: oops"), "{error}");
        assert_eq!(scene.mock.chats().len(), 4, "three tries and no layers of them");
        assert_eq!(ask(&mut client, &session, "hi").await, Ok("end_turn".to_owned()));
        client.finish().await;
    }
    let port = MockOpenAi::start().await.expect("a server").url();
    for version in Version::BOTH {
        let scene = Scene::with("chat_completions", json!({ "url": port })).await;
        let (mut client, session) = scene.session(version).await;
        let error = ask(&mut client, &session, "hi").await.expect_err("nobody is there");
        assert_eq!(error["data"]["runtimeCode"], "provider_unreachable");
        let told = error["message"].as_str().expect("words");
        assert!(told.contains(&port) && told.contains("(for the model m)"), "{error}");
        client.finish().await;
    }
}
