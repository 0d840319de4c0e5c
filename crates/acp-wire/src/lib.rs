//! The Agent Client Protocol types, versions 1 and 2, exactly as on the wire.
//!
//! [`v1`] and [`v2`] are siblings that know nothing of each other: map both to a model of your own. Each has
//! every request, response, notification and update of the schema 1.20, and a `method` module that ties a
//! method's name to its types. Nothing here does I/O, knows JSON-RPC envelopes or checks what a peer may do.
//!
//! # Writing
//!
//! Every object has a constructor that takes its required members and one builder method for each other:
//!
//! ```
//! use acp_wire::v2;
//!
//! let chunk = v2::ContentChunk::new("msg_1", "Hello");
//! let update = v2::SessionUpdate::AgentMessageChunk(chunk);
//! let notification = v2::UpdateSessionNotification::new("sess_1", update);
//! assert_eq!(
//!     serde_json::to_string(&notification)?,
//!     r#"{"sessionId":"sess_1","update":{"sessionUpdate":"agent_message_chunk","messageId":"msg_1","#.to_owned()
//!         + r#""content":{"type":"text","text":"Hello"}}}"#,
//! );
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! Absent members are left out, discriminators come first, and nothing is written that the schema forbids,
//! except where a list must not be empty or a string must have a form: that is up to the caller.
//!
//! # Reading
//!
//! Reading forgives exactly what the protocol's schema says is to be forgiven: malformed optional members are
//! absent, bad items of most lists are dropped, null stands for an empty list or result, unknown members are
//! skipped. Version 2 keeps values it doesn't know ([`Other`], or the last variant of an enum of strings). A
//! known discriminator with a bad payload is always an error.
//!
//! Beyond the schema, these are read as empty when they are missing, because clients in use leave them out:
//! `mcpServers` of version 1's `session/new` and `session/load`, the `version` of an implementation, and
//! `info` of version 2's `initialize` request.
//!
//! Unlike the official types, an object is never read from an array, nor a discriminator from a number.
//!
//! # Three states
//!
//! Where a member may be absent, null or present with three meanings, it is a [`Patch`].
#![deny(missing_docs)]
#![recursion_limit = "256"]

mod builder;
mod lenient;
mod macros;
mod meta;
mod method;
mod open;
mod patch;
pub mod v1;
pub mod v2;
mod version;

pub use builder::{IntoOption, IntoPatch};
pub use meta::Meta;
pub use method::{Method, Notification};
pub use open::Other;
pub use patch::Patch;
pub use version::ProtocolVersion;

/// Compiles and runs the README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
