//! Tags that an agent says in its text and that are meant for milk: `<milk:escalate:NONCE>why</milk:escalate:NONCE>`, and
//! the same with `need` and `percept`. All are taken out of what the user sees; only a wish to be relieved under the
//! session's own nonce has an effect, so that a file which is quoted has none. What stands in code is left alone.
//!
//! Pure; text may come in pieces that are split anywhere.

use crate::handover::HandoverSlot;
use crate::io::Sieve;

/// How all tags begin.
const OPENING: &str = "<milk:";
/// How their ends begin.
const CLOSING: &str = "</milk:";
/// The kinds there are.
const KINDS: [&str; 3] = ["escalate", "need", "percept"];
/// Characters of a nonce.
const NONCE: usize = 64;
/// Bytes of what a tag may enclose. Longer, and its end was forgotten: the text is shown.
const BODY: usize = 8 * 1024;

/// Takes the tags out of one agent's text.
#[derive(Debug)]
pub(crate) struct TagFilter {
    /// The nonce that counts, and where a wish to be relieved is left.
    wish: Option<(String, HandoverSlot)>,
    /// Whether the wish was said: what follows is no part of the answer.
    silent: bool,
    /// What cannot be judged yet.
    held: String,
    code: Code,
}

/// Where in Markdown the text is.
#[derive(Debug, Default)]
struct Code {
    /// The backticks that opened the code it is in, and whether they stood alone on their line.
    open: Option<(usize, bool)>,
    /// Backticks just seen, and whether they began their line.
    run: usize,
    run_begins: bool,
    /// Whether something else than space was seen on this line.
    inked: bool,
}

impl Code {
    /// One more character of the text.
    fn see(&mut self, c: char) {
        if c == '`' {
            if self.run == 0 {
                self.run_begins = !self.inked;
            }
            self.run += 1;
            self.inked = true;
            return;
        }
        self.end_run();
        if c == '\n' {
            // A span ends with its paragraph.
            if !self.inked && self.open.is_some_and(|(_, fence)| !fence) {
                self.open = None;
            }
            self.inked = false;
        } else if !c.is_whitespace() {
            self.inked = true;
        }
    }

    fn end_run(&mut self) {
        let run = std::mem::take(&mut self.run);
        if run == 0 {
            return;
        }
        self.open = match self.open {
            None => Some((run, run >= 3 && self.run_begins)),
            Some((ticks, true)) if run >= ticks && self.run_begins => None,
            Some((ticks, false)) if run == ticks => None,
            open => open,
        };
    }

    /// Whether the next character, which is no backtick, is code.
    fn holds_next(&mut self) -> bool {
        self.end_run();
        self.open.is_some()
    }
}

/// What begins at a `<`.
enum Found<'a> {
    /// Nothing of ours.
    Nothing,
    /// Perhaps something; more is needed.
    Unclear,
    /// A tag.
    Tag { kind: &'a str, nonce: &'a str, length: usize },
    /// The end of a tag that has no beginning.
    Closing { length: usize },
}

impl TagFilter {
    /// With `wish`, a wish under this nonce is left in this slot.
    pub(crate) fn new(wish: Option<(String, HandoverSlot)>) -> Self {
        Self { wish, silent: false, held: String::new(), code: Code::default() }
    }

    /// Takes what can be judged from what is held.
    fn sift(&mut self) -> String {
        let held = std::mem::take(&mut self.held);
        let mut shown = String::with_capacity(held.len());
        let mut at = 0;
        while let Some(c) = held[at..].chars().next() {
            if self.silent {
                return shown;
            }
            let rest = &held[at..];
            if c == '<' && !self.code.holds_next() {
                match found(rest) {
                    Found::Nothing => {}
                    Found::Closing { length } => {
                        at += length;
                        continue;
                    }
                    Found::Unclear => {
                        rest.clone_into(&mut self.held);
                        return shown;
                    }
                    Found::Tag { kind, nonce, length } => {
                        let inside = &rest[length..];
                        match end_of(inside, kind) {
                            Some((body, end)) => {
                                self.take(kind, nonce, body);
                                at += length + end;
                            }
                            None if inside.len() > BODY => at += length,
                            None => {
                                rest.clone_into(&mut self.held);
                                return shown;
                            }
                        }
                        continue;
                    }
                }
            }
            self.code.see(c);
            shown.push(c);
            at += c.len_utf8();
        }
        shown
    }

    fn take(&mut self, kind: &str, nonce: &str, body: &str) {
        if let Some((own, slot)) = &self.wish
            && kind == "escalate"
            && nonce == own
        {
            let reason = body.trim();
            slot.ask(if reason.is_empty() { "it asked to be relieved" } else { reason });
            self.silent = true;
        }
    }
}

impl Sieve for TagFilter {
    fn hear(&mut self, piece: &str) -> String {
        if self.silent {
            return String::new();
        }
        self.held.push_str(piece);
        self.sift()
    }

    fn rest(&mut self) -> String {
        let mut held = std::mem::take(&mut self.held);
        self.code = Code::default();
        match found(&held) {
            // A wish counts though its end was forgotten; of the others the text is shown.
            Found::Tag { kind, nonce, length } => {
                self.take(kind, nonce, &held[length..]);
                held = if self.silent { String::new() } else { held.split_off(length) };
            }
            Found::Closing { length } => held = held.split_off(length),
            Found::Unclear if held.starts_with(OPENING) || held.starts_with(CLOSING) => held.clear(),
            Found::Unclear | Found::Nothing => {}
        }
        held
    }
}

