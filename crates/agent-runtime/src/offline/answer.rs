//! Words what was found.

use std::fmt::Write as _;

use super::findings::{Entry, Findings, Found, unnumbered};
use super::project::{Profile, profile};
use super::question::Question;

const MAX_ENTRIES: usize = 30;
const MAX_MATCHES: usize = 12;
const MAX_LINES: usize = 40;
/// A piece is sent once it is so long and a word ends.
const PIECE_BYTES: usize = 24;

/// The answer, from the results alone.
pub(super) fn compose(question: &Question, findings: &Findings<'_>) -> String {
    let mut parts = Vec::new();
    for path in &question.files {
        parts.extend(findings.of("read_file").find(|found| found.argument("path") == path).map(named_file));
    }
    for path in &question.folders {
        parts.push(named_folder(path, &findings.entries(path)));
    }
    parts.extend(findings.of("grep").map(matches));
    if question.terms.is_empty() || parts.is_empty() {
        parts.push(project(&profile(findings)));
        parts.push(contents(findings));
    }
    parts.retain(|part| !part.is_empty());
    if parts.is_empty() {
        return "There is nothing here that the tools could read.\n".to_owned();
    }
    parts.join("\n\n") + "\n"
}

/// Cuts a text into what a model might say at a time.
pub(super) fn pieces(text: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut piece = String::new();
    for word in text.split_inclusive(char::is_whitespace) {
        piece.push_str(word);
        if piece.len() >= PIECE_BYTES {
            pieces.push(std::mem::take(&mut piece));
        }
    }
    pieces.extend(Some(piece).filter(|rest| !rest.is_empty()));
    pieces
}

fn project(profile: &Profile) -> String {
    let mut text = String::new();
    let name = profile.name.as_deref().map_or_else(|| "This".to_owned(), |name| format!("**{name}**"));
    if !profile.kinds.is_empty() {
        sentence(&mut text, &format!("{name} is {}", profile.kinds.join(" and ")));
    }
    if let Some(description) = &profile.description {
        sentence(&mut text, &format!("Its manifest says: {description}"));
    }
    if let Some((file, introduction)) = &profile.introduction {
        let lead = if text.is_empty() { "" } else { "\n\n" };
        // Writing to a string cannot fail.
        write!(text, "{lead}{file} begins:\n\n> {introduction}").unwrap_or_default();
    }
    text
}

fn sentence(text: &mut String, words: &str) {
    if !text.is_empty() {
        text.push(' ');
    }
    text.push_str(words.trim_end_matches('.'));
    text.push('.');
}

fn contents(findings: &Findings<'_>) -> String {
    match findings.of("list_dir").find(|found| found.argument("path") == ".").map(|found| &found.result) {
        Some(Ok(_)) => named_folder(".", &findings.entries(".")),
        Some(Err(why)) => format!("The working directory could not be listed: {why}"),
        None => String::new(),
    }
}

fn named_folder(path: &str, entries: &[Entry]) -> String {
    let place = if path == "." { "The working directory".to_owned() } else { format!("`{path}`") };
    if entries.is_empty() {
        return format!("{place} is empty, or could not be listed.");
    }
    let of = |folder: bool| {
        let named = entries.iter().filter(|entry| entry.folder == folder);
        let slash = if folder { "/" } else { "" };
        named.map(|entry| format!("`{}{slash}`", entry.name)).collect::<Vec<_>>()
    };
    let mut text = format!("{place} holds:\n");
    for (label, names) in [("folders", of(true)), ("files", of(false))] {
        if !names.is_empty() {
            write!(text, "\n- {label}: {}", some(&names, MAX_ENTRIES, ", ")).unwrap_or_default();
        }
    }
    text
}

fn matches(found: &Found<'_>) -> String {
    let term = found.argument("pattern");
    let text = match &found.result {
        Ok(text) => text,
        Err(why) => return format!("`{term}` could not be searched for: {why}"),
    };
    // `path:line:text`; remarks are in brackets.
    let lines: Vec<String> = text
        .lines()
        .filter(|line| !line.starts_with('['))
        .filter_map(|line| {
            let mut fields = line.splitn(3, ':');
            let (path, number, text) = (fields.next()?, fields.next()?, fields.next()?);
            number.parse::<u64>().ok()?;
            Some(format!("- {path}:{number}: `{}`", text.trim().replace('`', "'")))
        })
        .collect();
    if lines.is_empty() {
        return format!("`{term}` was not found in the files here.");
    }
    format!("`{term}` is here:\n\n{}", some(&lines, MAX_MATCHES, "\n"))
}

fn named_file(found: &Found<'_>) -> String {
    let path = found.argument("path");
    let shown = match &found.result {
        Ok(shown) => unnumbered(shown),
        Err(why) => return format!("`{path}` could not be read: {why}"),
    };
    let lines: Vec<&str> = shown.lines().collect();
    if lines.is_empty() {
        return format!("`{path}` is empty.");
    }
    let count = lines.len().min(MAX_LINES);
    // A fence longer than any in the text.
    let longest =
        lines.iter().map(|line| line.chars().take_while(|c| *c == '`').count()).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("The first {count} lines of `{path}`:\n\n{fence}\n{}\n{fence}", lines[..count].join("\n"))
}

fn some(list: &[String], max: usize, separator: &str) -> String {
    let mut text = list.iter().take(max).map(String::as_str).collect::<Vec<_>>().join(separator);
    if list.len() > max {
        write!(text, "{separator}… and {} more", list.len() - max).unwrap_or_default();
    }
    text
}
