//! Reads one word of shell text: quotes, escapes, and what the shell would put in place of a part of it. Pure.

use super::script::{Reader, Unreadable};

/// What stands for a part of a word that only the shell knows.
pub(crate) const UNKNOWN: char = '\u{fffd}';

/// A word as the program would get it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    /// Its text without quotes; [`UNKNOWN`] in place of what is not known.
    pub(crate) text: String,
    /// Whether the program gets exactly this text as one argument.
    pub(crate) fixed: bool,
}

impl Word {
    pub(crate) fn fixed(text: &str) -> Self {
        Self { text: text.to_owned(), fixed: true }
    }
}

/// What follows a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ends {
    /// `<` or `>`.
    Redirect,
    /// Anything else, or nothing.
    Other,
}

pub(super) struct Found {
    pub(super) word: Word,
    /// Written without any quote, escape or expansion.
    pub(super) bare: bool,
    /// Has braces outside quotes that bash might expand.
    pub(super) braces: bool,
    /// Whether it would assign a variable before a command: surely, perhaps (`Some(false)`), or not.
    pub(super) assigns: Option<bool>,
    pub(super) ends: Ends,
}

#[derive(Default)]
struct Building {
    text: String,
    changed: bool,
    quoted: bool,
    braces: bool,
    /// Where the first `=` outside quotes stands, and whether all before it was bare.
    equals: Option<(usize, bool)>,
}

impl Building {
    fn unknown(&mut self) {
        self.text.push(UNKNOWN);
        self.changed = true;
    }
}

impl Reader<'_> {
    /// Reads the word that begins here; there is one.
    pub(super) fn word(&mut self) -> Result<Found, Unreadable> {
        let mut building = Building::default();
        let mut read_any = false;
        while let Some(c) = self.peek(0) {
            match c {
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | ')' => break,
                '(' => return Err(Unreadable("it defines a function or has a pattern only bash knows")),
                '\'' => self.single_quoted(&mut building)?,
                '"' => self.double_quoted(&mut building)?,
                '\\' => self.escaped(&mut building)?,
                '`' => return Err(Unreadable("it has backquotes")),
                '$' => self.dollar(&mut building, false)?,
                '*' | '?' | '[' => {
                    self.at += 1;
                    building.text.push(c);
                    building.changed = true;
                }
                '{' | '}' => self.brace(c, &mut building),
                '=' => {
                    self.at += 1;
                    let bare = !building.quoted && !building.changed;
                    building.equals.get_or_insert((building.text.len(), bare));
                    building.text.push(c);
                }
                c if c.is_ascii() || c.is_alphanumeric() => {
                    self.at += 1;
                    building.text.push(c);
                }
                _ => return Err(Unreadable("it has a character that is easily mistaken")),
            }
            read_any = true;
        }
        if !read_any {
            return Err(Unreadable("a word is missing"));
        }
        Ok(self.found(building))
    }

    fn found(&self, building: Building) -> Found {
        let assigns = building.equals.map(|(at, bare)| bare && is_name(&building.text[..at]));
        let ends = if matches!(self.peek(0), Some('<' | '>')) { Ends::Redirect } else { Ends::Other };
        Found {
            bare: !building.quoted && !building.changed,
            braces: building.braces,
            assigns,
            ends,
            word: Word { text: building.text, fixed: !building.changed },
        }
    }

    /// `{}` is text in every shell; other braces may be expanded by some, or group when they stand alone.
    fn brace(&mut self, c: char, building: &mut Building) {
        if c == '{' && self.peek(1) == Some('}') {
            self.at += 2;
            building.text.push_str("{}");
            return;
        }
        self.at += 1;
        building.text.push(c);
        building.braces = true;
    }

    fn escaped(&mut self, building: &mut Building) -> Result<(), Unreadable> {
        match self.peek(1) {
            None => return Err(Unreadable("it ends in a backslash")),
            Some('\n') => {}
            Some(c) => {
                building.text.push(c);
                building.quoted = true;
            }
        }
        self.at += 2;
        Ok(())
    }

    fn single_quoted(&mut self, building: &mut Building) -> Result<(), Unreadable> {
        building.quoted = true;
        self.at += 1;
        loop {
            let c = self.peek(0).ok_or(Unreadable("a quote is not closed"))?;
            self.at += 1;
            if c == '\'' {
                return Ok(());
            }
            building.text.push(c);
        }
    }

    fn double_quoted(&mut self, building: &mut Building) -> Result<(), Unreadable> {
        building.quoted = true;
        self.at += 1;
        loop {
            let c = self.peek(0).ok_or(Unreadable("a quote is not closed"))?;
            match c {
                '"' => {
                    self.at += 1;
                    return Ok(());
                }
                '`' => return Err(Unreadable("it has backquotes")),
                '$' => self.dollar(building, true)?,
                '\\' => {
                    match self.peek(1).ok_or(Unreadable("a quote is not closed"))? {
                        '\n' => {}
                        c @ ('$' | '`' | '"' | '\\') => building.text.push(c),
                        c => building.text.extend(['\\', c]),
                    }
                    self.at += 2;
                }
                c => {
                    building.text.push(c);
                    self.at += 1;
                }
            }
        }
    }

    /// What begins with `$`: a variable, a substitution, or just the sign.
    fn dollar(&mut self, building: &mut Building, in_quotes: bool) -> Result<(), Unreadable> {
        match self.peek(1) {
            Some('(') => {
                if self.peek(2) == Some('(') {
                    return Err(Unreadable("it calculates"));
                }
                self.at += 2;
                self.plain = false;
                self.list(true)?;
                building.unknown();
            }
            Some('{') => {
                let name = self.chars[self.at + 2..].iter().take_while(|c| is_name_char(**c)).count();
                if name == 0 || self.peek(2 + name) != Some('}') {
                    return Err(Unreadable("it changes a variable's value as it is put in"));
                }
                self.at += name + 3;
                building.unknown();
            }
            Some(c) if is_name_char(c) && !c.is_ascii_digit() => {
                let name = self.chars[self.at + 1..].iter().take_while(|c| is_name_char(**c)).count();
                self.at += name + 1;
                building.unknown();
            }
            Some(c) if c.is_ascii_digit() || "?#@*$!-".contains(c) => {
                self.at += 2;
                building.unknown();
            }
            Some('"') if in_quotes => {
                self.at += 1;
                building.text.push('$');
            }
            None | Some(' ' | '\t' | '\n' | ';' | '&' | '|' | ')') => {
                self.at += 1;
                building.text.push('$');
            }
            Some(_) => return Err(Unreadable("shells disagree about what follows a `$`")),
        }
        Ok(())
    }
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && text.chars().all(is_name_char)
}
