//! `edit_file` and `write_file` on a real disk.

use std::fs;

use serde_json::json;
use session_model::{FileOp, GrantScope};

use super::{Rig, change, scopes, text};
use crate::tools::Approval;

#[tokio::test]
async fn an_edit_changes_its_lines_and_says_where() {
    let rig = Rig::new();
    rig.write("src/a.rs", "one\ntwo\nthree\n");
    let args = json!({"path": "src/a.rs", "old_string": "two", "new_string": "2"});
    let plan = rig.plan("edit_file", args.clone()).await.unwrap();
    assert_eq!(plan.title, "edit_file: src/a.rs");
    assert_eq!(scopes(&plan), Some(&[GrantScope::Tool][..]));
    assert_eq!(plan.locations[0].path, rig.path("src/a.rs"));
    assert_eq!(plan.locations[0].line, Some(2));
    let shown = change(&plan.preview).clone();
    assert_eq!(shown.op, FileOp::Modify);
    assert_eq!(shown.before.as_deref(), Some("one\ntwo\nthree\n"));
    assert_eq!(rig.read("src/a.rs"), "one\ntwo\nthree\n", "a plan changes nothing");
    let output = rig.call("edit_file", args).await;
    assert_eq!(output.output, "edited src/a.rs: replaced once, first at line 2");
    assert_eq!(change(&output.content), &shown);
    assert_eq!(output.locations[0].line, Some(2));
    assert_eq!(rig.read("src/a.rs"), "one\n2\nthree\n");
    assert_eq!(fs::read_dir(rig.path("src")).unwrap().count(), 1, "no temporary file is left");
}

#[tokio::test]
async fn byte_order_mark_and_crlf_stay() {
    let rig = Rig::new();
    rig.write("a.txt", "\u{feff}one\r\ntwo\r\n");
    rig.ok("edit_file", json!({"path": "a.txt", "old_string": "one\ntwo", "new_string": "1\n2\n3"})).await;
    assert_eq!(rig.read("a.txt"), "\u{feff}1\r\n2\r\n3\r\n");
}

#[tokio::test]
async fn an_edit_that_cannot_be_made_is_refused_without_a_question() {
    let rig = Rig::new();
    rig.write("a.txt", "x x\n");
    rig.write("latin", b"caf\xe9 x\n");
    for (args, reason) in [
        (json!({"path": "a.txt", "old_string": "x", "new_string": "y"}), "occurs 2 times"),
        (json!({"path": "a.txt", "old_string": "", "new_string": "y"}), "`old_string` is empty"),
        (json!({"path": "a.txt", "old_string": "q", "new_string": "y"}), "was not found"),
        (json!({"path": "none.txt", "old_string": "q", "new_string": "y"}), "does not exist"),
        (json!({"path": ".", "old_string": "q", "new_string": "y"}), "is a folder"),
        (json!({"path": "latin", "old_string": "x", "new_string": "y"}), "not UTF-8"),
        (json!({"path": "a.txt", "old_string": "x"}), "`new_string` is missing"),
    ] {
        let refused = rig.plan("edit_file", args).await.unwrap_err();
        assert!(refused.contains(reason), "{refused}");
    }
    assert_eq!(fs::read(rig.path("latin")).unwrap(), b"caf\xe9 x\n");
}

#[tokio::test]
async fn a_file_changed_since_the_plan_is_judged_anew() {
    let rig = Rig::new();
    rig.write("a.txt", "one\ntwo\n");
    let args = json!({"path": "a.txt", "old_string": "two", "new_string": "2"});
    let plan = rig.plan("edit_file", args.clone()).await.unwrap();
    let tool = rig.tool("edit_file");
    let edit = |args| tool.run(super::members(args), rig.cx().for_plan(&plan));
    rig.write("a.txt", "zero\none\ntwo\n");
    assert_eq!(edit(args.clone()).await.locations[0].line, Some(3));
    assert_eq!(rig.read("a.txt"), "zero\none\n2\n");
    let again = edit(args).await;
    assert!(again.error.is_some_and(|error| error.contains("was not found")));
    assert_eq!(rig.read("a.txt"), "zero\none\n2\n");
}

#[tokio::test]
async fn what_an_outside_file_holds_is_not_told_before_leave() {
    let rig = Rig::new();
    fs::write(rig.outside("secret"), "password = 1\n").unwrap();
    let args = json!({"path": "../other/secret", "old_string": "password=1", "new_string": "x"});
    let plan = rig.plan("edit_file", args).await.unwrap();
    assert!(plan.preview.is_empty());
    assert!(matches!(plan.approval, Approval::Ask(_)));
}

