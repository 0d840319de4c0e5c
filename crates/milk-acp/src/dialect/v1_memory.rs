//! What version 1's wording has to remember of the past: what a tool call put out, and how much of a message was said.
//! Knows no wire type.

use session_model::{Content, MessageId, Role, ToolContent};

use super::limit;

/// What a call has put out so far: as much of its end as one update may hold.
#[derive(Debug, Default)]
pub(super) struct Output {
    items: Vec<ToolContent>,
    /// Bytes of text dropped from the beginning.
    dropped: usize,
}

impl Output {
    pub(super) fn of(content: &[ToolContent]) -> Self {
        let mut output = Self { items: content.to_vec(), dropped: 0 };
        output.trim(limit::MAX_TEXT);
        output
    }

    pub(super) fn push(&mut self, chunk: &ToolContent) {
        match (self.items.last_mut(), chunk) {
            (
                Some(ToolContent::Content(Content::Text { text })),
                ToolContent::Content(Content::Text { text: more }),
            ) => text.push_str(more),
            _ => self.items.push(chunk.clone()),
        }
        // Trimming copies what stays, so it is done for every second helping only.
        if self.text_len() > 2 * limit::MAX_TEXT {
            self.trim(limit::MAX_TEXT);
        }
    }

    fn text_len(&self) -> usize {
        self.items.iter().filter_map(text_of).map(str::len).sum()
    }

    /// Drops text from the beginning until at most `keep` bytes are left.
    fn trim(&mut self, keep: usize) {
        let mut excess = self.text_len().saturating_sub(keep);
        for item in &mut self.items {
            if let ToolContent::Content(Content::Text { text }) = item
                && excess > 0
            {
                let kept = limit::tail(text, text.len().saturating_sub(excess));
                let gone = text.len() - kept.len();
                *text = kept.to_owned();
                self.dropped += gone;
                excess = excess.saturating_sub(gone);
            }
        }
        self.items.retain(|item| text_of(item) != Some(""));
    }

    /// What is shown: the notice of what is missing, then the rest.
    pub(super) fn shown(&mut self) -> Vec<ToolContent> {
        let room = limit::MAX_TEXT - 64;
        if self.text_len() > room {
            self.trim(room);
        }
        let mut items = self.items.clone();
        if self.dropped > 0 {
            let notice = format!("{}\n", limit::omitted(self.dropped));
            match items.first_mut() {
                Some(ToolContent::Content(Content::Text { text })) => text.insert_str(0, &notice),
                _ => items.insert(0, ToolContent::Content(Content::text(notice))),
            }
        }
        items
    }
}

fn text_of(item: &ToolContent) -> Option<&str> {
    match item {
        ToolContent::Content(content) => content.as_text(),
        ToolContent::Change(_) | ToolContent::Terminal(_) => None,
    }
}

/// How much of the latest message of each role was said, in bytes of text.
#[derive(Debug, Default)]
pub(super) struct Said([Option<(MessageId, usize)>; 3]);

impl Said {
    fn slot(&mut self, role: Role) -> &mut Option<(MessageId, usize)> {
        let [user, agent, thought] = &mut self.0;
        match role {
            Role::User => user,
            Role::Agent => agent,
            Role::Thought => thought,
        }
    }

    pub(super) fn of(&mut self, role: Role, id: &MessageId) -> usize {
        self.slot(role).as_ref().filter(|(said, _)| said == id).map_or(0, |(_, bytes)| *bytes)
    }

    pub(super) fn add(&mut self, role: Role, id: &MessageId, bytes: usize) {
        match self.slot(role) {
            Some((said, sum)) if said == id => *sum += bytes,
            slot => *slot = Some((id.clone(), bytes)),
        }
    }

    pub(super) fn forget(&mut self, role: Role) {
        *self.slot(role) = None;
    }
}
