//! What the user sees of a turn: the answer as it comes, one line for each tool call, changes to files.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::patch::render;
use super::update::{RowChange, Update};
use crate::output::{Style, harmless};

/// Shows updates. Writing is plain and blocking: a reader that is slow slows the turn, as it should.
pub(super) struct Screen<W> {
    out: W,
    style: Style,
    /// Whether the output is a terminal: unfinished rows and reasoning are shown then.
    live: bool,
    rows: BTreeMap<String, Row>,
    /// The message whose text was shown last.
    message: Option<String>,
    cursor: Cursor,
    failed: Option<io::Error>,
}

/// Where the next character goes.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Cursor {
    /// At the beginning of a line.
    Fresh,
    /// After some text of the answer.
    Text,
    /// After some reasoning.
    Thought,
    /// After this row, which may still be redrawn.
    Row(String),
}

#[derive(Debug, Default)]
struct Row {
    change: RowChange,
    /// Its patches as last shown.
    shown: Option<String>,
    ended: bool,
}

impl<W: Write> Screen<W> {
    pub(super) fn new(out: W, style: Style, live: bool) -> Self {
        Self { out, style, live, rows: BTreeMap::new(), message: None, cursor: Cursor::Fresh, failed: None }
    }

    /// Why nothing is shown any more, once.
    pub(super) fn take_failure(&mut self) -> Option<io::Error> {
        self.failed.take()
    }

    /// Shows an update.
    pub(super) fn show(&mut self, update: &Update) {
        match update {
            Update::Text { id, text } => {
                self.turn_to(id.as_ref());
                self.text(text);
            }
            Update::Message { id, text } => {
                // One that came in pieces has been shown.
                if id.is_none() || self.message != *id {
                    self.turn_to(id.as_ref());
                    self.text(text);
                }
            }
            Update::Thought(text) => self.thought(text),
            Update::Tool(change) => self.row(change),
            Update::Plan(steps) => self.plan(steps),
            Update::Notice { .. } | Update::Idle { .. } | Update::Nothing => {}
        }
    }

    /// Shows what a question is about: the row, what is said about it, and its changes.
    pub(super) fn show_subject(&mut self, change: &RowChange, description: &str) {
        self.row(change);
        let id = change.id.clone();
        let title = self.title(&id);
        self.redraw(&id);
        self.line(&format!("{} {title}", self.style.yellow("?")));
        for line in harmless(description).lines().filter(|line| !line.trim().is_empty()) {
            self.line(&format!("  {}", line.trim()));
        }
        self.patches(&id);
    }

    /// Brings the cursor to the beginning of a line.
    pub(super) fn break_line(&mut self) {
        match self.cursor {
            Cursor::Fresh => {}
            Cursor::Text | Cursor::Thought | Cursor::Row(_) => self.write("\n"),
        }
        self.cursor = Cursor::Fresh;
    }

    /// Another message begins on another line.
    fn turn_to(&mut self, id: Option<&String>) {
        if id.is_some() && self.message.as_ref() != id {
            self.break_line();
            self.message = id.cloned();
        }
    }

    fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        match self.cursor {
            Cursor::Row(_) | Cursor::Thought => self.break_line(),
            Cursor::Fresh | Cursor::Text => {}
        }
        let shown = if self.live { harmless(text) } else { text.to_owned() };
        self.write(&shown);
        self.cursor = if shown.ends_with('\n') { Cursor::Fresh } else { Cursor::Text };
    }

    fn thought(&mut self, text: &str) {
        if !self.live || text.is_empty() {
            return;
        }
        match self.cursor {
            Cursor::Row(_) | Cursor::Text => self.break_line(),
            Cursor::Fresh | Cursor::Thought => {}
        }
        let shown = self.style.dim(&harmless(text));
        self.write(&shown);
        self.cursor = Cursor::Thought;
    }

    fn row(&mut self, change: &RowChange) {
        let row = self.rows.entry(change.id.clone()).or_default();
        row.change.id.clone_from(&change.id);
        lay(&mut row.change.title, change.title.as_ref());
        lay(&mut row.change.status, change.status.as_ref());
        lay(&mut row.change.patches, change.patches.as_ref());
        lay(&mut row.change.error, change.error.as_ref());
        if row.ended {
            return;
        }
        let mark = match row.change.status.as_deref() {
            Some("completed") => Some((self.style.green("✓"), String::new())),
            Some("failed") => Some((self.style.red("✗"), reason(row.change.error.as_deref()))),
            Some("cancelled") => Some((self.style.yellow("–"), " (cancelled)".to_owned())),
            Some(_) | None => None,
        };
        row.ended = mark.is_some();
        let id = change.id.clone();
        let title = self.title(&id);
        match mark {
            Some((mark, more)) => {
                self.redraw(&id);
                self.line(&format!("{mark} {title}{more}"));
                self.patches(&id);
            }
            None if self.live && self.cursor != Cursor::Row(id.clone()) => {
                self.break_line();
                let line = self.style.dim(&format!("⋯ {title}"));
                self.write(&line);
                self.cursor = Cursor::Row(id);
            }
            None => {}
        }
    }

    /// Takes back the unfinished line of this row, so that the finished one takes its place.
    fn redraw(&mut self, id: &str) {
        if self.cursor == Cursor::Row(id.to_owned()) {
            self.write("\r\u{1b}[K");
            self.cursor = Cursor::Fresh;
        }
    }

    fn title(&self, id: &str) -> String {
        let title = self.rows.get(id).and_then(|row| row.change.title.as_deref()).unwrap_or("tool");
        harmless(title).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Shows a row's changes to files, unless they have been shown as they are.
    fn patches(&mut self, id: &str) {
        let style = self.style;
        let Some(row) = self.rows.get_mut(id) else { return };
        let text: String = row.change.patches.iter().flatten().map(|patch| render(patch, style)).collect();
        if text.is_empty() || row.shown.as_ref() == Some(&text) {
            return;
        }
        row.shown = Some(text.clone());
        self.break_line();
        self.write(&text);
    }

    fn plan(&mut self, steps: &[(String, String)]) {
        for (status, content) in steps {
            let mark = match status.as_str() {
                "completed" => self.style.green("☑"),
                "in_progress" => self.style.yellow("▸"),
                _ => "☐".to_owned(),
            };
            self.line(&format!("{mark} {}", harmless(content)));
        }
    }

    fn line(&mut self, text: &str) {
        self.break_line();
        self.write(text);
        self.write("\n");
    }

    fn write(&mut self, text: &str) {
        if self.failed.is_none()
            && let Err(error) = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush())
        {
            self.failed = Some(error);
        }
    }
}

