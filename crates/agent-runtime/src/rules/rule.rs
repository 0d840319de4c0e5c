//! One rule: which tools it is about, and which of their calls.

use std::fmt;
use std::path::Path;

use session_model::ToolKind;

use super::glob::{PathGlob, text_matches};
use super::{GRAMMAR, Origin, Subject};
use crate::tools::command::{Command, Part};
use crate::tools::paths::STEERING;
use crate::tools::script_word::Word;
use crate::tools::shell;
use crate::tools::wrappers::program_of;

/// `tool` or `tool(pattern)`.
#[derive(Debug, Clone)]
pub struct Rule {
    text: String,
    tool: String,
    pattern: Option<Pattern>,
}

#[derive(Debug, Clone)]
struct Pattern {
    text: String,
    path: Option<PathPattern>,
}

#[derive(Debug, Clone)]
enum PathPattern {
    /// From the root of the file system.
    Absolute(PathGlob),
    /// From the session's folders.
    Relative(PathGlob),
    /// A name, at any depth.
    Name(PathGlob),
}

/// A rule that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no rule: {reason}")]
pub struct BadRule {
    /// The rule as written.
    pub text: String,
    /// What is wrong with it.
    pub reason: String,
}

/// What a pattern is compared with.
pub(super) enum Facet<'a> {
    /// Nothing: the rule is about every call.
    Whole,
    Command(&'a Command),
    Paths,
    Urls,
}

/// What a wildcard does not stand for in a command; see [`Part::to_be_spelled`].
pub(crate) struct Spelled<'a>(Vec<&'a str>);

impl<'a> Spelled<'a> {
    pub(crate) fn part(part: &'a Part) -> Self {
        Self(part.to_be_spelled().collect())
    }

    pub(crate) fn whole(command: &'a Command) -> Self {
        Self(command.parts.iter().flatten().flat_map(Part::to_be_spelled).collect())
    }

