//! Path tricks, written by somebody who wants out.
#![cfg(unix)]

use std::fs;
use std::path::Path;

use serde_json::json;
use session_model::GrantScope;

use super::super::paths::Place;
use super::{Rig, link, scopes};
use crate::tools::Approval;

/// A project full of traps.
fn trapped() -> Rig {
    let rig = Rig::new();
    rig.write("src/main.rs", "fn main() {}\n");
    rig.write("a b/ü.txt", "x");
    fs::write(rig.outside("secret"), "secret\n").unwrap();
    let cwd = &rig.workspace.cwd;
    link("../other", rig.path("out"));
    link(rig.outside("secret"), rig.path("secret-link"));
    link("src", rig.path("in"));
    link("src/main.rs", rig.path("main-link"));
    link("../other/new-file", rig.path("dangling-out"));
    link("src/new-file", rig.path("dangling-in"));
    link("chain-2", rig.path("chain-1"));
    link("chain-3", rig.path("chain-2"));
    link("../other", rig.path("chain-3"));
    link("loop-b", rig.path("loop-a"));
    link("loop-a", rig.path("loop-b"));
    link("out/../other/secret", rig.path("through"));
    link(cwd, rig.outside("home"));
    link("/", rig.path("root"));
    link("src/..", rig.path("dots"));
    rig
}

#[test]
fn milks_own_files_are_asked_about_wherever_they_lie() {
    let rig = trapped();
    rig.write(".milk/config.json", "{}");
    link(".milk", rig.path("by-another-name"));
    for path in
        [".milk", ".milk/", ".milk/config.json", "src/../.milk/config.json", "by-another-name/config.json"]
    {
        let approval = Place::resolve(&rig.workspace, path).unwrap().read_approval();
        let Approval::Ask(ask) = approval else { panic!("{path} is read unasked") };
        assert_eq!(ask.scopes, [], "{path} is asked about each time");
    }
    assert_eq!(Place::resolve(&rig.workspace, "src/main.rs").unwrap().read_approval(), Approval::Free);
}

#[test]
fn no_path_trick_is_taken_for_inside() {
    let rig = trapped();
    let other = rig.outside("secret").parent().unwrap().display().to_string();
    let sibling = format!("{}-2/x", rig.workspace.cwd.display());
    for path in [
        "..",
        "../",
        "../other/secret",
        "../other/../other/secret",
        "src/../../other/secret",
        "./.././other/secret",
        "missing/../../other/secret",
        "src/main.rs/../../../other/secret",
        "out",
        "out/",
        "out/.",
        "out/secret",
        "out/new",
        "out/new/deeper",
        "out/..",
        "out/../other",
        "out/../project/../other/secret",
        "secret-link",
        "dangling-out",
        "dangling-out/below",
        "chain-1",
        "chain-1/secret",
        "through",
        "in/../../other/secret",
        "in/../out/secret",
        "dots/../other",
        "root",
        "root/etc/passwd",
        "/etc/passwd",
        "//etc/passwd",
        "/",
        "/proc/self/root/etc/passwd",
        "/tmp/../etc/passwd",
        &sibling,
        &other,
        &format!("{other}/home/../other/secret"),
        &format!("{other}/./secret"),
    ] {
        let place = Place::resolve(&rig.workspace, path).unwrap();
        assert!(!place.inside, "{path} -> {}", place.real.display());
        assert!(matches!(place.read_approval(), Approval::Ask(_)), "{path}");
    }
}

