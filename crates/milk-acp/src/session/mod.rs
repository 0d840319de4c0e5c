//! One task per conversation view: it owns the state of the session it shows, its turn, its open questions and its
//! words to the client.
//!
//! Dispatch posts [`Mail`] and never waits. Inside, [`core`] decides, [`actor`] does, [`moves`] changes what is shown.

mod actor;
mod changes;
mod core;
mod deliver;
pub(crate) mod desk;
mod host;
mod journal;
mod mail;
pub(crate) mod moves;
pub(crate) mod open;
mod questions;
pub(crate) mod replay;
mod segment;
pub(crate) mod turn;

use std::path::PathBuf;
use std::sync::Arc;

use acp_rpc::{Peer, Responder};
use session_model::source::{Clock, Ids};
use session_model::{SessionId, ToolCallId};
use session_store::SessionStore;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::command::{NewSession, OpenSession, Prompt, SetOption};
use crate::dialect::Dialect;
use crate::drivers::Drivers;
use crate::error::ServerError;
use crate::views::{Claim, Seat, Views};

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
    /// Who shows what.
    pub(crate) views: Arc<Views>,
}

/// How a session begins.
#[derive(Debug)]
pub(crate) enum Opening {
    /// By `session/new`.
    New {
        request: NewSession,
        /// Whether an earlier conversation may be taken up, as far as dispatch can tell.
        adopt: bool,
    },
    /// By `session/resume` or `session/load`.
    Stored {
        request: OpenSession,
        claim: Claim,
        /// The end of the view that still closes it.
        after: Option<CancellationToken>,
    },
}

/// Who waits for a session to be dropped.
pub(crate) type Dropped = oneshot::Sender<Result<(), ServerError>>;

/// One thing a view is told to do.
#[derive(Debug)]
pub(crate) enum Mail {
    Prompt(Prompt, Responder),
    Cancel,
    /// End one tool call of the running turn.
    CancelCall(SessionId, ToolCallId, Option<Responder>),
    SetOption(SetOption, Responder),
    /// Show its session again, to the client that knows it by this id.
    Attach(OpenSession, Responder),
    /// Show the session it was made with again.
    Return(OpenSession, Responder),
    Close(Responder),
    /// Close, then drop this session.
    Delete(SessionId, Dropped),
    /// Drop this session and go on with a fresh one.
    Drop(SessionId, Dropped),
}

impl Mail {
    /// The session a request names.
    pub(crate) fn session(&self) -> Option<&SessionId> {
        match self {
            Self::Prompt(Prompt { session, .. }, _)
            | Self::CancelCall(session, ..)
            | Self::SetOption(SetOption { session, .. }, _)
            | Self::Attach(OpenSession { session, .. }, _)
            | Self::Return(OpenSession { session, .. }, _)
            | Self::Delete(session, _)
            | Self::Drop(session, _) => Some(session),
            Self::Close(_) | Self::Cancel => None,
        }
    }

    /// The request behind it, to be answered when it cannot be delivered. Who waits for a session to be dropped
    /// sees that itself.
    pub(crate) fn into_responder(self) -> Option<Responder> {
        match self {
            Self::Prompt(_, responder)
            | Self::SetOption(_, responder)
            | Self::Attach(_, responder)
            | Self::Return(_, responder)
            | Self::Close(responder) => Some(responder),
            Self::CancelCall(_, _, responder) => responder,
            Self::Cancel | Self::Delete(..) | Self::Drop(..) => None,
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

/// What a view reads.
pub(crate) type Mailbox = mpsc::Receiver<Mail>;

impl SessionHandle {
    /// A mailbox and the way to it.
    pub(crate) fn new() -> (Self, Mailbox) {
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
}

/// A session's task: what it was born with.
#[derive(Debug)]
pub(crate) struct Birth {
    pub(crate) opening: Opening,
    pub(crate) responder: Responder,
    pub(crate) seat: Seat,
    pub(crate) mailbox: Mailbox,
    pub(crate) shutdown: CancellationToken,
}
