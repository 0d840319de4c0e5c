//! The provider against a scripted server.

use futures::StreamExt;
use insta::assert_snapshot;
use serde_json::json;
use session_model::Content;

use super::*;
use crate::provider::{Effort, FinishReason, ModelDelta, ModelMessage};
use crate::providers::auth::Auth;
use crate::providers::mock_openai::{Gate, MockOpenAi, Reply};
use crate::providers::testing::{all, ask, call, odd_histories, result, said, tool, user};

fn with(mock: &MockOpenAi, change: impl FnOnce(&mut OpenAiResponsesConfig)) -> OpenAiResponses {
    let mut config = OpenAiResponsesConfig::new(ServerConfig::new("gpt", mock.url()));
    change(&mut config);
    OpenAiResponses::new(config)
}

fn provider(mock: &MockOpenAi) -> OpenAiResponses {
    with(mock, |_| {})
}

fn pieces(text: &str) -> Vec<String> {
    let delta = json!({"type": "response.output_text.delta", "output_index": 0, "delta": text});
    let events = [delta, json!({"type": "response.completed", "response": {"status": "completed"}})];
    events.iter().map(|event| format!("data: {event}\n\n")).collect()
}

fn say(text: &str) -> Reply {
    Reply::pieces(pieces(text))
}

fn refusal(status: u16, message: &str) -> Reply {
    Reply::error(status, &json!({"error": {"message": message, "type": "invalid_request_error"}}))
}

async fn text(provider: &OpenAiResponses) -> String {
    let deltas = all(provider, ask("hi")).await.unwrap();
    assert_eq!(deltas.last(), Some(&ModelDelta::Finish(FinishReason::Stop)));
    let Some(ModelDelta::Text(text)) = deltas.first() else { panic!("{deltas:?}") };
    text.clone()
}

