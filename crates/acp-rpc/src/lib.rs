//! JSON-RPC 2.0 over line streams, both ways.
//!
//! One message a line, over any [`AsyncRead`](tokio::io::AsyncRead) and [`AsyncWrite`](tokio::io::AsyncWrite).
//! [`serve`] (or [`connect`], for the side that calls first) runs a connection; a [`Service`] receives the peer's messages in the order of their arrival, the
//! [`Peer`] sends to it, and a [`Responder`] is the duty to answer one request, once. [`Handlers`] makes a
//! service of typed async functions.
//!
//! - Every request gets exactly one answer: also when its handler panics, forgets it, or is overtaken by the
//!   connection's end.
//! - What is sent leaves in the order of the calls that sent it.
//! - Nothing unread grows without bound: notifications wait for a peer that does not read, and nothing is read
//!   from a peer that leaves too many answers unread.
//! - Identifiers are echoed as they came; parameters and results are read once, by whoever knows their type.
//!
//! The crate knows no method name, not even that of a cancellation: see [`CancelMethod`].
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod batch;
mod config;
mod connection;
mod core;
mod dispatch;
mod encode;
mod error;
mod frame;
mod handlers;
mod id;
mod in_flight;
mod lines;
mod memory;
mod message;
mod outbox;
mod overlong;
mod params;
mod peer;
mod pending;
mod request;
mod responder;
mod service;
pub mod stdio;
pub mod tap;
mod trace;
mod withdrawal;

pub use config::{BatchPolicy, CancelMethod, Config, IdPolicy, MalformedPolicy, Policy};
pub use connection::{Connection, connect, serve};
pub use error::{Closed, ConnectionError, RequestError, RpcError};
pub use frame::{Entry, Frame};
pub use handlers::{Call, Handlers, Method};
pub use id::RequestId;
pub use memory::{End, MEMORY_CAPACITY, memory, memory_with_capacity};
pub use message::{Malformed, Message, Notification, Request, Response};
pub use params::Params;
pub use peer::{Peer, Permit, Stats};
pub use request::PendingResponse;
pub use responder::{Responder, Written};
pub use service::Service;
pub use tap::{Direction, Recorder, Recording, Tap};
pub use tokio_util::sync::CancellationToken;
pub use trace::TraceContext;

/// The README's programs are compiled with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
