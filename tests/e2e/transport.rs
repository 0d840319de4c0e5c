//! The lines themselves: what a failed greeting leaves behind, what members a line has, and whose output it is.

use std::collections::BTreeSet;

use agent_runtime::scripted::Line;
use milk_acp::drivers::SessionSettings;
use milk_tests::client::Client;
use milk_tests::rig::Rig;
use milk_tests::schema::Version;
use serde_json::{Value, json};

/// Greetings without a version that can be agreed on, and the code of the refusal.
fn refused() -> [(Value, i64); 6] {
    [
        (json!({ "protocolVersion": 0 }), -32022),
        (json!({}), -32602),
        (json!({ "protocolVersion": null }), -32602),
        (json!({ "protocolVersion": "latest" }), -32602),
        (json!({ "protocolVersion": [1] }), -32602),
        (json!({ "protocolVersion": 1.5 }), -32602),
    ]
}

#[tokio::test(start_paused = true)]
async fn a_refused_greeting_names_its_fault_and_leaves_the_connection_usable() {
    for version in Version::BOTH {
        for (greeting, code) in refused() {
            let rig = Rig::new(vec![vec![Line::say("Hello.")]]);
            let mut client = rig.pipe(version);
            let error = client.call("initialize", greeting.clone()).await.expect_err("no version");
            assert_eq!(error["code"], code, "{greeting}");
            assert!(code == -32022 || error.to_string().contains("protocolVersion"), "{error}");
            client.initialize().await;
            let session = client.new_session(&rig.cwd()).await;
            let id = client.prompt(&session, "hi").await;
            client.response(&id).await.expect("answered");
            client.finish().await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_version_that_can_be_agreed_on_is_served_with_its_own_shapes() {
    let agreed = [
        (json!(1), Version::V1),
        (json!("1"), Version::V1),
        (json!(2), Version::V2),
        (json!("2"), Version::V2),
        (json!(3), Version::V2),
        (json!(99), Version::V2),
    ];
    for (asked, version) in agreed {
        let rig = Rig::new(Vec::new());
        let mut client = rig.pipe(version);
        client.initialize_with(json!({ "protocolVersion": asked })).await;
        client.new_session(&rig.cwd()).await;
        client.finish().await;
    }
}

/// The names of an object's members.
fn members(value: &Value) -> BTreeSet<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

/// A session with an edit that is asked for, a failure, a list, a cancelled turn and a close.
async fn long_session(rig: &Rig, client: &mut Client, session: &str) {
    let id = client.prompt(session, "change one to two in a.txt").await;
    let (question, _) = client.request("session/request_permission").await;
    client.choose(&question, "allow").await;
    client.response(&id).await.expect("answered");
    client.call("session/list", json!({ "cwd": rig.cwd() })).await.expect("listed");
    client.call("session/prompt", json!({ "sessionId": session })).await.expect_err("no prompt");
    client.call("_someone/else", json!({})).await.expect_err("no such method");
    let id = client.prompt(session, "change it back").await;
    let (question, _) = client.request("session/request_permission").await;
    client.cancel(session).await;
    client.refuse(&question, -32800, "cancelled").await;
    // An answer or an error, as the version has it.
    drop(client.response(&id).await);
    client.call("session/close", json!({ "sessionId": session })).await.expect("closed");
}

#[tokio::test(start_paused = true)]
async fn a_line_has_the_members_of_its_kind_and_no_others() {
    for version in Version::BOTH {
        let edit = |old: &str, new: &str| {
            Line::call("edit_file", json!({ "path": "a.txt", "old_string": old, "new_string": new }))
        };
        let rig =
            Rig::new(vec![vec![edit("one", "two")], vec![Line::say("Done.")], vec![edit("two", "one")]]);
        rig.file("a.txt", "one\n");
        let (mut client, session) = rig.session(version).await;
        long_session(&rig, &mut client, &session).await;
        let mut kinds = [0; 4];
        let transcript = client.finish().await;
        for text in transcript.lines().filter_map(|line| line.strip_prefix("← ")) {
            let line: Value = serde_json::from_str(text).expect("JSON");
            let kind = [
                &["id", "jsonrpc", "method", "params"][..],
                &["jsonrpc", "method", "params"],
                &["id", "jsonrpc", "result"],
                &["error", "id", "jsonrpc"],
            ]
            .iter()
            .position(|kind| members(&line).iter().eq(kind.iter()));
            kinds[kind.unwrap_or_else(|| panic!("no kind of message: {text}"))] += 1;
            if let Some(error) = line.get("error") {
                assert!(members(error).is_subset(&["code", "data", "message"].into()), "{text}");
            }
        }
        assert!(kinds.iter().all(|count| *count > 0), "each kind was seen: {kinds:?}");
    }
}

/// Prints on both its streams, with an escape that would retitle a terminal, and reads what input it has.
#[cfg(unix)]
const NOISY: &str = r"printf 'NOISE\033]0;t\007\n'; printf 'NOISE on error\n' >&2; cat; echo read";

#[cfg(unix)]
#[tokio::test]
async fn what_a_command_prints_stays_in_its_row_and_its_input_is_empty() {
    for version in Version::BOTH {
        let settings = SessionSettings { skip_permissions: true, ..SessionSettings::default() };
        let answers = vec![vec![Line::call("bash", json!({ "command": NOISY }))], vec![Line::say("Done.")]];
        let rig = Rig::with(answers, settings);
        let (mut client, session) = rig.session(version).await;
        let id = client.prompt(&session, "make a noise").await;
        client.response(&id).await.expect("answered");
        for line in client.take_unclaimed() {
            let kind = line["params"]["update"]["sessionUpdate"].as_str().unwrap_or_default();
            assert!(kind.starts_with("tool_call") || !line.to_string().contains("NOISE"), "{line}");
        }
        let heard = rig.model.requests().pop().expect("the model was asked");
        let heard = format!("{:?}", heard.messages);
        for printed in ["NOISE on error", "read"] {
            assert!(heard.contains(&format!("{printed}\\\\n")), "{printed} in {heard}");
        }
        client.finish().await;
    }
}
