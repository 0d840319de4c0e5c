//! `milk run`.

use std::fs;
use std::io::{BufRead as _, BufReader};

use serde_json::json;

use crate::model::{Answer, Model};
use crate::program::{Home, read, start};

/// Both protocol versions: what is shown is the same.
const VERSIONS: [&[&str]; 2] = [&[], &["--v1"]];

#[test]
fn without_a_model_the_tools_answer() {
    for version in VERSIONS {
        let home = Home::new();
        let outcome = home.milk(&[&["run", "What is in this project?"], version].concat()).expect(0);
        assert!(outcome.out.starts_with("No model is configured"), "{}", outcome.out);
        assert!(outcome.out.contains("✓ list_dir: ."), "{}", outcome.out);
        assert!(outcome.out.contains("✓ read_file: README.md"), "{}", outcome.out);
        assert!(!outcome.out.contains('\u{1b}'), "no colours into a pipe");
        assert_eq!(outcome.err, "");
    }
}

#[test]
fn an_edit_is_shown_as_a_change_and_done_when_allowed() {
    for version in VERSIONS {
        let model = Model::start([
            Answer::Call("read_file", json!({"path": "README.md"})),
            Answer::Call(
                "edit_file",
                json!({"path": "README.md", "old_string": "A demonstration.", "new_string": "An example."}),
            ),
            Answer::Say(&["Done", "."]),
        ]);
        let home = Home::with_config(&model.config());
        let outcome = home.milk(&[&["run", "--yes", "edit it"], version].concat()).expect(0);
        let shown: Vec<_> = outcome.out.lines().collect();
        assert_eq!(shown[0], "✓ read_file: README.md", "{}", outcome.out);
        assert!(shown.contains(&"✓ edit_file: README.md"), "{}", outcome.out);
        assert!(
            shown.contains(&"  -A demonstration.") && shown.contains(&"  +An example."),
            "{}",
            outcome.out
        );
        assert_eq!(shown.last(), Some(&"Done."));
        assert_eq!(read(&home.path("work/README.md")), "# Demo\n\nAn example.\n");
    }
}

#[test]
fn what_nobody_can_be_asked_is_denied_and_said() {
    for version in VERSIONS {
        let model = Model::start([
            Answer::Call("bash", json!({"command": "touch made"})),
            Answer::Say(&["I may not."]),
        ]);
        let home = Home::with_config(&model.config());
        let outcome = home.milk(&[&["run", "make it"], version].concat()).expect(0);
        assert!(!home.path("work/made").exists());
        assert!(outcome.err.starts_with("milk: denied: "), "{}", outcome.err);
        assert!(
            outcome.err.contains("there is no terminal to ask on, so give --yes to allow what is asked"),
            "{}",
            outcome.err
        );
        assert!(outcome.out.contains("✗ bash: touch made"), "{}", outcome.out);
        assert!(outcome.out.ends_with("I may not.\n"), "{}", outcome.out);
    }
}

#[test]
fn a_turn_that_fails_says_why_and_how_to_cure_it() {
    for version in VERSIONS {
        let home = Home::with_config(
            &json!({"agents": [{"name": "gone", "url": "http://127.0.0.1:9", "model": "m"}]}),
        );
        let outcome = home.milk(&[&["run", "hi"], version].concat()).expect(3);
        assert!(outcome.err.starts_with("milk: gone: cannot reach http://127.0.0.1:9"), "{}", outcome.err);
        assert!(
            outcome.err.ends_with("start the server or correct the agent's `url`\n")
                && outcome.err.lines().count() == 1,
            "{}",
            outcome.err
        );
    }
}

#[cfg(unix)]
#[test]
fn the_answer_is_shown_while_it_comes_and_an_interrupt_cancels_the_turn() {
    use std::io::Read as _;

    for version in VERSIONS {
        let model = Model::start([Answer::Hang("thinking about it")]);
        let home = Home::with_config(&model.config());
        let mut child = start(&mut home.command(&[&["run", "hi"], version].concat()));
        let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut seen = vec![0; "thinking about it".len()];
        out.read_exact(&mut seen).expect("the first words come while the answer is unfinished");
        assert_eq!(String::from_utf8_lossy(&seen), "thinking about it");
        interrupt(child.id());
        let status = child.wait().expect("the program ends");
        assert_eq!(status.code(), Some(130));
        let sessions = home.milk(&["sessions", "show"]).expect(0);
        let shown = sessions.out.split("thinking about it\n").nth(1).expect("what was said");
        assert!(shown.ends_with("  ·  milk\n[cancelled]\n"), "{}", sessions.out);
    }
}

