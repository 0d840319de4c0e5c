//! Answers that fail or break off: nothing is lost, said twice or taken for success.

use milk_tests::mock_openai::{Reply, call_chunk, event, finish_chunk, text_chunk};
use milk_tests::schema::Version;
use serde_json::json;

use super::{Scene, ask, told};

#[tokio::test]
async fn an_error_within_an_answer_is_an_error_and_what_was_said_before_stays() {
    let failed = |error: serde_json::Value| event(&json!({ "choices": [], "error": error }));
    let half = || event(&text_chunk("half"));
    let table = [
        ("a code", Reply::pieces([half(), failed(json!({ "message": "gone", "code": 502 }))])),
        ("words", Reply::pieces([half(), event(&json!({ "error": "gone" }))])),
        ("an event", Reply::pieces([half(), "event: error\ndata: {\"message\":\"gone\"}\n\n".to_owned()])),
        (
            "a finish reason",
            Reply::pieces([
                half(),
                event(
                    &json!({ "choices": [{ "delta": {}, "finish_reason": "error", "error": { "message": "gone" } }] }),
                ),
            ]),
        ),
    ];
    for version in Version::BOTH {
        for (what, reply) in &table {
            let scene = Scene::new("chat_completions").await;
            scene.mock.strict();
            scene.mock.script([reply.clone(), Reply::say(&["next"])]);
            let (mut client, session) = scene.session(version).await;
            let error = ask(&mut client, &session, "hi").await.expect_err("it failed");
            assert_eq!(error["code"], -32603, "{what}");
            assert!(error["message"].as_str().expect("words").contains("gone"), "{what}: {error}");
            assert_eq!(told(&mut client), ["text half"], "{what}");
            ask(&mut client, &session, "and?").await.expect("the session goes on");
            assert_eq!(told(&mut client), ["text next"], "{what}: nothing of it comes later");
            client.finish().await;
            assert_eq!((scene.mock.chats().len(), scene.mock.broken_rules().len()), (2, 0), "{what}");
            let last = scene.mock.chats()[1].body["messages"].to_string();
            assert!(last.contains("half") && last.contains("[this turn failed here]"), "{what}: {last}");
        }
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_asked_for_again_unless_something_was_said() {
    let call = || event(&call_chunk(0, "a", "write_file", r#"{"path":"a.txt","content":"#));
    let whole = || [event(&text_chunk("whole")), event(&finish_chunk("stop"))];
    let again = [
        ("half a call", Reply::pieces([call()]).cut()),
        ("half a call that ends well", Reply::pieces([call()])),
        ("a head only", Reply::pieces::<&str>([]).cut()),
        ("nothing", Reply::pieces::<&str>([])),
    ];
    for version in Version::BOTH {
        for (what, reply) in &again {
            let scene = Scene::new("chat_completions").await;
            scene.mock.script([reply.clone(), Reply::say(&["ok"])]);
            let (mut client, session) = scene.session(version).await;
            assert_eq!(ask(&mut client, &session, "hi").await, Ok("end_turn".to_owned()), "{what}");
            assert_eq!(told(&mut client), ["text ok"], "{what}");
            client.finish().await;
            assert!(!scene.rig.dir.path().join("a.txt").exists(), "{what}");
        }
        for (what, reply) in [
            ("text, cut", Reply::pieces([event(&text_chunk("half"))]).cut()),
            ("text that ends well", Reply::pieces([event(&text_chunk("half"))])),
            ("text and half a call", Reply::pieces([event(&text_chunk("half")), call()]).cut()),
        ] {
            let scene = Scene::new("chat_completions").await;
            scene.mock.script([reply, Reply::say(&["ok"])]);
            let (mut client, session) = scene.session(version).await;
            let error = ask(&mut client, &session, "hi").await.expect_err("no success");
            assert_eq!(error["data"]["runtimeCode"], "provider_truncated", "{what}");
            assert_eq!(told(&mut client), ["text half"], "{what}");
            ask(&mut client, &session, "and?").await.expect("the session goes on");
            client.finish().await;
            assert_eq!(scene.mock.chats().len(), 2, "{what}");
        }
        // A finish reason is enough, however the connection ends.
        for reply in
            [Reply::pieces(whole()), Reply::pieces(whole()).cut(), Reply::pieces(whole()).held_open()]
        {
            let scene = Scene::new("chat_completions").await;
            scene.mock.reply(reply);
            let (mut client, session) = scene.session(version).await;
            assert_eq!(ask(&mut client, &session, "hi").await, Ok("end_turn".to_owned()));
            assert_eq!(told(&mut client), ["text whole"]);
            client.finish().await;
        }
    }
}

#[tokio::test]
async fn a_failed_turn_leaves_nothing_in_the_next_ones() {
    for version in Version::BOTH {
        let scene = Scene::new("chat_completions").await;
        let refused = Reply::error(401, &json!({ "error": { "message": "Invalid key" } }));
        scene.mock.script([Reply::say(&["AAA"]), refused, Reply::say(&["CCC"]), Reply::say(&["DDD"])]);
        let (mut client, session) = scene.session(version).await;
        for expected in [Ok("AAA"), Err(-32603), Ok("CCC"), Ok("DDD")] {
            let end = ask(&mut client, &session, "hi").await;
            match expected {
                Ok(text) => {
                    assert_eq!(end, Ok("end_turn".to_owned()));
                    assert_eq!(told(&mut client), [format!("text {text}")]);
                }
                Err(code) => {
                    assert_eq!(end.expect_err("refused")["code"], code);
                    assert_eq!(told(&mut client), Vec::<String>::new());
                }
            }
        }
        client.finish().await;
    }
}

#[tokio::test]
async fn a_server_that_goes_away_in_the_middle_ends_the_turn_at_once() {
    for version in Version::BOTH {
        let Scene { mock, rig, home } = Scene::new("chat_completions").await;
        mock.reply(Reply::pieces([event(&text_chunk("half"))]).held_open());
        let scene =
            Scene { mock: milk_tests::mock_openai::MockOpenAi::start().await.expect("another"), rig, home };
        let (mut client, session) = scene.session(version).await;
        let id = client.prompt(&session, "hi").await;
        client.update("agent_message_chunk").await;
        drop(mock);
        let error = super::end(&mut client, &id).await.expect_err("it is gone");
        assert_eq!(error["data"]["runtimeCode"], "provider_truncated");
        let error = ask(&mut client, &session, "again").await.expect_err("it is still gone");
        assert_eq!(error["data"]["runtimeCode"], "provider_unreachable");
        client.finish().await;
    }
}
