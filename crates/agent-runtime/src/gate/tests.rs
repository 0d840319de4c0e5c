//! What the gate lets through, and what its questions and answers mean.

use std::path::PathBuf;

use serde_json::json;
use session_model::{ToolCallId, ToolKind};

use super::*;
use crate::rules::Origin;
use crate::tools::Workspace;

/// A call of `tool` about nothing in particular.
fn call(tool: &str) -> Subject {
    Subject {
        tool: tool.to_owned(),
        kind: ToolKind::Other,
        paths: Vec::new(),
        urls: Vec::new(),
        command: None,
        origin: Origin::default(),
    }
}

/// A call of `bash` in a folder that is empty.
fn shell(text: &str) -> (Subject, Approval) {
    let folder = tempfile::tempdir().unwrap();
    let workspace = Workspace::local(folder.path().to_owned(), Vec::new());
    let command = Command::look(text, &workspace);
    let approval = needs(&command.scopes());
    (Subject { kind: ToolKind::Execute, command: Some(command), ..call("bash") }, approval)
}

fn outside(path: &str) -> GrantScope {
    GrantScope::Outside(PathBuf::from(path))
}

fn command(text: &str) -> GrantScope {
    GrantScope::CommandPrefix(text.to_owned())
}

fn needs(scopes: &[GrantScope]) -> Approval {
    Approval::Ask(ApprovalAsk { description: String::new(), scopes: scopes.to_vec() })
}

fn granted(tool: &str, scopes: &[GrantScope]) -> Permissions {
    let grants = scopes.iter().map(|scope| Grant { tool: tool.to_owned(), scope: scope.clone() }).collect();
    Permissions { grants, ..Permissions::default() }
}

fn in_mode(mode: Mode) -> Permissions {
    Permissions { mode: mode.into(), ..Permissions::default() }
}

fn allowed(tool: &str, wanted: &[GrantScope], permissions: &Permissions) -> bool {
    decide(&call(tool), &needs(wanted), permissions) == Verdict::Allowed
}

#[test]
fn grants_reach_as_far_as_they_say() {
    use GrantScope::Tool;
    let rows: &[(&[GrantScope], &[GrantScope], bool)] = &[
        (&[Tool], &[Tool], true),
        (&[], &[Tool], false),
        (&[Tool], &[outside("/etc")], false),
        (&[Tool], &[Tool, outside("/etc")], false),
        (&[Tool, outside("/etc")], &[Tool, outside("/etc/ssl")], true),
        (&[outside("/etc")], &[Tool], false),
        (&[outside("/etc")], &[outside("/etc")], true),
        (&[outside("/etc")], &[outside("/etcetera")], false),
        (&[outside("/etc/ssl")], &[outside("/etc")], false),
        (&[outside("/etc")], &[outside("/etc/../root")], false),
        (&[outside("/")], &[outside("/root")], true),
        (&[Tool], &[command("ls")], false),
        (&[command("git")], &[Tool], false),
        // Nothing could be granted for ever: it is asked each time.
        (&[Tool], &[], false),
    ];
    for (grants, wanted, expected) in rows {
        assert_eq!(allowed("edit", wanted, &granted("edit", grants)), *expected, "{grants:?} for {wanted:?}");
    }
}

#[test]
fn a_grant_is_for_its_own_tool_only() {
    assert!(!allowed("bash", &[GrantScope::Tool], &granted("edit_file", &[GrantScope::Tool])));
    assert!(!allowed("write_file", &[outside("/etc")], &granted("read_file", &[outside("/etc")])));
    assert!(!allowed("Edit", &[GrantScope::Tool], &granted("edit", &[GrantScope::Tool])));
}

#[test]
fn what_needs_no_leave_or_skips_the_question_is_allowed() {
    assert_eq!(decide(&call("x"), &Approval::Free, &Permissions::default()), Verdict::Allowed);
    let skip = in_mode(Mode::Autonomous);
    assert!(allowed("x", &[GrantScope::Tool, outside("/")], &skip));
    assert!(allowed("x", &[], &skip));
}

#[test]
#[cfg(unix)]
fn configured_commands_run_unasked_but_only_as_bash_and_only_inside() {
    let permissions = Permissions { bash_patterns: vec!["cargo test*".to_owned()], ..Permissions::default() };
    let run = |text: &str| {
        let (call, approval) = shell(text);
        decide(&call, &approval, &permissions) == Verdict::Allowed
    };
    assert!(run("cargo test -p x"));
    assert!(run("cargo test"));
    assert!(run("cargo test && cargo test -p x"), "each part is one that is configured");
    assert!(!run("cargo build"));
    assert!(!run("cargo test /etc"));
    assert!(!run("cargo test ~/x"));
    assert!(!run("cargo test && rm -rf x"));
    let (call, approval) = shell("cargo test");
    let elsewhere = Subject { tool: "other".to_owned(), ..call };
    assert_ne!(decide(&elsewhere, &approval, &Permissions::default()), Verdict::Allowed);
}

