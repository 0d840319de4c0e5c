//! The model's questions to the user: forms where the client has them, buttons elsewhere, words to the model always.

use std::time::Duration;

use agent_runtime::scripted::Line;
use milk_tests::client::Client;
use milk_tests::rig::Rig;
use milk_tests::schema::Version;
use serde_json::{Value, json};
use tokio::time::Instant;

fn rig(args: Value) -> Rig {
    Rig::new(vec![vec![Line::call("ask_user", args)], vec![Line::say("done")], vec![Line::say("next")]])
}

fn colors() -> Value {
    json!({"question": "Which color?", "choices": ["Red", "Blue"]})
}

/// A client that shows forms, and its session.
async fn with_forms(rig: &Rig, version: Version) -> (Client, String) {
    let capabilities = json!({"elicitation": {"form": {}}});
    let hello = match version {
        Version::V1 => json!({"protocolVersion": 1, "clientCapabilities": capabilities}),
        Version::V2 => {
            json!({"protocolVersion": 2, "info": {"name": "t", "version": "1"}, "capabilities": capabilities})
        }
    };
    let mut client = rig.pipe(version);
    client.initialize_with(hello).await;
    let session = client.new_session(&rig.cwd()).await;
    (client, session)
}

/// The last status of the only row.
fn status(client: &mut Client) -> String {
    let lines = client.take_unclaimed();
    let status = |line: &Value| line["params"]["update"]["status"].as_str().map(str::to_owned);
    lines.iter().rev().find_map(status).expect("a row has a status")
}

/// What the model was told last.
fn heard(rig: &Rig) -> String {
    format!("{:?}", rig.model.requests().pop().expect("asked").messages)
}

