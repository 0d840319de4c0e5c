//! Runs that go wrong: each is a failure with its cause, none a hang, and the next turn works.

use std::time::Duration;

use agent_runtime::external::claude::ClaudeConfig;
use milk_tests::client::Client;
use milk_tests::schema::Version;
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Scene, ended};

/// What a turn's error says.
fn cause(error: &Value) -> (String, String) {
    let text = |name: &str| error["data"][name].as_str().unwrap_or_default().to_owned();
    (text("runtimeCode"), text("error"))
}

/// The program of the first run has ended.
fn check_gone(scene: &Scene) {
    let pid = scene.runs()[0]["pid"].as_i64().and_then(|pid| i32::try_from(pid).ok()).expect("a process id");
    let pid = Pid::from_raw(pid).expect("no zero");
    assert_eq!(test_kill_process(pid), Err(Errno::SRCH), "it still runs");
}

/// The next turn is answered as if nothing had been.
async fn goes_on(mut client: Client, session: &str) {
    client.take_text("agent_message_chunk");
    let prompt = client.prompt(session, "next").await;
    ended(&mut client, &prompt).await.expect("answered");
    assert_eq!(client.take_text("agent_message_chunk"), "Next.");
    client.finish().await;
}

#[tokio::test]
async fn a_run_without_a_good_end_fails_with_its_cause_and_the_next_one_works() {
    let rows = [
        (
            json!([{"exit": 0}]),
            "external_exited",
            "claude: it ended without an answer or a word (exit status: 0)",
        ),
        (json!([{"say": "Half"}, {"exit": 3}]), "external_exited", "(exit status: 3)"),
        (
            json!([{"result": {"is_error": true, "result": "API Error: 500 boom"}}, {"exit": 0}]),
            "external_failed",
            "claude: API Error: 500 boom",
        ),
        (
            json!([{"stderr": "(node) Warning: x\nsegfault in y\n"}, {"exit": 139}]),
            "external_failed",
            "claude: segfault in y",
        ),
        (
            json!([{"raw": "Invalid API key · Please run /login"}, {"exit": 1}]),
            "external_unauthorized",
            "log in",
        ),
        (
            json!([{"whole": "Not logged in · Please run /login", "model": "<synthetic>"},
                   {"result": {"is_error": true, "result": "Not logged in · Please run /login"}}, {"exit": 1}]),
            "external_unauthorized",
            "it is not logged in",
        ),
    ];
    for (steps, code, words) in rows {
        for version in Version::BOTH {
            let scene = Scene::new(&json!([steps, [{"say": "Fine."}]]));
            let (mut client, session) = scene.rig.session(version).await;
            let prompt = client.prompt(&session, "go").await;
            let (told, error) = cause(&ended(&mut client, &prompt).await.expect_err("it fails"));
            assert_eq!(told, code, "{steps}");
            assert!(error.contains(words), "{steps}: {error}");
            client.take_text("agent_message_chunk");
            let prompt = client.prompt(&session, "again").await;
            assert_eq!(ended(&mut client, &prompt).await.expect("answered"), "end_turn");
            assert_eq!(client.take_text("agent_message_chunk"), "Fine.", "{steps}");
            client.finish().await;
        }
    }
}

#[tokio::test]
async fn a_missing_program_is_named_with_the_remedy() {
    let scene = Scene::with(&json!([]), |config| ClaudeConfig { bin: "no-such-claude".to_owned(), ..config });
    let (mut client, session) = scene.rig.session(Version::V2).await;
    let prompt = client.prompt(&session, "go").await;
    let (code, error) = cause(&ended(&mut client, &prompt).await.expect_err("it fails"));
    assert_eq!(code, "external_missing");
    assert!(
        error.starts_with("claude: cannot start `no-such-claude`: there is no such program; install"),
        "{error}"
    );
    client.finish().await;
}

#[tokio::test]
async fn noise_and_what_is_not_known_are_passed_over() {
    let large = json!({"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "?",
        "content": "x".repeat(5 * 1024 * 1024)}]}});
    let scene = Scene::new(&json!([[
        {"noise": 1}, {"raw": "plain words"}, {"raw": "{\"type\":\"from_the_future\"}"}, {"raw": "[]"}, {"raw": large.to_string()},
        {"raw": "{\"type\":\"control_request\",\"request_id\":\"x\",\"request\":{\"subtype\":\"hook_callback\"}}"},
        {"say": "Here."}, {"noise": 1},
    ]]));
    for version in Version::BOTH {
        let (mut client, session) = scene.rig.session(version).await;
        let prompt = client.prompt(&session, "go").await;
        assert_eq!(ended(&mut client, &prompt).await.expect("answered"), "end_turn");
        assert_eq!(client.take_text("agent_message_chunk"), "Here.");
        // Every line of ours is checked as it is read.
        client.finish().await;
    }
}

#[tokio::test]
async fn a_line_that_is_too_long_or_no_text_is_no_reason_to_fail() {
    let scene = Scene::new(&json!([[
        {"long": 70 * 1024 * 1024}, {"say": "Here, "}, {"broken": 1}, {"say": "there."},
    ]]));
    let (mut client, session) = scene.rig.session(Version::V2).await;
    let prompt = client.prompt(&session, "go").await;
    assert_eq!(ended(&mut client, &prompt).await.expect("answered"), "end_turn");
    assert_eq!(client.take_text("agent_message_chunk"), "Here, caf\u{fffd}there.");
    client.finish().await;
}

