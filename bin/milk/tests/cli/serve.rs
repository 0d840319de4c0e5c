//! `milk serve --acp` as an editor meets it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::time::Duration;

use serde_json::{Value, json};

use crate::model::{Answer, Model};
use crate::program::{Home, finish, read, start};

fn hello(version: u16) -> String {
    let params = json!({"protocolVersion": version, "info": {"name": "t", "version": "1"}});
    format!("{}\n", json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}))
}

#[test]
fn the_version_told_is_the_programs_and_output_is_protocol_alone() {
    let home = Home::new();
    let version = home.milk(&["--version"]).expect(0).out;
    for (number, info) in [(1, "agentInfo"), (2, "info")] {
        let mut command = home.command(&["serve", "--acp"]);
        command.env("RUST_LOG", "trace");
        let outcome = finish(command, &hello(number)).expect(0);
        let lines = outcome.lines();
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0]["result"]["protocolVersion"], number);
        let told = lines[0]["result"][info]["version"].as_str().expect("a version");
        assert_eq!(version, format!("milk {told}\n"));
        assert!(outcome.err.contains("the connection has ended"), "the log is on standard error");
    }
}

#[test]
fn sounds_are_advertised_where_a_configured_agent_takes_them() {
    for hears in [false, true] {
        let agent = json!({"name": "a", "url": "http://127.0.0.1:9", "capabilities": {"audio": hears}});
        let home = Home::with_config(&json!({"agents": [agent]}));
        let told = home.feed(&["serve", "--acp"], &hello(1)).expect(0).lines();
        let prompts = &told[0]["result"]["agentCapabilities"]["promptCapabilities"];
        assert_eq!(*prompts, json!({"image": true, "audio": hears, "embeddedContext": true}));
        let told = home.feed(&["serve", "--acp"], &hello(2)).expect(0).lines();
        let prompts = &told[0]["result"]["capabilities"]["session"]["prompt"];
        assert_eq!(prompts["audio"].is_object(), hears, "{}", told[0]);
    }
}

#[test]
fn a_greeting_alone_prepares_the_store_and_makes_nothing_else() {
    let home = Home::new();
    home.feed(&["serve", "--acp"], &hello(2)).expect(0);
    let made = std::fs::read_dir(home.path(".milk")).into_iter().flatten().flatten();
    let others: Vec<_> = made
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| !name.starts_with("sessions.db"))
        .collect();
    assert_eq!(others, Vec::<String>::new());
}

#[test]
fn it_starts_in_a_bare_environment() {
    let home = Home::new();
    let mut command = home.command(&["serve", "--acp"]);
    command.env_clear().current_dir("/").env("MILK_HOME", home.path("m"));
    assert_eq!(finish(command, &hello(1)).expect(0).lines().len(), 1);
}

#[cfg(unix)]
#[test]
fn signals_end_it_like_the_end_of_input_while_input_is_open() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        let home = Home::new();
        let mut child = start(&mut home.command(&["serve", "--acp"]));
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(hello(2).as_bytes()).expect("it reads");
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().expect("a pipe")).read_line(&mut line).expect("an answer");
        send(signal, child.id());
        assert_eq!(child.wait().expect("it ends").code(), Some(0), "{signal}");
        drop(stdin);
    }
}

#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "the standard library sends no signals")]
fn send(signal: &str, pid: u32) {
    let sent = std::process::Command::new("kill").args([signal, &pid.to_string()]).status();
    assert!(sent.expect("kill runs").success());
}

#[test]
fn both_directions_are_recorded_and_the_log_goes_to_its_file() {
    let home = Home::new();
    let (tap, log) = (home.path("tap.jsonl"), home.path("milk.log"));
    let (tap_name, log_name) = (tap.display().to_string(), log.display().to_string());
    let mut command = home.command(&["serve", "--acp", "--tap", &tap_name, "--log-file", &log_name]);
    command.env("RUST_LOG", "debug");
    finish(command, &hello(2)).expect(0);
    let recorded: Vec<Value> =
        read(&tap).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let directions: Vec<_> = recorded.iter().map(|line| line["dir"].clone()).collect();
    assert_eq!(directions, ["in", "out"]);
    let log = read(&log);
    assert!(log.contains("INFO") && !log.contains('\u{1b}'), "{log}");
}

