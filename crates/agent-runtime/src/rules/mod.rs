//! What the user's configuration says about calls: deny, ask, allow, by tool, by command and by place.
//!
//! A rule is `tool` or `tool(pattern)`; docs/permissions.md has the grammar and the order. Denying beats asking, and
//! asking beats allowing, wherever the rules come from; no rule is more special than another. Pure: a call is judged
//! as a `Subject`, which was looked at before.

mod glob;
mod rule;
mod subject;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use session_model::ToolKind;

pub use rule::{BadRule, Rule};
pub(crate) use subject::{Origin, Subject};

use crate::tools::address;
use crate::tools::command::{Command, Part, UNKNOWN};
use crate::tools::paths::{self, real_path};
use rule::Facet;
pub(crate) use rule::Spelled;

/// The rules that hold in a session. Clones share them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules(Arc<Lists>);

#[derive(Debug, Default, PartialEq, Eq)]
struct Lists {
    deny: Vec<Rule>,
    ask: Vec<Rule>,
    allow: Vec<Rule>,
    home: Option<PathBuf>,
}

/// What a rule has against a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Objection {
    /// It may not run; the rule as written.
    Denied(String),
    /// It would ask a machine that is not public, and no rule names that; the host.
    Closed(String),
    /// It is asked each time; why.
    Asked(String),
}

impl Rules {
    /// Rules of three lists; `home` is what `~` stands for in commands.
    #[must_use]
    pub fn new(deny: Vec<Rule>, ask: Vec<Rule>, allow: Vec<Rule>, home: Option<PathBuf>) -> Self {
        Self(Arc::new(Lists { deny, ask, allow, home }))
    }

    /// What speaks against the call, if anything.
    pub(crate) fn objection(&self, call: &Subject) -> Option<Objection> {
        if let Some(rule) = self.0.deny.iter().find(|rule| self.reaches(rule, call)) {
            return Some(Objection::Denied(rule.to_string()));
        }
        let closed = |url: &String| {
            let host = address::host_of(&reqwest::Url::parse(url.trim()).ok()?)?;
            (address::is_private_name(&host) && !self.opens(&host)).then_some(host)
        };
        if let Some(host) = call.urls.iter().find_map(closed) {
            return Some(Objection::Closed(host));
        }
        if let Some(rule) = self.0.ask.iter().find(|rule| self.reaches(rule, call)) {
            return Some(Objection::Asked(format!("the rule `{rule}` has this asked each time")));
        }
        let restrictions = || self.0.deny.iter().chain(&self.0.ask);
        let command = call.command.as_ref()?;
        let doubt = restrictions().any(|rule| {
            (rule.is_about(&call.tool, call.kind) && rule.command_in_doubt(command))
                || (rule.is_about_files() && self.is_in_doubt(command))
        });
        doubt.then(|| {
            Objection::Asked(
                "rules forbid some commands, and what this one may run cannot be told".to_owned(),
            )
        })
    }

    /// Whether a rule allows to ask this very host, though it is not public. No wildcard does.
    pub(crate) fn opens(&self, host: &str) -> bool {
        let about = |rule: &&Rule| rule.is_about("http_get", ToolKind::Fetch);
        self.0.allow.iter().filter(about).any(|rule| rule.names_host(host))
    }

    /// Whether a file is kept from tools that look through many: a rule denies reading it, or has it asked.
    pub(crate) fn hides(&self, tool: &str, path: &Path, origin: &Origin) -> bool {
        let mut restrictions = self.0.deny.iter().chain(&self.0.ask);
        let reads =
            |rule: &Rule| rule.is_about(tool, ToolKind::Read) || rule.is_about("read_file", ToolKind::Read);
        restrictions.any(|rule| reads(rule) && rule.has_pattern() && rule.forbids_path(path, origin))
    }

    /// Whether any rule could hide a file.
    pub(crate) fn restrict(&self) -> bool {
        !(self.0.deny.is_empty() && self.0.ask.is_empty())
    }

