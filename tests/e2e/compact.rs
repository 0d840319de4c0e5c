//! Summaries that stand for earlier turns: asked for or needed, kept, cancelled, failed.

use std::sync::Arc;

use agent_runtime::context::Family;
use agent_runtime::provider::{ModelRequest, ProviderError};
use agent_runtime::scripted::{Latch, Line, Scripted};
use milk_acp::drivers::SessionSettings;
use milk_tests::client::Client;
use milk_tests::rig::Rig;
use milk_tests::schema::Version;
use serde_json::{Value, json};
use session_model::Item;
use session_store::{MemoryStore, export};

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

/// A server whose model holds 8,192 tokens and that says so only when it refuses.
fn overflow() -> ProviderError {
    ProviderError::Status {
        agent: "scripted".to_owned(),
        status: 400,
        message: "request (8311 tokens) exceeds the available context size (8192 tokens), try increasing it"
            .to_owned(),
    }
}

fn long(n: usize) -> Vec<Line> {
    vec![Line::say(format!("answer {n}: {}", "the parser reads the header first. ".repeat(60)))]
}

#[tokio::test(start_paused = true)]
async fn a_conversation_that_overflows_the_window_goes_on_with_a_summary() {
    for version in Version::BOTH {
        let mut script: Vec<Vec<Line>> = (0..6).map(long).collect();
        script.push(vec![Line::Fail(overflow())]);
        script.push(vec![Line::say("so far: the parser is ported")]);
        script.extend((6..10).map(|n| vec![Line::say(format!("answer {n}"))]));
        let rig = Rig::new(script);
        let (mut client, session) = rig.session(version).await;
        for turn in 0..10 {
            say(&mut client, &session, &format!("question {turn}")).await;
        }
        client.settle().await;
        let told = told(&client.take_unclaimed());
        let expected = match version {
            Version::V1 => 1,
            Version::V2 => 2,
        };
        assert_eq!(told.len(), expected, "one compaction: {told:?}");
        let requests = rig.model.requests();
        assert_eq!(requests.len(), 12, "ten turns, one refusal, one summary");
        let (again, last) = (asked(&requests[8]), asked(&requests[11]));
        for request in [&again, &last] {
            assert!(request.contains("so far: the parser is ported"), "{request}");
            assert!(request.contains("The task: question 0"), "{request}");
        }
        assert!(again.contains("question 6") && last.contains("question 9") && last.contains("answer 8"));
        say(&mut client, &session, "/usage").await;
        client.settle().await;
        let words = client.take_text("agent_message_chunk");
        assert!(words.contains(" of 8,192 tokens ("), "the window was learned: {words}");
        client.finish().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_window_that_fills_is_made_room_in_before_the_server_refuses() {
    for version in Version::BOTH {
        // A server that counts nothing: the estimates have to do.
        let mut script: Vec<Vec<Line>> = (0..30).map(long).collect();
        for at in (4..60).step_by(4) {
            script.insert(at.min(script.len()), vec![Line::say("so far: the parser is ported")]);
        }
        let model = Scripted::new(script).with_context_window(8_192);
        let rig = Rig::build(model, SessionSettings::default(), Arc::new(MemoryStore::new()));
        let (mut client, session) = rig.session(version).await;
        for turn in 0..30 {
            say(&mut client, &session, &format!("question {turn}")).await;
        }
        client.settle().await;
        let compactions = told(&client.take_unclaimed()).len();
        assert!(compactions > 1, "it was full more than once: {compactions}");
        for request in rig.model.requests() {
            // Three quarters of the window, in the smallest tokens that any family has.
            let tokens =
                Family::Small.of_messages(&request.messages) + Family::Small.of_tools(&request.tools);
            assert!(tokens < 8_192 / 4 * 3 + 200, "{tokens}");
        }
        client.finish().await;
    }
}