#[test]
fn a_prompt_is_answered_over_real_pipes() {
    let model = Model::start([Answer::Say(&["he", "llo"])]);
    let home = Home::with_config(&model.config());
    let db = home.path("elsewhere.db");
    let mut child = start(&mut home.command(&["serve", "--acp", "--session-db", &db.display().to_string()]));
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut next = move || -> Value {
        let mut line = String::new();
        out.read_line(&mut line).expect("a line");
        serde_json::from_str(&line).expect("JSON")
    };
    stdin.write_all(hello(1).as_bytes()).expect("it reads");
    assert_eq!(next()["id"], 1);
    let cwd = home.work().display().to_string();
    let params = json!({"cwd": cwd, "mcpServers": []});
    writeln!(stdin, "{}", json!({"jsonrpc": "2.0", "id": 2, "method": "session/new", "params": params}))
        .expect("it reads");
    let made = loop {
        let line = next();
        if line["id"] == 2 {
            break line;
        }
    };
    let session = made["result"]["sessionId"].clone();
    let params = json!({"sessionId": session, "prompt": [{"type": "text", "text": "hi"}]});
    writeln!(stdin, "{}", json!({"jsonrpc": "2.0", "id": 3, "method": "session/prompt", "params": params}))
        .expect("it reads");
    let mut said = String::new();
    let end = loop {
        let line = next();
        if line["params"]["update"]["sessionUpdate"] == "agent_message_chunk" {
            said.push_str(line["params"]["update"]["content"]["text"].as_str().unwrap_or_default());
        }
        if line["id"] == 3 {
            break line;
        }
    };
    assert_eq!(said, "hello");
    assert_eq!(end["result"]["stopReason"], "end_turn");
    drop(stdin);
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    assert!(db.exists() && !home.path(".milk/sessions.db").exists());
}

#[test]
fn the_end_of_input_during_a_turn_ends_it_soon_and_keeps_what_was_said() {
    let model = Model::start([Answer::Hang("half an ans")]);
    let home = Home::with_config(&model.config());
    let cwd = home.work().display().to_string();
    let new =
        json!({"jsonrpc": "2.0", "id": 2, "method": "session/new", "params": {"cwd": cwd, "mcpServers": []}});
    let mut child = start(&mut home.command(&["serve", "--acp"]));
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
    writeln!(stdin, "{}{new}", hello(2)).expect("it reads");
    let mut line = String::new();
    let session = loop {
        line.clear();
        out.read_line(&mut line).expect("a line");
        let value: Value = serde_json::from_str(&line).expect("JSON");
        if value["id"] == 2 {
            break value["result"]["sessionId"].clone();
        }
    };
    let params = json!({"sessionId": session, "prompt": [{"type": "text", "text": "hi"}]});
    writeln!(stdin, "{}", json!({"jsonrpc": "2.0", "id": 3, "method": "session/prompt", "params": params}))
        .expect("it reads");
    while !line.contains("half an ans") {
        line.clear();
        out.read_line(&mut line).expect("a line");
    }
    drop(stdin);
    let ended = wait_at_most(&mut child, Duration::from_secs(20));
    assert_eq!(ended, Some(0));
    assert!(home.milk(&["sessions", "show"]).expect(0).out.contains("half an ans"));
}

/// The exit code, unless the program outlives the limit.
fn wait_at_most(child: &mut std::process::Child, limit: Duration) -> Option<i32> {
    let pid = child.id();
    let (done, ended) = std::sync::mpsc::channel::<()>();
    let watch = std::thread::spawn(move || {
        if ended.recv_timeout(limit).is_err() {
            #[cfg(unix)]
            send("-KILL", pid);
            #[cfg(not(unix))]
            let _ = pid;
        }
    });
    let code = child.wait().expect("it ends").code();
    let _ = done.send(());
    watch.join().expect("the watch ends");
    code
}
