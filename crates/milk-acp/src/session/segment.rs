//! Text as whole segments instead of tokens, for clients that prefer it (`acp.stream: "segment"`), and the merging
//! of deltas that pile up.
//!
//! A segment ends where anything else of the conversation begins. Knows nothing of clients or time.

use session_model::{Content, Event};

/// Holds back text until its segment ends, when asked to.
#[derive(Debug)]
pub(crate) struct Segments {
    enabled: bool,
    open: Option<Event>,
}

impl Segments {
    /// Passes everything through at once unless `enabled`.
    pub(crate) fn new(enabled: bool) -> Self {
        Self { enabled, open: None }
    }

    /// What may be told now that `event` has happened.
    pub(crate) fn pass(&mut self, event: Event) -> Vec<Event> {
        if !self.enabled {
            return vec![event];
        }
        let event = match &mut self.open {
            Some(open) => match merge(open, event) {
                None => return Vec::new(),
                Some(other) => other,
            },
            None => event,
        };
        let mut out: Vec<Event> = self.flush().into_iter().collect();
        if matches!(event, Event::MessageDelta { .. }) {
            self.open = Some(event);
        } else {
            out.push(event);
        }
        out
    }

    /// The segment begun, if any.
    pub(crate) fn flush(&mut self) -> Option<Event> {
        self.open.take()
    }
}

/// Appends `event` to `open` when both are text of one message; gives it back otherwise.
pub(crate) fn merge(open: &mut Event, event: Event) -> Option<Event> {
    let Event::MessageDelta { id, role, content: Content::Text { text } } = open else { return Some(event) };
    let more = match &event {
        Event::MessageDelta { id: newer, role: whose, content } if newer == id && whose == role => {
            content.as_text()
        }
        Event::MessageDelta { .. }
        | Event::Message { .. }
        | Event::ToolCall(_)
        | Event::ToolOutput { .. }
        | Event::Terminal(_)
        | Event::TerminalOutput { .. }
        | Event::Plan(_)
        | Event::PlanRemoved(_)
        | Event::Compaction(_)
        | Event::Spent(_)
        | Event::Usage(_)
        | Event::Commands(_)
        | Event::Options(_)
        | Event::Title(_)
        | Event::Foreground(_)
        | Event::Routed(_)
        | Event::Warning(_)
        | Event::Notice(_)
        | Event::Remark { .. }
        | Event::ReplayComplete => None,
    };
    let Some(more) = more else { return Some(event) };
    text.push_str(more);
    None
}
