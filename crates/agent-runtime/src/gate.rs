//! Decides whether a call may run: unasked, after a question, or not at all.
//!
//! Pure: it words the question and reads the answer, and the engine does the asking. It knows no tool; what a
//! call needs is in its plan.

use std::borrow::Cow;
use std::fmt;
use std::path::{Component, Path};

use serde_json::{Map, Value};
use session_model::{
    Answer, AskOption, AskOptionKind, Grant, GrantScope, OptionId, PermissionAsk, ToolCallUpdate,
};

use crate::driver::Permissions;
use crate::mode::Mode;
use crate::tools::{Approval, ApprovalAsk};
use crate::tools::{harmless, shell};

/// The tool whose commands `bash_allowed_patterns` is about.
const SHELL_TOOL: &str = "bash";

const ALLOW: &str = "allow";
const ALLOW_ALWAYS: &str = "allow_always";
const REJECT: &str = "reject";

/// How many characters of a command fit into a label.
const LABEL_CHARS: usize = 60;

/// Whether a call may run unasked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict<'a> {
    /// It may.
    Allowed,
    /// The user decides.
    Ask(Cow<'a, ApprovalAsk>),
    /// It may not run at all.
    Denied(Denial),
}

/// What an answer means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ruling {
    /// Yes, this once.
    Once,
    /// Yes, and everything the question's scopes cover.
    Always,
    /// No.
    Denied(Denial),
}

/// Why a call may not run. Its text is what the model is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Denial {
    /// The user said no, or gave no consent.
    User,
    /// The session's mode refuses what would have to be asked.
    Mode,
    /// Nobody could be asked; the cause.
    Unanswerable(String),
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User => f.write_str(
                "the user denied this call; do not repeat it, go on without it or ask what to do instead",
            ),
            Self::Mode => f.write_str(
                "denied: the user chose a mode in which tools may only look; say what you would do instead of doing it",
            ),
            Self::Unanswerable(cause) => {
                write!(f, "denied: the user could not be asked for permission: {cause}")
            }
        }
    }
}

/// Whether a call of `tool` with `args`, which needs `approval`, may run unasked.
#[must_use]
pub fn decide<'a>(
    tool: &str,
    args: &Map<String, Value>,
    approval: &'a Approval,
    permissions: &Permissions,
) -> Verdict<'a> {
    let mode = permissions.mode.get();
    let ask = match (approval, mode) {
        (_, Mode::Autonomous) | (Approval::Free, Mode::Default | Mode::Balanced | Mode::Restricted) => {
            return Verdict::Allowed;
        }
        (Approval::Ask(ask), _) => Cow::Borrowed(ask),
        (Approval::Free, Mode::Strict) => {
            Cow::Owned(ApprovalAsk { description: String::new(), scopes: vec![GrantScope::Tool] })
        }
    };
    let configured = tool == SHELL_TOOL && command_is_configured(args, &permissions.bash_patterns);
    let granted = |scope: &GrantScope| {
        let by_pattern = configured && matches!(scope, GrantScope::CommandPrefix(_) | GrantScope::Tool);
        by_pattern || permissions.grants.iter().any(|grant| grant.tool == tool && covers(&grant.scope, scope))
    };
    // A question without scopes cannot be answered for ever, but a command can still be configured.
    let nothing_left_to_ask = if ask.scopes.is_empty() { configured } else { ask.scopes.iter().all(granted) };
    match mode {
        _ if nothing_left_to_ask => Verdict::Allowed,
        Mode::Balanced | Mode::Restricted if only_looks(tool, args, &ask) => Verdict::Allowed,
        Mode::Restricted => Verdict::Denied(Denial::Mode),
        Mode::Default | Mode::Strict | Mode::Balanced | Mode::Autonomous => Verdict::Ask(ask),
    }
}

/// A command that can do no more than print, about nothing outside the session's folders.
fn only_looks(tool: &str, args: &Map<String, Value>, ask: &ApprovalAsk) -> bool {
    let inside = ask.scopes.iter().all(|scope| matches!(scope, GrantScope::CommandPrefix(_)));
    let command = args.get("command").and_then(Value::as_str).filter(|_| tool == SHELL_TOOL);
    inside && !ask.scopes.is_empty() && command.is_some_and(harmless::is_harmless)
}

