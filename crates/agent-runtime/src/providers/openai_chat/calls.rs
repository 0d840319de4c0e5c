//! Puts the pieces of streamed tool calls together. Ids and indexes of model servers are hints: they are
//! missing, repeated, shared and wrong in the wild, so a piece is placed by everything it says. Knows the names
//! of the tools on offer, which helps with names in pieces, and nothing else of tools.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use serde_json::value::RawValue;

use super::chunk::{CallPiece, FunctionPiece, Text};
use crate::provider::{ModelCall, ToolSchema};
use crate::providers::arguments::{CallIds, is_object, settle};
use crate::providers::surrogates::{self, Joiner};

/// A call before it is whole.
#[derive(Debug, Default)]
struct Partial {
    id: String,
    name: String,
    arguments: String,
    joiner: Joiner,
    extra: Option<Value>,
}

/// A call as it was made.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) call: ModelCall,
    /// The output limit struck while it was written.
    pub(super) is_cut: bool,
    /// What belongs to it beside name and arguments, for the server.
    pub(super) extra: Option<Value>,
}

/// The calls of one answer.
#[derive(Debug)]
pub(super) struct Calls {
    offered: Arc<[ToolSchema]>,
    partial: Vec<Partial>,
    by_index: BTreeMap<u64, usize>,
    current: Option<usize>,
}

impl Calls {
    /// None yet; `offered` are the tools the model was told of.
    pub(super) fn new(offered: Arc<[ToolSchema]>) -> Self {
        Self { offered, partial: Vec::new(), by_index: BTreeMap::new(), current: None }
    }

    /// Takes the `tool_calls` of one delta.
    pub(super) fn push(&mut self, pieces: &[CallPiece<'_>], marked: bool) {
        let before = self.partial.len();
        for (position, piece) in pieces.iter().enumerate() {
            let unnumbered = pieces.len() > 1 && piece.index.0.is_none() && piece.id.0.is_empty();
            let index = if unnumbered { u64::try_from(position).ok() } else { piece.index.0 };
            let default = FunctionPiece::default();
            let function = piece.function.as_ref().unwrap_or(&default);
            let at = self.place(index, &piece.id.0, function, before);
            self.extend(at, &piece.id.0, function, marked);
            let extra = piece.extra_content.and_then(|raw| serde_json::from_str(raw.get()).ok());
            if let Some(extra @ Value::Object(_)) = extra {
                self.partial[at].extra = Some(extra);
            }
        }
    }

    /// Takes the `function_call` of a delta, the form from before `tool_calls`.
    pub(super) fn push_legacy(&mut self, function: &FunctionPiece<'_>, marked: bool) {
        let at = self.place(Some(0), "", function, self.partial.len());
        self.extend(at, "", function, marked);
    }

    /// Whether any piece came.
    pub(super) fn is_empty(&self) -> bool {
        self.partial.is_empty()
    }

    /// The calls in the order they began. With `cut`, the output limit struck: the call that was being written then
    /// counts as cut off, for nobody can tell whether it was whole.
    pub(super) fn finish(&mut self, cut: bool, ids: &CallIds) -> Vec<Made> {
        let current = self.current;
        let calls = std::mem::take(&mut self.partial);
        self.by_index.clear();
        let made = calls.into_iter().enumerate().filter(|(_, call)| !call.name.is_empty());
        let made = made.map(|(at, mut call)| {
            call.arguments.extend(call.joiner.end());
            let extra = call.extra.take();
            let arguments = settle(&call.arguments);
            let is_cut = cut && (current == Some(at) || !is_object(&arguments));
            let call = ModelCall { id: ids.mint(), name: call.name, arguments };
            Made { call, is_cut, extra }
        });
        made.collect()
    }

    /// Finds the call that a piece belongs to, or begins one. Calls from `before` on began in the same delta.
    fn place(&mut self, index: Option<u64>, id: &str, function: &FunctionPiece<'_>, before: usize) -> usize {
        let held = match index {
            Some(index) => self.by_index.get(&index).copied(),
            None if id.is_empty() => self.current,
            None => self.partial.iter().rposition(|call| call.id == id),
        };
        let is_named = !function.name.0.is_empty();
        let at = match held {
            Some(at) if !self.begins_another(at, id, function, at >= before) => Some(at),
            Some(_) => None,
            None if is_named => None,
            None if id.is_empty() => self.current,
            None => self.partial.iter().rposition(|call| call.id == id),
        };
        let at = at.unwrap_or_else(|| {
            self.partial.push(Partial::default());
            let at = self.partial.len() - 1;
            if let Some(index) = index {
                self.by_index.insert(index, at);
            }
            at
        });
        self.current = Some(at);
        at
    }

    /// Whether a piece that points to the call `at` is the start of another one all the same.
    fn begins_another(&self, at: usize, id: &str, function: &FunctionPiece<'_>, same_delta: bool) -> bool {
        let held = &self.partial[at];
        let has_name = !function.name.0.is_empty();
        if !id.is_empty() && !held.id.is_empty() && held.id != id {
            return true;
        }
        if !has_name || held.name.is_empty() {
            return false;
        }
        if same_delta {
            return true;
        }
        if !is_object(&held.arguments) {
            return false;
        }
        let (arguments, _) = text_of(function.arguments);
        held.name != *function.name.0 || (is_object(&arguments) && !same_json(&held.arguments, &arguments))
    }

    fn extend(&mut self, at: usize, id: &str, function: &FunctionPiece<'_>, marked: bool) {
        let call = &mut self.partial[at];
        if call.id.is_empty() {
            id.clone_into(&mut call.id);
        }
        merge_name(&mut call.name, &function.name.0, &self.offered);
        let (piece, is_marked) = text_of(function.arguments);
        call.arguments.push_str(&call.joiner.add(&piece, marked || is_marked));
    }
}

/// Arguments as text, whether they came as a string or as the JSON itself, and whether lone surrogates in it
/// had to be marked (reading a chunk does not look into its arguments).
fn text_of(arguments: Option<&RawValue>) -> (Cow<'_, str>, bool) {
    let Some(raw) = arguments.map(RawValue::get) else { return (Cow::Borrowed(""), false) };
    if !raw.starts_with('"') {
        let raw = if raw == "null" { "" } else { raw };
        return (Cow::Borrowed(raw), false);
    }
    if let Ok(Text(text)) = serde_json::from_str(raw) {
        return (text, false);
    }
    let marked = surrogates::mark(raw.as_bytes()).and_then(|json| serde_json::from_slice(&json).ok());
    (Cow::Owned(marked.unwrap_or_default()), true)
}

/// Adds a piece to a name. Servers send the name once, in pieces, or whole in every chunk.
fn merge_name(name: &mut String, piece: &str, offered: &[ToolSchema]) {
    let piece = piece.trim();
    if piece.is_empty() {
        return;
    }
    let joined = format!("{name}{piece}");
    let knows = |wanted: &str| offered.iter().any(|tool| tool.name == wanted);
    let leads = offered.iter().any(|tool| tool.name.starts_with(&joined));
    let grows = piece.len() > name.len() && piece.starts_with(name.as_str());
    if name.is_empty() || leads {
        *name = joined;
    } else if grows && knows(piece) {
        piece.clone_into(name);
    } else if knows(name) || name == piece {
        // Repeated, or noise after a whole name.
    } else if knows(piece) || piece.starts_with(name.as_str()) {
        piece.clone_into(name);
    } else {
        *name = joined;
    }
}

fn same_json(a: &str, b: &str) -> bool {
    match (serde_json::from_str::<Value>(a), serde_json::from_str::<Value>(b)) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}
