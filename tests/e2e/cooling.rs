//! An agent that fails slowly is left alone for a while; one that fails at once is tried each time.

use std::time::Duration;

use agent_runtime::provider::ProviderError;
use agent_runtime::scripted::Line;
use milk_tests::client::Client;
use milk_tests::rig::Rig;
use milk_tests::schema::Version;
use tokio::time::Instant;

/// Fails after a while.
fn fails(after: Duration) -> Vec<Line> {
    let (url, reason) = ("http://127.0.0.1:1".to_owned(), "no answer".to_owned());
    let error = ProviderError::Unreachable { agent: "small".to_owned(), url, reason };
    vec![Line::Pause(after), Line::Fail(error)]
}

fn say(text: &str) -> Vec<Line> {
    vec![Line::say(text)]
}

/// What was answered, how many warnings came, and how long it took.
async fn ask(client: &mut Client, session: &str, prompt: &str) -> (String, usize, Duration) {
    let since = Instant::now();
    let id = client.prompt(session, prompt).await;
    client.response(&id).await.expect("answered");
    let took = since.elapsed();
    client.settle().await;
    let said = client.take_text("agent_message_chunk");
    // Without the line that says who answers.
    let said = said[said.len() - 2..].to_owned();
    let notices = client.take_unclaimed();
    let warned = |line: &&serde_json::Value| line.to_string().contains("answers instead");
    (said, notices.iter().filter(warned).count(), took)
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_failed_slowly_is_not_waited_for_again_within_a_minute() {
    let slow = Duration::from_secs(30);
    let small = vec![fails(slow), fails(slow), say("s3")];
    let rig = Rig::pair(small, vec![say("b1"), say("b2"), say("b3")], |mut routing| {
        routing.sticky = false;
        routing
    });
    let (mut client, session) = rig.session(Version::V2).await;
    assert_eq!(ask(&mut client, &session, "one").await, ("b1".to_owned(), 1, slow));
    assert_eq!(
        ask(&mut client, &session, "two").await,
        ("b2".to_owned(), 0, Duration::ZERO),
        "it cools down"
    );
    tokio::time::advance(Duration::from_secs(61)).await;
    assert_eq!(ask(&mut client, &session, "three").await, ("b3".to_owned(), 0, slow), "told once");
    tokio::time::advance(Duration::from_secs(61)).await;
    assert_eq!(ask(&mut client, &session, "four").await.0, "s3");
    client.finish().await;
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_is_asked_for_is_asked_whatever_happened_before() {
    let slow = Duration::from_secs(30);
    let rig = Rig::pair(vec![fails(slow), say("s2")], vec![say("b1")], |routing| routing);
    let (mut client, session) = rig.session(Version::V2).await;
    ask(&mut client, &session, "one").await;
    assert_eq!(ask(&mut client, &session, "/primary two").await.0, "s2");
    client.finish().await;
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_failed_at_once_is_tried_again_at_once() {
    let rig = Rig::pair(vec![fails(Duration::ZERO), say("s2")], vec![say("b1")], |routing| routing);
    let (mut client, session) = rig.session(Version::V2).await;
    assert_eq!(ask(&mut client, &session, "one").await.0, "b1");
    assert_eq!(ask(&mut client, &session, "two").await.0, "s2");
    client.finish().await;
}
