//! Decodes each request and hands it to whoever owns it, in arrival order and without waiting.
//!
//! Which view an id reaches is looked up in [`Views`]; what a view does with a request is its own task's affair.

use std::sync::Arc;

use acp_rpc::{Notification, Request, Responder, RpcError, Service};
use session_model::SessionId;
use session_store::{ListQuery, SessionStore};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::command::{Command, ListSessions, NewSession, Notice, OpenSession, Reply, SessionRow};
use crate::delete;
use crate::dialect::{Dialect, Negotiated};
use crate::error::ServerError;
use crate::negotiate::{ServerInfo, negotiate};
use crate::server::Parts;
use crate::session::{self, Birth, Mail, Mailbox, Opening, SessionHandle, Shared, Undelivered};
use crate::views::{Resumed, Seat, Views};

/// The only request served before a version is chosen.
const INITIALIZE: &str = "initialize";

/// How many sessions one page of a list has.
const PAGE: usize = 50;

/// Where the connection stands.
enum Phase {
    /// Only `initialize` is served.
    Awaiting,
    /// A version is chosen.
    Ready {
        shared: Shared,
        /// A request other than `initialize` has come; a repeated one is refused from now on where the version
        /// says so.
        used: bool,
    },
}

/// One connection's requests.
pub(crate) struct Dispatch {
    parts: Arc<Parts>,
    peer: acp_rpc::Peer,
    phase: Phase,
    views: Arc<Views>,
    tasks: JoinSet<()>,
    shutdown: CancellationToken,
}

impl Service for Dispatch {
    fn request(&mut self, request: Request, responder: Responder) {
        self.catch_up();
        if request.method == INITIALIZE {
            return self.initialize(&request, responder);
        }
        let Phase::Ready { shared, used } = &mut self.phase else {
            let error = RpcError::invalid_request("the first request must be `initialize`");
            return responder.err(&error);
        };
        *used = true;
        let shared = shared.clone();
        match shared.dialect.request(&request.method, &request.params) {
            Ok(command) => self.command(shared, command, responder),
            Err(error) => responder.err(&error),
        }
    }

    fn notification(&mut self, notification: Notification) {
        self.catch_up();
        let Phase::Ready { shared, .. } = &self.phase else { return };
        match shared.dialect.notification(&notification.method, &notification.params) {
            Some(Notice::Cancel(session)) => {
                if let Some(handle) = self.views.reach(&session) {
                    // A full mailbox is a session that has long been told; a gone one has nothing to cancel.
                    drop(handle.post(Mail::Cancel));
                }
            }
            Some(Notice::CancelCall(session, call)) => {
                if let Some(handle) = self.views.reach(&session) {
                    drop(handle.post(Mail::CancelCall(session, call, None)));
                }
            }
            None => {}
        }
    }

    async fn closing(&mut self) {
        self.shutdown.cancel();
        while self.tasks.join_next().await.is_some() {}
    }
}

impl Dispatch {
    pub(crate) fn new(parts: Arc<Parts>, peer: acp_rpc::Peer, shutdown: CancellationToken) -> Self {
        Self { parts, peer, phase: Phase::Awaiting, views: Arc::default(), tasks: JoinSet::new(), shutdown }
    }

    /// Takes notice of what happened since the last request.
    fn catch_up(&mut self) {
        while let Some(ended) = self.tasks.try_join_next() {
            if let Err(error) = ended {
                tracing::error!(%error, "a session's task failed");
            }
        }
    }

    fn initialize(&mut self, request: &Request, responder: Responder) {
        if let Phase::Ready { shared, used: true } = &self.phase
            && !shared.dialect.may_repeat_initialize()
        {
            let error = RpcError::invalid_request("`initialize` was answered already; open a new connection");
            return responder.err(&error);
        }
        let info = ServerInfo { default_ack: self.parts.drivers.default_ack(), ..self.parts.info.clone() };
        match negotiate(&request.params, &info) {
            Ok(Negotiated { dialect, .. }) if self.speaks_another(&dialect) => {
                let error = RpcError::invalid_request(
                    "this connection speaks another version already; open a new connection",
                );
                responder.err(&error);
            }
            Ok(Negotiated { dialect, result }) => {
                self.peer.set_policy(dialect.policy(self.peer.policy().malformed));
                responder.ok(&result);
                // The client's next request is most likely for a session.
                self.parts.store.warm();
                self.phase = Phase::Ready { shared: self.shared(dialect), used: false };
            }
            Err(error) => responder.err(&error),
        }
    }

    /// Whether the connection has been used in another version than this.
    fn speaks_another(&self, dialect: &Dialect) -> bool {
        match &self.phase {
            Phase::Ready { shared, used: true } => !shared.dialect.is_same_version(dialect),
            Phase::Ready { .. } | Phase::Awaiting => false,
        }
    }

    fn shared(&self, dialect: Dialect) -> Shared {
        let Parts { store, drivers, clock, ids, base, .. } = &*self.parts;
        Shared {
            store: Arc::clone(store),
            drivers: Arc::clone(drivers),
            clock: Arc::clone(clock),
            ids: Arc::clone(ids),
            base: base.clone(),
            peer: self.peer.clone(),
            dialect,
            views: Arc::clone(&self.views),
        }
    }

