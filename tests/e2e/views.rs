//! Conversation views: which session a handle shows, how a view comes to show another, and what closing and deleting
//! do to the views concerned.

use agent_runtime::scripted::Line;
use insta::assert_snapshot;
use milk_tests::client::Client;
use milk_tests::rig::{Rig, redacted};
use milk_tests::schema::Version;
use serde_json::{Value, json};
use session_model::{Content, Entry, Item, MessageId, SessionId, StopReason, TurnId};
use session_store::SessionMeta;
use time::macros::datetime;

/// A rig whose model answers "one", "two", and so on.
fn rig() -> Rig {
    let words = ["one", "two", "three", "four", "five", "six", "seven", "eight"];
    Rig::new(words.iter().map(|word| vec![Line::say(*word)]).collect())
}

/// Sends a prompt, waits for its end and returns what the agent said under this handle.
async fn say(client: &mut Client, handle: &str, text: &str) -> String {
    client.settle().await;
    client.take_unclaimed();
    let id = client.prompt(handle, text).await;
    client.response(&id).await.expect("answered");
    client.settle().await;
    spoken(client, handle)
}

/// What the agent said so far under a handle, chunks and whole messages alike.
fn spoken(client: &mut Client, handle: &str) -> String {
    let mut said = String::new();
    for line in client.take_unclaimed() {
        let params = &line["params"];
        let update = &params["update"];
        let kind = update["sessionUpdate"].as_str().unwrap_or_default();
        if params["sessionId"] != handle || !matches!(kind, "agent_message_chunk" | "agent_message") {
            continue;
        }
        let parts =
            if update["content"].is_array() { update["content"].clone() } else { json!([update["content"]]) };
        for part in parts.as_array().expect("content") {
            said.push_str(part["text"].as_str().unwrap_or_default());
        }
    }
    said
}

/// Checks the whole conversation against its snapshot; lists of commands, the same everywhere, are left out.
async fn transcript(client: Client, rig: &Rig, name: &str) {
    let version = client.version().number();
    let whole = redacted(&client.finish().await, rig);
    let lines = whole.lines().filter(|line| !line.contains("\"available_commands_update\""));
    let brief: Vec<String> = lines.map(without_commands).collect();
    assert_snapshot!(format!("{name}_v{version}"), brief.join("\n"));
}

fn without_commands(line: &str) -> String {
    let Some((before, rest)) = line.split_once(",\"availableCommands\":[") else { return line.to_owned() };
    let (_, after) = rest.split_once("}]").expect("a list of commands");
    format!("{before}{after}")
}

async fn resume(client: &mut Client, rig: &Rig, session: &str) -> Result<Value, Value> {
    client.call("session/resume", json!({ "sessionId": session, "cwd": rig.cwd() })).await
}

async fn sessions(client: &mut Client) -> Vec<String> {
    let list = client.call("session/list", json!({})).await.expect("listed");
    let rows = list["sessions"].as_array().expect("rows");
    rows.iter().map(|row| row["sessionId"].as_str().expect("an id").to_owned()).collect()
}

/// The stored session that is not among these.
async fn other(client: &mut Client, known: &[&str]) -> String {
    let all = sessions(client).await;
    all.into_iter().find(|id| !known.contains(&id.as_str())).expect("a further session")
}

/// The text of the messages the model was last sent.
fn heard(rig: &Rig) -> String {
    format!("{:?}", rig.model.requests().pop().expect("the model was asked").messages)
}

async fn fresh(client: &mut Client, rig: &Rig) -> String {
    let params = json!({ "cwd": rig.cwd(), "mcpServers": [], "_meta": { "milk": { "fresh": true } } });
    let result = client.call("session/new", params).await.expect("a session");
    result["sessionId"].as_str().expect("an id").to_owned()
}

