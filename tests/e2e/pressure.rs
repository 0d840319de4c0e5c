//! A client that stops reading stops the model, and nothing else.

use std::time::Duration;

use agent_runtime::scripted::Line;
use milk_tests::client::Client;
use milk_tests::rig::Rig;
use milk_tests::schema::Version;
use serde_json::json;
use tokio::io::AsyncWriteExt;

/// Far more than all buffers between model and client hold.
const DELTAS: usize = 200_000;

#[tokio::test(start_paused = true)]
async fn a_client_that_stops_reading_stops_the_model_and_a_cancel_still_works() {
    for version in Version::BOTH {
        let piece = "x".repeat(64);
        let flood = Line::Say(vec![piece; DELTAS]);
        let rig = Rig::new(vec![vec![flood, Line::Hang], vec![Line::say("next")]]);
        let (reader, mut writer) = rig.serve();
        // The client's hello, session and prompt are written blindly; nothing is read for a minute.
        let hello = match version {
            Version::V1 => json!({ "protocolVersion": 1 }),
            Version::V2 => json!({ "protocolVersion": 2, "info": { "name": "t", "version": "1" } }),
        };
        let mut ask = async |id: i64, method: &str, params: serde_json::Value| {
            let line = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
            writer.write_all(format!("{line}\n").as_bytes()).await.expect("written");
        };
        ask(1, "initialize", hello).await;
        ask(2, "session/new", json!({ "cwd": rig.cwd(), "mcpServers": [] })).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        let page = rig
            .store
            .list(session_store::ListQuery { limit: 1, ..Default::default() })
            .await
            .expect("listed");
        let session = page.sessions[0].id.to_string();
        ask(
            3,
            "session/prompt",
            json!({ "sessionId": session, "prompt": [{ "type": "text", "text": "go" }] }),
        )
        .await;
        tokio::time::sleep(Duration::from_mins(1)).await;
        assert_eq!(rig.model.streaming(), 1, "the model waits");
        let line =
            json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": { "sessionId": session } });
        writer.write_all(format!("{line}\n").as_bytes()).await.expect("written");
        tokio::time::sleep(Duration::from_secs(3)).await;
        assert_eq!(rig.model.streaming(), 0, "the cancel reached the model though nothing was read");
        drop(writer);
        let mut client = Client::new(version, reader, tokio::io::sink());
        for (id, method) in [(1, "initialize"), (2, "session/new"), (3, "session/prompt")] {
            client.expect_answer(id, method);
        }
        client.response(&json!(3)).await.expect("the prompt is answered as cancelled");
        let told = client.take_text("agent_message_chunk").len();
        let produced = DELTAS * 64;
        assert!(told < produced / 20, "{told} of {produced} bytes were produced for nobody");
        client.finish().await;
    }
}
