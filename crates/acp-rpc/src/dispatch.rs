//! One line at a time to the one it concerns: the service, a waiting request, the table of running requests, or
//! back to the peer with a complaint.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;
use serde_json::Value;

use crate::batch::Slot;
use crate::core::{Core, Counters};
use crate::in_flight::Refused;
use crate::overlong::{Owner, owner};
use crate::withdrawal::Withdrawal;
use crate::{
    BatchPolicy, Entry, Frame, IdPolicy, Malformed, MalformedPolicy, Message, Notification, Request,
    RequestError, RequestId, Responder, Response, RpcError, Service,
};

pub(crate) struct Dispatch<S> {
    core: Arc<Core>,
    service: S,
}

impl<S: Service> Dispatch<S> {
    pub(crate) fn new(core: Arc<Core>, service: S) -> Self {
        Self { core, service }
    }

    pub(crate) fn line(&mut self, line: &[u8]) {
        if line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        match Frame::parse(line) {
            Frame::Single(entry) => self.entry(entry, None),
            Frame::Batch(entries) => self.batch(entries),
        }
    }

    pub(crate) fn overlong(&mut self, prefix: &[u8]) {
        Counters::add(&self.core.counters.overlong);
        tracing::warn!("a line beyond the limit was skipped");
        let error = RpcError::invalid_request("Invalid request: line too long");
        match owner(prefix) {
            Owner::Request(id) => self.complain(&id, &error, None),
            Owner::Answer(id) => self.settle(&id, Err(RequestError::TooLong)),
            Owner::Unknown => match self.core.policy().malformed {
                MalformedPolicy::Silent => {}
                MalformedPolicy::Reply => self.complain(&RequestId::Null, &error, None),
            },
        }
    }

    pub(crate) async fn closing(&mut self) {
        let closing = AssertUnwindSafe(async { self.service.closing().await });
        let finished = closing.catch_unwind().await.is_ok();
        if !finished {
            tracing::error!("the service panicked while closing");
        }
    }

    fn batch(&mut self, entries: Vec<Entry>) {
        let reject = match self.core.policy().batches {
            BatchPolicy::Reject => Some("Invalid request: batches are not supported"),
            BatchPolicy::Expand if entries.is_empty() => Some("Invalid request: empty batch"),
            BatchPolicy::Expand => None,
        };
        if let Some(message) = reject {
            Counters::add(&self.core.counters.malformed);
            return self.complain(&RequestId::Null, &RpcError::invalid_request(message), None);
        }
        let mut slots = Slot::batch(entries.iter().filter(|entry| wants_answer(entry)).count());
        for entry in entries {
            let slot = if wants_answer(&entry) { slots.next() } else { None };
            self.entry(entry, slot);
        }
    }

    fn entry(&mut self, entry: Entry, slot: Option<Slot>) {
        match entry {
            Ok(Message::Request(request)) => self.request(request, slot),
            Ok(Message::Notification(notification)) => self.notification(notification),
            Ok(Message::Response(Response { id, outcome })) => {
                self.settle(&id, outcome.map_err(RequestError::Rpc));
            }
            Err(malformed) => self.malformed(&malformed, slot),
        }
    }

    fn malformed(&mut self, malformed: &Malformed, slot: Option<Slot>) {
        Counters::add(&self.core.counters.malformed);
        tracing::debug!(code = malformed.error.code, "a line was no valid message");
        if let Some(id) = &malformed.answers {
            self.core.pending.settle(id, Err(RequestError::Malformed));
        }
        let silent = self.core.policy().malformed == MalformedPolicy::Silent;
        if malformed.error.code == RpcError::PARSE_ERROR && silent {
            return;
        }
        self.complain(&malformed.id, &malformed.error, slot);
    }

    fn request(&mut self, request: Request, slot: Option<Slot>) {
        if request.id == RequestId::Null && self.core.policy().ids == IdPolicy::RefuseNull {
            Counters::add(&self.core.counters.malformed);
            let error = RpcError::invalid_request("Invalid request: id must not be null");
            return self.complain(&RequestId::Null, &error, slot);
        }
        let withdrawal = Arc::<Withdrawal>::default();
        match self.core.in_flight.accept(&request.id, Arc::clone(&withdrawal), slot) {
            Ok(()) => {}
            Err(Refused::Duplicate(slot)) => {
                let error = RpcError::invalid_request("Invalid request: id is in use");
                return self.complain(&request.id, &error, slot);
            }
            Err(Refused::Full(slot)) => {
                let error = self.core.overload.clone();
                return self.complain(&request.id, &error, slot);
            }
        }
        let responder =
            Responder::new(Arc::clone(&self.core), request.id.clone(), &request.method, withdrawal);
        let span = responder.span().clone();
        let context = self.core.context.as_ref();
        // The responder goes down with the panic and answers while it does.
        let handled = std::panic::catch_unwind(AssertUnwindSafe(|| {
            if let Some(context) = context {
                context.0.incoming(&span, &request.method, &request.params);
            }
            span.in_scope(|| self.service.request(request, responder));
        }));
        if handled.is_err() {
            tracing::error!(parent: &span, "the service panicked over a request");
        }
    }

    fn notification(&mut self, notification: Notification) {
        if let Some(cancel) = self.core.cancel
            && notification.method == cancel.method
        {
            let target =
                notification.params.parse::<Value>().ok().and_then(|params| (cancel.target)(&params));
            if let Some(id) = target {
                self.core.in_flight.cancel(&id);
            }
            return;
        }
        let span = tracing::debug_span!("notification", method = notification.method);
        let context = self.core.context.as_ref();
        let handled = std::panic::catch_unwind(AssertUnwindSafe(|| {
            if let Some(context) = context {
                context.0.incoming(&span, &notification.method, &notification.params);
            }
            span.in_scope(|| self.service.notification(notification));
        }));
        if handled.is_err() {
            tracing::error!(parent: &span, "the service panicked over a notification");
        }
    }

    fn settle(&mut self, id: &RequestId, outcome: crate::pending::Outcome) {
        if !self.core.pending.settle(id, outcome) {
            Counters::add(&self.core.counters.stray);
            tracing::debug!(%id, "an answer that nobody waits for was dropped");
        }
    }

    fn complain(&self, id: &RequestId, error: &RpcError, slot: Option<Slot>) {
        self.core.answer_err(id, error, slot, None);
    }
}

/// Whether an entry of a batch has a place in the batch's answer. No entry of a batch is a parse error.
fn wants_answer(entry: &Entry) -> bool {
    match entry {
        Ok(Message::Request(_)) | Err(_) => true,
        Ok(Message::Notification(_) | Message::Response(_)) => false,
    }
}