/// What begins at the beginning of `text`, which begins with `<` or is empty.
fn found(text: &str) -> Found<'_> {
    for (begin, closing) in [(OPENING, false), (CLOSING, true)] {
        if let Some(rest) = text.strip_prefix(begin) {
            return named(rest, begin.len(), closing);
        }
        if !text.is_empty() && begin.starts_with(text) {
            return Found::Unclear;
        }
    }
    Found::Nothing
}

/// The rest of a tag after its beginning of `before` bytes.
fn named(rest: &str, before: usize, closing: bool) -> Found<'_> {
    let Some(kind) = KINDS.into_iter().find(|kind| rest.starts_with(kind)) else {
        let may_become = KINDS.into_iter().any(|kind| kind.starts_with(rest));
        return if may_become { Found::Unclear } else { Found::Nothing };
    };
    let after = &rest[kind.len()..];
    let before = before + kind.len();
    if closing && after.starts_with('>') {
        return Found::Closing { length: before + 1 };
    }
    let Some(nonce) = after.strip_prefix(':') else {
        return if after.is_empty() { Found::Unclear } else { Found::Nothing };
    };
    let length = nonce.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_'));
    match length {
        None if nonce.len() <= NONCE => Found::Unclear,
        Some(length) if (1..=NONCE).contains(&length) && nonce[length..].starts_with('>') => {
            let whole = before + 1 + length + 1;
            if closing {
                Found::Closing { length: whole }
            } else {
                Found::Tag { kind: &rest[..kind.len()], nonce: &nonce[..length], length: whole }
            }
        }
        None | Some(_) => Found::Nothing,
    }
}

/// What a tag of this kind encloses, and where what follows it begins.
fn end_of<'a>(inside: &'a str, kind: &str) -> Option<(&'a str, usize)> {
    let mut from = 0;
    while let Some(at) = inside[from..].find(CLOSING).map(|at| from + at) {
        if inside[at + CLOSING.len()..].starts_with(kind)
            && let Found::Closing { length } = found(&inside[at..])
        {
            return Some((&inside[..at], at + length));
        }
        from = at + CLOSING.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is shown of `text`, and the wish in it.
    fn shown(pieces: &[&str]) -> (String, Option<String>) {
        let slot = HandoverSlot::default();
        let mut filter = TagFilter::new(Some(("n1".to_owned(), slot.clone())));
        let mut shown: String = pieces.iter().map(|piece| filter.hear(piece)).collect();
        shown.push_str(&filter.rest());
        (shown, slot.take())
    }

    #[test]
    fn tags_are_taken_out_and_only_the_own_wish_counts() {
        let long = format!("<milk:need:n1>{}", "x".repeat(BODY + 1));
        let rows: [(&str, &str, Option<&str>); 18] = [
            ("plain <b>text</b> a < b", "plain <b>text</b> a < b", None),
            (
                "Too deep. <milk:escalate:n1>needs design</milk:escalate:n1>",
                "Too deep. ",
                Some("needs design"),
            ),
            ("<milk:escalate:n1> why \n</milk:escalate> and more", "", Some("why")),
            ("<milk:escalate:n1></milk:escalate:n1>", "", Some("it asked to be relieved")),
            ("a<milk:escalate:other>why</milk:escalate:other>b", "ab", None),
            ("a<milk:need:n1>x</milk:need:n1>b<milk:percept:zz>@a: y</milk:percept:zz>c", "abc", None),
            ("a<milk:need:n1>x<y></milk:percept></milk:need>b", "ab", None),
            ("it never ends: <milk:escalate:n1>because", "it never ends: ", Some("because")),
            ("it never ends: <milk:need:n1>because", "it never ends: because", None),
            ("cut <milk:esc", "cut ", None),
            ("cut <mil", "cut <mil", None),
            ("left over</milk:need:n1>.", "left over.", None),
            (
                "say `<milk:escalate:n1>x</milk:escalate:n1>`",
                "say `<milk:escalate:n1>x</milk:escalate:n1>`",
                None,
            ),
            (
                "```\n<milk:need:n1>x</milk:need>\n```\n<milk:need:n1>y</milk:need>.",
                "```\n<milk:need:n1>x</milk:need>\n```\n.",
                None,
            ),
            ("one ` alone\n\n<milk:need:n1>y</milk:need>.", "one ` alone\n\n.", None),
            ("`` a ` b `` <milk:need:n1>y</milk:need>.", "`` a ` b `` .", None),
            ("<milk:other:n1>x</milk:other>", "<milk:other:n1>x</milk:other>", None),
            ("<milk:need:>x</milk:neediness>", "<milk:need:>x</milk:neediness>", None),
        ];
        for (text, visible, wish) in rows {
            let expected = (visible.to_owned(), wish.map(str::to_owned));
            assert_eq!(shown(&[text]), expected, "{text}");
            let letters: Vec<String> = text.chars().map(String::from).collect();
            let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
            assert_eq!(shown(&letters), expected, "letter by letter: {text}");
            for (at, _) in text.char_indices() {
                assert_eq!(shown(&[&text[..at], &text[at..]]), expected, "split at {at}: {text}");
            }
        }
        assert_eq!(shown(&[&long]).0.len(), BODY + 1, "a tag whose end was forgotten hides nothing");
    }

    #[test]
    fn text_without_tags_is_not_held_back() {
        let mut filter = TagFilter::new(None);
        for (piece, told) in
            [("a", "a"), ("<", ""), ("b>", "<b>"), ("x<milk:", "x"), ("shake>", "<milk:shake>")]
        {
            assert_eq!(filter.hear(piece), told);
        }
        assert_eq!(filter.rest(), "");
    }

    #[test]
    fn without_a_nonce_a_wish_is_only_hidden() {
        let mut filter = TagFilter::new(None);
        assert_eq!(filter.hear("a<milk:escalate:n1>x</milk:escalate:n1>b"), "ab");
    }
}
