//! Finds out what a configured server can do, for `milk doctor`: is it there, does it stream, does it call
//! tools. Each answer comes with its reason and within a time limit. Changes nothing on the server.

use std::time::Duration;

use futures::StreamExt;
use serde_json::json;
use session_model::Content;
use tokio::time::timeout;

use super::{OpenAiChat, OpenAiChatConfig};
use crate::provider::{ModelDelta, ModelMessage, ModelRequest, Provider, ProviderError, ToolSchema};
use crate::providers::detect;
use crate::providers::learn::TOOLS;

/// The tool that the model is asked to call.
const TOOL: &str = "report_ready";

/// What a probe found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeReport {
    /// Something answers at the agent's URL and takes its credentials.
    pub reachable: Check,
    /// An answer comes token by token.
    pub streams: Check,
    /// A tool on offer is called.
    pub calls_tools: Check,
    /// The models that the server lists; empty when it lists none.
    pub models: Vec<String>,
}

/// How one check went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Check {
    /// It does; what was seen.
    Passed(String),
    /// It does not; why.
    Failed(String),
    /// Not tried, for an earlier check failed.
    Skipped,
}

impl Check {
    /// Whether it passed.
    #[must_use]
    pub fn is_passed(&self) -> bool {
        matches!(self, Self::Passed(_))
    }
}

/// Probes the server of `config`; each of the checks takes `limit` at most.
pub async fn probe(mut config: OpenAiChatConfig, limit: Duration) -> ProbeReport {
    config.connect_timeout = config.connect_timeout.min(limit);
    let models = timeout(limit, list_models(&config)).await.unwrap_or_default();
    let provider = OpenAiChat::new(config);
    let mut report = ProbeReport {
        reachable: Check::Skipped,
        streams: Check::Skipped,
        calls_tools: Check::Skipped,
        models,
    };
    match bounded(limit, ask(&provider, "Count from one to ten.", Vec::new())).await {
        Ok(answer) => {
            report.reachable = Check::Passed(provider.0.link.config.url.clone());
            report.streams = streams(&answer);
        }
        Err(Miss::Error(error)) => {
            let reason = error.to_string();
            if is_absent(&error) {
                report.reachable = Check::Failed(reason);
                return report;
            }
            report.reachable = Check::Passed(provider.0.link.config.url.clone());
            report.streams = Check::Failed(reason);
        }
        Err(Miss::Late) => {
            report.reachable = Check::Passed(provider.0.link.config.url.clone());
            report.streams = Check::Failed(late(limit));
        }
    }
    report.calls_tools = match bounded(limit, ask(&provider, &tool_request(), vec![tool()])).await {
        Ok(answer) => calls_tools(&answer, provider.0.link.refuses(TOOLS)),
        Err(miss) => Check::Failed(missed(&miss, limit)),
    };
    report
}

/// Probes a server by what any provider can tell; `place` is where it is. Its models are not listed.
pub async fn probe_any(provider: &dyn Provider, place: &str, limit: Duration) -> ProbeReport {
    let mut report = ProbeReport {
        reachable: Check::Skipped,
        streams: Check::Skipped,
        calls_tools: Check::Skipped,
        models: Vec::new(),
    };
    let there = Check::Passed(place.to_owned());
    match bounded(limit, gather(provider, "Count from one to ten.", Vec::new())).await {
        Ok(answer) => (report.reachable, report.streams) = (there, streams(&answer)),
        Err(Miss::Error(error)) if is_absent(&error) => {
            report.reachable = Check::Failed(error.to_string());
            return report;
        }
        Err(miss) => (report.reachable, report.streams) = (there, Check::Failed(missed(&miss, limit))),
    }
    report.calls_tools = match bounded(limit, gather(provider, &tool_request(), vec![tool()])).await {
        Ok(answer) => calls_tools(&answer, false),
        Err(miss) => Check::Failed(missed(&miss, limit)),
    };
    report
}

