//! From live events to finished items.

use std::collections::{HashMap, HashSet};

use session_model::{
    Compaction, CompactionId, CompactionState, Content, Event, Foreground, Item, MessageId, ResourceBody,
    Role, ToolCallId, ToolCallUpdate, ToolContent,
};

/// Collects the events of one turn and gives out what is finished, to be stored before the event is announced.
///
/// A message is finished by the next event about another part of the conversation, a tool call by its final
/// status. When more is said under the id of a finished message, the rest becomes a further item of that id:
/// items of one id continue each other. (Text that contradicts what was stored cannot be unsaid; it is kept under
/// the same id as well.)
#[derive(Debug, Default)]
pub struct Folder {
    open: Option<OpenMessage>,
    tools: Vec<OpenTool>,
    closed: HashSet<ToolCallId>,
    said: HashMap<(Role, MessageId), String>,
    step: u32,
    /// A tool call of this step has ended: what comes next answers its result.
    answered: bool,
    /// The compaction under way.
    compacting: Option<CompactionId>,
}

#[derive(Debug)]
struct OpenMessage {
    id: MessageId,
    role: Role,
    step: u32,
    text: String,
}

#[derive(Debug)]
struct OpenTool {
    step: u32,
    call: ToolCallUpdate,
}

impl Folder {
    /// For a new turn.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next event; gives the items it finishes, in order.
    pub fn event(&mut self, event: &Event) -> Vec<Item> {
        match event {
            Event::Message { id, role, content } => self.message(id, *role, content),
            Event::MessageDelta { id, role, content } => self.delta(id, *role, content),
            Event::Remark { id, text } => {
                let mut done = self.finish();
                done.push(Item::Remark { id: id.clone(), text: text.clone() });
                done
            }
            Event::ToolCall(update) => self.tool_call(update),
            Event::ToolOutput { id, chunk } => {
                self.tool_output(id, chunk);
                Vec::new()
            }
            Event::Compaction(compaction) => self.compaction(compaction),
            Event::TerminalOutput { call, text, .. } => {
                self.tool_output(call, &ToolContent::Content(Content::text(text.as_str())));
                Vec::new()
            }
            // Another agent goes on: what the one before said is whole.
            Event::Foreground(Foreground::Idle { .. }) | Event::Routed(_) => self.finish(),
            Event::Foreground(Foreground::Running | Foreground::RequiresAction)
            | Event::Terminal(_)
            | Event::Plan(_)
            | Event::PlanRemoved(_)
            | Event::Spent(_)
            | Event::Usage(_)
            | Event::Commands(_)
            | Event::Options(_)
            | Event::Title(_)
            | Event::Warning(_)
            | Event::Notice(_)
            | Event::ReplayComplete => Vec::new(),
        }
    }

    /// Ends the open message; what was said of it is kept. Open tool calls stay open.
    pub fn finish(&mut self) -> Vec<Item> {
        self.open.take().and_then(|message| self.close(message)).into_iter().collect()
    }

    /// The tool calls that have no final status yet, in the order in which they appeared.
    #[must_use]
    pub fn open_tools(&self) -> Vec<ToolCallUpdate> {
        self.tools.iter().map(|tool| tool.call.clone()).collect()
    }

    /// The compaction that has not come to its end.
    #[must_use]
    pub fn open_compaction(&self) -> Option<&CompactionId> {
        self.compacting.as_ref()
    }

    fn compaction(&mut self, compaction: &Compaction) -> Vec<Item> {
        let mut done = self.finish();
        let id = &compaction.id;
        self.compacting = (compaction.state == CompactionState::Running).then(|| id.clone());
        if let CompactionState::Done(summary) = &compaction.state {
            done.push(Item::Compaction { id: id.clone(), summary: summary.clone() });
        }
        done
    }

