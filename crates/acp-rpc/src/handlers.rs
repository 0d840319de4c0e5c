//! Typed async handlers as a service: registration by name, parameters decoded, results encoded.
//!
//! The one place of this crate that starts tasks: each handler runs in a `JoinSet` that dies with the connection,
//! so that a handler may await the peer, or anything else, without holding up the reading of messages.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::oneshot::{self, error::TryRecvError};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::withdrawal::Withdrawal;
use crate::{Notification, Params, Peer, Request, RequestId, Responder, RpcError, Service};

/// A method described by types: its name, what it takes and what it gives.
pub trait Method {
    /// The name on the wire.
    const NAME: &'static str;
    /// What it takes; serialises to a JSON object.
    type Params: DeserializeOwned + Serialize + Send + 'static;
    /// What it gives.
    type Result: DeserializeOwned + Serialize + Send + 'static;
}

/// What a handler may know of the request it handles besides its parameters.
#[derive(Debug, Clone)]
pub struct Call {
    peer: Peer,
    id: RequestId,
    withdrawal: Arc<Withdrawal>,
}

impl Call {
    fn new(peer: &Peer, responder: &Responder) -> Self {
        Self {
            peer: peer.clone(),
            id: responder.id().clone(),
            withdrawal: Arc::clone(responder.withdrawal()),
        }
    }

    /// The side that made the request.
    #[must_use]
    pub fn peer(&self) -> &Peer {
        &self.peer
    }

    /// The request's identifier.
    #[must_use]
    pub fn id(&self) -> &RequestId {
        &self.id
    }

    /// Cancelled when the request is withdrawn.
    #[must_use]
    pub fn cancelled(&self) -> &CancellationToken {
        self.withdrawal.token(self.peer.life())
    }
}

type RequestRoute = Box<dyn FnMut(Params, Responder, Start<'_>) + Send>;
type NotificationRoute = Box<dyn FnMut(Params, Start<'_>) + Send>;
type KeyOf = Box<dyn FnMut(&str, &Params) -> Option<String> + Send>;

/// What a message's handler needs to run in a task, and in its turn if there is a key.
struct Start<'a> {
    peer: &'a Peer,
    tasks: &'a mut JoinSet<()>,
    turns: &'a mut Turns,
    key: Option<String>,
}

impl Start<'_> {
    /// Starts `job`; when `hurry` is withdrawn it need not wait for its turn, as it will only answer.
    fn run(self, job: impl Future<Output = ()> + Send + 'static, hurry: Option<&Withdrawal>) {
        while self.tasks.try_join_next().is_some() {}
        let span = tracing::Span::current();
        let Some(key) = self.key else {
            self.tasks.spawn(job.instrument(span));
            return;
        };
        let hurry = hurry.map(|withdrawal| withdrawal.token(self.peer.life()).clone());
        self.tasks.spawn(self.turns.next(key).run(job, hurry).instrument(span));
    }
}

/// A [`Service`] made of typed handlers, one for each method.
///
/// An unknown request is answered `-32601`, parameters that do not fit `-32602`; an unknown notification is
/// ignored. Handlers run concurrently unless [`keyed`](Self::keyed) says otherwise.
pub struct Handlers {
    peer: Peer,
    requests: HashMap<String, RequestRoute>,
    notifications: HashMap<String, NotificationRoute>,
    key_of: Option<KeyOf>,
    turns: Turns,
    tasks: JoinSet<()>,
}

impl Handlers {
    /// No handlers yet. Needs a Tokio runtime once the first asynchronous handler runs.
    #[must_use]
    pub fn new(peer: Peer) -> Self {
        Self {
            peer,
            requests: HashMap::new(),
            notifications: HashMap::new(),
            key_of: None,
            turns: Turns::default(),
            tasks: JoinSet::new(),
        }
    }

    /// Handles a request in a task of its own. When the request is withdrawn the handler's future is dropped
    /// and the answer is `-32800`.
    #[must_use]
    pub fn request<P, R, F, Fut>(mut self, name: &str, handler: F) -> Self
    where
        P: DeserializeOwned + Send + 'static,
        R: Serialize + Send + 'static,
        F: Fn(P, Call) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R, RpcError>> + Send + 'static,
    {
        let handler = Arc::new(handler);
        self.add(name, move |params, responder, start| {
            let handler = Arc::clone(&handler);
            let call = Call::new(start.peer, &responder);
            let hurry = Arc::clone(&call.withdrawal);
            let job = async move {
                let outcome = match params.parse() {
                    _ if responder.is_withdrawn() => None,
                    Ok(params) => responder.unless_withdrawn(pin!(handler(params, call))).await,
                    Err(error) => Some(Err(error)),
                };
                responder.finish(&outcome.unwrap_or_else(|| Err(RpcError::cancelled())));
            };
            start.run(job, Some(&hurry));
        });
        self
    }

    /// As [`request`](Self::request), but a withdrawn request's handler runs on: it watches
    /// [`Call::cancelled`] itself and decides what to answer.
    #[must_use]
    pub fn request_to_end<P, R, F, Fut>(mut self, name: &str, handler: F) -> Self
    where
        P: DeserializeOwned + Send + 'static,
        R: Serialize + Send + 'static,
        F: Fn(P, Call) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R, RpcError>> + Send + 'static,
    {
        let handler = Arc::new(handler);
        self.add(name, move |params, responder, start| {
            let handler = Arc::clone(&handler);
            let call = Call::new(start.peer, &responder);
            let job = async move {
                let outcome = match params.parse() {
                    Ok(params) => handler(params, call).await,
                    Err(error) => Err(error),
                };
                responder.finish(&outcome);
            };
            start.run(job, None);
        });
        self
    }

