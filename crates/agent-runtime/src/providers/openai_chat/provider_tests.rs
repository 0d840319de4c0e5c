//! The provider against a scripted server.

use std::time::Duration;

use futures::StreamExt;
use insta::{assert_json_snapshot, assert_snapshot};
use serde_json::{Value, json};
use session_model::{Content, EmbeddedResource, ResourceBody, ResourceLink};

use super::*;
use crate::provider::{FinishReason, ModelDelta, ModelMessage};
use crate::providers::auth::Secret;
use crate::providers::mock_openai::{
    DONE, Gate, MockOpenAi, Reply, call_chunk, event, finish_chunk, text_chunk,
};
use crate::providers::testing::{all, ask, call, odd_histories, result, said, tool, user};

fn provider(mock: &MockOpenAi) -> OpenAiChat {
    OpenAiChat::new(OpenAiChatConfig::new("local", mock.url()))
}

fn with(mock: &MockOpenAi, change: impl FnOnce(&mut OpenAiChatConfig)) -> OpenAiChat {
    let mut config = OpenAiChatConfig::new("local", mock.url());
    change(&mut config);
    OpenAiChat::new(config)
}

/// The whole text of an answer that ends well.
async fn text(provider: &OpenAiChat) -> String {
    let deltas = all(provider, ask("hi")).await.unwrap();
    assert!(matches!(deltas.last(), Some(ModelDelta::Finish(FinishReason::Stop))), "{deltas:?}");
    let texts = deltas.iter().filter_map(|delta| match delta {
        ModelDelta::Text(text) => Some(text.as_str()),
        ModelDelta::Thought(_)
        | ModelDelta::Call(_)
        | ModelDelta::CutCall(_)
        | ModelDelta::Kept(_)
        | ModelDelta::Usage(_)
        | ModelDelta::Finish(_) => None,
    });
    texts.collect()
}

async fn error(provider: &OpenAiChat) -> ProviderError {
    all(provider, ask("hi")).await.unwrap_err()
}

#[tokio::test]
async fn a_request_is_worded_as_servers_take_it() {
    let mock = MockOpenAi::start().await.unwrap();
    mock.reply(Reply::say(&["ok"]));
    let provider = with(&mock, |config| {
        config.model = Some("m".to_owned());
        config.sampling.temperature = Some(0.2);
        config.headers.insert("X-Title".to_owned(), "milk".to_owned());
        config.auth = Auth::Key(Secret::new("sk-1\n"));
        config.extra.insert("seed".to_owned(), json!(7));
        config.extra.insert("stream".to_owned(), json!(false));
    });
    let resource = EmbeddedResource {
        uri: "file:///b".to_owned(),
        mime_type: None,
        body: ResourceBody::Text("bee".to_owned()),
    };
    let link = ResourceLink { uri: "file:///c".to_owned(), name: "c".to_owned(), ..ResourceLink::default() };
    let image = Content::Image { data: "AAAA".to_owned(), mime_type: "image/png".to_owned(), uri: None };
    let sound = Content::Audio { data: "AAAA".to_owned(), mime_type: "audio/wav".to_owned() };
    let mut request = ask("look");
    request.messages.push(said("I read.", vec![call("x", "read", r#"{"path":"a"}"#)]));
    request.messages.push(result("x", "contents"));
    let content = vec![Content::text("see"), image, sound, Content::Resource(resource), Content::Link(link)];
    request.messages.push(ModelMessage::User(content));
    request.tools.push(tool("read"));
    all(&provider, request).await.unwrap();
    let sent = &mock.chats()[0];
    assert_eq!(sent.path, "/v1/chat/completions");
    assert_eq!(sent.headers["authorization"], "Bearer sk-1");
    assert_eq!(sent.headers["x-title"], "milk");
    assert_snapshot!(sent.body, @r#"
    {"model":"m","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"look"},{"role":"assistant","content":"I read.","tool_calls":[{"id":"call00001","type":"function","function":{"name":"read","arguments":"{\"path\":\"a\"}"}}]},{"role":"tool","tool_call_id":"call00001","content":"contents"},{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},{"type":"text","text":"\n[a sound of type audio/wav, which this model cannot hear]\n"},{"type":"text","text":"\n<resource uri=\"file:///b\">\nbee\n</resource>\n"},{"type":"text","text":"\n[resource c at /c]\n"}]}],"tools":[{"type":"function","function":{"name":"read","description":"The tool read.","parameters":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}}],"stream":true,"stream_options":{"include_usage":true},"temperature":0.2,"seed":7}
    "#);
}

