//! Reads shell text as the simple commands it may run: through lists, pipes, groups, loops, conditions and `$(...)`.
//!
//! It is the part of the grammar that POSIX shells and bash read alike; everything else is refused, with a word for
//! what it was, and whoever asked must then take the text for one that may do anything. Order and nesting are not
//! kept: what is found is all that might run. Pure; knows nothing of what may run unasked.

use std::fmt;

use super::script_word::{Ends, Word};
use super::text::is_deceptive;

/// Bytes of a text that is read at all.
const MAX_BYTES: usize = 64 * 1024;
/// Simple commands in one text.
const MAX_COMMANDS: usize = 128;
/// How deep substitutions and groups may stand in each other.
pub(super) const MAX_DEPTH: usize = 12;

/// Words that shape what follows and are no commands, where a command may begin.
const STRUCTURE: [&str; 12] =
    ["if", "then", "elif", "else", "fi", "while", "until", "do", "done", "{", "}", "!"];

/// Words that begin what is not read here, where a command may begin.
const REFUSED: [&str; 8] = ["case", "esac", "select", "function", "coproc", "[[", "]]", "in"];

/// A text that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Script {
    /// Every simple command that might run, inner ones included.
    pub(crate) commands: Vec<Simple>,
    /// Whether the text is one simple command and nothing else: no operator, group, substitution or comment.
    pub(crate) plain: bool,
}

/// One simple command: assignments, words and redirections. Without words it is one of the others alone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Simple {
    /// `NAME=value` before the words.
    pub(crate) assignments: Vec<String>,
    /// The program and its arguments.
    pub(crate) words: Vec<Word>,
    /// Files it is connected with.
    pub(crate) redirects: Vec<Redirect>,
    /// As it is written.
    pub(crate) source: String,
}

/// A file at one end of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Redirect {
    /// The file.
    pub(crate) to: Word,
    /// Whether it is (also) written.
    pub(crate) writes: bool,
}

/// Why a text was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unreadable(pub(crate) &'static str);

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Script {
    /// Reads `text`, which `sh -c` would be given.
    ///
    /// # Errors
    /// What stood in the way.
    pub(crate) fn read(text: &str) -> Result<Self, Unreadable> {
        Self::read_at(text, 0)
    }

    /// Reads a text that is part of another one, `depth` levels down.
    pub(crate) fn read_at(text: &str, depth: usize) -> Result<Self, Unreadable> {
        if cfg!(windows) {
            return Err(Unreadable("cmd.exe reads text in ways of its own"));
        }
        if text.len() > MAX_BYTES {
            return Err(Unreadable("it is very long"));
        }
        if text.chars().any(|c| is_deceptive(c) && !matches!(c, '\n' | '\t')) {
            return Err(Unreadable("it contains invisible or control characters"));
        }
        let chars: Vec<char> = text.chars().collect();
        let mut reader = Reader { chars: &chars, at: 0, depth, commands: Vec::new(), plain: true };
        reader.list(false)?;
        if reader.commands.is_empty() {
            return Err(Unreadable("there is no command in it"));
        }
        Ok(Self { plain: reader.plain && reader.commands.len() == 1, commands: reader.commands })
    }

    /// The words of a text that is one simple command, all of them certain; none otherwise.
    pub(crate) fn words(&self) -> Option<Vec<String>> {
        let [command] = self.commands.as_slice() else { return None };
        if !self.plain || !command.redirects.is_empty() {
            return None;
        }
        command.certain_words()
    }
}

impl Simple {
    /// The words, where nothing but they decides what runs: no assignment, and no word the shell would change.
    pub(crate) fn certain_words(&self) -> Option<Vec<String>> {
        let certain = self.assignments.is_empty() && self.words.iter().all(|word| word.fixed);
        (certain && !self.words.is_empty()).then(|| self.words.iter().map(|word| word.text.clone()).collect())
    }

    fn is_empty(&self) -> bool {
        self.assignments.is_empty() && self.words.is_empty() && self.redirects.is_empty()
    }
}

pub(super) struct Reader<'a> {
    pub(super) chars: &'a [char],
    pub(super) at: usize,
    pub(super) depth: usize,
    pub(super) commands: Vec<Simple>,
    pub(super) plain: bool,
}