#[tokio::test(start_paused = true)]
async fn a_view_goes_on_in_a_fresh_session_and_returns_when_its_handle_is_resumed() {
    for version in Version::BOTH {
        let rig = rig();
        let (mut client, handle) = rig.session(version).await;
        assert_eq!(say(&mut client, &handle, "first question").await, "one");
        let told = say(&mut client, &handle, "/new plans").await;
        assert!(told.contains("[milk] new session") && told.contains("(plans)"), "{told}");
        assert_eq!(say(&mut client, &handle, "second question").await, "two");
        assert!(!heard(&rig).contains("first question"), "the fresh session knows nothing of the first");
        let second = other(&mut client, &[&handle]).await;

        resume(&mut client, &rig, &handle).await.expect("it returns");
        let told = spoken(&mut client, &handle);
        assert!(told.contains("resumed session") && told.contains("one"), "{told}");
        assert!(!told.contains("two"), "{told}");
        assert_eq!(say(&mut client, &handle, "third question").await, "three");
        let heard = heard(&rig);
        assert!(heard.contains("first question") && !heard.contains("second question"), "{heard}");

        let told = say(&mut client, &handle, "/resume plans").await;
        assert!(told.contains("[milk] resumed session") && told.contains("(1 turn)"), "{told}");
        assert!(told.contains("two"), "what is there is shown: {told}");
        let told = say(&mut client, &handle, &format!("/resume {second}")).await;
        assert!(told.contains("already"), "{told}");
        transcript(client, &rig, "new_and_return").await;
    }
}