#[tokio::test]
async fn a_request_is_worded_as_the_server_takes_it() {
    let mock = MockOpenAi::start().await.unwrap();
    mock.reply(say("ok"));
    let provider = with(&mock, |config| {
        config.model = Some("m".to_owned());
        config.server.auth = Auth::Key("sk-1\n".into());
        config.thinking = Some(Thinking::Effort(Effort::Low));
        config.max_tokens = Some(900);
        config.sampling.temperature = Some(0.2);
        config.extra.insert("service_tier".to_owned(), json!("flex"));
        config.extra.insert("stream".to_owned(), json!(false));
    });
    let image = Content::Image { data: "AAAA".to_owned(), mime_type: "image/png".to_owned(), uri: None };
    let mut request = ask("look");
    let kept = vec![json!({"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "gAAA"})];
    let calls = vec![call("x", "read", r#"{"path":"a"}"#)];
    request.messages.push(ModelMessage::Assistant {
        text: "I read.".to_owned(),
        calls,
        kept,
        reasoning: String::new(),
    });
    request.messages.push(result("x", "contents"));
    request.messages.push(ModelMessage::User(vec![Content::text("see"), image]));
    request.tools.push(tool("read"));
    all(&provider, request).await.unwrap();
    let sent = &mock.chats()[0];
    assert_eq!(sent.path, "/v1/responses");
    assert_eq!(sent.headers["authorization"], "Bearer sk-1");
    assert_snapshot!(sent.body, @r#"{"model":"m","instructions":"Be brief.","input":[{"role":"user","content":"look"},{"type":"reasoning","id":"rs","summary":[],"encrypted_content":"gAAA"},{"role":"assistant","content":"I read."},{"type":"function_call","call_id":"call00001","name":"read","arguments":"{\"path\":\"a\"}"},{"type":"function_call_output","call_id":"call00001","output":"contents"},{"role":"user","content":[{"type":"input_text","text":"see"},{"type":"input_image","image_url":"data:image/png;base64,AAAA"}]}],"tools":[{"type":"function","name":"read","description":"The tool read.","parameters":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]},"strict":false}],"stream":true,"store":false,"include":["reasoning.encrypted_content"],"reasoning":{"effort":"low","summary":"auto"},"max_output_tokens":900,"temperature":0.2,"service_tier":"flex"}"#);
}

#[tokio::test]
async fn the_configured_path_replaces_the_apis_own() {
    let mock = MockOpenAi::start().await.unwrap();
    mock.reply(say("ok"));
    let provider =
        with(&mock, |config| config.server.path = Some("/openai/responses?api-version=1".to_owned()));
    text(&provider).await;
    assert_eq!(mock.chats()[0].path, "/openai/responses?api-version=1");
}

#[tokio::test]
async fn strict_servers_take_any_history() {
    let mock = MockOpenAi::start().await.unwrap();
    mock.strict();
    mock.respond(|_| say("ok"));
    let provider = provider(&mock);
    for messages in odd_histories() {
        let shown = format!("{messages:?}");
        let request = ModelRequest {
            system: "s".to_owned(),
            messages,
            tools: vec![tool("read")],
            ..ModelRequest::default()
        };
        all(&provider, request).await.unwrap_or_else(|error| panic!("{error} for {shown}"));
    }
}

#[tokio::test]
async fn a_model_without_encrypted_reasoning_is_asked_without_it_from_then_on() {
    let mock = MockOpenAi::start().await.unwrap();
    let words = "Encrypted content is not supported with this model.";
    mock.script([refusal(400, words), say("one"), say("two")]);
    let provider = provider(&mock);
    text(&provider).await;
    assert_eq!(provider.take_notices().len(), 1);
    let kept = vec![json!({"type": "reasoning", "encrypted_content": "x"})];
    let calls = vec![call("x", "read", "{}")];
    let messages = vec![
        user("a"),
        ModelMessage::Assistant { text: String::new(), calls, kept, reasoning: String::new() },
        result("x", "1"),
    ];
    let request = ModelRequest {
        system: String::new(),
        messages,
        tools: vec![tool("read")],
        ..ModelRequest::default()
    };
    all(&provider, request).await.unwrap();
    let asked: Vec<bool> =
        mock.chats().iter().map(|sent| sent.body.to_string().contains("encrypted")).collect();
    assert_eq!(asked, [true, false, false]);
}

#[tokio::test]
async fn a_server_without_tools_is_told_of_calls_in_words() {
    let mock = MockOpenAi::start().await.unwrap();
    mock.script([refusal(400, "m does not support tools"), say("ok")]);
    let provider = provider(&mock);
    let messages = vec![user("a"), said("", vec![call("x", "read", "{}")]), result("x", "1")];
    let request = ModelRequest {
        system: String::new(),
        messages,
        tools: vec![tool("read")],
        ..ModelRequest::default()
    };
    all(&provider, request).await.unwrap();
    let body = &mock.chats()[1].body;
    assert!(body["tools"].is_null());
    assert_eq!(body["input"][1]["content"], "(called read with {})");
    assert_eq!(body["input"][2]["content"], "(result of read) 1");
}

#[tokio::test]
async fn what_passes_is_tried_again_before_the_first_token_and_never_after() {
    let mock = MockOpenAi::start().await.unwrap();
    let failed = json!({"type": "response.failed", "response": {"status": "failed", "error": {"code": "server_error", "message": "it broke"}}});
    let failed = format!("data: {failed}\n\n");
    let busy = refusal(429, "slow down").header("retry-after", "0");
    mock.script([busy, Reply::pieces([failed.clone()]), say("ok")]);
    assert_eq!(text(&provider(&mock)).await, "ok");
    mock.reply(Reply::pieces([pieces("half")[0].clone(), failed]));
    let provider = provider(&mock);
    let mut stream = provider.stream(ask("hi")).await.unwrap();
    assert_eq!(stream.next().await, Some(Ok(ModelDelta::Text("half".to_owned()))));
    let error = stream.next().await.unwrap().unwrap_err();
    assert_eq!(error.to_string(), "gpt: the server reported: it broke");
    assert_eq!(mock.chats().len(), 4);
}

#[tokio::test]
async fn tokens_arrive_before_the_answer_ends_and_dropping_it_closes_the_connection() {
    let mock = MockOpenAi::start().await.unwrap();
    let gate = Gate::default();
    mock.reply(say("now").gate(1, &gate));
    let provider = provider(&mock);
    let mut stream = provider.stream(ask("hi")).await.unwrap();
    assert_eq!(stream.next().await, Some(Ok(ModelDelta::Text("now".to_owned()))));
    drop(stream);
    mock.wait_for_connections(0).await;
}

#[tokio::test]
async fn a_connection_that_breaks_is_told_from_a_whole_answer() {
    let mock = MockOpenAi::start().await.unwrap();
    let provider = with(&mock, |config| config.server.retries = 0);
    mock.reply(Reply::pieces(&pieces("half")[..1]).cut());
    let error = all(&provider, ask("hi")).await.unwrap_err();
    assert!(matches!(error, ProviderError::Truncated { .. }), "{error}");
    mock.reply(say("whole").held_open());
    assert_eq!(text(&provider).await, "whole");
}

#[tokio::test]
async fn a_limit_of_the_answer_shrinks_to_what_the_window_leaves() {
    let mock = MockOpenAi::start().await.unwrap();
    mock.respond(|request| {
        let most = request.body["max_output_tokens"].as_u64().unwrap_or(0);
        if 20 + most <= 8_192 {
            return say("ok");
        }
        let words = format!(
            "This model's maximum context length is 8192 tokens. However, you requested {} tokens (20 in the messages, \
             {most} in the completion).",
            20 + most
        );
        Reply::error(400, &json!({"error": {"message": words, "code": "context_length_exceeded"}}))
    });
    let provider = with(&mock, |config| config.max_tokens = Some(8_192));
    assert_eq!(text(&provider).await, "ok");
    let limits: Vec<_> = mock.chats().iter().map(|chat| chat.body["max_output_tokens"].clone()).collect();
    assert_eq!(limits, [8_192, 8_172]);
}
