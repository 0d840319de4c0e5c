//! The terminals of another agent's own, which it tells of in version 2: what happens in them, under names of ours, from the
//! moment a row shows them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use agent_runtime::external::served::Shown;
use session_model::source::{IdKind, Ids};
use session_model::{
    Event, TerminalExit, TerminalId, TerminalOwner, TerminalUpdate, TerminalView, ToolCallId,
};

use crate::dialect::client;

/// Bytes of output that are kept of each, of its end.
const KEPT_BYTES: usize = 256 * 1024;
/// How many are kept track of in a turn; more than any row shows.
const MAX_TERMINALS: usize = 256;

/// The terminals of one turn, by the agent's names.
#[derive(Debug, Default)]
pub(super) struct Theirs(BTreeMap<TerminalId, Terminal>);

#[derive(Debug, Default)]
struct Terminal {
    command: Option<String>,
    cwd: Option<PathBuf>,
    output: Vec<u8>,
    exit: Option<TerminalExit>,
    /// The beginning of a character whose rest is still to come.
    rest: Vec<u8>,
    /// Our name for it, and the row that shows it.
    shown: Option<(TerminalId, ToolCallId)>,
}

impl Theirs {
    /// Something happened in one; what is to be told of it.
    pub(super) fn hear(&mut self, id: &TerminalId, news: client::Terminal) -> Vec<Event> {
        if !self.0.contains_key(id) && self.0.len() >= MAX_TERMINALS {
            return Vec::new();
        }
        let terminal = self.0.entry(id.clone()).or_default();
        let mut update = terminal.update();
        let client::Terminal { command, cwd, output, more, exit } = news;
        if let Some(output) = output {
            terminal.output = output;
            terminal.rest.clear();
            if let Some(update) = &mut update {
                update.output = Some(terminal.text());
            }
        }
        terminal.output.extend_from_slice(&more);
        let over = terminal.output.len().saturating_sub(KEPT_BYTES);
        terminal.output.drain(..over);
        terminal.command = command.or(terminal.command.take());
        terminal.cwd = cwd.or(terminal.cwd.take());
        terminal.exit = exit.clone().or(terminal.exit.take());
        let Some(mut update) = update else { return Vec::new() };
        let text = terminal.pieces(&more);
        update.exit = exit;
        let is_news = update.output.is_some() || update.exit.is_some();
        let TerminalUpdate { id, call, .. } = update.clone();
        let added = (!text.is_empty()).then_some(Event::TerminalOutput { id, call, text });
        let update = is_news.then_some(Event::Terminal(update));
        // Output comes before the end.
        added.into_iter().chain(update).collect()
    }

    /// Shows one in the row `call`. Its first row is the one that its output belongs to.
    pub(super) fn show(&mut self, id: &TerminalId, call: &ToolCallId, ids: &dyn Ids) -> Option<Shown> {
        if !self.0.contains_key(id) && self.0.len() >= MAX_TERMINALS {
            return None;
        }
        let terminal = self.0.entry(id.clone()).or_default();
        let first = terminal.shown.is_none();
        let fresh = || (TerminalId::from(ids.fresh(IdKind::ToolCall)), call.clone());
        let ours = terminal.shown.get_or_insert_with(fresh).0.clone();
        let view = TerminalView { id: ours, owner: TerminalOwner::Agent, shown: terminal.text(), note: None };
        let opening = first.then(|| terminal.opening()).flatten();
        Some(Shown { view, opening })
    }
}

impl Terminal {
    /// An update that says nothing yet; none where nobody sees it.
    fn update(&self) -> Option<TerminalUpdate> {
        let (id, call) = self.shown.clone()?;
        Some(TerminalUpdate { id, call, command: None, cwd: None, output: None, exit: None })
    }

    fn opening(&self) -> Option<Event> {
        Some(Event::Terminal(TerminalUpdate {
            command: self.command.clone(),
            cwd: self.cwd.clone(),
            output: Some(self.text()).filter(|text| !text.is_empty()),
            exit: self.exit.clone(),
            ..self.update()?
        }))
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.output).into_owned()
    }

    /// More output as text; a character in two pieces waits for its end.
    fn pieces(&mut self, more: &[u8]) -> String {
        self.rest.extend_from_slice(more);
        let bytes = std::mem::take(&mut self.rest);
        let whole = match std::str::from_utf8(&bytes) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Ok(_) | Err(_) => bytes.len(),
        };
        self.rest = bytes[whole..].to_vec();
        String::from_utf8_lossy(&bytes[..whole]).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use session_model::source::SequentialIds;

    use super::*;

    fn more(bytes: &[u8]) -> client::Terminal {
        client::Terminal { more: bytes.to_vec(), ..client::Terminal::default() }
    }

    #[test]
    fn what_happened_before_a_row_shows_it_is_told_with_the_row_and_the_rest_as_it_comes() {
        let (mut theirs, ids, id) = (Theirs::default(), SequentialIds::default(), TerminalId::from("1"));
        let begun = client::Terminal { command: Some("ls".to_owned()), ..more(b"a\n") };
        assert_eq!(theirs.hear(&id, begun), []);
        let call = ToolCallId::from("row");
        let shown = theirs.show(&id, &call, &ids).unwrap();
        let Some(Event::Terminal(opening)) = shown.opening else { panic!("{shown:?}") };
        assert_eq!((opening.command.as_deref(), opening.output.as_deref()), (Some("ls"), Some("a\n")));
        assert_eq!(shown.view.shown, "a\n");
        let ours = shown.view.id;
        assert_ne!(ours, id, "it has a name of ours");
        assert_eq!(theirs.hear(&id, more("ä".as_bytes().split_at(1).0)), []);
        let said = theirs.hear(&id, more("ä".as_bytes().split_at(1).1));
        let text = "ä".to_owned();
        assert_eq!(said, [Event::TerminalOutput { id: ours.clone(), call: call.clone(), text }]);
        let exit = Some(TerminalExit { code: Some(0), signal: None });
        let end = client::Terminal { exit: exit.clone(), ..more(b"z") };
        let [Event::TerminalOutput { text, .. }, Event::Terminal(last)] = &theirs.hear(&id, end)[..] else {
            panic!("its last words and its end")
        };
        assert_eq!((text.as_str(), &last.exit), ("z", &exit));
        let again = theirs.show(&id, &ToolCallId::from("other"), &ids).unwrap();
        assert!(again.opening.is_none());
        assert_eq!((again.view.id, again.view.shown.as_str()), (ours, "a\näz"));
    }

    #[test]
    fn only_the_end_of_long_output_is_kept() {
        let (mut theirs, ids, id) = (Theirs::default(), SequentialIds::default(), TerminalId::from("1"));
        theirs.hear(&id, more(&vec![b'x'; KEPT_BYTES]));
        theirs.hear(&id, more(b"end"));
        let shown = theirs.show(&id, &ToolCallId::from("row"), &ids).unwrap().view.shown;
        assert_eq!(shown.len(), KEPT_BYTES);
        assert!(shown.ends_with("xend"));
    }
}
