//! Reads shell text well enough to say what a permission for one command covers. In doubt a command is not
//! simple and covered by nothing: an operator, an expansion, a newline or a character that is not what it looks
//! like always ends in a question to the user. Follows POSIX sh; where bash reads a text differently, both
//! readings must be harmless. Pure.

use super::script::Script;
use super::text::is_deceptive;

/// Words that make the shell read what follows in another way, or run it.
const RESERVED: [&str; 30] = [
    "!", "[[", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in",
    "select", "then", "time", "until", "while", ".", "alias", "builtin", "command", "eval", "exec", "source",
    "trap", "unalias", "env", "export",
];

/// The words of `command`, if it is one simple command: no operator, substitution, expansion of variables or
/// file names, assignment, comment or second line.
#[must_use]
pub fn words(command: &str) -> Option<Vec<String>> {
    Script::read(command).ok()?.words().filter(|words| is_a_program(words))
}

/// Whether the words begin with a program, and not with what the shell itself makes something of.
pub(crate) fn is_a_program(words: &[String]) -> bool {
    words.first().is_some_and(|first| {
        !first.is_empty()
            && !RESERVED.contains(&first.as_str())
            && !first.starts_with(['~', '#', '%'])
            && !first.contains([' ', '\t', '\n', '='])
    })
}

/// A word as the shell reads it back: in quotes where it is not plain.
#[must_use]
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Whether a permission for `prefix` covers `command`: both are simple commands and the words of the first
/// begin those of the second.
#[must_use]
pub fn covers(prefix: &str, command: &str) -> bool {
    let (Some(prefix), Some(command)) = (words(prefix), words(command)) else { return false };
    command.starts_with(&prefix)
}

/// Whether `command` as a whole matches `pattern`, in which `*` stands for any text and `?` for any character.
/// Neither stands for an operator, an expansion or a line end: the command has those exactly where the pattern
/// has them.
#[must_use]
pub fn matches_pattern(pattern: &str, command: &str) -> bool {
    let (Some(pattern), Some(command)) = (Parts::of(pattern), Parts::of(command)) else { return false };
    pattern.specials == command.specials
        && pattern.blocks.iter().zip(&command.blocks).all(|(glob, text)| glob_matches(glob, text))
}

/// A command cut at everything that is more than text.
#[derive(Debug)]
struct Parts {
    blocks: Vec<Vec<char>>,
    specials: Vec<char>,
}

impl Parts {
    /// None when a quote is not closed.
    fn of(text: &str) -> Option<Self> {
        let mut parts = Self { blocks: vec![Vec::new()], specials: Vec::new() };
        let mut quote = None;
        let mut chars = text.trim_matches([' ', '\t', '\n']).chars();
        while let Some(c) = chars.next() {
            match (quote, c) {
                (None, '\'' | '"') => quote = Some(c),
                (Some(open), _) if open == c => quote = None,
                (None | Some('"'), '\\') => {
                    parts.push(c, false);
                    let escaped = chars.next()?;
                    // In double quotes the backslash before another character is itself text.
                    parts.push(escaped, false);
                    continue;
                }
                (None | Some(_), _) => {}
            }
            let special = match quote {
                None => ";&|<>()$`".contains(c),
                Some('"') => "$`".contains(c),
                Some(_) => false,
            };
            parts.push(c, special);
        }
        quote.is_none().then_some(parts)
    }

    fn push(&mut self, c: char, special: bool) {
        if special || is_deceptive(c) {
            self.specials.push(c);
            self.blocks.push(Vec::new());
        } else if let Some(block) = self.blocks.last_mut() {
            block.push(c);
        }
    }
}

pub(crate) fn glob_matches(glob: &[char], text: &[char]) -> bool {
    let (mut g, mut t) = (0, 0);
    // Where the last star stands, and how far it reaches.
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match glob.get(g) {
            Some('*') => {
                star = Some((g, t));
                g += 1;
            }
            Some(c) if *c == '?' || *c == text[t] => {
                g += 1;
                t += 1;
            }
            Some(_) | None => {
                let Some((at, reach)) = star else { return false };
                star = Some((at, reach + 1));
                g = at + 1;
                t = reach + 1;
            }
        }
    }
    glob[g..].iter().all(|c| *c == '*')
}
