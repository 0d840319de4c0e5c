//! What the cross-crate tests share: a suspicious client, a server with a scripted model, mock model servers.
#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "test support fails loudly, and says so here"
)]

pub mod client;
pub mod editor;
pub mod mock_openai;
pub mod mock_rules;
pub mod rig;
pub mod rules_messages;
pub mod rules_responses;
pub mod schema;
pub mod tls_server;
