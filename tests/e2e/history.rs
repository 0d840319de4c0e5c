//! What is found again later: the list in pages, and every row of a turn as it was told when it happened.

use std::collections::BTreeMap;

use agent_runtime::scripted::Line;
use milk_tests::client::Client;
use milk_tests::rig::Rig;
use milk_tests::schema::Version;
use serde_json::{Value, json};
use session_model::SessionId;
use session_store::SessionMeta;
use time::Duration;
use time::macros::datetime;

/// Tool rows by id, their updates laid over each other as the protocol says; announced before they are updated.
fn rows(transcript: &str) -> BTreeMap<String, Value> {
    let mut rows: BTreeMap<String, Value> = BTreeMap::new();
    for line in transcript.lines().filter_map(|line| line.strip_prefix("← ")) {
        let line: Value = serde_json::from_str(line).expect("JSON");
        let mut update = line["params"]["update"].clone();
        let kind = update["sessionUpdate"].as_str().unwrap_or_default().to_owned();
        if !matches!(kind.as_str(), "tool_call" | "tool_call_update") {
            continue;
        }
        let id = update["toolCallId"].as_str().expect("an id").to_owned();
        let members = update.as_object_mut().expect("an object");
        members.remove("sessionUpdate");
        match rows.get_mut(&id) {
            Some(row) => row.as_object_mut().expect("an object").append(members),
            None => drop(rows.insert(id, update)),
        }
    }
    rows
}

/// The ids of tool rows, in the order in which they appeared.
fn order(transcript: &str) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for line in transcript.lines().filter_map(|line| line.strip_prefix("← ")) {
        let line: Value = serde_json::from_str(line).expect("JSON");
        if let Some(id) = line["params"]["update"]["toolCallId"].as_str()
            && !ids.iter().any(|known| known == id)
        {
            ids.push(id.to_owned());
        }
    }
    ids
}

async fn open(client: &mut Client, rig: &Rig, session: &str) -> Result<Value, Value> {
    let (method, mut params) = match client.version() {
        Version::V1 => ("session/load", json!({})),
        Version::V2 => ("session/resume", json!({ "replayFrom": { "type": "start" } })),
    };
    params["sessionId"] = json!(session);
    params["cwd"] = json!(rig.cwd());
    params["mcpServers"] = json!([]);
    client.call(method, params).await
}

// A real command takes real time, which a clock that skips idle time would count as minutes.
#[tokio::test]
async fn tool_rows_are_replayed_as_they_were_told() {
    for version in Version::BOTH {
        let rig = Rig::new(vec![
            vec![
                Line::call("read_file", json!({ "path": "a.txt" })),
                Line::call("write_file", json!({ "path": "b.txt", "content": "new\n" })),
                Line::call(
                    "edit_file",
                    json!({ "path": "a.txt", "old_string": "hello", "new_string": "bye" }),
                ),
            ],
            vec![
                Line::call("bash", json!({ "command": "echo out; exit 3" })),
                Line::call("read_file", json!({ "path": "missing.txt" })),
                Line::call("no_such_tool", json!({})),
            ],
            vec![Line::say("Done.")],
        ]);
        rig.file("a.txt", "hello\n");
        let (mut client, session) = rig.session(version).await;
        let id = client.prompt(&session, "do it").await;
        for _ in 0..3 {
            let (ask, params) = client.request("session/request_permission").await;
            let options = params["options"].as_array().expect("options");
            let allow = options.iter().find(|option| option["kind"] == "allow_once").expect("a way to allow");
            client.choose(&ask, allow["optionId"].as_str().expect("an id")).await;
        }
        client.response(&id).await.expect("answered");
        let told = client.finish().await;
        let live = rows(&told);
        assert_eq!(live.len(), 6, "{live:#?}");

        let mut client = rig.connect(version).await;
        open(&mut client, &rig, &session).await.expect("opened");
        let told_again = client.finish().await;
        let replayed = rows(&told_again);
        assert_eq!(order(&told_again), order(&told), "in the order of the calls");
        for (id, row) in &live {
            let again = replayed.get(id).unwrap_or_else(|| panic!("{id} is not replayed"));
            if row["content"][0]["type"] == "terminal" {
                // A terminal is of the moment; what it showed is kept.
                let text = &again["content"][0]["content"]["text"];
                assert_eq!(text, "out\n[the command ended with exit code 3]", "{again:#}");
                continue;
            }
            for member in ["title", "name", "kind", "locations", "rawInput", "rawOutput", "status", "content"]
            {
                assert_eq!(again[member], row[member], "{version:?} {member} of {id}\n{row:#}\n{again:#}");
            }
        }
    }
}

