//! What another agent says, kept until the turn takes it. A full inbox stops the reading of its output, and so the
//! agent; answers to our own requests wait behind it.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use acp_rpc::{Notification, Request, Responder, RpcError, Service};
use futures::task::AtomicWaker;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::Notify;

use crate::dialect::client;
use crate::error::NOT_FOUND;

/// From how many messages on its output is not read. What was read before still comes in: some 64 KiB.
const FULL: usize = 256;

/// One message.
#[derive(Debug)]
pub(super) enum Said {
    /// Something that happened.
    Update(Value),
    /// Leave is wanted.
    Permission(Value, Responder),
    /// A form is to be filled in.
    Form(Value, Responder),
    /// Something is to be done in its place, by this method.
    Host(String, Value, Responder),
}

impl Said {
    /// Has a question answered that comes when nobody is there.
    pub(super) fn refuse(self) {
        match self {
            Self::Update(_) => {}
            Self::Permission(_, responder) | Self::Form(_, responder) => responder.err(&nobody()),
            // Commands end with their turn, so that an agent may find them gone.
            Self::Host(method, _, responder) => match client::of_the_past(&method) {
                Some(true) => responder.ok(&json!({})),
                Some(false) => responder.err(&RpcError::new(NOT_FOUND, "the command ended with its turn")),
                None => responder.err(&nobody()),
            },
        }
    }
}

fn nobody() -> RpcError {
    RpcError::invalid_request("no turn is running, so there is nobody to ask")
}

#[derive(Debug, Default)]
struct Shared {
    messages: Mutex<VecDeque<Said>>,
    /// Whether a turn runs, to which questions belong.
    in_turn: AtomicBool,
    /// Wakes whoever takes.
    came: Notify,
    /// Wakes whoever reads.
    reader: AtomicWaker,
}

impl Shared {
    fn messages(&self) -> MutexGuard<'_, VecDeque<Said>> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The end that takes.
#[derive(Debug, Default)]
pub(super) struct Inbox(Arc<Shared>);

impl Inbox {
    /// The end that fills it, as a service.
    pub(super) fn service(&self) -> Filler {
        Filler(Arc::clone(&self.0))
    }

    /// `reader`, which is not read while the inbox is full.
    pub(super) fn paced<R>(&self, reader: R) -> Paced<R> {
        Paced { reader, shared: Arc::clone(&self.0) }
    }

    /// A turn begins. What was said since the last one belongs to none.
    pub(super) fn open(&self) {
        self.clear();
        self.0.in_turn.store(true, Ordering::Release);
    }

    /// It has ended. Who asks is told that nobody is there.
    pub(super) fn close(&self) {
        self.0.in_turn.store(false, Ordering::Release);
        self.clear();
    }

    fn clear(&self) {
        while let Some(said) = self.try_next() {
            said.refuse();
        }
    }

    /// The next message. Cancel safe.
    pub(super) async fn next(&self) -> Said {
        loop {
            if let Some(said) = self.try_next() {
                return said;
            }
            self.0.came.notified().await;
        }
    }

    /// A message that is there already.
    pub(super) fn try_next(&self) -> Option<Said> {
        let said = self.0.messages().pop_front()?;
        self.0.reader.wake();
        Some(said)
    }
}

/// Puts what comes into the inbox.
#[derive(Debug)]
pub(super) struct Filler(Arc<Shared>);

impl Filler {
    fn put(&self, said: Said) {
        self.0.messages().push_back(said);
        self.0.came.notify_one();
    }
}

impl Service for Filler {
    fn request(&mut self, request: Request, responder: Responder) {
        let params = match request.params.parse::<Value>() {
            Ok(params) => params,
            Err(error) => return responder.err(&error),
        };
        let said = match request.method.as_str() {
            "session/request_permission" => Said::Permission(params, responder),
            "elicitation/create" => Said::Form(params, responder),
            method if client::is_host(method) => Said::Host(method.to_owned(), params, responder),
            // Nothing else was offered.
            method => return responder.err(&RpcError::method_not_found(method)),
        };
        if self.0.in_turn.load(Ordering::Acquire) { self.put(said) } else { said.refuse() }
    }

    fn notification(&mut self, notification: Notification) {
        // What is said between turns belongs to none: a history that is told again, commands, options.
        if notification.method != "session/update" || !self.0.in_turn.load(Ordering::Acquire) {
            return;
        }
        if let Ok(params) = notification.params.parse() {
            self.put(Said::Update(params));
        }
    }
}

/// A reader that pauses.
#[derive(Debug)]
pub(super) struct Paced<R> {
    reader: R,
    shared: Arc<Shared>,
}

impl<R: AsyncRead + Unpin> AsyncRead for Paced<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        // Registered before it is looked at, so that no taking in between is missed.
        self.shared.reader.register(cx.waker());
        if self.shared.messages().len() >= FULL {
            return Poll::Pending;
        }
        Pin::new(&mut self.reader).poll_read(cx, buf)
    }
}
