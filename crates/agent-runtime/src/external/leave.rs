//! Leave for what a program that is an agent of ours wants to do, by the rules, the mode and the grants that hold for our
//! own tools: what it says of a call is judged like the calls of ours that could do the same. It is the program's word;
//! what it does without asking is not seen here. Knows no protocol.

use std::path::PathBuf;

use serde_json::{Map, Value, json};
use session_model::{Grant, GrantScope, Location, ToolKind};

use crate::driver::Permissions;
use crate::gate::{self, Denial, Verdict};
use crate::mode::Mode;
use crate::rules::Subject;
use crate::tools::command::Command;
use crate::tools::paths::Place;
use crate::tools::support::blocking;
use crate::tools::{Approval, ApprovalAsk, Workspace, address};

/// What a program wants to do, as far as it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wish {
    /// Its own name for the tool.
    pub name: Option<String>,
    /// The sort of work.
    pub kind: ToolKind,
    /// The command it would run.
    pub command: Option<String>,
    /// The files it would touch; relative ones begin in the session's folder.
    pub paths: Vec<PathBuf>,
    /// The address it would ask.
    pub url: Option<String>,
    /// Whether all this was said in so many words. What was made out from a title restricts, and allows nothing.
    pub certain: bool,
}

/// What becomes of a wish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leave {
    /// It is granted.
    Given,
    /// It is refused.
    Refused(Denial),
    /// The user decides.
    Asked {
        /// What is to be known beside what the program says; may be empty.
        remark: String,
        /// What "always" means.
        always: Always,
    },
}

/// What "always" means as the answer to a wish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Always {
    /// Nothing: it is asked each time.
    Never,
    /// That these are given, which the label says.
    Grants {
        /// For the user.
        label: String,
        /// For the session.
        grants: Vec<Grant>,
    },
    /// Whatever the program means by it: which of its tools this is cannot be told.
    Theirs,
}

/// A wish as it was looked at.
struct Looked {
    /// By each tool of ours that could do the same; what restricts any of them restricts it.
    subjects: Vec<Subject>,
    approval: Approval,
    /// Nothing but a mode that asks nothing gives leave.
    vague: bool,
}

/// Judges `wish` under `permissions`. Looks at the disk for where paths lead.
pub async fn judge(wish: Wish, workspace: &Workspace, permissions: &Permissions) -> Leave {
    let (workspace, mode) = (workspace.clone(), permissions.mode.get());
    let theirs = is_unknown(&wish);
    let looked = match blocking(move || Ok(look(&wish, &workspace, mode))).await {
        Ok(looked) => looked,
        Err(cause) => return Leave::Refused(Denial::Unanswerable(cause)),
    };
    let verdicts = looked.subjects.iter().map(|call| gate::decide(call, &looked.approval, permissions));
    let mut asked: Option<ApprovalAsk> = None;
    for verdict in verdicts {
        match verdict {
            Verdict::Denied(denial) => return Leave::Refused(denial),
            // One that is asked each time is the stricter one.
            Verdict::Ask(ask) => asked = Some(stricter(asked, ask.into_owned())),
            Verdict::Allowed => {}
        }
    }
    match asked {
        Some(ask) => {
            let always = always(&looked.subjects, &ask, theirs);
            Leave::Asked { remark: ask.description, always }
        }
        None if looked.vague && mode != Mode::Autonomous => {
            if mode == Mode::Restricted {
                return Leave::Refused(Denial::Mode);
            }
            Leave::Asked { remark: String::new(), always: Always::Never }
        }
        None => Leave::Given,
    }
}

fn stricter(known: Option<ApprovalAsk>, ask: ApprovalAsk) -> ApprovalAsk {
    match known {
        Some(known) if known.scopes.is_empty() || !ask.scopes.is_empty() => known,
        Some(_) | None => ask,
    }
}

fn always(subjects: &[Subject], ask: &ApprovalAsk, theirs: bool) -> Always {
    if ask.scopes.is_empty() {
        // A rule that has it asked each time says so.
        return if theirs && ask.description.is_empty() { Always::Theirs } else { Always::Never };
    }
    let tools: Vec<&str> = subjects.iter().map(|call| call.tool.as_str()).collect();
    let label = gate::always_label(&tools.join(" and "), &ask.scopes);
    let grants = tools.iter().flat_map(|tool| gate::grants(tool, ask)).collect();
    Always::Grants { label, grants }
}