#[test]
fn what_is_inside_is_named_as_the_session_names_it() {
    let rig = trapped();
    let home = rig.outside("home/src/main.rs").display().to_string();
    for (path, expected) in [
        (".", "."),
        ("./", "."),
        ("src/..", "."),
        ("../project", "."),
        ("src/main.rs", "src/main.rs"),
        ("./src//main.rs", "src/main.rs"),
        ("src/./main.rs", "src/main.rs"),
        ("in/main.rs", "src/main.rs"),
        ("main-link", "src/main.rs"),
        ("dangling-in", "src/new-file"),
        ("dots/src/main.rs", "src/main.rs"),
        ("out/home/src/main.rs", "src/main.rs"),
        (&home, "src/main.rs"),
        ("missing/../src/main.rs", "src/main.rs"),
        ("new/deep/file", "new/deep/file"),
        ("a b/ü.txt", "a b/ü.txt"),
        ("..x", "..x"),
        ("...", "..."),
        ("~x", "~x"),
        ("src/~", "src/~"),
        ("\u{2025}/other", "\u{2025}/other"),
        ("\u{ff0e}\u{ff0e}\u{ff0f}other", "\u{ff0e}\u{ff0e}\u{ff0f}other"),
        ("..\\other", "..\\other"),
        ("%2e%2e/other", "%2e%2e/other"),
    ] {
        let place = Place::resolve(&rig.workspace, path).unwrap();
        assert!(place.inside, "{path} -> {}", place.real.display());
        assert_eq!(place.label(&rig.workspace), expected, "{path}");
        assert_eq!(place.read_approval(), Approval::Free, "{path}");
        assert!(place.shown.starts_with(&rig.workspace.cwd), "{path}");
    }
}

#[test]
fn unusable_paths_are_refused_with_a_reason() {
    let rig = trapped();
    for (path, reason) in [
        ("", "empty"),
        ("  ", "empty"),
        ("a\0b", "NUL"),
        ("~", "not expanded"),
        ("~/.ssh/id", "not expanded"),
        ("loop-a", "links"),
        ("loop-a/x", "links"),
    ] {
        let refused = Place::resolve(&rig.workspace, path).unwrap_err();
        assert!(refused.contains(reason), "{path:?}: {refused}");
    }
}

#[test]
fn additional_roots_count_as_inside_also_when_they_are_links() {
    let mut rig = trapped();
    let linked = rig.top.path().canonicalize().unwrap().join("linked");
    link("other", &linked);
    rig.workspace.additional_roots = vec![linked.clone()];
    for path in ["out/secret", "secret-link", "../linked/secret", "../other/secret"] {
        let place = Place::resolve(&rig.workspace, path).unwrap();
        assert!(place.inside, "{path}");
        assert_eq!(place.shown, linked.join("secret"), "{path}");
        assert_eq!(place.label(&rig.workspace), linked.join("secret").display().to_string());
    }
}

#[test]
fn a_session_reached_by_a_link_keeps_its_spelling() {
    let mut rig = trapped();
    let linked = rig.top.path().canonicalize().unwrap().join("linked");
    link("project", &linked);
    rig.workspace.cwd = linked.clone();
    let place = Place::resolve(&rig.workspace, "in/main.rs").unwrap();
    assert!(place.inside);
    assert_eq!(place.shown, linked.join("src/main.rs"));
    assert!(Place::resolve(&rig.workspace, "../project/src/main.rs").unwrap().inside);
}

#[test]
fn leave_outside_is_for_the_real_folder_and_never_for_everything() {
    let rig = trapped();
    let folder = rig.outside("secret").parent().unwrap().to_path_buf();
    for (path, scope) in [
        ("out/secret", folder.as_path()),
        ("secret-link", &folder),
        ("out", &folder),
        ("/not-there", Path::new("/not-there")),
    ] {
        let Approval::Ask(ask) = Place::resolve(&rig.workspace, path).unwrap().read_approval() else {
            panic!("{path} is free")
        };
        assert_eq!(ask.scopes, [GrantScope::Outside(scope.to_path_buf())], "{path}");
    }
    let Approval::Ask(ask) = Place::resolve(&rig.workspace, "secret-link").unwrap().write_approval("Replace")
    else {
        panic!("free")
    };
    assert_eq!(ask.scopes, [GrantScope::Tool, GrantScope::Outside(folder)]);
    assert!(ask.description.contains("other/secret"), "{}", ask.description);
}

