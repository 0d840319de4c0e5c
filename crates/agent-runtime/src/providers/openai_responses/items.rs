//! The items of an answer as they grow. Servers name an item by its place, by an id, or by both, and repeat at its
//! end what they sent in pieces; what came in pieces is not told twice. Knows nothing of events.

use serde_json::Value;

use crate::provider::ModelDelta;
use crate::providers::arguments::{as_text, is_object, settle};
use crate::providers::reader::{push_text, push_thought};
use crate::providers::surrogates::Joiner;

/// What an event says of the item it belongs to.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Name<'a> {
    pub(super) index: Option<u64>,
    pub(super) id: &'a str,
}

/// What an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Message,
    Reasoning,
    Call,
    /// What this reader knows nothing of.
    Other,
}

impl Kind {
    pub(super) fn of(item: &Value) -> Self {
        match item["type"].as_str() {
            Some("message") => Self::Message,
            Some("reasoning") => Self::Reasoning,
            Some("function_call") => Self::Call,
            Some(_) | None => Self::Other,
        }
    }
}

/// What the server said of an item's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    Untold,
    Whole,
    Cut,
}

/// One item.
#[derive(Debug)]
pub(super) struct Item {
    index: Option<u64>,
    id: String,
    pub(super) kind: Kind,
    name: String,
    /// What pairs a call with its result at the server.
    call_id: String,
    /// The text or arguments so far.
    text: String,
    /// The arguments that came with its beginning.
    given: String,
    /// The server told of its beginning.
    is_begun: bool,
    joiner: Joiner,
    /// The server ended it.
    is_ended: bool,
    status: Status,
    /// As the server wants it back.
    kept: Option<Value>,
}

/// All items of one answer, in the order they began.
#[derive(Debug, Default)]
pub(super) struct Items(Vec<Item>);

impl Items {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn any(&self, kind: Kind) -> bool {
        self.0.iter().any(|item| item.kind == kind)
    }

    /// The item of that name; a new one of `kind` when there is none yet.
    pub(super) fn find(&mut self, name: Name<'_>, kind: Kind) -> &mut Item {
        let at = self.position(name, kind).unwrap_or_else(|| self.push(name, kind));
        &mut self.0[at]
    }

    fn position(&self, name: Name<'_>, kind: Kind) -> Option<usize> {
        // Some servers mint a new id for every event, others count hidden items: an id that is known wins.
        let by_id = self.0.iter().rposition(|item| !name.id.is_empty() && item.id == name.id);
        by_id.or_else(|| {
            self.0.iter().rposition(|item| match name.index {
                Some(_) => item.index == name.index && item.kind == kind,
                None => name.id.is_empty() && !item.is_ended && item.kind == kind,
            })
        })
    }

    fn push(&mut self, name: Name<'_>, kind: Kind) -> usize {
        self.0.push(Item::new(name, kind));
        self.0.len() - 1
    }

    /// An item begins.
    pub(super) fn begin(&mut self, name: Name<'_>, told: &Value) {
        let item = self.told(name, told, true);
        item.is_begun = true;
        item.given = as_text(&told["arguments"]).into_owned();
    }

    /// The item that `told` is about: a new one where it cannot be the one of that name.
    fn told(&mut self, name: Name<'_>, told: &Value, begins: bool) -> &mut Item {
        let kind = Kind::of(told);
        let held = self.position(name, kind).filter(|at| !self.0[*at].is_another(name, told, begins));
        let at = held.unwrap_or_else(|| self.push(name, kind));
        let item = &mut self.0[at];
        for (place, member) in [(&mut item.name, "name"), (&mut item.call_id, "call_id")] {
            if let Some(word) = told[member].as_str() {
                word.clone_into(place);
            }
        }
        item
    }

    /// An item is whole; says what was not said in pieces.
    pub(super) fn end(&mut self, name: Name<'_>, told: &Value, marked: bool, out: &mut Vec<ModelDelta>) {
        let item = self.told(name, told, false);
        item.is_ended = true;
        item.status = match told["status"].as_str() {
            Some("completed") => Status::Whole,
            Some("incomplete") => Status::Cut,
            Some(_) | None => Status::Untold,
        };
        match item.kind {
            Kind::Message => {
                for part in told["content"].as_array().into_iter().flatten() {
                    let text = part["text"].as_str().or_else(|| part["refusal"].as_str());
                    item.complete(text.unwrap_or_default(), marked, out);
                }
            }
            Kind::Reasoning => {
                for part in
                    ["summary", "content"].into_iter().filter_map(|member| told[member].as_array()).flatten()
                {
                    item.complete(part["text"].as_str().unwrap_or_default(), marked, out);
                }
                let is_encrypted = told["encrypted_content"].as_str().is_some_and(|text| !text.is_empty());
                item.kept = is_encrypted.then(|| told.clone());
            }
            Kind::Call => item.arguments(&told["arguments"], marked),
            Kind::Other => {}
        }
        item.release(out);
    }

