//! The model APIs milk speaks, each a [`Provider`](crate::provider::Provider), and what they share: event
//! streams, HTTP clients, credentials. Nothing here knows sessions or tools' insides.

pub mod auth;
pub mod detect;
pub mod http;
pub mod openai_chat;
pub mod sse;

// One mock serves this crate's tests and those that cross crates.
#[cfg(test)]
#[path = "../../../../tests/support/mock_openai.rs"]
pub mod mock_openai;
#[cfg(test)]
#[path = "../../../../tests/support/mock_rules.rs"]
pub mod mock_rules;
