//! A model is asked which agent a prompt is for; what that took counts.

use std::sync::Arc;

use milk_acp::settings::{ConfiguredDrivers, HttpDetector, Loader};
use milk_tests::mock_openai::{MockOpenAi, Reply, finish_chunk, text_chunk, usage_chunk};
use milk_tests::rig::Rig;
use milk_tests::schema::Version;
use serde_json::json;
use session_model::source::SequentialIds;

fn says(text: &str, input: u64, output: u64) -> Reply {
    Reply::chunks([text_chunk(text), finish_chunk("stop"), usage_chunk(input, output)])
}

#[tokio::test]
async fn the_tokens_of_the_classifier_count_for_the_turn_and_the_session() {
    let mock = MockOpenAi::start().await.expect("started");
    mock.page("/props", Reply::error(404, &json!({})));
    mock.respond(|request| {
        let asked = request.last_user_text().contains("Answer with one word");
        if asked { says("primary", 100, 1) } else { says("Done.", 30, 7) }
    });
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("config.json");
    let agent =
        |name: &str| json!({"name": name, "url": mock.url(), "model": "m", "context_window_tokens": 8000});
    let config = json!({
        "agents": [agent("small"), agent("big")],
        "agent": "small",
        "escalation_agent": "big",
        "rules": {"classifier": true, "local_below_tokens": 0},
    });
    std::fs::write(&file, config.to_string()).expect("written");
    let drivers = ConfiguredDrivers::new(
        Loader::new(Some(file), false, None),
        Arc::new(|_: &str| None),
        Arc::new(HttpDetector::new(Vec::new())),
        Arc::<SequentialIds>::default(),
    );
    let rig = Rig::served_by(Arc::new(drivers));
    let (mut client, session) = rig.session(Version::V1).await;
    let prompt = client.prompt(&session, "the button").await;
    let result = client.response(&prompt).await.expect("answered");
    assert_eq!(mock.chats().len(), 2);
    assert_eq!(result["usage"]["totalTokens"], 138, "{result}");
    client.take_text("agent_message_chunk");
    let prompt = client.prompt(&session, "/usage").await;
    client.response(&prompt).await.expect("answered");
    client.settle().await;
    let usage = client.take_text("agent_message_chunk");
    assert!(usage.contains("130"), "{usage}");
    let log = client.finish().await;
    assert!(log.contains(r#""conclusive":false"#), "the rules came to no conclusion");
}
