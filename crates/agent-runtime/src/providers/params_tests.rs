//! What an agent may be asked with (limits, sampling, how hard to think), in the words of each API.

use serde_json::{Value, json};

use super::anthropic::{Anthropic, AnthropicConfig};
use super::extras::Sampling;
use super::link::ServerConfig;
use super::mock_openai::{MockOpenAi, Reply};
use super::openai_chat::{OpenAiChat, OpenAiChatConfig};
use super::openai_responses::{OpenAiResponses, OpenAiResponsesConfig};
use super::stream_table::encode::{self, Step, Stop};
use super::stream_table::framing::{Event, plain};
use super::testing::{all, ask};
use crate::provider::{Effort, ModelRequest, Provider, Thinking};

const SAMPLING: Sampling = Sampling { temperature: Some(0.5), top_p: Some(0.9) };

/// A strict server that says a word to whoever asks.
async fn server(encode: fn(&[Step]) -> Vec<Event>) -> MockOpenAi {
    let mock = MockOpenAi::start().await.unwrap();
    mock.strict();
    mock.respond(move |_| Reply::pieces([plain(&encode(&[Step::Text("ok"), Step::End(Stop::Said, None)]))]));
    mock
}

fn refuse(mock: &MockOpenAi, message: &str) {
    mock.reply(Reply::error(400, &json!({"error": {"message": message}})));
}

/// The members of the last request's body, without the conversation.
async fn asked(mock: &MockOpenAi, provider: &dyn Provider, effort: Option<Effort>) -> Value {
    all(provider, ModelRequest { effort, ..ask("hi") }).await.unwrap();
    let mut body = mock.chats().last().unwrap().body.clone();
    for member in
        ["messages", "input", "system", "instructions", "stream", "stream_options", "store", "include"]
    {
        body.as_object_mut().unwrap().remove(member);
    }
    body
}

fn chat(mock: &MockOpenAi, thinking: Option<Thinking>) -> OpenAiChat {
    OpenAiChat::new(OpenAiChatConfig {
        sampling: SAMPLING,
        max_tokens: Some(500),
        thinking,
        ..OpenAiChatConfig::new("a", mock.url())
    })
}

#[tokio::test]
async fn a_chat_completions_server_is_told_limits_sampling_and_effort() {
    let mock = server(encode::chat).await;
    let usual = json!({"max_tokens": 500, "temperature": 0.5, "top_p": 0.9});
    let with = |effort: &str| {
        let mut body = usual.clone();
        body["reasoning_effort"] = json!(effort);
        body
    };
    assert_eq!(asked(&mock, &chat(&mock, None), None).await, usual);
    assert_eq!(asked(&mock, &chat(&mock, None), Some(Effort::High)).await, with("high"));
    let configured = chat(&mock, Some(Thinking::Effort(Effort::Low)));
    assert_eq!(asked(&mock, &configured, None).await, with("low"));
    assert_eq!(asked(&mock, &configured, Some(Effort::None)).await, with("none"));
    let budget = chat(&mock, Some(Thinking::Budget(10_000)));
    assert_eq!(asked(&mock, &budget, None).await, with("medium"));
}

#[tokio::test]
async fn a_limit_is_told_by_the_name_that_the_server_knows() {
    let mock = server(encode::chat).await;
    let provider = chat(&mock, None);
    let message = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    refuse(&mock, message);
    for _ in 0..2 {
        let body = asked(&mock, &provider, None).await;
        assert_eq!((&body["max_completion_tokens"], body.get("max_tokens")), (&json!(500), None));
    }
    assert_eq!(mock.chats().len(), 3);
    assert_eq!(provider.take_notices(), <[String; 0]>::default());
}

#[tokio::test]
async fn an_effort_that_a_model_does_not_have_is_left_out_and_the_others_stay() {
    for (mock, provider, message, member) in [
        {
            let mock = server(encode::chat).await;
            let provider: Box<dyn Provider> = Box::new(chat(&mock, None));
            (
                mock,
                provider,
                "Unsupported value: 'reasoning_effort' does not support 'none' with this model.",
                "reasoning_effort",
            )
        },
        {
            let mock = server(encode::responses).await;
            let server = ServerConfig::new("a", mock.url());
            let provider: Box<dyn Provider> =
                Box::new(OpenAiResponses::new(OpenAiResponsesConfig::new(server)));
            (
                mock,
                provider,
                "Unsupported value: 'reasoning.effort' does not support 'none' with this model.",
                "reasoning",
            )
        },
    ] {
        refuse(&mock, message);
        assert_eq!(asked(&mock, &*provider, Some(Effort::None)).await.get(member), None);
        assert_eq!(asked(&mock, &*provider, Some(Effort::None)).await.get(member), None);
        assert_eq!(mock.chats().len(), 3, "{member}");
        let notice = format!("a: the server does not support `{member}=none`; going on without it");
        assert_eq!(provider.take_notices(), [notice]);
        assert!(asked(&mock, &*provider, Some(Effort::High)).await.get(member).is_some());
    }
}

#[tokio::test]
async fn a_messages_server_is_told_how_many_tokens_may_be_thought() {
    let mock = server(encode::messages).await;
    let with = |thinking| {
        let server = ServerConfig::new("a", mock.url());
        Anthropic::new(AnthropicConfig {
            sampling: SAMPLING,
            max_tokens: 5_000,
            thinking,
            ..AnthropicConfig::new(server, "m")
        })
    };
    let usual = json!({"model": "m", "max_tokens": 5_000, "temperature": 0.5, "top_p": 0.9});
    let thinks = |most: u64, budget: u64| json!({"model": "m", "max_tokens": most, "thinking": {"type": "enabled", "budget_tokens": budget}});
    assert_eq!(asked(&mock, &with(None), None).await, usual);
    assert_eq!(asked(&mock, &with(None), Some(Effort::Low)).await, thinks(5_120, 4_096));
    let configured = with(Some(Thinking::Budget(2_000)));
    assert_eq!(asked(&mock, &configured, None).await, thinks(5_000, 2_000));
    let mut quiet = usual.clone();
    quiet["thinking"] = json!({"type": "disabled"});
    assert_eq!(asked(&mock, &configured, Some(Effort::None)).await, quiet);
    assert_eq!(asked(&mock, &with(Some(Thinking::Budget(5))), None).await, thinks(5_000, 1_024));
    // What the model allows is learned, and shared between reasoning and answer.
    refuse(&mock, "max_tokens: 21504 > 8192, which is the maximum allowed number of output tokens for m");
    assert_eq!(asked(&mock, &configured, Some(Effort::High)).await, thinks(8_192, 7_168));
    assert_eq!(asked(&mock, &configured, None).await, thinks(5_000, 2_000));
}

#[tokio::test]
async fn a_responses_server_is_told_limits_sampling_and_effort() {
    let mock = server(encode::responses).await;
    let server = ServerConfig::new("a", mock.url());
    let provider = OpenAiResponses::new(OpenAiResponsesConfig {
        sampling: SAMPLING,
        max_tokens: Some(500),
        ..OpenAiResponsesConfig::new(server)
    });
    let usual = json!({"max_output_tokens": 500, "temperature": 0.5, "top_p": 0.9});
    assert_eq!(asked(&mock, &provider, None).await, usual);
    let high = asked(&mock, &provider, Some(Effort::High)).await;
    assert_eq!(high["reasoning"], json!({"effort": "high", "summary": "auto"}));
    let none = asked(&mock, &provider, Some(Effort::None)).await;
    assert_eq!(none["reasoning"], json!({"effort": "none"}));
}
