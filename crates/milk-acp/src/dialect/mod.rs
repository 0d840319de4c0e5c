//! Puts the session's vocabulary into one protocol version's words, and back.
//!
//! The only place that names a version. The two are siblings: neither is written in terms of the other, and both
//! are lossy projections of the same events. Nothing here waits, keeps a session's state beyond what v1's wording
//! needs, or decides anything; it reads no clock but the runtime's, to space out repeated tool output.

mod answer;
pub(crate) mod capabilities;
mod chunk;
pub(crate) mod client;
mod decode;
mod diff;
mod form;
mod lifecycle;
mod limit;
mod v1_ask;
mod v1_host;
mod v1_in;
mod v1_memory;
mod v1_out;
mod v1_reply;
mod v1_words;
mod v2_ask;
mod v2_in;
mod v2_out;
mod v2_reply;
mod v2_words;

#[cfg(test)]
mod conformance;
#[cfg(test)]
mod tests;

use acp_rpc::{Params, RequestError, RpcError};
use agent_runtime::host::{HostCall, HostError, TerminalOutput};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use session_model::{Answer, Ask, Event, Route, SessionId, TerminalExit, TerminalId, Warning};
use tokio::time::Instant;

use crate::command::{ClientFeatures, Command, Notice, Reply};

pub use self::v1_in::V1;
pub use self::v2_in::V2;

const UPDATE: &str = "session/update";
const PERMISSION: &str = "session/request_permission";
const ELICITATION: &str = "elicitation/create";
const ROUTE: &str = "_milk/route";
const WARNING: &str = "_milk/warning";

/// The notifications of our own that a client may receive; `initialize` lists them.
const NOTIFICATIONS: [&str; 2] = [ROUTE, WARNING];

/// The version a connection speaks, with what its `initialize` settled.
#[derive(Debug, Clone)]
pub enum Dialect {
    /// Version 1.
    V1(V1),
    /// Version 2.
    V2(V2),
}

/// What `initialize` settled, and its result.
#[derive(Debug, Clone)]
pub struct Negotiated {
    /// The version's words from here on.
    pub dialect: Dialect,
    /// The result of `initialize`, in that version's shape.
    pub result: Box<RawValue>,
}

/// A notification or request of ours, in words.
#[derive(Debug, Clone)]
pub struct Outgoing {
    /// Its method.
    pub method: &'static str,
    /// Its parameters.
    pub params: Box<RawValue>,
}

/// What a client did in our place, in no version's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostAnswer {
    /// A file's text.
    Text(String),
    /// It is done.
    Done,
    /// A command runs in this terminal.
    Terminal(TerminalId),
    /// What a command has printed.
    Output(TerminalOutput),
    /// A command has ended.
    Exited(TerminalExit),
}

impl Outgoing {
    /// `None`, with a line in the log, when the parameters cannot be written as JSON.
    fn new<P: Serialize>(method: &'static str, params: &P) -> Option<Self> {
        match to_raw_value(params) {
            Ok(params) => Some(Self { method, params }),
            Err(error) => {
                tracing::error!(method, %error, "parameters cannot be written as JSON");
                None
            }
        }
    }

    /// The message in full, or bare of its bulk when it would make too long a line.
    fn bounded<P: Serialize>(method: &'static str, word: impl Fn(limit::Detail) -> P) -> Option<Self> {
        let full = Self::new(method, &word(limit::Detail::Full))?;
        if full.params.get().len() <= limit::MAX_LINE {
            return Some(full);
        }
        Self::new(method, &word(limit::Detail::Bare))
    }
}

impl Dialect {
    /// Reads a request.
    ///
    /// # Errors
    /// `-32601` for a method the version does not have or we do not advertise, `-32602` for parameters that do not
    /// fit; the text names the member and what to send instead.
    pub fn request(&self, method: &str, params: &Params) -> Result<Command, RpcError> {
        match self {
            Self::V1(v1) => v1.request(method, params),
            Self::V2(v2) => v2.request(method, params),
        }
    }

    /// Reads a notification; `None` for one that is unknown or malformed, which is to be ignored.
    #[must_use]
    pub fn notification(&self, method: &str, params: &Params) -> Option<Notice> {
        match self {
            Self::V1(_) => v1_in::notification(method, params),
            Self::V2(_) => v2_in::notification(method, params),
        }
    }

    /// Words the result of a request.
    #[must_use]
    pub fn reply(&self, reply: &Reply) -> Box<RawValue> {
        match self {
            Self::V1(v1) => v1_reply::reply(v1.features, reply),
            Self::V2(_) => v2_reply::reply(reply),
        }
    }

    /// What the client can do.
    #[must_use]
    pub fn features(&self) -> ClientFeatures {
        match self {
            Self::V1(v1) => v1.features,
            Self::V2(v2) => v2.features,
        }
    }

