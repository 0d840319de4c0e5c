//! Decodes each request and hands it to whoever owns it, in arrival order and without waiting.
//!
//! Owns the registry of open sessions, which no other task touches: a session that chose its id itself tells it
//! through a channel before the client can use it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use acp_rpc::{Notification, Request, Responder, RpcError, Service};
use session_model::SessionId;
use session_store::{ListQuery, SessionStore};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::command::{
    Command, DeleteSession, ListSessions, NewSession, Notice, OpenSession, Reply, SessionRow, SetOption,
};
use crate::dialect::{Dialect, Negotiated};
use crate::error::ServerError;
use crate::negotiate::{ServerInfo, negotiate};
use crate::server::Parts;
use crate::session::{self, Birth, Mail, Opening, Registration, SessionHandle, Shared, Undelivered};

/// How many sessions may have opened without dispatch having looked; they wait for it beyond that.
pub(crate) const REGISTRATIONS: usize = 64;

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
    sessions: HashMap<SessionId, SessionHandle>,
    /// The folders, as spelled, for which a session was opened here: the next new one there is fresh.
    folders: HashSet<String>,
    /// Sessions closed or deleted here; never adopted again.
    closed: HashSet<SessionId>,
    registrations: mpsc::Receiver<Registration>,
    register: mpsc::Sender<Registration>,
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
                if let Some(handle) = self.sessions.get(&session) {
                    // A full mailbox is a session that has long been told; a gone one has nothing to cancel.
                    drop(handle.post(Mail::Cancel));
                }
            }
            None => {}
        }
    }

    async fn closing(&mut self) {
        self.shutdown.cancel();
        self.registrations.close();
        while self.tasks.join_next().await.is_some() {}
    }
}

impl Dispatch {
    pub(crate) fn new(parts: Arc<Parts>, peer: acp_rpc::Peer, shutdown: CancellationToken) -> Self {
        let (register, registrations) = mpsc::channel(REGISTRATIONS);
        Self {
            parts,
            peer,
            phase: Phase::Awaiting,
            sessions: HashMap::new(),
            folders: HashSet::new(),
            closed: HashSet::new(),
            registrations,
            register,
            tasks: JoinSet::new(),
            shutdown,
        }
    }