    /// Says what was waiting for its other half.
    pub(super) fn release(&mut self, out: &mut Vec<ModelDelta>) {
        self.0.iter_mut().for_each(|item| item.release(out));
    }

    /// What the server wants back, in order.
    pub(super) fn kept(&self) -> impl Iterator<Item = Value> + '_ {
        self.0.iter().filter_map(|item| item.kept.clone())
    }

    /// The calls, in order: name, arguments, and whether they are whole. With `cut`, the output limit struck.
    pub(super) fn calls(&self, cut: bool) -> impl Iterator<Item = (&str, String, bool)> {
        let last = self.0.len().saturating_sub(1);
        let calls = self.0.iter().enumerate();
        let calls = calls.filter(|(_, item)| item.kind == Kind::Call && !item.name.is_empty());
        calls.map(move |(at, item)| {
            let arguments = settle(if item.text.is_empty() { &item.given } else { &item.text });
            let ended = item.is_ended || (!cut && is_object(&arguments));
            // Nobody can tell whether what was being written at the limit is whole, unless the server says so.
            let is_whole = match item.status {
                Status::Whole => true,
                Status::Cut => false,
                Status::Untold => ended && !(cut && at == last),
            };
            (item.name.as_str(), arguments, is_whole)
        })
    }
}

impl Item {
    fn new(name: Name<'_>, kind: Kind) -> Self {
        Self {
            index: name.index,
            id: name.id.to_owned(),
            kind,
            name: String::new(),
            call_id: String::new(),
            text: String::new(),
            given: String::new(),
            is_begun: false,
            joiner: Joiner::default(),
            is_ended: false,
            status: Status::Untold,
            kept: None,
        }
    }

    /// Whether what is told under this item's name must be another one. Servers reuse places and ids.
    fn is_another(&self, name: Name<'_>, told: &Value, begins: bool) -> bool {
        let differs = |held: &str, member: &str| {
            let word = told[member].as_str().unwrap_or_default();
            !held.is_empty() && !word.is_empty() && held != word
        };
        if differs(&self.name, "name") || differs(&self.call_id, "call_id") {
            return true;
        }
        if !begins {
            let moved = name.index.is_some() && self.index.is_some() && name.index != self.index;
            return self.is_ended && moved && *as_text(&told["arguments"]) != self.text;
        }
        let is_same = match (self.id.as_str(), name.id) {
            ("", "") => self.index.is_some() && self.index == name.index,
            (held, id) => {
                held == id || (!self.call_id.is_empty() && told["call_id"] == self.call_id.as_str())
            }
        };
        self.is_begun && (self.is_ended || !is_same)
    }

    /// More of the item.
    pub(super) fn extend(&mut self, piece: &str, marked: bool, out: &mut Vec<ModelDelta>) {
        let piece = self.joiner.add(piece, marked).into_owned();
        self.say(&piece, out);
    }

    /// The next part of the item as a whole; nothing of it is new when it came in pieces.
    pub(super) fn complete(&mut self, whole: &str, marked: bool, out: &mut Vec<ModelDelta>) {
        let mut joiner = Joiner::default();
        let mut whole = joiner.add(whole, marked).into_owned();
        whole.extend(joiner.end());
        self.release(out);
        match whole.strip_prefix(&self.text) {
            Some(rest) => self.say(rest, out),
            None if self.text.contains(&whole) => {}
            None => {
                if self.kind == Kind::Reasoning {
                    self.set_apart(out);
                }
                self.say(&whole, out);
            }
        }
    }

    /// A further part of the same item begins: it is set apart.
    pub(super) fn set_apart(&mut self, out: &mut Vec<ModelDelta>) {
        if !self.text.is_empty() {
            self.say("\n\n", out);
        }
    }

    /// The arguments as a whole.
    pub(super) fn arguments(&mut self, whole: &Value, marked: bool) {
        let whole = as_text(whole);
        if whole.is_empty() {
            return;
        }
        let mut joiner = Joiner::default();
        self.text = joiner.add(&whole, marked).into_owned();
        self.text.extend(joiner.end());
        self.joiner = Joiner::default();
        self.is_ended = true;
    }

    fn release(&mut self, out: &mut Vec<ModelDelta>) {
        if let Some(last) = self.joiner.end() {
            self.say(last.encode_utf8(&mut [0; 4]), out);
        }
    }

    fn say(&mut self, piece: &str, out: &mut Vec<ModelDelta>) {
        self.text.push_str(piece);
        match self.kind {
            Kind::Message => push_text(out, piece),
            Kind::Reasoning => push_thought(out, piece),
            Kind::Call | Kind::Other => {}
        }
    }
}
