//! A session's task: waits for whatever comes next and keeps the one order in which things are told.
//!
//! Everything it says goes through one queue ([`Out`]): an item that has to be safe or needs room at the client
//! holds back all behind it, and the turn is only listened to while the queue is empty. That is how a client that
//! stops reading stops the model, and nothing else: mail, answers and cancellation come first.

use std::collections::{BTreeMap, VecDeque};
use std::future::{Future, poll_fn};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use acp_rpc::{Closed, Permit, Responder};
use agent_runtime::calls::RunningCalls;
use agent_runtime::mode::SharedMode;
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesOrdered;
use serde_json::value::RawValue;
use session_model::source::IdKind;
use session_model::{AskId, Event, Grant, MessageId, Notice, SessionId, Severity, TurnId};
use session_store::{Lease, MetaPatch};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use crate::commands::Forced;
use crate::dialect::{Outgoing, View};
use crate::drivers::{SessionDrivers, SessionSettings};
use crate::error::ServerError;
use crate::options::Options;
use crate::session::core::{Core, Effect, Input, ReplyId, Terms};
use crate::session::desk::ViewDesk;
use crate::session::host::{Happened, HostCalls};
use crate::session::journal::{Journal, Report};
use crate::session::mail::Attached;
use crate::session::moves::{Moved, Moves};
use crate::session::open::{Opened, Past};
use crate::session::questions::{Questions, Returned};
use crate::session::turn::{RunningTurn, Said};
use crate::session::{Dropped, Mail, Shared};
use crate::views::{Claim, Seat};

/// How long a client that does not read may hold up a session's end before the rest goes unsaid.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// One thing on its way to the client or the store, in order.
#[derive(Debug)]
pub(super) enum Out {
    /// What the core wants done.
    Do(Effect),
    /// A part of the history.
    Replay(Event),
    /// A further line of an event already begun.
    Line(Outgoing),
    /// The answer to a request.
    Answer(Responder, Result<Box<RawValue>, ServerError>),
    /// What is known beside the history has changed.
    Update(MetaPatch),
}

/// A prompt's request while it is unanswered.
pub(super) struct Waiting {
    pub(super) responder: Responder,
    pub(super) withdrawn: Pin<Box<WaitForCancellationFutureOwned>>,
    /// The withdrawal has been dealt with.
    pub(super) seen: bool,
}

/// What came next.
enum Wake {
    Shutdown,
    Mail(Option<Mail>),
    Written(Report),
    Room(Result<Permit, Closed>),
    Returned(Returned),
    Happened(Happened),
    Withdrawn(ReplyId),
    Attached(Attached),
    Moved(Box<Moved>),
    Said(Said),
    /// Tool output that was held back is due.
    Due,
    Unread,
}

/// What the head of the queue waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Need {
    Nothing,
    Room,
    Safety,
}

/// The state of one open session.
pub(super) struct Actor {
    pub(super) shared: Shared,
    pub(super) seat: Seat,
    /// The session the view was made with.
    pub(super) first: SessionId,
    /// The session it shows.
    pub(super) session: SessionId,
    pub(super) claim: Claim,
    /// Whether the session has a name or a title.
    pub(super) titled: bool,
    pub(super) cwd: PathBuf,
    pub(super) additional_roots: Vec<PathBuf>,
    pub(super) drivers: Arc<dyn SessionDrivers>,
    pub(super) settings: SessionSettings,
    pub(super) options: Options,
    /// Who answers.
    pub(super) desk: ViewDesk,
    /// Turns that are to go to one agent, and their prompts without the command.
    pub(super) forced: BTreeMap<TurnId, Forced>,
    /// Warnings about the configuration that were shown.
    pub(super) shown_warnings: Vec<String>,
    /// The options' mode, as the running turn sees it.
    pub(super) mode: SharedMode,
    pub(super) grants: Vec<Grant>,
    pub(super) core: Core,
    pub(super) view: View,
    pub(super) queue: VecDeque<Out>,
    pub(super) journal: Journal,
    pub(super) questions: Questions,
    /// What the client does for the turn.
    pub(super) host: HostCalls,
    /// The turn's calls that run.
    pub(super) calls: RunningCalls,
    pub(super) turn: Option<RunningTurn>,
    pub(super) waiting: BTreeMap<ReplyId, Waiting>,
    pub(super) attaching: FuturesOrdered<BoxFuture<'static, Attached>>,
    pub(super) moves: Moves,
    pub(super) next_reply: u64,
    pub(super) shutdown: CancellationToken,
    /// Held until everything is kept.
    pub(super) lease: Option<Lease>,
    /// Who is told when the view has ended.
    pub(super) closers: Vec<Responder>,
    /// What is dropped then, and who is told.
    pub(super) doomed: Vec<(SessionId, Dropped)>,
    pub(super) ending: bool,
    /// The client does not read and the session has to end: updates are dropped, items still kept.
    muted: bool,
    last_words: Option<Instant>,
}

