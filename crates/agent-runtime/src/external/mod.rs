//! Agents that are programs of their own, run as child processes: Claude Code, and what every one of them needs.
//! Version-free and without any protocol between milk and its client: what such an agent says becomes events, what it
//! wants to know becomes questions, like everyone else's.

pub mod child;
pub mod claude;
mod conversations;
pub mod leave;
mod told;

pub use conversations::{Conversation, Conversations};
pub use told::{Past, past};