#[test]
fn files_that_steer_programs_are_never_allowed_for_always() {
    let rig = trapped();
    for path in [".git/hooks/pre-commit", ".milk/config.json", "sub/.git/config", ".GIT/config", ".milk. /x"]
    {
        let Approval::Ask(ask) = Place::resolve(&rig.workspace, path).unwrap().write_approval("Create")
        else {
            panic!("free")
        };
        assert!(ask.scopes.is_empty(), "{path}");
    }
    for path in [".gitignore", ".github/x.yml", "milk/x", "a.git/x"] {
        let Approval::Ask(ask) = Place::resolve(&rig.workspace, path).unwrap().write_approval("Create")
        else {
            panic!("free")
        };
        assert_eq!(ask.scopes, [GrantScope::Tool], "{path}");
    }
}

#[tokio::test]
async fn every_file_tool_asks_before_it_leaves_the_folder() {
    let rig = trapped();
    let outside = GrantScope::Outside(rig.outside("secret").parent().unwrap().to_path_buf());
    for (tool, args) in [
        ("read_file", json!({"path": "out/secret"})),
        ("list_dir", json!({"path": "out"})),
        ("grep", json!({"path": "out", "pattern": "x"})),
        ("write_file", json!({"path": "dangling-out", "content": "x"})),
        ("edit_file", json!({"path": "secret-link", "old_string": "secret", "new_string": "x"})),
    ] {
        let plan = rig.plan(tool, args).await.unwrap();
        assert!(scopes(&plan).is_some_and(|scopes| scopes.contains(&outside)), "{tool}: {plan:?}");
        assert!(plan.locations[0].path.starts_with(rig.outside("").parent().unwrap()), "{tool}");
    }
}

#[tokio::test]
async fn a_link_made_between_plan_and_run_leads_nowhere() {
    for (tool, args) in [
        ("read_file", json!({"path": "dir/secret"})),
        ("list_dir", json!({"path": "dir"})),
        ("grep", json!({"path": "dir", "pattern": "secret"})),
        ("write_file", json!({"path": "dir/secret", "content": "overwritten"})),
        ("edit_file", json!({"path": "dir/secret", "old_string": "secret", "new_string": "x"})),
    ] {
        let rig = trapped();
        rig.write("dir/secret", "secret\n");
        let plan = rig.plan(tool, args.clone()).await.unwrap();
        fs::remove_dir_all(rig.path("dir")).unwrap();
        link("../other", rig.path("dir"));
        let output = rig.tool(tool).run(super::members(args), rig.cx().for_plan(&plan)).await;
        let error = output.error.unwrap_or_else(|| panic!("{tool}: {}", output.output));
        assert!(error.contains("not the place that was allowed"), "{tool}: {error}");
        assert_eq!(fs::read_to_string(rig.outside("secret")).unwrap(), "secret\n", "{tool}");
    }
}

#[tokio::test]
async fn without_a_plan_nothing_outside_is_touched() {
    let rig = trapped();
    let args = super::members(json!({"path": "out/secret"}));
    let output = rig.tool("read_file").run(args, rig.cx()).await;
    assert!(output.error.is_some(), "{output:?}");
}

#[test]
fn a_folder_swapped_for_a_link_after_the_last_look_fails() {
    use super::super::anchored::{Folder, open_file, replace};
    let rig = trapped();
    rig.write("dir/secret", "mine");
    let file = Place::resolve(&rig.workspace, "dir/secret").unwrap();
    let folder = Place::resolve(&rig.workspace, "dir").unwrap();
    fs::remove_dir_all(rig.path("dir")).unwrap();
    link("../other", rig.path("dir"));
    assert!(open_file(&file).is_err());
    assert!(replace(&file, b"x").is_err());
    assert!(Folder::open(&folder).is_err());
    fs::remove_file(rig.path("dir")).unwrap();
    fs::create_dir(rig.path("dir")).unwrap();
    link("../../other/secret", rig.path("dir/secret"));
    assert!(open_file(&file).is_err());
    assert!(replace(&file, b"x").is_err());
    assert_eq!(fs::read_to_string(rig.outside("secret")).unwrap(), "secret\n");
}
