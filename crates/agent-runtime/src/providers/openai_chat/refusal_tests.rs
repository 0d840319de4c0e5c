//! What the provider makes of refusals: what is learned, waited for and told.

use serde_json::json;

use super::*;
use crate::providers::auth::Secret;
use crate::providers::mock_openai::{MockOpenAi, Reply};
use crate::providers::testing::{all, ask};

fn with(mock: &MockOpenAi, change: impl FnOnce(&mut OpenAiChatConfig)) -> OpenAiChat {
    let mut config = OpenAiChatConfig::new("local", mock.url());
    change(&mut config);
    OpenAiChat::new(config)
}

async fn refused(mock: &MockOpenAi, change: impl FnOnce(&mut OpenAiChatConfig)) -> String {
    all(&with(mock, change), ask("hi")).await.unwrap_err().to_string()
}

#[tokio::test]
async fn a_loading_model_is_waited_for_and_that_is_told_while_it_loads() {
    let mock = MockOpenAi::start().await.unwrap();
    let loading = json!({"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}});
    mock.script([Reply::error(503, &loading), Reply::say(&["ok"])]);
    let provider = with(&mock, |config| config.retries = 0);
    let mut asking = std::pin::pin!(all(&provider, ask("hi")));
    tokio::select! {
        _ = &mut asking => panic!("nothing was told before the answer"),
        () = provider.noticed() => {}
    }
    assert_eq!(mock.chats().len(), 1);
    assert_eq!(provider.take_notices(), ["local: the server is loading its model; waiting for it"]);
    asking.await.unwrap();
    assert_eq!(mock.chats().len(), 2);
    assert!(provider.take_notices().is_empty(), "it is told once");
}

#[tokio::test]
async fn a_failure_of_the_server_names_the_model_and_the_place() {
    let failed = json!({"error": {"message": "model name=x failed to load"}});
    for (status, body) in [(500, failed), (404, json!({"error": "model \"x\" not found"}))] {
        let mock = MockOpenAi::start().await.unwrap();
        mock.reply(Reply::error(status, &body));
        let told = refused(&mock, |config| config.model = Some("x".to_owned())).await;
        let place = format!("(model x at {}/v1/chat/completions)", mock.url());
        assert!(told.ends_with(&place), "{told}");
        assert_eq!(mock.chats().len(), 1, "it stays what it is");
    }
}

#[tokio::test]
async fn a_plain_failure_is_tried_as_often_as_configured_and_no_more() {
    for retries in [0, 2] {
        let mock = MockOpenAi::start().await.unwrap();
        mock.respond(|_| Reply::raw(500, "text/plain", ["oops"]).header("retry-after-ms", "1"));
        refused(&mock, |config| config.retries = retries).await;
        assert_eq!(mock.chats().len(), usize::try_from(retries).unwrap() + 1);
    }
}

#[tokio::test]
async fn a_key_that_a_server_repeats_is_not_passed_on() {
    for status in [400, 402, 429, 500] {
        let mock = MockOpenAi::start().await.unwrap();
        let body = json!({"error": {"message": "billing: no credit for sk-abc123 of team-xyz"}});
        mock.reply(Reply::error(status, &body));
        let told = refused(&mock, |config| {
            config.auth = Auth::Key(Secret::new("sk-abc123\n"));
            config.headers.insert("X-Team".to_owned(), "team-xyz".to_owned());
        })
        .await;
        assert!(told.contains("no credit for *** of ***"), "{told}");
        assert_eq!(mock.chats().len(), 1);
    }
}

#[tokio::test]
async fn an_account_without_credit_is_told_what_to_do() {
    for (status, message) in [(402, "Insufficient Balance"), (429, "You exceeded your current quota")] {
        let mock = MockOpenAi::start().await.unwrap();
        mock.reply(Reply::error(status, &json!({"error": {"message": message}})));
        let told = refused(&mock, |_| ()).await;
        assert!(told.contains(message) && told.contains("check its plan"), "{told}");
        assert_eq!(mock.chats().len(), 1);
    }
}

#[tokio::test]
async fn a_quota_that_comes_back_in_a_moment_is_a_rate_limit() {
    let mock = MockOpenAi::start().await.unwrap();
    let quota = json!([{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED",
        "message": "You exceeded your current quota, please check your plan and billing details. Please retry in 10ms."}}]);
    mock.script([Reply::error(429, &quota), Reply::say(&["ok"])]);
    all(&with(&mock, |_| ()), ask("hi")).await.unwrap();
    assert_eq!(mock.chats().len(), 2);
}

#[tokio::test]
async fn a_limit_of_the_answer_shrinks_to_what_the_window_leaves() {
    let mock = MockOpenAi::start().await.unwrap();
    mock.respond(|request| {
        let most = request.body["max_tokens"].as_u64().unwrap_or(0);
        if 20 + most <= 8_192 {
            return Reply::say(&["ok"]);
        }
        let words = format!(
            "This model's maximum context length is 8192 tokens. However, you requested {} tokens (20 in the messages, \
             {most} in the completion).",
            20 + most
        );
        Reply::error(400, &json!({"error": {"message": words, "code": "context_length_exceeded"}}))
    });
    let provider = with(&mock, |config| config.max_tokens = Some(8_192));
    for _ in 0..2 {
        all(&provider, ask("hi")).await.unwrap();
    }
    let limits: Vec<_> = mock.chats().iter().map(|chat| chat.body["max_tokens"].as_u64().unwrap()).collect();
    assert_eq!(limits, [8_192, 8_172, 8_192, 8_172], "the next request may have more room");
}
