//! `provider: "subprocess"`: any program that prints its events.

use std::time::Duration;

use milk_tests::schema::Version;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Scene, cause, ended, only, rows};

fn smol(more: &Value, plays: &[&str]) -> Scene {
    Scene::new(&only("smol", "subprocess", "events.sh", more), plays)
}

/// A play that prints these events.
fn events(events: &[Value]) -> String {
    let mut play = String::from("cat <<'EVENTS'\n");
    for event in events {
        play.push_str(&event.to_string());
        play.push('\n');
    }
    play + "EVENTS\n"
}

#[tokio::test]
async fn steps_are_rows_thoughts_are_thoughts_and_the_answer_is_told_once() {
    let play = events(&[
        json!({"type": "system", "session_id": "x"}),
        json!({"type": "step", "number": 1, "thought": "I look.", "code": "print(1)"}),
        json!({"type": "edit", "path": "a.txt", "before": "one\n", "after": "two\n"}),
        json!({"type": "observation", "number": 1, "text": "1"}),
        json!({"type": "step", "number": 2, "thought": "", "code": "boom()"}),
        json!({"type": "observation", "number": 2, "text": "no such thing", "is_error": true}),
        json!({"type": "text_delta", "text": "It "}),
        json!({"type": "text_delta", "text": "is one."}),
        json!({"type": "final_answer", "text": "It is one."}),
        json!({"type": "result", "usage": {"input_tokens": 30, "output_tokens": 4}}),
    ]);
    for version in Version::BOTH {
        let scene = smol(&json!({}), &[&play]);
        let (mut client, session) = scene.rig.session(version).await;
        let prompt = client.prompt(&session, "What is it?").await;
        let result = client.response(&prompt).await.expect("answered");
        if version == Version::V1 {
            assert_eq!(result["usage"]["totalTokens"], 34, "{result}");
        }
        client.settle().await;
        assert_eq!(client.take_text("agent_message_chunk"), "It is one.");
        assert_eq!(client.take_text("agent_thought_chunk"), "I look.");
        let rows = rows(&client.take_unclaimed());
        let told: Vec<_> = rows
            .iter()
            .map(|row| (row["title"].as_str().unwrap(), row["status"].as_str().unwrap()))
            .collect();
        assert_eq!(
            told,
            [("step 1: print(1)", "completed"), ("edit: a.txt", "completed"), ("step 2: boom()", "failed")]
        );
        assert_eq!(rows[0]["rawOutput"]["output"], "1");
        assert_eq!(rows[1]["content"][0]["type"], "diff");
        assert_eq!(scene.noted(0, "prompt"), "What is it?");
        client.finish().await;
    }
}

#[tokio::test]
async fn keys_and_words_travel_where_nobody_else_sees_them() {
    let more = json!({"url": "http://127.0.0.1:9", "model": "m", "api_key": "sk-hidden", "prompt": "Be kind.",
        "smolagent_tools": ["a", "b"], "max_steps": 3});
    let scene = smol(&more, &["echo '{\"type\":\"final_answer\",\"text\":\"First.\"}'"]);
    let (mut client, session) = scene.rig.session(Version::V2).await;
    for text in ["the secret plan", "--and more"] {
        let prompt = client.prompt(&session, text).await;
        assert_eq!(ended(&mut client, &prompt).await.expect("answered"), "end_turn");
    }
    let argv = scene.noted(0, "argv");
    let lines: Vec<&str> = argv.lines().collect();
    assert_eq!(
        lines[..8],
        [
            "--model-type",
            "OpenAIModel",
            "--model-id",
            "m",
            "--api-base",
            "http://127.0.0.1:9/v1",
            "--action-type",
            "code"
        ]
    );
    assert_eq!(lines[8..12], ["--tools", "a,b", "--max-steps", "3"]);
    assert_eq!(lines[lines.len() - 2..], ["--", "-"]);
    assert!(!argv.contains("hidden") && !argv.contains("plan"), "{argv}");
    let env = scene.noted(0, "env");
    assert!(env.lines().any(|line| line == "OPENAI_API_KEY=sk-hidden"));
    assert!(scene.noted(0, "context").contains("Be kind."));
    assert_eq!(scene.noted(1, "prompt"), "--and more");
    let context = scene.noted(1, "context");
    assert!(context.contains("the secret plan") && context.contains("First."), "it remembers nothing itself");
    let log = client.finish().await;
    assert!(!log.contains("sk-hidden"));
}

