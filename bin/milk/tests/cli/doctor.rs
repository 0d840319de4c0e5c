//! `milk doctor`.

use std::fs;

use serde_json::{Value, json};

use crate::model::{Answer, Model};
use crate::program::{Home, Outcome};

fn findings(outcome: &Outcome, section: &str) -> Vec<(String, String)> {
    let rows = outcome.json()["sections"][section].as_array().cloned().unwrap_or_default();
    let text = |row: &Value, name: &str| row[name].as_str().unwrap_or_default().to_owned();
    rows.iter().map(|row| (text(row, "level"), text(row, "subject"))).collect()
}

#[test]
fn a_bare_machine_is_healthy_but_has_no_model() {
    let home = Home::new();
    let outcome = home.milk(&["doctor"]).expect(0);
    assert!(outcome.out.contains("! answers: no model: prompts are answered from what the tools find"));
    assert!(!home.path(".milk").exists(), "looking makes nothing");
    let outcome = home.milk(&["doctor", "--json"]).expect(0);
    assert_eq!(outcome.json()["ok"], true);
}

#[test]
fn a_server_is_tried_for_what_an_agent_needs() {
    let model = Model::start([
        Answer::Say(&["one ", "two ", "three"]),
        Answer::Call("report_ready", json!({"word": "ready"})),
    ]);
    let home = Home::with_config(&model.config());
    let outcome = home.milk(&["doctor", "--json"]).expect(0);
    let good = |subject: &str| ("ok".to_owned(), subject.to_owned());
    let found = findings(&outcome, "agents");
    for subject in ["answers", "mock is reachable", "mock streams", "mock calls tools"] {
        assert!(found.contains(&good(subject)), "{subject} in {found:?}");
    }
}

#[test]
fn a_server_that_is_not_there_is_a_problem_with_a_remedy() {
    let home =
        Home::with_config(&json!({"agents": [{"name": "gone", "url": "http://127.0.0.1:9", "model": "m"}]}));
    let outcome = home.milk(&["doctor"]).expect(4);
    assert!(outcome.out.contains("✗ gone is reachable: gone: cannot reach"), "{}", outcome.out);
    assert!(outcome.out.contains("start the server or correct the agent's `url`"), "{}", outcome.out);
    assert_eq!(outcome.err, "milk: 1 problem found; see above\n");
}

#[test]
fn a_damaged_configuration_and_database_are_problems() {
    let home = Home::new();
    fs::create_dir_all(home.path(".milk")).expect("a folder");
    fs::write(home.path(".milk/config.json"), "{").expect("a file");
    fs::write(home.path(".milk/sessions.db"), "this is no database, not at all".repeat(200)).expect("a file");
    let outcome = home.milk(&["doctor", "--json"]).expect(4);
    assert_eq!(findings(&outcome, "configuration"), [("problem".to_owned(), "file".to_owned())]);
    assert!(findings(&outcome, "data").contains(&("problem".to_owned(), "sessions".to_owned())));
}
