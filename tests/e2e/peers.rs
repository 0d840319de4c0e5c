//! Another agent as a tool: its calls need the user's leave like everybody's, and it ends with the turn.

use std::sync::Arc;

use agent_runtime::agent::Agent;
use agent_runtime::provider::ProviderInfo;
use agent_runtime::scripted::{Line, Scripted};
use agent_runtime::tools::ToolRegistry;
use agent_runtime::tools::peer::Peer;
use milk_tests::client::Client;
use milk_tests::rig::Rig;
use milk_tests::schema::Version;
use serde_json::{Value, json};
use session_model::TokenUsage;

fn scripted(name: &str, answers: Vec<Vec<Line>>) -> Arc<Scripted> {
    let info = ProviderInfo { agent: name.to_owned(), model: "script".to_owned(), context_window: None };
    Arc::new(Scripted::new(answers).with_info(info))
}

/// A server whose agent asks `helper` once, and then says "Fine."
fn asking(helper: &Arc<Scripted>) -> Rig {
    Rig::driven("caller", |ids| {
        let peer = Agent::new(Arc::clone(helper) as _, ToolRegistry::builtin(), Arc::clone(&ids) as _);
        let request = Line::call("agent_helper", json!({"request": "Write it."}));
        let caller = scripted("caller", vec![vec![request, used(5)], vec![Line::say("Fine."), used(5)]]);
        let tools = ToolRegistry::builtin().with(Peer::new("helper", "", Arc::new(peer)));
        Arc::new(Agent::new(caller, tools, ids))
    })
}

fn used(output: u64) -> Line {
    Line::Usage(TokenUsage { output, ..TokenUsage::default() })
}

/// The next question: its id and the call it is about.
async fn question(client: &mut Client) -> (Value, Value) {
    let (id, params) = client.request("session/request_permission").await;
    let call =
        if client.version() == Version::V1 { &params["toolCall"] } else { &params["subject"]["toolCall"] };
    (id, call.clone())
}

/// The newest word on a member of the row, as far as it was told.
fn last_word(transcript: &str, row: &Value, member: &str) -> Value {
    let mut updates = transcript.lines().filter_map(|line| {
        let line: Value = serde_json::from_str(line.split_once(' ')?.1).ok()?;
        let update = line["params"]["update"].clone();
        (update["toolCallId"] == *row && !update[member].is_null()).then(|| update[member].clone())
    });
    updates.next_back().unwrap_or_default()
}

#[tokio::test(start_paused = true)]
async fn what_a_peer_does_is_asked_and_shown_under_its_row() {
    for version in Version::BOTH {
        for (option, written) in [("allow", true), ("reject", false)] {
            let write = Line::call("write_file", json!({"path": "new.txt", "content": "hello\n"}));
            let helper = scripted("helper", vec![vec![write, used(7)], vec![Line::say("Written."), used(7)]]);
            let rig = asking(&helper);
            let (mut client, session) = rig.session(version).await;
            let prompt = client.prompt(&session, "Have it written.").await;
            let (id, outer) = question(&mut client).await;
            assert_eq!(outer["title"], "agent_helper: Write it.");
            client.choose(&id, "allow").await;
            let (id, inner) = question(&mut client).await;
            assert_eq!(inner["title"], "helper → write_file: new.txt");
            assert_eq!(inner["toolCallId"], outer["toolCallId"]);
            assert_eq!(inner["content"][0]["type"], "diff");
            client.choose(&id, option).await;
            let result = client.response(&prompt).await.expect("answered");
            if version == Version::V1 {
                assert_eq!(result["usage"]["outputTokens"], 24, "{result}");
            }
            assert_eq!(rig.dir.path().join("new.txt").exists(), written);
            assert_eq!(
                client.take_text("agent_message_chunk"),
                "Fine.",
                "what the helper says is its result"
            );
            let transcript = client.finish().await;
            let told = |member| last_word(&transcript, &outer["toolCallId"], member);
            assert_eq!(told("title"), "agent_helper: Write it.");
            assert_eq!(told("status"), "completed");
            assert_eq!(told("rawOutput"), json!({"output": "Written."}));
            let content = told("content").to_string();
            let mark = if written { "✓" } else { "✗" };
            assert!(content.contains(&format!("{mark} write_file: new.txt")), "{content}");
            assert_eq!(content.contains(r#""type":"diff""#), written, "{content}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn cancelling_the_turn_ends_the_peer() {
    for version in Version::BOTH {
        let helper = scripted("helper", vec![vec![Line::say("Let me"), Line::Hang]]);
        let rig = asking(&helper);
        let (mut client, session) = rig.session(version).await;
        let prompt = client.prompt(&session, "Have it written.").await;
        let (id, _) = question(&mut client).await;
        client.choose(&id, "allow").await;
        client.settle().await;
        assert_eq!(helper.streaming(), 1);
        client.cancel(&session).await;
        client.response(&prompt).await.expect("a cancelled turn is no error");
        assert_eq!(helper.streaming(), 0);
        client.finish().await;
    }
}

#[tokio::test(start_paused = true)]
async fn cancelling_withdraws_the_question_of_a_peer() {
    for version in Version::BOTH {
        let write = Line::call("write_file", json!({"path": "new.txt", "content": "hello\n"}));
        let rig = asking(&scripted("helper", vec![vec![write]]));
        let (mut client, session) = rig.session(version).await;
        let prompt = client.prompt(&session, "Have it written.").await;
        let (id, _) = question(&mut client).await;
        client.choose(&id, "allow").await;
        let (id, _) = question(&mut client).await;
        client.cancel(&session).await;
        client.response(&prompt).await.expect("a cancelled turn is no error");
        client.answer(&id, json!({"outcome": {"outcome": "cancelled"}})).await;
        assert!(!rig.dir.path().join("new.txt").exists());
        client.finish().await;
    }
}
