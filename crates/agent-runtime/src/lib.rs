//! Runs one turn: model stream, tool loop, questions, limits.
//!
//! A [`TurnDriver`] is a plain asynchronous function over a [`TurnInput`] snapshot; everything it says goes
//! through one ordered channel ([`TurnIo`]), and the turn is over when that channel closes. This crate knows
//! nothing of ACP, of JSON-RPC, of storage or of routing, and reads neither environment nor home directory.

pub mod agent;
pub mod attach;
pub mod calls;
pub mod context;
pub mod driver;
pub mod external;
pub mod gate;
pub mod handover;
pub mod host;
mod inquiry;
pub mod io;
pub mod mode;
pub mod offline;
pub mod process;
pub mod prompt;
pub mod provider;
pub mod providers;
pub mod redact;
pub mod rules;
pub mod scripted;
pub mod thinking;
pub mod tools;
pub mod waits;

pub use agent::Agent;
pub use driver::{TurnDriver, TurnEnd, TurnError, TurnInput};
pub use io::TurnIo;
