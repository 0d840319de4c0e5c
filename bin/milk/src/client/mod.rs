//! An ACP client in a terminal: what `milk run` shows of the server that runs beside it in this process.
//!
//! Speaks both protocol versions through the same channel an editor would use; knows nothing of the server's
//! insides.

mod consent;
mod conversation;
mod patch;
mod screen;
mod service;
mod update;

pub(crate) use consent::Consent;
pub(crate) use conversation::{Ending, Task, converse};
