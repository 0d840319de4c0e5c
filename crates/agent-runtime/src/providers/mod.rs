//! The model APIs milk speaks, each a [`Provider`](crate::provider::Provider), and what they share: event
//! streams, HTTP clients, credentials. Nothing here knows sessions or tools' insides.

pub mod anthropic;
mod arguments;
pub mod auth;
pub mod aws;
pub mod bedrock;
pub(crate) mod content;
pub mod detect;
mod endpoint;
pub mod error;
mod extras;
mod frames;
mod history;
pub mod http;
mod learn;
pub mod link;
mod numbers;
mod objects;
pub mod openai_chat;
pub mod openai_responses;
#[cfg(test)]
mod params_tests;
mod patience;
mod reader;
mod reading;
pub mod serving;
pub mod sse;
#[cfg(test)]
pub(crate) mod stream_table;
mod surrogates;
#[cfg(test)]
mod testing;
mod tls_fault;
#[cfg(test)]
mod transport_tests;

pub use extras::Sampling;

// One mock serves this crate's tests and those that cross crates.
#[cfg(test)]
#[path = "../../../../tests/support/mock_openai.rs"]
pub mod mock_openai;
#[cfg(test)]
#[path = "../../../../tests/support/mock_rules.rs"]
pub mod mock_rules;
#[cfg(test)]
#[path = "../../../../tests/support/rules_messages.rs"]
pub mod rules_messages;
#[cfg(test)]
#[path = "../../../../tests/support/rules_responses.rs"]
pub mod rules_responses;
#[cfg(test)]
#[path = "../../../../tests/support/tls_server.rs"]
pub mod tls_server;
