//! Which session id reaches which conversation view, and which view shows which stored session.
//!
//! A view is one task with a mailbox. Its *handles* are the ids by which the client reaches it: the session it was
//! made with, and aliases it was given since. Its *binding* is the stored session it shows now. A stored session is
//! shown by at most one live view. Bookkeeping only, behind one lock that is never held across a wait: it opens,
//! stores and sends nothing.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use session_model::SessionId;
use tokio_util::sync::CancellationToken;

use crate::session::SessionHandle;

/// Names a view for as long as the connection lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ViewId(u64);

#[derive(Debug)]
struct View {
    mail: SessionHandle,
    /// Its folder as the client spelled it, and by identity once that is known.
    spelled: String,
    cwd: Option<PathBuf>,
    /// It is being closed: it keeps what it has until it is gone, and takes nothing new.
    ending: bool,
    gone: CancellationToken,
}

#[derive(Debug, Default)]
struct Table {
    next: u64,
    views: HashMap<ViewId, View>,
    handles: HashMap<SessionId, ViewId>,
    bindings: HashMap<SessionId, ViewId>,
    /// Sessions closed or deleted here; `session/new` never takes them up again.
    closed: HashSet<SessionId>,
}

/// All views of one connection.
#[derive(Debug, Default)]
pub(crate) struct Views(Mutex<Table>);

/// A view's place in the table; dropping it takes the view and its handles out.
#[derive(Debug)]
pub(crate) struct Seat {
    views: Arc<Views>,
    id: ViewId,
}

/// A view's right to show a stored session; dropping it gives the session back.
#[derive(Debug)]
pub(crate) struct Claim {
    views: Arc<Views>,
    view: ViewId,
    session: SessionId,
}

/// Another view shows the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Held;

/// Who answers `session/resume` and `session/load`.
#[derive(Debug)]
pub(crate) enum Resumed {
    /// The view that shows the session; the id is an alias of it now.
    Shown(SessionHandle),
    /// The view the session was made with, which shows another one now and has to return.
    Back(SessionHandle),
    /// A view that is made for it, which waits for the token when the session is still being closed.
    New(Seat, Claim, Option<CancellationToken>),
}

/// Whom a deletion concerns.
#[derive(Debug)]
pub(crate) enum Deletion {
    /// The view behind the handle has to be closed first.
    View(SessionHandle),
    /// A view under another handle shows it, and has to show something else first.
    Shown(SessionHandle),
    /// Nobody.
    Nobody,
}

impl Views {
    fn table(&self) -> MutexGuard<'_, Table> {
        // Every change below is complete before anything can panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A view for `session/new`, and whether no live one was opened for the same folder as spelled.
    pub(crate) fn seat(self: &Arc<Self>, mail: SessionHandle, spelled: &str) -> (Seat, bool) {
        let mut table = self.table();
        let alone = !table.views.values().any(|view| !view.ending && view.spelled == spelled);
        (Seat { views: Arc::clone(self), id: table.add(mail, spelled) }, alone)
    }

    /// Who answers for `session`; `mail` reaches the new view where it takes one.
    pub(crate) fn resume(self: &Arc<Self>, session: &SessionId, mail: SessionHandle, cwd: &str) -> Resumed {
        let mut table = self.table();
        if let Some((id, mail)) = table.live(table.bindings.get(session)) {
            table.handles.insert(session.clone(), id);
            return Resumed::Shown(mail);
        }
        if let Some((_, mail)) = table.live(table.handles.get(session)) {
            return Resumed::Back(mail);
        }
        let ending = table.bindings.get(session).and_then(|id| table.views.get(id));
        let after = ending.map(|view| view.gone.clone());
        let id = table.add(mail, cwd);
        table.handles.insert(session.clone(), id);
        table.bindings.insert(session.clone(), id);
        let claim = Claim { views: Arc::clone(self), view: id, session: session.clone() };
        Resumed::New(Seat { views: Arc::clone(self), id }, claim, after)
    }

    /// The view behind a handle.
    pub(crate) fn reach(&self, handle: &SessionId) -> Option<SessionHandle> {
        let table = self.table();
        table.handles.get(handle).and_then(|id| table.views.get(id)).map(|view| view.mail.clone())
    }

    /// Takes a session for a view that may show it next to its present one for a moment; with it the token to wait
    /// for when a view that is being closed still has it.
    pub(crate) fn claim(
        self: &Arc<Self>,
        view: ViewId,
        session: &SessionId,
    ) -> Result<(Claim, Option<CancellationToken>), Held> {
        let mut table = self.table();
        let holder = table.bindings.get(session).and_then(|id| table.views.get(id));
        let after = match holder {
            Some(holder) if holder.ending => Some(holder.gone.clone()),
            Some(_) => return Err(Held),
            None => None,
        };
        table.bindings.insert(session.clone(), view);
        Ok((Claim { views: Arc::clone(self), view, session: session.clone() }, after))
    }

