//! The client's half of the protocol, for an agent that another agent hands work to: words what we ask of it, and reads
//! what it says and asks. Reads both versions leniently, since it is another program's word; where they differ, the
//! shape tells them apart.

mod host;
mod patch;
mod read;

use std::path::PathBuf;

use agent_runtime::host::HostFeatures;
use serde_json::{Value, json};
use session_model::{
    Answer, AskOption, AskOptionKind, Content, ElicitAsk, Event, PermissionAsk, ResourceBody, StopReason,
    TerminalExit, TerminalId, ToolCallId,
};

use super::{v1_words, v2_words};
use crate::negotiate::PromptFeatures;

pub(crate) use host::{Given, Wanted, given, is_host, of_the_past, wanted};
pub(crate) use read::{asked, form, told, usage};

/// The versions we speak, the one we would rather speak first: in version 1 a change is told with both its sides.
pub(crate) const VERSIONS: [u16; 2] = [1, 2];

/// The parameters of `initialize`; `offered` is what the agent may have its client do, where the version has that.
pub(crate) fn hello(version: u16, offered: HostFeatures) -> Value {
    let me = json!({"name": "milk", "version": env!("CARGO_PKG_VERSION")});
    let mut capabilities = json!({"elicitation": {"form": {}}});
    match version {
        1 => {
            capabilities["fs"] =
                json!({"readTextFile": offered.read_file, "writeTextFile": offered.write_file});
            capabilities["terminal"] = json!(offered.terminal);
            json!({"protocolVersion": 1, "clientInfo": me, "clientCapabilities": capabilities})
        }
        version => json!({"protocolVersion": version, "info": me, "capabilities": capabilities}),
    }
}

/// What an agent says prompts may hold beside text and links, in its answer to `initialize`. What it does not say, it
/// cannot take.
pub(crate) fn takes(version: u16, hello: &Value) -> PromptFeatures {
    let said = match version {
        1 => &hello["agentCapabilities"]["promptCapabilities"],
        _ => &hello["capabilities"]["session"]["prompt"],
    };
    // A flag in version 1, an object in version 2.
    let has = |name: &str| said[name].as_bool().unwrap_or(said[name].is_object());
    PromptFeatures { image: has("image"), audio: has("audio"), embedded_context: has("embeddedContext") }
}

/// The method by which an agent takes up an earlier session, by its answer to `initialize`; the one that does not tell the
/// whole history again is better.
pub(crate) fn takes_up(version: u16, hello: &Value) -> Option<&'static str> {
    let said = &hello["agentCapabilities"];
    let resumes = version > 1 || said["sessionCapabilities"]["resume"].is_object();
    let loads = said["loadSession"] == true;
    if resumes { Some("session/resume") } else { loads.then_some("session/load") }
}

/// Whether sessions may have further folders, by the agent's answer to `initialize`.
pub(crate) fn takes_roots(version: u16, hello: &Value) -> bool {
    let said = match version {
        1 => &hello["agentCapabilities"]["sessionCapabilities"],
        _ => &hello["capabilities"]["session"],
    };
    said["additionalDirectories"].is_object()
}

/// A prompt's content in the words of `version`, as far as the agent takes it, and what it is only told of in words.
/// The text of a resource it does not take is sent as text.
pub(crate) fn prompt(version: u16, content: &[Content], takes: PromptFeatures) -> (Value, Vec<String>) {
    let word = |content: &Content| match version {
        1 => serde_json::to_value(v1_words::block(content)),
        _ => serde_json::to_value(v2_words::block(content)),
    };
    let mut lost = Vec::new();
    let mut fit = |content: &Content| match content {
        Content::Image { mime_type, .. } if !takes.image => Some(told_of("an image", mime_type, &mut lost)),
        Content::Audio { mime_type, .. } if !takes.audio => Some(told_of("a sound", mime_type, &mut lost)),
        Content::Resource(resource) if !takes.embedded_context => Some(match &resource.body {
            ResourceBody::Text(text) => {
                Content::text(format!("\n<resource uri=\"{}\">\n{text}\n</resource>\n", resource.uri))
            }
            ResourceBody::Blob(_) => {
                told_of(&resource.uri, resource.mime_type.as_deref().unwrap_or("unknown type"), &mut lost)
            }
        }),
        Content::Text { .. }
        | Content::Image { .. }
        | Content::Audio { .. }
        | Content::Link(_)
        | Content::Resource(_) => None,
    };
    let blocks = content.iter().filter_map(|piece| word(fit(piece).as_ref().unwrap_or(piece)).ok()).collect();
    (blocks, lost)
}

