//! What is written where: the protocol alone on standard output, logs elsewhere, secrets nowhere.

use std::path::Path;

use milk_tests::client::Client;
use milk_tests::mock_openai::Reply;
use milk_tests::schema::Version;
use serde_json::{Value, json};

use crate::program::{Home, KEY, Program, in_time, model, text};
use crate::talk::Talk;

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("the file is there")
}

/// The lines of a transcript and those of a recording, as `(direction, line)`.
fn recorded(tap: &str) -> Vec<(String, Value)> {
    let parsed = tap.lines().map(|line| serde_json::from_str(line).expect("a recording is JSON lines"));
    parsed
        .map(|entry: Value| {
            let line = entry["line"].as_str().expect("a line");
            let dir = entry["dir"].as_str().expect("a direction").to_owned();
            (dir, serde_json::from_str(line).expect("what was recorded is JSON"))
        })
        .collect()
}

/// One direction of a transcript.
fn told(transcript: &str, arrow: char) -> Vec<Value> {
    let lines = transcript.lines().filter_map(|line| line.strip_prefix(arrow));
    lines.map(|line| serde_json::from_str(line.trim()).expect("JSON")).collect()
}

fn one_way(recording: &[(String, Value)], wanted: &str) -> Vec<Value> {
    recording.iter().filter(|(dir, _)| dir == wanted).map(|(_, line)| line.clone()).collect()
}

#[tokio::test]
async fn everything_is_logged_and_recorded_but_no_secret() {
    for version in Version::BOTH {
        let model = model().await;
        let refusal = json!({ "error": { "message": format!("Incorrect API key provided: {KEY}") } });
        model.script([
            Reply::call("bash", &json!({ "command": "echo to stdout; echo to stderr >&2; env" })),
            Reply::say(&["Done", "."]),
            Reply::error(401, &refusal),
        ]);
        let home = Home::with(&model);
        let (tap, log) = (home.path("tap.jsonl"), home.path("milk.log"));
        let mut command = home.serve();
        command.arg("--tap").arg(&tap).arg("--log-file").arg(&log).env("RUST_LOG", "trace");
        let (program, stdout, stdin) = Program::start(command);
        let mut client = Client::new(version, stdout, stdin);
        in_time(client.initialize()).await;
        let session = in_time(client.new_session(&home.work())).await;
        let mut talk = Talk { client, session, seen: Vec::new(), rest: Vec::new() };
        let id = talk.client.prompt(&talk.session, "Print something.").await;
        talk.allow().await;
        in_time(talk.client.response(&id)).await.expect("answered");
        let id = talk.client.prompt(&talk.session, "And again.").await;
        in_time(talk.client.response(&id)).await.expect_err("the model refuses");
        assert_eq!(model.chats()[0].headers["authorization"], format!("Bearer {KEY}"), "the key is in use");

        let transcript = in_time(talk.client.finish()).await;
        let end = program.ended().await;
        assert_eq!(end.code, Some(0), "{}", end.stderr);
        let (tap, log) = (read(&tap), read(&log));
        assert!(end.stderr.contains("TRACE") && log.contains("TRACE"), "logs go to both places");
        assert!(!end.stderr.contains('\u{1b}') && !log.contains('\u{1b}'), "no colours outside a terminal");
        for (place, text) in
            [("transcript", &transcript), ("standard error", &end.stderr), ("recording", &tap), ("log", &log)]
        {
            let shown: Vec<&str> = text.lines().filter(|line| line.contains(KEY)).collect();
            assert!(shown.is_empty(), "{version:?}: the key is in the {place}: {shown:#?}");
        }
        let recording = recorded(&tap);
        assert_eq!(one_way(&recording, "in"), told(&transcript, '→'));
        assert_eq!(one_way(&recording, "out"), told(&transcript, '←'));
    }
}

#[tokio::test]
async fn a_single_run_shows_its_work_as_plain_text() {
    for arguments in
        [vec!["run", "What is in this project?"], vec!["run", "--v1", "What is in this project?"]]
    {
        let home = Home::new();
        let (program, stdout, stdin) = Program::start(home.command(&arguments));
        drop(stdin);
        let shown = in_time(text(stdout)).await;
        let end = program.ended().await;
        assert_eq!(end.code, Some(0), "{}", end.stderr);
        assert!(shown.lines().any(|line| line.contains("list_dir")), "a tool row\n{shown}");
        assert!(shown.contains("answer.txt"), "an answer\n{shown}");
        assert!(!shown.contains('\u{1b}'), "no colours outside a terminal\n{shown}");
    }
}

#[tokio::test]
async fn a_single_run_prints_protocol_lines_when_asked() {
    for (version, more) in [(Version::V1, "--v1"), (Version::V2, "--yes")] {
        let home = Home::new();
        let (program, stdout, stdin) =
            Program::start(home.command(["run", "--json", more, "What is in this project?"]));
        drop(stdin);
        let shown = in_time(text(stdout)).await;
        assert_eq!(program.ended().await.code, Some(0));
        let lines: Vec<Value> =
            shown.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect();
        let updates: Vec<&Value> = lines.iter().filter(|line| line.get("method").is_some()).collect();
        assert!(updates.iter().any(|line| line.to_string().contains("list_dir")), "{shown}");
        for line in updates {
            assert_eq!(version.schema().check(line, None), Ok(()), "{line}");
        }
    }
}
