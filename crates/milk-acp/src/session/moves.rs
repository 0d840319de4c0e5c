//! How a view comes to show another session: by a command, because its client asks for the session the view was made
//! with, or because the one it shows is dropped.
//!
//! What belongs to the session changes hands: journal, lease, grants, keys. What belongs to the view stays: handles,
//! options, the permission switch, the folders, the drivers. Nothing moves while a turn runs.

use acp_rpc::{Responder, RpcError};
use futures::FutureExt;
use futures::future::BoxFuture;
use session_model::{Event, SessionId, Severity};
use session_store::StoreError;

use crate::command::{OpenSession, Replay};
use crate::error::ServerError;
use crate::session::actor::Actor;
use crate::session::core::Input;
use crate::session::open::{self, Opened, Place};
use crate::session::{Dropped, Mail, Shared, replay};
use crate::views::{Held, ViewId};

/// What a view is to show once nothing runs, and for whom.
#[derive(Debug)]
pub(super) enum Move {
    /// This session, which the client names in a request.
    Return(OpenSession, Responder),
    /// A fresh one in place of this, which is dropped.
    Drop(SessionId, Dropped),
}

/// What came of it.
#[derive(Debug)]
pub(super) struct Moved {
    cause: Move,
    opened: Result<Opened, ServerError>,
}

/// Under way to another session.
#[derive(Default)]
pub(super) struct Moves {
    pub(super) waiting: std::collections::VecDeque<Move>,
    pub(super) under_way: Option<BoxFuture<'static, Moved>>,
    /// Requests that came meanwhile; they concern the session that is shown afterwards.
    pub(super) held: std::collections::VecDeque<Mail>,
}

impl Moves {
    /// Whether the view shows what it is to show.
    pub(super) fn is_settled(&self) -> bool {
        self.waiting.is_empty() && self.under_way.is_none()
    }

    /// Waits for the move under way; pending when there is none. Cancel safe.
    pub(super) async fn done(&mut self) -> Moved {
        let Some(under_way) = &mut self.under_way else { return std::future::pending().await };
        let moved = under_way.await;
        self.under_way = None;
        moved
    }
}

impl Actor {
    /// Shows the session again that a request names, or shows it at all. What runs in the present one comes to its
    /// end first; the client can cancel it under the same handle.
    pub(super) fn show(&mut self, request: OpenSession, responder: Responder) {
        if request.session == self.session {
            return self.attach(request, responder);
        }
        self.moves.waiting.push_back(Move::Return(request, responder));
    }

    /// Goes on with a fresh session in place of this one.
    pub(super) fn replace(&mut self, session: SessionId, done: Dropped) {
        // When it is not shown any more, who asked sees the sender dropped and deletes it without us.
        if session == self.session {
            self.moves.waiting.push_back(Move::Drop(session, done));
            self.step(Input::Cancel);
        }
    }

    /// Begins the next move, when everything of the present session is told and kept.
    pub(super) fn set_out(&mut self) {
        if self.moves.under_way.is_some() || !self.is_settled() {
            return;
        }
        let Some(cause) = self.moves.waiting.pop_front() else { return };
        match cause {
            Move::Return(request, responder) if request.session == self.session => {
                self.attach(request, responder);
                self.take_held();
            }
            Move::Return(..) | Move::Drop(..) => {
                let (shared, view, place) = (self.shared.clone(), self.seat.view(), self.place(None));
                self.moves.under_way = Some(go(shared, view, place, cause).boxed());
            }
        }
    }

    /// Where a fresh session of this view begins.
    pub(super) fn place(&self, name: Option<String>) -> Place {
        Place {
            cwd: self.cwd.clone(),
            additional_roots: self.additional_roots.clone(),
            name,
            options: self.options.stored().clone(),
        }
    }

