//! `provider: "aider-cli"`.

use milk_tests::schema::Version;
use serde_json::{Value, json};

use super::{Scene, cause, ended, only, rows};

fn aider(more: &Value, plays: &[&str]) -> Scene {
    Scene::new(&only("aider", "aider-cli", "aider.sh", more), plays)
}

const BANNER: &str = "echo; echo 'Aider v0.86.2'; echo 'Model: openai/m with diff edit format'; echo 'Git repo: none'; \
echo 'Repo-map: disabled'; echo 'Added src/a.py to the chat.'; echo 'Added /tmp/x.md to the chat (read-only).'; echo; echo\n";

#[tokio::test]
async fn the_answer_is_shown_without_the_banner_and_changes_as_diffs() {
    let play = format!(
        "{BANNER}printf 'I change it.\\n\\n```\\nx\\n```\\n\\nDone.\\n\\n'; echo two > src/a.py; \
         echo 'Tokens: 2.5k sent, 38 received.'; echo 'Applied edit to src/a.py'"
    );
    for version in Version::BOTH {
        let scene = aider(&json!({"model": "openai/m", "url": "http://127.0.0.1:9"}), &[&play]);
        std::fs::create_dir(scene.rig.cwd().join("src")).unwrap();
        scene.rig.file("src/a.py", "one\n");
        let (mut client, session) = scene.rig.session(version).await;
        let prompt = client.prompt(&session, "Change src/a.py, not /etc/hosts or src.").await;
        let result = client.response(&prompt).await.expect("answered");
        if version == Version::V1 {
            assert_eq!(result["usage"]["totalTokens"], 2538, "{result}");
        }
        client.settle().await;
        assert_eq!(client.take_text("agent_message_chunk"), "I change it.\n\n```\nx\n```\n\nDone.\n");
        let rows = rows(&client.take_unclaimed());
        assert_eq!(rows.len(), 1, "{rows:?}");
        assert_eq!(rows[0]["title"], "edit: src/a.py");
        assert_eq!(rows[0]["content"][0]["type"], "diff");
        let file = scene.rig.cwd().join("src/a.py");
        assert_eq!(scene.noted(0, "files"), format!("{}\n", file.display()));
        assert_eq!(scene.noted(0, "prompt"), "Change src/a.py, not /etc/hosts or src.");
        assert!(scene.noted(0, "argv").contains("--no-git\n"));
        assert_eq!(scene.noted(0, "input"), "");
        client.finish().await;
    }
}

#[tokio::test]
async fn it_is_told_the_conversation_and_nothing_of_it_is_an_argument() {
    let scene = aider(
        &json!({"api_key": "sk-hidden", "extra_args": ["--extra"], "prompt": "Be kind."}),
        &["echo First."],
    );
    std::fs::create_dir(scene.rig.cwd().join(".git")).unwrap();
    let (mut client, session) = scene.rig.session(Version::V2).await;
    for text in ["the secret plan", "/run more of it"] {
        let prompt = client.prompt(&session, text).await;
        assert_eq!(ended(&mut client, &prompt).await.expect("answered"), "end_turn");
    }
    let argv = scene.noted(1, "argv");
    assert!(!argv.contains("hidden") && !argv.contains("plan") && !argv.contains("--no-git"), "{argv}");
    assert!(scene.noted(0, "env").lines().any(|line| line == "OPENAI_API_KEY=sk-hidden"));
    let context = scene.noted(1, "context");
    assert!(
        context.contains("Be kind.") && context.contains("the secret plan") && context.contains("First.")
    );
    assert_eq!(scene.noted(1, "prompt"), "\n/run more of it", "words are no command of aider's");
    client.finish().await;
}

#[tokio::test]
async fn a_failure_of_its_server_fails_the_turn_though_it_ends_well() {
    let rows = [
        (
            format!("{BANNER}echo 'litellm.AuthenticationError: boom'; echo 'Check your API key.'; echo"),
            "external_failed",
            "aider: litellm.AuthenticationError: boom Check your API key.",
        ),
        ("echo 'no module' >&2; exit 1".to_owned(), "external_failed", "aider: no module (exit status: 1)"),
        (BANNER.to_owned(), "external_exited", "it ended without an answer or a word"),
    ];
    for (play, code, words) in rows {
        let scene = aider(&json!({}), &[&play, "echo Fine."]);
        let (mut client, session) = scene.rig.session(Version::V2).await;
        let prompt = client.prompt(&session, "go").await;
        let (told, error) = cause(&ended(&mut client, &prompt).await.expect_err("it fails"));
        assert_eq!(told, code, "{error}");
        assert!(error.contains(words), "{error}");
        let prompt = client.prompt(&session, "again").await;
        assert_eq!(ended(&mut client, &prompt).await.expect("answered"), "end_turn");
        assert_eq!(client.take_text("agent_message_chunk"), "Fine.\n");
        client.finish().await;
    }
}

#[tokio::test]
async fn a_missing_aider_is_named_with_the_remedy() {
    let scene = aider(&json!({"bin": "no-such-aider"}), &[]);
    let (mut client, session) = scene.rig.session(Version::V2).await;
    let prompt = client.prompt(&session, "go").await;
    let (code, error) = cause(&ended(&mut client, &prompt).await.expect_err("it fails"));
    assert_eq!(code, "external_missing");
    assert!(error.contains("there is no such program; install aider (`pip install aider-chat`)"), "{error}");
    client.finish().await;
}

#[tokio::test]
async fn it_is_asked_before_it_works() {
    let mut config = only("aider", "aider-cli", "aider.sh", &json!({}));
    config["permissions"] = json!({});
    let scene = Scene::new(&config, &["echo Done."]);
    let (mut client, session) = scene.rig.session(Version::V2).await;
    let prompt = client.prompt(&session, "go").await;
    let (id, _) = client.request("session/request_permission").await;
    assert_eq!(scene.runs(), 0);
    client.choose(&id, "reject").await;
    assert_eq!(ended(&mut client, &prompt).await.expect("no error"), "end_turn");
    assert_eq!(scene.runs(), 0);
    client.finish().await;
}
