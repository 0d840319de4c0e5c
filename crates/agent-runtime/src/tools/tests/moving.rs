//! Deleting and moving.
#![cfg(unix)]

use std::fs;

use serde_json::json;
use session_model::{FileOp, GrantScope, ToolKind};

use super::{Rig, change, link, scopes};

#[tokio::test]
async fn a_file_a_link_and_an_empty_folder_are_deleted_and_nothing_else() {
    let rig = Rig::new();
    rig.write("a.txt", "old\n");
    rig.write("full/b.txt", "b");
    fs::create_dir(rig.path("empty")).unwrap();
    fs::write(rig.outside("kept"), "kept").unwrap();
    link("../other/kept", rig.path("link"));
    link("../other", rig.path("out"));
    let plan = rig.plan("delete_file", json!({"path": "a.txt"})).await.unwrap();
    assert_eq!((plan.title.as_str(), scopes(&plan)), ("delete_file: a.txt", Some(&[GrantScope::Tool][..])));
    let shown = change(&plan.preview);
    assert_eq!(
        (&shown.op, shown.before.as_deref(), shown.after.as_deref()),
        (&FileOp::Delete, Some("old\n"), None)
    );
    assert_eq!(rig.ok("delete_file", json!({"path": "a.txt"})).await, "deleted a.txt");
    assert_eq!(rig.ok("delete_file", json!({"path": "empty"})).await, "deleted empty");
    assert_eq!(rig.ok("delete_file", json!({"path": "link"})).await, "deleted link");
    assert!(!rig.path("a.txt").exists() && !rig.path("empty").exists());
    assert!(rig.path("link").symlink_metadata().is_err());
    assert_eq!(fs::read_to_string(rig.outside("kept")).unwrap(), "kept");
    let refused = rig.refused("delete_file", json!({"path": "full"})).await;
    assert_eq!(refused, "full is a folder with something in it; nothing was deleted");
    assert!(rig.refused("delete_file", json!({"path": "a.txt"})).await.contains("does not exist"));
    for path in [".", "full/.", "full/..", "..", ""] {
        rig.refused("delete_file", json!({"path": path})).await;
    }
    assert_eq!(rig.ok("delete_file", json!({"path": "out"})).await, "deleted out");
    assert!(rig.path("full/b.txt").exists() && rig.outside("kept").exists());
}

#[tokio::test]
async fn what_lies_elsewhere_or_steers_is_asked_about_specially() {
    let rig = Rig::new();
    rig.write(".git/hooks/x", "x");
    rig.write("a", "a");
    fs::write(rig.outside("o"), "o").unwrap();
    link("../other", rig.path("out"));
    for (tool, args) in [
        ("delete_file", json!({"path": ".git/hooks/x"})),
        ("move_file", json!({"source": "a", "destination": ".git/hooks/post-commit"})),
        ("move_file", json!({"source": ".git/hooks/x", "destination": "b"})),
        ("move_file", json!({"source": "a", "destination": ".git/hooks"})),
    ] {
        let plan = rig.plan(tool, args.clone()).await.unwrap();
        assert_eq!(scopes(&plan), Some(&[][..]), "{args}");
    }
    let other = GrantScope::Outside(rig.outside("o").parent().unwrap().to_owned());
    for (tool, args) in [
        ("delete_file", json!({"path": "../other/o"})),
        ("delete_file", json!({"path": "out/o"})),
        ("move_file", json!({"source": "out/o", "destination": "b"})),
        ("move_file", json!({"source": "a", "destination": "out/b"})),
        ("move_file", json!({"source": "a", "destination": "out"})),
    ] {
        let plan = rig.plan(tool, args.clone()).await.unwrap();
        assert_eq!(scopes(&plan), Some(&[GrantScope::Tool, other.clone()][..]), "{args}");
    }
}

#[tokio::test]
async fn a_file_is_moved_into_new_folders_and_never_over_another() {
    let rig = Rig::new();
    rig.write("a.txt", "a");
    rig.write("b.txt", "b");
    fs::create_dir(rig.path("dir")).unwrap();
    let call = |source: &str, destination: &str| json!({"source": source, "destination": destination});
    let plan = rig.plan("move_file", call("a.txt", "new/deep/c.txt")).await.unwrap();
    assert_eq!(plan.title, "move_file: a.txt to new/deep/c.txt");
    assert_eq!(plan.locations.len(), 2);
    assert_eq!(rig.tool("move_file").spec().kind, ToolKind::Move);
    assert_eq!(
        rig.refused("move_file", call("a.txt", "b.txt")).await,
        "nothing was moved: b.txt exists already"
    );
    assert_eq!(rig.ok("move_file", call("a.txt", "new/deep/c.txt")).await, "moved a.txt to new/deep/c.txt");
    assert_eq!(rig.read("new/deep/c.txt"), "a");
    assert_eq!(rig.ok("move_file", call("b.txt", "dir")).await, "moved b.txt to dir/b.txt");
    assert_eq!(rig.ok("move_file", call("dir/b.txt", "./new/")).await, "moved dir/b.txt to new/b.txt");
    assert!(rig.refused("move_file", call("dir", "new/dir")).await.contains("`mv` moves folders"));
    assert!(rig.refused("move_file", call("gone", "x")).await.contains("does not exist"));
}

#[tokio::test]
async fn a_folder_swapped_for_a_link_after_the_question_stops_the_call() {
    for tool in ["delete_file", "move_file"] {
        let rig = Rig::new();
        rig.write("dir/f", "mine");
        rig.write("a", "a");
        fs::write(rig.outside("f"), "theirs").unwrap();
        let args = if tool == "delete_file" {
            json!({"path": "dir/f"})
        } else {
            json!({"source": "a", "destination": "dir/g"})
        };
        let plan = rig.plan(tool, args.clone()).await.unwrap();
        fs::rename(rig.path("dir"), rig.path("moved")).unwrap();
        link("../other", rig.path("dir"));
        let cx = rig.cx().for_plan(&plan);
        let output = rig.tool(tool).run(super::members(args), cx).await;
        assert!(output.error.unwrap().contains("is not the place that was allowed"), "{tool}");
        assert_eq!(fs::read_to_string(rig.outside("f")).unwrap(), "theirs");
        assert!(!rig.outside("g").exists() && rig.path("a").exists());
    }
}
