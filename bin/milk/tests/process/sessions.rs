//! `milk sessions` beside what else the machine does: taken out and in, found, pruned.

use std::path::Path;

use milk_tests::mock_openai::Reply;
use milk_tests::schema::Version;
use serde_json::{Value, json};

use crate::program::{Home, in_time, model};
use crate::talk::{Talk, connect};

/// What a command said.
#[derive(Debug)]
struct Said {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Said {
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    fn ids(&self) -> Vec<String> {
        let rows = self.json();
        let rows = rows.as_array().expect("a list").iter();
        rows.map(|row| row["id"].as_str().expect("an id").to_owned()).collect()
    }
}

async fn milk(home: &Home, arguments: &[&str]) -> Said {
    let output = in_time(home.command([&["sessions"], arguments].concat()).output()).await.expect("it runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Said { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// A session file of the Go milk.
fn write(home: &Home, name: &str, id: &str, (used, history): (&str, Value)) -> String {
    let file = json!({
        "id": id, "cwd": home.work(), "created_at": "2024-01-01T00:00:00Z", "last_used": used,
        "state": "ROUTING", "history": history,
    });
    put(&home.path(name), &file.to_string())
}

fn put(path: &Path, text: &str) -> String {
    std::fs::write(path, text).expect("a file");
    path.display().to_string()
}

fn said(user: &str, agent: &str) -> Value {
    json!([{"role": "user", "content": user}, {"role": "assistant", "agent": "primary", "content": agent}])
}

#[tokio::test]
async fn a_session_taken_out_and_in_again_is_the_same_and_goes_on() {
    let model = model().await;
    model.script([Reply::say(&["Forty", "-two."]), Reply::say(&["Still."])]);
    let home = Home::with(&model);
    let (program, mut talk) = Talk::start(&home, Version::V2).await;
    talk.ask("What is it?").await;
    in_time(talk.client.finish()).await;
    assert_eq!(program.ended().await.code, Some(0));
    let id = talk.session.clone();

    let file = home.path("out.json").display().to_string();
    assert_eq!(milk(&home, &["export", &id, "--format", "json", "--output", &file]).await.code, Some(0));
    let whole = std::fs::read_to_string(&file).expect("written");

    let refused = milk(&home, &["import", &file]).await;
    assert_eq!((refused.code, refused.out.as_str()), (Some(1), ""));
    let told = format!("milk: {file}: session {id} exists already; --new-id imports it under a fresh id\n");
    assert_eq!(refused.err, told + "milk: 1 of 1 session files not imported; see above\n");

    let copied = milk(&home, &["import", "--new-id", &file]).await;
    assert_eq!((copied.code, copied.err.as_str()), (Some(0), ""));
    let copy = copied.out.split_whitespace().nth(1).expect("an id").to_owned();
    assert_ne!(copy, id);
    assert_eq!(copied.out, format!("imported {copy}  What is it? (1 turn)\n"));

    assert_eq!(milk(&home, &["delete", &id]).await.code, Some(0));
    assert_eq!(milk(&home, &["import", &file]).await.code, Some(0));
    assert_eq!(milk(&home, &["export", &id, "--format", "json"]).await.out, whole);
    assert_eq!(milk(&home, &["export", &copy, "--format", "json"]).await.out, whole.replace(&id, &copy));

    let (program, mut again) = Talk::reopen(&home, Version::V2, &id).await;
    again.ask("Really?").await;
    in_time(again.client.finish()).await;
    assert_eq!(program.ended().await.code, Some(0));
    let heard = model.chats().pop().expect("the model was asked").body["messages"].to_string();
    assert!(heard.contains("What is it?") && heard.contains("Forty-two."), "{heard}");
}

#[tokio::test]
async fn files_that_are_no_sessions_cost_themselves() {
    let home = Home::new();
    std::fs::create_dir(home.path("old")).expect("a folder");
    write(&home, "old/b.json", "bbb", ("2024-01-03T00:00:00Z", said("second", "two")));
    write(&home, "old/a.json", "aaa", ("2024-01-02T00:00:00Z", said("first", "one")));
    put(&home.path("old/index.json"), "{}");
    put(&home.path("old/notes.txt"), "not looked at");
    put(&home.path("old/c.json"), "{\"id\": 5}");
    let elsewhere = json!({
        "id": "ddd", "cwd": "here", "created_at": "2024-01-01T00:00:00Z", "last_used": "2024-01-01T00:00:00Z",
    });
    let relative = put(&home.path("d.json"), &elsewhere.to_string());
    let folder = home.path("old").display().to_string();
    let missing = home.path("missing.json").display().to_string();
    let imported = milk(&home, &["import", &folder, &relative, &missing]).await;
    assert_eq!(imported.code, Some(1));
    assert_eq!(imported.out, "imported aaa  first (1 turn)\nimported bbb  second (1 turn)\n");
    let lines: Vec<&str> = imported.err.lines().collect();
    assert_eq!(lines.len(), 4, "{imported:?}");
    assert!(
        lines[0].starts_with(&format!("milk: {folder}/c.json: this is not a session file: ")),
        "{lines:?}"
    );
    assert_eq!(lines[1], format!("milk: {relative}: its folder `here` is not absolute"));
    assert!(lines[2].starts_with(&format!("milk: {missing}: cannot be read: ")), "{lines:?}");
    assert_eq!(lines[3], "milk: 3 of 5 session files not imported; see above");
    assert_eq!(milk(&home, &["list", "--json"]).await.ids(), ["bbb", "aaa"]);
}

#[tokio::test]
async fn words_find_sessions_of_the_folder_or_of_all() {
    let home = Home::new();
    let recent =
        ("2024-02-01T00:00:00Z", said("Fix the login form", "The `validate_email` check was wrong."));
    write(&home, "a.json", "aaaaaaaa-1", recent);
    write(
        &home,
        "b.json",
        "bbbbbbbb-1",
        ("2024-01-01T00:00:00Z", said("\u{30ed}\u{30b0}\u{30a4}\u{30f3}", "login \u{1b}[2J")),
    );
    let elsewhere = json!({
        "id": "cccccccc-1", "cwd": home.path("milk"), "created_at": "2024-01-01T00:00:00Z",
        "last_used": "2024-03-01T00:00:00Z", "history": said("login elsewhere", "yes"),
    });
    put(&home.path("c.json"), &elsewhere.to_string());
    let files = ["a", "b", "c"].map(|name| home.path(&format!("{name}.json")).display().to_string());
    assert_eq!(milk(&home, &["import", &files[0], &files[1], &files[2]]).await.code, Some(0));

    let found = milk(&home, &["search", "LOGIN"]).await;
    let expected = "aaaaaaaa  2024-02-01 00:00  Fix the login form\n    Fix the login form\n\
                    bbbbbbbb  2024-01-01 00:00  \u{30ed}\u{30b0}\u{30a4}\u{30f3}\n    login [2J\n";
    assert_eq!((found.out.as_str(), found.err.as_str()), (expected, ""));
    let ids = ["cccccccc-1", "aaaaaaaa-1", "bbbbbbbb-1"];
    assert_eq!(milk(&home, &["search", "--all", "--json", "login"]).await.ids(), ids);
    assert_eq!(milk(&home, &["search", "--all", "--json", "login", "--limit", "1"]).await.ids(), ids[..1]);
    assert_eq!(milk(&home, &["search", "--json", "check", "VALIDATE"]).await.ids(), ids[1..2]);
    assert_eq!(milk(&home, &["search", "--json", "\u{30b0}\u{30a4}"]).await.ids(), ids[2..]);
    let row = milk(&home, &["search", "--json", "validate"]).await.json()[0].take();
    assert_eq!(row["snippet"], "The `validate_email` check was wrong.");
    assert_eq!((&row["messageId"], &row["turnId"]), (&json!("hist-a1"), &json!("hist-turn0")));
    let nothing = milk(&home, &["search", "NEAR(\"x*"]).await;
    assert_eq!(nothing.err, "milk: nothing found in this folder's sessions; --all looks in every folder's\n");
    assert_eq!((nothing.code, nothing.out.as_str()), (Some(0), ""));
    assert_eq!(milk(&home, &["search"]).await.code, Some(2));
}

#[tokio::test]
async fn pruning_says_what_it_does_and_leaves_what_is_open() {
    let home = Home::new();
    for (name, id) in [("a.json", "old-1"), ("b.json", "old-2"), ("c.json", "old-open")] {
        write(&home, name, id, ("2024-01-02T03:04:05Z", said("an old question", "an answer")));
    }
    write(&home, "d.json", "later", ("9999-01-01T00:00:00Z", said("a new question", "an answer")));
    let files = ["a", "b", "c", "d"].map(|name| home.path(&format!("{name}.json")).display().to_string());
    assert_eq!(milk(&home, &["import", &files[0], &files[1], &files[2], &files[3]]).await.code, Some(0));
    let (program, client) = connect(&home, Version::V2).await;
    let pid = program.pid();
    let mut open = Talk { client, session: "old-open".to_owned(), seen: Vec::new(), rest: Vec::new() };
    open.replay(&home).await.expect("it opens");
    let kept = format!(
        "milk: kept old-open: session old-open is open in another milk process, pid {pid}; close it there first\n"
    );

    let dry = milk(&home, &["prune", "--older-than", "30d", "--dry-run"]).await;
    let folder = home.work().display().to_string();
    let line = |id: &str| format!("{id}  2024-01-02 03:04  an old question  {folder}\n");
    assert_eq!(dry.out, line("old-1") + &line("old-2"));
    assert_eq!(dry.err, format!("{kept}milk: 2 sessions would be deleted\n"));

    let unasked = milk(&home, &["prune", "--older-than", "30d"]).await;
    assert_eq!((unasked.code, unasked.out.as_str()), (Some(1), ""));
    let told = "milk: 3 sessions would be deleted and there is no terminal to ask at; add --yes, or --dry-run to see which\n";
    assert_eq!(unasked.err, told);
    assert_eq!(milk(&home, &["list", "--json"]).await.ids(), ["later", "old-1", "old-2", "old-open"]);

    let deleted = milk(&home, &["prune", "--older-than", "30d", "--yes"]).await;
    assert_eq!((deleted.code, deleted.out.as_str()), (Some(0), "deleted old-1\ndeleted old-2\n"));
    assert_eq!(deleted.err, format!("{kept}milk: 2 sessions deleted\n"));
    assert_eq!(milk(&home, &["list", "--json"]).await.ids(), ["later", "old-open"]);
    assert_eq!(milk(&home, &["delete", "old-open"]).await.code, Some(1), "as open it cannot be deleted");

    in_time(open.client.finish()).await;
    assert_eq!(program.ended().await.code, Some(0));
    let told = milk(&home, &["prune", "--older-than", "1w", "--yes", "--json"]).await.json();
    assert_eq!(
        told,
        json!([{
            "id": "old-open", "cwd": home.work(), "name": null, "title": "an old question", "deleted": true, "kept": null,
            "createdAt": "2024-01-01T00:00:00Z", "updatedAt": "2024-01-02T03:04:05Z",
        }])
    );
    let none = milk(&home, &["prune", "--older-than", "1w"]).await;
    assert_eq!((none.code, none.err.as_str()), (Some(0), "milk: no session is that old\n"));
    assert_eq!(milk(&home, &["prune", "--older-than", "soon"]).await.code, Some(2));
}

#[tokio::test]
async fn searching_and_pruning_nothing_makes_nothing() {
    let home = Home::new();
    assert_eq!(milk(&home, &["search", "x", "--json"]).await.out, "[]\n");
    assert_eq!(milk(&home, &["prune", "--older-than", "1d", "--json"]).await.out, "[]\n");
    assert_eq!(std::fs::read_dir(home.path("milk")).expect("a folder").count(), 0);
}
