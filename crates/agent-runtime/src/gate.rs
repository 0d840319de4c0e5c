//! Decides whether a call may run: unasked, after a question, or not at all.
//!
//! Pure: it words the question and reads the answer, and the engine does the asking. It knows no tool; what a
//! call needs is in its plan.

use std::borrow::Cow;
use std::fmt;
use std::path::{Component, Path};

use session_model::{
    Answer, AskOption, AskOptionKind, Grant, GrantScope, OptionId, PermissionAsk, ToolCallUpdate,
};

use crate::driver::Permissions;
use crate::mode::Mode;
use crate::rules::{Objection, Spelled, Subject};
use crate::tools::command::{Command, Part};
use crate::tools::{Approval, ApprovalAsk};
use crate::tools::{harmless, shell};

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
    /// The user dismissed the question about a call before it.
    Dismissed,
    /// A rule of the configuration refuses it; the rule.
    Rule(String),
    /// It asks a machine that is not public, and no rule names it; the host.
    Closed(String),
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
            Self::Dismissed => f.write_str(
                "not run: the user dismissed the question about a call before this one; ask what to do instead",
            ),
            Self::Rule(rule) => write!(
                f,
                "denied by the user's rule `{rule}`; do not try it in another way, say what you wanted to do"
            ),
            Self::Closed(host) => write!(
                f,
                "denied: {host} is this machine or one of a private network, which is asked only if the user has a \
                 rule that names it, like \"permissions\": {{\"allow\": [\"fetch({host})\"]}}"
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

impl Denial {
    /// The same for the user.
    #[must_use]
    pub fn for_user(&self) -> String {
        match self {
            Self::User => "you said no".to_owned(),
            Self::Dismissed => "you dismissed the question before it".to_owned(),
            Self::Rule(rule) => format!("the rule `{rule}` denies it"),
            Self::Closed(host) => {
                format!("{host} is this machine or one of a private network, and no rule names it")
            }
            Self::Mode => "in this mode tools may only look".to_owned(),
            Self::Unanswerable(cause) => cause.clone(),
        }
    }
}

/// Whether `call`, which needs `approval`, may run unasked. In this order: what a rule denies is refused, what a
/// rule has asked is asked (or refused, in a mode that asks nothing), and then mode, rules and grants allow.
#[must_use]
pub(crate) fn decide<'a>(call: &Subject, approval: &'a Approval, permissions: &Permissions) -> Verdict<'a> {
    let mode = permissions.mode.get();
    match permissions.rules.objection(call) {
        Some(Objection::Closed(host)) => return Verdict::Denied(Denial::Closed(host)),
        Some(Objection::Denied(rule)) => return Verdict::Denied(Denial::Rule(rule)),
        Some(Objection::Asked(_)) if mode == Mode::Restricted => return Verdict::Denied(Denial::Mode),
        Some(Objection::Asked(why)) => return Verdict::Ask(Cow::Owned(each_time(approval, &why))),
        None => {}
    }
    let ask = match (approval, mode) {
        (_, Mode::Autonomous)
        | (Approval::Question, _)
        | (Approval::Free, Mode::Default | Mode::Balanced | Mode::Restricted) => return Verdict::Allowed,
        (Approval::Ask(ask), _) => Cow::Borrowed(ask),
        (Approval::Free, Mode::Strict) => {
            Cow::Owned(ApprovalAsk { description: String::new(), scopes: vec![GrantScope::Tool] })
        }
    };
    let allowed = match &call.command {
        Some(command) => command_is_allowed(call, command, permissions),
        None => is_granted(call, &ask, permissions) || permissions.rules.allow(call, ask.scopes.is_empty()),
    };
    match mode {
        _ if allowed => Verdict::Allowed,
        Mode::Restricted => Verdict::Denied(Denial::Mode),
        Mode::Default | Mode::Strict | Mode::Balanced | Mode::Autonomous => Verdict::Ask(ask),
    }
}

/// A question that cannot be answered for ever, because a rule will have it asked again.
fn each_time(approval: &Approval, why: &str) -> ApprovalAsk {
    let said = match approval {
        Approval::Free | Approval::Question => "",
        Approval::Ask(ask) => &ask.description,
    };
    let gap = if said.is_empty() { "" } else { "\n" };
    ApprovalAsk { description: format!("{said}{gap}{why}"), scopes: Vec::new() }
}

