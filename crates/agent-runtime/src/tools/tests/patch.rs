//! `apply_patch`: the form of patches, where hunks apply, and files on a real disk.

use std::fs;

use serde_json::json;
use session_model::{FileOp, GrantScope, ToolContent};

use super::{Rig, scopes};
use crate::tools::patch::{Deed, apply, parse};

/// The text after the hunks of one `*** Update File`.
fn patched(text: &str, hunks: &str) -> Result<String, String> {
    let sections = parse(&format!("*** Begin Patch\n*** Update File: f\n{hunks}\n*** End Patch"))?;
    let Deed::Update { hunks, .. } = &sections[0].deed else { panic!("{sections:?}") };
    apply(text, hunks).map(|patched| patched.text)
}

#[test]
fn hunks_are_found_by_their_lines_and_only_changed_lines_change() {
    let table = [
        ("a\nb\nc\n", " a\n-b\n+B\n c", "a\nB\nc\n"),
        ("a\nb\nc\n", "@@\n-b\n+B", "a\nB\nc\n"),
        ("a\nb\nc\n", "@@ -2,1 +2,1 @@\n-b\n+B", "a\nB\nc\n"),
        ("a\nb\nc\n", " b\n+x\n+y\n c", "a\nb\nx\ny\nc\n"),
        ("a\nb\nc\n", "-a\n-b\n-c", ""),
        ("a\nb\nc\nd\n", "@@\n-a\n+A\n@@\n-d\n+D", "A\nb\nc\nD\n"),
        ("f1\nx\nf2\nx\n", "@@ f2\n-x\n+y", "f1\nx\nf2\ny\n"),
        (
            "class A\n  m\n  x\nclass B\n  m\n  x\n",
            "@@ class B\n@@ m\n-  x\n+  y",
            "class A\n  m\n  x\nclass B\n  m\n  y\n",
        ),
        ("x\nx\n", "-x\n+y\n*** End of File", "x\ny\n"),
        ("a\n", "+b", "a\nb\n"),
        ("a\nb\n", "@@ a\n+x", "a\nx\nb\n"),
        ("a\n\nb\n", " a\n\n-b\n+B\n\n", "a\n\nB\n"),
        // White space that the model lost is the file's, on lines that stay.
        ("\tif x {\n\t\ty\n\t}\n", " if x {\n-y\n+\t\tz\n }", "\tif x {\n\t\tz\n\t}\n"),
        // Line ends and a missing last one stay.
        ("a\r\nb\r\nc\r\n", " a\n-b\n+B\n+B2\n c", "a\r\nB\r\nB2\r\nc\r\n"),
        ("a\nb", "-b\n+B", "a\nB"),
        ("a\nb", " b\n+c", "a\nb\nc"),
    ];
    for (text, hunks, expected) in table {
        assert_eq!(patched(text, hunks).as_deref(), Ok(expected), "{hunks}");
    }
}

#[test]
fn a_hunk_without_one_clear_place_is_refused_with_the_reason() {
    let table = [
        ("x\ny\nx\n", "-x\n+z", "hunk 1: its lines occur more than once (lines 1 and 3)"),
        ("a\nb\n", "-c\n+z", "hunk 1: its lines do not occur below line 0; there is no line \"c\""),
        ("a\nb\nc\n", " a\n-c\n+z", "its lines do not occur together below line 0; \"a\" is line 1"),
        ("a\nb\n", "@@ nowhere\n-b\n+z", "there is no line \"nowhere\" below line 0"),
        ("a\nb\n", "@@\n-b\n+B\n@@\n-a\n+A", "hunk 2: its lines do not occur together below line 2"),
        ("a\n", " a", "f: a hunk has no line that begins with `+` or `-`"),
        ("a\n", "", "f: no hunk changes anything"),
        ("a\n", "?", "line 3 of the patch: a line of a hunk begins with"),
    ];
    for (text, hunks, expected) in table {
        let reason = patched(text, hunks).unwrap_err();
        assert!(reason.contains(expected), "{hunks}: {reason}");
    }
}

#[test]
fn a_patch_that_is_none_says_what_is_wrong_where() {
    let table = [
        ("", "the patch names no file"),
        ("hello", "line 1 of the patch: `*** Update File: <path>` or the like is missing"),
        ("*** Begin Patch\n*** Rename File: a", "line 2 of the patch: `*** Rename File` is none of"),
        ("*** Update File: ", "names no file"),
        ("*** Add File: a\nx", "each line of a new file begins with `+`"),
        ("*** Delete File: a\n-x", "nothing follows"),
        ("*** Add File: a\n+x\n*** Move to: b", "belongs to an `*** Update File`"),
        ("*** Delete File: a\n*** Delete File: a", "a has a section already"),
    ];
    for (patch, expected) in table {
        let reason = parse(patch).unwrap_err();
        assert!(reason.contains(expected), "{patch}: {reason}");
    }
}

const ALL: &str = "*** Begin Patch\n*** Add File: new/n.txt\n+one\n+two\n*** Update File: a.txt\n@@\n-b\n+B\n*** Update File: old.txt\n*** Move to: dir/moved.txt\n@@\n-x\n+y\n*** Delete File: gone.txt\n*** End Patch\n";

fn files(rig: &Rig) {
    rig.write("a.txt", "\u{feff}a\nb\n");
    rig.write("old.txt", "x\n");
    rig.write("gone.txt", "g\n");
}

