//! milk as the client of another milk: what the inner one asks is asked outside, and what ends outside ends inside.

use std::time::Duration;

use milk_tests::mock_openai::{MockOpenAi, Reply};
use milk_tests::schema::Version;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::program::{Home, Program, in_time, model};
use crate::talk::{Talk, items};

/// An outer home whose only agent is a milk with an inner home, whose only agent is `model`.
fn homes(model: &MockOpenAi) -> (Home, Home) {
    homes_with(model, true)
}

/// The same; whether the inner one runs its commands through the outer one.
fn homes_with(model: &MockOpenAi, terminals: bool) -> (Home, Home) {
    let inner = Home::with(model);
    let outer = Home::new();
    let env = json!({"MILK_HOME": inner.path("milk"), "MILK_DETECT": "off"});
    let program = env!("CARGO_BIN_EXE_milk");
    let agent = json!({"name": "inner", "provider": "acp", "bin": program, "args": ["serve", "--acp"], "env": env,
            "client_terminals": terminals});
    let config = json!({"agent": "inner", "agents": [agent]}).to_string();
    std::fs::write(outer.path("milk/config.json"), config).expect("a configuration");
    (outer, inner)
}

async fn finish(program: Program, talk: Talk) {
    in_time(talk.client.finish()).await;
    let end = program.ended().await;
    assert_eq!((end.code, &*end.stderr), (Some(0), ""));
}

fn is_alive(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let zombie = stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'));
    !zombie && Pid::from_raw(pid).is_some_and(|pid| test_kill_process(pid).is_ok())
}

async fn gone(pid: i32) {
    let mut beat = tokio::time::interval(Duration::from_millis(5));
    in_time(async {
        while is_alive(pid) {
            beat.tick().await;
        }
    })
    .await;
}

#[tokio::test]
async fn what_the_inner_one_asks_is_answered_outside() {
    for version in Version::BOTH {
        for (option, written) in [("allow", true), ("reject", false)] {
            let model = model().await;
            model.reply(Reply::call("write_file", &json!({"path": "new.txt", "content": "hello\n"})));
            model.reply(Reply::say(&["All ", "done."]));
            let (outer, _inner) = homes(&model);
            let (program, mut talk) = Talk::start(&outer, version).await;
            let prompt = talk.client.prompt(&talk.session, "Write it.").await;
            let (id, params) = in_time(talk.client.request("session/request_permission")).await;
            assert_eq!(params["sessionId"], json!(talk.session));
            let call =
                if version == Version::V1 { &params["toolCall"] } else { &params["subject"]["toolCall"] };
            assert_eq!(call["title"], "write_file: new.txt", "{params}");
            assert_eq!(call["content"][0]["type"], "diff", "{params}");
            let row = format!("\"toolCallId\":{}", call["toolCallId"]);
            assert!(
                talk.client
                    .transcript()
                    .split("request_permission")
                    .next()
                    .is_some_and(|told| told.contains(&row))
            );
            talk.client.choose(&id, option).await;
            in_time(talk.client.response(&prompt)).await.expect("answered");
            talk.collect();
            assert_eq!(outer.path("work/new.txt").exists(), written, "{option}");
            let told = items(&talk.seen);
            assert!(told.iter().any(|item| item.role == "agent" && item.text == "All done."), "{told:?}");
            let status = if written { "completed" } else { "failed" };
            assert!(told.iter().any(|item| item.role == "tool" && item.status == status), "{told:?}");
            finish(program, talk).await;
        }
    }
}

#[tokio::test]
async fn the_inner_session_goes_on_over_turns() {
    let model = model().await;
    model.reply(Reply::say(&["First."]));
    model.reply(Reply::say(&["Second."]));
    let (outer, _inner) = homes(&model);
    let (program, mut talk) = Talk::start(&outer, Version::V2).await;
    talk.ask("one").await;
    talk.ask("two").await;
    let second = &model.chats()[1].body["messages"];
    let said: Vec<&Value> =
        second.as_array().expect("messages").iter().map(|message| &message["content"]).collect();
    assert!(said.contains(&&json!("one")) && said.contains(&&json!("two")), "each is told once: {second}");
    finish(program, talk).await;
}

#[tokio::test]
async fn a_cancel_reaches_the_innermost_tool() {
    for (version, terminals) in
        [(Version::V1, true), (Version::V2, true), (Version::V1, false), (Version::V2, false)]
    {
        let model = model().await;
        model.reply(Reply::call("bash", &json!({"command": "echo pid=$$; exec sleep 600"})));
        model.reply(Reply::say(&["Next."]));
        let (outer, _inner) = homes_with(&model, terminals);
        let (program, mut talk) = Talk::start(&outer, version).await;
        let prompt = talk.client.prompt(&talk.session, "Wait.").await;
        talk.allow().await;
        let pid = talk.tool_pid().await;
        assert!(is_alive(pid));
        let since = Instant::now();
        talk.client.cancel(&talk.session).await;
        let answer = in_time(talk.client.response(&prompt)).await.expect("a cancelled turn is no error");
        assert!(since.elapsed() < Duration::from_secs(2), "{:?}", since.elapsed());
        if version == Version::V1 {
            assert_eq!(answer["stopReason"], "cancelled");
        }
        gone(pid).await;
        assert!(since.elapsed() < Duration::from_secs(2), "{:?}", since.elapsed());
        talk.ask("Go on.").await;
        talk.see_text("Next.").await;
        finish(program, talk).await;
    }
}

#[tokio::test]
async fn an_inner_process_that_dies_fails_the_turn_and_the_next_one_works() {
    for version in Version::BOTH {
        let model = model().await;
        model.reply(Reply::call("bash", &json!({"command": "echo pid=$PPID; exec sleep 600"})));
        model.reply(Reply::say(&["Back again."]));
        let (outer, _inner) = homes_with(&model, false);
        let (program, mut talk) = Talk::start(&outer, version).await;
        let prompt = talk.client.prompt(&talk.session, "Wait.").await;
        talk.allow().await;
        let inner = talk.tool_pid().await;
        kill_process(Pid::from_raw(inner).expect("a process id"), Signal::KILL).expect("it runs");
        let error = in_time(talk.client.response(&prompt)).await.expect_err("it fails");
        assert_eq!(error["data"]["runtimeCode"], "external_exited");
        let words = error["data"]["error"].as_str().unwrap_or_default();
        assert!(words.starts_with("inner: its process ended (signal: 9 (SIGKILL))"), "{words}");
        talk.ask("And now?").await;
        talk.see_text("Back again.").await;
        let last =
            model.chats().last().map(milk_tests::mock_openai::Request::last_user_text).unwrap_or_default();
        assert!(
            last.contains("USER: Wait.") && last.ends_with("And now?"),
            "it is told what was before: {last}"
        );
        finish(program, talk).await;
    }
}

#[tokio::test]
async fn the_inner_process_ends_with_the_outer_one() {
    let model = model().await;
    model.reply(Reply::call("bash", &json!({"command": "echo pid=$PPID; exec sleep 600"})));
    let (outer, _inner) = homes_with(&model, false);
    let (program, mut talk) = Talk::start(&outer, Version::V2).await;
    talk.client.prompt(&talk.session, "Wait.").await;
    talk.allow().await;
    let inner = talk.tool_pid().await;
    in_time(talk.client.finish()).await;
    assert_eq!(program.ended().await.code, Some(0));
    gone(inner).await;
}
