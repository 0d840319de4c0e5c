//! Looks at a command as a whole: what it may run, and which files outside the session's folders it names. Reads
//! the disk for where paths lead, changes nothing, and knows no rule and no mode.

use std::path::PathBuf;

use session_model::GrantScope;

use super::Workspace;
use super::command_prefix::prefix_of_words;
use super::paths::Place;
use super::risky::risky_words;
use super::script::{Script, Simple, Unreadable};
pub(crate) use super::script_word::UNKNOWN;
use super::script_word::Word;
use super::shell::is_a_program;
use super::wrappers::{Inner, inner};

/// Folders that `cd` may lead to in one command; more are not followed.
const MAX_BASES: usize = 8;

/// A command as it was looked at.
#[derive(Debug)]
pub(crate) struct Command {
    /// Its text.
    pub(crate) text: String,
    /// The simple commands in it, or why they cannot be told.
    pub(crate) parts: Result<Vec<Part>, Unreadable>,
}

/// One simple command of it.
#[derive(Debug)]
pub(crate) struct Part {
    /// As it was read.
    pub(crate) simple: Simple,
    /// Its words, where nothing else decides what runs.
    pub(crate) words: Option<Vec<String>>,
    /// What it runs besides.
    pub(crate) inner: Inner,
    /// The files it names, without links; not only those that exist.
    pub(crate) names: Vec<PathBuf>,
    /// Those of them that it is made to write.
    pub(crate) writes: Vec<Written>,
    /// What it names outside the session's folders.
    pub(crate) outside: Vec<Outside>,
    /// What it names that leads nobody knows where.
    pub(crate) unjudged: Vec<String>,
}

/// A file that a redirection writes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Written {
    /// As written.
    pub(crate) text: String,
    /// Where it leads, if that is known.
    pub(crate) path: Option<PathBuf>,
}

/// A place outside the session's folders.
#[derive(Debug)]
pub(crate) struct Outside {
    /// As written.
    pub(crate) text: String,
    /// Where it leads.
    pub(crate) path: PathBuf,
    /// The leave for it.
    pub(crate) scope: GrantScope,
}

impl Command {
    /// Looks at `text`, which would run in the workspace's folder.
    pub(crate) fn look(text: &str, workspace: &Workspace) -> Self {
        let parts = Script::read(text).map(|script| {
            let mut bases = vec![workspace.clone()];
            script.commands.into_iter().map(|simple| Part::look(simple, &mut bases)).collect()
        });
        Self { text: text.to_owned(), parts }
    }

    /// What "always" would grant: a narrow prefix for each part and each place outside; nothing when any part has
    /// none or does more than its words say.
    pub(crate) fn scopes(&self) -> Vec<GrantScope> {
        let Ok(parts) = &self.parts else { return Vec::new() };
        let mut scopes = Vec::new();
        for part in parts {
            let Some(prefix) = part.prefix() else { return Vec::new() };
            push_new(&mut scopes, GrantScope::CommandPrefix(prefix));
        }
        for outside in parts.iter().flat_map(|part| &part.outside) {
            push_new(&mut scopes, outside.scope.clone());
        }
        scopes
    }
}

impl Part {
    fn look(simple: Simple, bases: &mut Vec<Workspace>) -> Self {
        let words = simple.certain_words().filter(|words| is_a_program(words));
        let inner = inner(&simple.words);
        let mut part = Self {
            words,
            inner,
            names: Vec::new(),
            writes: Vec::new(),
            outside: Vec::new(),
            unjudged: Vec::new(),
            simple,
        };
        part.name_files(bases);
        part.follow_cd(bases);
        part
    }

    /// Whether its words say what it does: no option makes it do something else, and it is known where all it names
    /// leads.
    pub(crate) fn is_certain(&self) -> bool {
        let Some(words) = &self.words else { return false };
        self.unjudged.is_empty() && risky_words(words).next().is_none()
    }

    /// The texts that a wildcard does not stand for: options that do something else, and places elsewhere.
    pub(crate) fn to_be_spelled(&self) -> impl Iterator<Item = &str> {
        let risky = self.words.as_deref().unwrap_or_default();
        let outside = self.outside.iter().map(|outside| outside.text.as_str());
        risky_words(risky).chain(outside).chain(self.unjudged.iter().map(String::as_str))
    }

    /// What it names, itself or in a text for another shell, that leads nobody knows where.
    pub(crate) fn unjudged(&self) -> impl Iterator<Item = &str> {
        self.unjudged.iter().chain(&self.inner.homes).map(String::as_str)
    }

    fn prefix(&self) -> Option<String> {
        if !self.is_certain() || !self.writes.is_empty() {
            return None;
        }
        prefix_of_words(self.words.as_ref()?)
    }