#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "the standard library sends no signals")]
fn interrupt(pid: u32) {
    let sent = std::process::Command::new("kill").args(["-INT", &pid.to_string()]).status();
    assert!(sent.expect("kill runs").success());
}

#[test]
fn the_raw_lines_can_be_had() {
    let model = Model::start([Answer::Say(&["hello"])]);
    let home = Home::with_config(&model.config());
    let lines = home.milk(&["run", "--json", "hi"]).expect(0).lines();
    assert_eq!(lines[0]["result"]["protocolVersion"], 2);
    assert!(lines.iter().any(|line| line["params"]["update"]["content"]["text"] == "hello"));
    let lines = home.milk(&["run", "--json", "--v1", "hi"]).expect(0).lines();
    assert_eq!(lines[0]["result"]["protocolVersion"], 1);
    assert!(lines.iter().any(|line| line["result"]["stopReason"] == "end_turn"));
}

#[test]
fn a_session_can_be_carried_on() {
    let model = Model::start([Answer::Say(&["one"]), Answer::Say(&["two"]), Answer::Say(&["three"])]);
    let home = Home::with_config(&model.config());
    home.milk(&["run", "first"]).expect(0);
    let id = home.milk(&["sessions", "list", "--json"]).expect(0).json()[0]["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    assert_eq!(home.milk(&["run", "--session", &id[..8], "second"]).expect(0).out, "two\n");
    assert_eq!(home.milk(&["run", "--continue", "third"]).expect(0).out, "three\n");
    let last = model.seen().pop().expect("a request");
    let said: Vec<_> =
        last["messages"].as_array().expect("messages").iter().map(|m| m["role"].clone()).collect();
    assert_eq!(said, ["system", "user", "assistant", "user", "assistant", "user"]);
    let outcome = home.milk(&["run", "--session", "ffffffff-none", "x"]).expect(1);
    assert!(outcome.err.contains("does not exist"), "{}", outcome.err);
}

#[test]
fn a_prompt_can_come_from_standard_input_and_a_folder_can_be_named() {
    let model = Model::start([]);
    let home = Home::with_config(&model.config());
    fs::create_dir(home.path("other")).expect("a folder");
    let other = home.path("other").display().to_string();
    home.feed(&["run", "--cwd", &other, "-"], "from a pipe\n").expect(0);
    let messages = model.seen()[0]["messages"].to_string();
    assert!(messages.contains("from a pipe") && messages.contains("/other"), "{messages}");
    let outcome = home.feed(&["run", "-"], " \n").expect(1);
    assert!(outcome.err.starts_with("milk: there is no prompt"));
    let outcome = home.milk(&["run", "--cwd", "nowhere", "x"]).expect(1);
    assert!(outcome.err.contains("is not a folder; give an existing one"), "{}", outcome.err);
}

#[test]
fn a_reader_that_goes_away_ends_the_run_quietly() {
    let model = Model::start([Answer::Say(&["line\n"; 64])]);
    let home = Home::with_config(&model.config());
    let mut child = start(&mut home.command(&["run", "hi"]));
    let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut first = String::new();
    out.read_line(&mut first).expect("a line");
    drop(out);
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_a_failure_in_both_forms() {
    use std::process::{Child, Stdio};

    for form in [&["run", "hi"][..], &["run", "--json", "hi"]] {
        let home = Home::new();
        let mut command = home.command(form);
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("the device is there");
        command.stdin(Stdio::null()).stdout(full).stderr(Stdio::piped());
        let output = command.spawn().and_then(Child::wait_with_output).expect("the program ends");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("cannot write the output"), "{said}");
    }
}
