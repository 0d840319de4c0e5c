//! The Agent Client Protocol types, versions 1 and 2, exactly as on the wire.
//!
//! [`v1`] and [`v2`] are siblings that know nothing of each other. Reading forgives what the protocol's schema
//! says is to be forgiven; writing is strict. Nothing here does I/O or knows JSON-RPC envelopes.
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