#[tokio::test(start_paused = true)]
async fn a_question_is_a_form_of_its_call() {
    let several = json!({"question": "Which color?", "choices": ["Red", "Blue"], "multiple": true});
    let free = json!({"question": "Which color?"});
    let accept = |value: Value| json!({"action": "accept", "content": {"q1": value}});
    for version in Version::BOTH {
        for (args, answer, row, expected) in [
            (colors(), accept(json!("Blue")), "completed", "The user chose: Blue"),
            (several.clone(), accept(json!(["Red", "Blue"])), "completed", "The user chose: Red, Blue"),
            (free.clone(), accept(json!("teal")), "completed", "The user answered: teal"),
            (free.clone(), json!({"action": "decline"}), "failed", "the user declined to answer"),
            (colors(), json!({"action": "cancel"}), "failed", "dismissed the question"),
            (free.clone(), accept(json!(5)), "failed", "the filled-in form is not valid"),
        ] {
            let rig = rig(args);
            let (mut client, session) = with_forms(&rig, version).await;
            let prompt = client.prompt(&session, "ask").await;
            let (id, params) = client.request("elicitation/create").await;
            let shown = [&params["sessionId"], &params["message"], &params["mode"]];
            assert_eq!(shown, [session.as_str(), "Which color?", "form"]);
            let call = params["toolCallId"].as_str().expect("a call").to_owned();
            let announced = client.take_unclaimed();
            assert!(announced.iter().any(|line| line["params"]["update"]["toolCallId"] == *call));
            client.answer(&id, answer).await;
            client.response(&prompt).await.expect("answered");
            assert!(heard(&rig).contains(expected), "{}", heard(&rig));
            assert_eq!(status(&mut client), row);
            client.finish().await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn without_forms_a_choice_is_a_row_of_buttons() {
    let selected = |id: &str| json!({"outcome": {"outcome": "selected", "optionId": id}});
    for version in Version::BOTH {
        for (answer, row, expected) in [
            (selected("1"), "completed", "The user chose: Blue"),
            (selected("decline"), "failed", "the user declined to answer"),
            (selected("7"), "failed", "the user cannot be asked here"),
            (json!({"outcome": {"outcome": "cancelled"}}), "failed", "dismissed the question"),
        ] {
            let rig = rig(colors());
            let (mut client, session) = rig.session(version).await;
            let prompt = client.prompt(&session, "ask").await;
            let (id, params) = client.request("session/request_permission").await;
            let names: Vec<_> = (0..3).map(|at| params["options"][at]["name"].as_str()).collect();
            assert_eq!(names, [Some("Red"), Some("Blue"), Some("Decline")]);
            client.answer(&id, answer).await;
            client.response(&prompt).await.expect("answered");
            assert!(heard(&rig).contains(expected), "{}", heard(&rig));
            assert_eq!(status(&mut client), row);
            client.finish().await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn without_forms_free_text_is_not_asked_and_the_model_learns_why() {
    for version in Version::BOTH {
        let rig = rig(json!({"question": "Which color?"}));
        let (mut client, session) = rig.session(version).await;
        let prompt = client.prompt(&session, "ask").await;
        client.response(&prompt).await.expect("answered without a question");
        assert!(heard(&rig).contains("the user cannot be asked here: the client shows no forms"));
        assert_eq!(status(&mut client), "failed");
        client.finish().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancel_withdraws_the_question_however_it_was_put() {
    for version in Version::BOTH {
        for method in ["elicitation/create", "session/request_permission"] {
            let rig = rig(colors());
            let (mut client, session) = match method {
                "elicitation/create" => with_forms(&rig, version).await,
                _ => rig.session(version).await,
            };
            let prompt = client.prompt(&session, "ask").await;
            let (question, _) = client.request(method).await;
            // Longer than any tool may take.
            tokio::time::sleep(Duration::from_hours(3)).await;
            let since = Instant::now();
            client.cancel(&session).await;
            let withdrawn = client.notification("$/cancel_request").await;
            assert_eq!(withdrawn["requestId"], question);
            let result = client.response(&prompt).await.expect("a cancelled turn is no error");
            assert!(since.elapsed() <= Duration::from_secs(2), "took {:?}", since.elapsed());
            if version == Version::V1 {
                assert_eq!(result["stopReason"], "cancelled");
            }
            let row = status(&mut client);
            assert_eq!(row, if version == Version::V1 { "failed" } else { "cancelled" });
            // The answer comes too late and is ignored.
            client.answer(&question, json!({"action": "decline"})).await;
            client.finish().await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_takes_its_question_back_and_the_turn_goes_on() {
    let rig = rig(colors());
    let (mut client, session) = rig.session(Version::V2).await;
    let prompt = client.prompt(&session, "ask").await;
    let (question, params) = client.request("session/request_permission").await;
    let call = &params["subject"]["toolCall"]["toolCallId"];
    let cancel = json!({ "sessionId": session, "toolCallId": call });
    client.call("tool_call/cancel", cancel).await.expect("cancelled");
    assert_eq!(client.notification("$/cancel_request").await["requestId"], question);
    client.response(&prompt).await.expect("the turn goes on to its end");
    assert!(heard(&rig).contains("the user cancelled this call"), "{}", heard(&rig));
    client.finish().await;
}

#[tokio::test(start_paused = true)]
async fn the_model_can_look_back_on_the_conversation() {
    for version in Version::BOTH {
        let look = |tool: &str| vec![Line::call(tool, json!({}))];
        let done = || vec![Line::say("done")];
        let answers = vec![
            vec![Line::say("it is teal")],
            look("get_session_context"),
            done(),
            look("get_context_stats"),
            done(),
        ];
        let rig = Rig::new(answers);
        let (mut client, session) = rig.session(version).await;
        for (text, expected) in [
            ("my color?", "my color?"),
            ("and before?", "Turn 1 (primary)\\\\nUser: my color?\\\\nAgent: it is teal"),
            ("how much?", "turns before this one: 2\\\\ntool calls in them: 1"),
        ] {
            let prompt = client.prompt(&session, text).await;
            client.response(&prompt).await.expect("answered unasked");
            assert!(heard(&rig).contains(expected), "{}", heard(&rig));
        }
        client.finish().await;
    }
}
