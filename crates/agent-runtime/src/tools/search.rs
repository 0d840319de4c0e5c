//! The search itself: walks, reads, matches and words the hits. Blocking; ends when cancelled or when enough
//! was found.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use grep_matcher::LineTerminator;
use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use ignore::{DirEntry, WalkBuilder};
use tokio_util::sync::CancellationToken;

use super::grep::Glob;
use super::support::explain;
use super::{Place, ToolCx, anchored};

/// Matching lines shown.
const MAX_MATCHES: usize = 200;
/// Bytes shown altogether.
const MAX_SHOWN_BYTES: usize = 64 * 1024;
/// Characters shown of a line.
const MAX_LINE_CHARS: usize = 400;
/// The longest line that is searched; a file with a longer one is named as skipped.
const MAX_LINE_BYTES: usize = 32 * 1024 * 1024;
/// Folders of version control itself and of milk, which hold no text of the user's.
const SKIPPED: [&str; 4] = [".git", ".hg", ".milk", ".svn"];

/// What is searched for, and in which files.
#[derive(Debug)]
pub(crate) struct Search {
    pub(crate) matcher: RegexMatcher,
    pub(crate) glob: Option<Glob>,
    pub(crate) recursive: bool,
    pub(crate) include_ignored: bool,
    pub(crate) context: usize,
}

/// Searches the file or folder at `place`.
pub(crate) fn run(search: &Search, place: &Place, cx: &ToolCx) -> Result<String, String> {
    let label = place.label(&cx.workspace);
    let found = std::fs::symlink_metadata(&place.real).map_err(|error| explain(&label, &error))?;
    let mut hits =
        Hits { cx, shown: String::new(), matches: 0, full: false, searched: 0, hidden: 0, notes: Vec::new() };
    let mut searcher = SearcherBuilder::new()
        .line_number(true)
        .line_terminator(LineTerminator::crlf())
        .before_context(search.context)
        .after_context(search.context)
        .heap_limit(Some(MAX_LINE_BYTES))
        .binary_detection(BinaryDetection::quit(0))
        .build();
    if found.is_dir() {
        let hidden = cx.hidden("grep");
        for entry in walk(&place.real, search.recursive, search.include_ignored) {
            if hits.full || cx.cancel.is_cancelled() {
                break;
            }
            // What cannot be entered is not there for this user.
            let Ok(entry) = entry else { continue };
            if !wanted(search, &entry, &place.real) {
                continue;
            }
            if hidden(entry.path()) {
                hits.hidden += 1;
                continue;
            }
            hits.search(&mut searcher, &search.matcher, &place.below(entry.path()), false);
        }
    } else {
        hits.search(&mut searcher, &search.matcher, place, true);
    }
    if cx.cancel.is_cancelled() {
        return Err("cancelled".to_owned());
    }
    Ok(hits.finish(search, &label))
}

/// All below a folder, by name; without what version control and milk keep for themselves and, unless it is wanted, what
/// ignore files name. Links are told but not followed.
pub(crate) fn walk(root: &Path, recursive: bool, include_ignored: bool) -> ignore::Walk {
    let mut walk = WalkBuilder::new(root);
    walk.hidden(false)
        .follow_links(false)
        // The user's own list lies in a home folder, which is none of a library's business.
        .git_global(false)
        .require_git(false)
        .sort_by_file_name(Ord::cmp)
        .filter_entry(|entry| !SKIPPED.iter().any(|name| entry.file_name() == *name && entry.depth() > 0));
    if include_ignored {
        walk.git_ignore(false).git_exclude(false).ignore(false);
    }
    if !recursive {
        walk.max_depth(Some(1));
    }
    walk.build()
}

fn wanted(search: &Search, entry: &DirEntry, root: &Path) -> bool {
    let below = entry.path().strip_prefix(root).unwrap_or(entry.path());
    entry.file_type().is_some_and(|kind| kind.is_file())
        && search.glob.as_ref().is_none_or(|glob| glob.admits(below))
}

