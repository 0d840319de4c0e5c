//! `grep` on a real disk.

use serde_json::{Value, json};

use super::Rig;

fn project() -> Rig {
    let rig = Rig::new();
    rig.write("src/main.rs", "fn main() {\n    // TODO: -x\n}\n");
    rig.write("src/deep/lib.rs", "// todo\r\nfn lib() {}\r\n");
    rig.write("README.md", "TODO read me\n");
    rig.write(".github/ci.yml", "TODO ci\n");
    rig.write(".gitignore", "target/\n*.log\n");
    rig.write("target/out.rs", "TODO built\n");
    rig.write("x.log", "TODO logged\n");
    rig.write(".git/config", "TODO git\n");
    rig.write("data.bin", b"TODO\n\0binary TODO\n");
    rig
}

async fn grep(rig: &Rig, args: Value) -> String {
    rig.ok("grep", args).await
}

#[tokio::test]
async fn files_are_searched_as_a_person_would() {
    let rig = project();
    for (args, expected) in [
        (
            json!({"pattern": "TODO"}),
            ".github/ci.yml:1:TODO ci\nREADME.md:1:TODO read me\nsrc/main.rs:2:    // TODO: -x",
        ),
        (json!({"pattern": "TODO", "path": "src"}), "src/main.rs:2:    // TODO: -x"),
        (json!({"pattern": "todo$", "path": "src/deep/lib.rs"}), "src/deep/lib.rs:1:// todo"),
        (
            json!({"pattern": "todo", "path": "src", "ignore_case": "true"}),
            "src/deep/lib.rs:1:// todo\nsrc/main.rs:2:    // TODO: -x",
        ),
        (json!({"pattern": "TODO", "recursive": false}), "README.md:1:TODO read me"),
        (json!({"pattern": "TODO", "glob": "*.rs"}), "src/main.rs:2:    // TODO: -x"),
        (json!({"pattern": "fn", "glob": "src/*.rs"}), "src/main.rs:1:fn main() {"),
        (json!({"pattern": "fn lib", "glob": "src/**/*.{rs,md}"}), "src/deep/lib.rs:2:fn lib() {}"),
        (json!({"pattern": "TODO", "glob": "!*.{rs,yml}"}), "README.md:1:TODO read me"),
        (json!({"pattern": "-x"}), "src/main.rs:2:    // TODO: -x"),
        (json!({"pattern": "--help|main\\("}), "src/main.rs:1:fn main() {"),
        (json!({"pattern": "main() {", "literal": true}), "src/main.rs:1:fn main() {"),
        (json!({"pattern": "built", "include_ignored": true}), "target/out.rs:1:TODO built"),
        (json!({"pattern": "logged", "path": "x.log"}), "x.log:1:TODO logged"),
        (
            json!({"pattern": "TODO", "path": "src/main.rs", "context": 1}),
            "src/main.rs-1-fn main() {\nsrc/main.rs:2:    // TODO: -x\nsrc/main.rs-3-}",
        ),
    ] {
        assert_eq!(grep(&rig, args.clone()).await, expected, "{args}");
    }
}

#[tokio::test]
async fn no_match_is_an_answer() {
    let rig = project();
    let found = grep(&rig, json!({"pattern": "built"})).await;
    assert_eq!(found, "[no match in . (6 files searched; what .gitignore names is not searched)]");
    let found = grep(&rig, json!({"pattern": "TODO", "path": "data.bin"})).await;
    assert!(found.ends_with("[data.bin is a binary file and is not searched]"), "{found}");
}

#[tokio::test]
async fn what_cannot_be_searched_for_is_explained() {
    let rig = project();
    for (args, reason) in [
        (json!({"pattern": "a("}), "no regular expression"),
        (json!({"pattern": ""}), "is empty"),
        (json!({"pattern": "a\nb"}), "line end"),
        (json!({"pattern": "a", "glob": "[x"}), "no file pattern"),
        (json!({"pattern": "a", "path": "none"}), "does not exist"),
        (json!({}), "`pattern` is missing"),
    ] {
        let refused = rig.refused("grep", args).await;
        assert!(refused.contains(reason), "{refused}");
    }
}

#[tokio::test]
async fn hits_are_bounded_in_number_and_length() {
    let rig = Rig::new();
    rig.write("many", "hit\n".repeat(5000));
    let found = grep(&rig, json!({"pattern": "hit"})).await;
    assert_eq!(found.lines().count(), 201);
    assert!(found.ends_with("[stopped after 200 matches; narrow the pattern, path or glob]"));
    rig.write("wide", format!("{}needle\n", "x".repeat(5_000_000)));
    let found = grep(&rig, json!({"pattern": "needle"})).await;
    assert!(found.len() < 600 && found.ends_with("[… line cut]"), "{}", found.len());
}

#[cfg(unix)]
#[tokio::test]
async fn links_are_not_followed_out_of_the_folder() {
    let rig = project();
    std::fs::write(rig.outside("secret"), "TODO secret\n").unwrap();
    super::link("../other", rig.path("out"));
    super::link("../other/secret", rig.path("link.md"));
    let found = grep(&rig, json!({"pattern": "secret"})).await;
    assert!(found.starts_with("[no match"), "{found}");
}

#[tokio::test]
async fn a_cancelled_search_ends() {
    let rig = project();
    rig.cancel.cancel();
    let refused = rig.refused("grep", json!({"pattern": "x"})).await;
    assert_eq!(refused, "cancelled");
}