#[tokio::test]
async fn sounds_are_sent_to_a_model_that_hears_until_its_server_refuses_them() {
    let mock = MockOpenAi::start().await.unwrap();
    mock.script([
        Reply::say(&["one"]),
        Reply::error(400, &json!({"error": {"message": "input_audio is not supported by this model"}})),
        Reply::say(&["two"]),
        Reply::say(&["three"]),
    ]);
    let sound = |kind: &str| Content::Audio { data: "AAAA".to_owned(), mime_type: kind.to_owned() };
    let content =
        vec![Content::text("hear"), sound("audio/x-wav; rate=8000"), sound("AUDIO/MPEG"), sound("audio/ogg")];
    let request = ModelRequest { messages: vec![ModelMessage::User(content)], ..ModelRequest::default() };
    let hears = with(&mock, |config| config.hears = true);
    assert!(hears.hears("audio/mpeg") && !hears.hears("audio/ogg"));
    all(&hears, request.clone()).await.unwrap();
    all(&hears, request.clone()).await.unwrap();
    assert_eq!(hears.take_notices(), ["local: the server does not support `sounds`; going on without it"]);
    assert!(!hears.hears("audio/mpeg"));
    all(&provider(&mock), request).await.unwrap();
    let sent = mock.chats();
    assert_json_snapshot!(sent[0].body["messages"][0]["content"], @r#"
    [
      {
        "type": "text",
        "text": "hear"
      },
      {
        "type": "text",
        "text": "\n[a sound of type audio/x-wav; rate=8000, no transcript, follows]\n"
      },
      {
        "type": "input_audio",
        "input_audio": {
          "data": "AAAA",
          "format": "wav"
        }
      },
      {
        "type": "text",
        "text": "\n[a sound of type AUDIO/MPEG, no transcript, follows]\n"
      },
      {
        "type": "input_audio",
        "input_audio": {
          "data": "AAAA",
          "format": "mp3"
        }
      },
      {
        "type": "text",
        "text": "\n[a sound of type audio/ogg, which this model cannot hear]\n"
      }
    ]
    "#);
    let told = "hear\n[a sound of type audio/x-wav; rate=8000, which this model cannot hear]\n\n[a sound of type AUDIO/MPEG, \
                which this model cannot hear]\n\n[a sound of type audio/ogg, which this model cannot hear]\n";
    for asked in &sent[2..] {
        assert_eq!(asked.body["messages"][0]["content"], told);
    }
}

#[tokio::test]
async fn what_is_not_set_is_not_sent() {
    let mock = MockOpenAi::start().await.unwrap();
    mock.reply(Reply::say(&["ok"]));
    let provider = with(&mock, |config| config.auth = Auth::Key(Secret::new(" ")));
    text(&provider).await;
    let sent = &mock.chats()[0];
    assert!(!sent.headers.contains_key("authorization"));
    let members: Vec<&String> = sent.body.as_object().unwrap().keys().collect();
    assert_eq!(members, ["messages", "stream", "stream_options"]);
}

#[tokio::test]
async fn strict_servers_take_any_history() {
    let mock = MockOpenAi::start().await.unwrap();
    mock.strict();
    mock.respond(|_| Reply::say(&["ok"]));
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
async fn results_go_to_their_calls_and_invalid_arguments_stay_at_home() {
    let mock = MockOpenAi::start().await.unwrap();
    mock.reply(Reply::say(&["ok"]));
    let messages = vec![
        ModelMessage::User(vec![Content::text("a")]),
        said("", vec![call("x", "read", "{bad"), call("y", "read", r#"{"path":"b"}"#)]),
        result("y", "of y"),
        result("x", "of x"),
    ];
    let request = ModelRequest {
        system: String::new(),
        messages,
        tools: vec![tool("read")],
        ..ModelRequest::default()
    };
    all(&provider(&mock), request).await.unwrap();
    assert_json_snapshot!(mock.chats()[0].body["messages"], @r#"
    [
      {
        "role": "user",
        "content": "a"
      },
      {
        "role": "assistant",
        "content": "",
        "tool_calls": [
          {
            "id": "call00001",
            "type": "function",
            "function": {
              "name": "read",
              "arguments": "{}"
            }
          },
          {
            "id": "call00002",
            "type": "function",
            "function": {
              "name": "read",
              "arguments": "{\"path\":\"b\"}"
            }
          }
        ]
      },
      {
        "role": "tool",
        "tool_call_id": "call00001",
        "content": "of x"
      },
      {
        "role": "tool",
        "tool_call_id": "call00002",
        "content": "of y"
      }
    ]
    "#);
}

#[tokio::test]
async fn tokens_arrive_before_the_answer_ends() {
    let mock = MockOpenAi::start().await.unwrap();
    let gate = Gate::default();
    mock.reply(Reply::say(&["Hel", "lo"]).gate(1, &gate));
    let mut stream = provider(&mock).stream(ask("hi")).await.unwrap();
    assert_eq!(stream.next().await, Some(Ok(ModelDelta::Text("Hel".to_owned()))));
    gate.open();
    let rest: Vec<_> = stream.map(Result::unwrap).collect().await;
    assert!(matches!(rest.last(), Some(ModelDelta::Finish(FinishReason::Stop))), "{rest:?}");
}

#[tokio::test]
async fn call_ids_are_ours_and_unique_among_answers() {
    let mock = MockOpenAi::start().await.unwrap();
    let provider = provider(&mock);
    let mut ids = Vec::new();
    for _ in 0..3 {
        mock.reply(Reply::call("read", &json!({"path": "a"})));
        for delta in all(&provider, ask("hi")).await.unwrap() {
            if let ModelDelta::Call(call) = delta {
                ids.push(call.id);
            }
        }
    }
    assert_eq!(ids, ["call_1", "call_2", "call_3"]);
}

#[tokio::test]
async fn sockets_left_open_do_not_hold_the_answer() {
    let mock = MockOpenAi::start().await.unwrap();
    let stop = event(&finish_chunk("stop"));
    let hi = event(&text_chunk("hi"));
    mock.reply(Reply::pieces([hi.as_str(), &stop, DONE]).held_open());
    mock.reply(Reply::pieces([hi.as_str(), &stop]).held_open());
    let provider = provider(&mock);
    for _ in 0..2 {
        assert_eq!(text(&provider).await, "hi");
    }
    mock.wait_for_connections(0).await;
}

#[tokio::test]
async fn a_connection_serves_again() {
    let mock = MockOpenAi::start().await.unwrap();
    mock.respond(|_| Reply::say(&["ok"]));
    let provider = provider(&mock);
    for _ in 0..3 {
        text(&provider).await;
    }
    assert_eq!(mock.connections_so_far(), 1);
}

#[tokio::test]
async fn dropping_the_stream_or_the_request_closes_the_connection() {
    let mock = MockOpenAi::start().await.unwrap();
    let gate = Gate::default();
    let provider = provider(&mock);
    mock.reply(Reply::say(&["a", "b"]).gate(1, &gate));
    let mut stream = provider.stream(ask("hi")).await.unwrap();
    assert!(stream.next().await.is_some());
    drop(stream);
    mock.wait_for_connections(0).await;
    mock.reply(Reply::say(&["a"]).gate(0, &gate));
    let mut request = provider.stream(ask("hi"));
    tokio::select! {
        _ = &mut request => panic!("the reply is held back"),
        () = mock.wait_for_requests(2) => {}
    }
    drop(request);
    mock.wait_for_connections(0).await;
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named_without_credentials() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let free = format!("http://127.0.0.1:{port}");
    let url = free.replace("http://", "http://user:hunter2@");
    let error = error(&OpenAiChat::new(OpenAiChatConfig::new("local", url))).await;
    let told = error.to_string();
    assert_eq!(error.code(), "provider_unreachable", "{told}");
    assert!(told.contains(&free) && told.contains("refused") && !told.contains("hunter2"), "{told}");
}

#[tokio::test]
async fn refusals_are_told_in_the_server_s_words() {
    let table: [(Reply, &str); 7] = [
        (
            Reply::error(400, &json!({"error": {"message": "no such thing", "code": "x"}})),
            "HTTP 400: no such thing",
        ),
        (
            Reply::error(422, &json!({"detail": [{"loc": ["body"], "msg": "field required"}]})),
            "HTTP 422: field required",
        ),
        (
            Reply::error(404, &json!({"error": "model \"x\" not found"})),
            "HTTP 404: model \"x\" not found (at http",
        ),
        (Reply::raw(413, "text/plain", ["too\nlarge"]), "HTTP 413: too large"),
        (
            Reply::raw(418, "text/html", ["<html><style>x{}</style><body><h1>Tea</h1>pot</body></html>"]),
            "HTTP 418: Tea pot",
        ),
        (
            Reply::raw(307, "text/plain", [""]).header("location", "/elsewhere?k=1"),
            "/elsewhere; set the agent's",
        ),
        (Reply::raw(409, "text/plain", [""]), "HTTP 409: no further description"),
    ];
    for (reply, expected) in table {
        let mock = MockOpenAi::start().await.unwrap();
        mock.reply(reply);
        let told = error(&provider(&mock)).await.to_string();
        assert!(told.contains(expected), "{told}");
        assert_eq!(mock.chats().len(), 1, "asked again after {told}");
    }
}

#[tokio::test]
async fn long_refusals_are_cut() {
    let mock = MockOpenAi::start().await.unwrap();
    mock.reply(Reply::raw(400, "text/plain", ["x".repeat(200_000)]));
    assert!(error(&provider(&mock)).await.to_string().len() < 1000);
}

#[tokio::test]
async fn what_passes_is_tried_again_before_the_first_token() {
    let busy = || Reply::error(429, &json!({"error": {"message": "slow down"}})).header("retry-after", "0");
    let unavailable = || Reply::raw(503, "text/plain", ["busy"]).header("retry-after", "0");
    let in_stream = Reply::pieces([event(&json!({"error": {"message": "overloaded", "code": 503}}))]);
    let headers_only = Reply::pieces::<&str>([]);
    let cut = Reply::pieces([": hello\n\n"]).cut();
    for first in [busy(), unavailable(), in_stream, headers_only, cut] {
        let mock = MockOpenAi::start().await.unwrap();
        mock.script([first, Reply::say(&["ok"])]);
        assert_eq!(text(&provider(&mock)).await, "ok");
        assert_eq!(mock.chats().len(), 2);
    }
    let mock = MockOpenAi::start().await.unwrap();
    mock.respond(move |_| unavailable());
    let told = error(&provider(&mock)).await.to_string();
    assert!(told.starts_with("local: the server answered HTTP 503: busy (at http"), "{told}");
    assert_eq!(mock.chats().len(), 3);
}

#[tokio::test]
async fn what_stays_is_not_tried_again() {
    for reply in [
        Reply::error(
            429,
            &json!({"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}),
        ),
        Reply::error(500, &json!({"error": {"message": "model name=x failed to load"}})),
        Reply::error(429, &json!({"error": {"message": "come back"}})).header("retry-after", "3600"),
    ] {
        let mock = MockOpenAi::start().await.unwrap();
        mock.reply(reply);
        assert_eq!(error(&provider(&mock)).await.code(), "provider_status");
        assert_eq!(mock.chats().len(), 1);
    }
}

#[tokio::test]
async fn nothing_is_tried_again_after_a_token() {
    let mock = MockOpenAi::start().await.unwrap();
    mock.script([Reply::pieces([event(&text_chunk("half"))]).cut(), Reply::say(&["never"])]);
    let mut stream = provider(&mock).stream(ask("hi")).await.unwrap();
    assert_eq!(stream.next().await, Some(Ok(ModelDelta::Text("half".to_owned()))));
    let broken = stream.next().await.unwrap().unwrap_err();
    assert_eq!(broken.code(), "provider_truncated", "{broken}");
    assert_eq!(stream.next().await, None);
    assert_eq!(mock.chats().len(), 1);
}

#[tokio::test]
async fn refused_credentials_are_told_without_them() {
    let mock = MockOpenAi::start().await.unwrap();
    mock.reply(Reply::error(401, &json!({"error": {"message": "Incorrect API key provided: sk-secret"}})));
    let provider = with(&mock, |config| config.auth = Auth::Key(Secret::new("sk-secret")));
    let error = error(&provider).await;
    assert!(matches!(error, ProviderError::Unauthorized { status: 401, .. }), "{error}");
    assert!(!error.to_string().contains("secret"));
    assert!(!format!("{provider:?}").contains("sk-secret"));
    assert_eq!(mock.chats().len(), 1);
}

#[cfg(unix)]
#[tokio::test]
async fn a_refused_token_is_fetched_anew_once() {
    let dir = tempfile::tempdir().unwrap();
    let count = dir.path().join("n");
    let command = format!("echo x >> {0}; echo token$(grep -c x {0})", count.display());
    let mock = MockOpenAi::start().await.unwrap();
    let refusal = || Reply::error(401, &json!({"error": "expired"}));
    mock.script([refusal(), Reply::say(&["ok"]), refusal(), refusal()]);
    let provider = with(&mock, |config| config.auth = Auth::Command(command));
    assert_eq!(text(&provider).await, "ok");
    assert_eq!(error(&provider).await.code(), "provider_unauthorized");
    let tokens: Vec<String> =
        mock.chats().iter().map(|request| request.headers["authorization"].clone()).collect();
    assert_eq!(tokens, ["Bearer token1", "Bearer token2", "Bearer token2", "Bearer token3"]);
}

#[tokio::test]
async fn refused_options_are_left_out_from_then_on_and_told_once() {
    let mock = MockOpenAi::start().await.unwrap();
    mock.respond(|request| {
        let refuse = |message: &str| Reply::error(400, &json!({"error": {"message": message}}));
        if request.body.get("tools").is_some() {
            refuse("registry/x does not support tools")
        } else if request.body.get("stream_options").is_some() {
            refuse("Unrecognized request argument supplied: stream_options")
        } else {
            Reply::say(&["ok"])
        }
    });
    let provider = provider(&mock);
    let mut request = ask("hi");
    request.tools.push(tool("read"));
    request.messages.push(said("", vec![call("x", "read", r#"{"path":"a"}"#)]));
    request.messages.push(result("x", "contents"));
    for expected in [3, 4] {
        all(&provider, request.clone()).await.unwrap();
        assert_eq!(mock.chats().len(), expected);
    }
    assert_eq!(
        provider.take_notices(),
        [
            "local: the server does not support `tools`; going on without it",
            "local: the server does not support `stream_options`; going on without it",
        ]
    );
    assert!(provider.take_notices().is_empty());
    assert_json_snapshot!(mock.chats()[3].body["messages"], @r#"
    [
      {
        "role": "system",
        "content": "Be brief."
      },
      {
        "role": "user",
        "content": "hi"
      },
      {
        "role": "assistant",
        "content": "(called read with {\"path\":\"a\"})"
      },
      {
        "role": "user",
        "content": "(result of read) contents"
      }
    ]
    "#);
}

#[tokio::test]
async fn silence_that_lasts_is_an_error() {
    let mock = MockOpenAi::start().await.unwrap();
    mock.reply(Reply::pieces(["data: "]).held_open());
    mock.reply(Reply::pieces([event(&text_chunk("half")), "data: ".to_owned()]).held_open());
    let provider = with(&mock, |config| config.idle_timeout = Duration::from_millis(50));
    assert_eq!(error(&provider).await.code(), "provider_timed_out");
    let mut stream = provider.stream(ask("hi")).await.unwrap();
    assert!(matches!(stream.next().await, Some(Ok(ModelDelta::Text(_)))));
    assert!(matches!(stream.next().await, Some(Err(ProviderError::TimedOut { .. }))));
    assert_eq!(stream.next().await, None);
    mock.wait_for_connections(0).await;
}

#[tokio::test]
async fn wrong_configuration_says_what_to_correct() {
    let misconfigured = |change: &dyn Fn(&mut OpenAiChatConfig)| {
        let mut config = OpenAiChatConfig::new("local", "http://127.0.0.1:1");
        change(&mut config);
        OpenAiChat::new(config)
    };
    let table: [(OpenAiChat, &str); 4] = [
        (misconfigured(&|config| config.url.clear()), "local: no `url` is set"),
        (misconfigured(&|config| config.url = "ftp://h".to_owned()), "must be http"),
        (misconfigured(&|config| config.auth = Auth::Key(Secret::new("a\u{7}b"))), "no header can"),
        (
            misconfigured(&|config| drop(config.headers.insert("X-\u{7}".to_owned(), "v".to_owned()))),
            "is not usable",
        ),
    ];
    for (provider, expected) in table {
        let error = error(&provider).await;
        assert_eq!(error.code(), "provider_misconfigured");
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[tokio::test]
async fn calls_cut_off_by_a_broken_connection_are_never_handed_out() {
    let mock = MockOpenAi::start().await.unwrap();
    let call = event(&call_chunk(0, "a", "read", r#"{"path":"a"}"#));
    mock.reply(Reply::pieces([event(&text_chunk("x")), call]).cut());
    let stream = provider(&mock).stream(ask("hi")).await.unwrap();
    let deltas: Vec<_> = stream.collect().await;
    let kinds: Vec<String> = deltas.iter().map(|delta| format!("{delta:?}")).collect();
    assert!(kinds.iter().all(|kind| !kind.contains("Call(")), "{kinds:?}");
    assert_snapshot!(deltas.len(), @"2");
    assert_eq!(mock.chats()[0].body["messages"][1]["content"], Value::from("hi"));
}

#[tokio::test]
async fn a_server_that_wants_the_reasoning_back_gets_it_and_no_other_does() {
    let mock = MockOpenAi::start().await.unwrap();
    mock.respond(|request| {
        let messages = request.body["messages"].as_array().unwrap();
        let lacks =
            |message: &Value| message["role"] == "assistant" && message["reasoning_content"].is_null();
        if messages.iter().any(lacks) {
            let words = "The reasoning_content in the thinking mode must be passed back to the API.";
            return Reply::error(400, &json!({"error": {"message": words}}));
        }
        let thought = json!({"choices": [{"index": 0, "delta": {"reasoning_content": "hm"}}]});
        Reply::chunks([thought, call_chunk(0, "a", "read", "{}"), finish_chunk("tool_calls")])
    });
    let provider = provider(&mock);
    let mut messages = vec![user("a"), said("", vec![call("x", "read", "{}")]), result("x", "1")];
    let request = |messages: &[ModelMessage]| ModelRequest {
        system: String::new(),
        messages: messages.to_vec(),
        tools: vec![tool("read")],
        ..ModelRequest::default()
    };
    all(&provider, request(&messages)).await.unwrap();
    let (calls, kept) = (vec![call("y", "read", "{}")], Vec::new());
    messages.push(ModelMessage::Assistant { text: String::new(), calls, kept, reasoning: "hm".to_owned() });
    messages.push(result("y", "2"));
    all(&provider, request(&messages)).await.unwrap();
    assert_eq!(mock.chats().len(), 3, "it is learned once");
    let last = &mock.chats()[2].body["messages"];
    assert_eq!((&last[1]["reasoning_content"], &last[3]["reasoning_content"]), (&json!(" "), &json!("hm")));
    assert!(mock.chats()[0].body["messages"][1].get("reasoning_content").is_none());
    assert!(provider.take_notices().is_empty());
}
