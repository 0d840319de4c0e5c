//! Commands in a real shell.
#![cfg(unix)]

use std::time::Duration;

use serde_json::json;
use session_model::{Event, GrantScope, ToolCallId, ToolKind};

use super::{Rig, link, scopes, text};
use tokio::sync::mpsc;

use crate::io::{TurnIo, TurnSignal};
use crate::process::Background;
use crate::tools::{ToolCx, ToolOutput, ToolRegistry, shell};

async fn bash(rig: &Rig, command: &str) -> ToolOutput {
    rig.call("bash", json!({"command": command})).await
}

/// Whether a process is there and no zombie.
fn is_running(pid: &str) -> bool {
    match std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())) {
        Ok(stat) => !stat.rsplit(')').next().unwrap().trim_start().starts_with('Z'),
        Err(_) => false,
    }
}

/// Waits, within the test runner's patience, until the process is gone: a killed process goes in its own time.
async fn gone(pid: &str) {
    while is_running(pid) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn both_outputs_come_in_order_and_with_the_exit_code() {
    let rig = Rig::new();
    let output = bash(&rig, "printf 'a\\nb\\n' | grep b && echo ok; echo oops >&2; echo end; (exit 3)").await;
    assert_eq!(output.output, "b\nok\noops\nend\n");
    assert_eq!(output.exit_code, Some(3));
    assert_eq!(output.error.as_deref(), Some("the command ended with exit code 3"));
    assert_eq!(text(&output.content), "b\nok\noops\nend\n[the command ended with exit code 3]");
}

#[tokio::test]
async fn a_command_runs_in_the_sessions_folder_without_input_and_without_our_variables() {
    let rig = Rig::new();
    let output = bash(&rig, "pwd; cat; echo \"[${MILK_HOME-unset}]\"").await;
    assert_eq!(output.output, format!("{}\n[unset]\n", rig.workspace.cwd.display()));
    assert_eq!((output.error, output.exit_code), (None, Some(0)));
}

#[tokio::test]
async fn silence_is_shown_as_such() {
    let rig = Rig::new();
    let output = bash(&rig, "true").await;
    assert_eq!(text(&output.content), "[no output]");
    assert_eq!(output.to_value(), json!({"exit_code": 0}));
}

#[tokio::test]
async fn an_end_by_signal_is_told() {
    let rig = Rig::new();
    let output = bash(&rig, "kill -9 $$").await;
    assert_eq!(output.error.as_deref(), Some("the command was ended by signal 9"));
    assert_eq!(output.exit_code, Some(137));
}

#[tokio::test]
async fn a_background_child_that_holds_the_output_does_not_hold_the_call() {
    let rig = Rig::new();
    let output = bash(&rig, "sleep 300 & echo $!").await;
    let pid = output.output.lines().next().unwrap().to_owned();
    assert!(output.output.contains("still running in the background"), "{}", output.output);
    assert_eq!(output.exit_code, Some(0));
    assert!(is_running(&pid));
    // The session's tools own it: it ends with them.
    drop(rig);
    gone(&pid).await;
}

#[tokio::test]
async fn a_child_in_another_session_does_not_hold_the_call_either() {
    let rig = Rig::new();
    let output = bash(&rig, "setsid sleep 2 & echo hi").await;
    assert!(output.output.starts_with("hi\n"), "{}", output.output);
}

#[tokio::test]
async fn a_background_child_that_never_stops_writing_does_not_hold_the_call() {
    let rig = Rig::new();
    let output = bash(&rig, "yes & echo hi; exit 4").await;
    assert_eq!(output.exit_code, Some(4));
}

#[tokio::test]
async fn what_is_left_running_can_be_owned_by_the_caller() {
    let rig = Rig::new();
    let background = Background::default();
    let registry = ToolRegistry::builtin_with(background.clone());
    let args = super::members(json!({"command": "sleep 300 & echo $!"}));
    let output = registry.get("bash").unwrap().run(args, rig.cx()).await;
    let pid = output.output.lines().next().unwrap().to_owned();
    drop(registry);
    assert!(is_running(&pid));
    background.kill_all();
    gone(&pid).await;
}

/// The first piece of output.
async fn printed(listener: &mut mpsc::Receiver<TurnSignal>) -> String {
    loop {
        match listener.recv().await.expect("output") {
            TurnSignal::Event(Event::TerminalOutput { text, .. }) => return text,
            TurnSignal::Event(Event::Terminal(_) | Event::ToolOutput { .. }) => {}
            other @ (TurnSignal::Event(_)
            | TurnSignal::Ask(..)
            | TurnSignal::Host(..)
            | TurnSignal::Granted(_)) => panic!("unexpected {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_timeout_keeps_what_was_printed_and_leaves_nothing_behind() {
    let rig = Rig::new();
    let command = "echo $$; sleep 300 & echo $!; (while :; do echo x; sleep 0.05; done) | cat";
    let output = rig.call("bash", json!({"command": command, "timeout_seconds": "1"})).await;
    assert_eq!(output.error.as_deref(), Some("the command timed out after 1 s and was ended"));
    assert_eq!(output.exit_code, None);
    let lines: Vec<&str> = output.output.lines().collect();
    assert!(lines.len() > 3 && lines[2] == "x", "{lines:?}");
    gone(lines[0]).await;
    gone(lines[1]).await;
    assert_eq!(bash(&rig, "echo second").await.output, "second\n");
}

#[tokio::test]
async fn a_cancelled_command_ends_within_the_grace_even_when_it_ignores_the_request() {
    let rig = Rig::new();
    let (io, mut listener) = TurnIo::channel(rig.cancel.clone());
    let cx = ToolCx::new(rig.workspace.clone(), ToolCallId::from("call"), rig.cancel.clone(), Some(io));
    let command = "trap '' TERM; echo $$; while :; do sleep 1; done";
    let tool = rig.tool("bash");
    let run = tool.run(super::members(json!({"command": command})), cx);
    let cancel = async {
        printed(&mut listener).await;
        rig.cancel.cancel();
        tokio::time::Instant::now()
    };
    let (output, since) = tokio::join!(run, cancel);
    assert!(since.elapsed() < Duration::from_secs(2), "{:?}", since.elapsed());
    assert_eq!(output.error.as_deref(), Some("the command was cancelled and ended"));
    gone(&output.output).await;
}

#[tokio::test]
async fn a_command_asked_to_end_has_last_words() {
    let rig = Rig::new();
    let command = "trap 'echo bye; exit' TERM; echo $$ >started; while :; do sleep 0.01; done";
    let tool = rig.tool("bash");
    let run = tool.run(super::members(json!({"command": command})), rig.cx());
    let cancel = async {
        while !rig.path("started").exists() {
            tokio::task::yield_now().await;
        }
        rig.cancel.cancel();
    };
    let (output, ()) = tokio::join!(run, cancel);
    // The shell may say first that its child was ended.
    assert!(output.output.ends_with("bye\n"), "{}", output.output);
}

#[tokio::test]
async fn a_dropped_call_takes_its_whole_group_along() {
    let rig = Rig::new();
    let (io, mut listener) = TurnIo::channel(rig.cancel.clone());
    let cx = ToolCx::new(rig.workspace.clone(), ToolCallId::from("call"), rig.cancel.clone(), Some(io));
    let tool = rig.tool("bash");
    let run = tool.run(super::members(json!({"command": "sleep 300 & echo $!; wait"})), cx);
    let shown = tokio::select! {
        output = run => panic!("ended: {output:?}"),
        shown = printed(&mut listener) => shown,
    };
    gone(&shown).await;
}

#[tokio::test]
async fn output_is_shown_while_the_command_runs() {
    let rig = Rig::new();
    let (io, mut listener) = TurnIo::channel(rig.cancel.clone());
    let cx = ToolCx::new(rig.workspace.clone(), ToolCallId::from("call"), rig.cancel.clone(), Some(io));
    // Goes on only once the test has seen the first piece, whose last character comes in two halves.
    let command = "printf 'one \\303'; while [ ! -e go ]; do sleep 0.01; done; printf '\\274 two'";
    let tool = rig.tool("bash");
    let run = tool.run(super::members(json!({"command": command})), cx);
    let watch = async {
        let shown = printed(&mut listener).await;
        rig.write("go", "");
        shown
    };
    let (output, first) = tokio::join!(run, watch);
    assert_eq!(first, "one ");
    assert_eq!(output.output, "one ü two");
}

#[tokio::test]
async fn a_client_that_does_not_read_does_not_hold_the_command() {
    let rig = Rig::new();
    let (io, _unread) = TurnIo::channel(rig.cancel.clone());
    let cx = ToolCx::new(rig.workspace.clone(), ToolCallId::from("call"), rig.cancel.clone(), Some(io));
    let command =
        "i=0; while [ $i -lt 100 ]; do echo line; sleep 0.001; i=$((i+1)); done; yes | head -c 3000000";
    let tool = rig.tool("bash");
    let output = tool.run(super::members(json!({"command": command})), cx).await;
    assert_eq!(output.exit_code, Some(0));
}

#[tokio::test]
async fn floods_and_bytes_are_bounded_and_valid() {
    let rig = Rig::new();
    let output = bash(&rig, "echo first; yes | head -c 50000000; echo last").await;
    assert!(output.output.len() < 70_000);
    assert!(output.output.starts_with("first\ny\n") && output.output.ends_with("y\nlast\n"));
    assert!(output.output.contains("bytes left out"));
    let output = bash(&rig, "head -c 200000 /dev/urandom; head -c 5000000 /dev/zero | tr '\\0' x").await;
    assert!(output.output.len() < 270_000, "{}", output.output.len());
    let output = bash(&rig, "printf '\\033[31mred\\033[0m \\377'").await;
    assert_eq!(output.output, "red \u{fffd}");
}

#[tokio::test]
async fn arguments_that_cannot_be_run_are_refused() {
    let rig = Rig::new();
    for (args, reason) in [
        (json!({}), "`command` is missing"),
        (json!({"command": " "}), "empty"),
        (json!({"command": "a\0b"}), "NUL"),
        (json!({"command": ["ls"]}), "must be a string"),
        (json!({"command": "ls", "timeout_seconds": "soon"}), "`timeout_seconds` must be"),
    ] {
        let refused = rig.plan("bash", args).await.unwrap_err();
        assert!(refused.contains(reason), "{refused}");
    }
}

#[tokio::test]
async fn a_command_that_cannot_start_says_why() {
    let mut rig = Rig::new();
    let output = bash(&rig, &format!(": {}", "x".repeat(3_000_000))).await;
    assert!(output.error.unwrap().contains("it is too long (3000002 bytes)"));
    rig.workspace.cwd = rig.path("gone");
    let output = bash(&rig, "true").await;
    assert!(output.error.unwrap().contains("is not there"));
}

#[tokio::test]
async fn the_question_shows_the_whole_command_and_offers_its_prefix() {
    let rig = Rig::new();
    let plan = rig.plan("bash", json!({"command": "cargo test -p x"})).await.unwrap();
    assert_eq!(plan.title, "bash: cargo test -p x");
    assert_eq!(scopes(&plan), Some(&[GrantScope::CommandPrefix("cargo test".into())][..]));
    assert!(plan.preview.is_empty());
    let long = format!("echo '{}'\necho \"two\"", "x".repeat(4000));
    let plan = rig.plan("bash", json!({"command": long})).await.unwrap();
    assert!(plan.title.chars().count() < 220 && !plan.title.contains('\n'), "{}", plan.title);
    assert_eq!(text(&plan.preview), long);
    let crate::tools::Approval::Ask(ask) = &plan.approval else { panic!("free") };
    assert_eq!(ask.description, format!("{long}\nin {}", rig.workspace.cwd.display()));
    assert_eq!(rig.tool("bash").spec().kind, ToolKind::Execute);
}

#[tokio::test]
async fn a_path_outside_is_asked_for_beside_the_command() {
    let rig = Rig::new();
    std::fs::write(rig.outside("secret"), "x").unwrap();
    rig.write("src/x", "");
    link("../other/secret", rig.path("link"));
    let folder = GrantScope::Outside(rig.outside("").parent().unwrap().join("other"));
    let cat = GrantScope::CommandPrefix("cat".into());
    for (command, expected) in [
        ("cat src/x", vec![cat.clone()]),
        ("cat src/x /dev/null", vec![cat.clone()]),
        ("cat ../other/secret", vec![cat.clone(), folder.clone()]),
        ("cat src/../../other/secret", vec![cat.clone(), folder.clone()]),
        ("cat link", vec![cat.clone(), folder.clone()]),
        ("cat --file=../other/secret", vec![cat.clone(), folder.clone()]),
        ("cat -f../other/secret", vec![cat.clone(), folder.clone()]),
        ("cat -flink", vec![cat.clone(), folder.clone()]),
        ("cat if=../other/secret", vec![cat.clone(), folder.clone()]),
        ("cat ~/.ssh/id", vec![]),
        ("cat -f~/.ssh/id", vec![]),
        ("cat src/x > ../other/secret", vec![]),
    ] {
        let plan = rig.plan("bash", json!({"command": command})).await.unwrap();
        assert_eq!(scopes(&plan), Some(&expected[..]), "{command}");
    }
    assert!(shell::covers("cat", "cat ../other/secret"), "the scopes, not the prefix, hold it back");
}
