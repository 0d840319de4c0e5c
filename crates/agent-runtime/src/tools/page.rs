//! Makes text of a page of HTML: one pass over the tags, no tree, so that no page costs more than its length.
//!
//! It is for reading, not for looking: scripts and styles are dropped, blocks become lines, headings, items and links
//! are marked as in Markdown. What is malformed comes out as text. Pure.

/// Elements whose content is no text of the page.
const DROPPED: [&str; 8] = ["script", "style", "template", "noscript", "svg", "head", "iframe", "object"];

/// Elements that stand on lines of their own.
const BLOCKS: [&str; 33] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "dd",
    "details",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "li",
    "main",
    "nav",
    "ol",
    "p",
    "pre",
    "section",
    "summary",
    "table",
    "tr",
    "ul",
];

/// Longest name of an entity that is looked for.
const MAX_ENTITY: usize = 12;

/// The text of `html`.
pub(crate) fn text_of(html: &str) -> String {
    let mut page = Page::default();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        page.say(&rest[..at]);
        rest = &rest[at..];
        rest = page.tag(rest);
    }
    page.say(rest);
    page.finish()
}

#[derive(Default)]
struct Page {
    text: String,
    /// Where the open link leads.
    link: Option<String>,
    preformatted: usize,
    /// A blank is due before the next word.
    gap: bool,
}

impl Page {
    /// Reads what begins with `<`, and gives what follows it.
    fn tag<'a>(&mut self, rest: &'a str) -> &'a str {
        if let Some(comment) = rest.strip_prefix("<!--") {
            return comment.find("-->").map_or("", |end| &comment[end + 3..]);
        }
        let inner = &rest[1..];
        if !inner.starts_with(|c: char| c.is_ascii_alphabetic() || "/!?".contains(c)) {
            self.say("<");
            return inner;
        }
        let (tag, after) = split_tag(inner);
        let closes = tag.starts_with('/');
        let name_end = tag.trim_start_matches('/').find(|c: char| !c.is_ascii_alphanumeric());
        let name = tag.trim_start_matches('/');
        let name = name[..name_end.unwrap_or(name.len())].to_ascii_lowercase();
        if !closes && DROPPED.contains(&name.as_str()) && !tag.ends_with('/') {
            return skip_element(after, &name);
        }
        self.element(&name, tag, closes);
        after
    }

    fn element(&mut self, name: &str, tag: &str, closes: bool) {
        match name {
            "br" => self.break_line(),
            "pre" if closes => self.preformatted = self.preformatted.saturating_sub(1),
            "pre" => self.preformatted += 1,
            "td" | "th" if closes => self.text.push_str(" | "),
            "a" if closes => self.end_link(),
            "a" => {
                let link =
                    attribute(tag, "href").filter(|link| !link.is_empty() && !link.starts_with(['#', '<']));
                if self.link.is_none() && link.is_some() {
                    self.say_gap();
                    self.text.push('[');
                    self.link = link;
                }
            }
            _ => {}
        }
        if BLOCKS.contains(&name) {
            self.break_line();
        }
        if closes {
            return;
        }
        match name {
            "li" => self.text.push_str("* "),
            "h1" => self.text.push_str("# "),
            "h2" => self.text.push_str("## "),
            "h3" | "h4" | "h5" | "h6" => self.text.push_str("### "),
            _ => {}
        }
    }

    fn say(&mut self, raw: &str) {
        let text = entities(raw);
        if self.preformatted > 0 {
            self.say_gap();
            self.text.push_str(&text);
            return;
        }
        self.gap |= text.starts_with(char::is_whitespace);
        let mut words = text.split_whitespace().peekable();
        while let Some(word) = words.next() {
            self.say_gap();
            self.text.push_str(word);
            self.gap = words.peek().is_some();
        }
        self.gap |= text.ends_with(char::is_whitespace);
    }

    fn say_gap(&mut self) {
        let fresh = self.text.is_empty() || self.text.ends_with([' ', '\n', '[']);
        if std::mem::take(&mut self.gap) && !fresh {
            self.text.push(' ');
        }
    }

    fn end_link(&mut self) {
        if let Some(link) = self.link.take() {
            self.text.push_str("](");
            self.text.push_str(&link);
            self.text.push(')');
        }
    }

    fn break_line(&mut self) {
        self.gap = false;
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
    }

    fn finish(mut self) -> String {
        self.end_link();
        let lines = self.text.lines().map(|line| line.trim_end_matches([' ', '|']));
        let mut text = String::with_capacity(self.text.len());
        for line in lines.filter(|line| !line.trim().is_empty()) {
            text.push_str(line);
            text.push('\n');
        }
        text.truncate(text.trim_end().len());
        text
    }
}

