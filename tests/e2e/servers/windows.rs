//! Windows: what the server has loaded counts, what it refuses is made room for once, and nothing is lost by it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use milk_tests::client::Client;
use milk_tests::mock_openai::{Reply, Request, event, finish_chunk};
use milk_tests::schema::Version;
use serde_json::{Value, json};

use super::{Scene, ask};

/// The fillings and sizes of the window that a client was told.
fn gauges(client: &mut Client) -> Vec<(u64, u64)> {
    let lines = client.take_unclaimed();
    let gauges = lines.iter().map(|line| &line["params"]["update"]);
    let gauges = gauges.filter(|update| update["sessionUpdate"] == "usage_update");
    let count = |value: &Value| value.as_u64().expect("a count");
    gauges.map(|gauge| (count(&gauge["used"]), count(&gauge["size"]))).collect()
}

#[tokio::test]
async fn the_window_that_is_served_is_told_and_the_last_count_is_what_is_used() {
    let scene = Scene::new("chat_completions").await;
    let page = |body: Value| Reply::error(200, &body);
    scene.mock.page(
        "/api/ps",
        page(json!({ "models": [{ "name": "m", "model": "m", "context_length": 16_384 }] })),
    );
    let counted = |prompt: u64, completion: u64| {
        json!({ "choices": [{ "index": 0, "delta": { "content": "a" } }],
            "usage": { "prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion } })
    };
    scene.mock.reply(Reply::chunks([
        json!({ "choices": [] }),
        json!({ "choices": null }),
        json!({}),
        json!({ "choices": [{ "index": 0 }] }),
        json!({ "choices": [{ "delta": null }] }),
        counted(10, 1),
        counted(10, 2),
        finish_chunk("stop"),
    ]));
    let (mut client, session) = scene.session(Version::V2).await;
    assert_eq!(ask(&mut client, &session, "hi").await, Ok("end_turn".to_owned()));
    assert_eq!(gauges(&mut client), [(12, 16_384)]);
    client.finish().await;
}

/// How servers say that a request is too long.
fn refusals() -> Vec<Reply> {
    let error = |error: Value| Reply::error(400, &json!({ "error": error }));
    vec![
        error(
            json!({ "code": 400, "type": "exceed_context_size_error", "n_prompt_tokens": 9_012, "n_ctx": 8_192,
            "message": "the request exceeds the available context size, try increasing it" }),
        ),
        error(
            json!({ "message": "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens." }),
        ),
        error(
            json!({ "message": "The number of tokens to keep from the initial prompt is greater than the context length" }),
        ),
        error(json!({ "message": "too many", "code": "context_length_exceeded" })),
        Reply::raw(413, "text/html", ["<h1>Payload Too Large</h1>"]),
        Reply::pieces([event(
            &json!({ "error": { "message": "Context size has been exceeded.", "code": 500 } }),
        )]),
    ]
}

/// Refuses what still has the first answer in full; a summary too, unless it `summarises`.
fn small(
    refusal: Reply,
    summarises: bool,
    is_full: Arc<AtomicBool>,
) -> impl Fn(&Request) -> Reply + Send + Sync {
    move |request| {
        let body = request.body["messages"].to_string();
        let is_summary = request.body.get("tools").is_none();
        if is_full.load(Ordering::Relaxed) && body.contains("answer 1 ") && !(is_summary && summarises) {
            return refusal.clone();
        }
        if is_summary {
            return Reply::say(&["in short: it began"]);
        }
        let turn = request.last_user_text();
        let text = format!("answer {turn} {}", "the parser reads the header first. ".repeat(60));
        Reply::say(&[&text])
    }
}

#[tokio::test]
async fn a_request_that_is_too_long_is_made_once_more_with_less_however_the_server_says_it() {
    for (at, refusal) in refusals().into_iter().enumerate() {
        for summarises in [true, false] {
            let version = if at % 2 == 0 { Version::V1 } else { Version::V2 };
            let scene = Scene::new("chat_completions").await;
            let is_full = Arc::new(AtomicBool::new(false));
            scene.mock.respond(small(refusal.clone(), summarises, Arc::clone(&is_full)));
            let (mut client, session) = scene.session(version).await;
            for turn in 1..=8 {
                ask(&mut client, &session, &turn.to_string()).await.expect("answered");
            }
            is_full.store(true, Ordering::Relaxed);
            let before = scene.mock.chats().len();
            assert_eq!(ask(&mut client, &session, "9").await, Ok("end_turn".to_owned()), "{refusal:?}");
            // The refusal, the summary or the refusal of that, and the second try.
            assert_eq!(scene.mock.chats().len() - before, 3, "{refusal:?}");
            ask(&mut client, &session, "10").await.expect("answered");
            assert_eq!(scene.mock.chats().len() - before, 4, "it is not made room for again: {refusal:?}");
            client.finish().await;
            let (_next, later) = scene.reopened(version, &session).await;
            let transcript = later.finish().await;
            assert!(transcript.contains("answer 1 "), "the whole conversation can be replayed");
        }
    }
}

#[tokio::test]
async fn a_last_turn_that_is_too_long_by_itself_is_told_and_leaves_the_session_usable() {
    for version in Version::BOTH {
        for refusal in refusals() {
            let scene = Scene::new("chat_completions").await;
            let refused = refusal.clone();
            scene.mock.respond(move |request| {
                if request.last_user_text().contains("xxxx") { refused.clone() } else { Reply::say(&["ok"]) }
            });
            let (mut client, session) = scene.session(version).await;
            ask(&mut client, &session, "hi").await.expect("answered");
            let before = scene.mock.chats().len();
            let error = ask(&mut client, &session, &"x".repeat(20_000)).await.expect_err("too long");
            assert!(error["message"].as_str().is_some_and(|words| words.starts_with("local: ")), "{error}");
            assert!(scene.mock.chats().len() - before <= 3, "{refusal:?}");
            client.finish().await;
        }
    }
}

#[tokio::test]
async fn a_window_smaller_than_the_instructions_is_one_clear_error() {
    for version in Version::BOTH {
        let scene = Scene::with("chat_completions", json!({ "context_window_tokens": 300 })).await;
        scene.mock.respond(|_| Reply::say(&["ok"]));
        let (mut client, session) = scene.session(version).await;
        for _ in 0..2 {
            let error = ask(&mut client, &session, "hi").await.expect_err("it cannot work");
            let told = error["message"].as_str().expect("words");
            assert!(
                told.contains("window of 300 tokens") && told.contains("`context_window_tokens`"),
                "{told}"
            );
        }
        client.finish().await;
        assert!(scene.mock.chats().is_empty(), "nothing is asked or summarised");
    }
}
