//! `milk sessions`.

use serde_json::json;

use crate::model::{Answer, Model};
use crate::program::{Home, read};

#[test]
fn a_session_is_listed_shown_exported_and_deleted() {
    let model = Model::start([Answer::Call("list_dir", json!({"path": "."})), Answer::Say(&["A demo."])]);
    let home = Home::with_config(&model.config());
    home.milk(&["run", "What is this?"]).expect(0);
    let listed = home.milk(&["sessions", "list", "--json"]).expect(0).json();
    let id = listed[0]["id"].as_str().expect("an id").to_owned();
    assert_eq!(listed[0]["title"], "What is this?");
    assert_eq!(listed[0]["cwd"], home.work().display().to_string());
    let short = &id[..8];
    assert!(home.milk(&["sessions", "list"]).expect(0).out.starts_with(short));

    let shown = home.milk(&["sessions", "show", short]).expect(0).out;
    assert!(shown.starts_with(&format!("session: {id}\n")), "{shown}");
    assert!(shown.contains("  ⚙ list_dir: {\"path\":\".\"}\n\n"), "{shown}");
    assert!(shown.ends_with("A demo.\n"), "{shown}");

    let file = home.path("out.json").display().to_string();
    home.milk(&["sessions", "export", short, "--format", "json", "--output", &file]).expect(0);
    let exported: serde_json::Value = serde_json::from_str(&read(&home.path("out.json"))).expect("JSON");
    assert_eq!(exported["id"], id);
    assert_eq!(exported["history"][3]["content"], "A demo.");
    assert_eq!(home.milk(&["sessions", "export", &id]).expect(0).out, shown);

    assert_eq!(home.milk(&["sessions", "delete", short]).expect(0).out, format!("deleted {id}\n"));
    assert_eq!(home.milk(&["sessions", "list", "--json"]).expect(0).json(), json!([]));
    let outcome = home.milk(&["sessions", "show", short]).expect(1);
    assert!(outcome.err.contains("does not exist"), "{}", outcome.err);
}

#[test]
fn an_export_leaves_secrets_out_unless_they_are_asked_for() {
    let key = format!("ghp_{}", "a1B2".repeat(9));
    let tool = Answer::Call("export_session", json!({"output_path": "talk.txt"}));
    let model = Model::start([Answer::Say(&["Noted."]), tool, Answer::Say(&["Written."])]);
    let home = Home::with_config(&model.config());
    home.milk(&["run", &format!("Remember {key}.")]).expect(0);
    for format in ["text", "json"] {
        let given = home.milk(&["sessions", "export", "--format", format]).expect(0).out;
        assert!(given.contains("Remember [redacted:github-token:") && !given.contains(&key), "{given}");
        let whole = home.milk(&["sessions", "export", "--format", format, "--with-secrets"]).expect(0).out;
        assert!(whole.contains(&format!("Remember {key}.")), "{whole}");
    }
    home.milk(&["run", "--yes", "Write all of this down."]).expect(0);
    let written = read(&home.work().join("talk.txt"));
    assert!(written.contains("Write all of this down.") && !written.contains(&key), "{written}");
}

#[test]
fn sessions_belong_to_their_folders() {
    let home = Home::new();
    let other = home.path("other");
    std::fs::create_dir(&other).expect("a folder");
    let other = other.display().to_string();
    home.milk(&["run", "here"]).expect(0);
    home.milk(&["run", "--cwd", &other, "there"]).expect(0);
    let titles = |arguments: &[&str]| -> Vec<String> {
        let listed = home.milk(&[&["sessions", "list", "--json"], arguments].concat()).expect(0).json();
        let rows = listed.as_array().expect("a list").clone();
        rows.iter().map(|row| row["title"].as_str().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(titles(&[]), ["here"]);
    assert_eq!(titles(&["--cwd", &other]), ["there"]);
    assert_eq!(titles(&["--all"]), ["there", "here"]);
}

#[test]
fn looking_at_nothing_makes_nothing() {
    let home = Home::new();
    let outcome = home.milk(&["sessions", "list"]).expect(0);
    assert_eq!(outcome.out, "");
    assert_eq!(outcome.err, "milk: no sessions of this folder; --all lists every folder's\n");
    home.milk(&["sessions", "show"]).expect(1);
    home.milk(&["sessions", "show", "abc"]).expect(1);
    assert!(!home.path(".milk").exists());
}
