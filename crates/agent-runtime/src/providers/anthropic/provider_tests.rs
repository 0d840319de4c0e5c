//! The provider against a scripted server.

use std::time::Duration;

use futures::StreamExt;
use insta::{assert_json_snapshot, assert_snapshot};
use serde_json::{Value, json};
use session_model::Content;

use super::*;
use crate::provider::{Effort, FinishReason, ModelDelta, ModelMessage};
use crate::providers::auth::Auth;
use crate::providers::mock_openai::{Gate, MockOpenAi, Reply};
use crate::providers::testing::{all, ask, call, odd_histories, result, said, tool, user};

fn with(mock: &MockOpenAi, change: impl FnOnce(&mut AnthropicConfig)) -> Anthropic {
    let mut config = AnthropicConfig::new(ServerConfig::new("claude", mock.url()), "m");
    change(&mut config);
    Anthropic::new(config)
}

fn provider(mock: &MockOpenAi) -> Anthropic {
    with(mock, |_| {})
}

/// The events of an answer that says `text`, each in a piece of its own.
fn pieces(text: &str) -> Vec<String> {
    let events = [
        json!({"type": "message_start", "message": {"usage": {"input_tokens": 3, "output_tokens": 1}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}}),
        json!({"type": "message_stop"}),
    ];
    events
        .iter()
        .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()))
        .collect()
}

fn say(text: &str) -> Reply {
    Reply::pieces(pieces(text))
}

fn refusal(status: u16, kind: &str, message: &str) -> Reply {
    Reply::error(status, &json!({"type": "error", "error": {"type": kind, "message": message}}))
}

async fn text(provider: &Anthropic) -> String {
    let deltas = all(provider, ask("hi")).await.unwrap();
    assert_eq!(deltas.last(), Some(&ModelDelta::Finish(FinishReason::Stop)));
    let Some(ModelDelta::Text(text)) = deltas.first() else { panic!("{deltas:?}") };
    text.clone()
}

async fn error(provider: &Anthropic) -> ProviderError {
    all(provider, ask("hi")).await.unwrap_err()
}