/// What an actor is made of once its session is open.
pub(super) struct Parts {
    pub(super) shared: Shared,
    pub(super) seat: Seat,
    pub(super) drivers: Arc<dyn SessionDrivers>,
    pub(super) settings: SessionSettings,
    pub(super) options: Options,
    pub(super) opened: Opened,
    pub(super) shutdown: CancellationToken,
}

impl Actor {
    /// An actor at rest, and the history of its session.
    pub(super) fn new(parts: Parts) -> (Self, Past) {
        let Parts { shared, seat, drivers, settings, options, opened, shutdown } = parts;
        let Opened { claim, lease, cwd, additional_roots, title, grants, usage, mut past, .. } = opened;
        let session = claim.session().clone();
        let actor = Self {
            core: Core::new(Terms {
                handle: session.clone(),
                show_thoughts: options.think(),
                by_segment: settings.by_segment,
                withdrawing_cancels: shared.dialect.withdrawing_cancels(),
                inserted: std::mem::take(&mut past.keys).into_iter().collect(),
                usage,
            }),
            view: shared.dialect.view(session.clone()),
            journal: Journal::new(shared.store.clone(), session.clone()),
            shared,
            seat,
            first: session.clone(),
            session,
            claim,
            titled: title.is_some(),
            cwd,
            additional_roots,
            drivers,
            settings,
            mode: options.mode().into(),
            options,
            desk: ViewDesk::default(),
            forced: BTreeMap::new(),
            shown_warnings: Vec::new(),
            grants,
            queue: VecDeque::new(),
            questions: Questions::default(),
            host: HostCalls::default(),
            calls: RunningCalls::default(),
            turn: None,
            waiting: BTreeMap::new(),
            attaching: FuturesOrdered::new(),
            moves: Moves::default(),
            next_reply: 0,
            shutdown,
            lease,
            closers: Vec::new(),
            doomed: Vec::new(),
            ending: false,
            muted: false,
            last_words: None,
        };
        (actor, past)
    }

    /// Runs until the session is closed, deleted or the connection ends.
    pub(super) async fn run(&mut self, mailbox: &mut mpsc::Receiver<Mail>) {
        loop {
            self.advance();
            self.set_out();
            if self.ending && self.is_settled() && self.moves.is_settled() {
                return;
            }
            match self.wake(mailbox).await {
                Wake::Shutdown | Wake::Mail(None) => self.end(),
                Wake::Mail(Some(mail)) => self.mail(mail),
                Wake::Written(report) => self.report(report),
                Wake::Room(Ok(permit)) => self.tell(permit),
                Wake::Room(Err(Closed)) | Wake::Unread => {
                    self.muted = true;
                    self.end();
                }
                Wake::Returned(returned) => self.returned(&returned),
                Wake::Happened(happened) => self.host.deal_with(happened),
                Wake::Withdrawn(reply) => self.step(Input::Withdrawn(reply)),
                Wake::Attached(attached) => self.attached(attached),
                Wake::Moved(moved) => self.moved(*moved),
                Wake::Said(said) => self.said(said),
                Wake::Due => {
                    let lines = self.view.flush();
                    self.queue.extend(lines.into_iter().map(Out::Line));
                }
            }
        }
    }

    /// Stops everything; the task ends once all is kept and told.
    pub(super) fn end(&mut self) {
        self.ending = true;
        self.seat.retire();
        self.last_words.get_or_insert_with(|| Instant::now() + LAST_WORDS);
        self.give_up_moves();
        self.step(Input::Cancel);
        self.host.end();
    }