fn told_of(what: &str, mime_type: &str, lost: &mut Vec<String>) -> Content {
    let what = format!("{what} ({mime_type})");
    let words = Content::text(format!("\n[{what}, which cannot be passed on to this agent]\n"));
    lost.push(what);
    words
}

/// What an agent told. Ids are its own.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Told {
    /// Something that happened.
    Event(Box<Event>),
    /// Something about a terminal of the agent's own (version 2), by its own name.
    Terminal(TerminalId, Terminal),
    /// The turn is over (version 2); why, and what went wrong.
    Idle(Option<StopReason>, Option<String>),
    /// The turn runs (version 2).
    Running,
}

/// What is new about a terminal of an agent's own; absent members are unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Terminal {
    pub(crate) command: Option<String>,
    pub(crate) cwd: Option<PathBuf>,
    /// All output so far.
    pub(crate) output: Option<Vec<u8>>,
    /// More output.
    pub(crate) more: Vec<u8>,
    pub(crate) exit: Option<TerminalExit>,
}

/// The result of a permission request.
pub(crate) fn outcome(answer: &Answer) -> Value {
    match answer {
        Answer::Selected(option) => json!({"outcome": {"outcome": "selected", "optionId": option}}),
        Answer::Form(_) | Answer::Declined | Answer::Cancelled | Answer::Unanswerable(_) => {
            json!({"outcome": {"outcome": "cancelled"}})
        }
    }
}

/// The result of a form.
pub(crate) fn filled(answer: &Answer) -> Value {
    match answer {
        Answer::Form(content) => json!({"action": "accept", "content": content}),
        Answer::Declined => json!({"action": "decline"}),
        Answer::Selected(_) | Answer::Cancelled | Answer::Unanswerable(_) => json!({"action": "cancel"}),
    }
}

/// A stop reason, in either version's words.
pub(crate) fn stop(word: &str) -> StopReason {
    match word {
        "max_tokens" => StopReason::MaxTokens,
        "max_turn_requests" => StopReason::MaxTurnRequests,
        "refusal" => StopReason::Refusal,
        "cancelled" => StopReason::Cancelled,
        "error" => StopReason::Error,
        _ => StopReason::EndTurn,
    }
}

#[cfg(test)]
mod tests {
    use session_model::EmbeddedResource;

    use super::*;

    #[test]
    fn an_agent_is_sent_what_it_takes_and_told_of_the_rest() {
        let image = Content::Image { data: "AAAA".to_owned(), mime_type: "image/png".to_owned(), uri: None };
        let resource = |uri: &str, body| EmbeddedResource { uri: uri.to_owned(), mime_type: None, body };
        let text = Content::Resource(resource("file:///t", ResourceBody::Text("tea".to_owned())));
        let blob = Content::Resource(resource("file:///b", ResourceBody::Blob("AAAA".to_owned())));
        let content = [Content::text("look"), image, text, blob];
        let all = [
            (
                1,
                json!({"agentCapabilities": {"promptCapabilities": {"image": true, "embeddedContext": true}}}),
            ),
            (2, json!({"capabilities": {"session": {"prompt": {"image": {}, "embeddedContext": {}}}}})),
        ];
        for (version, hello) in all {
            let (blocks, lost) = prompt(version, &content, takes(version, &hello));
            let kinds: Vec<&str> =
                blocks.as_array().unwrap().iter().filter_map(|b| b["type"].as_str()).collect();
            assert_eq!((kinds, lost), (vec!["text", "image", "resource", "resource"], Vec::new()));
            let (blocks, lost) = prompt(version, &content, takes(version, &json!({})));
            let blocks = blocks.as_array().unwrap();
            assert!(blocks.iter().all(|block| block["type"] == "text"), "{blocks:?}");
            assert!(blocks[2]["text"].as_str().unwrap().contains("tea"), "{blocks:?}");
            assert_eq!(lost, ["an image (image/png)", "file:///b (unknown type)"]);
        }
    }
}
