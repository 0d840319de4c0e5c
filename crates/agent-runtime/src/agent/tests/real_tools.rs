//! The tools every session has, under the engine.

use std::fs;

use serde_json::json;
use session_model::{StopReason, ToolContent};

use super::rig::{Rig, told};
use crate::host::HostFeatures;
use crate::mode::Mode;
use crate::scripted::Line;
use crate::tools::registry::ToolRegistry;

#[tokio::test]
async fn a_file_is_read_leave_asked_and_the_file_edited() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.txt"), "one\ntwo\n").unwrap();
    let edit = json!({ "path": "a.txt", "old_string": "two", "new_string": "three" });
    let mut rig = Rig::new(vec![
        vec![Line::say("reading"), Line::call("read_file", json!({ "path": "a.txt" }))],
        vec![Line::call("edit_file", edit)],
        vec![Line::say("done")],
    ])
    .tools(ToolRegistry::builtin())
    .choose("allow");
    rig.cwd = folder.path().to_owned();
    let model = std::sync::Arc::clone(&rig.model);
    let outcome = rig.run().await;
    assert_eq!(outcome.end.unwrap().stop, StopReason::EndTurn);
    assert_eq!(fs::read_to_string(folder.path().join("a.txt")).unwrap(), "one\nthree\n");
    assert!(told(&model.requests())[0].contains("1\\tone\\n2\\ttwo"));
    let order: Vec<_> = outcome.log.iter().map(|line| line.split(" step").next().unwrap()).collect();
    assert_eq!(
        order[..3],
        ["agent msg-1: reading", r#"call-2 Pending "read_file: a.txt""#, "call-2 InProgress"]
    );
    assert!(
        order[5].starts_with(
            r#"ask call-3 "edit_file: a.txt" [allow=Allow, allow_always=Always allow edit_file"#
        ),
        "{order:#?}"
    );
    assert_eq!(order[6], "call-3 InProgress");
    assert!(order[7].starts_with("call-3 Completed"), "{order:#?}");
    let shown = outcome.rows.last().unwrap().content.as_deref().unwrap_or_default();
    assert!(
        matches!(shown, [ToolContent::Change(change)] if change.after.as_deref() == Some("one\nthree\n"))
    );
}

#[tokio::test]
async fn what_bash_says_is_shown_while_it_runs_and_told_afterwards() {
    let folder = tempfile::tempdir().unwrap();
    let mut rig = Rig::new(vec![
        vec![Line::call("bash", json!({ "command": "echo out; exit 3" }))],
        vec![Line::say("done")],
    ])
    .tools(ToolRegistry::builtin());
    rig.cwd = folder.path().to_owned();
    rig.permissions.mode.set(Mode::Autonomous);
    let model = std::sync::Arc::clone(&rig.model);
    let outcome = rig.run().await;
    assert!(outcome.end.is_ok());
    let told = &told(&model.requests())[0];
    assert!(told.contains("out") && told.contains(r#""exit_code":3"#), "{told}");
}

#[tokio::test]
async fn a_file_written_and_edited_in_one_batch_is_asked_about_and_changed_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let edit = |old, new| json!({ "path": "new.txt", "old_string": old, "new_string": new });
    let mut rig = Rig::new(vec![
        vec![
            Line::call("write_file", json!({ "path": "new.txt", "content": "one\ntwo\n" })),
            Line::call("edit_file", edit("two", "three")),
            Line::call("edit_file", edit("three", "four")),
            Line::call("read_file", json!({ "path": "new.txt" })),
        ],
        vec![Line::say("done")],
    ])
    .tools(ToolRegistry::builtin())
    .choose("allow")
    .choose("allow")
    .choose("allow");
    rig.cwd = folder.path().to_owned();
    let model = std::sync::Arc::clone(&rig.model);
    let outcome = rig.run().await;
    assert_eq!(fs::read_to_string(folder.path().join("new.txt")).unwrap(), "one\nfour\n");
    let order: Vec<_> = outcome
        .log
        .iter()
        .map(|line| line.split_whitespace().take(2).collect::<Vec<_>>().join(" "))
        .filter(|line| !line.ends_with("InProgress"))
        .collect();
    assert_eq!(
        order[..11],
        [
            "call-1 Pending",
            "ask call-1",
            "call-1 Completed",
            "call-2 Pending",
            "ask call-2",
            "call-2 Completed",
            "call-3 Pending",
            "ask call-3",
            "call-3 Completed",
            "call-4 Pending",
            "call-4 Completed",
        ]
    );
    let told = told(&model.requests());
    assert!(told[3].contains("1\\tone\\n2\\tfour"), "{told:?}");
}

#[tokio::test]
async fn what_a_command_of_the_same_batch_made_can_be_edited() {
    let folder = tempfile::tempdir().unwrap();
    let mut rig = Rig::new(vec![
        vec![
            Line::call("bash", json!({ "command": "printf 'one' > made.txt" })),
            Line::call("edit_file", json!({ "path": "made.txt", "old_string": "one", "new_string": "two" })),
        ],
        vec![Line::say("done")],
    ])
    .tools(ToolRegistry::builtin());
    rig.cwd = folder.path().to_owned();
    rig.permissions.mode.set(Mode::Autonomous);
    rig.run().await;
    assert_eq!(fs::read_to_string(folder.path().join("made.txt")).unwrap(), "two");
}

#[tokio::test]
async fn questions_about_different_files_are_asked_before_any_of_them_changes() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path| Line::call("write_file", json!({ "path": path, "content": "x" }));
    let mut rig = Rig::new(vec![vec![write("a"), write("b")], vec![Line::say("done")]])
        .tools(ToolRegistry::builtin())
        .choose("allow")
        .choose("reject");
    rig.cwd = folder.path().to_owned();
    let outcome = rig.run().await;
    let place = |mark: &str| outcome.log.iter().position(|line| line.starts_with(mark)).unwrap();
    assert!(place("ask call-2") < place("call-1 InProgress"), "{:#?}", outcome.log);
    assert!(folder.path().join("a").exists() && !folder.path().join("b").exists());
}

