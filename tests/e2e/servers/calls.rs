//! Calls whatever their ids, their arguments and their ends look like.

use std::collections::BTreeSet;

use milk_tests::client::Client;
use milk_tests::mock_openai::{Reply, call_chunk, event, finish_chunk, text_chunk};
use milk_tests::schema::Version;
use serde_json::{Value, json};

use super::{APIS, Say, Scene, Stop, answer, ask, told};

/// The ids of all rows so far, in the order they came first.
fn rows(client: &mut Client) -> Vec<String> {
    let mut ids = Vec::new();
    for line in client.take_unclaimed() {
        if let Some(id) = line["params"]["update"]["toolCallId"].as_str()
            && !ids.iter().any(|known| known == id)
        {
            ids.push(id.to_owned());
        }
    }
    ids
}

#[tokio::test]
async fn calls_that_share_an_id_all_run_and_their_rows_are_replayed_under_the_same_ids() {
    for version in Version::BOTH {
        for api in APIS {
            let scene = Scene::new(api).await;
            scene.mock.strict();
            let look = |path: &'static str| Say::Call("call_0", "read_file", path);
            let paths = [r#"{"path":"a"}"#, r#"{"path":"b"}"#, r#"{"path":"c"}"#];
            for name in ["a", "b", "c"] {
                scene.rig.file(name, &format!("this is {name}"));
            }
            scene.mock.script([
                answer(api, &[look(paths[0])], Stop::Whole),
                answer(api, &[look(paths[1])], Stop::Whole),
                answer(api, &[look(paths[2])], Stop::Whole),
                answer(api, &[look(paths[0]), look(paths[1])], Stop::Whole),
                answer(api, &[Say::Text("done")], Stop::Whole),
                answer(api, &[Say::Text("still here")], Stop::Whole),
            ]);
            let (mut client, session) = scene.session(version).await;
            assert_eq!(ask(&mut client, &session, "read").await, Ok("end_turn".to_owned()), "{api}");
            let live = rows(&mut client);
            client.finish().await;
            assert_eq!(live.len(), 5, "{api}");
            assert_eq!(live.iter().collect::<BTreeSet<_>>().len(), 5, "{api}: {live:?}");
            let (_next, mut later) = scene.reopened(version, &session).await;
            assert_eq!(rows(&mut later), live, "{api}");
            ask(&mut later, &session, "there?").await.expect("answered");
            later.finish().await;
            assert_eq!(scene.mock.broken_rules(), Vec::<String>::new(), "{api}");
            let last = scene.mock.chats().pop().expect("asked").body.to_string();
            for text in ["this is a", "this is b", "this is c"] {
                assert!(last.contains(text), "{api}: {last}");
            }
        }
    }
}

#[tokio::test]
async fn half_a_call_writes_no_half_file_and_the_model_is_told_before_the_turn_gives_up() {
    let half = r#"{"path":"a.txt","content":"abc"#;
    for version in Version::BOTH {
        for api in APIS {
            for arguments in [half, r#"{"path":"a.txt"}"#] {
                let scene = Scene::new(api).await;
                scene.mock.strict();
                scene
                    .mock
                    .respond(move |_| answer(api, &[Say::Call("c", "write_file", arguments)], Stop::Length));
                let (mut client, session) = scene.session(version).await;
                assert_eq!(ask(&mut client, &session, "write").await, Ok("max_tokens".to_owned()), "{api}");
                let rows = told(&mut client);
                assert_eq!(rows[..2], ["row failed", "row failed"], "{api}: {rows:?}");
                client.finish().await;
                assert!(!scene.rig.dir.path().join("a.txt").exists(), "{api}");
                let sent = scene.mock.chats();
                assert_eq!(sent.len(), 3, "{api}");
                for request in &sent[1..] {
                    assert!(request.body.to_string().contains("smaller pieces"), "{api}: {}", request.body);
                }
                assert_eq!(scene.mock.broken_rules(), Vec::<String>::new(), "{api}");
            }
        }
    }
}

#[tokio::test]
async fn arguments_that_are_no_json_fail_their_call_and_never_reach_the_server_again() {
    for version in Version::BOTH {
        for api in APIS {
            let scene = Scene::new(api).await;
            scene.mock.strict();
            let broken = r#"{"command": "cd /x"#;
            scene.mock.script([
                answer(api, &[Say::Call("c", "bash", broken)], Stop::Whole),
                answer(api, &[Say::Text("I see.")], Stop::Whole),
                answer(api, &[Say::Text("fine")], Stop::Whole),
                answer(api, &[Say::Text("fine")], Stop::Whole),
            ]);
            let (mut client, session) = scene.session(version).await;
            assert_eq!(ask(&mut client, &session, "run").await, Ok("end_turn".to_owned()), "{api}");
            let lines = client.take_unclaimed();
            let raw = lines.iter().any(|line| line["params"]["update"]["rawInput"] == broken);
            assert!(raw, "{api}: the row shows what came");
            ask(&mut client, &session, "again").await.expect("answered");
            client.finish().await;
            let (_next, mut later) = scene.reopened(version, &session).await;
            ask(&mut later, &session, "and now").await.expect("answered");
            later.finish().await;
            assert_eq!(scene.mock.broken_rules(), Vec::<String>::new(), "{api}");
            for request in &scene.mock.chats()[1..] {
                assert!(request.body.to_string().contains("not valid JSON"), "{api}: {}", request.body);
            }
        }
    }
}

#[tokio::test]
async fn a_finish_reason_decides_nothing_that_the_answer_does_not_say() {
    let called = |end: &[Value]| {
        let call = call_chunk(0, "a", "list_dir", "{}");
        Reply::chunks([call].into_iter().chain(end.iter().cloned()))
    };
    let reason = |reason: Value| json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] });
    for version in Version::BOTH {
        for end in [json!("stop"), json!("end_turn"), json!("function_call"), json!(null), json!("")] {
            let scene = Scene::new("chat_completions").await;
            scene.mock.script([called(&[reason(end.clone())]), Reply::say(&["ok"])]);
            let (mut client, session) = scene.session(version).await;
            assert_eq!(ask(&mut client, &session, "look").await, Ok("end_turn".to_owned()));
            assert_eq!(told(&mut client), ["row completed", "text ok"], "{end}");
            client.finish().await;
        }
        // The other way round: nothing is called although it says so.
        let empty = json!({ "choices": [{ "delta": { "tool_calls": [] }, "finish_reason": "stop" }] });
        let table = [
            (Reply::chunks([text_chunk("done"), finish_chunk("tool_calls")]), "text done"),
            (Reply::chunks([text_chunk("done"), empty]), "text done"),
            (Reply::chunks([finish_chunk("tool_calls")]), "notice The turn finished without a text reply."),
        ];
        for (reply, expected) in table {
            let scene = Scene::new("chat_completions").await;
            scene.mock.strict();
            scene.mock.script([reply, Reply::say(&["ok"])]);
            let (mut client, session) = scene.session(version).await;
            assert_eq!(ask(&mut client, &session, "go").await, Ok("end_turn".to_owned()));
            assert_eq!(told(&mut client), [expected]);
            ask(&mut client, &session, "and?").await.expect("answered");
            client.finish().await;
            assert_eq!((scene.mock.chats().len(), scene.mock.broken_rules().len()), (2, 0));
        }
    }
}