impl Reader<'_> {
    pub(super) fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    /// Reads commands up to the end, or up to the `)` that closes a group or substitution.
    pub(super) fn list(&mut self, closed: bool) -> Result<(), Unreadable> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Unreadable("it is nested very deeply"));
        }
        let mut simple = Simple::default();
        let mut begin = self.at;
        loop {
            let Some(c) = self.peek(0) else {
                if closed {
                    return Err(Unreadable("a `(` is not closed"));
                }
                self.finish(&mut simple, begin)?;
                break;
            };
            match c {
                ' ' | '\t' => self.at += 1,
                '\\' if self.peek(1) == Some('\n') => self.at += 2,
                '#' => self.comment(),
                ';' | '\n' | '&' | '|' => {
                    self.finish(&mut simple, begin)?;
                    self.operator(c)?;
                    begin = self.at;
                }
                '(' => {
                    if !simple.is_empty() || self.peek(1) == Some('(') {
                        return Err(Unreadable("it defines a function or calculates"));
                    }
                    self.plain = false;
                    self.at += 1;
                    self.list(true)?;
                    begin = self.at;
                }
                ')' if closed => {
                    self.finish(&mut simple, begin)?;
                    self.at += 1;
                    break;
                }
                ')' => return Err(Unreadable("a `)` closes nothing")),
                '<' | '>' => simple.redirects.push(self.redirect()?),
                _ => self.word_of(&mut simple)?,
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn comment(&mut self) {
        self.plain = false;
        while self.peek(0).is_some_and(|c| c != '\n') {
            self.at += 1;
        }
    }

    fn operator(&mut self, c: char) -> Result<(), Unreadable> {
        if c == '\n' && self.chars[self.at..].iter().all(|c| c.is_whitespace()) {
            self.at = self.chars.len();
            return Ok(());
        }
        self.plain = false;
        let next = self.peek(1);
        match (c, next) {
            ('&', Some('>')) | ('|', Some('&')) => {
                return Err(Unreadable("shells disagree about `&>` and `|&`"));
            }
            (';', Some(';' | '&')) => return Err(Unreadable("it has a `case`")),
            ('&', Some('&')) | ('|', Some('|')) => self.at += 2,
            _ => self.at += 1,
        }
        Ok(())
    }

    fn redirect(&mut self) -> Result<Redirect, Unreadable> {
        let first = self.peek(0);
        self.at += 1;
        let mut writes = first == Some('>');
        match (first, self.peek(0)) {
            (_, Some('(')) => return Err(Unreadable("it substitutes a process")),
            (Some('<'), Some('<')) => return Err(Unreadable("it has text of its own (`<<`)")),
            (_, Some('&')) => {
                self.at += 1;
                return self.duplicate();
            }
            (Some('<'), Some('>')) => {
                writes = true;
                self.at += 1;
            }
            (Some('>'), Some('>' | '|')) => self.at += 1,
            _ => {}
        }
        while let Some(' ' | '\t') = self.peek(0) {
            self.at += 1;
        }
        if self.peek(0).is_none_or(|c| "\n;&|<>()#".contains(c)) {
            return Err(Unreadable("a redirection leads nowhere"));
        }
        let word = self.word()?;
        Ok(Redirect { to: word.word, writes })
    }

    /// `2>&1`, `>&-`: another descriptor of the same command; no file.
    fn duplicate(&mut self) -> Result<Redirect, Unreadable> {
        let begin = self.at;
        while self.peek(0).is_some_and(|c| c.is_ascii_digit() || c == '-') {
            self.at += 1;
        }
        let ends = self.peek(0).is_none_or(|c| " \t\n;&|<>)".contains(c));
        if self.at == begin || !ends {
            return Err(Unreadable("shells disagree about `>&` before a name"));
        }
        Ok(Redirect { to: Word::fixed("/dev/null"), writes: false })
    }

    fn word_of(&mut self, simple: &mut Simple) -> Result<(), Unreadable> {
        let first = simple.is_empty();
        let found = self.word()?;
        if found.bare && found.ends == Ends::Redirect && found.word.text.bytes().all(|b| b.is_ascii_digit()) {
            // The number of a descriptor: the redirection follows at once.
            return Ok(());
        }
        if first && found.bare && STRUCTURE.contains(&found.word.text.as_str()) {
            self.plain = false;
            return Ok(());
        }
        if first && found.bare && REFUSED.contains(&found.word.text.as_str()) {
            return Err(Unreadable("it has a `case`, `[[` or a function"));
        }
        if found.braces {
            return Err(Unreadable("it has braces that some shells expand"));
        }
        if simple.words.is_empty() {
            match found.assigns {
                Some(true) => {
                    simple.assignments.push(found.word.text);
                    return Ok(());
                }
                Some(false) => return Err(Unreadable("shells disagree whether a word assigns")),
                None => {}
            }
        }
        simple.words.push(found.word);
        Ok(())
    }

    fn finish(&mut self, simple: &mut Simple, begin: usize) -> Result<(), Unreadable> {
        let mut done = std::mem::take(simple);
        if done.is_empty() {
            return Ok(());
        }
        if self.commands.len() >= MAX_COMMANDS {
            return Err(Unreadable("it has very many commands"));
        }
        let source: String = self.chars[begin..self.at].iter().collect();
        source.trim().clone_into(&mut done.source);
        let is = |word: Option<&Word>, text: &str| word.is_some_and(|word| word.text == text && word.fixed);
        if is(done.words.first(), "for") {
            // The head of a loop runs nothing; what stands in it was read already.
            self.plain = false;
            if done.words.len() == 2 || is(done.words.get(2), "in") {
                return Ok(());
            }
            return Err(Unreadable("a loop's head is not understood"));
        }
        self.commands.push(done);
        Ok(())
    }
}
