//! One task per session: it owns the session's state, its turn, its open questions and its words to the client.
//!
//! Dispatch posts [`Mail`] and never waits. Inside, [`core`] decides, [`actor`] does.

mod actor;
mod core;
mod deliver;
mod journal;
mod mail;
mod open;
mod questions;
mod replay;
mod segment;
mod turn;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use acp_rpc::{Peer, Responder};
use session_model::SessionId;
use session_model::source::{Clock, Ids};
use session_store::SessionStore;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::command::{NewSession, OpenSession, Prompt, SetOption};
use crate::dialect::Dialect;
use crate::drivers::Drivers;

pub(crate) use self::mail::run;

/// How much mail may wait. More than any client sends while a session opens; what does not fit is refused with a
/// clear error, and a session that reads its mail at once never comes near it.
const MAILBOX: usize = 256;

/// What every session of a connection shares.
#[derive(Debug, Clone)]
pub(crate) struct Shared {
    pub(crate) store: Arc<dyn SessionStore>,
    pub(crate) drivers: Arc<dyn Drivers>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn Ids>,
    /// Where relative folders start.
    pub(crate) base: PathBuf,
    pub(crate) peer: Peer,
    pub(crate) dialect: Dialect,
    /// Tells dispatch the handle of a session that chose its id itself.
    pub(crate) registrations: mpsc::Sender<Registration>,
}

/// A session that opened, under the handle the client will use.
#[derive(Debug)]
pub(crate) struct Registration {
    pub(crate) session: SessionId,
    pub(crate) handle: SessionHandle,
}

/// How a session begins.
#[derive(Debug)]
pub(crate) enum Opening {
    /// By `session/new`.
    New {
        request: NewSession,
        /// Sessions closed earlier, when adoption is possible at all.
        adopt: Option<HashSet<SessionId>>,
    },
    /// By `session/resume` or `session/load`.
    Stored(OpenSession),
}

/// One thing a session is told to do.
#[derive(Debug)]
pub(crate) enum Mail {
    Prompt(Prompt, Responder),
    Cancel,
    SetOption(SetOption, Responder),
    Attach(OpenSession, Responder),
    Close(Responder),
    Delete(SessionId, Responder),
}

impl Mail {
    /// The request behind it, to be answered when it cannot be delivered.
    pub(crate) fn into_responder(self) -> Option<Responder> {
        match self {
            Self::Prompt(_, responder)
            | Self::SetOption(_, responder)
            | Self::Attach(_, responder)
            | Self::Close(responder)
            | Self::Delete(_, responder) => Some(responder),
            Self::Cancel => None,
        }
    }
}

/// Why mail was not taken.
#[derive(Debug)]
pub(crate) enum Undelivered {
    /// The session has ended.
    Gone(Box<Mail>),
    /// Too much is waiting.
    Full(Box<Mail>),
}

/// A way to reach a session's task.
#[derive(Debug, Clone)]
pub(crate) struct SessionHandle {
    mail: mpsc::Sender<Mail>,
}

impl SessionHandle {
    /// A mailbox and the way to it.
    pub(crate) fn new() -> (Self, mpsc::Receiver<Mail>) {
        let (mail, mailbox) = mpsc::channel(MAILBOX);
        (Self { mail }, mailbox)
    }

    /// Posts without waiting.
    pub(crate) fn post(&self, mail: Mail) -> Result<(), Undelivered> {
        self.mail.try_send(mail).map_err(|error| match error {
            mpsc::error::TrySendError::Full(mail) => Undelivered::Full(Box::new(mail)),
            mpsc::error::TrySendError::Closed(mail) => Undelivered::Gone(Box::new(mail)),
        })
    }

    /// Whether its task has ended.
    pub(crate) fn is_gone(&self) -> bool {
        self.mail.is_closed()
    }
}

/// A session's task: what it was born with.
#[derive(Debug)]
pub(crate) struct Birth {
    pub(crate) opening: Opening,
    pub(crate) responder: Responder,
    pub(crate) handle: SessionHandle,
    pub(crate) mailbox: mpsc::Receiver<Mail>,
    pub(crate) shutdown: CancellationToken,
}
