//! The same walk with the real providers: a thousand turns for each API, against a server that answers at random and
//! refuses whatever the strictest servers refuse. Every request has to be accepted.

use std::sync::{Arc, Mutex};

use serde_json::json;

use super::walk::Walk;
use crate::provider::{Effort, Provider, Thinking};
use crate::providers::anthropic::{Anthropic, AnthropicConfig};
use crate::providers::link::ServerConfig;
use crate::providers::mock_openai::{MockOpenAi, Reply};
use crate::providers::openai_chat::{OpenAiChat, OpenAiChatConfig};
use crate::providers::openai_responses::{OpenAiResponses, OpenAiResponsesConfig};
use crate::providers::stream_table::encode::{self, Step, Stop};
use crate::providers::stream_table::framing::{Dice, Event, plain};

/// Each turn looks back on all before it, so shorter sessions take much less time.
const SESSIONS: usize = 40;
const TURNS: usize = 25;

const TEXTS: &[&str] = &["words ", "more words\n", " \n", "那个🦀é", "<think>hm</think>", "and so on. "];
const ARGUMENTS: &[&str] =
    &[r#"{"n":1}"#, r#"{"n":2}"#, r#"{"n": "#, "", "[1]", "null", r#"{"bad":"\u0000"}"#];
const NAMES: &[&str] = &["look", "edit", "bomb", "no such tool", ""];

/// How many walks are made; `MILK_WALKS`, when the tests are compiled, makes it more.
fn walks() -> u64 {
    option_env!("MILK_WALKS").and_then(|walks| walks.parse().ok()).unwrap_or(1)
}

fn steps(dice: &mut Dice) -> Vec<Step> {
    let mut steps = Vec::new();
    if dice.chance(3) {
        steps.push(Step::Thought("thoughts"));
        if dice.chance(2) {
            steps.push(Step::Sign("proof"));
        }
    }
    for _ in 0..dice.roll(4) {
        steps.push(Step::Text(TEXTS[dice.roll(TEXTS.len())]));
    }
    let calls = dice.roll(4);
    for number in 0..calls as u64 {
        steps.push(Step::Call(number, NAMES[dice.roll(NAMES.len())]));
        steps.push(Step::Args(number, ARGUMENTS[dice.roll(ARGUMENTS.len())]));
    }
    let stop = match dice.roll(12) {
        0 => Stop::Length,
        1 => Stop::Refusal,
        2 => Stop::Said,
        _ if calls > 0 => Stop::Calls,
        _ => Stop::Said,
    };
    if dice.chance(12) {
        steps.push(Step::Error("api_error", "it broke"));
    } else {
        steps.push(Step::End(stop, dice.chance(2).then_some((9, 1, 5))));
    }
    steps
}

fn reply(dice: &mut Dice, encode: fn(&[Step]) -> Vec<Event>) -> Reply {
    let refusal = |status, message| Reply::error(status, &json!({"error": {"message": message}}));
    match dice.roll(24) {
        0 => return refusal(400, "maximum context length is 9 tokens"),
        1 => return refusal(500, "out of order"),
        _ => {}
    }
    let mut events = encode(&steps(dice));
    let is_cut = dice.chance(12);
    if is_cut {
        events.truncate(dice.roll(events.len()));
    }
    let reply = Reply::pieces([plain(&events)]);
    if is_cut { reply.cut() } else { reply }
}

/// Walks with the providers that `provider` makes of a way to the server.
async fn walk(
    encode: fn(&[Step]) -> Vec<Event>,
    provider: impl Fn(ServerConfig, &mut Dice) -> Arc<dyn Provider>,
) {
    for seed in 0..walks() {
        let mock = MockOpenAi::start().await.unwrap();
        mock.strict();
        mock.forget_requests();
        let dice = Mutex::new(Dice::new(seed));
        mock.respond(move |_| reply(&mut dice.lock().unwrap(), encode));
        let mut walk = Walk::new(seed);
        for _ in 0..SESSIONS {
            walk.begin();
            let server = ServerConfig { retries: 0, ..ServerConfig::new("a", mock.url()) };
            let provider = provider(server, &mut walk.dice);
            for n in 0..TURNS {
                walk.turn(n, Arc::clone(&provider)).await;
                assert_eq!(mock.broken_rules(), <[String; 0]>::default(), "seed {seed}, turn {n}");
            }
        }
        walk.went_to(&[
            "EndTurn",
            "MaxTokens",
            "MaxTurnRequests",
            "Refusal",
            "interrupted",
            "provider_reported",
            "provider_status",
            "provider_truncated",
        ]);
    }
}

fn window(dice: &mut Dice) -> u64 {
    1_000 * (1 + dice.roll(9)) as u64
}

#[tokio::test]
async fn every_chat_request_of_a_thousand_troubled_turns_is_accepted() {
    walk(encode::chat, |server, dice| {
        Arc::new(OpenAiChat::new(OpenAiChatConfig {
            context_window: Some(window(dice)),
            retries: server.retries,
            ..OpenAiChatConfig::new(server.agent, server.url)
        }))
    })
    .await;
}

#[tokio::test]
async fn every_messages_request_of_a_thousand_troubled_turns_is_accepted() {
    walk(encode::messages, |server, dice| {
        Arc::new(Anthropic::new(AnthropicConfig {
            context_window: Some(window(dice)),
            thinking: dice.chance(2).then_some(Thinking::Budget(2_000)),
            ..AnthropicConfig::new(server, "m")
        }))
    })
    .await;
}

#[tokio::test]
async fn every_responses_request_of_a_thousand_troubled_turns_is_accepted() {
    walk(encode::responses, |server, dice| {
        Arc::new(OpenAiResponses::new(OpenAiResponsesConfig {
            context_window: Some(window(dice)),
            thinking: dice.chance(2).then_some(Thinking::Effort(Effort::Low)),
            ..OpenAiResponsesConfig::new(server)
        }))
    })
    .await;
}