async fn gather(
    provider: &dyn Provider,
    text: &str,
    tools: Vec<ToolSchema>,
) -> Result<Answer, ProviderError> {
    let messages = vec![ModelMessage::User(vec![Content::text(text)])];
    let mut stream = provider
        .stream(ModelRequest { system: String::new(), messages, tools, ..ModelRequest::default() })
        .await?;
    let (mut deltas, mut reads) = (Vec::new(), 0);
    while let Some(delta) = stream.next().await {
        deltas.push(delta?);
        reads += 1;
    }
    Ok(Answer { deltas, reads, is_event_stream: true })
}

fn tool_request() -> String {
    format!("Call the tool {TOOL} with the word \"ready\". Do nothing else.")
}

fn missed(miss: &Miss, limit: Duration) -> String {
    match miss {
        Miss::Error(error) => error.to_string(),
        Miss::Late => late(limit),
    }
}

/// What came back, and in how many reads.
struct Answer {
    deltas: Vec<ModelDelta>,
    reads: usize,
    is_event_stream: bool,
}

enum Miss {
    Error(ProviderError),
    Late,
}

async fn bounded(
    limit: Duration,
    answer: impl Future<Output = Result<Answer, ProviderError>>,
) -> Result<Answer, Miss> {
    timeout(limit, answer).await.map_err(|_| Miss::Late)?.map_err(Miss::Error)
}

async fn ask(provider: &OpenAiChat, text: &str, tools: Vec<ToolSchema>) -> Result<Answer, ProviderError> {
    let messages = vec![ModelMessage::User(vec![Content::text(text)])];
    let request = ModelRequest { system: String::new(), messages, tools, ..ModelRequest::default() };
    let mut reading = provider.0.begin(&request).await?;
    let is_event_stream = reading.is_event_stream();
    let mut deltas = Vec::new();
    while let Some(delta) = reading.next().await {
        deltas.push(delta?);
    }
    Ok(Answer { deltas, reads: reading.reads(), is_event_stream })
}

fn streams(answer: &Answer) -> Check {
    let said = answer.deltas.iter().any(|delta| match delta {
        ModelDelta::Text(_) | ModelDelta::Thought(_) => true,
        ModelDelta::Call(_)
        | ModelDelta::CutCall(_)
        | ModelDelta::Kept(_)
        | ModelDelta::Usage(_)
        | ModelDelta::Finish(_) => false,
    });
    match (said, answer.is_event_stream) {
        (false, _) => Check::Failed("the answer was empty".to_owned()),
        (true, false) => Check::Failed("the answer came as one JSON object, not as a stream".to_owned()),
        (true, true) => Check::Passed(format!("an event stream in {} reads", answer.reads)),
    }
}

fn calls_tools(answer: &Answer, refused: bool) -> Check {
    let call = answer.deltas.iter().find_map(|delta| match delta {
        ModelDelta::Call(call) => Some(call),
        ModelDelta::Text(_)
        | ModelDelta::Thought(_)
        | ModelDelta::CutCall(_)
        | ModelDelta::Kept(_)
        | ModelDelta::Usage(_)
        | ModelDelta::Finish(_) => None,
    });
    match call {
        Some(call) if call.name == TOOL => Check::Passed(format!("called with {}", call.arguments)),
        Some(call) => Check::Failed(format!("the model called `{}` instead", call.name)),
        None if refused => Check::Failed("the server refuses requests with tools".to_owned()),
        None => Check::Failed("the model answered in words instead of calling the tool".to_owned()),
    }
}

fn tool() -> ToolSchema {
    ToolSchema {
        name: TOOL.to_owned(),
        description: "Reports that you are ready.".to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {"word": {"type": "string", "description": "The word to report."}},
            "required": ["word"],
        }),
    }
}

