//! What the tools have told in this turn.

use serde_json::Value;

use crate::provider::{ModelCall, ModelMessage};

/// The calls of the turn with their results.
#[derive(Debug)]
pub(super) struct Findings<'a>(Vec<Found<'a>>);

/// One call and its result.
#[derive(Debug)]
pub(super) struct Found<'a> {
    pub(super) tool: &'a str,
    pub(super) arguments: Value,
    /// What it told, or why it failed.
    pub(super) result: Result<String, String>,
}

impl<'a> Findings<'a> {
    /// Reads them from the messages since the question.
    pub(super) fn read(since: &'a [ModelMessage]) -> Self {
        let mut calls: Vec<&ModelCall> = Vec::new();
        let mut found = Vec::new();
        for message in since {
            match message {
                ModelMessage::User(_) => {}
                ModelMessage::Assistant { calls: made, .. } => calls.extend(made),
                ModelMessage::ToolResult { call_id, output, .. } => {
                    if let Some(call) = calls.iter().find(|call| call.id == *call_id) {
                        let arguments = serde_json::from_str(&call.arguments).unwrap_or_default();
                        found.push(Found { tool: &call.name, arguments, result: told(output) });
                    }
                }
            }
        }
        Self(found)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this was done already.
    pub(super) fn has(&self, tool: &str, arguments: &Value) -> bool {
        self.0.iter().any(|found| found.tool == tool && found.arguments == *arguments)
    }

    /// All results of a tool, in order.
    pub(super) fn of(&self, tool: &'static str) -> impl Iterator<Item = &Found<'a>> {
        self.0.iter().filter(move |found| found.tool == tool)
    }

    /// The text of a file that was read, without line numbers and the tool's remarks.
    pub(super) fn file(&self, path: &str) -> Option<String> {
        let found = self.of("read_file").find(|found| found.argument("path") == path)?;
        found.result.as_ref().ok().map(|shown| unnumbered(shown))
    }

    /// The entries of a folder that was listed.
    pub(super) fn entries(&self, path: &str) -> Vec<Entry> {
        let listed = self.of("list_dir").find(|found| found.argument("path") == path);
        let text = listed.and_then(|found| found.result.as_deref().ok()).unwrap_or_default();
        text.lines().filter_map(Entry::parse).collect()
    }
}

impl Found<'_> {
    /// A text argument of the call.
    pub(super) fn argument(&self, name: &str) -> &str {
        self.arguments.get(name).and_then(Value::as_str).unwrap_or_default()
    }
}

/// One entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) folder: bool,
    /// Without a slash at its end.
    pub(super) name: String,
}

impl Entry {
    /// Reads a line of `list_dir`: kind, size and name between tabs.
    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.splitn(3, '\t');
        let (kind, _, name) = (fields.next()?, fields.next()?, fields.next()?);
        let name = name.split(" -> ").next().unwrap_or(name).trim_end_matches('/');
        (!name.is_empty()).then(|| Self { folder: kind == "dir", name: name.to_owned() })
    }
}

/// The lines of `read_file` as they are in the file.
pub(super) fn unnumbered(shown: &str) -> String {
    let text = |line: &str| {
        let (number, text) = line.split_once('\t')?;
        number.trim().parse::<u64>().ok().map(|_| text.to_owned())
    };
    shown.lines().filter_map(text).collect::<Vec<_>>().join("\n")
}

/// A result as tools give it; the engine may have added a remark behind it.
fn told(output: &str) -> Result<String, String> {
    let first = serde_json::Deserializer::from_str(output).into_iter::<Value>().next();
    let Some(Ok(Value::Object(members))) = first else { return Ok(output.to_owned()) };
    let member = |name: &str| members.get(name).and_then(Value::as_str).map(str::to_owned);
    match member("error") {
        Some(error) => Err(error),
        None => Ok(member("output").unwrap_or_default()),
    }
}