/// Whether everything the question is about was granted. One about nothing that can be granted never was.
fn is_granted(call: &Subject, ask: &ApprovalAsk, permissions: &Permissions) -> bool {
    let granted = |scope: &GrantScope| {
        permissions.grants.iter().any(|grant| grant.tool == call.tool && covers(&grant.scope, scope))
    };
    !ask.scopes.is_empty() && ask.scopes.iter().all(granted)
}

/// Whether a rule allows the command as it is written, or each part of it is allowed by something: a rule, a grant,
/// or a mode in which looking is free.
fn command_is_allowed(call: &Subject, command: &Command, permissions: &Permissions) -> bool {
    if is_configured(&command.text, &Spelled::whole(command), permissions)
        || permissions.rules.allow_command(call, command)
    {
        return true;
    }
    let Ok(parts) = &command.parts else { return false };
    parts.iter().all(|part| part_is_allowed(call, part, permissions))
}

fn part_is_allowed(call: &Subject, part: &Part, permissions: &Permissions) -> bool {
    if is_configured(&part.simple.source, &Spelled::part(part), permissions)
        || permissions.rules.allow_part(call, part)
    {
        return true;
    }
    let Some(words) = &part.words else { return false };
    let grants = || permissions.grants.iter().filter(|grant| grant.tool == call.tool);
    let elsewhere = part.outside.iter().all(|outside| {
        grants().any(|grant| covers(&grant.scope, &outside.scope))
            || permissions.rules.allow_write(&outside.path, &call.origin)
    });
    let written = part.writes.iter().all(|written| {
        written.path.as_ref().is_some_and(|path| permissions.rules.allow_write(path, &call.origin))
    });
    let known = || grants().any(|grant| starts_with(&grant.scope, words));
    let looks = || match permissions.mode.get() {
        Mode::Balanced | Mode::Restricted => harmless::is_harmless(words),
        Mode::Default | Mode::Strict | Mode::Autonomous => false,
    };
    part.is_certain() && elsewhere && written && (known() || looks())
}

/// Whether `bash_allowed_patterns` has it. A wildcard there stands for no place elsewhere either.
fn is_configured(source: &str, spelled: &Spelled<'_>, permissions: &Permissions) -> bool {
    permissions
        .bash_patterns
        .iter()
        .any(|pattern| shell::matches_pattern(pattern, source) && spelled.all_in(pattern))
}

fn starts_with(granted: &GrantScope, words: &[String]) -> bool {
    match granted {
        GrantScope::CommandPrefix(prefix) => {
            shell::words(prefix).is_some_and(|prefix| words.starts_with(&prefix))
        }
        GrantScope::Tool | GrantScope::Host(_) | GrantScope::Outside(_) => false,
    }
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

fn covers(granted: &GrantScope, wanted: &GrantScope) -> bool {
    match (granted, wanted) {
        (GrantScope::Tool, GrantScope::Tool) => true,
        (GrantScope::Outside(folder), GrantScope::Outside(path)) => is_inside(path, folder),
        (GrantScope::Host(granted), GrantScope::Host(wanted)) => granted == wanted,
        (
            GrantScope::Tool | GrantScope::CommandPrefix(_) | GrantScope::Host(_) | GrantScope::Outside(_),
            _,
        ) => false,
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

pub(crate) fn always_label(tool: &str, scopes: &[GrantScope]) -> String {
    let mut whole_tool = false;
    let mut commands: Vec<String> = Vec::new();
    let mut folders: Vec<String> = Vec::new();
    let mut hosts: Vec<String> = Vec::new();
    for scope in scopes {
        match scope {
            GrantScope::Tool => whole_tool = true,
            GrantScope::CommandPrefix(prefix) => commands.push(format!("`{}` …", excerpt(prefix))),
            GrantScope::Host(host) => hosts.push(excerpt(host)),
            GrantScope::Outside(folder) => folders.push(folder.display().to_string()),
        }
    }
    let what = if commands.is_empty() || whole_tool { tool.to_owned() } else { commands.join(", ") };
    let place = match (folders.join(", "), whole_tool) {
        (folders, _) if folders.is_empty() => String::new(),
        (folders, true) => format!(" (also in {folders})"),
        (folders, false) => format!(" in {folders}"),
    };
    let hosts = if hosts.is_empty() { String::new() } else { format!(" for {}", hosts.join(", ")) };
    format!("Always allow {what}{hosts}{place} in this session")
}

fn excerpt(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LABEL_CHARS {
        return line;
    }
    line.chars().take(LABEL_CHARS - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests;