async fn list_models(config: &OpenAiChatConfig) -> Vec<String> {
    let provider = OpenAiChat::new(config.clone());
    let link = &provider.0.link;
    let Ok(endpoint) = link.endpoint() else { return Vec::new() };
    let listing = link.get(&endpoint.models).await;
    listing.as_ref().map(detect::models_in).unwrap_or_default()
}

/// Whether an error means that nothing usable is there at all.
fn is_absent(error: &ProviderError) -> bool {
    match error {
        ProviderError::Unreachable { .. }
        | ProviderError::Untrusted { .. }
        | ProviderError::Unauthorized { .. }
        | ProviderError::Misconfigured { .. } => true,
        ProviderError::Status { .. }
        | ProviderError::Reported { .. }
        | ProviderError::Truncated { .. }
        | ProviderError::Malformed { .. }
        | ProviderError::TimedOut { .. } => false,
    }
}

fn late(limit: Duration) -> String {
    format!("no whole answer within {} s", limit.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::mock_openai::{MockOpenAi, Reply};

    const LIMIT: Duration = Duration::from_secs(5);

    async fn report(mock: &MockOpenAi) -> ProbeReport {
        probe(OpenAiChatConfig::new("local", mock.url()), LIMIT).await
    }

    #[tokio::test]
    async fn a_good_server_passes() {
        let mock = MockOpenAi::start().await.unwrap();
        mock.script([Reply::say(&["one ", "two"]), Reply::call(TOOL, &json!({"word": "ready"}))]);
        let report = report(&mock).await;
        assert!(report.reachable.is_passed() && report.streams.is_passed(), "{report:?}");
        assert_eq!(report.calls_tools, Check::Passed(r#"called with {"word":"ready"}"#.to_owned()));
        assert_eq!(report.models, ["mock-model"]);
    }

    #[tokio::test]
    async fn each_miss_has_its_reason() {
        let mock = MockOpenAi::start().await.unwrap();
        let whole = json!({"choices": [{"message": {"content": "one two"}, "finish_reason": "stop"}]});
        mock.script([Reply::error(200, &whole), Reply::say(&["I am ready"])]);
        let report = report(&mock).await;
        assert!(report.reachable.is_passed());
        assert_eq!(
            report.streams,
            Check::Failed("the answer came as one JSON object, not as a stream".to_owned())
        );
        let words = "the model answered in words instead of calling the tool";
        assert_eq!(report.calls_tools, Check::Failed(words.to_owned()));
    }

    #[tokio::test]
    async fn a_server_without_tools_is_told() {
        let mock = MockOpenAi::start().await.unwrap();
        let refusal = json!({"error": {"message": "x does not support tools"}});
        mock.script([Reply::say(&["one"]), Reply::error(400, &refusal), Reply::say(&["hm"])]);
        let report = report(&mock).await;
        assert_eq!(report.calls_tools, Check::Failed("the server refuses requests with tools".to_owned()));
    }

    #[tokio::test]
    async fn nothing_more_is_tried_where_nothing_is() {
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let config = OpenAiChatConfig::new("local", format!("http://127.0.0.1:{port}"));
        let report = probe(config, LIMIT).await;
        assert!(
            matches!(&report.reachable, Check::Failed(reason) if reason.contains("cannot reach")),
            "{report:?}"
        );
        assert_eq!((report.streams, report.calls_tools), (Check::Skipped, Check::Skipped));
    }

    #[tokio::test]
    async fn a_server_that_never_ends_is_left_in_time() {
        let mock = MockOpenAi::start().await.unwrap();
        mock.respond(|_| Reply::pieces([": wait\n\n"]).held_open());
        let config = OpenAiChatConfig::new("local", mock.url());
        let report = probe(config, Duration::from_millis(100)).await;
        assert!(matches!(&report.streams, Check::Failed(reason) if reason.contains("within")), "{report:?}");
        assert!(!report.calls_tools.is_passed());
    }
}
