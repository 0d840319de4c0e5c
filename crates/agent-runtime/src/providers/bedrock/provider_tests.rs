//! The provider against a scripted server.

use aws_smithy_eventstream::frame::write_message_to;
use aws_smithy_types::event_stream::{Header, HeaderValue, Message};
use futures::StreamExt;
use insta::assert_snapshot;
use serde_json::{Value, json};
use session_model::Content;
use session_model::source::FixedClock;
use time::macros::datetime;

use super::*;
use crate::provider::{Effort, FinishReason, ModelDelta, ModelMessage};
use crate::providers::auth::Auth;
use crate::providers::aws::{AwsAuth, AwsKeys};
use crate::providers::mock_openai::{Gate, MockOpenAi, Reply};
use crate::providers::testing::{all, ask, call, odd_histories, result, said, tool, user};

const MODEL: &str = "eu.anthropic.claude-x-v1:0";

fn aws(refresh: Option<String>) -> AwsAuth {
    let keys = AwsKeys { id: "AKID".into(), secret: "s3cr3t".into(), token: Some("session".into()) };
    AwsAuth { region: "eu-west-1".to_owned(), service: "bedrock".to_owned(), keys: Some(keys), refresh }
}

fn with(mock: &MockOpenAi, change: impl FnOnce(&mut BedrockConfig)) -> Bedrock {
    let mut server = ServerConfig::new("far", mock.url());
    server.auth = Auth::Aws(Box::new(aws(None)));
    server.clock = Some(Arc::new(FixedClock(datetime!(2026-01-02 03:04:05 UTC))));
    let mut config = BedrockConfig::new(server, MODEL);
    change(&mut config);
    Bedrock::new(config)
}

fn provider(mock: &MockOpenAi) -> Bedrock {
    with(mock, |_| {})
}

