//! Windows: what the server has loaded counts, not what the model was trained with.

use milk_tests::mock_openai::Reply;
use milk_tests::schema::Version;
use serde_json::json;

use super::{Scene, ask};

/// The sizes and fillings of the window that a client was told, last first.
fn gauges(client: &mut milk_tests::client::Client) -> Vec<(u64, u64)> {
    let lines = client.take_unclaimed();
    let gauges = lines.iter().rev().map(|line| &line["params"]["update"]);
    let gauges = gauges.filter(|update| update["sessionUpdate"] == "usage_update");
    gauges
        .map(|gauge| (gauge["used"].as_u64().expect("a count"), gauge["size"].as_u64().expect("a count")))
        .collect()
}

#[tokio::test]
async fn the_window_that_is_served_is_told_and_the_last_count_is_what_is_used() {
    let scene = Scene::new("chat_completions").await;
    let page = |body: serde_json::Value| Reply::error(200, &body);
    scene
        .mock
        .page("/api/ps", page(json!({ "models": [{ "name": "m", "model": "m", "context_length": 4_096 }] })));
    let counted = |prompt: u64, completion: u64| {
        json!({ "choices": [{ "index": 0, "delta": { "content": "a" } }],
            "usage": { "prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion } })
    };
    let stop = milk_tests::mock_openai::finish_chunk("stop");
    scene.mock.reply(Reply::chunks([
        json!({ "choices": [] }),
        json!({ "choices": null }),
        json!({}),
        json!({ "choices": [{ "index": 0 }] }),
        json!({ "choices": [{ "delta": null }] }),
        counted(10, 1),
        counted(10, 2),
        stop,
    ]));
    let (mut client, session) = scene.session(Version::V2).await;
    assert_eq!(ask(&mut client, &session, "hi").await, Ok("end_turn".to_owned()));
    assert_eq!(gauges(&mut client), [(12, 4_096)]);
    client.finish().await;
}