/// The question for a call whose row is `row`.
#[must_use]
pub fn question(tool: &str, row: &ToolCallUpdate, ask: &ApprovalAsk) -> PermissionAsk {
    let mut options = vec![option(ALLOW, "Allow".to_owned(), AskOptionKind::AllowOnce)];
    if !ask.scopes.is_empty() {
        options.push(option(ALLOW_ALWAYS, always_label(tool, &ask.scopes), AskOptionKind::AllowAlways));
    }
    options.push(option(REJECT, "Reject".to_owned(), AskOptionKind::RejectOnce));
    PermissionAsk {
        tool_call: row.clone(),
        title: row.title.clone().unwrap_or_else(|| tool.to_owned()),
        description: Some(ask.description.clone()).filter(|text| !text.is_empty()),
        options,
    }
}

/// What `answer` to `question` means. Nothing but an offered, allowing option is consent.
#[must_use]
pub fn ruling(question: &PermissionAsk, answer: &Answer) -> Ruling {
    match answer {
        Answer::Selected(id) => match question.options.iter().find(|offered| offered.id == *id) {
            Some(chosen) => match chosen.kind {
                AskOptionKind::AllowOnce => Ruling::Once,
                AskOptionKind::AllowAlways => Ruling::Always,
                AskOptionKind::RejectOnce | AskOptionKind::RejectAlways => Ruling::Denied(Denial::User),
            },
            None => Ruling::Denied(Denial::Unanswerable(format!(
                "the client chose `{}`, which was not offered",
                excerpt(id.as_str())
            ))),
        },
        Answer::Form(_) => Ruling::Denied(Denial::Unanswerable("the client answered with a form".to_owned())),
        Answer::Declined | Answer::Cancelled => Ruling::Denied(Denial::User),
        Answer::Unanswerable(cause) => Ruling::Denied(Denial::Unanswerable(cause.clone())),
    }
}

/// The grants that "always" gives.
pub fn grants<'a>(tool: &'a str, ask: &'a ApprovalAsk) -> impl Iterator<Item = Grant> + 'a {
    ask.scopes.iter().map(|scope| Grant { tool: tool.to_owned(), scope: scope.clone() })
}

fn command_is_configured(args: &Map<String, Value>, patterns: &[String]) -> bool {
    let Some(command) = args.get("command").and_then(Value::as_str) else { return false };
    patterns.iter().any(|pattern| shell::matches_pattern(pattern, command))
}

fn covers(granted: &GrantScope, wanted: &GrantScope) -> bool {
    match (granted, wanted) {
        (GrantScope::Tool, GrantScope::Tool) => true,
        (GrantScope::CommandPrefix(prefix), GrantScope::CommandPrefix(command)) => {
            shell::covers(prefix, command)
        }
        (GrantScope::Outside(folder), GrantScope::Outside(path)) => is_inside(path, folder),
        (GrantScope::Tool | GrantScope::CommandPrefix(_) | GrantScope::Outside(_), _) => false,
    }
}

/// By components, so that `/etc` does not cover `/etcetera`; a path that climbs is inside nothing.
fn is_inside(path: &Path, folder: &Path) -> bool {
    let climbs = |path: &Path| path.components().any(|part| part == Component::ParentDir);
    !climbs(path) && !climbs(folder) && path.starts_with(folder)
}

fn option(id: &str, name: String, kind: AskOptionKind) -> AskOption {
    AskOption { id: OptionId::from(id), name, kind }
}

fn always_label(tool: &str, scopes: &[GrantScope]) -> String {
    let mut whole_tool = false;
    let mut commands: Vec<String> = Vec::new();
    let mut folders: Vec<String> = Vec::new();
    for scope in scopes {
        match scope {
            GrantScope::Tool => whole_tool = true,
            GrantScope::CommandPrefix(prefix) => commands.push(format!("`{}` …", excerpt(prefix))),
            GrantScope::Outside(folder) => folders.push(folder.display().to_string()),
        }
    }
    let what = if commands.is_empty() || whole_tool { tool.to_owned() } else { commands.join(", ") };
    let place = match (folders.join(", "), whole_tool) {
        (folders, _) if folders.is_empty() => String::new(),
        (folders, true) => format!(" (also in {folders})"),
        (folders, false) => format!(" in {folders}"),
    };
    format!("Always allow {what}{place} in this session")
}

