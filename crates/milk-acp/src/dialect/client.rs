//! The client's half of the protocol, for an agent that another agent hands work to: words what we ask of it, and reads
//! what it says and asks. Reads both versions leniently, since it is another program's word; where they differ, the
//! shape tells them apart.

mod read;

use serde_json::{Value, json};
use session_model::{
    Answer, AskOption, AskOptionKind, Content, ElicitAsk, Event, PermissionAsk, StopReason, ToolCallId,
};

use super::{v1_words, v2_words};

pub(crate) use read::{asked, form, told};

/// The versions we speak, the one we would rather speak first: in version 1 a change is told with both its sides.
pub(crate) const VERSIONS: [u16; 2] = [1, 2];

/// The parameters of `initialize`.
pub(crate) fn hello(version: u16) -> Value {
    let me = json!({"name": "milk", "version": env!("CARGO_PKG_VERSION")});
    let capabilities = json!({"elicitation": {"form": {}}});
    match version {
        1 => json!({"protocolVersion": 1, "clientInfo": me, "clientCapabilities": capabilities}),
        version => json!({"protocolVersion": version, "info": me, "capabilities": capabilities}),
    }
}

/// A prompt's content in the words of `version`.
pub(crate) fn prompt(version: u16, content: &[Content]) -> Value {
    let word = |content: &Content| match version {
        1 => serde_json::to_value(v1_words::block(content)),
        _ => serde_json::to_value(v2_words::block(content)),
    };
    content.iter().filter_map(|content| word(content).ok()).collect()
}

/// What an agent told. Ids are its own.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Told {
    /// Something that happened.
    Event(Box<Event>),
    /// The turn is over (version 2); why, and what went wrong.
    Idle(Option<StopReason>, Option<String>),
    /// The turn runs (version 2).
    Running,
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