    /// Takes a session that nobody can know yet.
    pub(crate) fn claim_new(self: &Arc<Self>, view: ViewId, session: &SessionId) -> Claim {
        self.table().bindings.insert(session.clone(), view);
        Claim { views: Arc::clone(self), view, session: session.clone() }
    }

    /// The live view that shows a session.
    pub(crate) fn shown(&self, session: &SessionId) -> Option<SessionHandle> {
        let table = self.table();
        table.live(table.bindings.get(session)).map(|(_, mail)| mail)
    }

    /// Whether a session was closed or deleted here.
    pub(crate) fn is_closed(&self, session: &SessionId) -> bool {
        self.table().closed.contains(session)
    }

    /// Never takes this session up again by itself.
    pub(crate) fn forget(&self, session: &SessionId) {
        self.table().closed.insert(session.clone());
    }

    /// Closes the view behind a handle, whose task is to be told. Closing what is closing finds it again.
    pub(crate) fn close(&self, handle: &SessionId) -> Option<SessionHandle> {
        let mut table = self.table();
        table.closed.insert(handle.clone());
        let id = *table.handles.get(handle)?;
        table.retire(id)
    }

    /// Prepares the deletion of a session.
    pub(crate) fn delete(&self, session: &SessionId) -> Deletion {
        let mut table = self.table();
        table.closed.insert(session.clone());
        if let Some(&id) = table.handles.get(session) {
            return table.retire(id).map_or(Deletion::Nobody, Deletion::View);
        }
        match table.bindings.get(session).and_then(|id| table.views.get(id)) {
            Some(view) if view.ending => Deletion::View(view.mail.clone()),
            Some(view) => Deletion::Shown(view.mail.clone()),
            None => Deletion::Nobody,
        }
    }
}

impl Table {
    fn add(&mut self, mail: SessionHandle, spelled: &str) -> ViewId {
        let id = ViewId(self.next);
        self.next += 1;
        let gone = CancellationToken::new();
        self.views.insert(id, View { mail, spelled: spelled.to_owned(), cwd: None, ending: false, gone });
        id
    }

    fn live(&self, id: Option<&ViewId>) -> Option<(ViewId, SessionHandle)> {
        let id = id?;
        self.views.get(id).filter(|view| !view.ending).map(|view| (*id, view.mail.clone()))
    }

    /// From now on the view takes nothing new; everything it was known by joins the closed.
    fn retire(&mut self, id: ViewId) -> Option<SessionHandle> {
        let Self { views, handles, bindings, closed, .. } = self;
        let view = views.get_mut(&id)?;
        view.ending = true;
        let known = handles.iter().chain(bindings.iter()).filter(|(_, view)| **view == id);
        closed.extend(known.map(|(session, _)| session.clone()));
        Some(view.mail.clone())
    }
}

impl Seat {
    /// Its view.
    pub(crate) fn view(&self) -> ViewId {
        self.id
    }

    /// Says which folder the view is in; false when another live view is in it.
    pub(crate) fn settle(&self, cwd: &Path) -> bool {
        let mut table = self.views.table();
        let alone = !table
            .views
            .iter()
            .any(|(id, view)| *id != self.id && !view.ending && view.cwd.as_deref() == Some(cwd));
        if let Some(view) = table.views.get_mut(&self.id) {
            view.cwd = Some(cwd.to_owned());
        }
        alone
    }

    /// Makes `session` a handle of the view.
    pub(crate) fn answer_to(&self, session: &SessionId) {
        self.views.table().handles.insert(session.clone(), self.id);
    }

    /// The view is on its way out, not by its client's wish: it takes nothing new.
    pub(crate) fn retire(&self) {
        if let Some(view) = self.views.table().views.get_mut(&self.id) {
            view.ending = true;
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut table = self.views.table();
        table.handles.retain(|_, view| *view != self.id);
        if let Some(view) = table.views.remove(&self.id) {
            view.gone.cancel();
        }
    }
}

impl Claim {
    /// Which session it is for.
    pub(crate) fn session(&self) -> &SessionId {
        &self.session
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut table = self.views.table();
        // Somebody who waits for the end of this view may have it already.
        if table.bindings.get(&self.session) == Some(&self.view) {
            table.bindings.remove(&self.session);
        }
    }
}

#[cfg(test)]
mod tests;
