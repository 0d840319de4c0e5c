//! Cancelling at any moment, by a clock that stands still.

use std::time::Duration;

use agent_runtime::scripted::Line;
use milk_tests::rig::Rig;
use milk_tests::schema::Version;
use tokio::time::Instant;

use super::cancel::{cancelled, next_prompt_works};

#[tokio::test(start_paused = true)]
async fn while_words_come_lets_one_more_through_at_most() {
    for version in Version::BOTH {
        let words = (0..600).flat_map(|_| [Line::say("word "), Line::Pause(Duration::from_millis(50))]);
        let rig = Rig::new(vec![words.collect(), vec![Line::say("next")]]);
        let (mut client, session) = rig.session(version).await;
        let id = client.prompt(&session, "hi").await;
        for _ in 0..5 {
            client.update("agent_message_chunk").await;
        }
        let since = Instant::now();
        client.cancel(&session).await;
        let result = client.response(&id).await.expect("no error");
        assert!(since.elapsed() <= Duration::from_secs(1));
        if version == Version::V1 {
            assert_eq!(result["stopReason"], "cancelled");
            let usage = &result["usage"];
            assert!(
                usage.is_null() || usage["totalTokens"].as_u64().is_some_and(|total| total > 0),
                "{usage}"
            );
        }
        assert!(client.take_text("agent_message_chunk").len() <= "word ".len());
        tokio::time::sleep(Duration::from_secs(5)).await;
        client.settle().await;
        assert_eq!(client.take_text("agent_message_chunk"), "", "nothing comes after the answer");
        assert_eq!(rig.model.streaming(), 0);
        next_prompt_works(&mut client, &session).await;
        client.finish().await;
    }
}

#[tokio::test(start_paused = true)]
async fn at_any_moment_leaves_the_session_ready_for_the_next_prompt() {
    for version in Version::BOTH {
        let stalled = || vec![Line::Pause(Duration::from_millis(80)), Line::say("so"), Line::Hang];
        let script = (0..20).flat_map(|_| [stalled(), vec![Line::say("next")]]);
        let rig = Rig::new(script.collect());
        let (mut client, session) = rig.session(version).await;
        for round in 0..20 {
            let id = client.prompt(&session, "hi").await;
            tokio::time::sleep(Duration::from_millis(1 + 10 * round)).await;
            let since = Instant::now();
            client.cancel(&session).await;
            cancelled(&mut client, &id, since).await;
            client.settle().await;
            next_prompt_works(&mut client, &session).await;
            // Of this prompt, so that the next cancel is not taken for it.
            client.settle().await;
            client.take_unclaimed();
        }
        client.finish().await;
    }
}
