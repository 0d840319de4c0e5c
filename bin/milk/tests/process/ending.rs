//! The ends of a process: no more input, a signal, nobody reading.

use milk_tests::client::Client;
use milk_tests::mock_openai::{Gate, Reply};
use milk_tests::schema::Version;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tokio::io::AsyncWriteExt as _;

use crate::pids::{gone, is_alive};
use crate::program::{End, Home, Program, in_time, model};
use crate::talk::{Talk, items};

/// What asks a program to end.
#[derive(Debug, Clone, Copy)]
enum Cause {
    EndOfInput,
    Signal(Signal),
}

const CAUSES: [Cause; 3] = [Cause::EndOfInput, Cause::Signal(Signal::TERM), Cause::Signal(Signal::INT)];

fn send(signal: Signal, program: &Program) {
    let pid = i32::try_from(program.pid()).expect("a process id");
    kill_process(Pid::from_raw(pid).expect("a process id"), signal).expect("it runs");
}

/// Ends the program; input stays open when a signal is the cause. The client has read everything.
async fn end(cause: Cause, program: Program, client: Client) -> End {
    match cause {
        Cause::EndOfInput => {
            in_time(client.finish()).await;
            program.ended().await
        }
        Cause::Signal(signal) => {
            send(signal, &program);
            let end = program.ended().await;
            in_time(client.finish()).await;
            end
        }
    }
}

#[tokio::test]
async fn an_idle_program_ends_well() {
    for cause in CAUSES {
        for version in Version::BOTH {
            let model = model().await;
            let home = Home::with(&model);
            let (program, talk) = Talk::start(&home, version).await;
            let end = end(cause, program, talk.client).await;
            assert_eq!(end.code, Some(0), "{cause:?} {version:?}: {}", end.stderr);
            assert_eq!(end.stderr, "", "{cause:?} {version:?}");
        }
    }
}

#[tokio::test]
async fn a_program_nobody_spoke_to_ends_well() {
    let home = Home::new();
    for cause in CAUSES {
        let (program, stdout, stdin) = Program::start(home.serve());
        let stdin = match cause {
            Cause::EndOfInput => {
                drop(stdin);
                None
            }
            Cause::Signal(signal) => {
                // A program that answers has its signals in hand.
                let mut client = Client::new(Version::V1, stdout, stdin);
                in_time(client.initialize()).await;
                send(signal, &program);
                Some(client)
            }
        };
        assert_eq!(program.ended().await.code, Some(0), "{cause:?}");
        drop(stdin);
    }
}

#[tokio::test]
async fn a_turn_is_cancelled_answered_and_kept_with_its_text() {
    for cause in CAUSES {
        for version in Version::BOTH {
            let model = model().await;
            model.reply(Reply::say(&["Half an", " answer."]).gate(1, &Gate::default()));
            let home = Home::with(&model);
            let (program, mut talk) = Talk::start(&home, version).await;
            let id = talk.client.prompt(&talk.session, "Go on.").await;
            talk.see_text("Half an").await;
            let session = talk.session.clone();
            // `finish` checks that the prompt is answered.
            let end = end(cause, program, talk.client).await;
            assert_eq!(end.code, Some(0), "{cause:?} {version:?} {id}: {}", end.stderr);
            let (program, again) = Talk::reopen(&home, version, &session).await;
            let told: Vec<(&str, String)> =
                items(&again.seen).into_iter().map(|item| (item.role, item.text)).collect();
            assert_eq!(told, [("user", "Go on.".to_owned()), ("agent", "Half an".to_owned())], "{cause:?}");
            in_time(again.client.finish()).await;
            assert_eq!(program.ended().await.code, Some(0));
        }
    }
}

#[tokio::test]
async fn the_processes_of_a_running_tool_end_too() {
    let commands = [
        "echo pid=$$; exec sleep 600",
        "sleep 600 & echo pid=$!; sleep 600",
        "sh -c 'echo pid=$$; sleep 600; :'",
    ];
    for (cause, command) in CAUSES.into_iter().zip(commands) {
        for version in Version::BOTH {
            let model = model().await;
            model.reply(Reply::call("bash", &json!({ "command": command })));
            let home = Home::with(&model);
            let (program, mut talk) = Talk::start(&home, version).await;
            talk.client.prompt(&talk.session, "Wait.").await;
            talk.allow().await;
            let pid = talk.tool_pid().await;
            assert!(is_alive(pid), "{command}");
            let session = talk.session.clone();
            let end = end(cause, program, talk.client).await;
            assert_eq!(end.code, Some(0), "{cause:?} {version:?}: {}", end.stderr);
            gone(pid).await;
            let (program, again) = Talk::reopen(&home, version, &session).await;
            let told = items(&again.seen);
            let row = told.iter().find(|item| item.role == "tool").expect("the row is kept");
            let status = match version {
                Version::V1 => "failed",
                Version::V2 => "cancelled",
            };
            assert_eq!(row.status, status, "{cause:?}");
            in_time(again.client.finish()).await;
            assert_eq!(program.ended().await.code, Some(0));
        }
    }
}

#[tokio::test]
async fn nobody_reading_ends_it_quietly() {
    for version in Version::BOTH {
        let home = Home::new();
        let (program, stdout, mut stdin) = Program::start(home.serve());
        drop(stdout);
        let params = json!({ "protocolVersion": version.number(), "info": { "name": "t", "version": "1" } });
        let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
        // It may be gone before it is written to; the input stays open, so that only the output can end it.
        drop(stdin.write_all(format!("{hello}\n").as_bytes()).await);
        let end = program.ended().await;
        assert!(!end.stderr.contains("panic"), "{}", end.stderr);
        assert_eq!((end.code, &*end.stderr), (Some(0), ""), "{version:?}");
        drop(stdin);
    }
}

#[tokio::test]
async fn nobody_reading_any_more_ends_a_turn_and_its_tools() {
    for version in Version::BOTH {
        let model = model().await;
        model.reply(Reply::call("bash", &json!({ "command": "echo pid=$$; exec sleep 600" })));
        let home = Home::with(&model);
        let (program, mut talk) = Talk::start(&home, version).await;
        talk.client.prompt(&talk.session, "Wait.").await;
        talk.allow().await;
        let pid = talk.tool_pid().await;
        let session = talk.session.clone();
        drop(talk);
        let end = program.ended().await;
        assert!(!end.stderr.contains("panic"), "{}", end.stderr);
        assert_eq!(end.code, Some(0), "{version:?}: {}", end.stderr);
        gone(pid).await;
        let (program, again) = Talk::reopen(&home, version, &session).await;
        assert!(items(&again.seen).iter().all(|item| item.role != "tool" || item.is_final()));
        in_time(again.client.finish()).await;
        assert_eq!(program.ended().await.code, Some(0));
    }
}