#[tokio::test]
async fn characters_cut_anywhere_arrive_whole_in_the_text_the_file_and_the_history() {
    let crab = "那个🦀é";
    let halves = |first: &str, second: &str| {
        [first, second]
            .map(|half| format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{half}\"}}}}]}}\n\n"))
    };
    for version in Version::BOTH {
        let scene = Scene::new("chat_completions").await;
        let arguments = json!({ "path": "a.txt", "content": crab }).to_string();
        let call =
            [text_chunk(crab), call_chunk(0, "a", "write_file", &arguments), finish_chunk("tool_calls")];
        let bytes: String = call.iter().map(event).collect();
        let [first, second] = halves(r"\ud83e", r"\udd80");
        let split = format!("{first}{second}{}", event(&finish_chunk("stop")));
        scene.mock.script([
            Reply::pieces(bytes.as_bytes().chunks(1)),
            Reply::pieces(split.as_bytes().chunks(1)),
            Reply::say(&["ok"]),
        ]);
        let (mut client, session) = scene.session(version).await;
        ask(&mut client, &session, "write").await.expect("answered");
        assert_eq!(told(&mut client), ["text 那个🦀é", "row completed", "text 🦀"]);
        client.finish().await;
        assert_eq!(scene.rig.read("a.txt"), crab);
        let (_next, mut later) = scene.reopened(version, &session).await;
        ask(&mut later, &session, "and?").await.expect("answered");
        let transcript = later.finish().await;
        assert!(!transcript.contains('\u{fffd}'), "{transcript}");
        let last = scene.mock.chats().pop().expect("asked").body["messages"].to_string();
        assert!(last.contains(crab) && last.contains("\"🦀\"") && !last.contains('\u{fffd}'), "{last}");
    }
}
