//! What another agent asks leave for is settled by the rules of the configuration, the mode and what was always allowed.

use milk_tests::schema::Version;
use serde_json::{Value, json};

use super::{Scene, ended, leave, subject};

fn edit(id: &str, path: &str) -> Value {
    json!({"toolCallId": id, "title": "Edit a file", "kind": "edit", "rawInput": {"file_path": path}})
}

fn run(id: &str, command: &str) -> Value {
    json!({"toolCallId": id, "title": "Run", "kind": "execute", "rawInput": {"command": command}})
}

#[tokio::test]
async fn what_a_rule_denies_is_refused_unasked_and_said() {
    for version in Version::BOTH {
        let script = json!({"prompts": [[leave(&edit("t", "secret.txt")), leave(&run("u", "rm -rf x")), {"say": "Well."}]]});
        let rules = json!({"permissions": {"deny": ["write_file(secret.txt)", "bash(rm *)"]}});
        let scene = Scene::with(&script, json!({}), rules);
        let (mut client, session) = scene.rig.session(version).await;
        let prompt = client.prompt(&session, "go").await;
        assert_eq!(ended(&mut client, &prompt).await.expect("answered"), "end_turn");
        assert_eq!([scene.chosen(1), scene.chosen(2)], ["no", "no"]);
        let transcript = client.finish().await;
        for rule in ["write_file(secret.txt)", "bash(rm *)"] {
            assert!(
                transcript.contains(&format!("was refused: the rule `{rule}` denies it")),
                "{transcript}"
            );
        }
    }
}

#[tokio::test]
async fn a_refusal_without_an_option_for_it_is_a_cancelled_question() {
    let ask = json!({"ask": {"method": "session/request_permission", "params": {"toolCall": run("t", "rm x"),
        "options": [{"optionId": "once", "name": "Yes", "kind": "allow_once"}]}}});
    let scene = Scene::with(
        &json!({"prompts": [[ask]]}),
        json!({}),
        json!({"permissions": {"deny": ["bash(rm *)"]}}),
    );
    let (mut client, session) = scene.rig.session(Version::V1).await;
    let prompt = client.prompt(&session, "go").await;
    ended(&mut client, &prompt).await.expect("answered");
    assert_eq!(scene.answer(1)["result"]["outcome"], json!({"outcome": "cancelled"}));
    client.finish().await;
}

#[tokio::test]
async fn what_a_rule_allows_is_allowed_once_unasked() {
    for version in Version::BOTH {
        let script = json!({"prompts": [[leave(&run("t", "cargo test -q")), leave(&edit("u", "src/a.rs"))]]});
        let rules = json!({"permissions": {"allow": ["bash(cargo test *)", "edit(src/**)"]}});
        let scene = Scene::with(&script, json!({}), rules);
        let (mut client, session) = scene.rig.session(version).await;
        let prompt = client.prompt(&session, "go").await;
        ended(&mut client, &prompt).await.expect("answered");
        assert_eq!([scene.chosen(1), scene.chosen(2)], ["once", "once"]);
        client.finish().await;
    }
}

#[tokio::test]
async fn always_holds_for_the_session_and_the_agent_is_told_once() {
    for version in Version::BOTH {
        let script = json!({"prompts": [
            [leave(&run("t", "cargo test -q")), leave(&run("u", "cargo test --doc"))],
            [leave(&run("v", "cargo test")), leave(&run("w", "cargo build"))],
        ]});
        let scene = Scene::new(&script);
        let (mut client, session) = scene.rig.session(version).await;
        let prompt = client.prompt(&session, "go").await;
        let (id, params) = client.request("session/request_permission").await;
        let names: Vec<_> =
            params["options"].as_array().expect("a list").iter().map(|o| o["name"].clone()).collect();
        assert_eq!(names, ["Yes", "Always allow `cargo test` … in this session", "No"]);
        client.choose(&id, "always").await;
        ended(&mut client, &prompt).await.expect("answered");
        let prompt = client.prompt(&session, "again").await;
        let (id, params) = client.request("session/request_permission").await;
        assert_eq!(
            subject(&params)["rawInput"]["command"],
            "cargo build",
            "the other one was not asked about"
        );
        client.choose(&id, "no").await;
        ended(&mut client, &prompt).await.expect("answered");
        let chosen: Vec<_> = (1..=4).map(|number| scene.chosen(number)).collect();
        assert_eq!(chosen, ["once", "once", "once", "no"]);
        client.finish().await;
    }
}

#[tokio::test]
async fn what_a_rule_has_asked_is_asked_each_time_and_never_for_always() {
    for version in Version::BOTH {
        let script =
            json!({"prompts": [[leave(&run("t", "git push origin")), leave(&run("u", "git pull"))]]});
        let rules =
            json!({"permissions": {"ask": ["bash(git push *)"]}, "dangerously_skip_permissions": true});
        let scene = Scene::with(&script, json!({}), rules);
        let (mut client, session) = scene.rig.session(version).await;
        let prompt = client.prompt(&session, "go").await;
        let (id, params) = client.request("session/request_permission").await;
        assert!(!params["options"].to_string().contains("allow_always"), "{params}");
        client.choose(&id, "once").await;
        ended(&mut client, &prompt).await.expect("answered");
        assert_eq!([scene.chosen(1), scene.chosen(2)], ["once", "once"]);
        client.finish().await;
    }
}