#[tokio::test]
async fn a_program_that_closes_its_output_is_ended_and_the_turn_fails_at_once() {
    for version in Version::BOTH {
        let scene = Scene::new(&json!([[{"say": "Half"}, {"mute": 1}], [{"say": "Next."}]]));
        let (mut client, session) = scene.rig.session(version).await;
        let since = Instant::now();
        let prompt = client.prompt(&session, "go").await;
        let (code, error) = cause(&ended(&mut client, &prompt).await.expect_err("it fails"));
        assert!(since.elapsed() < Duration::from_secs(5), "{:?}", since.elapsed());
        assert_eq!(code, "external_exited");
        assert!(error.contains("it closed its output and had to be killed"), "{error}");
        check_gone(&scene);
        goes_on(client, &session).await;
    }
}

#[tokio::test]
async fn a_server_that_fails_every_request_is_told_of_once_and_then_fails_the_turn() {
    let retry = |attempt: u32| {
        json!({"raw": json!({"type": "system", "subtype": "api_retry", "attempt": attempt,
        "max_retries": 10, "retry_delay_ms": 10, "error_status": 500}).to_string()})
    };
    let words = "API Error: 500 {\"type\":\"error\"}";
    let scene = Scene::new(&json!([[retry(1), retry(2), retry(3), retry(4),
        {"whole": words, "model": "<synthetic>"}, {"result": {"is_error": true, "result": words}}, {"exit": 1}]]));
    for version in Version::BOTH {
        let (mut client, session) = scene.rig.session(version).await;
        let prompt = client.prompt(&session, "go").await;
        let (code, error) = cause(&ended(&mut client, &prompt).await.expect_err("it fails"));
        assert_eq!(code, "external_failed");
        assert!(error.contains("claude: API Error: 500"), "{error}");
        client.settle().await;
        let log = client.finish().await;
        assert_eq!(log.matches("its server does not answer").count(), 1, "{log}");
    }
}

#[tokio::test]
async fn a_program_that_does_not_end_after_its_last_word_is_ended() {
    let scene = Scene::new(&json!([[{"say": "Done."}, {"result": {}}, {"deaf": 600_000}]]));
    let (mut client, session) = scene.rig.session(Version::V2).await;
    let since = Instant::now();
    let prompt = client.prompt(&session, "go").await;
    assert_eq!(ended(&mut client, &prompt).await.expect("answered"), "end_turn");
    assert!(since.elapsed() < Duration::from_secs(4), "{:?}", since.elapsed());
    check_gone(&scene);
    client.finish().await;
}

#[tokio::test]
async fn success_that_ends_badly_is_success() {
    let scene = Scene::new(&json!([[{"say": "Done."}, {"result": {}}, {"exit": 1}]]));
    let (mut client, session) = scene.rig.session(Version::V2).await;
    let prompt = client.prompt(&session, "go").await;
    assert_eq!(ended(&mut client, &prompt).await.expect("answered"), "end_turn");
    client.finish().await;
}

#[tokio::test]
async fn a_program_that_hears_nothing_is_ended_by_a_cancel() {
    for version in Version::BOTH {
        let scene = Scene::new(&json!([[{"say": "Half"}, {"deaf": 600_000}], [{"say": "Next."}]]));
        let (mut client, session) = scene.rig.session(version).await;
        let prompt = client.prompt(&session, "go").await;
        client.update("agent_message_chunk").await;
        let since = Instant::now();
        client.cancel(&session).await;
        assert_eq!(ended(&mut client, &prompt).await.expect("no error"), "cancelled");
        assert!(since.elapsed() < Duration::from_millis(2_500), "{:?}", since.elapsed());
        check_gone(&scene);
        goes_on(client, &session).await;
    }
}

#[tokio::test]
async fn a_program_that_is_killed_fails_the_turn_at_once() {
    let scene = Scene::new(&json!([[{"say": "Half"}, {"pause": 600_000}], [{"say": "Next."}]]));
    let (mut client, session) = scene.rig.session(Version::V2).await;
    let prompt = client.prompt(&session, "go").await;
    client.update("agent_message_chunk").await;
    let pid = i32::try_from(scene.runs()[0]["pid"].as_i64().expect("a number")).expect("a process id");
    let pid = rustix::process::Pid::from_raw(pid).expect("a process id");
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("it runs");
    let since = Instant::now();
    let (code, error) = cause(&ended(&mut client, &prompt).await.expect_err("it fails"));
    assert!(since.elapsed() < Duration::from_secs(3), "{:?}", since.elapsed());
    assert_eq!(code, "external_exited");
    assert!(error.contains("signal: 9"), "{error}");
    let prompt = client.prompt(&session, "next").await;
    ended(&mut client, &prompt).await.expect("answered");
    client.finish().await;
}

#[tokio::test]
async fn a_turn_takes_no_longer_than_it_may() {
    let scene = Scene::with(&json!([[{"say": "Half"}, {"pause": 600_000}]]), |config| ClaudeConfig {
        turn_limit: Duration::from_millis(700),
        ..config
    });
    let (mut client, session) = scene.rig.session(Version::V2).await;
    let prompt = client.prompt(&session, "go").await;
    let (code, _) = cause(&ended(&mut client, &prompt).await.expect_err("it fails"));
    assert_eq!(code, "turn_timed_out");
    client.finish().await;
}