#[cfg(unix)]
#[tokio::test]
async fn mode_and_link_stay_and_a_read_only_file_is_left_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let rig = Rig::new();
    let script = rig.write("run.sh", "echo one\n");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    super::link("run.sh", rig.path("link"));
    rig.ok("edit_file", json!({"path": "link", "old_string": "one", "new_string": "two"})).await;
    rig.ok("write_file", json!({"path": "link", "content": "echo three\n"})).await;
    assert_eq!(rig.read("run.sh"), "echo three\n");
    assert!(fs::symlink_metadata(rig.path("link")).unwrap().file_type().is_symlink());
    assert_eq!(fs::metadata(&script).unwrap().permissions().mode() & 0o7777, 0o755);
    fs::set_permissions(&script, fs::Permissions::from_mode(0o444)).unwrap();
    let refused = rig.refused("write_file", json!({"path": "run.sh", "content": "x"})).await;
    assert!(refused.contains("read-only"), "{refused}");
    assert_eq!(rig.read("run.sh"), "echo three\n");
}

#[cfg(unix)]
#[tokio::test]
async fn another_name_of_a_file_outside_is_never_written_through() {
    let rig = Rig::new();
    fs::write(rig.outside("secret"), "secret\n").unwrap();
    fs::hard_link(rig.outside("secret"), rig.path("inside")).unwrap();
    rig.ok("write_file", json!({"path": "inside", "content": "mine\n"})).await;
    assert_eq!(fs::read_to_string(rig.outside("secret")).unwrap(), "secret\n");
    assert_eq!(rig.read("inside"), "mine\n");
}

#[tokio::test]
async fn a_new_file_gets_its_folders_and_is_shown_as_new() {
    let rig = Rig::new();
    let args = json!({"path": "a/b/c.txt", "content": "hé\n"});
    let plan = rig.plan("write_file", args.clone()).await.unwrap();
    assert_eq!(plan.title, "write_file: a/b/c.txt");
    assert_eq!(change(&plan.preview).op, FileOp::Add);
    assert!(!rig.path("a").exists(), "a plan creates nothing");
    let output = rig.call("write_file", args).await;
    assert_eq!(output.output, "created a/b/c.txt (4 bytes)");
    assert_eq!(change(&output.content).op, FileOp::Add);
    assert_eq!(rig.read("a/b/c.txt"), "hé\n");
    let output = rig.call("write_file", json!({"path": "a/b/c.txt", "content": ""})).await;
    assert_eq!(output.output, "replaced a/b/c.txt (0 bytes)");
    assert_eq!(change(&output.content).before.as_deref(), Some("hé\n"));
}

#[tokio::test]
async fn a_folder_or_a_file_on_the_way_is_no_place_to_write() {
    let rig = Rig::new();
    rig.write("file", "x");
    for path in [".", "new/", "..", "new/."] {
        let refused = rig.refused("write_file", json!({"path": path, "content": "x"})).await;
        assert!(refused.contains("is a folder"), "{path}: {refused}");
    }
    let refused = rig.refused("write_file", json!({"path": "file/below", "content": "x"})).await;
    assert!(refused.contains("nothing was written"), "{refused}");
    assert_eq!(rig.read("file"), "x");
}

#[tokio::test]
async fn old_text_that_cannot_be_shown_is_never_shown_as_none() {
    let rig = Rig::new();
    rig.write("data", [0xff, 0xfe, 0]);
    let output = rig.call("write_file", json!({"path": "data", "content": "text"})).await;
    assert!(text(&output.content).contains("cannot be shown"), "{output:?}");
    let long = "x".repeat(600_000);
    let output = rig.call("write_file", json!({"path": "long", "content": long})).await;
    assert!(text(&output.content).contains("600000 bytes"), "{output:?}");
}

#[tokio::test]
async fn a_cancelled_call_writes_nothing() {
    let rig = Rig::new();
    rig.write("a", "x");
    rig.cancel.cancel();
    rig.refused("write_file", json!({"path": "b", "content": "x"})).await;
    rig.refused("edit_file", json!({"path": "a", "old_string": "x", "new_string": "y"})).await;
    assert!(!rig.path("b").exists());
    assert_eq!(rig.read("a"), "x");
}
