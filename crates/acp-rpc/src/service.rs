//! What an embedder implements to receive the peer's messages.

use std::future::Future;

use crate::{Notification, Request, Responder};

/// Receives the peer's requests and notifications, one after the other, in the order of their arrival.
///
/// The methods run where the connection reads, so they must not wait or block: start the work elsewhere (a
/// channel to its owner, a `JoinSet`) and return. A method that panics costs its request a `-32603` and nothing
/// else. [`Handlers`](crate::Handlers) implements this trait over async functions.
pub trait Service: Send {
    /// A request arrived; `responder` is the duty to answer it, now or later, from any task.
    fn request(&mut self, request: Request, responder: Responder);

    /// A notification arrived.
    fn notification(&mut self, notification: Notification);

    /// No more messages will come: the peer has ended its side, the connection broke, or it was shut down.
    ///
    /// Called once. While the returned future runs, output is still written; our own requests have failed, as
    /// their answers cannot come any more. After it, requests still unanswered have the rest of
    /// [`Config::drain_grace`](crate::Config::drain_grace).
    fn closing(&mut self) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }
}
