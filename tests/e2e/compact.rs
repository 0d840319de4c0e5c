//! Summaries that stand for earlier turns: asked for or needed, kept, cancelled, failed.

use agent_runtime::provider::ModelRequest;
use agent_runtime::scripted::{Latch, Line};
use milk_tests::client::Client;
use milk_tests::rig::Rig;
use milk_tests::schema::Version;
use serde_json::{Value, json};
use session_model::Item;
use session_store::export;

async fn say(client: &mut Client, session: &str, prompt: &str) {
    let id = client.prompt(session, prompt).await;
    client.response(&id).await.expect("answered");
}

/// Shows a stored session to a client that says hello first.
async fn open(client: &mut Client, rig: &Rig, session: &str) {
    let (method, mut params) = match client.version() {
        Version::V1 => ("session/load", json!({})),
        Version::V2 => ("session/resume", json!({ "replayFrom": { "type": "start" } })),
    };
    params["sessionId"] = json!(session);
    params["cwd"] = json!(rig.cwd());
    params["mcpServers"] = json!([]);
    client.call(method, params).await.expect("opened");
}

fn asked(request: &ModelRequest) -> String {
    format!("{:?}", request.messages)
}

/// What the lines of a client say of compactions: the states (version 2), or the remarks.
fn told(lines: &[Value]) -> Vec<String> {
    let of = |line: &Value| {
        let update = &line["params"]["update"];
        match update["sessionUpdate"].as_str()? {
            "compaction_update" => {
                let (id, status) = (update["compactionId"].as_str()?, update["status"].as_str()?);
                let more = update["summary"][0]["text"].as_str().or(update["error"].as_str());
                Some(format!("{id} {status} {}", more.unwrap_or_default()))
            }
            "agent_message_chunk" => {
                let text = update["content"]["text"].as_str()?;
                text.contains("summarised to make room").then(|| text.trim().to_owned())
            }
            _ => None,
        }
    };
    lines.iter().filter_map(of).collect()
}

#[tokio::test(start_paused = true)]
async fn a_summary_that_is_asked_for_stands_for_the_earlier_turns_and_the_conversation_stays_whole() {
    for version in Version::BOTH {
        let rig = Rig::new(vec![
            vec![Line::say("first answer")],
            vec![Line::say("second answer")],
            vec![Line::say("in short: it began")],
            vec![Line::say("third answer")],
        ]);
        let (mut client, session) = rig.session(version).await;
        for prompt in ["/compact", "first question", "second question", "/compact mind the tests"] {
            say(&mut client, &session, prompt).await;
        }
        assert_eq!(rig.model.requests().len(), 3, "two turns and the summary");
        say(&mut client, &session, "third question").await;
        let requests = rig.model.requests();
        assert!(asked(&requests[2]).contains("mind the tests"));
        let last = asked(&requests[3]);
        assert!(last.contains("in short: it began") && last.contains("second question"), "{last}");
        assert!(!last.contains("first answer"), "{last}");
        say(&mut client, &session, "/export").await;
        let transcript = client.finish().await;
        assert!(transcript.contains("nothing to summarise yet"));
        assert!(transcript.contains("the oldest turn is summarised for the model"), "{transcript}");
        let export = transcript.rsplit("/export").next().expect("what followed");
        for part in ["first question", "first answer", "Summary of the 1 oldest turns", "third answer"] {
            assert!(export.contains(part), "{part}: {export}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_summary_is_kept_with_the_session_and_shown_where_it_was_made() {
    for version in Version::BOTH {
        let rig = Rig::new(vec![
            vec![Line::say("first answer")],
            vec![Line::say("second answer")],
            vec![Line::say("in short: it began")],
            vec![Line::say("third answer")],
        ]);
        let (mut client, session) = rig.session(version).await;
        for prompt in ["first question", "second question", "/compact"] {
            say(&mut client, &session, prompt).await;
        }
        client.settle().await;
        let live = told(&client.take_unclaimed());
        client.finish().await;

        let mut later = rig.connect(version).await;
        open(&mut later, &rig, &session).await;
        later.settle().await;
        let shown = told(&later.take_unclaimed());
        match version {
            // The words of the command said it already.
            Version::V1 => {
                assert_eq!(live, [] as [&str; 0]);
                assert_eq!(shown, ["The 1 oldest turn was summarised to make room."]);
            }
            Version::V2 => {
                assert_eq!(live.len(), 2, "{live:?}");
                assert!(live[0].ends_with(" in_progress "), "{live:?}");
                assert!(live[1].ends_with(" completed in short: it began"), "{live:?}");
                assert_eq!(shown, live[1..]);
            }
        }
        say(&mut later, &session, "third question").await;
        let last = asked(&rig.model.requests()[3]);
        assert!(last.contains("in short: it began") && !last.contains("first answer"), "{last}");
        later.finish().await;

        let stored = rig.store.load(&session.as_str().into()).await.expect("kept");
        assert!(stored.entries.iter().any(|entry| matches!(entry.item, Item::Compaction { .. })));
        let exported = export::json(&stored).expect("exported");
        assert_eq!(export::import(&exported).expect("imported").entries, stored.entries);
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_of_version_1_that_follows_compactions_is_told_their_states() {
    let rig = Rig::new(vec![vec![Line::say("a")], vec![Line::say("b")], vec![Line::say("in short")]]);
    let mut client = rig.pipe(Version::V1);
    let capabilities = json!({ "session": { "compaction": {} } });
    client.initialize_with(json!({ "protocolVersion": 1, "clientCapabilities": capabilities })).await;
    let session = client.new_session(&rig.cwd()).await;
    for prompt in ["one", "two", "/compact"] {
        say(&mut client, &session, prompt).await;
    }
    client.settle().await;
    let told = told(&client.take_unclaimed());
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains("in_progress") && told[1].ends_with(" completed in short"), "{told:?}");
    client.finish().await;
}

#[tokio::test(start_paused = true)]
async fn a_cancel_while_a_summary_is_written_leaves_the_history_as_it_was() {
    for version in Version::BOTH {
        let gate = Latch::new();
        let rig = Rig::new(vec![
            vec![Line::say("first answer")],
            vec![Line::say("second answer")],
            vec![Line::say("half a summ"), Line::Wait(gate.clone())],
            vec![Line::say("third answer")],
        ]);
        let (mut client, session) = rig.session(version).await;
        for prompt in ["first question", "second question"] {
            say(&mut client, &session, prompt).await;
        }
        let id = client.prompt(&session, "/compact").await;
        gate.reached().await;
        client.cancel(&session).await;
        client.response(&id).await.expect("a cancelled turn is no error");
        client.settle().await;
        let ends = told(&client.take_unclaimed());
        if version == Version::V2 {
            assert!(ends.last().is_some_and(|line| line.ends_with(" cancelled ")), "{ends:?}");
        }
        say(&mut client, &session, "third question").await;
        let last = asked(&rig.model.requests()[3]);
        assert!(last.contains("first answer") && !last.contains("half a summ"), "{last}");
        client.finish().await;
    }
}