    fn message(&mut self, id: &MessageId, role: Role, content: &[Content]) -> Vec<Item> {
        let same = self.open.as_ref().is_some_and(|open| open.role == role && open.id == *id);
        let mut done = if same { Vec::new() } else { self.finish() };
        // The session stores the user's messages itself.
        if role == Role::User {
            return done;
        }
        let whole: String = content.iter().map(words).collect();
        let step = match self.open.take() {
            Some(open) => open.step,
            None => self.step_of_new(None),
        };
        let text = match self.said.get(&(role, id.clone())) {
            Some(said) => whole.strip_prefix(said.as_str()).map_or(whole.clone(), str::to_owned),
            None => whole,
        };
        done.extend(self.close(OpenMessage { id: id.clone(), role, step, text }));
        done
    }

    fn delta(&mut self, id: &MessageId, role: Role, content: &Content) -> Vec<Item> {
        if let Some(open) = self.open.as_mut().filter(|open| open.role == role && open.id == *id) {
            open.text.push_str(&words(content));
            return Vec::new();
        }
        let done = self.finish();
        if role != Role::User {
            let step = self.step_of_new(None);
            self.open = Some(OpenMessage { id: id.clone(), role, step, text: words(content) });
        }
        done
    }

    fn tool_call(&mut self, update: &ToolCallUpdate) -> Vec<Item> {
        let mut done = self.finish();
        if self.closed.contains(&update.id) {
            return done;
        }
        let known = self.tools.iter().position(|tool| tool.call.id == update.id);
        let index = known.unwrap_or_else(|| {
            let step = self.step_of_new(update.step);
            self.tools.push(OpenTool { step, call: ToolCallUpdate::new(update.id.clone()) });
            self.tools.len() - 1
        });
        let tool = &mut self.tools[index];
        tool.call.merge(update);
        // What is kept outlives every terminal.
        tool.call.cancellable = None;
        if let Some(content) = tool.call.content.as_mut().filter(|_| update.content.is_some()) {
            *content = std::mem::take(content).into_iter().map(ToolContent::lasting).collect();
        }
        tool.step = update.step.unwrap_or(tool.step);
        if tool.call.status.is_some_and(session_model::ToolStatus::is_final) {
            let OpenTool { step, call } = self.tools.remove(index);
            self.answered |= step == self.step;
            self.closed.insert(call.id.clone());
            done.push(Item::Tool { step, call });
        }
        done
    }

    fn tool_output(&mut self, id: &ToolCallId, chunk: &ToolContent) {
        let chunk = &chunk.clone().lasting();
        let Some(tool) = self.tools.iter_mut().find(|tool| tool.call.id == *id) else { return };
        let content = tool.call.content.get_or_insert_default();
        // Output comes in many small pieces; one text is kept of them.
        if let (
            Some(ToolContent::Content(Content::Text { text })),
            ToolContent::Content(Content::Text { text: more }),
        ) = (content.last_mut(), chunk)
        {
            text.push_str(more);
        } else {
            content.push(chunk.clone());
        }
    }

    /// The model answer to which something new belongs; `told` when the event says so itself.
    fn step_of_new(&mut self, told: Option<u32>) -> u32 {
        let step = told.unwrap_or(self.step + u32::from(self.answered));
        if step > self.step {
            self.step = step;
            self.answered = false;
        }
        step
    }

    fn close(&mut self, message: OpenMessage) -> Option<Item> {
        let OpenMessage { id, role, step, text } = message;
        if text.is_empty() {
            return None;
        }
        self.said.entry((role, id.clone())).or_default().push_str(&text);
        match role {
            Role::User => None,
            Role::Agent => Some(Item::Agent { id, step, text }),
            Role::Thought => Some(Item::Thought { id, step, text }),
        }
    }
}

/// Content as text; items keep nothing else of the agent's messages, so what is no text is named.
fn words(content: &Content) -> String {
    match content {
        Content::Text { text } => text.clone(),
        Content::Image { mime_type, uri, .. } => match uri {
            Some(uri) => format!("![{mime_type}]({uri})"),
            None => format!("[{mime_type}]"),
        },
        Content::Audio { mime_type, .. } => format!("[{mime_type}]"),
        Content::Link(link) => format!("[{}]({})", link.name, link.uri),
        Content::Resource(resource) => match &resource.body {
            ResourceBody::Text(text) => text.clone(),
            ResourceBody::Blob(_) => format!("[{}]", resource.uri),
        },
    }
}
