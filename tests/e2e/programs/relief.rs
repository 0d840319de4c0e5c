//! A program as the primary agent asks for the other one by a tag in its text, which nobody sees.

use milk_tests::client::Client;
use milk_tests::schema::Version;
use serde_json::{Value, json};

use super::{Scene, ended, entry};

/// Two programs: `small` answers, `big` can take over.
fn pair(plays: &[&str]) -> Scene {
    let config = json!({
        "agent": "small",
        "escalation_agent": "big",
        "agents": [
            entry("small", "subprocess", "events.sh", &json!({})),
            entry("big", "subprocess", "events.sh", &json!({})),
        ],
        "permissions": {"allow": ["small", "big"]},
    });
    Scene::new(&config, plays)
}

/// The tag, with the nonce that the program was told, in two pieces.
const ASKS: &str = r#"nonce=$(sed -n 's/.*<milk:escalate:\([0-9a-f]*\)>.*/\1/p' "$run/context")
echo '{"type":"text_delta","text":"Too deep. <milk:esc"}'
echo "{\"type\":\"text_delta\",\"text\":\"alate:$nonce>needs design</milk:escalate:$nonce> rest\"}"
"#;

fn routes(lines: &[Value]) -> Vec<(String, String)> {
    let routed = lines.iter().filter(|line| line["method"] == "_milk/route");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    routed.map(|line| (text(&line["params"]["agent"]), text(&line["params"]["reason"]))).collect()
}

async fn answered(client: &mut Client, session: &str, text: &str) -> (String, Vec<(String, String)>) {
    let prompt = client.prompt(session, text).await;
    assert_eq!(ended(client, &prompt).await.expect("answered"), "end_turn");
    client.settle().await;
    let said = client.take_text("agent_message_chunk");
    (said, routes(&client.take_unclaimed()))
}

#[tokio::test]
async fn a_program_hands_over_by_a_tag_that_nobody_sees() {
    for version in Version::BOTH {
        let scene = pair(&[ASKS, "echo '{\"type\":\"final_answer\",\"text\":\"Designed.\"}'"]);
        let (mut client, session) = scene.rig.session(version).await;
        let (said, routes) = answered(&mut client, &session, "fix the thing").await;
        let names: Vec<&str> = routes.iter().map(|(agent, _)| agent.as_str()).collect();
        assert_eq!(names, ["small", "big"]);
        assert!(routes[1].1.contains("needs design"), "{routes:?}");
        assert!(said.starts_with("Too deep. ") && said.ends_with("Designed."), "{said}");
        let context = scene.noted(1, "context");
        assert!(context.contains("needs design") && context.contains("Too deep."), "{context}");
        assert!(!context.contains("<milk:"), "who takes over is offered nobody: {context}");
        assert!(!client.finish().await.contains("milk:escalate"));
    }
}

#[tokio::test]
async fn a_tag_of_another_nonce_and_other_tags_are_hidden_and_mean_nothing() {
    let play = "echo '{\"type\":\"final_answer\",\"text\":\"a<milk:escalate:zz>x</milk:escalate:zz>b<milk:need:zz>n</milk:need>\
c<milk:percept:1>@x: p</milk:percept:1>d `<milk:need:1>`\"}'";
    let scene = pair(&[play]);
    let (mut client, session) = scene.rig.session(Version::V2).await;
    let (said, routes) = answered(&mut client, &session, "fix the thing").await;
    assert_eq!((said.as_str(), routes.len()), ("abcd `<milk:need:1>`", 1));
    client.finish().await;
}

#[tokio::test]
async fn a_primary_that_was_asked_for_is_not_offered_relief() {
    let scene = pair(&["echo '{\"type\":\"final_answer\",\"text\":\"Done.\"}'"]);
    let (mut client, session) = scene.rig.session(Version::V2).await;
    let (said, _) = answered(&mut client, &session, "/primary fix the thing").await;
    assert_eq!(said, "Done.");
    assert!(!scene.noted(0, "context").contains("<milk:"));
    client.finish().await;
}

#[tokio::test]
async fn claude_as_the_primary_hands_over_by_the_same_tag() {
    let claude = json!({"name": "claude", "provider": "claude-cli", "bin": env!("CARGO_BIN_EXE_mock_claude"),
        "env": {"MOCK_CLAUDE": "$SCENE"}});
    let config = json!({
        "agent": "claude",
        "escalation_agent": "big",
        "agents": [claude, entry("big", "subprocess", "events.sh", &json!({}))],
        "permissions": {"allow": ["big"]},
    });
    let scene = Scene::new(&config, &["echo '{\"type\":\"final_answer\",\"text\":\"Designed.\"}'"]);
    let play = |script: &Value| {
        std::fs::write(scene.folder.path().join("script.json"), script.to_string()).expect("written");
    };
    play(&json!([[{"say": "Hello."}]]));
    let (mut client, session) = scene.rig.session(Version::V2).await;
    assert_eq!(answered(&mut client, &session, "hello there").await.0, "Hello.");
    let told = std::fs::read_to_string(scene.folder.path().join("runs.jsonl")).expect("it ran");
    let nonce =
        told.split("<milk:escalate:").nth(1).and_then(|rest| rest.split('>').next()).expect("it is told");
    let tag = format!("<milk:escalate:{nonce}>needs design</milk:escalate:{nonce}>");
    let (first, rest) = tag.split_at(9);
    play(&json!([[], [{"say": ["Too deep. ", first, rest]}]]));
    let (said, routes) = answered(&mut client, &session, "fix the thing").await;
    let names: Vec<&str> = routes.iter().map(|(agent, _)| agent.as_str()).collect();
    assert_eq!(names, ["claude", "big"]);
    assert!(said.starts_with("Too deep. ") && said.ends_with("Designed."), "{said}");
    assert!(scene.noted(0, "context").contains("Too deep."));
    client.finish().await;
}