/// Whether it is not known which tool it is.
fn is_unknown(wish: &Wish) -> bool {
    match wish.kind {
        ToolKind::Think | ToolKind::Other => wish.name.is_none(),
        // Leaving a plan is a choice between ways to go on.
        ToolKind::SwitchMode => true,
        ToolKind::Read
        | ToolKind::Search
        | ToolKind::Edit
        | ToolKind::Delete
        | ToolKind::Move
        | ToolKind::Execute
        | ToolKind::Fetch => false,
    }
}

/// Our tools that do such work. Where a program's tool could be either of two, what is said of either holds.
fn twins(kind: ToolKind) -> &'static [&'static str] {
    match kind {
        ToolKind::Read => &["read_file"],
        ToolKind::Search => &["grep"],
        ToolKind::Edit => &["edit_file", "write_file"],
        ToolKind::Delete => &["delete_file"],
        ToolKind::Move => &["move_file"],
        ToolKind::Execute => &["bash"],
        ToolKind::Fetch => &["http_get"],
        ToolKind::Think | ToolKind::SwitchMode | ToolKind::Other => &[],
    }
}

fn look(wish: &Wish, workspace: &Workspace, mode: Mode) -> Looked {
    let twins = twins(wish.kind);
    let named = wish.name.as_deref().filter(|name| twins.is_empty() || twins.contains(name));
    let tools: Vec<&str> = match named {
        Some(name) => vec![name],
        None if twins.is_empty() => vec!["a tool"],
        None => twins.to_vec(),
    };
    let (places, lost) = places(wish, workspace);
    let args = args(wish);
    let locations: Vec<Location> = places.iter().map(|place| place.location(None)).collect();
    let subjects = tools.iter().map(|tool| Subject::named(tool, wish.kind, &args, &locations, workspace));
    let subjects: Vec<Subject> = subjects.collect();
    let command = subjects.iter().find_map(|call| call.command.as_ref());
    let approval = approval(wish, &places, command, mode);
    let missing = match wish.kind {
        ToolKind::Edit | ToolKind::Delete | ToolKind::Move | ToolKind::Read | ToolKind::Search => {
            places.is_empty()
        }
        ToolKind::Execute => command.is_none(),
        ToolKind::Fetch => wish.url.is_none(),
        ToolKind::Think | ToolKind::SwitchMode | ToolKind::Other => false,
    };
    Looked { subjects, approval, vague: lost || missing || !wish.certain }
}

/// Where its paths lead, and whether some of them lead nobody knows where.
fn places(wish: &Wish, workspace: &Workspace) -> (Vec<Place>, bool) {
    let resolved: Vec<_> =
        wish.paths.iter().map(|path| Place::resolve(workspace, &path.to_string_lossy())).collect();
    let lost = resolved.iter().any(Result::is_err);
    (resolved.into_iter().flatten().collect(), lost)
}

fn args(wish: &Wish) -> Map<String, Value> {
    let command = wish.command.as_ref().map(|command| ("command".to_owned(), json!(command)));
    let url = wish.url.as_ref().map(|url| ("url".to_owned(), json!(url)));
    command.into_iter().chain(url).collect()
}

/// The leave it needs. It asks though ours might not: its own rules want it. Only a mode that asks nothing has it look as
/// freely as ours.
fn approval(wish: &Wish, places: &[Place], command: Option<&Command>, mode: Mode) -> Approval {
    let ask = |scopes| Approval::Ask(ApprovalAsk { description: String::new(), scopes });
    match wish.kind {
        ToolKind::Execute => ask(command.map(Command::scopes).unwrap_or_default()),
        ToolKind::Fetch => {
            let url = wish.url.as_ref().and_then(|url| reqwest::Url::parse(url.trim()).ok());
            let host = url.as_ref().and_then(address::host_of);
            ask(host.map(GrantScope::Host).into_iter().collect())
        }
        ToolKind::Read | ToolKind::Search => {
            let free = |place: &Place| place.read_approval() == Approval::Free;
            if mode == Mode::Restricted && !places.is_empty() && places.iter().all(free) {
                return Approval::Free;
            }
            together(places.iter().map(|place| match place.read_approval() {
                Approval::Free | Approval::Question => {
                    ApprovalAsk { description: String::new(), scopes: vec![GrantScope::Tool] }
                }
                Approval::Ask(mut ask) => {
                    if !ask.scopes.is_empty() {
                        ask.scopes.push(GrantScope::Tool);
                    }
                    ask
                }
            }))
        }
        ToolKind::Edit | ToolKind::Delete | ToolKind::Move => {
            together(places.iter().filter_map(|place| match place.write_approval("") {
                Approval::Free | Approval::Question => None,
                Approval::Ask(ask) => {
                    // What it does at home is said by the program itself.
                    let plain = ask.scopes == [GrantScope::Tool];
                    let description = if plain { String::new() } else { ask.description.trim().to_owned() };
                    Some(ApprovalAsk { description, ..ask })
                }
            }))
        }
        ToolKind::Think | ToolKind::SwitchMode | ToolKind::Other if is_unknown(wish) => ask(Vec::new()),
        ToolKind::Think | ToolKind::SwitchMode | ToolKind::Other => ask(vec![GrantScope::Tool]),
    }
}

