//! Between the events of a live session and the items kept of it.
//!
//! [`Folder`] turns events into finished items, [`replay`] turns stored items back into events. Pure: no store, no
//! clock, no protocol.

mod cut;
mod folder;
mod replay;

pub use folder::Folder;
pub(crate) use replay::split;
pub use replay::{GAP_ID, Window, replay, replay_window};