    /// Words what the client of `session` is to do in our place; `None` where the version has no such thing.
    #[must_use]
    pub fn host(&self, session: &SessionId, call: &HostCall) -> Option<Outgoing> {
        match self {
            Self::V1(_) => v1_host::word(session, call),
            Self::V2(_) => None,
        }
    }

    /// Reads what came back.
    ///
    /// # Errors
    /// What the client said, or that it said nothing that could be understood.
    pub fn host_answer(
        &self,
        call: &HostCall,
        outcome: Result<&RawValue, &RequestError>,
    ) -> Result<HostAnswer, HostError> {
        match self {
            Self::V1(_) => v1_host::read(call, outcome),
            Self::V2(_) => Err(HostError::Failed("this version has no such request".to_owned())),
        }
    }

    /// What words the events of `session`.
    #[must_use]
    pub fn view(&self, session: SessionId) -> View {
        View(match self {
            Self::V1(v1) => Kind::V1(v1_out::View::new(session, v1)),
            Self::V2(v2) => Kind::V2(v2_out::View::new(session, v2.features)),
        })
    }
}

/// Words one session's events and questions, and remembers what version 1 needs for that.
#[derive(Debug)]
pub struct View(Kind);

#[derive(Debug)]
enum Kind {
    V1(v1_out::View),
    V2(v2_out::View),
}

impl View {
    /// Speaks under this handle from now on.
    pub fn speak(&mut self, session: SessionId) {
        match &mut self.0 {
            Kind::V1(view) => view.speak(session),
            Kind::V2(view) => view.speak(session),
        }
    }

    /// Words something that happens now. Mostly one message; none when the version cannot say it or the client is
    /// not to be told.
    pub fn update(&mut self, event: &Event) -> Vec<Outgoing> {
        match &mut self.0 {
            Kind::V1(view) => view.update(event),
            Kind::V2(view) => view.update(event),
        }
    }

    /// Words something that happened earlier, for a client that is shown the history. Differs from
    /// [`update`](Self::update) in that the user's messages are always said.
    pub fn replay(&mut self, event: &Event) -> Vec<Outgoing> {
        match &mut self.0 {
            Kind::V1(view) => view.replay(event),
            Kind::V2(view) => view.update(event),
        }
    }

    /// When tool output that was held back is due; then call [`flush`](Self::flush). Version 1 repeats a call's whole
    /// output for every addition, so additions that follow fast are gathered.
    #[must_use]
    pub fn flush_due(&self) -> Option<Instant> {
        match &self.0 {
            Kind::V1(view) => view.flush_due(),
            Kind::V2(_) => None,
        }
    }

    /// Says all tool output that was held back.
    pub fn flush(&mut self) -> Vec<Outgoing> {
        match &mut self.0 {
            Kind::V1(view) => view.flush(),
            Kind::V2(_) => Vec::new(),
        }
    }

    /// Words a question; `None` when the client cannot be asked it.
    #[must_use]
    pub fn ask(&self, ask: &Ask) -> Option<Outgoing> {
        match &self.0 {
            Kind::V1(view) => view.ask(ask),
            Kind::V2(view) => view.ask(ask),
        }
    }

    /// Reads what came back for a question. Whatever is not understood is [`Answer::Unanswerable`] with the cause;
    /// an option that was not offered is not understood.
    #[must_use]
    pub fn answer(&self, ask: &Ask, outcome: Result<&RawValue, &RequestError>) -> Answer {
        match ask {
            Ask::Permission(permission) => answer::permission(&permission.options, outcome),
            Ask::Elicit(form) => answer::elicitation(&form.schema, outcome),
        }
    }
}

/// `_milk/route`: which agent answers, and why.
fn route(session: &SessionId, route: &Route) -> Option<Outgoing> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Params<'a> {
        session_id: &'a str,
        agent: &'a str,
        target: &'a str,
        reason: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        conclusive: Option<bool>,
    }
    Outgoing::new(
        ROUTE,
        &Params {
            session_id: session.as_str(),
            agent: route.agent.as_str(),
            target: &route.target,
            reason: &route.reason,
            conclusive: route.conclusive,
        },
    )
}

/// `_milk/warning`: what a detector found.
fn warning(session: &SessionId, warning: &Warning) -> Option<Outgoing> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Params<'a> {
        session_id: &'a str,
        category: &'a str,
        consumption: bool,
        message: &'a str,
    }
    Outgoing::new(
        WARNING,
        &Params {
            session_id: session.as_str(),
            category: &warning.category,
            consumption: warning.consumption,
            message: &warning.message,
        },
    )
}

/// A result as JSON. What we word is always writable; should it not be, the client gets an empty result and the log
/// the cause.
fn result<R: Serialize>(result: &R) -> Box<RawValue> {
    to_raw_value(result).unwrap_or_else(|error| {
        tracing::error!(%error, "a result cannot be written as JSON");
        RawValue::NULL.to_owned()
    })
}