    fn command(&mut self, shared: Shared, command: Command, responder: Responder) {
        match command {
            Command::NewSession(request) => self.new_session(shared, request, responder),
            Command::OpenSession(request) => self.open_session(shared, request, responder),
            Command::ListSessions(request) => self.list(&shared, request, responder),
            Command::CloseSession(session) => self.close(&shared, &session, responder),
            Command::DeleteSession(request) => {
                self.tasks.spawn(delete::delete(shared, request, responder));
            }
            Command::Prompt(prompt) => {
                let session = prompt.session.clone();
                self.post(&session, Mail::Prompt(prompt, responder));
            }
            Command::CancelCall(session, call) => {
                self.post(&session, Mail::CancelCall(session.clone(), call, Some(responder)));
            }
            Command::SetOption(set) => {
                let session = set.session.clone();
                self.post(&session, Mail::SetOption(set, responder));
            }
        }
    }

    fn new_session(&mut self, shared: Shared, request: NewSession, responder: Responder) {
        let (handle, mailbox) = SessionHandle::new();
        let (seat, alone) = self.views.seat(handle, &request.cwd);
        let adopt = alone && !request.fresh;
        self.spawn(shared, seat, mailbox, (Opening::New { request, adopt }, responder));
    }

    /// A view that is closing takes nothing any more, and a new one waits for its end.
    fn open_session(&mut self, shared: Shared, request: OpenSession, responder: Responder) {
        let (handle, mailbox) = SessionHandle::new();
        match self.views.resume(&request.session, handle, &request.cwd) {
            Resumed::Shown(view) => deliver(&view, Mail::Attach(request, responder)),
            Resumed::Back(view) => deliver(&view, Mail::Return(request, responder)),
            Resumed::New(seat, claim, after) => {
                let opening = Opening::Stored { request, claim, after };
                self.spawn(shared, seat, mailbox, (opening, responder));
            }
        }
    }

    /// Starts a view's task.
    fn spawn(
        &mut self,
        shared: Shared,
        seat: Seat,
        mailbox: Mailbox,
        (opening, responder): (Opening, Responder),
    ) {
        let birth = Birth { opening, responder, seat, mailbox, shutdown: self.shutdown.child_token() };
        self.tasks.spawn(session::run(shared, birth));
    }

    fn post(&mut self, session: &SessionId, mail: Mail) {
        match self.views.reach(session) {
            Some(view) => deliver(&view, mail),
            None => refuse(mail),
        }
    }

    fn list(&mut self, shared: &Shared, request: ListSessions, responder: Responder) {
        let (store, dialect) = (Arc::clone(&shared.store), shared.dialect.clone());
        self.tasks.spawn(async move {
            match list(&*store, request).await {
                Ok(reply) => responder.ok(&dialect.reply(&reply)),
                Err(error) => responder.err(&RpcError::from(error)),
            }
        });
    }

    /// Closing what is not open succeeds; closing what is closing waits for the same end.
    fn close(&mut self, shared: &Shared, session: &SessionId, responder: Responder) {
        let undelivered = match self.views.close(session) {
            Some(view) => match view.post(Mail::Close(responder)) {
                Ok(()) => return,
                Err(Undelivered::Full(mail)) => return overloaded(*mail),
                Err(Undelivered::Gone(mail)) => mail.into_responder(),
            },
            None => Some(responder),
        };
        if let Some(responder) = undelivered {
            responder.ok(&shared.dialect.reply(&Reply::Done));
        }
    }
}

/// Posts to a view.
fn deliver(view: &SessionHandle, mail: Mail) {
    match view.post(mail) {
        Ok(()) => {}
        Err(Undelivered::Full(mail)) => overloaded(*mail),
        Err(Undelivered::Gone(mail)) => refuse(*mail),
    }
}

fn refuse(mail: Mail) {
    let session = mail.session().cloned();
    if let (Some(responder), Some(session)) = (mail.into_responder(), session) {
        responder.err(&RpcError::from(ServerError::UnknownSession(session)));
    }
}

fn overloaded(mail: Mail) {
    let session = mail.session().cloned();
    if let (Some(responder), Some(session)) = (mail.into_responder(), session) {
        let text = format!("session {session} has too many requests waiting; wait for some to be answered");
        responder.err(&RpcError::from(ServerError::failed(Some(session), "overloaded", text)));
    }
}

async fn list(store: &dyn SessionStore, request: ListSessions) -> Result<Reply, ServerError> {
    let ListSessions { cwd, offset } = request;
    // Sessions are kept under their folder's identity; what is shown is how the client spells it.
    let identity = match &cwd {
        Some(path) => {
            let path = path.clone();
            let found = tokio::task::spawn_blocking(move || path.canonicalize().unwrap_or(path)).await;
            Some(found.map_err(|_| ServerError::Cancelled)?)
        }
        None => None,
    };
    let page = store.list(ListQuery { cwd: identity, offset, limit: PAGE }).await?;
    let rows = page.sessions.into_iter().map(|meta| SessionRow {
        id: meta.id,
        cwd: cwd.clone().unwrap_or(meta.cwd),
        additional_directories: meta.additional_roots,
        title: meta.name.or(meta.title),
        updated_at: meta.updated_at,
    });
    let sessions: Vec<SessionRow> = rows.collect();
    let next = page.more.then_some(offset + sessions.len());
    Ok(Reply::ListSessions { sessions, next })
}