#[tokio::test]
async fn a_request_is_worded_as_the_server_takes_it() {
    let mock = MockOpenAi::start().await.unwrap();
    mock.reply(say("ok"));
    let provider = with(&mock, |config| {
        config.server.auth = Auth::Key("sk-ant-api03-1\n".into());
        config.server.headers.insert("anthropic-beta".to_owned(), "x".to_owned());
        config.sampling.temperature = Some(0.2);
        config.extra.insert("top_k".to_owned(), json!(5));
        config.extra.insert("stream".to_owned(), json!(false));
    });
    let image = Content::Image { data: "AAAA".to_owned(), mime_type: "image/png".to_owned(), uri: None };
    let mut request = ask("look");
    request.messages.push(said("I read.", vec![call("x", "read", r#"{"path":"a"}"#)]));
    request.messages.push(result("x", "contents"));
    request.messages.push(ModelMessage::User(vec![Content::text("see"), image, Content::text(" this")]));
    request.tools.push(tool("read"));
    all(&provider, request).await.unwrap();
    let sent = &mock.chats()[0];
    assert_eq!(sent.path, "/v1/messages");
    assert_eq!(sent.headers["x-api-key"], "sk-ant-api03-1");
    assert_eq!(sent.headers["anthropic-version"], "2023-06-01");
    assert_eq!(sent.headers["anthropic-beta"], "x");
    assert!(!sent.headers.contains_key("authorization"));
    assert_snapshot!(sent.body, @r#"{"model":"m","max_tokens":16384,"tools":[{"name":"read","description":"The tool read.","input_schema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}],"system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":[{"type":"text","text":"look","cache_control":{"type":"ephemeral"}}]},{"role":"assistant","content":[{"type":"text","text":"I read."},{"type":"tool_use","id":"call00001","name":"read","input":{"path":"a"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call00001","content":"contents"},{"type":"text","text":"see"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}},{"type":"text","text":" this","cache_control":{"type":"ephemeral"}}]}],"stream":true,"temperature":0.2,"top_k":5}"#);
}

#[tokio::test]
async fn what_a_sign_in_printed_is_a_bearer_token() {
    let mock = MockOpenAi::start().await.unwrap();
    mock.reply(say("ok"));
    let provider = with(&mock, |config| config.server.auth = Auth::Key("sk-ant-oat01-x".into()));
    text(&provider).await;
    assert_eq!(mock.chats()[0].headers["authorization"], "Bearer sk-ant-oat01-x");
    assert!(!mock.chats()[0].headers.contains_key("x-api-key"));
}

#[tokio::test]
async fn strict_servers_take_any_history() {
    let mock = MockOpenAi::start().await.unwrap();
    mock.strict();
    mock.respond(|_| say("ok"));
    let provider = provider(&mock);
    for tools in [vec![tool("read")], Vec::new()] {
        for messages in odd_histories() {
            let shown = format!("{messages:?}");
            let request = ModelRequest {
                system: "s".to_owned(),
                messages,
                tools: tools.clone(),
                ..ModelRequest::default()
            };
            all(&provider, request).await.unwrap_or_else(|error| panic!("{error} for {shown}"));
        }
    }
}

#[tokio::test]
async fn signed_reasoning_goes_back_with_the_results_as_it_came() {
    let mock = MockOpenAi::start().await.unwrap();
    mock.respond(|_| say("ok"));
    let signed = json!({"type": "thinking", "thinking": "hm", "signature": "s"});
    let hidden = json!({"type": "redacted_thinking", "data": "x"});
    let calls = vec![call("x", "read", r#"{"path":"a"}"#)];
    let kept = vec![signed, hidden];
    let messages = vec![
        user("a"),
        ModelMessage::Assistant { text: "look".to_owned(), calls, kept, reasoning: String::new() },
        result("x", "1"),
    ];
    let request = ModelRequest {
        system: String::new(),
        messages,
        tools: vec![tool("read")],
        ..ModelRequest::default()
    };
    let thinks = with(&mock, |config| {
        config.thinking = Some(Thinking::Budget(20_000));
        config.sampling.temperature = Some(0.5);
        config.prompt_caching = false;
    });
    all(&thinks, request.clone()).await.unwrap();
    let body = &mock.chats()[0].body;
    assert_json_snapshot!(body["messages"][1]["content"], @r#"
    [
      {
        "type": "thinking",
        "thinking": "hm",
        "signature": "s"
      },
      {
        "type": "redacted_thinking",
        "data": "x"
      },
      {
        "type": "text",
        "text": "look"
      },
      {
        "type": "tool_use",
        "id": "call00001",
        "name": "read",
        "input": {
          "path": "a"
        }
      }
    ]
    "#);
    assert_eq!(body["thinking"], json!({"type": "enabled", "budget_tokens": 20_000}));
    assert_eq!(body["max_tokens"], 21_024);
    assert!(body["temperature"].is_null());
    // One that thinks without being told gets it back as well.
    all(&provider(&mock), request.clone()).await.unwrap();
    assert_eq!(mock.chats()[1].body["messages"][1]["content"][0]["type"], "thinking");
    assert!(mock.chats()[1].body["thinking"].is_null());
    // One that may not think gets none of it.
    let quiet = ModelRequest { effort: Some(Effort::None), ..request };
    all(&thinks, quiet).await.unwrap();
    assert_eq!(mock.chats()[2].body["messages"][1]["content"][0]["type"], "text");
    assert_eq!(mock.chats()[2].body["thinking"], json!({"type": "disabled"}));
}

#[tokio::test]
async fn beginnings_worth_keeping_are_marked_and_stay_the_same() {
    let mock = MockOpenAi::start().await.unwrap();
    mock.respond(|_| say("ok"));
    let provider = provider(&mock);
    let mut request = ask("one");
    request.tools.push(tool("read"));
    let mut seen = Vec::new();
    for step in 0..3 {
        all(&provider, request.clone()).await.unwrap();
        let mut body = mock.chats()[step].body.clone();
        let marks = body.to_string().matches("cache_control").count();
        assert_eq!(marks, 2 + usize::from(step > 0), "{body}");
        for message in body["messages"].as_array_mut().unwrap() {
            message["content"].as_array_mut().unwrap().iter_mut().for_each(|block| {
                block.as_object_mut().unwrap().remove("cache_control");
            });
        }
        seen.push(body);
        request.messages.push(said("", vec![call(&step.to_string(), "read", "{}")]));
        request.messages.push(result(&step.to_string(), "x"));
    }
    for pair in seen.windows(2) {
        let (before, after) = (&pair[0], &pair[1]);
        assert_eq!(before["system"], after["system"]);
        assert_eq!(before["tools"], after["tools"]);
        let length = before["messages"].as_array().unwrap().len();
        assert_eq!(
            before["messages"].as_array().unwrap()[..],
            after["messages"].as_array().unwrap()[..length]
        );
    }
}

#[tokio::test]
async fn an_overloaded_server_is_asked_again_before_the_first_token_and_never_after() {
    let mock = MockOpenAi::start().await.unwrap();
    let overloaded = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let inside = Reply::pieces([format!("event: error\ndata: {overloaded}\n\n")]);
    mock.script([
        refusal(529, "overloaded_error", "Overloaded").header("retry-after", "0"),
        inside,
        say("ok"),
    ]);
    assert_eq!(text(&provider(&mock)).await, "ok");
    let mut late = pieces("half")[..3].to_vec();
    late.push(format!("event: error\ndata: {overloaded}\n\n"));
    mock.reply(Reply::pieces(late));
    let provider = provider(&mock);
    let mut stream = provider.stream(ask("hi")).await.unwrap();
    assert_eq!(stream.next().await, Some(Ok(ModelDelta::Text("half".to_owned()))));
    assert_eq!(
        stream.next().await.unwrap().unwrap_err().to_string(),
        "claude: the server reported: Overloaded"
    );
    assert_eq!(mock.chats().len(), 4);
}

#[tokio::test]
async fn refusals_are_told_and_what_stays_is_not_tried_again() {
    let mock = MockOpenAi::start().await.unwrap();
    let table = [
        (
            refusal(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
            "HTTP 400: prompt is too long",
        ),
        (refusal(404, "not_found_error", "model: nope"), "HTTP 404: model: nope (model m at http"),
        (refusal(401, "authentication_error", "invalid x-api-key"), "refused the credentials (HTTP 401)"),
        (refusal(413, "request_too_large", "too large"), "HTTP 413"),
    ];
    for (at, (reply, expected)) in table.into_iter().enumerate() {
        mock.reply(reply);
        let told = error(&provider(&mock)).await.to_string();
        assert!(told.contains(expected), "{told}");
        assert_eq!(mock.chats().len(), at + 1);
    }
}

#[tokio::test]
async fn a_model_that_allows_fewer_tokens_is_believed() {
    let mock = MockOpenAi::start().await.unwrap();
    let words = "max_tokens: 16384 > 4096, which is the maximum allowed number of output tokens for m";
    mock.script([refusal(400, "invalid_request_error", words), say("one"), say("two")]);
    let provider = provider(&mock);
    text(&provider).await;
    text(&provider).await;
    let asked: Vec<Value> = mock.chats().iter().map(|sent| sent.body["max_tokens"].clone()).collect();
    assert_eq!(asked, [16_384, 4_096, 4_096]);
}

#[tokio::test]
async fn a_model_that_takes_no_budget_is_told_in_words_from_then_on() {
    let mock = MockOpenAi::start().await.unwrap();
    mock.strict();
    let words = "\"thinking.type.enabled\" is not supported for this model. Use \"thinking.type.adaptive\" and \
                 \"output_config.effort\" to control thinking behavior.";
    let hidden = "thinking.adaptive.display: Extra inputs are not permitted";
    let least = "output_config.effort: max is not supported by this model";
    let refused = |words| refusal(400, "invalid_request_error", words);
    mock.script([refused(words), say("one"), refused(hidden), say("two"), refused(least), say("three")]);
    let provider = with(&mock, |config| config.thinking = Some(Thinking::Budget(9_000)));
    text(&provider).await;
    let more = ModelRequest { effort: Some(Effort::High), ..ask("hi") };
    all(&provider, more).await.unwrap();
    let most = ModelRequest { effort: Some(Effort::Max), ..ask("hi") };
    all(&provider, most).await.unwrap();
    let asked: Vec<Value> =
        mock.chats().iter().map(|sent| json!([sent.body["thinking"], sent.body["output_config"]])).collect();
    let shown = json!({"type": "adaptive", "display": "summarized"});
    let bare = json!({"type": "adaptive"});
    assert_eq!(
        asked,
        [
            json!([{"type": "enabled", "budget_tokens": 9_000}, null]),
            json!([shown, {"effort": "medium"}]),
            json!([shown, {"effort": "high"}]),
            json!([bare, {"effort": "high"}]),
            json!([bare, {"effort": "max"}]),
            json!([bare, null]),
        ]
    );
}

#[tokio::test]
async fn a_model_that_always_thinks_is_not_told_twice_not_to() {
    let mock = MockOpenAi::start().await.unwrap();
    let words = "\"thinking.type.disabled\" is not supported for this model.";
    mock.script([refusal(400, "invalid_request_error", words), say("one"), say("two"), say("three")]);
    let provider = with(&mock, |config| config.thinking = Some(Thinking::Effort(Effort::None)));
    text(&provider).await;
    text(&provider).await;
    // It may think all the same, when it is asked to.
    all(&provider, ModelRequest { effort: Some(Effort::Low), ..ask("hi") }).await.unwrap();
    let asked: Vec<Value> = mock.chats().iter().map(|sent| sent.body["thinking"]["type"].clone()).collect();
    assert_eq!(asked, [json!("disabled"), Value::Null, Value::Null, json!("enabled")]);
}

#[tokio::test]
async fn refused_options_are_left_out_from_then_on_and_told_once() {
    let mock = MockOpenAi::start().await.unwrap();
    let words = "system.0.cache_control: Extra inputs are not permitted";
    mock.script([refusal(400, "invalid_request_error", words), say("one"), say("two")]);
    let provider = provider(&mock);
    text(&provider).await;
    assert_eq!(
        provider.take_notices(),
        ["claude: the server does not support `cache_control`; going on without it"]
    );
    text(&provider).await;
    assert!(provider.take_notices().is_empty());
    let marked: Vec<bool> =
        mock.chats().iter().map(|sent| sent.body.to_string().contains("cache_control")).collect();
    assert_eq!(marked, [true, false, false]);
}

#[cfg(unix)]
#[tokio::test]
async fn a_refused_token_is_fetched_anew_once() {
    let mock = MockOpenAi::start().await.unwrap();
    let dir = tempfile::tempdir().unwrap();
    let command = format!("echo x >> {0}; echo sk-ant-oat-$(wc -l < {0})", dir.path().join("n").display());
    let provider = with(&mock, |config| config.server.auth = Auth::Command(command));
    let denied = || refusal(401, "authentication_error", "OAuth token has expired");
    mock.script([denied(), say("ok"), denied(), denied()]);
    assert_eq!(text(&provider).await, "ok");
    assert!(matches!(error(&provider).await, ProviderError::Unauthorized { status: 401, .. }));
    let tokens: Vec<String> = mock.chats().iter().map(|sent| sent.headers["authorization"].clone()).collect();
    assert_eq!(tokens, [1, 2, 2, 3].map(|n| format!("Bearer sk-ant-oat-{n}")));
}

#[tokio::test]
async fn tokens_arrive_before_the_answer_ends_and_dropping_it_closes_the_connection() {
    let mock = MockOpenAi::start().await.unwrap();
    let gate = Gate::default();
    mock.reply(say("now").gate(3, &gate));
    let provider = provider(&mock);
    let mut stream = provider.stream(ask("hi")).await.unwrap();
    assert_eq!(stream.next().await, Some(Ok(ModelDelta::Text("now".to_owned()))));
    drop(stream);
    mock.wait_for_connections(0).await;
}

#[tokio::test]
async fn a_connection_that_breaks_or_stays_open_is_told_from_a_whole_answer() {
    let mock = MockOpenAi::start().await.unwrap();
    let provider = with(&mock, |config| config.server.retries = 0);
    mock.reply(Reply::pieces(&pieces("half")[..3]).cut());
    assert!(matches!(error(&provider).await, ProviderError::Truncated { .. }));
    mock.reply(Reply::pieces(&pieces("whole")[..5]).held_open());
    assert_eq!(text(&provider).await, "whole");
    let impatient = with(&mock, |config| config.server.idle_timeout = Duration::from_millis(50));
    mock.reply(Reply::pieces(&pieces("half")[..3]).held_open());
    assert!(matches!(error(&impatient).await, ProviderError::TimedOut { .. }));
}

#[tokio::test]
async fn a_model_must_be_named() {
    let config = AnthropicConfig::new(ServerConfig::new("claude", "http://127.0.0.1:1"), " ");
    assert_eq!(error(&Anthropic::new(config)).await.to_string(), "claude: no `model` is set");
}
