//! `milk config`, `milk completions`, and the command line as such.

use std::fs;

use serde_json::json;

use crate::program::{Home, read};

#[test]
fn the_configuration_is_shown_merged_and_without_secrets() {
    let home = Home::with_config(&json!({
        "agents": [{"name": "a", "url": "http://user:pw@h/?key=1", "api_key": "sk-secret"}],
        "acp": {"stream": "segment"}, "mine": 1, "agent": 7,
    }));
    fs::create_dir_all(home.path("work/.milk")).expect("a folder");
    fs::write(
        home.path("work/.milk/config.json"),
        r#"{"acp_resume": false, "bash_allowed_patterns": ["*"]}"#,
    )
    .expect("a file");
    let outcome = home.milk(&["config", "show"]).expect(0);
    let shown = outcome.json();
    assert_eq!(shown["agents"][0]["api_key"], "***");
    assert_eq!(shown["agents"][0]["url"], "http://***@h/?key=***");
    assert_eq!(shown["acp"], json!({"stream": "segment", "prompt_ack": "turn_end", "malformed": "silent"}));
    assert_eq!((&shown["acp_resume"], &shown["mine"]), (&json!(false), &json!(1)));
    assert!(!outcome.out.contains("sk-secret") && !outcome.out.contains("pw"));
    assert!(
        outcome.err.contains("`agent` should be a string but is a number; it is ignored"),
        "{}",
        outcome.err
    );
    assert!(outcome.err.contains("`bash_allowed_patterns` is ignored: this folder is not listed"));
    let outcome = home.milk(&["config", "show", "--sources"]).expect(0);
    for line in [
        "acp_resume = false  [local]",
        "acp.stream = \"segment\"  [global]",
        "acp.malformed = \"silent\"  [default]",
        "agents[0].api_key = \"***\"  [global]",
    ] {
        assert!(outcome.out.lines().any(|l| l == line), "{line} in:\n{}", outcome.out);
    }
}

#[test]
fn the_files_are_named_and_a_first_one_is_made_once() {
    let home = Home::new();
    let global = home.path(".milk/config.json");
    let outcome = home.milk(&["config", "path"]).expect(0);
    assert!(outcome.out.contains(&format!("global: {} (not there)", global.display())), "{}", outcome.out);
    home.milk(&["config", "init"]).expect(0);
    assert_eq!(read(&global), "{\n  \"agents\": []\n}\n");
    fs::write(&global, r#"{"agent": "x"}"#).expect("a file");
    let outcome = home.milk(&["config", "init"]).expect(0);
    assert!(outcome.err.contains("exists already and is left as it is"));
    assert_eq!(read(&global), r#"{"agent": "x"}"#);
}

#[test]
fn a_damaged_configuration_is_named_with_the_place_and_the_remedy() {
    let home = Home::new();
    fs::write(home.path("c.json"), "{\"agent\" 1}").expect("a file");
    let file = home.path("c.json").display().to_string();
    let outcome = home.milk(&["config", "show", "--config", &file]).expect(1);
    assert_eq!(
        outcome.err,
        format!(
            "milk: {file} is not valid: expected `:` at line 1 column 10; correct it, or move it away to start from \
             the defaults\n"
        )
    );
    let outcome = home.milk(&["config", "show", "--config", "none.json"]).expect(1);
    assert!(outcome.err.ends_with("none.json does not exist; check the path\n"), "{}", outcome.err);
}

#[test]
fn a_command_line_without_sense_is_a_usage_error() {
    let home = Home::new();
    for arguments in [&["flow"][..], &["run"], &["sessions", "delete"], &[]] {
        let outcome = home.milk(arguments).expect(2);
        assert_eq!(outcome.out, "");
        assert!(outcome.err.contains("Usage"), "{}", outcome.err);
    }
}

#[test]
fn every_shell_gets_its_completions() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(home.milk(&["completions", shell]).expect(0).out.contains("sessions"), "{shell}");
    }
}