#[tokio::test(start_paused = true)]
async fn resuming_what_a_view_shows_makes_the_id_an_alias_of_it() {
    for version in Version::BOTH {
        let rig = rig();
        let (mut client, handle) = rig.session(version).await;
        say(&mut client, &handle, "/new").await;
        assert_eq!(say(&mut client, &handle, "a question").await, "one");
        let shown = other(&mut client, &[&handle]).await;
        resume(&mut client, &rig, &shown).await.expect("the view answers");
        assert_eq!(say(&mut client, &shown, "by the alias").await, "two", "spoken under the alias");
        assert_eq!(say(&mut client, &handle, "by the handle").await, "three", "and under the handle");
        let heard = heard(&rig);
        assert!(heard.contains("a question") && heard.contains("by the alias"), "one session: {heard}");
        // Cancel and close work by every handle.
        rig.model.push(vec![Line::say("…"), Line::Hang]);
        while rig.model.remaining() > 1 {
            say(&mut client, &handle, "on").await;
        }
        let id = client.prompt(&handle, "hang").await;
        client.update("agent_message_chunk").await;
        client.cancel(&shown).await;
        client.response(&id).await.expect("cancelled");
        client.call("session/close", json!({ "sessionId": shown })).await.expect("closed");
        for gone in [&handle, &shown] {
            let id = client.prompt(gone, "anyone?").await;
            assert_eq!(client.response(&id).await.expect_err("closed")["code"], -32002);
        }
        let next = client.new_session(&rig.cwd()).await;
        assert!(next != handle && next != shown, "neither is taken up again");
        transcript(client, &rig, "alias").await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_is_shown_by_one_view_only() {
    for version in Version::BOTH {
        let rig = rig();
        let (mut client, one) = rig.session(version).await;
        say(&mut client, &one, "in one").await;
        let two = fresh(&mut client, &rig).await;
        let told = say(&mut client, &two, &format!("/resume {one}")).await;
        assert!(told.contains("open in another conversation — close it there first"), "{told}");
        assert_eq!(say(&mut client, &two, "still here?").await, "two", "the view stays where it was");
        // Once the first view shows something else, the session is free.
        say(&mut client, &one, "/new").await;
        let told = say(&mut client, &two, &format!("/resume {one}")).await;
        assert!(told.contains("resumed session") && told.contains("one"), "{told}");
        // Its id belongs to the view that shows it now, although another was made with it.
        resume(&mut client, &rig, &one).await.expect("the second view answers");
        assert_eq!(say(&mut client, &one, "who answers?").await, "three");
        assert!(heard(&rig).contains("in one"));
        let told = say(&mut client, &two, "/sessions").await;
        assert!(told.lines().any(|line| line.starts_with('*') && line.contains("in one")), "{told}");
        transcript(client, &rig, "one_view").await;
    }
}

#[tokio::test(start_paused = true)]
async fn dropping_the_present_session_goes_on_in_a_fresh_one() {
    for version in Version::BOTH {
        let rig = rig();
        let (mut client, handle) = rig.session(version).await;
        say(&mut client, &handle, "secret").await;
        let told = say(&mut client, &handle, "/drop").await;
        assert!(told.contains(&format!("[milk] dropped session {handle}")), "{told}");
        assert!(!sessions(&mut client).await.contains(&handle), "it is gone");
        assert_eq!(say(&mut client, &handle, "next").await, "two");
        assert!(!heard(&rig).contains("secret"));
        let error = resume(&mut client, &rig, &handle).await.expect_err("nothing to return to");
        assert_eq!(error["code"], -32002, "{error}");
        assert_eq!(say(&mut client, &handle, "and again").await, "three", "the view is where it was");
        transcript(client, &rig, "drop").await;
    }
}

#[tokio::test(start_paused = true)]
async fn deleting_what_another_view_shows_moves_that_view_to_a_fresh_session() {
    for version in Version::BOTH {
        for by_command in [false, true] {
            let rig = rig();
            let (mut client, handle) = rig.session(version).await;
            say(&mut client, &handle, "/new").await;
            say(&mut client, &handle, "doomed").await;
            let shown = other(&mut client, &[&handle]).await;
            let second = fresh(&mut client, &rig).await;
            client.settle().await;
            client.take_unclaimed();
            if by_command {
                let id = client.prompt(&second, &format!("/drop {shown}")).await;
                client.response(&id).await.expect("answered");
            } else {
                client.call("session/delete", json!({ "sessionId": shown })).await.expect("deleted");
            }
            client.settle().await;
            let told = client.transcript();
            assert!(told.contains("goes on in the fresh session"), "the pane is told\n{told}");
            assert!(!sessions(&mut client).await.contains(&shown));
            assert_eq!(say(&mut client, &handle, "hello?").await, "two");
            assert!(!heard(&rig).contains("doomed"));
            transcript(client, &rig, if by_command { "drop_shown" } else { "delete_shown" }).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn deleting_a_handle_closes_its_view_and_keeps_what_it_showed() {
    for version in Version::BOTH {
        let rig = rig();
        let (mut client, handle) = rig.session(version).await;
        say(&mut client, &handle, "first").await;
        say(&mut client, &handle, "/new").await;
        say(&mut client, &handle, "kept").await;
        let shown = other(&mut client, &[&handle]).await;
        client.call("session/delete", json!({ "sessionId": handle })).await.expect("deleted");
        assert_eq!(sessions(&mut client).await, std::slice::from_ref(&shown));
        let id = client.prompt(&handle, "hello?").await;
        assert_eq!(client.response(&id).await.expect_err("closed")["code"], -32002);
        resume(&mut client, &rig, &shown).await.expect("it can be opened");
        assert_eq!(say(&mut client, &shown, "go on").await, "three");
        assert!(heard(&rig).contains("kept"));
        transcript(client, &rig, "delete_handle").await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_can_be_opened_again_while_it_is_still_being_closed() {
    for version in Version::BOTH {
        let rig = Rig::new(vec![vec![Line::say("begun"), Line::Hang], vec![Line::say("again")]]);
        let (mut client, session) = rig.session(version).await;
        let turn = client.prompt(&session, "hello").await;
        client.update("agent_message_chunk").await;
        let closings = [
            client.send("session/close", json!({ "sessionId": session })).await,
            client.send("session/close", json!({ "sessionId": session })).await,
        ];
        let opening = client.send("session/resume", json!({ "sessionId": session, "cwd": rig.cwd() })).await;
        let next = client.prompt(&session, "still there?").await;
        client.response(&turn).await.expect("answered as cancelled");
        for closing in closings {
            client.response(&closing).await.expect("closed");
        }
        client.response(&opening).await.expect("opened");
        client.response(&next).await.expect("answered");
        assert!(heard(&rig).contains("hello"));
        transcript(client, &rig, "close_and_resume").await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_view_returns_only_when_its_turn_is_over_and_prompts_wait_for_it() {
    for version in Version::BOTH {
        let rig = rig();
        let (mut client, handle) = rig.session(version).await;
        say(&mut client, &handle, "first").await;
        say(&mut client, &handle, "/new").await;
        rig.model.push(vec![Line::say("…"), Line::Hang]);
        while rig.model.remaining() > 1 {
            say(&mut client, &handle, "on").await;
        }
        let turn = client.prompt(&handle, "hang").await;
        client.update("agent_message_chunk").await;
        rig.model.push(vec![Line::say("back")]);
        let back = client.send("session/resume", json!({ "sessionId": handle, "cwd": rig.cwd() })).await;
        let next = client.prompt(&handle, "where am I?").await;
        client.settle().await;
        client.cancel(&handle).await;
        client.response(&turn).await.expect("cancelled");
        client.response(&back).await.expect("returned");
        client.response(&next).await.expect("answered");
        let heard = heard(&rig);
        assert!(heard.contains("first") && !heard.contains("hang"), "{heard}");
        transcript(client, &rig, "return_after_turn").await;
    }
}

/// A session as an import leaves it: ids that tell places in its history.
async fn imported(rig: &Rig, id: &str) {
    let at = datetime!(2025-12-01 10:00 UTC);
    let meta = SessionMeta {
        id: SessionId::from(id),
        cwd: rig.cwd(),
        additional_roots: Vec::new(),
        name: None,
        title: None,
        created_at: at,
        updated_at: at,
        grants: Vec::new(),
        options: serde_json::Map::new(),
        usage: session_model::SessionUsage::default(),
    };
    rig.store.create(meta).await.expect("created");
    let items = [
        Item::User { id: MessageId::from("hist-u0"), content: vec![Content::text("long ago")], key: None },
        Item::Agent { id: MessageId::from("hist-a1"), step: 0, text: "yes".to_owned() },
        Item::TurnEnd { stop: StopReason::EndTurn, error: None, route: None },
    ];
    let turn = TurnId::from("hist-turn0");
    let entries = items.map(|item| Entry { turn: turn.clone(), at, item });
    rig.store.append(&SessionId::from(id), &entries).await.expect("appended");
}

fn replayed(client: &mut Client) -> Vec<String> {
    let mut ids: Vec<String> = client
        .take_unclaimed()
        .iter()
        .filter_map(|line| line["params"]["update"]["messageId"].as_str())
        .filter(|id| id.starts_with("hist-"))
        .map(str::to_owned)
        .collect();
    ids.dedup();
    ids
}

#[tokio::test(start_paused = true)]
async fn ids_of_imported_messages_are_plain_in_the_first_session_and_qualified_in_others() {
    for version in Version::BOTH {
        let rig = rig();
        imported(&rig, "aaaaaaaa-1").await;
        imported(&rig, "bbbbbbbb-2").await;
        let mut client = rig.connect(version).await;
        let params = json!({ "sessionId": "aaaaaaaa-1", "cwd": rig.cwd(), "replayFrom": { "type": "start" }, "mcpServers": [] });
        let method = if version == Version::V1 { "session/load" } else { "session/resume" };
        client.call(method, params).await.expect("opened");
        client.settle().await;
        assert_eq!(replayed(&mut client), ["hist-u0", "hist-a1"]);
        for (reference, ids) in
            [("bbbbbbbb", ["hist-bbbbbbbb-u0", "hist-bbbbbbbb-a1"]), ("aaaaaaaa", ["hist-u0", "hist-a1"])]
        {
            let id = client.prompt("aaaaaaaa-1", &format!("/resume {reference}")).await;
            client.response(&id).await.expect("answered");
            client.settle().await;
            assert_eq!(replayed(&mut client), ids);
        }
        transcript(client, &rig, "imported_ids").await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_belongs_to_the_view_survives_and_what_belongs_to_the_session_does_not() {
    for version in Version::BOTH {
        let rig = rig();
        let (mut client, handle) = rig.session(version).await;
        say(&mut client, &handle, "first").await;
        assert!(say(&mut client, &handle, "/think off").await.contains("off"));
        assert!(say(&mut client, &handle, "/skip-permissions on").await.contains("ON"));
        say(&mut client, &handle, "/clear").await;
        assert!(say(&mut client, &handle, "/think").await.contains("off"));
        assert!(say(&mut client, &handle, "/skip-permissions").await.contains("ON"));
        transcript(client, &rig, "survives").await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_reference_that_means_nothing_or_too_much_is_answered_with_what_to_do() {
    for version in Version::BOTH {
        let rig = rig();
        imported(&rig, "aaaaaaaa-1").await;
        imported(&rig, "aaaaaaaa-2").await;
        let mut client = rig.connect(version).await;
        let handle = fresh(&mut client, &rig).await;
        for (prompt, words) in [
            ("/resume", "usage: /resume"),
            ("/resume nothing", "/sessions lists"),
            ("/resume aaaa", "give more characters"),
            ("/drop nothing", "/sessions lists"),
            ("/export session", "usage: /export"),
            ("/export session nothing", "/sessions lists"),
            ("/export session aaaaaaaa-2", "long ago"),
            ("/export session aaaaaaaa-2 json", "```json"),
            ("/list", "/sessions now"),
        ] {
            let told = say(&mut client, &handle, prompt).await;
            assert!(told.contains(words), "{prompt}: {told}");
        }
        assert!(rig.model.requests().is_empty(), "no model hears of a command");
        transcript(client, &rig, "references").await;
    }
}