    pub(crate) fn all_in(&self, pattern: &str) -> bool {
        self.0
            .iter()
            .all(|text| pattern.split_whitespace().any(|word| word.trim_matches(['\'', '"']) == *text))
    }
}

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Rule {}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Rule {
    /// Reads a rule; `home` is what `~` stands for.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str, home: Option<&Path>) -> Result<Self, BadRule> {
        let bad = |reason: String| BadRule { text: text.to_owned(), reason };
        let whole = text.trim();
        let (tool, pattern) = match whole.split_once('(') {
            None => (whole, None),
            Some((tool, rest)) => {
                let inner = rest.strip_suffix(')').ok_or_else(|| bad("its `(` is not closed".to_owned()))?;
                (tool.trim(), Some(inner.trim()))
            }
        };
        let named = |c: char| c.is_alphanumeric() || "_-.*?/".contains(c);
        if tool.is_empty() || !tool.chars().all(named) {
            return Err(bad(format!("it should be {GRAMMAR}")));
        }
        if pattern == Some("") {
            return Err(bad("its pattern is empty; leave the parentheses out to mean every call".to_owned()));
        }
        let pattern = pattern.map(|text| {
            // `git status:*` is how some write `git status *`.
            let text = text.strip_suffix(":*").map_or_else(|| text.to_owned(), |begin| format!("{begin} *"));
            // A command is no path, whatever stands in it.
            let is_command = ["bash", "execute"].iter().any(|name| tool.eq_ignore_ascii_case(name));
            let path = if is_command { None } else { path_pattern(&text, home)? };
            Ok::<_, String>(Pattern { text, path })
        });
        Ok(Self { text: whole.to_owned(), tool: tool.to_owned(), pattern: pattern.transpose().map_err(bad)? })
    }

    /// The rule for all calls of the tool that `text` names, if it names one: what is left of a rule whose pattern
    /// cannot be read.
    #[must_use]
    pub fn whole_tool(text: &str) -> Option<Self> {
        Self::parse(text.split_once('(')?.0, None).ok()
    }

    /// Whether it speaks of this tool: by its name, or by the sort of its work.
    pub(super) fn is_about(&self, tool: &str, kind: ToolKind) -> bool {
        let sort = match kind {
            ToolKind::Read | ToolKind::Search => "read",
            ToolKind::Edit | ToolKind::Delete | ToolKind::Move => "edit",
            ToolKind::Execute => "execute",
            ToolKind::Fetch => "fetch",
            ToolKind::Think | ToolKind::SwitchMode | ToolKind::Other => "other",
        };
        self.tool.eq_ignore_ascii_case(sort) || text_matches(&self.tool, tool)
    }

    /// Whether it is about tools that read or change files, and so about the files that commands name.
    pub(super) fn is_about_files(&self) -> bool {
        let about_files =
            self.is_about("read_file", ToolKind::Read) || self.is_about("write_file", ToolKind::Edit);
        about_files && self.pattern.as_ref().is_some_and(|pattern| pattern.path.is_some())
    }

    pub(super) fn has_pattern(&self) -> bool {
        self.pattern.is_some()
    }

    /// What its pattern is compared with in a call. Where there is nothing to compare, a rule that restricts is
    /// about the whole call.
    pub(super) fn facet<'a>(&self, call: &'a Subject) -> Facet<'a> {
        match (&self.pattern, &call.command) {
            (Some(_), Some(command)) => Facet::Command(command),
            (Some(_), None) if !call.paths.is_empty() => Facet::Paths,
            (Some(_), None) if !call.urls.is_empty() => Facet::Urls,
            (Some(_), None) | (None, _) => Facet::Whole,
        }
    }

    pub(super) fn forbids_path(&self, path: &Path, origin: &Origin) -> bool {
        self.path_matches(path, origin, PathGlob::matches_in_any_case)
            || path.canonicalize().is_ok_and(|found| {
                found != path && self.path_matches(&found, origin, PathGlob::matches_in_any_case)
            })
    }

    /// Without a pattern it reaches as far as the session's folders.
    pub(super) fn permits_path(&self, path: &Path, origin: &Origin) -> bool {
        match &self.pattern {
            None => origin.below(path).next().is_some(),
            Some(pattern) => match &pattern.path {
                Some(PathPattern::Name(glob)) => origin.below(path).any(|below| glob.matches(below)),
                Some(PathPattern::Absolute(_) | PathPattern::Relative(_)) => {
                    self.path_matches(path, origin, PathGlob::matches)
                }
                None => false,
            },
        }
    }

    fn path_matches(&self, path: &Path, origin: &Origin, matches: fn(&PathGlob, &Path) -> bool) -> bool {
        let Some(Pattern { path: Some(pattern), .. }) = &self.pattern else { return self.pattern.is_none() };
        match pattern {
            PathPattern::Absolute(glob) => matches(glob, path),
            PathPattern::Relative(glob) => origin.below(path).any(|below| matches(glob, below)),
            PathPattern::Name(glob) => matches(glob, path.strip_prefix("/").unwrap_or(path)),
        }
    }

    /// Whether its pattern names a folder whose files steer programs.
    pub(super) fn names_steering(&self) -> bool {
        let named = |pattern: &Pattern| STEERING.iter().any(|name| pattern.text.contains(name));
        self.pattern.as_ref().is_some_and(named)
    }

    /// Whether its pattern is this host, letter by letter.
    pub(super) fn names_host(&self, host: &str) -> bool {
        let pattern = self.pattern.as_ref().map(|pattern| pattern.text.as_str());
        pattern.is_some_and(|text| text.strip_prefix("domain:").unwrap_or(text).eq_ignore_ascii_case(host))
    }

    pub(super) fn permits_url(&self, url: &str) -> bool {
        let Some(pattern) = &self.pattern else { return true };
        let Ok(parsed) = reqwest::Url::parse(url.trim()) else { return false };
        url_matches(&pattern.text, &parsed)
    }

    pub(super) fn forbids_url(&self, url: &str) -> bool {
        let Some(pattern) = &self.pattern else { return true };
        // One that cannot be read is refused by the tool itself.
        reqwest::Url::parse(url.trim()).is_ok_and(|url| url_matches(&pattern.text, &url))
    }

    /// A command or part of one, as written. A wildcard stands for no operator, and for nothing of `spelled`.
    pub(super) fn permits_command(&self, source: &str, spelled: &Spelled<'_>) -> bool {
        let Some(pattern) = &self.pattern else { return spelled.0.is_empty() };
        let text = pattern.text.as_str();
        let alone = text.strip_suffix(" *").is_some_and(|text| shell::matches_pattern(text, source));
        (alone || shell::matches_pattern(text, source)) && spelled.all_in(text)
    }

    /// Whether anything the command runs, by whatever way, is what the pattern names, with whatever arguments.
    pub(super) fn forbids_command(&self, command: &Command) -> bool {
        let Some(pattern) = &self.pattern else { return true };
        if text_matches(&pattern.text, command.text.trim()) {
            return true;
        }
        let commands = command.parts.iter().flatten().flat_map(|part| &part.inner.commands);
        commands.into_iter().any(|words| forbids_words(&pattern.text, words))
    }

    /// Whether the command may run what the pattern names without that being seen.
    pub(super) fn command_in_doubt(&self, command: &Command) -> bool {
        let Some(pattern) = &self.pattern else { return false };
        let Ok(parts) = &command.parts else { return true };
        let program = pattern.text.split_whitespace().next().unwrap_or_default();
        parts.iter().any(|part| {
            part.inner.unknown
                || part.inner.commands.iter().any(|words| {
                    let uncertain = words.iter().any(|word| !word.fixed);
                    uncertain
                        && words.first().is_some_and(|first| text_matches(program, &program_of(&first.text)))
                })
        })
    }
}