    /// Whether nothing runs and all is told and kept.
    pub(super) fn is_settled(&self) -> bool {
        self.core.is_idle()
            && self.queue.is_empty()
            && self.attaching.is_empty()
            && !self.journal.is_busy()
            && (!self.ending || self.host.is_settled())
    }

    /// Waits for whatever comes first, in this order of importance.
    async fn wake(&mut self, mailbox: &mut mpsc::Receiver<Mail>) -> Wake {
        let need = self.need();
        let ending = self.ending;
        // The queue is empty, or the turn is on its way out and must not be stopped by a client that does not read.
        let listen = need == Need::Nothing || self.turn.as_ref().is_some_and(RunningTurn::is_cancelled);
        let last_words = self.last_words.filter(|_| need == Need::Room);
        let due = self.view.flush_due().filter(|_| need == Need::Nothing);
        let peer = &self.shared.peer;
        tokio::select! {
            biased;
            () = self.shutdown.cancelled(), if !ending => Wake::Shutdown,
            mail = mailbox.recv() => Wake::Mail(mail),
            report = self.journal.written(), if need == Need::Safety => Wake::Written(report),
            permit = peer.reserve(), if need == Need::Room => Wake::Room(permit),
            returned = self.questions.returned() => Wake::Returned(returned),
            happened = self.host.happened() => Wake::Happened(happened),
            reply = withdrawn(&mut self.waiting) => Wake::Withdrawn(reply),
            Some(attached) = self.attaching.next() => Wake::Attached(attached),
            moved = self.moves.done() => Wake::Moved(Box::new(moved)),
            said = next_said(self.turn.as_mut()), if listen => Wake::Said(said),
            () = expired(due) => Wake::Due,
            () = expired(last_words) => Wake::Unread,
        }
    }

    fn need(&self) -> Need {
        if self.journal.is_busy() {
            return Need::Safety;
        }
        match self.queue.front() {
            Some(Out::Do(Effect::Emit(_)) | Out::Replay(_) | Out::Line(_)) => Need::Room,
            Some(_) | None => Need::Nothing,
        }
    }

    /// Does everything at the head of the queue that needs no waiting.
    fn advance(&mut self) {
        while !self.journal.is_busy() {
            if self.muted && self.need() == Need::Room {
                self.queue.pop_front();
                continue;
            }
            if self.need() == Need::Room {
                return;
            }
            let Some(out) = self.queue.pop_front() else { return };
            self.deliver(out);
        }
    }

    /// Lets the core decide; what is urgent is done at once, the rest in order.
    pub(super) fn step(&mut self, input: Input) {
        for effect in self.core.step(input) {
            if effect.is_urgent() {
                self.act(effect);
            } else {
                self.queue.push_back(Out::Do(effect));
            }
        }
    }

    fn report(&mut self, report: Report) {
        let (severity, title) = match report {
            Report::Quiet => return,
            Report::Failing(cause) => (
                Severity::Error,
                format!("this conversation is not being saved: {cause}; it goes on in memory"),
            ),
            Report::Recovered => (Severity::Info, "this conversation is saved again".to_owned()),
        };
        self.notice(severity, title);
    }

    /// A remark to the user, behind what is already on its way.
    pub(super) fn notice(&mut self, severity: Severity, title: String) {
        let id = self.message_id();
        self.queue.push_back(Out::Do(Effect::Emit(Event::Notice(Notice { id, severity, title }))));
    }

    pub(super) fn message_id(&self) -> MessageId {
        self.shared.ids.fresh(IdKind::Message).into()
    }

    pub(super) fn ask_id(&self) -> AskId {
        self.shared.ids.fresh(IdKind::Ask).into()
    }
}

async fn next_said(turn: Option<&mut RunningTurn>) -> Said {
    match turn {
        Some(turn) => turn.next().await,
        None => std::future::pending().await,
    }
}

async fn withdrawn(waiting: &mut BTreeMap<ReplyId, Waiting>) -> ReplyId {
    poll_fn(|cx| {
        for (reply, waiting) in waiting.iter_mut().filter(|(_, waiting)| !waiting.seen) {
            if waiting.withdrawn.as_mut().poll(cx).is_ready() {
                waiting.seen = true;
                return Poll::Ready(*reply);
            }
        }
        Poll::Pending
    })
    .await
}

async fn expired(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