fn excerpt(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LABEL_CHARS {
        return line;
    }
    line.chars().take(LABEL_CHARS - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use serde_json::json;
    use session_model::ToolCallId;

    use super::*;

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
        let grants =
            scopes.iter().map(|scope| Grant { tool: tool.to_owned(), scope: scope.clone() }).collect();
        Permissions { grants, ..Permissions::default() }
    }

    fn in_mode(mode: Mode) -> Permissions {
        Permissions { mode: mode.into(), ..Permissions::default() }
    }

    fn allowed(tool: &str, wanted: &[GrantScope], permissions: &Permissions) -> bool {
        decide(tool, &Map::new(), &needs(wanted), permissions) == Verdict::Allowed
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
            (&[command("git status")], &[command("git status")], true),
            (&[command("git status")], &[command("git")], false),
            (&[command("git status")], &[command("git status"), command("rm")], false),
            (&[command("git status"), command("rm")], &[command("rm"), command("git status")], true),
            (&[command("git")], &[Tool], false),
            // Nothing could be granted for ever: it is asked each time.
            (&[Tool], &[], false),
        ];
        for (grants, wanted, expected) in rows {
            assert_eq!(
                allowed("edit", wanted, &granted("edit", grants)),
                *expected,
                "{grants:?} for {wanted:?}"
            );
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
        assert_eq!(decide("x", &Map::new(), &Approval::Free, &Permissions::default()), Verdict::Allowed);
        let skip = in_mode(Mode::Autonomous);
        assert!(allowed("x", &[GrantScope::Tool, outside("/")], &skip));
        assert!(allowed("x", &[], &skip));
    }

    #[test]
    fn configured_commands_run_unasked_but_only_as_bash_and_only_inside() {
        let permissions =
            Permissions { bash_patterns: vec!["cargo test*".to_owned()], ..Permissions::default() };
        let run = |tool: &str, text: &str, scopes: &[GrantScope]| {
            let Value::Object(args) = json!({ "command": text }) else { return false };
            decide(tool, &args, &needs(scopes), &permissions) == Verdict::Allowed
        };
        assert!(run("bash", "cargo test -p x", &[command("cargo test")]));
        assert!(run("bash", "cargo test -p x", &[]));
        assert!(!run("other", "cargo test", &[command("cargo test")]));
        assert!(!run("bash", "cargo build", &[command("cargo build")]));
        assert!(!run("bash", "cargo test", &[command("cargo test"), outside("/etc")]));
        assert!(!run("bash", "cargo test && rm -rf x", &[command("cargo test"), command("rm")]));
    }

    #[test]
    fn the_mode_says_what_is_free_what_is_asked_and_what_is_refused() {
        let shell = |text: &str| (SHELL_TOOL, json!({ "command": text }));
        let edit = || ("edit_file", json!({}));
        let git = [command("git push")];
        let look = [command("ls")];
        let rows: &[(&str, (&str, Value), Approval, &str)] = &[
            ("read inside", ("read_file", json!({})), Approval::Free, "free ask free free free"),
            ("read outside", ("read_file", json!({})), needs(&[outside("/etc")]), "ask ask ask no free"),
            ("an edit", edit(), needs(&[GrantScope::Tool]), "ask ask ask no free"),
            ("a look", shell("ls src"), needs(&look), "ask ask free free free"),
            (
                "a look outside",
                shell("ls /etc"),
                needs(&[command("ls"), outside("/etc")]),
                "ask ask ask no free",
            ),
            ("a look with more", shell("ls > x"), needs(&[]), "ask ask ask no free"),
            ("a command", shell("git push"), needs(&git), "ask ask ask no free"),
            (
                "the words of a look elsewhere",
                ("run", json!({"command": "ls"})),
                needs(&look),
                "ask ask ask no free",
            ),
        ];
        for (what, (tool, args), approval, expected) in rows {
            let Value::Object(args) = args else { panic!("an object") };
            let verdicts = Mode::ALL.map(|mode| match decide(tool, args, approval, &in_mode(mode)) {
                Verdict::Allowed => "free",
                Verdict::Ask(_) => "ask",
                Verdict::Denied(_) => "no",
            });
            assert_eq!(verdicts.join(" "), *expected, "{what}");
        }
    }

    #[test]
    fn what_was_granted_is_free_in_every_mode() {
        for mode in Mode::ALL {
            let permissions = Permissions { mode: mode.into(), ..granted("edit_file", &[GrantScope::Tool]) };
            assert!(allowed("edit_file", &[GrantScope::Tool], &permissions), "{mode:?}");
        }
        let read = Permissions { mode: Mode::Strict.into(), ..granted("read_file", &[GrantScope::Tool]) };
        assert_eq!(decide("read_file", &Map::new(), &Approval::Free, &read), Verdict::Allowed);
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
}