fn framed(headers: &[(&'static str, String)], payload: String) -> Vec<u8> {
    let headers =
        headers.iter().map(|(name, value)| Header::new(*name, HeaderValue::String(value.clone().into())));
    let message = Message::new_from_parts(headers.collect(), payload);
    let mut bytes = Vec::new();
    write_message_to(&message, &mut bytes).unwrap();
    bytes
}

fn event((name, payload): (&str, Value)) -> Vec<u8> {
    let headers = [(":message-type", "event".to_owned()), (":event-type", name.to_owned())];
    framed(&headers, payload.to_string())
}

fn fault(name: &str, message: &str) -> Vec<u8> {
    let headers = [(":message-type", "exception".to_owned()), (":exception-type", name.to_owned())];
    framed(&headers, json!({"message": message}).to_string())
}

fn stream(frames: Vec<Vec<u8>>) -> Reply {
    Reply::raw(200, "application/vnd.amazon.eventstream", frames)
}

fn piece(place: u64, delta: &Value) -> (&'static str, Value) {
    ("contentBlockDelta", json!({"contentBlockIndex": place, "delta": delta}))
}

fn stop(reason: &str) -> (&'static str, Value) {
    ("messageStop", json!({"stopReason": reason}))
}

fn counts() -> (&'static str, Value) {
    let usage = json!({"inputTokens": 5, "outputTokens": 3, "totalTokens": 108, "cacheReadInputTokens": 90,
        "cacheWriteInputTokens": 10});
    ("metadata", json!({"usage": usage, "metrics": {"latencyMs": 1}}))
}

/// The frames of an answer that says `text`.
fn words(text: &str) -> Vec<Vec<u8>> {
    let events = [
        ("messageStart", json!({"role": "assistant"})),
        piece(0, &json!({"text": text})),
        ("contentBlockStop", json!({"contentBlockIndex": 0})),
        stop("end_turn"),
        counts(),
    ];
    events.into_iter().map(event).collect()
}

fn say(text: &str) -> Reply {
    stream(words(text))
}

fn refusal(status: u16, message: &str) -> Reply {
    Reply::error(status, &json!({"message": message}))
}

async fn text(provider: &Bedrock) -> String {
    let deltas = all(provider, ask("hi")).await.unwrap();
    assert_eq!(deltas.last(), Some(&ModelDelta::Finish(FinishReason::Stop)));
    let Some(ModelDelta::Text(text)) = deltas.first() else { panic!("{deltas:?}") };
    text.clone()
}

async fn error(provider: &Bedrock) -> ProviderError {
    all(provider, ask("hi")).await.unwrap_err()
}

#[tokio::test]
async fn a_request_is_worded_and_signed_as_the_server_takes_it() {
    let mock = MockOpenAi::start().await.unwrap();
    mock.reply(say("ok"));
    let provider = with(&mock, |config| {
        config.max_tokens = Some(2_000);
        config.sampling.temperature = Some(0.5);
        config.prompt_caching = true;
        config.extra.insert("additionalModelRequestFields".to_owned(), json!({"top_k": 5}));
        config.extra.insert("performanceConfig".to_owned(), json!({"latency": "optimized"}));
        config.extra.insert("messages".to_owned(), json!([]));
    });
    let image =
        |kind: &str| Content::Image { data: "AAAA".to_owned(), mime_type: kind.to_owned(), uri: None };
    let mut request = ask("look");
    request
        .messages
        .push(said("I read.", vec![call("x", "read", r#"{"path":"a"}"#), call("y", "read", "{}")]));
    request.messages.push(result("x", "contents"));
    request.messages.push(result("y", " "));
    let parts = vec![Content::text("see"), image("image/png"), Content::text(" "), image("image/bmp")];
    request.messages.push(ModelMessage::User(parts));
    request.tools.push(tool("read"));
    all(&provider, request).await.unwrap();
    let sent = &mock.chats()[0];
    assert_eq!(sent.path, "/model/eu.anthropic.claude-x-v1%3A0/converse-stream");
    assert_eq!(sent.headers["accept"], "application/vnd.amazon.eventstream");
    assert_eq!(sent.headers["x-amz-date"], "20260102T030405Z");
    assert_eq!(sent.headers["x-amz-security-token"], "session");
    let signature = &sent.headers["authorization"];
    assert!(
        signature.starts_with("AWS4-HMAC-SHA256 Credential=AKID/20260102/eu-west-1/bedrock/aws4_request")
    );
    assert!(!format!("{:?}", sent.headers).contains("s3cr3t"));
    assert_snapshot!(sent.body, @r#"{"messages":[{"role":"user","content":[{"text":"look"},{"cachePoint":{"type":"default"}}]},{"role":"assistant","content":[{"text":"I read."},{"toolUse":{"toolUseId":"call00001","name":"read","input":{"path":"a"}}},{"toolUse":{"toolUseId":"call00002","name":"read","input":{}}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"call00001","content":[{"text":"contents"}]}},{"toolResult":{"toolUseId":"call00002","content":[{"text":"(nothing)"}]}},{"text":"see"},{"image":{"format":"png","source":{"bytes":"AAAA"}}},{"text":" \n[an image of type image/bmp, which this API does not take]\n"},{"cachePoint":{"type":"default"}}]}],"system":[{"text":"Be brief."},{"cachePoint":{"type":"default"}}],"toolConfig":{"tools":[{"toolSpec":{"name":"read","description":"The tool read.","inputSchema":{"json":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}}}]},"inferenceConfig":{"maxTokens":2000,"temperature":0.5},"performanceConfig":{"latency":"optimized"},"additionalModelRequestFields":{"top_k":5}}"#);
}

#[tokio::test]
async fn an_answer_has_its_reasoning_calls_and_the_counts_that_come_last() {
    let mock = MockOpenAi::start().await.unwrap();
    let start = |place: u64| {
        let tool = json!({"toolUse": {"toolUseId": "tooluse_1", "name": "read"}});
        ("contentBlockStart", json!({"contentBlockIndex": place, "start": tool}))
    };
    let end = |place: u64| ("contentBlockStop", json!({"contentBlockIndex": place}));
    let events = [
        ("messageStart", json!({"role": "assistant"})),
        piece(0, &json!({"reasoningContent": {"text": "hm"}})),
        piece(0, &json!({"reasoningContent": {"signature": "sig"}})),
        end(0),
        piece(1, &json!({"reasoningContent": {"redactedContent": "AAAA"}})),
        end(1),
        piece(2, &json!({"text": "I "})),
        piece(2, &json!({"text": "read."})),
        end(2),
        start(3),
        piece(3, &json!({"toolUse": {"input": "{\"path\":"}})),
        piece(3, &json!({"toolUse": {"input": "\"a\"}"}})),
        end(3),
        ("somethingNew", json!({"x": 1})),
        stop("tool_use"),
        counts(),
    ];
    let bytes: Vec<u8> = events.into_iter().flat_map(event).collect();
    for size in [1, 7, bytes.len()] {
        mock.reply(stream(bytes.chunks(size).map(<[u8]>::to_vec).collect()));
        let deltas = all(&provider(&mock), ask("hi")).await.unwrap();
        let deltas = crate::providers::testing::merged(deltas);
        let [thought, said, signed, hidden, ModelDelta::Call(made), ModelDelta::Usage(usage), finish] =
            deltas.as_slice()
        else {
            panic!("{deltas:?}")
        };
        assert_eq!(*thought, ModelDelta::Thought("hm".to_owned()));
        assert_eq!(*said, ModelDelta::Text("I read.".to_owned()));
        let kept = json!({"type": "thinking", "thinking": "hm", "signature": "sig"});
        assert_eq!(*signed, ModelDelta::Kept(kept));
        assert_eq!(*hidden, ModelDelta::Kept(json!({"type": "redacted_thinking", "data": "AAAA"})));
        assert_eq!((made.name.as_str(), made.arguments.as_str()), ("read", r#"{"path":"a"}"#));
        assert_eq!((usage.input, usage.cached, usage.written, usage.output), (15, 90, 10, 3));
        assert_eq!(*finish, ModelDelta::Finish(FinishReason::Stop));
    }
}

#[tokio::test]
async fn reasons_to_stop_are_told_apart() {
    let mock = MockOpenAi::start().await.unwrap();
    let table = [
        ("end_turn", FinishReason::Stop),
        ("stop_sequence", FinishReason::Stop),
        ("max_tokens", FinishReason::Length),
        ("model_context_window_exceeded", FinishReason::Length),
        ("guardrail_intervened", FinishReason::Refusal),
        ("content_filtered", FinishReason::Refusal),
    ];
    for (reason, expected) in table {
        // Without counts too: the stop reason is enough.
        mock.reply(stream([piece(0, &json!({"text": "a"})), stop(reason)].into_iter().map(event).collect()));
        let deltas = all(&provider(&mock), ask("hi")).await.unwrap();
        assert_eq!(deltas.last(), Some(&ModelDelta::Finish(expected)), "{reason}");
    }
}

#[tokio::test]
async fn kept_reasoning_goes_back_with_the_results_and_thinking_is_told_to_each_family() {
    let mock = MockOpenAi::start().await.unwrap();
    mock.respond(|_| say("ok"));
    let kept = vec![
        json!({"type": "thinking", "thinking": "hm", "signature": "s"}),
        json!({"type": "redacted_thinking", "data": "AAAA"}),
    ];
    let calls = vec![call("x", "read", "{}")];
    let messages = vec![
        user("a"),
        ModelMessage::Assistant { text: String::new(), calls, kept, reasoning: String::new() },
        result("x", "1"),
    ];
    let request = ModelRequest { messages, tools: vec![tool("read")], ..ModelRequest::default() };
    let thinks = with(&mock, |config| {
        config.thinking = Some(Thinking::Budget(4_000));
        config.max_tokens = Some(3_000);
        config.sampling.temperature = Some(0.5);
    });
    all(&thinks, request.clone()).await.unwrap();
    let body = &mock.chats()[0].body;
    let reasoning = json!({"reasoningContent": {"reasoningText": {"text": "hm", "signature": "s"}}});
    assert_eq!(body["messages"][1]["content"][0], reasoning);
    assert_eq!(body["messages"][1]["content"][1], json!({"reasoningContent": {"redactedContent": "AAAA"}}));
    let thinking = json!({"thinking": {"type": "enabled", "budget_tokens": 4_000}});
    assert_eq!(body["additionalModelRequestFields"], thinking);
    assert_eq!(body["inferenceConfig"], json!({"maxTokens": 5_024}));
    // One that may not think gets none of it.
    all(&thinks, ModelRequest { effort: Some(Effort::None), ..request.clone() }).await.unwrap();
    let body = &mock.chats()[1].body;
    assert_eq!(body["messages"][1]["content"].as_array().map(Vec::len), Some(1));
    assert_eq!(body["additionalModelRequestFields"], json!({"thinking": {"type": "disabled"}}));
    for (model, expected) in [
        ("openai.gpt-oss-120b-1:0", json!({"reasoning_effort": "low"})),
        ("amazon.nova-pro-v1:0", Value::Null),
    ] {
        let mut server = ServerConfig::new("far", mock.url());
        server.auth = Auth::Key("key".into());
        let other = Bedrock::new(BedrockConfig::new(server, model));
        all(&other, ModelRequest { effort: Some(Effort::Low), ..request.clone() }).await.unwrap();
        let sent = mock.chats().pop().unwrap();
        assert_eq!(sent.body["additionalModelRequestFields"], expected, "{model}");
        // A key of the service itself is sent as it is.
        assert_eq!(sent.headers["authorization"], "Bearer key");
        assert!(!sent.headers.contains_key("x-amz-date"));
    }
}

#[tokio::test]
async fn a_model_that_takes_no_budget_is_told_in_words_and_what_is_refused_is_left_out() {
    let mock = MockOpenAi::start().await.unwrap();
    let words = "The model returned the following errors: \"thinking.type.enabled\" is not supported for this model. \
                 Use \"thinking.type.adaptive\" and \"output_config.effort\" to control thinking behavior.";
    let caching = "You invoked an unsupported model or your request did not allow prompt caching.";
    mock.script([refusal(400, words), refusal(400, caching), say("one")]);
    let provider = with(&mock, |config| {
        config.thinking = Some(Thinking::Effort(Effort::High));
        config.prompt_caching = true;
    });
    text(&provider).await;
    let fields = json!({
        "thinking": {"type": "adaptive", "display": "summarized"},
        "output_config": {"effort": "high"},
    });
    let sent = mock.chats();
    assert_eq!(sent[1].body["additionalModelRequestFields"], fields);
    let marked: Vec<bool> = sent.iter().map(|sent| sent.body.to_string().contains("cachePoint")).collect();
    assert_eq!(marked, [true, true, false]);
    assert_eq!(
        provider.take_notices(),
        ["far: the server does not support `prompt caching`; going on without it"]
    );
}

#[tokio::test]
async fn the_api_takes_any_history() {
    let mock = MockOpenAi::start().await.unwrap();
    mock.respond(|_| say("ok"));
    let provider = provider(&mock);
    for tools in [vec![tool("read")], Vec::new()] {
        for messages in odd_histories() {
            let request = ModelRequest { messages, tools: tools.clone(), ..ModelRequest::default() };
            all(&provider, request).await.unwrap();
            let body = &mock.chats().pop().unwrap().body;
            assert_eq!(body["toolConfig"].is_null(), tools.is_empty());
            let mut open: Vec<&Value> = Vec::new();
            for (at, message) in body["messages"].as_array().unwrap().iter().enumerate() {
                assert_eq!(message["role"], ["user", "assistant"][at % 2], "{body}");
                let blocks = message["content"].as_array().unwrap();
                assert!(!blocks.is_empty(), "{body}");
                let of = |name: &str| -> Vec<&Value> {
                    let named = blocks.iter().filter_map(|block| block.get(name));
                    named.map(|block| &block["toolUseId"]).collect()
                };
                assert_eq!(of("toolResult"), open, "{body}");
                open = of("toolUse");
            }
            assert!(open.is_empty() && body["messages"].as_array().unwrap().len() % 2 == 1, "{body}");
        }
    }
}

#[tokio::test]
async fn faults_before_the_first_token_are_tried_again_if_they_pass_and_told_after_it() {
    let mock = MockOpenAi::start().await.unwrap();
    let slow = "Too many requests, please wait before trying again.";
    mock.script([
        refusal(429, slow).header("retry-after", "0"),
        stream(vec![fault("throttlingException", slow)]),
        say("ok"),
    ]);
    assert_eq!(text(&provider(&mock)).await, "ok");
    mock.reply(stream(vec![fault("validationException", "The input is too long")]));
    assert_eq!(error(&provider(&mock)).await.to_string(), "far: the server reported: The input is too long");
    let mut late = words("half")[..2].to_vec();
    late.push(fault("modelStreamErrorException", "lost the model"));
    mock.reply(stream(late));
    let provider = provider(&mock);
    let mut answer = provider.stream(ask("hi")).await.unwrap();
    assert_eq!(answer.next().await, Some(Ok(ModelDelta::Text("half".to_owned()))));
    let told = answer.next().await.unwrap().unwrap_err().to_string();
    assert_eq!(told, "far: the server reported: lost the model");
    assert_eq!(mock.chats().len(), 5);
}

#[tokio::test]
async fn what_stays_is_told_in_the_servers_words() {
    let mock = MockOpenAi::start().await.unwrap();
    let table = [
        (
            refusal(400, "Input is too long for requested model."),
            "HTTP 400: Input is too long for requested model.",
        ),
        (
            refusal(404, "Could not resolve the foundation model"),
            "the foundation model (model eu.anthropic.claude-x-v1:0 at http",
        ),
        (
            refusal(403, "You don't have access to the model with the specified model ID."),
            "specified model ID.; check `aws_key_id`, `aws_secret` and `aws_region` or `aws_refresh_cmd`, and whether",
        ),
    ];
    for (at, (reply, expected)) in table.into_iter().enumerate() {
        mock.reply(reply);
        let told = error(&provider(&mock)).await.to_string();
        assert!(told.contains(expected), "{told}");
        assert_eq!(mock.chats().len(), at + 1);
    }
}

#[cfg(unix)]
#[tokio::test]
async fn keys_that_have_run_out_are_fetched_anew_once() {
    let mock = MockOpenAi::start().await.unwrap();
    let dir = tempfile::tempdir().unwrap();
    let script = dir.path().join("keys");
    let text_of = "#!/bin/sh\necho x >> \"$1\"\necho '{\"AccessKeyId\":\"NEW'$(wc -l < \"$1\" | tr -d ' ')'\",\"SecretAccessKey\":\"s\"}'\n";
    std::fs::write(&script, text_of).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    std::fs::set_permissions(&script, mode).unwrap();
    let command = format!("/bin/sh {} {}", script.display(), dir.path().join("n").display());
    let provider = with(&mock, |config| config.server.auth = Auth::Aws(Box::new(aws(Some(command)))));
    let expired = || refusal(403, "The security token included in the request is expired");
    mock.script([expired(), say("ok"), expired(), expired()]);
    assert_eq!(text(&provider).await, "ok");
    assert!(error(&provider).await.to_string().contains("is expired"));
    let used = mock.chats();
    let used: Vec<&str> =
        used.iter().filter_map(|sent| sent.headers["authorization"].split(['=', '/']).nth(1)).collect();
    assert_eq!(used, ["AKID", "NEW1", "NEW1", "NEW2"]);
}

#[tokio::test]
async fn tokens_arrive_before_the_answer_ends_and_what_breaks_off_is_told() {
    let mock = MockOpenAi::start().await.unwrap();
    let gate = Gate::default();
    mock.reply(say("now").gate(2, &gate));
    let patient = provider(&mock);
    let mut answer = patient.stream(ask("hi")).await.unwrap();
    assert_eq!(answer.next().await, Some(Ok(ModelDelta::Text("now".to_owned()))));
    drop(answer);
    mock.wait_for_connections(0).await;
    let once = with(&mock, |config| config.server.retries = 0);
    mock.reply(stream(words("half")[..2].to_vec()).cut());
    assert!(matches!(error(&once).await, ProviderError::Truncated { .. }));
    // A broken checksum.
    let mut broken = words("x").remove(1);
    let last = broken.len() - 1;
    broken[last] ^= 1;
    mock.reply(stream(vec![broken]));
    assert!(matches!(error(&once).await, ProviderError::Malformed { .. }));
}
