//! Files.

use serde_json::json;

use super::{Ground, exists};

fn check(settings: &[&str], rows: &[(&str, &str, &str)]) {
    let ground = Ground::new();
    let judge = |tool: &str, path: &str| {
        let path = path.replace("BESIDE", &ground.path("beside").display().to_string());
        let args = match tool {
            "write_file" => json!({"path": path, "content": "x"}),
            "edit_file" => json!({"path": path, "old_string": "a", "new_string": "b"}),
            "read_multiple_files" => json!({"paths": [path, "src/main.rs"]}),
            _ => json!({"path": path, "pattern": "x"}),
        };
        ground.judge(tool, &args, settings)
    };
    let wrong: Vec<_> = rows
        .iter()
        .map(|(tool, path, expected)| (*tool, *path, *expected, judge(tool, path)))
        .filter(|(_, _, expected, found)| expected != found)
        .collect();
    assert!(wrong.is_empty(), "under {settings:?}: {wrong:#?}");
    assert!(!exists(&ground.path("project/new.rs")), "judging writes nothing");
}

#[test]
fn what_is_denied_is_denied_under_every_name_it_has() {
    for mode in ["mode default", "mode autonomous", "mode restricted"] {
        let settings = &[
            mode,
            "deny read(.env)",
            "deny *(secrets)",
            "deny edit(docs/*.md)",
            "allow *(**)",
            "tool read_file",
        ];
        check(
            settings,
            &[
                ("read_file", ".env", "no"),
                ("read_file", "./src/../.env", "no"),
                ("read_file", ".Env", "no"),
                ("read_file", "harmless.txt", "no"),
                ("read_multiple_files", ".env", "no"),
                ("grep", ".env", "no"),
                ("read_file", "secrets/key.pem", "no"),
                ("read_file", "s/key.pem", "no"),
                ("read_file", "secrets/deep/new", "no"),
                ("list_dir", "secrets", "no"),
                ("list_dir", "secrets/", "no"),
                ("list_dir", "SECRETS", "no"),
                ("write_file", "secrets/new", "no"),
                ("write_file", "s/new", "no"),
                ("write_file", "docs/a.md", "no"),
                ("edit_file", "docs/a.md", "no"),
                ("read_file", "docs/a.md", "free"),
                ("read_file", "src/main.rs", "free"),
                ("read_file", ".env.example", "free"),
                ("read_file", "my.env", "free"),
            ],
        );
    }
}

#[test]
fn a_rule_allows_what_it_names_and_no_more() {
    check(
        &["allow edit(src/**)", "allow write_file(*.md)", "allow read(BESIDE/**)"],
        &[
            ("write_file", "src/new.rs", "free"),
            ("edit_file", "src/main.rs", "free"),
            ("write_file", "src", "bad"),
            ("write_file", "src/../new.rs", "ask"),
            ("write_file", "new.rs", "ask"),
            ("write_file", "SRC/new.rs", "ask"),
            ("write_file", "docs/new.md", "free"),
            ("write_file", "BESIDE/new.md", "ask"),
            ("write_file", "out/new.md", "ask"),
            ("read_file", "BESIDE/notes.txt", "free"),
            ("read_file", "out/notes.txt", "free"),
            ("read_file", "BESIDE/../home/.ssh/id", "ask"),
            ("write_file", "src/.git/hooks/x", "once"),
            ("write_file", ".git/hooks/x", "once"),
        ],
    );
    check(
        &["allow write_file", "allow read_file"],
        &[
            ("write_file", "new.rs", "free"),
            ("write_file", "../x", "ask"),
            ("write_file", ".git/config", "once"),
            ("write_file", ".milk/config.json", "once"),
            ("read_file", "../beside/notes.txt", "ask"),
            ("read_file", ".milk/config.json", "once"),
        ],
    );
    check(
        &["allow edit(.git/info/**)"],
        &[("write_file", ".git/info/exclude", "free"), ("write_file", ".git/hooks/x", "once")],
    );
    check(
        &["mode strict", "allow read(src)"],
        &[
            ("read_file", "src/main.rs", "free"),
            ("read_file", "docs/a.md", "ask"),
            ("list_dir", "src", "free"),
        ],
    );
    check(
        &["mode autonomous", "ask edit(docs/**)"],
        &[("write_file", "docs/x", "once"), ("write_file", "x", "free")],
    );
}