#[tokio::test]
async fn one_patch_adds_changes_moves_and_deletes() {
    let rig = Rig::new();
    files(&rig);
    let plan = rig.plan("apply_patch", json!({"patch": ALL})).await.unwrap();
    assert_eq!(plan.title, "apply_patch: new/n.txt, a.txt, old.txt, gone.txt");
    assert_eq!(scopes(&plan), Some(&[GrantScope::Tool][..]));
    assert_eq!(plan.locations.len(), 5);
    assert_eq!(rig.read("a.txt"), "\u{feff}a\nb\n", "a plan changes nothing");
    let output = rig.call("apply_patch", json!({"input": ALL})).await;
    assert_eq!(output.output, "created new/n.txt, updated a.txt, moved old.txt, deleted gone.txt");
    assert_eq!(rig.read("new/n.txt"), "one\ntwo\n");
    assert_eq!(rig.read("a.txt"), "\u{feff}a\nB\n");
    assert_eq!(rig.read("dir/moved.txt"), "y\n");
    assert!(!rig.path("old.txt").exists() && !rig.path("gone.txt").exists());
    let ops = output.content.iter().map(|content| match content {
        ToolContent::Change(change) => change.op.clone(),
        other @ (ToolContent::Content(_) | ToolContent::Terminal(_)) => panic!("{other:?}"),
    });
    let from = rig.path("old.txt");
    assert_eq!(ops.collect::<Vec<_>>(), [FileOp::Add, FileOp::Modify, FileOp::Move { from }, FileOp::Delete]);
    assert_eq!(output.locations[1].line, Some(2));
}

#[tokio::test]
async fn a_patch_that_does_not_fit_whole_changes_nothing() {
    let rig = Rig::new();
    files(&rig);
    let half = ALL.replace("-x\n", "-not there\n");
    let refused = rig.refused("apply_patch", json!({"patch": half})).await;
    assert!(refused.starts_with("old.txt is unchanged: hunk 1:"), "{refused}");
    rig.write("new/n.txt", "in the way");
    let refused = rig.refused("apply_patch", json!({"patch": ALL})).await;
    assert!(refused.contains("new/n.txt exists already"), "{refused}");
    assert_eq!(rig.read("a.txt"), "\u{feff}a\nb\n");
    assert!(rig.path("old.txt").exists() && rig.path("gone.txt").exists());
    let twice = "*** Update File: a.txt\n@@\n-b\n+B\n*** Delete File: ./a.txt\n";
    let refused = rig.refused("apply_patch", json!({"patch": twice})).await;
    assert!(refused.contains("is touched twice"), "{refused}");
}

#[tokio::test]
async fn what_lies_outside_or_steers_other_programs_is_asked_about() {
    let rig = Rig::new();
    let outside = rig.outside("o.txt");
    fs::write(&outside, "secret\n").unwrap();
    let patch = format!("*** Update File: {}\n@@\n-guess\n+x\n", outside.display());
    let plan = rig.plan("apply_patch", json!({"patch": patch})).await.unwrap();
    assert!(plan.preview.is_empty(), "nothing of it is told");
    assert_eq!(scopes(&plan).unwrap().len(), 2);
    rig.write("a.txt", "a\n");
    let steering = "*** Update File: a.txt\n@@\n-a\n+b\n*** Add File: .git/hooks/post-commit\n+x\n";
    let plan = rig.plan("apply_patch", json!({"patch": steering})).await.unwrap();
    assert_eq!(scopes(&plan), Some(&[][..]), "it cannot be allowed for ever");
    let climbing = "*** Update File: a.txt\n*** Move to: ../other/b.txt\n";
    let plan = rig.plan("apply_patch", json!({"patch": climbing})).await.unwrap();
    assert!(scopes(&plan).unwrap().iter().any(|scope| matches!(scope, GrantScope::Outside(_))));
    // Without leave for it, nothing is written there.
    let output = rig.tool("apply_patch").run(super::members(json!({"patch": climbing})), rig.cx()).await;
    assert!(output.error.unwrap().contains("not the place that was allowed"));
    assert!(rig.path("a.txt").exists() && !rig.outside("b.txt").exists());
}

#[cfg(unix)]
#[tokio::test]
async fn a_moved_file_keeps_its_mode() {
    use std::os::unix::fs::PermissionsExt as _;
    let rig = Rig::new();
    let script = rig.write("run.sh", "a\n");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let patch = "*** Update File: run.sh\n*** Move to: bin/run.sh\n@@\n-a\n+b\n";
    rig.ok("apply_patch", json!({"patch": patch})).await;
    let moved = rig.path("bin/run.sh");
    assert_eq!(fs::metadata(&moved).unwrap().permissions().mode() & 0o777, 0o755);
    assert_eq!((fs::read_to_string(moved).unwrap().as_str(), script.exists()), ("b\n", false));
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_is_followed_when_it_is_judged_and_never_after() {
    let rig = Rig::new();
    rig.write("real.txt", "a\n");
    super::link(rig.path("real.txt"), rig.path("link.txt"));
    let patch = json!({"patch": "*** Delete File: link.txt\n"});
    let plan = rig.plan("apply_patch", patch.clone()).await.unwrap();
    assert_eq!(plan.locations[0].path, rig.path("real.txt"));
    fs::remove_file(rig.path("real.txt")).unwrap();
    super::link(rig.outside("victim"), rig.path("real.txt"));
    fs::write(rig.outside("victim"), "v\n").unwrap();
    let output = rig.tool("apply_patch").run(super::members(patch), rig.cx().for_plan(&plan)).await;
    assert!(output.error.is_some());
    assert!(rig.outside("victim").exists());
}