fn meta(id: String, cwd: &std::path::Path, seconds: i64) -> SessionMeta {
    let at = datetime!(2026-01-01 00:00 UTC) + Duration::seconds(seconds);
    SessionMeta {
        id: SessionId::from(id),
        cwd: cwd.to_owned(),
        additional_roots: Vec::new(),
        name: None,
        title: Some("t".to_owned()),
        created_at: at,
        updated_at: at,
        grants: Vec::new(),
        options: serde_json::Map::new(),
        usage: session_model::SessionUsage::default(),
    }
}

/// The ids of all pages, and how many there were.
async fn walk(client: &mut Client, cwd: Option<&std::path::Path>) -> (Vec<String>, usize) {
    let (mut ids, mut pages, mut cursor) = (Vec::new(), 0, Value::Null);
    loop {
        let mut params = json!({});
        if let Some(cwd) = cwd {
            params["cwd"] = json!(cwd);
        }
        if !cursor.is_null() {
            params["cursor"] = cursor;
        }
        let page = client.call("session/list", params).await.expect("listed");
        let rows = page["sessions"].as_array().expect("rows");
        ids.extend(rows.iter().map(|row| row["sessionId"].as_str().expect("an id").to_owned()));
        pages += 1;
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            return (ids, pages);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_list_has_every_session_once_last_used_first_and_filters_by_folder() {
    for version in Version::BOTH {
        let rig = Rig::new(Vec::new());
        let other = tempfile::tempdir().expect("a folder");
        let other = other.path().canonicalize().expect("it is there");
        for n in 0..3 {
            rig.store.create(meta(format!("old-{n}"), &other, n)).await.expect("created");
        }
        for n in 0..120 {
            rig.store.create(meta(format!("s-{n:03}"), &rig.cwd(), 100 + n)).await.expect("created");
        }
        let mut client = rig.connect(version).await;
        let (ids, pages) = walk(&mut client, Some(&other)).await;
        assert_eq!((ids, pages), (vec!["old-2".to_owned(), "old-1".to_owned(), "old-0".to_owned()], 1));
        let (ids, pages) = walk(&mut client, None).await;
        let expected: Vec<String> = (0..120)
            .rev()
            .map(|n| format!("s-{n:03}"))
            .chain((0..3).rev().map(|n| format!("old-{n}")))
            .collect();
        assert_eq!((ids, pages), (expected, 3));
        let none = client.call("session/list", json!({ "cwd": rig.cwd().join("none") })).await;
        assert_eq!(none.expect("an empty list")["sessions"], json!([]));
        for params in [
            json!({ "cursor": "garbage" }),
            json!({ "cursor": "bzotMQ==" }),
            json!({ "cwd": "relative/path" }),
        ] {
            let error = client.call("session/list", params.clone()).await.expect_err("refused");
            assert_eq!(error["code"], -32602, "{params}: {error}");
        }
        client.finish().await;
    }
}

#[tokio::test(start_paused = true)]
async fn deleting_a_session_in_the_middle_of_its_turn_cancels_the_turn_first() {
    for version in Version::BOTH {
        let rig = Rig::new(vec![vec![Line::say("begun"), Line::Hang]]);
        let (mut client, session) = rig.session(version).await;
        let turn = client.prompt(&session, "hello").await;
        client.update("agent_message_chunk").await;
        let deleting = client.send("session/delete", json!({ "sessionId": session })).await;
        let ended = client.response(&turn).await.expect("answered as cancelled");
        if version == Version::V1 {
            assert_eq!(ended["stopReason"], "cancelled");
        }
        client.response(&deleting).await.expect("deleted");
        assert_eq!(walk(&mut client, None).await.0, Vec::<String>::new());
        assert!(rig.store.meta(&SessionId::from(session.as_str())).await.is_err(), "nothing brings it back");
        client.finish().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_stored_option_that_means_nothing_any_more_falls_back_to_the_default() {
    for version in Version::BOTH {
        let rig = Rig::new(vec![vec![Line::say("hi")]]);
        let mut gone = meta("s-1".to_owned(), &rig.cwd(), 1);
        gone.options.insert("model".to_owned(), json!("a-model-that-was"));
        gone.options.insert("think".to_owned(), json!("neither"));
        rig.store.create(gone).await.expect("created");
        let mut client = rig.connect(version).await;
        open(&mut client, &rig, "s-1").await.expect("opened");
        let id = client.prompt("s-1", "hello").await;
        client.response(&id).await.expect("answered");
        client.finish().await;
    }
}
