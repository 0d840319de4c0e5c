//! What answers when no language model is configured: it looks around in the workspace with the real tools, and
//! tells what they found.
//!
//! Deterministic, and stateless: each answer is decided by the request's messages alone, as a model's is. First
//! it lists the folder, then it reads what says what the project is, then it searches for what was asked about,
//! then it answers. It only reads. It knows no file system; the tools do.

mod answer;
mod findings;
mod project;
mod question;

use async_trait::async_trait;
use futures::{StreamExt, stream};
use serde_json::{Value, json};

use crate::provider::{
    FinishReason, ModelCall, ModelDelta, ModelMessage, ModelRequest, ModelStream, Provider, ProviderError,
    ProviderInfo,
};
use findings::Findings;
use question::Question;

/// The name it goes by.
pub const NAME: &str = "offline";

/// Said first in every turn.
const NO_MODEL: &str = "No model is configured, so this is only what the tools can tell. To get one: start an \
    OpenAI-compatible server (Ollama, llama.cpp, LM Studio or vLLM) on its usual port, set an API key such as \
    OPENAI_API_KEY, or add an agent to ~/.milk/config.json; `milk doctor` shows what is found.\n\n";

/// Files read because they say what a project is.
const MAX_READS: usize = 4;
/// Lines of each.
const READ_LINES: u64 = 120;

/// The provider without a model.
#[derive(Debug, Clone, Copy, Default)]
pub struct Offline;

impl Offline {
    /// The only one there is.
    #[must_use]
    pub fn new() -> Self {
        Self
    }
}

#[async_trait]
impl Provider for Offline {
    fn info(&self) -> ProviderInfo {
        ProviderInfo { agent: NAME.to_owned(), model: String::new(), context_window: None }
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ProviderError> {
        let Reply { text, calls } = reply(&request);
        let said = answer::pieces(&text).into_iter().map(ModelDelta::Text);
        let called = calls.into_iter().enumerate().map(|(at, (name, arguments))| {
            let id = format!("offline-{at}");
            ModelDelta::Call(ModelCall { id, name: name.to_owned(), arguments: arguments.to_string() })
        });
        let deltas: Vec<_> =
            said.chain(called).chain([ModelDelta::Finish(FinishReason::Stop)]).map(Ok).collect();
        Ok(stream::iter(deltas).boxed())
    }
}

struct Reply {
    text: String,
    calls: Vec<(&'static str, Value)>,
}

/// The next thing to do after all that was done for the newest question.
fn reply(request: &ModelRequest) -> Reply {
    let asked = request.messages.iter().rposition(|message| matches!(message, ModelMessage::User(_)));
    let (question, since) = match asked.map(|at| (&request.messages[at], &request.messages[at + 1..])) {
        Some((ModelMessage::User(content), since)) => (Question::read(content), since),
        Some(_) | None => (Question::default(), &request.messages[..0]),
    };
    let findings = Findings::read(since);
    let offered = |tool: &str| request.tools.iter().any(|schema| schema.name == tool);
    for stage in [look, read, search] {
        let mut calls = stage(&question, &findings);
        calls.retain(|(tool, arguments)| offered(tool) && !findings.has(tool, arguments));
        if !calls.is_empty() {
            return Reply { text: opening(since), calls };
        }
    }
    Reply { text: opening(since) + &answer::compose(&question, &findings), calls: Vec::new() }
}

/// Said once a turn, before anything else.
fn opening(since: &[ModelMessage]) -> String {
    if since.is_empty() { NO_MODEL.to_owned() } else { String::new() }
}

/// The folder, and whatever the user named.
fn look(question: &Question, findings: &Findings<'_>) -> Vec<(&'static str, Value)> {
    if !findings.is_empty() {
        return Vec::new();
    }
    let mut calls = vec![("list_dir", json!({ "path": "." }))];
    calls.extend(question.folders.iter().map(|path| ("list_dir", json!({ "path": path }))));
    calls.extend(
        question.files.iter().map(|path| ("read_file", json!({ "path": path, "limit": READ_LINES }))),
    );
    calls
}

/// What says what the project is.
fn read(_: &Question, findings: &Findings<'_>) -> Vec<(&'static str, Value)> {
    let telling = project::telling_files(&findings.entries("."));
    telling
        .into_iter()
        .take(MAX_READS)
        .map(|path| ("read_file", json!({ "path": path, "limit": READ_LINES })))
        .collect()
}

/// Where the words of the question are.
fn search(question: &Question, _: &Findings<'_>) -> Vec<(&'static str, Value)> {
    let grep = |term: &String| {
        ("grep", json!({ "pattern": term, "path": ".", "literal": true, "ignore_case": true }))
    };
    question.terms.iter().map(grep).collect()
}

#[cfg(test)]
mod tests;
