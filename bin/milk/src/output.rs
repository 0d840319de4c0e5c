//! The program's own words: standard output for results, standard error for everything else.

use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write as _};

use crate::places::variable;

/// Writes a result to standard output.
pub(crate) fn print(text: impl Display) -> io::Result<()> {
    let mut out = io::stdout().lock();
    write!(out, "{text}")?;
    out.flush()
}

/// Says why the program ends without success. There is nowhere to report that this failed.
pub(crate) fn complain(error: &dyn Display) {
    drop(writeln!(io::stderr(), "milk: {}", one_line(&error.to_string())));
}

/// Says something that is no result and no reason to stop.
pub(crate) fn remark(text: impl Display) {
    drop(writeln!(io::stderr(), "milk: {text}"));
}

fn one_line(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

/// How text is set off on a terminal; plain where it is none, or where the user wants none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style {
    colour: bool,
}

impl Style {
    /// No colours.
    #[cfg(test)]
    pub(crate) const PLAIN: Self = Self { colour: false };
    /// Colours, wherever the text goes.
    #[cfg(test)]
    pub(crate) const COLOURED: Self = Self { colour: true };

    /// What standard output can show. `NO_COLOR` (<https://no-color.org>) and a dumb terminal turn colours off.
    pub(crate) fn of_stdout() -> Self {
        let refused = variable("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = variable("TERM").is_some_and(|term| term == "dumb");
        Self { colour: io::stdout().is_terminal() && !refused && !dumb }
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    pub(crate) fn red(self, text: &str) -> String {
        self.paint("31", text)
    }

    pub(crate) fn green(self, text: &str) -> String {
        self.paint("32", text)
    }

    pub(crate) fn yellow(self, text: &str) -> String {
        self.paint("33", text)
    }

    pub(crate) fn cyan(self, text: &str) -> String {
        self.paint("36", text)
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.colour { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

/// Text from a model, a tool or a file, made harmless for a terminal: control characters could move the cursor,
/// retitle the window or hide what is asked. Tabs and line ends stay.
pub(crate) fn harmless(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\n' | '\t' => c,
            '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                '\u{fffd}'
            }
            c => c,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_not_steered_by_what_is_shown() {
        assert_eq!(
            harmless("a\u{1b}[2Jb\u{7}\r\u{9b}31m\u{202e}c\n\td"),
            "a\u{fffd}[2Jb\u{fffd}\u{fffd}\u{fffd}31m\u{fffd}c\n\td"
        );
        assert_eq!(harmless("héllo → 世界"), "héllo → 世界");
    }

    #[test]
    fn colours_are_only_added_where_wanted() {
        assert_eq!(Style::PLAIN.red("x"), "x");
        assert_eq!(Style::COLOURED.red("x"), "\u{1b}[31mx\u{1b}[0m");
    }

    #[test]
    fn a_complaint_is_one_line() {
        assert_eq!(one_line("a\n  b\n\nc"), "a b c");
    }
}