    fn name_files(&mut self, bases: &[Workspace]) {
        let simple = std::mem::take(&mut self.simple);
        for word in simple.words.iter().skip(1) {
            self.name_word(word, bases);
        }
        // A program named by its path is a file like any other.
        if let Some(first) = simple.words.first().filter(|word| word.text.contains('/')) {
            self.name_word(first, bases);
        }
        for assignment in &simple.assignments {
            self.name_word(&Word { text: assignment.clone(), fixed: true }, bases);
        }
        for redirect in &simple.redirects {
            let before = self.names.len();
            self.name_word(&redirect.to, bases);
            if redirect.writes && redirect.to.text != "/dev/null" {
                let path = self.names.get(before).cloned();
                self.writes.push(Written { text: redirect.to.text.clone(), path });
            }
        }
        self.simple = simple;
        // What a text for another shell names is named, but where it leads is not judged: it has no narrow leave.
        let (outside, unjudged) = (self.outside.len(), self.unjudged.len());
        for word in std::mem::take(&mut self.inner.files) {
            self.name_word(&word, bases);
            self.inner.unknown |= !word.fixed;
        }
        self.outside.truncate(outside);
        self.inner.homes = self.unjudged.split_off(unjudged);
    }

    fn name_word(&mut self, word: &Word, bases: &[Workspace]) {
        if !word.fixed {
            push_new(&mut self.unjudged, word.text.clone());
            return;
        }
        for text in paths_in(&word.text) {
            if text.starts_with('~') {
                // Somebody's home folder.
                push_new(&mut self.unjudged, text.to_owned());
                continue;
            }
            for base in bases {
                match Place::resolve(base, text) {
                    Ok(place) => self.name_place(text, &place),
                    // A loop of links: not to be judged.
                    Err(_) => push_new(&mut self.unjudged, text.to_owned()),
                }
            }
        }
    }

    fn name_place(&mut self, text: &str, place: &Place) {
        push_new(&mut self.names, place.shown.clone());
        push_new(&mut self.names, place.real.clone());
        let known = self.outside.iter().any(|outside| outside.path == place.shown && outside.text == text);
        if !place.inside && !known {
            let (path, scope) = (place.shown.clone(), place.outside_scope());
            self.outside.push(Outside { text: text.to_owned(), path, scope });
        }
    }

    /// After `cd x`, later paths may begin there, or, if it failed or was in a group of its own, where they did.
    fn follow_cd(&mut self, bases: &mut Vec<Workspace>) {
        let word = |at: usize| self.simple.words.get(at).map(|word| word.text.as_str());
        if !matches!(word(0), Some("cd" | "chdir" | "pushd" | "popd")) {
            return;
        }
        let target = word(1).filter(|text| self.simple.words.len() == 2 && !text.starts_with(['-', '+']));
        let Some(target) = target.map(str::to_owned).filter(|_| self.unjudged.is_empty()) else {
            self.unjudged.push("cd".to_owned());
            return;
        };
        let reached: Vec<Workspace> = bases
            .iter()
            .filter_map(|base| {
                let place = Place::resolve(base, &target).ok()?;
                Some(Workspace {
                    cwd: place.shown,
                    additional_roots: all_roots(base),
                    host: base.host.clone(),
                })
            })
            .collect();
        for base in reached {
            push_new(bases, base);
        }
        if bases.len() > MAX_BASES {
            bases.truncate(MAX_BASES);
            self.unjudged.push("cd".to_owned());
        }
    }
}

/// The folders that count as inside, also once the current folder is another.
fn all_roots(base: &Workspace) -> Vec<PathBuf> {
    std::iter::once(&base.cwd).chain(&base.additional_roots).cloned().collect()
}

pub(crate) fn push_new<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

/// The parts of an argument that may be a path: all of it, what follows an option's name, or its letter.
fn paths_in(word: &str) -> impl Iterator<Item = &str> {
    let is_option = word.starts_with('-');
    let marks = ["/", "~", ".."].into_iter().filter_map(|mark| word.find(mark)).min();
    let starts = [
        (!is_option).then_some(0),
        word.find('=').map(|at| at + 1),
        word.find(':').map(|at| at + 1).filter(|_| !is_url(word)),
        word.get(..7).filter(|scheme| scheme.eq_ignore_ascii_case("file://")).map(str::len),
        word.starts_with('@').then_some(1),
        marks.filter(|_| is_option),
        (is_option && word.is_char_boundary(2)).then_some(2),
    ];
    let parts = starts.into_iter().flatten().filter_map(|at| word.get(at..));
    parts.filter(|part| !part.is_empty() && *part != "/dev/null")
}

/// Whether a word is the address of something that is no file.
fn is_url(word: &str) -> bool {
    const SCHEMES: [&str; 7] = ["http", "https", "ssh", "git", "ftp", "ws", "wss"];
    word.split_once("://")
        .is_some_and(|(scheme, _)| SCHEMES.iter().any(|known| known.eq_ignore_ascii_case(scheme)))
}
