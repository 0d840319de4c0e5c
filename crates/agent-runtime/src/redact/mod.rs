//! Keeps secrets from the model: in everything it is told, keys of well-known shapes and configured values stand as
//! marks. What it writes into files with such a mark gets the secret back, so that an edit near a key does not destroy
//! it; in no other call does a mark turn into its secret.
//!
//! Shapes are recognised, not meanings: a password that looks like a word is not found unless it is configured. What is
//! kept and what the user sees stays as it is.

mod provider;
mod shapes;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

pub use provider::Redacting;

/// Configured values shorter than this are words that occur anywhere.
const SHORTEST: usize = 8;

/// Knows the secrets of one session. The same secret has the same mark as long as it lives.
pub struct Redactor {
    /// Tells this session's marks from text that merely looks like one.
    nonce: String,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Configured values, longest first.
    values: Vec<String>,
    /// What was hidden, and the mark that stands for it.
    hidden: Vec<(String, String)>,
}

/// Says nothing of what it knows.
impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor").finish_non_exhaustive()
    }
}

/// A piece of a text that is a secret.
pub(super) struct Found {
    pub(super) begin: usize,
    pub(super) end: usize,
    pub(super) kind: &'static str,
}

impl Redactor {
    /// One whose marks carry `nonce`, which nobody can guess (letters and digits).
    #[must_use]
    pub fn new(nonce: &str) -> Self {
        let nonce = nonce.chars().filter(char::is_ascii_alphanumeric).collect();
        Self { nonce, state: Mutex::default() }
    }

    /// Sets the values that are secrets whatever they look like.
    pub fn know(&self, values: impl IntoIterator<Item = String>) {
        let mut values: Vec<String> = values.into_iter().filter(|value| value.len() >= SHORTEST).collect();
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        values.dedup();
        self.lock().values = values;
    }

    /// `text` with marks in place of secrets.
    #[must_use]
    pub fn hide<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut state = self.lock();
        let mut found = shapes::find(text);
        for value in &state.values {
            let places = text.match_indices(value.as_str());
            found.extend(places.map(|(begin, value)| Found {
                begin,
                end: begin + value.len(),
                kind: "configured",
            }));
        }
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        // Of those that meet, the first and longest.
        found.sort_by_key(|found| (found.begin, std::cmp::Reverse(found.end)));
        let (mut hidden, mut copied) = (String::with_capacity(text.len()), 0);
        for Found { begin, end, kind } in found {
            if begin >= copied {
                hidden.push_str(&text[copied..begin]);
                hidden.push_str(state.mark(&text[begin..end], kind, &self.nonce));
                copied = end;
            } else if end > copied {
                // The rest of one that began within another.
                hidden.push_str(state.mark(&text[copied..end], kind, &self.nonce));
                copied = end;
            }
        }
        hidden.push_str(&text[copied..]);
        Cow::Owned(hidden)
    }

    /// Whether JSON surely holds nothing to hide: no sign of a secret, and none that an escape could cover. Every result of
    /// a conversation comes here with every request, and reading it takes longer than all else.
    fn is_plain(&self, json: &str) -> bool {
        let covers = ["\\u", "\\/"].iter().any(|escape| json.contains(escape));
        let is_escaped = |value: &String| value.contains(|c: char| c.is_control() || matches!(c, '"' | '\\'));
        let holds = |value: &String| is_escaped(value) || json.contains(value.as_str());
        !covers && !shapes::has_signs(json) && !self.lock().values.iter().any(holds)
    }

    /// Every text within `value`, hidden.
    #[must_use]
    pub fn hide_value(&self, value: Value) -> Value {
        map(value, &|text| self.hide(text).into_owned())
    }

    /// A text of JSON with every text within it hidden; as it was when there is nothing to hide, or when it is no JSON
    /// (then hidden as any text).
    #[must_use]
    pub fn hide_json(&self, json: String) -> String {
        let Ok(value) = serde_json::from_str::<Value>(&json) else { return self.hide(&json).into_owned() };
        let hidden = self.hide_value(value.clone());
        if hidden == value { json } else { format!("{hidden:#}") }
    }

    /// `args` of a call that writes files, with secrets in place of their marks.
    ///
    /// # Errors
    /// A sentence for the model when there is a mark that stands for nothing known: writing it would destroy text.
    pub fn restore(&self, args: Value) -> Result<Value, String> {
        let restored = map(args, &|text| self.restore_text(text));
        let lost = format!(":{}-", self.nonce);
        if restored.to_string().contains(&lost) {
            return Err("the call has a `[redacted:…]` mark that was changed or stands for nothing; copy marks exactly \
                        as you read them, or leave the lines that hold them alone"
                .to_owned());
        }
        Ok(restored)
    }

    fn restore_text(&self, text: &str) -> String {
        if !text.contains(&self.nonce) {
            return text.to_owned();
        }
        let state = self.lock();
        state.hidden.iter().fold(text.to_owned(), |text, (secret, mark)| text.replace(mark, secret))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// `value` with every text in it changed.
fn map(value: Value, change: &impl Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(change(&text)),
        Value::Array(items) => items.into_iter().map(|item| map(item, change)).collect(),
        Value::Object(members) => {
            members.into_iter().map(|(name, member)| (name, map(member, change))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

impl State {
    fn mark(&mut self, secret: &str, kind: &str, nonce: &str) -> &str {
        let known = self.hidden.iter().position(|(hidden, _)| hidden == secret);
        let at = known.unwrap_or_else(|| {
            // Each mark ends in `]`, so that none is the beginning of another.
            let mark = format!("[redacted:{kind}:{nonce}-{}]", self.hidden.len() + 1);
            self.hidden.push((secret.to_owned(), mark));
            self.hidden.len() - 1
        });
        &self.hidden[at].1
    }
}