fn lay<T: Clone>(old: &mut Option<T>, new: Option<&T>) {
    if let Some(new) = new {
        *old = Some(new.clone());
    }
}

fn reason(error: Option<&str>) -> String {
    let line = error.and_then(|error| error.lines().map(str::trim).find(|line| !line.is_empty()));
    line.map_or_else(|| " (failed)".to_owned(), |line| format!(": {}", harmless(line)))
}

#[cfg(test)]
mod tests {
    use super::super::update::Patch;
    use super::*;

    fn change(id: &str, title: Option<&str>, status: &str) -> RowChange {
        RowChange {
            id: id.into(),
            title: title.map(Into::into),
            status: Some(status.into()),
            ..RowChange::default()
        }
    }

    fn text(text: &str) -> Update {
        Update::Text { id: Some("m".into()), text: text.into() }
    }

    fn shown(live: bool, updates: &[Update]) -> String {
        let mut out = Vec::new();
        let mut screen = Screen::new(&mut out, Style::PLAIN, live);
        for update in updates {
            screen.show(update);
        }
        screen.break_line();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_answer_is_shown_as_it_comes_and_rows_stand_on_lines_of_their_own() {
        let updates = [
            Update::Thought("hm".into()),
            text("Let me "),
            text("look."),
            Update::Tool(change("1", Some("read_file: a\nb"), "pending")),
            Update::Tool(change("1", None, "in_progress")),
            Update::Tool(change("1", None, "completed")),
            Update::Tool(RowChange {
                error: Some("\nexit 1\nmore".into()),
                ..change("2", Some("bash: x"), "failed")
            }),
            text("Done."),
        ];
        assert_eq!(shown(false, &updates), "Let me look.\n✓ read_file: a b\n✗ bash: x: exit 1\nDone.\n");
        assert_eq!(
            shown(true, &updates),
            "hm\nLet me look.\n⋯ read_file: a b\r\u{1b}[K✓ read_file: a b\n✗ bash: x: exit 1\nDone.\n"
        );
    }

    #[test]
    fn a_row_interrupted_by_text_gets_a_second_line() {
        let updates = [
            Update::Tool(change("1", Some("bash: make"), "in_progress")),
            text("While it runs…"),
            Update::Tool(change("1", None, "completed")),
        ];
        assert_eq!(shown(true, &updates), "⋯ bash: make\nWhile it runs…\n✓ bash: make\n");
    }

    #[test]
    fn a_change_is_shown_once_whether_asked_about_or_done() {
        let patch = || Some(vec![Patch::Text("-a\n+b\n".into())]);
        let mut out = Vec::new();
        let mut screen = Screen::new(&mut out, Style::PLAIN, false);
        screen.show(&Update::Tool(change("1", Some("edit_file: f"), "pending")));
        screen.show_subject(
            &RowChange { patches: patch(), ..change("1", None, "pending") },
            "outside the folder",
        );
        screen.show(&Update::Tool(RowChange { patches: patch(), ..change("1", None, "completed") }));
        screen.show(&Update::Tool(change("1", None, "completed")));
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "? edit_file: f\n  outside the folder\n  -a\n  +b\n✓ edit_file: f\n"
        );
    }

    #[test]
    fn piped_text_is_exact_and_shown_text_harmless() {
        let updates = [text("a\u{1b}[2Jb\n")];
        assert_eq!(shown(false, &updates), "a\u{1b}[2Jb\n");
        assert_eq!(shown(true, &updates), "a\u{fffd}[2Jb\n");
    }

    #[test]
    fn a_whole_message_is_shown_once() {
        let message = |id: &str| Update::Message { id: Some(id.into()), text: "all".into() };
        assert_eq!(shown(false, &[text("all"), message("m"), message("n"), message("n")]), "all\nall\n");
    }
}
