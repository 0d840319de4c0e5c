//! How hard the model thinks: offered where it is known to think, in force from the next turn on, and not kept.

use agent_runtime::provider::Effort;
use agent_runtime::scripted::{Latch, Line};
use milk_acp::drivers::SessionSettings;
use milk_tests::client::Client;
use milk_tests::rig::Rig;
use milk_tests::schema::Version;
use serde_json::{Value, json};

fn thinking() -> SessionSettings {
    SessionSettings {
        model: Some("scripted".to_owned()),
        thinkers: vec!["scripted".to_owned()],
        ..SessionSettings::default()
    }
}

async fn set(client: &mut Client, session: &str, level: &str) -> Result<Value, Value> {
    let mut params = json!({ "sessionId": session, "configId": "thought_level", "value": level });
    if client.version() == Version::V2 {
        params["type"] = json!("id");
    }
    client.call("session/set_config_option", params).await
}

fn level(options: &Value) -> Option<&Value> {
    let named = |option: &&Value| option["id"] == "thought_level" || option["configId"] == "thought_level";
    options["configOptions"].as_array().expect("options").iter().find(named)
}

#[tokio::test(start_paused = true)]
async fn a_level_set_during_a_turn_holds_from_the_next_one_on_and_is_not_kept() {
    for version in Version::BOTH {
        let latch = Latch::new();
        let look = Line::call("list_dir", json!({}));
        let answers = vec![
            vec![Line::Wait(latch.clone()), look],
            vec![Line::say("one")],
            vec![Line::say("two")],
            vec![Line::say("three")],
        ];
        let rig = Rig::with(answers, thinking());
        let (mut client, session) = rig.session(version).await;
        let first = client.prompt(&session, "first").await;
        latch.reached().await;
        let answer = set(&mut client, &session, "high").await.expect("set");
        assert_eq!(level(&answer).expect("offered")["currentValue"], "high");
        latch.open();
        client.response(&first).await.expect("answered");
        let second = client.prompt(&session, "second").await;
        client.response(&second).await.expect("answered");
        set(&mut client, &session, "default").await.expect("set");
        let third = client.prompt(&session, "third").await;
        client.response(&third).await.expect("answered");
        let efforts: Vec<_> = rig.model.requests().iter().map(|request| request.effort).collect();
        assert_eq!(efforts, [None, None, Some(Effort::High), None]);
        set(&mut client, &session, "low").await.expect("set");
        client.finish().await;

        let mut client = rig.connect(version).await;
        let params = json!({ "sessionId": session, "cwd": rig.cwd(), "mcpServers": [] });
        let opened = client.call("session/resume", params).await.expect("opened");
        assert_eq!(level(&opened).expect("offered")["currentValue"], "default");
        client.finish().await;
    }
}

#[tokio::test(start_paused = true)]
async fn only_what_is_offered_can_be_set() {
    for version in Version::BOTH {
        let rig = Rig::with(Vec::new(), thinking());
        let (mut client, session) = rig.session(version).await;
        for wrong in ["", "High", "max", "adaptive"] {
            let error = set(&mut client, &session, wrong).await.expect_err(wrong);
            assert_eq!(error["code"], -32602, "{wrong}: {error}");
        }
        let answer = set(&mut client, &session, "minimal").await.expect("set");
        let option = level(&answer).expect("offered");
        assert_eq!(option["name"], "Reasoning · scripted");
        assert_eq!(option["category"], "thought_level");
        let offered = option["options"].as_array().expect("choices").iter();
        let offered: Vec<_> = offered.map(|choice| choice["value"].as_str().expect("a word")).collect();
        assert_eq!(offered, ["default", "none", "minimal", "low", "medium", "high"]);
        client.finish().await;

        let rig = Rig::new(Vec::new());
        let (mut client, session) = rig.session(version).await;
        let error = set(&mut client, &session, "high").await.expect_err("nothing is known of the model");
        assert_eq!(error["code"], -32602, "{error}");
        client.finish().await;
    }
}
