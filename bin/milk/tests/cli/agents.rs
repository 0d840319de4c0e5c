//! Who answers when nothing, one thing or another thing is configured or found.

use serde_json::json;

use crate::model::{Answer, Model};
use crate::program::{Home, finish};

#[test]
fn a_server_found_running_answers_when_nothing_is_configured() {
    let model = Model::start([Answer::Say(&["found ", "you"])]);
    let home = Home::new();
    let mut command = home.command(&["run", "hi"]);
    command.env("MILK_DETECT", &model.url);
    let outcome = finish(command, "").expect(0);
    assert_eq!(outcome.out, "found you\n");
    assert_eq!(model.seen()[0]["model"], "m");
}

#[test]
fn another_agent_or_model_can_be_asked_for() {
    let first = Model::start([Answer::Say(&["first"])]);
    let second = Model::start([Answer::Say(&["second"])]);
    let home = Home::with_config(&json!({"agents": [
        {"name": "one", "url": first.url, "model": "m"}, {"name": "two", "url": second.url}]}));
    assert_eq!(home.milk(&["run", "--model", "two", "hi"]).expect(0).out, "second\n");
    assert_eq!(home.milk(&["run", "--model", "big", "hi"]).expect(0).out, "first\n");
    assert_eq!(first.seen()[0]["model"], "big");
}

#[test]
fn a_key_is_read_from_the_variable_it_names_and_never_shown() {
    let model = Model::start([Answer::Error(401, "no such key")]);
    let home = Home::with_config(
        &json!({"agents": [{"name": "mock", "provider": "bearer", "url": model.url, "api_key": "${MY_KEY}"}]}),
    );
    let mut command = home.command(&["run", "hi"]);
    command.env("MY_KEY", "sk-very-secret").env("RUST_LOG", "trace");
    let outcome = finish(command, "").expect(3);
    assert!(outcome.err.contains("refused the credentials (HTTP 401); check the agent's `api_key`"));
    assert!(!outcome.err.contains("sk-very-secret") && !outcome.out.contains("sk-very-secret"));
    let outcome = home.milk(&["run", "hi"]).expect(3);
    assert!(
        outcome.err.ends_with("`api_key` refers to the variable MY_KEY, which is not set\n"),
        "{}",
        outcome.err
    );
}