    /// Whether rules allow all of a call that is no command. `steers` says that its files decide what other programs
    /// do: then a rule has to name their folder.
    pub(crate) fn allow(&self, call: &Subject, steers: bool) -> bool {
        let rules = || self.0.allow.iter().filter(|rule| rule.is_about(&call.tool, call.kind));
        if call.paths.is_empty() && call.urls.is_empty() {
            return rules().any(|rule| !rule.has_pattern());
        }
        let paths = call.paths.iter().all(|path| {
            rules().any(|rule| rule.permits_path(path, &call.origin) && (!steers || rule.names_steering()))
        });
        paths && call.urls.iter().all(|url| rules().any(|rule| rule.permits_url(url)))
    }

    /// Whether a rule allows a command to write a file, or to name one elsewhere. Only one about changing files with a pattern does.
    pub(crate) fn allow_write(&self, path: &Path, origin: &Origin) -> bool {
        let mut rules = self.0.allow.iter().filter(|rule| rule.is_about("write_file", ToolKind::Edit));
        let steers = paths::steers(path);
        rules.any(|rule| {
            rule.has_pattern() && rule.permits_path(path, origin) && (!steers || rule.names_steering())
        })
    }

    /// Whether a rule allows this part of a command as it is written.
    pub(crate) fn allow_part(&self, call: &Subject, part: &Part) -> bool {
        let spelled = Spelled::part(part);
        self.commands(call).any(|rule| rule.permits_command(&part.simple.source, &spelled))
    }

    /// Whether a rule allows the command as a whole as it is written.
    pub(crate) fn allow_command(&self, call: &Subject, command: &Command) -> bool {
        let spelled = Spelled::whole(command);
        self.commands(call).any(|rule| rule.permits_command(&command.text, &spelled))
    }

    fn commands<'a>(&'a self, call: &'a Subject) -> impl Iterator<Item = &'a Rule> {
        self.0.allow.iter().filter(|rule| rule.is_about(&call.tool, call.kind))
    }

    /// Whether a rule that restricts reaches a call.
    fn reaches(&self, rule: &Rule, call: &Subject) -> bool {
        // A command names files, and rules about files reach those.
        if let Some(command) = &call.command
            && rule.is_about_files()
        {
            let parts = || command.parts.iter().flatten();
            let mut named = parts().flat_map(|part| &part.names);
            let mut at_home = parts().flat_map(Part::unjudged).filter_map(|text| self.at_home(text));
            if named.any(|path| rule.forbids_path(path, &call.origin))
                || at_home.any(|path| rule.forbids_path(&path, &call.origin))
            {
                return true;
            }
        }
        if !rule.is_about(&call.tool, call.kind) {
            return false;
        }
        match rule.facet(call) {
            Facet::Whole => true,
            Facet::Command(command) => rule.forbids_command(command),
            Facet::Paths => call.paths.iter().any(|path| rule.forbids_path(path, &call.origin)),
            Facet::Urls => call.urls.iter().any(|url| rule.forbids_url(url)),
        }
    }

    /// Whether it cannot be told which files a command touches.
    fn is_in_doubt(&self, command: &Command) -> bool {
        match &command.parts {
            Err(_) => true,
            Ok(parts) => parts
                .iter()
                .any(|part| part.inner.unknown || part.unjudged().any(|text| self.at_home(text).is_none())),
        }
    }

    /// Where `~/x` leads; none for what else is not known.
    fn at_home(&self, text: &str) -> Option<PathBuf> {
        let below = text.strip_prefix('~')?;
        let certain = below.is_empty() || below.starts_with('/');
        let plain = certain && !below.contains(['*', '?', '[', UNKNOWN]) && !below.contains("..");
        let home = self.0.home.as_ref().filter(|_| plain)?;
        real_path(&home.join(below.trim_start_matches('/')))
    }
}

/// What a rule looks like, for messages.
const GRAMMAR: &str = "`tool` or `tool(pattern)`";