#[tokio::test]
async fn noise_and_what_is_not_known_are_passed_over() {
    let long = "for i in $(seq 1 3000); do echo 'noise on standard error, much of it'; done >&2\n";
    let odd = "printf 'NOISE\\033]0;t\\007 \\377\\376\\n'; echo 'plain words'; echo '[1]'; echo '{\"type\":\"from_the_future\"}'\n";
    let play = format!("{long}{odd}echo '{{\"type\":\"final_answer\",\"text\":\"Here.\"}}'");
    for version in Version::BOTH {
        let scene = smol(&json!({}), &[&play]);
        let (mut client, session) = scene.rig.session(version).await;
        let prompt = client.prompt(&session, "go").await;
        assert_eq!(ended(&mut client, &prompt).await.expect("answered"), "end_turn");
        assert_eq!(client.take_text("agent_message_chunk"), "Here.");
        // Every line of ours is checked as it is read.
        assert!(!client.finish().await.contains("NOISE"));
    }
}

#[tokio::test]
async fn a_run_without_a_good_end_fails_with_its_cause_and_the_next_one_works() {
    let rows = [
        ("exit 0", "external_exited", "smol: it ended without an answer or a word (exit status: 0)"),
        ("echo boom >&2; exit 3", "external_failed", "smol: boom (exit status: 3)"),
        (
            "echo '{\"type\":\"result\",\"is_error\":true,\"error\":\"no key\"}'",
            "external_failed",
            "smol: no key",
        ),
        ("echo '{\"type\":\"text_delta\",\"text\":\"Half\"}'; kill -9 $$", "external_exited", "signal: 9"),
    ];
    for (play, code, words) in rows {
        for version in Version::BOTH {
            let scene = smol(&json!({}), &[play, "echo '{\"type\":\"final_answer\",\"text\":\"Fine.\"}'"]);
            let (mut client, session) = scene.rig.session(version).await;
            let prompt = client.prompt(&session, "go").await;
            let (told, error) = cause(&ended(&mut client, &prompt).await.expect_err("it fails"));
            assert_eq!(told, code, "{play}: {error}");
            assert!(error.contains(words), "{play}: {error}");
            client.take_text("agent_message_chunk");
            let prompt = client.prompt(&session, "again").await;
            assert_eq!(ended(&mut client, &prompt).await.expect("answered"), "end_turn");
            assert_eq!(client.take_text("agent_message_chunk"), "Fine.", "{play}");
            client.finish().await;
        }
    }
}

#[tokio::test]
async fn a_missing_program_is_named_with_the_remedy() {
    for (bin, words) in [
        ("no-such-agent", "cannot start `no-such-agent`: there is no such program; set the agent's `bin`"),
        ("/nowhere/python3", "install Python and smolagents"),
    ] {
        let scene = smol(&json!({"bin": bin}), &[]);
        let (mut client, session) = scene.rig.session(Version::V2).await;
        let prompt = client.prompt(&session, "go").await;
        let (code, error) = cause(&ended(&mut client, &prompt).await.expect_err("it fails"));
        assert_eq!(code, "external_missing");
        assert!(error.contains(words), "{error}");
        client.finish().await;
    }
}