#[tokio::test]
async fn what_was_put_aside_is_read_from_the_disk_though_the_client_has_files_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let spill = folder.path().canonicalize().unwrap().join(".milk/outputs");
    std::fs::create_dir_all(spill.join("s")).unwrap();
    let path = spill.join("s/call-9.txt");
    std::fs::write(&path, "mine, line 7").unwrap();
    let script = vec![
        vec![Line::call("read_file", json!({ "path": path }))],
        vec![Line::call("read_multiple_files", json!({ "paths": [path] }))],
        vec![Line::say("done")],
    ];
    let mut rig = Rig::new(script).tools(ToolRegistry::builtin()).spill(&spill);
    rig.host = HostFeatures { read_file: true, write_file: true, terminal: false };
    let model = std::sync::Arc::clone(&rig.model);
    rig.run().await;
    let told = told(&model.requests());
    assert!(told.len() == 2 && told.iter().all(|told| told.contains("mine, line 7")), "{told:?}");
}

#[tokio::test]
async fn what_was_put_aside_for_this_session_is_read_unasked_and_another_sessions_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let spill = folder.path().canonicalize().unwrap().join(".milk/outputs");
    for (session, text) in [("s", "mine, line 7"), ("t", "theirs")] {
        std::fs::create_dir_all(spill.join(session)).unwrap();
        std::fs::write(spill.join(session).join("call-9.txt"), text).unwrap();
    }
    let read = |session: &str| json!({ "path": spill.join(session).join("call-9.txt") });
    let script = vec![
        vec![Line::call("read_file", read("s"))],
        vec![Line::call("read_file", read("t"))],
        vec![Line::say("done")],
    ];
    let project = tempfile::tempdir().unwrap();
    let mut rig = Rig::new(script).tools(ToolRegistry::builtin()).spill(&spill).choose("reject");
    rig.cwd = project.path().to_owned();
    let model = std::sync::Arc::clone(&rig.model);
    let outcome = rig.run().await;
    let asked =
        outcome.log.iter().filter(|line| line.contains("may hold keys") || line.starts_with("ask")).count();
    assert_eq!(asked, 1, "{:#?}", outcome.log);
    let told = told(&model.requests());
    assert!(told[0].contains("mine, line 7") && !told[1].contains("theirs"), "{told:?}");
}