    /// Handles a request at once, where messages are read; for work that neither waits nor takes long.
    #[must_use]
    pub fn answer<P, R, F>(mut self, name: &str, mut handler: F) -> Self
    where
        P: DeserializeOwned,
        R: Serialize,
        F: FnMut(P) -> Result<R, RpcError> + Send + 'static,
    {
        self.add(name, move |params, responder, _| {
            responder.finish(&params.parse().and_then(&mut handler));
        });
        self
    }

    /// As [`request`](Self::request), for a method described by types.
    #[must_use]
    pub fn method<M, F, Fut>(self, handler: F) -> Self
    where
        M: Method,
        F: Fn(M::Params, Call) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<M::Result, RpcError>> + Send + 'static,
    {
        self.request(M::NAME, handler)
    }

    /// Handles a notification in a task of its own. One whose parameters do not fit is logged and dropped.
    #[must_use]
    pub fn notification<P, F, Fut>(mut self, name: &str, handler: F) -> Self
    where
        P: DeserializeOwned + Send + 'static,
        F: Fn(P, Peer) -> Fut + Send + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let route: NotificationRoute = Box::new(move |params, start| match params.parse() {
            Ok(params) => {
                let job = handler(params, start.peer.clone());
                start.run(job, None);
            }
            Err(error) => unreadable(&error),
        });
        self.notifications.insert(name.to_owned(), route);
        self
    }

    /// Handles a notification at once, where messages are read.
    #[must_use]
    pub fn receive<P, F>(mut self, name: &str, mut handler: F) -> Self
    where
        P: DeserializeOwned,
        F: FnMut(P) + Send + 'static,
    {
        let route: NotificationRoute = Box::new(move |params, _| match params.parse() {
            Ok(params) => handler(params),
            Err(error) => unreadable(&error),
        });
        self.notifications.insert(name.to_owned(), route);
        self
    }

    /// Puts messages in order: those for which `key_of` (given method and parameters) returns the same key are
    /// handled one after the other, as they arrived; others run beside them.
    #[must_use]
    pub fn keyed(mut self, key_of: impl FnMut(&str, &Params) -> Option<String> + Send + 'static) -> Self {
        self.key_of = Some(Box::new(key_of));
        self
    }

    fn add(&mut self, name: &str, route: impl FnMut(Params, Responder, Start<'_>) + Send + 'static) {
        self.requests.insert(name.to_owned(), Box::new(route));
    }
}

fn unreadable(error: &RpcError) {
    tracing::warn!(%error, "a notification's parameters do not fit");
}

impl Service for Handlers {
    fn request(&mut self, request: Request, responder: Responder) {
        let Some(route) = self.requests.get_mut(&request.method) else {
            return responder.err(&RpcError::method_not_found(&request.method));
        };
        let key = self.key_of.as_mut().and_then(|key_of| key_of(&request.method, &request.params));
        let (peer, tasks, turns) = (&self.peer, &mut self.tasks, &mut self.turns);
        route(request.params, responder, Start { peer, tasks, turns, key });
    }

    fn notification(&mut self, notification: Notification) {
        let Some(route) = self.notifications.get_mut(&notification.method) else { return };
        let key = self.key_of.as_mut().and_then(|key_of| key_of(&notification.method, &notification.params));
        let (peer, tasks, turns) = (&self.peer, &mut self.tasks, &mut self.turns);
        route(notification.params, Start { peer, tasks, turns, key });
    }

    /// Waits for the running handlers.
    async fn closing(&mut self) {
        while self.tasks.join_next().await.is_some() {}
    }
}

impl fmt::Debug for Handlers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handlers")
            .field("requests", &self.requests.len())
            .field("notifications", &self.notifications.len())
            .finish_non_exhaustive()
    }
}

/// The end of each key's queue: what the next one with that key waits for.
#[derive(Debug, Default)]
struct Turns {
    last: HashMap<String, oneshot::Receiver<()>>,
    /// Finished keys are swept out when the table has grown to this.
    sweep_at: usize,
}

/// The table is not swept below this size.
const MIN_SWEEP: usize = 64;

#[derive(Debug)]
struct Turn {
    before: Option<oneshot::Receiver<()>>,
    done: oneshot::Sender<()>,
}

impl Turns {
    fn next(&mut self, key: String) -> Turn {
        if self.last.len() >= self.sweep_at.max(MIN_SWEEP) {
            self.last.retain(|_, last| matches!(last.try_recv(), Err(TryRecvError::Empty)));
            self.sweep_at = self.last.len() * 2;
        }
        let (done, last) = oneshot::channel();
        Turn { before: self.last.insert(key, last), done }
    }
}

impl Turn {
    /// Runs `job` after the one before, or at once when `hurry` is cancelled. The next one waits for both.
    async fn run(self, job: impl Future<Output = ()>, hurry: Option<CancellationToken>) {
        let Some(mut before) = self.before else { return job.await };
        // Whichever way the one before ends, its sender is dropped; there is nothing to receive.
        let ended = match hurry {
            Some(hurry) => hurry.run_until_cancelled(&mut before).await.is_some(),
            None => (&mut before).await.is_err(),
        };
        job.await;
        if !ended {
            let _: Result<(), _> = before.await;
        }
        drop(self.done);
    }
}