/// One question for several; when one of them cannot be answered for always, neither can all.
fn together(asks: impl Iterator<Item = ApprovalAsk>) -> Approval {
    let mut all = ApprovalAsk { description: String::new(), scopes: Vec::new() };
    let mut always = true;
    for ask in asks {
        always &= !ask.scopes.is_empty();
        if !ask.description.is_empty() && !all.description.contains(&ask.description) {
            let gap = if all.description.is_empty() { "" } else { "\n" };
            all.description = format!("{}{gap}{}", all.description, ask.description);
        }
        let new: Vec<_> = ask.scopes.into_iter().filter(|scope| !all.scopes.contains(scope)).collect();
        all.scopes.extend(new);
    }
    if !always {
        all.scopes.clear();
    }
    Approval::Ask(all)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::rules::{Rule, Rules};

    fn wish(kind: ToolKind) -> Wish {
        Wish { name: None, kind, command: None, paths: Vec::new(), url: None, certain: true }
    }

    fn run(command: &str) -> Wish {
        Wish { command: Some(command.to_owned()), ..wish(ToolKind::Execute) }
    }

    fn edit(path: &str) -> Wish {
        Wish { paths: vec![PathBuf::from(path)], ..wish(ToolKind::Edit) }
    }

    fn permissions(mode: Mode, deny: &[&str], asked: &[&str], allow: &[&str]) -> Permissions {
        let read = |texts: &[&str]| texts.iter().map(|text| Rule::parse(text, None).unwrap()).collect();
        let rules = Rules::new(read(deny), read(asked), read(allow), None);
        Permissions { mode: mode.into(), rules, ..Permissions::default() }
    }

    async fn in_folder(cwd: &Path, wish: Wish, permissions: &Permissions) -> Leave {
        judge(wish, &Workspace::local(cwd.to_owned(), Vec::new()), permissions).await
    }

    fn grants(leave: Leave) -> Vec<Grant> {
        let Leave::Asked { always: Always::Grants { grants, .. }, .. } = leave else {
            panic!("no grants: {leave:?}")
        };
        grants
    }

    #[tokio::test]
    async fn rules_about_our_tools_hold_for_the_same_work_of_a_program() {
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path().canonicalize().unwrap();
        let mode = Mode::Default;
        let rules = permissions(
            mode,
            &["write_file(secret)", "bash(rm *)", "mcp_x"],
            &["edit(ask/**)"],
            &["edit(src/**)", "bash(cargo test *)", "fetch(docs.rs)"],
        );
        let fetch = |url: &str| Wish { url: Some(url.to_owned()), ..wish(ToolKind::Fetch) };
        let refused = |rule: &str| Leave::Refused(Denial::Rule(rule.to_owned()));
        let rows = [
            (edit("secret"), Some(refused("write_file(secret)"))),
            (edit("src/a.rs"), Some(Leave::Given)),
            (edit("other.rs"), None),
            (Wish { paths: vec!["src/a".into(), "b".into()], ..edit("") }, None),
            (run("git status && rm -rf x"), Some(refused("bash(rm *)"))),
            (run("cargo test -q"), Some(Leave::Given)),
            (Wish { certain: false, ..run("cargo test -q") }, None),
            (Wish { certain: false, ..run("rm x") }, Some(refused("bash(rm *)"))),
            (fetch("https://docs.rs/x"), Some(Leave::Given)),
            (fetch("http://127.0.0.1/"), Some(Leave::Refused(Denial::Closed("127.0.0.1".to_owned())))),
            (Wish { name: Some("mcp_x".to_owned()), ..wish(ToolKind::Other) }, Some(refused("mcp_x"))),
        ];
        for (wish, expected) in rows {
            let leave = in_folder(&cwd, wish.clone(), &rules).await;
            match expected {
                Some(expected) => assert_eq!(leave, expected, "{wish:?}"),
                None => assert!(matches!(leave, Leave::Asked { .. }), "{wish:?}: {leave:?}"),
            }
        }
        let each_time = in_folder(&cwd, edit("ask/a"), &rules).await;
        let Leave::Asked { remark, always: Always::Never } = each_time else { panic!("{each_time:?}") };
        assert!(remark.contains("edit(ask/**)"), "{remark}");
    }

    #[tokio::test]
    async fn always_is_for_the_tool_or_the_commands_prefix_and_for_nothing_that_cannot_be_told() {
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path().canonicalize().unwrap();
        let plain = permissions(Mode::Default, &[], &[], &[]);
        let tool = |name: &str| Grant { tool: name.to_owned(), scope: GrantScope::Tool };
        assert_eq!(grants(in_folder(&cwd, edit("a"), &plain).await), [tool("edit_file"), tool("write_file")]);
        let named = Wish { name: Some("write_file".to_owned()), ..edit("a") };
        assert_eq!(grants(in_folder(&cwd, named, &plain).await), [tool("write_file")]);
        let prefix =
            [Grant { tool: "bash".to_owned(), scope: GrantScope::CommandPrefix("cargo test".to_owned()) }];
        assert_eq!(grants(in_folder(&cwd, run("cargo test -q"), &plain).await), prefix);
        for wish in [wish(ToolKind::Edit), run("cargo test > x"), edit(".git/config"), edit("a\0b")] {
            let leave = in_folder(&cwd, wish.clone(), &plain).await;
            assert!(matches!(leave, Leave::Asked { always: Always::Never, .. }), "{wish:?}: {leave:?}");
        }
        for wish in [wish(ToolKind::SwitchMode), wish(ToolKind::Other)] {
            let leave = in_folder(&cwd, wish.clone(), &plain).await;
            assert!(matches!(leave, Leave::Asked { always: Always::Theirs, .. }), "{wish:?}: {leave:?}");
        }
        let granted = Permissions {
            grants: [&prefix[..], &[tool("edit_file"), tool("write_file")]].concat(),
            ..plain.clone()
        };
        assert_eq!(in_folder(&cwd, run("cargo test --doc"), &granted).await, Leave::Given);
        assert_eq!(in_folder(&cwd, edit("b"), &granted).await, Leave::Given);
        let elsewhere = in_folder(&cwd, edit("/elsewhere/b"), &granted).await;
        assert!(matches!(elsewhere, Leave::Asked { .. }), "{elsewhere:?}");
    }

    #[tokio::test]
    async fn a_mode_decides_where_no_rule_does() {
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path().canonicalize().unwrap();
        let read = |path: &str| Wish { paths: vec![path.into()], ..wish(ToolKind::Read) };
        let rows = [
            (Mode::Autonomous, wish(ToolKind::Edit), Leave::Given),
            (Mode::Autonomous, wish(ToolKind::Other), Leave::Given),
            (Mode::Restricted, edit("a"), Leave::Refused(Denial::Mode)),
            (Mode::Restricted, read("a"), Leave::Given),
            (Mode::Restricted, read("/elsewhere/a"), Leave::Refused(Denial::Mode)),
            (Mode::Restricted, wish(ToolKind::Read), Leave::Refused(Denial::Mode)),
            (Mode::Restricted, run("ls -l"), Leave::Given),
            (Mode::Restricted, run("cargo build"), Leave::Refused(Denial::Mode)),
            (Mode::Balanced, run("ls -l"), Leave::Given),
        ];
        for (mode, wish, expected) in rows {
            let leave = in_folder(&cwd, wish.clone(), &permissions(mode, &[], &[], &[])).await;
            assert_eq!(leave, expected, "{mode:?} {wish:?}");
        }
        let asked = in_folder(&cwd, read("a"), &permissions(Mode::Default, &[], &[], &[])).await;
        assert!(matches!(asked, Leave::Asked { .. }), "its own rules want it: {asked:?}");
    }
}
