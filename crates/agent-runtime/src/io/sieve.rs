//! Text that is not for the user is taken out of what an agent says, in the order in which everything else is said. Knows
//! nothing of what is taken out.

use session_model::{Content, Event, MessageId, Role};

use super::{Says, says};

/// Takes out of an agent's text what is not for the user. Text may come in pieces.
pub trait Sieve: std::fmt::Debug + Send {
    /// What can be said of the text so far.
    fn hear(&mut self, piece: &str) -> String;

    /// What is still to be said at the end of a message; another one begins.
    fn rest(&mut self) -> String;
}

/// A sieve, and the message that it hears.
#[derive(Debug)]
pub(super) struct Sieving {
    sieve: Box<dyn Sieve>,
    message: Option<MessageId>,
}

impl Sieving {
    pub(super) fn new(sieve: Box<dyn Sieve>) -> Self {
        Self { sieve, message: None }
    }

    /// What is to be said in the place of `event`.
    pub(super) fn sift(&mut self, event: Event) -> Vec<Event> {
        match says(&event) {
            Says::Nothing | Says::Thought => return vec![event],
            Says::Answer => {}
        }
        if let Event::MessageDelta { id, content: Content::Text { text }, .. } = event {
            let mut events = Vec::new();
            if self.message.as_ref() != Some(&id) {
                events.extend(self.rest());
                self.message = Some(id.clone());
            }
            let text = self.sieve.hear(&text);
            events.extend(delta(id, text));
            return events;
        }
        let mut events: Vec<Event> = self.rest().into_iter().collect();
        if let Event::Message { id, role, mut content } = event {
            for piece in &mut content {
                if let Content::Text { text } = piece {
                    *text = self.sieve.hear(text) + &self.sieve.rest();
                }
            }
            events.push(Event::Message { id, role, content });
        } else {
            events.push(event);
        }
        events
    }

    /// What is still held, as said.
    pub(super) fn rest(&mut self) -> Option<Event> {
        let id = self.message.take()?;
        let text = self.sieve.rest();
        delta(id, text)
    }
}

fn delta(id: MessageId, text: String) -> Option<Event> {
    let content = (!text.is_empty()).then(|| Content::text(text))?;
    Some(Event::MessageDelta { id, role: Role::Agent, content })
}