/// A tag up to its `>`, which a quoted value may contain, and what follows.
fn split_tag(text: &str) -> (&str, &str) {
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (None, '>') => return (&text[..at], &text[at + 1..]),
            // A quote that opens elsewhere than after `=` is a slip.
            (None, '"' | '\'') if text[..at].trim_end().ends_with('=') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            (None | Some(_), _) => {}
        }
    }
    (text, "")
}

/// What follows the end of an element whose content is dropped.
fn skip_element<'a>(text: &'a str, name: &str) -> &'a str {
    let mut rest = text;
    while let Some(at) = rest.find("</") {
        rest = &rest[at + 2..];
        let found = rest.get(..name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name));
        if found && !rest[name.len()..].starts_with(|c: char| c.is_ascii_alphanumeric()) {
            return split_tag(rest).1;
        }
    }
    ""
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let lower = tag.to_ascii_lowercase();
    let at = lower.match_indices(name).map(|(at, _)| at).find(|at| {
        let before = lower[..*at].ends_with(char::is_whitespace);
        before && lower[at + name.len()..].trim_start().starts_with('=')
    })?;
    let value = tag[at + name.len()..].trim_start().strip_prefix('=')?.trim_start();
    let end = match value.chars().next()? {
        quote @ ('"' | '\'') => return value[1..].split(quote).next().map(|value| entities(value.trim())),
        _ => value.find(char::is_whitespace).unwrap_or(value.len()),
    };
    Some(entities(&value[..end]))
}

fn entities(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.char_indices().take(MAX_ENTITY).find(|(_, c)| *c == ';').map(|(end, _)| end);
        let entity = end.and_then(|end| Some((entity(&rest[1..end])?, end)));
        if let Some((c, end)) = entity {
            plain.push(c);
            rest = &rest[end + 1..];
        } else {
            plain.push('&');
            rest = &rest[1..];
        }
    }
    plain.push_str(rest);
    plain
}

fn entity(name: &str) -> Option<char> {
    if let Some(number) = name.strip_prefix('#') {
        let hex = number.strip_prefix(['x', 'X']).map(|digits| u32::from_str_radix(digits, 16));
        return char::from_u32(hex.unwrap_or_else(|| number.parse()).ok()?).filter(|c| !c.is_control());
    }
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        "copy" => '©',
        "reg" => '®',
        "hellip" => '…',
        "mdash" => '—',
        "ndash" => '–',
        "lsquo" => '‘',
        "rsquo" => '’',
        "ldquo" => '“',
        "rdquo" => '”',
        "bull" => '•',
        "middot" => '·',
        "times" => '×',
        "rarr" => '→',
        "larr" => '←',
        "euro" => '€',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::text_of;

    #[test]
    fn a_page_reads_as_text() {
        for (html, text) in [
            ("<h1>Head</h1><p>a &amp; b</p>", "# Head\na & b"),
            ("<ul><li>one<li>two</ul>", "* one\n* two"),
            ("a <b>bold</b>, <i>it</i>alic", "a bold, italic"),
            ("see <a href=\"/x?a=1&amp;b\">the  page</a>.", "see [the page](/x?a=1&b)."),
            ("<a href='#top'>up</a>", "up"),
            ("<script>if (a < b) x('</p>')</script>text<style>p{}</style>", "text"),
            ("<head><title>t</title></head><body>b</body>", "b"),
            ("<pre>  a\n    b</pre>", "  a\n    b"),
            ("<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>", "a | b\n1 | 2"),
            ("<p title='a > b'>x</p>", "x"),
            ("a<br>b<br/>c", "a\nb\nc"),
            ("<!-- no -->yes<!doctype html>", "yes"),
            ("1 < 2 && 3 > 2", "1 < 2 && 3 > 2"),
            ("&#x41;&#66;&nope;&#0;", "AB&nope;&#0;"),
            ("<p>open", "open"),
            ("<a href=x", "[](x)"),
            ("<script>never closed", ""),
            ("", ""),
        ] {
            assert_eq!(text_of(html), text, "{html}");
        }
    }

    proptest! {
        #[test]
        fn nothing_breaks_it(html in "([<>/&;='\" !-]|[apb]|é|<script|</|<!--|-->|href=){0,40}") {
            let text = text_of(&html);
            prop_assert!(text.len() <= html.len() * 3 + 8);
        }
    }

    #[test]
    fn a_hostile_page_costs_no_more_than_its_length() {
        for piece in ["<div>", "<a href=x>", "<", "<script>", "</", "<!--", "&", "<p title='", "<table><td>"]
        {
            text_of(&piece.repeat(200_000));
        }
    }
}