    /// The session is there; or it is not, and the view stays where it is.
    pub(super) fn moved(&mut self, moved: Moved) {
        let Moved { cause, opened } = moved;
        match (cause, opened) {
            (Move::Return(request, responder), Ok(opened)) => {
                self.additional_roots.clone_from(&opened.additional_roots);
                let (turns, how) = (opened.past.turns, shown(request.replay));
                self.step(Input::Attached(request.session.clone()));
                let past = self.bind(opened);
                if turns > 0 {
                    self.emit(replay::resumed_notice(self.message_id(), &self.session, turns));
                }
                self.say_opened(responder, &past, how);
            }
            (Move::Return(_, responder), Err(error)) => responder.err(&RpcError::from(error)),
            (Move::Drop(session, done), Ok(opened)) => {
                let fresh = replay::short(opened.claim.session());
                self.bind(opened);
                let title = format!(
                    "session {} was deleted; this conversation goes on in the fresh session {fresh}",
                    replay::short(&session)
                );
                self.notice(Severity::Warning, title);
                // Who asked may be gone.
                let _unclaimed = done.send(Ok(()));
            }
            (Move::Drop(_, done), Err(error)) => {
                let _unclaimed = done.send(Err(error));
            }
        }
        if self.moves.is_settled() {
            self.take_held();
        }
    }

    fn take_held(&mut self) {
        for mail in std::mem::take(&mut self.moves.held) {
            self.mail(mail);
        }
    }

    /// Shows `opened` from now on, and returns its history, which is not told yet.
    pub(super) fn bind(&mut self, opened: Opened) -> open::Past {
        let Opened { claim, lease, title, grants, usage, mut past, unstored, .. } = opened;
        let lost = self.journal.unsaved().len();
        self.session = claim.session().clone();
        self.claim = claim;
        self.lease = lease;
        self.journal.turn_to(self.session.clone());
        self.grants = grants;
        self.titled = title.is_some();
        self.step(Input::Bound(std::mem::take(&mut past.keys), usage));
        self.emit(Event::Title(title));
        if lost > 0 {
            let title = format!("{lost} items of the earlier conversation could not be saved and are gone");
            self.notice(Severity::Warning, title);
        }
        self.tell_trouble(past.damaged, unstored.as_ref());
        past
    }

    /// The view ends: whoever still waits for it to move is answered, or is answered by its last step.
    pub(super) fn give_up_moves(&mut self) {
        for cause in std::mem::take(&mut self.moves.waiting) {
            match cause {
                Move::Return(request, responder) => {
                    responder.err(&RpcError::from(ServerError::UnknownSession(request.session)));
                }
                Move::Drop(session, done) => self.doomed.push((session, done)),
            }
        }
        for mail in std::mem::take(&mut self.moves.held) {
            self.mail(mail);
        }
    }
}

/// A switch never hides what is there.
fn shown(asked: Replay) -> Replay {
    match asked {
        Replay::Nothing | Replay::Window => Replay::Window,
        Replay::Everything => Replay::Everything,
    }
}

async fn go(shared: Shared, view: ViewId, place: Place, cause: Move) -> Moved {
    let opened = match &cause {
        Move::Return(request, _) => back(&shared, view, request).await,
        Move::Drop(session, _) => replaced(&shared, view, place, session).await,
    };
    Moved { cause, opened }
}

async fn back(shared: &Shared, view: ViewId, request: &OpenSession) -> Result<Opened, ServerError> {
    let meta = shared.store.meta(&request.session).await?;
    open::same_directory(shared, &meta.cwd, &meta.id, &request.cwd).await?;
    let additional_roots = open::directories(shared, &request.additional_directories).await?;
    let (claim, after) = shared.views.claim(view, &meta.id).map_err(|Held| held(meta.id))?;
    let opened = open::reopen(shared, claim, after, shown(request.replay)).await?;
    Ok(Opened { additional_roots, ..opened })
}

/// Drops `old`, for which this view has the lease; the fresh session is there first.
pub(crate) async fn replaced(
    shared: &Shared,
    view: ViewId,
    place: Place,
    old: &SessionId,
) -> Result<Opened, ServerError> {
    let opened = open::fresh(shared, view, place).await;
    match shared.store.delete(old).await {
        // What could not be stored is gone with its view.
        Ok(()) | Err(StoreError::NotFound(_)) => {
            shared.views.forget(old);
            Ok(opened)
        }
        Err(error) => {
            if let Err(error) = shared.store.delete(opened.claim.session()).await {
                tracing::warn!(%error, "an unused session stays behind");
            }
            Err(error.into())
        }
    }
}

/// Another view of this process shows it.
pub(crate) fn held(session: SessionId) -> ServerError {
    let text =
        format!("session {} is open in another conversation — close it there first", replay::short(&session));
    ServerError::failed(Some(session), "session_leased", text)
}
