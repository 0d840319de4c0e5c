//! Agents that are programs of their own, run as child processes: Claude Code, aider, any program that prints its events,
//! and what every one of them needs.
//! Version-free and without any protocol between milk and its client: what such an agent says becomes events, what it
//! wants to know becomes questions, like everyone else's.

pub mod aider;
mod brief;
pub mod child;
pub mod claude;
mod conversations;
mod failure;
pub mod leave;
mod program;
pub mod served;
pub mod subprocess;
mod tagged;
mod tags;
mod told;

pub use conversations::{Conversation, Conversations};
pub use program::{ProgramConfig, Variables};
pub use tagged::Tagged;
pub use told::{Past, past};