#[test]
#[cfg(unix)]
fn the_mode_says_what_is_free_what_is_asked_and_what_is_refused() {
    let rows: Vec<(&str, (Subject, Approval), &str)> = vec![
        ("read inside", (call("read_file"), Approval::Free), "free ask free free free"),
        ("read outside", (call("read_file"), needs(&[outside("/etc")])), "ask ask ask no free"),
        ("an edit", (call("edit_file"), needs(&[GrantScope::Tool])), "ask ask ask no free"),
        ("a look", shell("ls src"), "ask ask free free free"),
        ("several looks", shell("cd src && ls | wc -l"), "ask ask free free free"),
        ("a look outside", shell("ls /etc"), "ask ask ask no free"),
        ("a look after leaving", shell("cd / && ls etc"), "ask ask ask no free"),
        ("a look with more", shell("ls > x"), "ask ask ask no free"),
        ("a look that goes nowhere", shell("ls > /dev/null 2>&1"), "ask ask free free free"),
        ("a command", shell("git push"), "ask ask ask no free"),
    ];
    for (what, (call, approval), expected) in rows {
        let verdicts = Mode::ALL.map(|mode| match decide(&call, &approval, &in_mode(mode)) {
            Verdict::Allowed => "free",
            Verdict::Ask(_) => "ask",
            Verdict::Denied(_) => "no",
        });
        assert_eq!(verdicts.join(" "), expected, "{what}");
    }
}

#[test]
fn what_was_granted_is_free_in_every_mode() {
    for mode in Mode::ALL {
        let permissions = Permissions { mode: mode.into(), ..granted("edit_file", &[GrantScope::Tool]) };
        assert!(allowed("edit_file", &[GrantScope::Tool], &permissions), "{mode:?}");
    }
    let read = Permissions { mode: Mode::Strict.into(), ..granted("read_file", &[GrantScope::Tool]) };
    assert_eq!(decide(&call("read_file"), &Approval::Free, &read), Verdict::Allowed);
}

fn asked(tool: &str, scopes: &[GrantScope]) -> PermissionAsk {
    let mut row = ToolCallUpdate::new(ToolCallId::from("c"));
    row.title = Some(format!("{tool}: it"));
    question(tool, &row, &ApprovalAsk { description: "in words".to_owned(), scopes: scopes.to_vec() })
}

#[test]
fn the_question_offers_one_option_of_each_kind_and_says_how_far_always_reaches() {
    let ask = asked("edit_file", &[GrantScope::Tool]);
    assert_eq!(ask.title, "edit_file: it");
    assert_eq!(ask.description.as_deref(), Some("in words"));
    let kinds: Vec<_> = ask.options.iter().map(|option| option.kind).collect();
    assert_eq!(kinds, [AskOptionKind::AllowOnce, AskOptionKind::AllowAlways, AskOptionKind::RejectOnce]);

    let label = |tool, scopes: &[GrantScope]| asked(tool, scopes).options[1].name.clone();
    assert_eq!(label("edit_file", &[GrantScope::Tool]), "Always allow edit_file in this session");
    assert_eq!(label("bash", &[command("git status")]), "Always allow `git status` … in this session");
    assert_eq!(
        label("bash", &[command("git status"), command("ls")]),
        "Always allow `git status` …, `ls` … in this session"
    );
    assert_eq!(label("read_file", &[outside("/etc")]), "Always allow read_file in /etc in this session");
    assert_eq!(
        label("edit_file", &[GrantScope::Tool, outside("/etc")]),
        "Always allow edit_file (also in /etc) in this session"
    );
    assert_eq!(label("edit_file", &[]), "Reject");
}

#[test]
fn a_long_command_is_shortened_in_the_label_only() {
    let scopes = [command(&"long ".repeat(50))];
    let ask = asked("bash", &scopes);
    assert!(ask.options[1].name.chars().count() < 110, "{}", ask.options[1].name);
    let ask = ApprovalAsk { description: String::new(), scopes: scopes.to_vec() };
    assert_eq!(grants("bash", &ask).map(|grant| grant.scope).collect::<Vec<_>>(), scopes);
}

#[test]
fn only_an_offered_allowing_option_is_consent() {
    let ask = asked("edit_file", &[GrantScope::Tool]);
    let select = |id: &str| ruling(&ask, &Answer::Selected(OptionId::from(id)));
    assert_eq!(select("allow"), Ruling::Once);
    assert_eq!(select("allow_always"), Ruling::Always);
    assert_eq!(select("reject"), Ruling::Denied(Denial::User));
    assert_eq!(ruling(&ask, &Answer::Declined), Ruling::Denied(Denial::User));
    assert_eq!(ruling(&ask, &Answer::Cancelled), Ruling::Denied(Denial::User));
    for unoffered in ["Allow", "", "allow_once"] {
        assert!(matches!(select(unoffered), Ruling::Denied(Denial::Unanswerable(_))), "{unoffered}");
    }
    assert!(matches!(
        ruling(&ask, &Answer::Form(json!({ "allow": true }))),
        Ruling::Denied(Denial::Unanswerable(_))
    ));
    assert_eq!(
        ruling(&ask, &Answer::Unanswerable("no answer".to_owned())),
        Ruling::Denied(Denial::Unanswerable("no answer".to_owned()))
    );
}