/// What was found so far.
struct Hits<'a> {
    cx: &'a ToolCx,
    shown: String,
    matches: usize,
    full: bool,
    searched: usize,
    /// Files that rules keep from the search.
    hidden: usize,
    notes: Vec<String>,
}

impl Hits<'_> {
    fn search(&mut self, searcher: &mut Searcher, matcher: &RegexMatcher, place: &Place, named: bool) {
        let label = place.label(&self.cx.workspace);
        let file = match anchored::open_file(place) {
            Ok(file) => file,
            Err(error) if named => return self.notes.push(explain(&label, &error)),
            // Gone or closed to us since the walk saw it.
            Err(_) => return,
        };
        self.searched += 1;
        let before = (self.shown.len(), self.matches);
        let reader = Cancellable { file, cancel: &self.cx.cancel };
        let mut sink = FileSink { label: &label, hits: self, binary: false };
        let done = searcher.search_reader(matcher, reader, &mut sink);
        let binary = sink.binary;
        if binary {
            // Matches before the first NUL say nothing about a text.
            self.shown.truncate(before.0);
            self.matches = before.1;
            if named {
                self.notes.push(format!("{label} is a binary file and is not searched"));
            }
        }
        if let Err(error) = done
            && !self.cx.cancel.is_cancelled()
        {
            self.notes.push(format!("{label} was not searched to its end: {error}"));
        }
    }

    fn push(&mut self, label: &str, number: Option<u64>, mark: char, line: &[u8]) {
        let line = String::from_utf8_lossy(line);
        let line = line.trim_end_matches(['\n', '\r']);
        let shown: String = line.chars().take(MAX_LINE_CHARS).collect();
        let cut = if shown.len() < line.len() { " [… line cut]" } else { "" };
        // Writing to a string cannot fail.
        let _ = writeln!(self.shown, "{label}{mark}{}{mark}{shown}{cut}", number.unwrap_or(0));
        self.full |= self.matches >= MAX_MATCHES || self.shown.len() >= MAX_SHOWN_BYTES;
    }

    fn finish(mut self, search: &Search, label: &str) -> String {
        if self.matches == 0 {
            let ignored = if search.include_ignored { "" } else { "; what .gitignore names is not searched" };
            let _ = write!(self.shown, "[no match in {label} ({} files searched{ignored})]", self.searched);
        } else if self.full {
            let _ = write!(
                self.shown,
                "[stopped after {} matches; narrow the pattern, path or glob]",
                self.matches
            );
        }
        if self.hidden > 0 {
            let files = if self.hidden == 1 { "file was" } else { "files were" };
            let _ = write!(self.shown, "\n[{} {files} not searched, by the user's rules]", self.hidden);
        }
        for note in self.notes.iter().take(10) {
            let _ = write!(self.shown, "\n[{note}]");
        }
        self.shown.trim_end_matches('\n').to_owned()
    }
}

/// Takes down one file's hits.
struct FileSink<'a, 'h> {
    label: &'a str,
    hits: &'a mut Hits<'h>,
    binary: bool,
}

impl Sink for FileSink<'_, '_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        self.hits.matches += 1;
        self.hits.push(self.label, found.line_number(), ':', found.bytes());
        Ok(!self.hits.full)
    }

    fn context(&mut self, _: &Searcher, line: &SinkContext<'_>) -> Result<bool, io::Error> {
        self.hits.push(self.label, line.line_number(), '-', line.bytes());
        Ok(!self.hits.full)
    }

    fn context_break(&mut self, _: &Searcher) -> Result<bool, io::Error> {
        self.hits.shown.push_str("--\n");
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> Result<bool, io::Error> {
        self.binary = true;
        Ok(false)
    }
}

/// A file whose reading fails once cancelled.
struct Cancellable<'a> {
    file: File,
    cancel: &'a CancellationToken,
}

impl Read for Cancellable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() {
            return Err(io::Error::other("cancelled"));
        }
        self.file.read(buffer)
    }
}
