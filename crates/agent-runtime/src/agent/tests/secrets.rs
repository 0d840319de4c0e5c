//! Secrets under the engine: the model is told marks, and its edits keep what they stand for.

use std::fs;
use std::sync::Arc;

use serde_json::json;
use session_model::StopReason;

use super::rig::{Rig, told};
use crate::mode::Mode;
use crate::redact::Redactor;
use crate::scripted::Line;
use crate::tools::registry::ToolRegistry;

fn token() -> String {
    format!("ghp_{}", "a1B2c3".repeat(6))
}

async fn run(calls: Vec<(&str, serde_json::Value)>) -> (tempfile::TempDir, Vec<String>, String) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(".env"), format!("A=1\nTOKEN={}\nB=2\n", token())).unwrap();
    let mut answers: Vec<_> = calls.into_iter().map(|(tool, args)| vec![Line::call(tool, args)]).collect();
    answers.push(vec![Line::say("done")]);
    let mut rig = Rig::new(answers).tools(ToolRegistry::builtin()).redacting(Arc::new(Redactor::new("n0")));
    rig.cwd = folder.path().to_owned();
    rig.permissions.mode = Mode::Autonomous.into();
    let model = Arc::clone(&rig.model);
    let outcome = rig.run().await;
    assert_eq!(outcome.end.unwrap().stop, StopReason::EndTurn);
    let all = format!("{:?}", model.requests());
    (folder, told(&model.requests()), all)
}

const MARK: &str = "[redacted:github-token:n0-1]";

#[tokio::test]
async fn a_redacted_read_followed_by_an_edit_keeps_the_secret_in_the_file() {
    let edit = json!({"path": ".env", "old_string": format!("TOKEN={MARK}\nB=2"), "new_string": format!("TOKEN={MARK}\nB=3")});
    let (folder, told, all) = run(vec![("read_file", json!({"path": ".env"})), ("edit_file", edit)]).await;
    assert!(told[0].contains(MARK), "{told:?}");
    assert!(!all.contains(&token()), "the model was told the token");
    let text = fs::read_to_string(folder.path().join(".env")).unwrap();
    assert_eq!(text, format!("A=1\nTOKEN={}\nB=3\n", token()));
}

#[tokio::test]
async fn writing_and_patching_keep_it_as_well() {
    let write = json!({"path": "copy", "content": format!("T={MARK}\n")});
    let patch = format!(
        "*** Begin Patch\n*** Update File: .env\n A=1\n-TOKEN={MARK}\n+OTHER={MARK}\n B=2\n*** End Patch\n"
    );
    let calls = vec![
        ("read_file", json!({"path": ".env"})),
        ("write_file", write),
        ("apply_patch", json!({ "patch": patch })),
    ];
    let (folder, _, all) = run(calls).await;
    assert!(!all.contains(&token()));
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(read("copy"), format!("T={}\n", token()));
    assert_eq!(read(".env"), format!("A=1\nOTHER={}\nB=2\n", token()));
}

#[tokio::test]
async fn a_changed_mark_is_written_nowhere() {
    let write = json!({"path": ".env", "content": "TOKEN=[redacted:github-token:n0-9]\n"});
    let (folder, told, _) = run(vec![("read_file", json!({"path": ".env"})), ("write_file", write)]).await;
    assert!(told[1].contains("was changed or stands for nothing"), "{told:?}");
    assert!(fs::read_to_string(folder.path().join(".env")).unwrap().contains(&token()));
}

#[tokio::test]
#[cfg(unix)]
async fn a_command_gets_the_mark_and_not_the_secret() {
    let calls = vec![
        ("read_file", json!({"path": ".env"})),
        ("bash", json!({"command": format!("echo '{MARK}' > out; cat .env")})),
    ];
    let (folder, told, all) = run(calls).await;
    assert_eq!(fs::read_to_string(folder.path().join("out")).unwrap(), format!("{MARK}\n"));
    assert!(told[1].contains(MARK) && !all.contains(&token()));
}