    /// Takes notice of what happened since the last request.
    fn catch_up(&mut self) {
        while let Ok(Registration { session, handle }) = self.registrations.try_recv() {
            self.sessions.insert(session, handle);
        }
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
            Ok(Negotiated { dialect, result }) => {
                self.peer.set_policy(dialect.policy(self.peer.policy().malformed));
                responder.ok(&result);
                self.phase = Phase::Ready { shared: self.shared(dialect), used: false };
            }
            Err(error) => responder.err(&error),
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
            registrations: self.register.clone(),
        }
    }

    fn command(&mut self, shared: Shared, command: Command, responder: Responder) {
        match command {
            Command::NewSession(request) => self.new_session(shared, request, responder),
            Command::OpenSession(request) => self.open_session(shared, request, responder),
            Command::ListSessions(request) => self.list(&shared, request, responder),
            Command::CloseSession(session) => self.close(&shared, session, responder),
            Command::DeleteSession(request) => self.delete(shared, request, responder),
            Command::Prompt(prompt) => {
                let session = prompt.session.clone();
                self.post(&session, Mail::Prompt(prompt, responder));
            }
            Command::SetOption(set) => {
                let session = set.session.clone();
                self.post(&session, Mail::SetOption(set, responder));
            }
            Command::SetMode { session, mode } => {
                let set = SetOption {
                    session: session.clone(),
                    option: "mode".to_owned(),
                    value: session_model::OptionInput::Choice(mode),
                };
                self.post(&session, Mail::SetOption(set, responder));
            }
        }
    }

    fn new_session(&mut self, shared: Shared, request: NewSession, responder: Responder) {
        let first_here = self.folders.insert(request.cwd.clone());
        let adopt = (first_here && !request.fresh).then(|| self.closed.clone());
        self.spawn(shared, Opening::New { request, adopt }, responder);
    }

    fn open_session(&mut self, shared: Shared, request: OpenSession, responder: Responder) {
        let session = request.session.clone();
        self.folders.insert(request.cwd.clone());
        let mail = match self.sessions.get(&session) {
            Some(handle) => match handle.post(Mail::Attach(request, responder)) {
                Ok(()) => return,
                Err(Undelivered::Full(mail)) => return overloaded(session, *mail),
                Err(Undelivered::Gone(mail)) => *mail,
            },
            None => Mail::Attach(request, responder),
        };
        if let Mail::Attach(request, responder) = mail {
            let handle = self.spawn(shared, Opening::Stored(request), responder);
            self.sessions.insert(session, handle);
        }
    }

    /// Starts a session's task.
    fn spawn(&mut self, shared: Shared, opening: Opening, responder: Responder) -> SessionHandle {
        let (handle, mailbox) = SessionHandle::new();
        let birth = Birth {
            opening,
            responder,
            handle: handle.clone(),
            mailbox,
            shutdown: self.shutdown.child_token(),
        };
        self.tasks.spawn(session::run(shared, birth));
        handle
    }

    fn post(&mut self, session: &SessionId, mail: Mail) {
        let undelivered = match self.sessions.get(session) {
            Some(handle) => match handle.post(mail) {
                Ok(()) => return,
                Err(Undelivered::Full(mail)) => return overloaded(session.clone(), *mail),
                Err(Undelivered::Gone(mail)) => *mail,
            },
            None => mail,
        };
        self.sessions.remove(session);
        if let Some(responder) = undelivered.into_responder() {
            responder.err(&RpcError::from(ServerError::UnknownSession(session.clone())));
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
    fn close(&mut self, shared: &Shared, session: SessionId, responder: Responder) {
        self.closed.insert(session.clone());
        let undelivered = match self.sessions.get(&session) {
            Some(handle) => match handle.post(Mail::Close(responder)) {
                Ok(()) => return,
                Err(Undelivered::Full(mail)) => return overloaded(session, *mail),
                Err(Undelivered::Gone(mail)) => mail.into_responder(),
            },
            None => Some(responder),
        };
        self.sessions.remove(&session);
        if let Some(responder) = undelivered {
            responder.ok(&shared.dialect.reply(&Reply::Done));
        }
    }

    fn delete(&mut self, shared: Shared, request: DeleteSession, responder: Responder) {
        let live = self.sessions.iter().filter(|(_, handle)| !handle.is_gone());
        let live: Vec<_> = live
            .filter(|(id, _)| id.as_str().starts_with(&request.reference))
            .map(|(id, handle)| (id.clone(), handle.clone()))
            .collect();
        self.closed.insert(SessionId::from(request.reference.as_str()));
        self.tasks.spawn(delete(shared, request, live, responder));
    }
}

fn overloaded(session: SessionId, mail: Mail) {
    if let Some(responder) = mail.into_responder() {
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

/// Deletes an open session through its task, any other in the store.
async fn delete(
    shared: Shared,
    request: DeleteSession,
    live: Vec<(SessionId, SessionHandle)>,
    responder: Responder,
) {
    let DeleteSession { reference, by_prefix, missing_ok } = request;
    let exact = SessionId::from(reference.as_str());
    let found = if by_prefix {
        shared.store.find(&reference).await.map(|meta| meta.id)
    } else {
        shared.store.meta(&exact).await.map(|meta| meta.id)
    };
    // A session that could not be stored is known to its task alone.
    let id = found.as_ref().ok().unwrap_or(&exact).clone();
    if let Some((_, handle)) = live.iter().find(|(open, _)| *open == id) {
        match handle.post(Mail::Delete(id.clone(), responder)) {
            Ok(()) => {}
            Err(Undelivered::Full(mail)) => overloaded(id, *mail),
            Err(Undelivered::Gone(mail)) => {
                if let Some(responder) = mail.into_responder() {
                    drop_stored(&shared, &id, missing_ok, responder).await;
                }
            }
        }
        return;
    }
    match found {
        Ok(id) => drop_stored(&shared, &id, missing_ok, responder).await,
        Err(error) => finish_delete(&shared, Err(error.into()), missing_ok, responder),
    }
}

async fn drop_stored(shared: &Shared, id: &SessionId, missing_ok: bool, responder: Responder) {
    // Nobody may have it open, here or in another process.
    let outcome = match shared.store.lease(id).await {
        Ok(lease) => {
            let outcome = shared.store.delete(id).await;
            drop(lease);
            outcome
        }
        Err(error) => Err(error),
    };
    finish_delete(shared, outcome.map_err(ServerError::from), missing_ok, responder);
}

fn finish_delete(shared: &Shared, outcome: Result<(), ServerError>, missing_ok: bool, responder: Responder) {
    match outcome {
        Ok(()) => responder.ok(&shared.dialect.reply(&Reply::Done)),
        Err(ServerError::UnknownSession(_)) if missing_ok => {
            responder.ok(&shared.dialect.reply(&Reply::Done));
        }
        Err(error) => responder.err(&RpcError::from(error)),
    }
}
