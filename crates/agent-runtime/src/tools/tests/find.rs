//! Finding files.

use std::fs;

use serde_json::json;

use super::Rig;

#[tokio::test]
async fn files_are_found_by_name_or_by_path_without_what_is_ignored() {
    let rig = Rig::new();
    for path in
        ["src/main.rs", "src/deep/lib.rs", "README.md", "target/x.rs", ".git/hooks/a.rs", ".hidden.rs"]
    {
        rig.write(path, "x");
    }
    rig.write(".gitignore", "target/\n");
    let find = async |args| rig.ok("find_files", args).await;
    assert_eq!(find(json!({"pattern": "*.rs"})).await, ".hidden.rs\nsrc/deep/lib.rs\nsrc/main.rs");
    assert_eq!(find(json!({"pattern": "src/*.rs"})).await, "src/main.rs");
    assert_eq!(find(json!({"pattern": "**/*.rs", "path": "src"})).await, "src/deep/lib.rs\nsrc/main.rs");
    assert_eq!(
        find(json!({"pattern": "*.rs", "include_ignored": true})).await,
        ".hidden.rs\nsrc/deep/lib.rs\nsrc/main.rs\ntarget/x.rs"
    );
    assert_eq!(
        find(json!({"pattern": "*.py"})).await,
        "[no file in . matches; what .gitignore names was left out]"
    );
    assert!(rig.refused("find_files", json!({"pattern": "["})).await.contains("is no file pattern"));
    assert!(rig.refused("find_files", json!({"pattern": " "})).await.contains("is empty"));
    assert!(
        rig.refused("find_files", json!({"pattern": "*", "path": "README.md"})).await.contains("is a file")
    );
}

#[tokio::test]
async fn many_files_are_bounded_and_counted() {
    let rig = Rig::new();
    for i in 0..520 {
        rig.write(&format!("d/{i:04}.txt"), "");
    }
    let found = rig.ok("find_files", json!({"pattern": "*.txt"})).await;
    assert_eq!(found.lines().count(), 501);
    assert!(found.ends_with("[the first 500 of 520; narrow the pattern or path]"));
}

#[tokio::test]
#[cfg(unix)]
async fn links_are_named_and_not_followed() {
    let rig = Rig::new();
    fs::write(rig.outside("secret.rs"), "x").unwrap();
    super::link("../other", rig.path("out"));
    super::link("../other/secret.rs", rig.path("link.rs"));
    assert_eq!(rig.ok("find_files", json!({"pattern": "*.rs"})).await, "link.rs");
    let plan = rig.plan("find_files", json!({"pattern": "*", "path": "out"})).await.unwrap();
    assert!(super::scopes(&plan).is_some(), "what lies outside is asked about");
}

#[tokio::test]
#[cfg(unix)]
async fn a_search_leaves_out_what_a_rule_keeps_from_it_and_says_so() {
    let mut rig = Rig::new();
    rig.write(".env", "needle\n");
    rig.write("secrets/a/key", "needle\n");
    rig.write("src/main.rs", "needle\n");
    let rule = |text: &str| crate::rules::Rule::parse(text, None).unwrap();
    rig.rules =
        crate::rules::Rules::new(vec![rule("read(.ENV)")], vec![rule("read(secrets/**)")], vec![], None);
    assert_eq!(
        rig.ok("grep", json!({"pattern": "needle"})).await,
        "src/main.rs:1:needle\n\n[2 files were not searched, by the user's rules]"
    );
}