fn forbids_words(pattern: &str, words: &[Word]) -> bool {
    let Some((first, rest)) = words.split_first() else { return false };
    let rest: String = rest.iter().flat_map(|word| [" ", word.text.as_str()]).collect();
    let further = format!("{pattern} *");
    let less = pattern.strip_suffix(" *");
    [program_of(&first.text), first.text.clone()].iter().any(|program| {
        let text = format!("{program}{rest}");
        text_matches(pattern, &text)
            || text_matches(&further, &text)
            || less.is_some_and(|pattern| text_matches(pattern, &text))
    })
}

/// With a scheme the whole address is compared, else the host; `.example.com` is also what lies below it.
fn url_matches(pattern: &str, url: &reqwest::Url) -> bool {
    let pattern = pattern.strip_prefix("domain:").unwrap_or(pattern);
    if pattern.contains("://") {
        return text_matches(pattern, url.as_str());
    }
    let host = &crate::tools::address::host_of(url).unwrap_or_default();
    match pattern.strip_prefix('.') {
        Some(domain) => text_matches(domain, host) || text_matches(&format!("*{pattern}"), host),
        None => text_matches(pattern, host),
    }
}

fn path_pattern(text: &str, home: Option<&Path>) -> Result<Option<PathPattern>, String> {
    let plain = text.trim_end_matches('/');
    if text.contains("://") {
        return Ok(None);
    }
    if plain.is_empty() {
        return PathGlob::new("/**").map(|glob| Some(PathPattern::Absolute(glob)));
    }
    if let Some(below) = plain.strip_prefix('~') {
        let home = home.ok_or_else(|| "there is no home folder for `~`".to_owned())?;
        if !below.is_empty() && !below.starts_with('/') {
            return Err("only `~/` stands for a home folder".to_owned());
        }
        let home = globset::escape(&home.to_string_lossy());
        return PathGlob::new(&format!("{home}{below}")).map(|glob| Some(PathPattern::Absolute(glob)));
    }
    let relative = plain.strip_prefix("./").unwrap_or(plain);
    Ok(Some(if Path::new(plain).is_absolute() {
        PathPattern::Absolute(PathGlob::new(plain)?)
    } else if relative.contains('/') || plain.len() > relative.len() {
        PathPattern::Relative(PathGlob::new(relative)?)
    } else {
        PathPattern::Name(PathGlob::new(&format!("**/{relative}"))?)
    }))
}
