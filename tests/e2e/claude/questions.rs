//! What the program itself wants to know: a form where the client has forms, buttons elsewhere.

use milk_tests::schema::Version;
use serde_json::{Value, json};

use super::{Scene, ended};

fn script() -> Value {
    let options = json!([{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}]);
    let question =
        json!({"question": "Which color?", "header": "Color", "multiSelect": false, "options": options});
    json!([[{"tool": {"name": "AskUserQuestion", "input": {"questions": [question]}}}, {"say": "Thanks."}]])
}

fn hello(version: Version) -> Value {
    let capabilities = json!({"elicitation": {"form": {}}});
    match version {
        Version::V1 => json!({"protocolVersion": 1, "clientCapabilities": capabilities}),
        Version::V2 => {
            json!({"protocolVersion": 2, "info": {"name": "t", "version": "1"}, "capabilities": capabilities})
        }
    }
}

/// What the program was told.
fn told(lines: &[Value], status: &str) -> String {
    let update = super::row(lines, status);
    update["rawOutput"].to_string()
}

#[tokio::test]
async fn a_question_is_a_form() {
    for version in Version::BOTH {
        for (answer, status, expected) in [
            (
                json!({"action": "accept", "content": {"q1": "Blue"}}),
                "completed",
                "{\\\"Which color?\\\":\\\"Blue\\\"}",
            ),
            (json!({"action": "decline"}), "failed", "the user did not answer"),
            (json!({"action": "cancel"}), "failed", "the user did not answer"),
        ] {
            let scene = Scene::new(&script());
            let mut client = scene.rig.pipe(version);
            client.initialize_with(hello(version)).await;
            let session = client.new_session(&scene.rig.cwd()).await;
            let prompt = client.prompt(&session, "ask").await;
            let (id, params) = client.request("elicitation/create").await;
            assert_eq!((&params["message"], &params["mode"]), (&json!("Which color?"), &json!("form")));
            client.answer(&id, answer).await;
            assert_eq!(ended(&mut client, &prompt).await.expect("answered"), "end_turn");
            let told = told(&client.take_unclaimed(), status);
            assert!(told.contains(expected), "{told}");
            client.finish().await;
        }
    }
}

#[tokio::test]
async fn without_forms_a_question_is_a_row_of_buttons() {
    for version in Version::BOTH {
        for (option, status, expected) in [
            ("0", "completed", "{\\\"Which color?\\\":\\\"Red\\\"}"),
            ("decline", "failed", "the user did not answer"),
        ] {
            let scene = Scene::new(&script());
            let (mut client, session) = scene.rig.session(version).await;
            let prompt = client.prompt(&session, "ask").await;
            let (id, params) = client.request("session/request_permission").await;
            assert_eq!(params["options"][0]["name"], "Red", "{params}");
            client.choose(&id, option).await;
            assert_eq!(ended(&mut client, &prompt).await.expect("answered"), "end_turn");
            let told = told(&client.take_unclaimed(), status);
            assert!(told.contains(expected), "{told}");
            client.finish().await;
        }
    }
}