#[tokio::test]
async fn a_cancel_ends_the_whole_group_though_it_hears_nothing() {
    let play = "trap '' TERM\necho '{\"type\":\"step\",\"code\":\"wait()\"}'\n(trap '' TERM; echo $$ > /dev/null; sleep 600) &\nwhile true; do sleep 600; done";
    for version in Version::BOTH {
        let scene = smol(&json!({}), &[play]);
        let (mut client, session) = scene.rig.session(version).await;
        let prompt = client.prompt(&session, "go").await;
        let kind = if version == Version::V1 { "tool_call" } else { "tool_call_update" };
        client.update(kind).await;
        let since = Instant::now();
        client.cancel(&session).await;
        assert_eq!(ended(&mut client, &prompt).await.expect("no error"), "cancelled");
        assert!(since.elapsed() < Duration::from_secs(2), "{:?}", since.elapsed());
        assert!(!scene.is_alive(0));
        client.finish().await;
    }
}

#[tokio::test]
async fn a_turn_takes_no_longer_than_it_may() {
    let scene = smol(&json!({"limits": {"turn_timeout_secs": 1}}), &["sleep 600"]);
    let (mut client, session) = scene.rig.session(Version::V2).await;
    let prompt = client.prompt(&session, "go").await;
    let (code, _) = cause(&ended(&mut client, &prompt).await.expect_err("it fails"));
    assert_eq!(code, "turn_timed_out");
    assert!(!scene.is_alive(0));
    client.finish().await;
}

#[tokio::test]
async fn a_program_that_does_not_end_after_its_last_word_is_ended() {
    let play =
        "echo '{\"type\":\"final_answer\",\"text\":\"Done.\"}'; echo '{\"type\":\"result\"}'; sleep 600";
    let scene = smol(&json!({}), &[play]);
    let (mut client, session) = scene.rig.session(Version::V2).await;
    let since = Instant::now();
    let prompt = client.prompt(&session, "go").await;
    assert_eq!(ended(&mut client, &prompt).await.expect("answered"), "end_turn");
    assert!(since.elapsed() < Duration::from_secs(4), "{:?}", since.elapsed());
    assert!(!scene.is_alive(0));
    client.finish().await;
}

#[tokio::test]
async fn it_is_asked_once_before_it_works_and_not_run_when_that_is_refused() {
    for version in Version::BOTH {
        let mut config = only("smol", "subprocess", "events.sh", &json!({}));
        config["permissions"] = json!({});
        let scene = Scene::new(&config, &["echo '{\"type\":\"final_answer\",\"text\":\"Done.\"}'"]);
        let (mut client, session) = scene.rig.session(version).await;
        let prompt = client.prompt(&session, "go").await;
        let (id, params) = client.request("session/request_permission").await;
        let call = if version == Version::V1 { &params["toolCall"] } else { &params["subject"]["toolCall"] };
        assert_eq!(call["title"], "smol: works in this folder without asking again");
        client.choose(&id, "reject").await;
        assert_eq!(ended(&mut client, &prompt).await.expect("no error"), "end_turn");
        assert_eq!(scene.runs(), 0);
        let prompt = client.prompt(&session, "go").await;
        let (id, _) = client.request("session/request_permission").await;
        client.choose(&id, "allow_always").await;
        assert_eq!(ended(&mut client, &prompt).await.expect("answered"), "end_turn");
        let prompt = client.prompt(&session, "again").await;
        assert_eq!(ended(&mut client, &prompt).await.expect("answered"), "end_turn");
        assert_eq!(scene.runs(), 2, "always is for the session");
        client.finish().await;
    }
}

#[tokio::test]
async fn a_mode_that_only_looks_refuses_it() {
    let mut config = only("smol", "subprocess", "events.sh", &json!({}));
    config["permissions"] = json!({});
    let scene = Scene::new(&config, &["exit 0"]);
    let (mut client, session) = scene.rig.session(Version::V2).await;
    client
        .call(
            "session/set_config_option",
            json!({"sessionId": session, "configId": "mode", "type": "id", "value": "restricted"}),
        )
        .await
        .expect("set");
    let prompt = client.prompt(&session, "go").await;
    let (code, error) = cause(&ended(&mut client, &prompt).await.expect_err("it fails"));
    assert_eq!(code, "external_refused");
    assert!(error.contains("choose another mode"), "{error}");
    assert_eq!(scene.runs(), 0);
    client.finish().await;
}
